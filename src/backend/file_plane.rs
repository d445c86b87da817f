//! The trait that every backend implements.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use async_trait::async_trait;
use thiserror::Error;

use crate::backend::transfer::{Downloaded, Upload, Uploaded};
use crate::protocol::change::{AppliedFile, ChangeSet, FileText};

/// Files, wherever they are. Paths are absolute; links are resolved by the caller.
#[async_trait]
pub trait Backend: Send + Sync {
    /// The text of a file: the loaded buffer's, else the disk's. A large file without a buffer is
    /// refused ([`BackendError::TooLarge`]) before it is read.
    async fn read_text(&self, path: &Path) -> Result<FileText, BackendError>;

    /// Up to `limit` bytes from `offset` on, as they lie on disk.
    async fn read_bytes(&self, path: &Path, offset: u64, limit: usize) -> Result<ReadBytes, BackendError>;

    /// The immediate children of a folder, sorted by name in byte order.
    async fn list(&self, path: &Path) -> Result<Vec<DirEntry>, BackendError>;

    /// Makes all changes of the set, or none. The answer has one entry a change, in order.
    async fn apply(&self, set: ChangeSet) -> Result<Vec<AppliedFile>, BackendError>;

    /// Lays whole files down for a program, not for the model: nothing is asked, reviewed or kept for undo.
    /// One answer a file, in order; one that fails stops none of the others. An open buffer notices as it
    /// does of any other program.
    async fn upload_files(&self, files: Vec<Upload>) -> Vec<Uploaded>;

    /// Whole files as they lie there, for a program. One answer a path, in order.
    async fn download_files(&self, paths: Vec<PathBuf>) -> Vec<Downloaded>;
}

/// A stretch of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadBytes {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// The size of the whole file.
    pub total: u64,
}

/// A child of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirEntry {
    /// The name alone.
    pub name: String,
    /// What it is; a link is a link, whatever it points to.
    pub kind: EntryKind,
    /// What a link says; it may be relative, and point to nothing.
    pub target: Option<PathBuf>,
    /// Size in bytes, of files.
    pub size: u64,
    /// Time of the last change.
    pub modified: Option<SystemTime>,
}

/// What a path is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A folder.
    Dir,
    /// A file, or anything that is neither folder nor link.
    File,
    /// A symbolic link.
    Link,
}

/// Why a file could not be read or changed. The texts are for the model: they say what to do next.
#[derive(Debug, Error)]
pub enum BackendError {
    /// Nothing is there.
    #[error("{path} does not exist.{hint}", path = path.display())]
    NotFound {
        /// The path.
        path: PathBuf,
        /// The nearest existing name as a sentence, or empty.
        hint: String,
    },
    /// A folder where a file was meant.
    #[error("{path} is a directory; list it with ls.", path = .0.display())]
    IsDirectory(PathBuf),
    /// Not text.
    #[error("{path} is not text ({reason}).", path = path.display())]
    Binary {
        /// The path.
        path: PathBuf,
        /// How it was seen.
        reason: String,
    },
    /// Too large to be taken as a whole.
    #[error("{path} is too large to take as a whole ({} MiB); read a range of lines, or use bash.", *.size / (1024 * 1024), path = path.display())]
    TooLarge {
        /// The path.
        path: PathBuf,
        /// Its size in bytes.
        size: u64,
    },
    /// The content is not what the caller saw.
    #[error("{path} changed since it was read. Read it again, then retry.", path = .0.display())]
    Stale(PathBuf),
    /// The text cannot be written in the file's encoding.
    #[error("{path}: {reason}", path = path.display())]
    Encoding {
        /// The path.
        path: PathBuf,
        /// What cannot be written and what to do.
        reason: String,
    },
    /// The editor refuses to edit the buffer.
    #[error("{0}")]
    Editor(String),
    /// The system refuses.
    #[error("{path}: {reason}", path = path.display())]
    Io {
        /// The path.
        path: PathBuf,
        /// Cause and remedy in words, never a bare number.
        reason: String,
    },
    /// The turn was stopped.
    #[error("the turn was stopped")]
    Cancelled,
}
