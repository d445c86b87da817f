//! Finding files and text in them, within this process: the answer is the same whether or not `rg` is
//! installed, and the same each time.
//!
//! [`walk`] lists the files below a folder, [`glob`] picks names, [`grep`] searches text, in the text of
//! buffers where the caller has some. What ignore files, hidden names and limits leave out is counted, so
//! that an answer never looks complete when it is not. Everything here blocks: call it where that is
//! allowed, and cancel it with the token.

pub mod glob;
pub mod grep;
mod lines;
pub mod project;
pub mod walk;
