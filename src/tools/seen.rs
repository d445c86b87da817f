//! Which files this session has seen, and what they held then.
//!
//! A whole-file write is refused when the file is not what the session last read or wrote: it would
//! undo what somebody else did in between, unseen.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::protocol::change::ContentHash;

/// The contents that one session last read or wrote, by resolved path. Shared by its file tools.
#[derive(Debug, Default)]
pub struct SeenFiles {
    files: Mutex<HashMap<PathBuf, ContentHash>>,
}

impl SeenFiles {
    /// Notes the whole text of a file that was read or written.
    pub fn note(&self, path: &Path, text: &str) {
        let hash = ContentHash::of(text.as_bytes());
        self.lock().insert(path.to_owned(), hash);
    }

    /// Notes what an edit made of a file. When the file had changed unseen before, it stays so: the
    /// edit showed the session only the lines that it touched.
    pub fn note_edit(&self, path: &Path, before: &ContentHash, after: &str) {
        let unseen_change = self.get(path).is_some_and(|seen| seen != *before);
        if !unseen_change {
            self.note(path, after);
        }
    }

    /// Forgets a file, so that it may be written as one never read.
    pub fn forget(&self, path: &Path) {
        self.lock().remove(path);
    }

    /// All files that were read or written, in no order.
    pub fn paths(&self) -> Vec<PathBuf> {
        self.lock().keys().cloned().collect()
    }

    /// What the file held when it was last seen; `None` when it never was.
    pub fn get(&self, path: &Path) -> Option<ContentHash> {
        self.lock().get(path).cloned()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<PathBuf, ContentHash>> {
        // The map is whole after every single call, so a panic elsewhere leaves it usable.
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
