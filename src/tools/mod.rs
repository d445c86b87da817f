//! The tools: one file each, one list (`builtin.rs`), one way in (`dispatch.rs`).
//!
//! To add a tool: write `tools/<name>.rs` with an `Args` struct whose doc comments are the schema's
//! descriptions, `tools/text/<name>.md` with what the model is told, and a row in `builtin.rs`. The
//! contract test then checks the rest: a unique name, a schema that parses back into `Args`, a class.
//! A tool never asks, snapshots or truncates: `dispatch` does that for all of them.

pub mod apply_patch;
pub mod args;
pub mod bash;
pub mod builtin;
pub mod delete;
pub mod dispatch;
pub mod edit_file;
mod file_pages;
mod file_paths;
pub mod finished;
pub mod glob;
pub mod grep;
mod limits;
pub mod locks;
pub mod ls;
mod patch_files;
mod preview;
pub mod question;
pub mod read_file;
pub mod registry;
pub mod seen;
pub mod shell_effects;
pub mod todo_write;
pub mod tool;
pub mod write_file;
