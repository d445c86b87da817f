//! The tools: one file each, one list (`builtin.rs`), one way in (`dispatch.rs`).
//!
//! To add a tool: write `tools/<name>.rs` with an `Args` struct whose doc comments are the schema's
//! descriptions, `tools/text/<name>.md` with what the model is told, and a row in `builtin.rs`. The
//! contract test then checks the rest: a unique name, a schema that parses back into `Args`, a class.
//! A tool never asks, snapshots or truncates: `dispatch` does that for all of them.

pub mod apply_patch;
pub mod args;
pub mod bash;
mod bash_answer;
pub mod bash_walls;
pub mod batch;
pub mod builtin;
pub mod delete;
pub mod dispatch;
pub mod edit_file;
mod file_pages;
mod file_paths;
mod file_stream;
pub mod finished;
pub mod git;
mod git_answers;
pub mod git_blame;
mod git_compared;
pub mod git_diff;
pub mod git_log;
mod git_program;
pub mod git_show;
pub mod glob;
pub mod grep;
mod limits;
pub mod locks;
pub mod ls;
pub mod new_repositories;
mod patch_files;
mod patch_sections;
mod patched_file;
mod permit;
mod places;
mod preview;
pub mod question;
pub mod read_file;
pub mod registry;
mod routed;
pub mod seen;
pub mod shell_effects;
pub mod todo_write;
pub mod tool;
mod unsaved;
pub mod write_file;
