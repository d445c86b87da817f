//! All files under review.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use thiserror::Error;

use crate::protocol::change::LineEdit;
use crate::protocol::ids::HunkId;
use crate::review::hunk::{Author, Hunk, Rejection, Selector};
use crate::review::region::HunkIds;
use crate::review::tracked_file::TrackedFile;
use crate::review::view::{Seen, Span};
use crate::review::watch::{Changes, Keeper, Moment, Notify, Urgency};
use crate::review::whole::{FileState, Wholes};

/// The book that the editor's thread (buffers) and the agent's (files that no buffer holds) share. Every
/// call takes microseconds, so a plain mutex is right; never hold it across an `await`.
pub type SharedBook = Arc<Mutex<ReviewBook>>;

/// Why a hunk cannot be decided on.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ReviewError {
    /// The file is not under review.
    #[error("nothing waits for review in {0}")]
    NotTracked(PathBuf),
    /// No rejected hunk of the file is remembered, or its place is gone.
    #[error("nothing rejected can be brought back there")]
    NothingRejected,
    /// The selector meets no hunk.
    #[error("no hunk stands there any more")]
    NoHunk,
}

/// Base and current text of a file, for a journal. `None` = the file does not exist in that one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Texts {
    /// What the person has agreed to.
    pub base: Option<String>,
    /// What is there.
    pub current: Option<String>,
}

/// All files under review, by absolute path.
///
/// A file enters with [`ReviewBook::attach`] (a buffer) or [`ReviewBook::write`] (no buffer), and leaves
/// when nothing waits in it and no buffer reports its edits.
#[derive(Clone, Debug, Default)]
pub struct ReviewBook {
    files: BTreeMap<PathBuf, TrackedFile>,
    ids: HunkIds,
    changes: Changes,
    wholes: Wholes,
}

impl ReviewBook {
    /// An empty book.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty book for two threads.
    pub fn shared() -> SharedBook {
        Arc::new(Mutex::new(Self::new()))
    }

    /// From now on a buffer that holds `text` reports every edit of `path`. A file already under review
    /// keeps its hunks; what differs from the text known so far is the person's. Returns how many hunks
    /// wait.
    pub fn attach(&mut self, path: &Path, text: &str) -> usize {
        let file = match self.files.entry(path.to_owned()) {
            Entry::Vacant(place) => place.insert(TrackedFile::clean(Some(text))),
            Entry::Occupied(place) => {
                let file = place.into_mut();
                // Before the text: the empty buffer of a deleted file does not bring the file back.
                file.attached = true;
                file.set_text(Some(text), Author::Person, &mut self.ids);
                file
            }
        };
        file.attached = true;
        let count = file.count();
        if count > 0 {
            self.changes.add(path, Urgency::Later);
        }
        count
    }

    /// The buffer is gone, or reports no more. What waits stays, what is settled is forgotten, the undo
    /// history with it.
    pub fn detach(&mut self, path: &Path) {
        if let Some(file) = self.files.get_mut(path) {
            file.attached = false;
        }
        self.forget_settled(path);
    }

    /// Whether the book knows `path`.
    pub fn is_tracked(&self, path: &Path) -> bool {
        self.files.contains_key(path)
    }

    /// An edit that a buffer reports, in the line numbers before it. Unknown paths are ignored.
    pub fn edit(&mut self, path: &Path, edit: &LineEdit, author: Author) {
        if let Some(file) = self.files.get_mut(path) {
            let settled = file.is_settled();
            file.edit(edit, author, &mut self.ids);
            if !(settled && file.is_settled()) {
                self.changes.add(path, urgency(author));
            }
        }
    }

    /// The edits of one undo block, ascending, in the line numbers before all of them: what
    /// [`ReviewBook::edit`] does with each from the last to the first, settled once. Unknown paths are ignored.
    pub fn edit_batch(&mut self, path: &Path, edits: &[LineEdit], author: Author) {
        if let Some(file) = self.files.get_mut(path) {
            let settled = file.is_settled();
            file.edit_batch(edits, author, &mut self.ids);
            if !(settled && file.is_settled()) {
                self.changes.add(path, urgency(author));
            }
        }
    }

