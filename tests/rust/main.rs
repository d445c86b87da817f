//! The engine's tests, one binary. Each module has a line that says what belongs there.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

/// Layers of configuration, from real files.
mod config;
/// The gate: tables of cases, memory, laws.
mod permission;
/// Judging shell lines: tables of lines, and properties.
mod shell;
/// Running shell lines.
mod shell_run;

// A folder with a backend and an editor over it.
mod project;

// Buffers without an editor; used by the tests of everything that reads or writes files.
mod fake_editor;

// Change sets on buffers and disk: all or nothing, encodings, what the person hears.
mod local_backend;

// edit_file against the cases of tests/fixtures/edit.
mod edit_cases;

// read_file, write_file and ls: ranges, pages, the guard against lost changes.
mod file_tools;

// What an ordinary user may not do, and full disks: writes fail whole and in words.
mod refused_writes;
