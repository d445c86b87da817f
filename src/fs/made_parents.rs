//! Folders that are made so that a file can be laid in them.

use std::io;
use std::path::{Path, PathBuf};

use crate::fs::atomic::AtomicError;

/// Folders made for a file; removed again when dropped, as far as they are empty.
#[derive(Debug, Default)]
pub struct MadeParents(Vec<PathBuf>);

impl MadeParents {
    /// Makes `folder` and what is missing above it.
    pub fn make(folder: &Path) -> Result<Self, AtomicError> {
        let missing: Vec<&Path> = folder.ancestors().take_while(|path| !path.exists()).collect();
        let mut made = Self::default();
        for path in missing.into_iter().rev() {
            match std::fs::create_dir(path) {
                Ok(()) => made.0.push(path.to_owned()),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => {}
                Err(error) => return Err(AtomicError::io(path, &error)),
            }
        }
        Ok(made)
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
            std::fs::remove_dir(path).ok();
        }
    }
}