    /// The final newline of a buffer came or went.
    pub fn set_eol(&mut self, path: &Path, eol: bool, author: Author) {
        if let Some(file) = self.files.get_mut(path) {
            let settled = file.is_settled();
            file.set_eol(eol, author, &mut self.ids);
            if !(settled && file.is_settled()) {
                self.changes.add(path, urgency(author));
            }
        }
    }

    /// A file was written or removed: it held `before`, it holds `after` now; `None` = no such file. For a
    /// file already under review the base stays what it was, and a `before` that the book does not know is
    /// taken for the person's doing.
    pub fn write(&mut self, path: &Path, before: Option<&str>, after: Option<&str>, author: Author) {
        let file = self
            .files
            .entry(path.to_owned())
            .or_insert_with(|| TrackedFile::clean(before));
        if file.texts().1.as_deref() != before {
            file.set_text(before, Author::Person, &mut self.ids);
        }
        file.set_text(after, author, &mut self.ids);
        self.changes.add(path, Urgency::Soon);
        self.forget_settled(path);
    }

    /// The file of a buffer was removed. By the agent: that waits for review. By the person: nothing waits.
    pub fn remove(&mut self, path: &Path, author: Author) {
        if let Some(file) = self.files.get_mut(path) {
            file.remove(author, &mut self.ids);
            self.changes.add(path, Urgency::Soon);
        }
        self.forget_settled(path);
    }

    /// A command of the agent changed a file behind the editor's back. Where a buffer reports the edits of the
    /// file, its text is the truth: the change is the agent's when the buffer has read it.
    pub fn effect(&mut self, path: &Path, before: Option<&str>, after: Option<&str>) {
        match self.files.get_mut(path).filter(|file| file.attached) {
            Some(file) => file.announced = after.map(str::to_owned),
            None => self.write(path, before, after, Author::Agent),
        }
    }

    /// The text of a file was replaced from outside (`:e!`, another program). The differences to the text
    /// known so far are the person's.
    pub fn resync(&mut self, path: &Path, text: &str) {
        if let Some(file) = self.files.get_mut(path) {
            let settled = file.is_settled();
            let author = file.author_of(text);
            file.set_text(Some(text), author, &mut self.ids);
            if !settled || !file.is_settled() {
                self.changes.add(path, Urgency::Later);
            }
        }
        self.forget_settled(path);
    }

    /// Remembers what waits in `path` while its buffer is at the undo sequence number `seq`. Call it before
    /// and after every batch of the agent, rejection and acceptance, and whenever the text has come to rest.
    pub fn mark(&mut self, path: &Path, seq: u64) {
        if let Some(file) = self.files.get_mut(path) {
            file.mark(seq);
        }
    }

    /// The buffer has come to `seq` by undo or redo. Brings back what waited there and returns `true`, if
    /// that is remembered and the text is the same.
    pub fn arrive(&mut self, path: &Path, seq: u64) -> bool {
        let arrived = self
            .files
            .get_mut(path)
            .is_some_and(|file| file.arrive(seq, &mut self.ids));
        if arrived {
            self.changes.add(path, Urgency::Soon);
        }
        arrived
    }

    /// The text stays, the base moves to it. Returns how many hunks were accepted, wholly or in part.
    pub fn accept(&mut self, path: &Path, selector: &Selector) -> Result<usize, ReviewError> {
        let whole = self.wholes.selected(path, selector).is_some();
        if whole {
            self.wholes.remove(path);
        }
        let Some(file) = self.files.get_mut(path) else {
            return if whole {
                Ok(1)
            } else {
                Err(ReviewError::NotTracked(path.to_owned()))
            };
        };
        let count = file.accept(selector, &mut self.ids) + usize::from(whole);
        if count > 0 {
            self.changes.add(path, Urgency::Soon);
        }
        self.forget_settled(path);
        if count == 0 {
            Err(ReviewError::NoHunk)
        } else {
            Ok(count)
        }
    }

