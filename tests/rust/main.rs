//! The engine's tests, one binary. Each module has a line that says what belongs there.

/// Judging shell lines: tables of lines, and properties.
mod shell;
/// Running shell lines.
mod shell_run;
