//! Git, through libgit2: no program is run.

pub mod repo;
