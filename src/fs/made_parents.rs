//! Folders that are made so that a file can be laid in them.

use std::path::{Path, PathBuf};

use crate::fs::atomic::AtomicError;
use crate::fs::pinned::{self, Pinned};

/// Folders made for a file; removed again when dropped, as far as they are empty.
#[derive(Debug, Default)]
pub struct MadeParents(Vec<PathBuf>);

impl MadeParents {
    /// Makes `folder`, a real path, and what is missing above it.
    pub fn make(folder: &Path) -> Result<Self, AtomicError> {
        Self::hold(folder).map(|(made, _)| made)
    }

    /// The same, and holds the folder.
    pub(super) fn hold(folder: &Path) -> Result<(Self, Pinned), AtomicError> {
        let (held, made) = Pinned::make(folder).map_err(|error| AtomicError::io(folder, &error))?;
        Ok((Self(made), held))
    }

    /// Lets the folders stay and names them, outermost first.
    pub fn keep(mut self) -> Vec<PathBuf> {
        std::mem::take(&mut self.0)
    }
}

impl Drop for MadeParents {
    fn drop(&mut self) {
        for path in self.0.iter().rev() {
            // One that holds something by now stays.
            pinned::remove(path, true).ok();
        }
    }
}
