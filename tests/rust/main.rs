//! The engine's tests, one binary. Each module has a line that says what belongs there.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

// Buffers without an editor; used by the tests of everything that reads or writes files.
mod fake_editor;

// Change sets on buffers and disk: all or nothing, encodings, what the person hears.
mod local_backend;
