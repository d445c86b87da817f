//! Why a snapshot or an undo was refused, in words for the person.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::fs::cause::cause;
use crate::journal::JournalError;

/// Why a snapshot or an undo was refused. Nothing was changed.
#[derive(Debug, Error)]
pub enum SnapshotError {
    /// No step that changed files is left.
    #[error("There is nothing to undo in this session.")]
    NothingToUndo,
    /// No undo is left to take back.
    #[error("There is nothing to redo; a new change after an undo ends what could be redone.")]
    NothingToRedo,
    /// A path that is not absolute, or leads through `..` or a link.
    #[error("{path} leads through {through}; it must be given with its links resolved.",
        path = path.display(), through = through.display())]
    Unresolved {
        /// The path.
        path: PathBuf,
        /// The link, or the path itself.
        through: PathBuf,
    },
    /// A device, a pipe or a socket.
    #[error("{path} is neither a file nor a link; it cannot be kept for undo.", path = .0.display())]
    Special(PathBuf),
    /// A file that is not what it was when the undo was planned.
    #[error("{path} changed in this moment; nothing was put back, try again.", path = .0.display())]
    ChangedMeanwhile(PathBuf),
    /// A folder stands where a file shall be put back.
    #[error("{path} is a folder now; move it away, then undo again.", path = .0.display())]
    FolderInTheWay(PathBuf),
    /// Written by a later dcode.
    #[error("{path} was written by a newer dcode (snapshot format {found}, this one reads {known}); update the plugin to undo this session's steps.",
        path = path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u64,
        /// Ours.
        known: u64,
    },
    /// A manifest that says nothing that can be used.
    #[error("{path} is damaged ({reason}); the step cannot be undone.", path = path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// How.
        reason: String,
    },
    /// The blob store refuses.
    #[error(transparent)]
    Store(#[from] JournalError),
    /// The system refuses.
    #[error("{path}: {reason}.", path = path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// Cause and remedy.
        reason: String,
    },
}

impl SnapshotError {
    pub(super) fn io(path: &Path, error: &io::Error) -> Self {
        Self::Io {
            path: path.to_owned(),
            reason: cause(error),
        }
    }
}
