//! Surgery on text, without any I/O: exact replacement, the hint when it misses, patches, the line edits
//! that lead from one text to another, and the difference as a diff.

mod adopt_endings;
pub mod closest;
pub mod difference;
pub mod hint;
pub mod levenshtein;
pub mod lines;
pub mod merge;
pub mod patch_apply;
pub mod patch_hint;
#[cfg(test)]
mod patch_laws;
pub mod patch_parse;
pub mod patch_seek;
mod patch_wrapper;
mod reindent;
pub mod replace;
pub mod similarity;
pub mod unified;
