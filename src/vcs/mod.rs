//! Git, through libgit2: one file a question.

pub mod repo;
