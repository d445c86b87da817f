//! Where files live: one plane for all tools. No tool knows whether it works on a buffer or a disk.

mod commit;
mod disk;
mod file_plane;
mod intent;
mod intent_note;
pub mod local;
mod plan;
mod recover;
mod transaction;
mod transfer;

pub use file_plane::{Backend, BackendError, DirEntry, EntryKind, ReadBytes};
pub use recover::{TakenBack, recover};
pub use transfer::{Downloaded, TransferError, Upload, Uploaded};
