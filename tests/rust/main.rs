//! The engine's tests, one binary. Each module has a line that says what belongs there.

// Layers of configuration, from real files.
mod config;
/// Running shell lines.
mod shell_run;
