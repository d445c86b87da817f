//! What must outlive the process: the journal of a session, and the bytes that it speaks of.
//!
//! A journal is one file of checksummed lines that is only ever appended to, by the one process that
//! holds its lock. Bytes too large for a line (old contents of files, review bases) lie beside it in a
//! content-addressed [`BlobStore`]. Files on disk change only through `snapshot`; nothing here does.

mod blobs;
mod error;
mod file;
mod line;
mod lock;
pub mod path_text;
mod private_dir;
mod record;
mod recover;

pub use blobs::BlobStore;
pub use error::JournalError;
pub use file::{Journal, Opened, journal_path, read, read_start};
pub use line::{Header, MAJOR, MINOR};
pub use lock::{FileLock, is_locked, try_lock};
pub use private_dir::{PendingFile, PrivateDir, is_plain_name};
pub use record::{Record, ReviewFlags};
pub use recover::{Damage, Recovered};
