//! The engine's tests, one binary. Each module has a line that says what belongs there.

/// Running shell lines.
mod shell_run;
