//! The engine's tests, one binary. Each module has a line that says what belongs there.

/// Layers of configuration, from real files.
mod config;
/// The gate: tables of cases, memory, laws.
mod permission;
/// Running shell lines.
mod shell_run;
