//! The engine's tests, one binary. Each module has a line that says what belongs there.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::needless_pass_by_value,
    clippy::semicolon_if_nothing_returned,
    reason = "a test fails by panicking, and prints why it is skipped"
)]

// The model that tests talk to; shared with tests/e2e.
#[path = "../support/model_server.rs"]
mod model_server;

// The engine through its protocol: turns, calls, approvals, undo, faults, the end.
mod agent;
// Rules of the house that no compiler holds.
mod architecture;
// bash{background=true} and its handles.
mod background;
// A patch of ten files that breaks off at any system call: full disk, failing disk, kill.
mod broken_off;
// Layers of configuration, from real files.
mod config;
// Tools behind gate and snapshot, and undo: delete, apply_patch.
mod dispatched;
// edit_file against the cases of tests/fixtures/edit.
mod edit_cases;
// The edit engine and long files; measured by hand.
mod edit_speed;
// What seeing the effects of commands costs; measured by hand.
mod effects_speed;
// Buffers without an editor; used by the tests of everything that reads or writes files.
mod fake_editor;
// read_file, write_file and ls: ranges, pages, the guard against lost changes.
mod file_tools;
// The git tools, beside the git program.
mod git;
// Journals after every kind of end, one writer, the format's upgrade path.
mod journal;
// Change sets on buffers and disk: all or nothing, encodings, what the person hears.
mod local_backend;
// This test binary as another process: killed, unprivileged, or out of disk.
mod other_process;
// apply_patch against the cases of tests/fixtures/patch, and public scenarios where they are there.
mod patch_cases;
// apply_patch beside that of another agent, where it is installed.
mod patch_peer;
// A folder that turns into a link and back while files in it are read and written.
#[cfg(target_os = "linux")]
mod path_races;
// The gate: tables of cases, memory, laws.
mod permission;
// What the person has allowed: listed, taken back, and said in verdicts.
mod permission_grants;
// Laws of the gate, and everyday lines that never ask.
mod permission_laws;
// A folder with a backend and an editor over it.
mod project;
// Models over HTTP: replies, failures, retries, the bytes of requests, the choice of a model.
mod provider;
// Patch parser, edit matcher, globs and text layer on whatever comes.
mod fuzz_files;
// What an ordinary user may not do, and full disks: writes fail whole and in words.
mod refused_writes;
// grep, glob, bash, question and todo_write as a model sees them.
mod light_tools;
// What waits for review, is decided, and comes back.
mod review;
// The sandbox with the real bubblewrap, and what runs unasked in it.
mod sandbox;
// What a command in the sandbox may do to git folders, so that git outside runs nothing because of it.
mod sandbox_git;
// Walking and searching: what is found, what is left out and said, order, cancel.
mod search;
// grep and glob beside rg and fd; measured by hand.
mod search_speed;
// The file tools behind the gate, against the cases of tests/fixtures/tools.
mod tool_cases;
// Whole files in and out of a backend, and `/retrieved/…`.
mod transfer;
// Judging shell lines: the tables of tests/fixtures/shell, and properties.
mod shell;
// What judging a line may cost: memory; time is measured by hand.
mod shell_limits;
// Commands that do their worst, and what is left of them.
mod real_runs;
// The analyser of shell lines against real shells in a jail.
mod shell_oracle;
// Running shell lines: output, limits, signals, nothing left behind.
mod shell_run;
// Snapshots on a real disk: capture, undo, redo, links, places, pruning.
mod snapshot;
// Undo and redo against a model of the file system.
mod snapshot_model;
