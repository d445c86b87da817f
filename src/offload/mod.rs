//! A result that is too long for the conversation goes to a file; the model gets its start, its end and a
//! hint. The same folder takes what `/retrieved/…` names.

mod folder;
mod preview;

pub use folder::OffloadDir;
pub use preview::{MAX_BYTES, MAX_LINES};
