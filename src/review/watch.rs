//! Telling the one who keeps the review on disk that something changed.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::review::book::Texts;
use crate::review::side::Side;

/// How long a change of the review may stay unkept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Urgency {
    /// Typing: what it does to a review can be worked out from the file again.
    Later,
    /// The agent wrote, or the person decided.
    Soon,
}

/// Is called under the book's lock, on the editor's main thread too: it must return at once.
pub type Notify = Arc<dyn Fn(Urgency) + Send + Sync>;

/// Files whose review changed since they were last taken.
#[derive(Clone, Default)]
pub(super) struct Changes {
    paths: BTreeMap<PathBuf, Urgency>,
    notify: Option<Notify>,
    /// Who keeps it now.
    keeper: Keeper,
}

/// Who keeps what changes; another one from each [`super::ReviewBook::watch`] on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Keeper(u64);

impl fmt::Debug for Changes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Changes")
            .field("paths", &self.paths)
            .finish_non_exhaustive()
    }
}

impl Changes {
    /// From now on `notify` hears of changes, and who kept them before neither hears of them nor takes them.
    pub(super) fn watch(&mut self, notify: Notify) -> Keeper {
        self.unwatch();
        self.notify = Some(notify);
        self.keeper
    }

    /// From now on nobody keeps it.
    pub(super) fn unwatch(&mut self) {
        self.keeper = Keeper(self.keeper.0 + 1);
        self.notify = None;
        self.paths.clear();
    }

    /// Something changed in `path`. Without anybody who keeps it, nothing is remembered.
    pub(super) fn add(&mut self, path: &Path, urgency: Urgency) {
        let Some(notify) = &self.notify else { return };
        let known = self.paths.get(path).copied();
        if known.is_none_or(|known| known < urgency) {
            self.paths.insert(path.to_owned(), urgency);
            notify(urgency);
        }
    }

    /// The files, taken; none for who does not keep it any more.
    pub(super) fn take(&mut self, keeper: Keeper) -> Vec<PathBuf> {
        if keeper != self.keeper {
            return Vec::new();
        }
        std::mem::take(&mut self.paths).into_keys().collect()
    }
}

/// Base and current text of a file at one moment; they are shared with the book and cost nothing until
/// they are spelled out.
#[derive(Clone, Debug)]
pub struct Moment {
    pub(super) base: Side,
    pub(super) current: Side,
    pub(super) crlf: bool,
}

impl Moment {
    /// Both texts, byte for byte as they would lie on disk. Takes a time in their length.
    pub fn texts(&self) -> Texts {
        Texts {
            base: self.base.text(self.crlf),
            current: self.current.text(self.crlf),
        }
    }
}
