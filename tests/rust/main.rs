//! The engine's tests, one binary. Each module has a line that says what belongs there.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout
)]

/// Journals after every kind of end, one writer, the format's upgrade path.
mod journal;
/// This test binary as another process: killed, unprivileged, or out of disk.
mod other_process;
/// Snapshots on a real disk: capture, undo, redo, links, places, pruning.
mod snapshot;
/// Undo and redo against a model of the file system.
mod snapshot_model;