    /// How to put the base back. Nothing changes here: make the edits, report them by [`ReviewBook::edit`]
    /// (or [`ReviewBook::write`]) as the person's, and the hunks vanish.
    pub fn rejection(&self, path: &Path, selector: &Selector) -> Result<Rejection, ReviewError> {
        let whole = self.wholes.selected(path, selector).cloned();
        let mut rejection = match self.files.get(path) {
            Some(file) => file.rejection(selector),
            None if whole.is_some() => Rejection::default(),
            None => return Err(ReviewError::NotTracked(path.to_owned())),
        };
        rejection.hunks += usize::from(whole.is_some());
        rejection.whole = whole;
        if rejection.hunks == 0 {
            Err(ReviewError::NoHunk)
        } else {
            Ok(rejection)
        }
    }

    /// The hunks of a file in the order of their lines; none when it is not under review.
    pub fn hunks(&self, path: &Path) -> Vec<Hunk> {
        let mut hunks = self.files.get(path).map(TrackedFile::hunks).unwrap_or_default();
        hunks.extend(self.wholes.hunk(path));
        hunks
    }

    /// The agent changed a file as a whole, in a way that no line shows: it waits for a decision. Sides that
    /// are the same settle it.
    pub fn change_whole(&mut self, path: &Path, before: Option<FileState>, after: Option<FileState>) {
        self.wholes.change(path, before, after, &mut self.ids);
    }

    /// The change of a file as a whole is put back, or is no matter of review any more.
    pub fn settle_whole(&mut self, path: &Path) {
        self.wholes.remove(path);
    }

    /// Remembers hunks that are about to be rejected, for [`ReviewBook::bring_back`].
    pub fn remember_rejected(&mut self, path: &Path, selector: &Selector) {
        if let Some(file) = self.files.get_mut(path) {
            file.remember_rejected(selector);
        }
    }

    /// The edits that bring back what was rejected last in a file, ascending and disjoint; they are to be
    /// reported as the agent's. It is forgotten with this call.
    pub fn bring_back(&mut self, path: &Path) -> Result<Vec<LineEdit>, ReviewError> {
        let file = self
            .files
            .get_mut(path)
            .ok_or_else(|| ReviewError::NotTracked(path.to_owned()))?;
        match file.bring_back() {
            Some(edits) if !edits.is_empty() => Ok(edits),
            _ => Err(ReviewError::NothingRejected),
        }
    }

    /// Where the hunks of a file stand, in the order of their lines; copies none of them. The change of the
    /// file as a whole stands on line 1.
    pub fn spans(&self, path: &Path) -> Vec<Span> {
        let mut spans: Vec<Span> = self.wholes.hunk(path).iter().map(Span::from).collect();
        spans.extend(self.files.get(path).map(TrackedFile::spans).unwrap_or_default());
        spans
    }

    /// The hunks of a file that show on its lines `first..=last` (1-based), each with at most `most` removed
    /// lines.
    pub fn seen(&self, path: &Path, first: usize, last: usize, most: usize) -> Vec<Seen> {
        let file = self.files.get(path);
        file.map(|file| file.seen(first, last, most)).unwrap_or_default()
    }

    /// The files in which something waits, in the order of their paths, with their hunks.
    pub fn all(&self) -> Vec<(&Path, Vec<Hunk>)> {
        self.pending_files()
            .map(|path| (path, self.hunks(path)))
            .collect()
    }

    /// The files in which something waits, in the order of their paths.
    pub fn pending_files(&self) -> impl Iterator<Item = &Path> {
        let pending = self.files.iter().filter(|(_, file)| !file.is_settled());
        let lines = pending.map(|(path, _)| path.as_path());
        let paths: BTreeSet<&Path> = lines.chain(self.wholes.paths()).collect();
        paths.into_iter()
    }

    /// How many hunks wait in one file.
    pub fn count(&self, path: &Path) -> usize {
        let lines = self.files.get(path).map_or(0, TrackedFile::count);
        lines + usize::from(self.wholes.hunk(path).is_some())
    }

