//! Where files live: one plane for all tools. No tool knows whether it works on a buffer or a disk.

mod commit;
mod disk;
mod file_plane;
pub mod local;
mod plan;
mod transaction;

pub use file_plane::{Backend, BackendError, DirEntry, EntryKind, ReadBytes};
