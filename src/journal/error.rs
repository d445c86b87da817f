//! Why a journal or a blob could not be read or written, in words for the person.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::fs::cause::cause;

/// Why a journal or the blob store refused.
#[derive(Debug, Error)]
pub enum JournalError {
    /// Another process writes this journal.
    #[error("another Neovim has this session open ({path}); close it there first.", path = .0.display())]
    Locked(PathBuf),
    /// A journal of that name is there already.
    #[error("the session's journal {path} exists already; resume it, or begin a new session.", path = .0.display())]
    Exists(PathBuf),
    /// The first line is missing or is no header of ours.
    #[error("{path} is not a journal of dcode, or its first line is damaged; move it away to go on without it.", path = .0.display())]
    NotAJournal(PathBuf),
    /// Written by a later dcode, in a format that this one cannot read.
    #[error(
        "{path} was written by a newer dcode (journal format {found}, this one reads {MAJOR}); update the plugin to open it.",
        path = path.display(), MAJOR = crate::journal::MAJOR
    )]
    Newer {
        /// The journal.
        path: PathBuf,
        /// Its major version.
        found: u64,
    },
    /// A session's name is used as the name of a folder.
    #[error("{0:?} is not a session name; use letters, digits, `-` and `_`.")]
    BadSession(String),
    /// The store does not hold the bytes.
    #[error("the blob {hash} is not in {store}; what it held cannot be restored.", store = store.display())]
    NoBlob {
        /// Its name.
        hash: String,
        /// Where it was looked for.
        store: PathBuf,
    },
    /// The bytes are not those that the name promises.
    #[error("the blob {hash} in {store} is damaged; what it held cannot be restored.", store = store.display())]
    DamagedBlob {
        /// Its name.
        hash: String,
        /// Where it lies.
        store: PathBuf,
    },
    /// A record cannot be written as JSON.
    #[error("a record could not be written as JSON ({0}).")]
    Unwritable(String),
    /// The system refuses.
    #[error("{path}: {reason}.", path = path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// Cause and remedy.
        reason: String,
    },
}

impl JournalError {
    pub(crate) fn io(path: &Path, error: &io::Error) -> Self {
        Self::Io {
            path: path.to_owned(),
            reason: cause(error),
        }
    }
}