    /// A number that grows with every change of a file's hunks, but for their line numbers: as long as it
    /// stays, what is drawn is right where the lines have gone. 0 when the file is not under review.
    pub fn revision(&self, path: &Path) -> u64 {
        self.files.get(path).map_or(0, TrackedFile::revision)
    }

    /// How many hunks wait in all files.
    pub fn pending(&self) -> usize {
        self.files.values().map(TrackedFile::count).sum::<usize>() + self.wholes.count()
    }

    /// In which file a hunk stands.
    pub fn find(&self, id: HunkId) -> Option<&Path> {
        let mut files = self.files.iter();
        files
            .find(|(_, file)| file.holds(id))
            .map(|(path, _)| path.as_path())
            .or_else(|| self.wholes.find(id))
    }

    /// The first hunk below `line` (1-based), or the first of all when none is.
    pub fn next(&self, path: &Path, line: usize) -> Option<Hunk> {
        let hunks = self.hunks(path);
        hunks
            .iter()
            .find(|hunk| hunk.start > line)
            .or_else(|| hunks.first())
            .cloned()
    }

    /// The last hunk that begins above `line` (1-based), or the last of all when none does.
    pub fn previous(&self, path: &Path, line: usize) -> Option<Hunk> {
        let hunks = self.hunks(path);
        hunks
            .iter()
            .rev()
            .find(|hunk| hunk.start < line)
            .or_else(|| hunks.last())
            .cloned()
    }

    /// Base and current text of a file under review, byte for byte as they would lie on disk.
    pub fn export(&self, path: &Path) -> Option<Texts> {
        let (base, current) = self.files.get(path)?.texts();
        Some(Texts { base, current })
    }

    /// Takes a file under review again: what differs between the two texts waits. A buffer that was
    /// attached has to be attached anew.
    pub fn restore(&mut self, path: &Path, texts: &Texts) {
        let file = TrackedFile::new(texts.base.as_deref(), texts.current.as_deref(), &mut self.ids);
        self.files.insert(path.to_owned(), file);
        self.changes.add(path, Urgency::Soon);
        self.forget_settled(path);
    }

    /// From now on `notify` hears that something changed, and [`Self::take_changed`] says what. Everything
    /// that waits counts as changed, for who begins to keep it. Who kept it before takes nothing any more.
    pub fn watch(&mut self, notify: Notify) -> Keeper {
        let keeper = self.changes.watch(notify);
        for (path, file) in &self.files {
            if !file.is_settled() {
                self.changes.add(path, Urgency::Soon);
            }
        }
        keeper
    }

    /// From now on nobody keeps what changes, until the next [`Self::watch`].
    pub fn unwatch(&mut self) {
        self.changes.unwatch();
    }

    /// The files whose review changed since the last time, taken; `None` = nothing waits in it any more. Nothing
    /// for a keeper who was followed by another.
    pub fn take_changed(&mut self, keeper: Keeper) -> Vec<(PathBuf, Option<Moment>)> {
        let paths = self.changes.take(keeper);
        let moment = |path: &Path| {
            let file = self.files.get(path).filter(|file| !file.is_settled());
            file.map(TrackedFile::moment)
        };
        paths
            .into_iter()
            .map(|path| {
                let moment = moment(&path);
                (path, moment)
            })
            .collect()
    }

    /// One file, for the tests of the laws.
    #[cfg(test)]
    pub(super) fn file(&self, path: &Path) -> Option<&TrackedFile> {
        self.files.get(path)
    }

    fn forget_settled(&mut self, path: &Path) {
        if self
            .files
            .get(path)
            .is_some_and(|file| !file.attached && file.is_settled() && file.rejected.is_empty())
        {
            self.files.remove(path);
        }
    }
}

/// What the agent does cannot be worked out again from the file; what the person types can.
fn urgency(author: Author) -> Urgency {
    match author {
        Author::Agent => Urgency::Soon,
        Author::Person => Urgency::Later,
    }
}
