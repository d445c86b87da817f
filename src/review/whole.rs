//! Changes that no line shows: files that are no text, permission bits. They are decided on as a whole.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::protocol::change::ContentHash;
use crate::protocol::ids::HunkId;
use crate::review::hunk::{Existence, Hunk, Selector};
use crate::review::region::HunkIds;

/// A file as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileState {
    /// Its bytes; `None` = they are text, and its hunks are elsewhere.
    pub blob: Option<ContentHash>,
    /// Its permission bits.
    pub mode: u32,
}

/// What changed in a file as a whole. A side is `None` when there is no file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Whole {
    pub(super) id: HunkId,
    /// What it was when the person last agreed.
    pub before: Option<FileState>,
    /// What the agent left.
    pub after: Option<FileState>,
}

/// What a whole-file hunk is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum WholeKind {
    /// The content, which is no text.
    Binary,
    /// The permission bits, in octal as `chmod` takes them.
    Mode {
        /// Before.
        from: String,
        /// Now.
        to: String,
    },
}

impl Whole {
    fn hunk(&self) -> Hunk {
        let file = match (&self.before, &self.after) {
            (None, Some(_)) => Some(Existence::Created),
            (Some(_), None) => Some(Existence::Deleted),
            _ => None,
        };
        let blob = |side: &Option<FileState>| side.as_ref().and_then(|state| state.blob.clone());
        let mode = |side: &Option<FileState>| side.as_ref().map_or(0, |state| state.mode);
        let whole = if blob(&self.before) == blob(&self.after) {
            WholeKind::Mode {
                from: format!("{:o}", mode(&self.before)),
                to: format!("{:o}", mode(&self.after)),
            }
        } else {
            WholeKind::Binary
        };
        Hunk {
            id: self.id,
            start: 1,
            count: 0,
            removed: Vec::new(),
            added: Vec::new(),
            final_newline: None,
            file,
            at_end: false,
            whole: Some(whole),
        }
    }
}

/// All of them, by path.
#[derive(Clone, Debug, Default)]
pub(super) struct Wholes(BTreeMap<PathBuf, Whole>);

impl Wholes {
    /// The agent changed a file from `before` to `after`; what waited there goes on from what it was.
    pub(super) fn change(
        &mut self,
        path: &Path,
        before: Option<FileState>,
        after: Option<FileState>,
        ids: &mut HunkIds,
    ) {
        match self.0.get_mut(path) {
            Some(whole) => whole.after = after,
            None => {
                let id = ids.fresh();
                self.0.insert(path.to_owned(), Whole { id, before, after });
            }
        }
        self.0.retain(|_, whole| whole.before != whole.after);
    }

    /// The hunk of a file, if it has one.
    pub(super) fn hunk(&self, path: &Path) -> Option<Hunk> {
        self.0.get(path).map(Whole::hunk)
    }

    /// The change itself, if `selector` means it. Lines never do.
    pub(super) fn selected(&self, path: &Path, selector: &Selector) -> Option<&Whole> {
        self.0.get(path).filter(|whole| match selector {
            Selector::Hunk(id) => whole.id == *id,
            Selector::All => true,
            Selector::Lines { .. } => false,
        })
    }

    /// Nothing waits there any more.
    pub(super) fn remove(&mut self, path: &Path) {
        self.0.remove(path);
    }

    /// In which file a hunk stands.
    pub(super) fn find(&self, id: HunkId) -> Option<&Path> {
        let mut all = self.0.iter();
        all.find(|(_, whole)| whole.id == id)
            .map(|(path, _)| path.as_path())
    }

    /// The files, in the order of their paths.
    pub(super) fn paths(&self) -> impl Iterator<Item = &Path> {
        self.0.keys().map(PathBuf::as_path)
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.0.len()
    }
}
