//! Surgery on text, without any I/O: exact replacement, the hint when it misses, the line edits that
//! lead from one text to another, and the difference as a diff.

mod adopt_endings;
pub mod closest;
pub mod difference;
pub mod hint;
pub mod levenshtein;
pub mod lines;
pub mod replace;
pub mod similarity;
pub mod unified;
