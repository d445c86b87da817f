//! Git, through libgit2: no program is run.

pub mod clean;
pub mod repo;
