//! Git, through libgit2: no program is run.
//!
//! Objects come from libgit2; how a history is walked, compared and blamed is our own, because libgit2's own
//! blame and path-limited log are many times slower than git's. `open` finds repositories and keeps handles,
//! `store` reads objects, `history` (with `commit_graph` and `bloom`) knows commits; the others answer one
//! question each. `doc/git.md` says where the answers differ from git's.

mod abbrev;
pub mod attributes;
pub mod blame;
pub mod bloom;
pub mod by_time;
pub mod changes;
pub mod clean;
pub mod commit;
pub mod commit_graph;
pub mod error;
pub mod facts;
pub mod history;
pub mod line_match;
pub mod log;
mod looks;
pub mod nearby;
pub mod numbered;
pub mod obeyed;
pub mod open;
pub mod patch;
pub mod quote;
pub mod refs;
pub mod renames;
pub mod report;
pub mod similarity;
pub mod since;
pub mod store;
pub mod suspects;
pub mod trail;
pub mod tree;
pub mod uncommitted;
pub mod walk;
pub mod work_file;
pub mod worktree;
