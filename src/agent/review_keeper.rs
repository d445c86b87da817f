//! What waits for review, as records of the journal and bytes beside it.
//!
//! Base and current text of a file lie as blobs in `<state>/sessions/<session>/review/`; those that no
//! record speaks of any more are removed. As long as something waits, an empty file
//! `<state>/waiting/<sha256 of the project's root>/<session>` says so: the editor looks for it at its
//! start, before it loads anything.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc::Sender;
use std::sync::{Arc, MutexGuard, PoisonError};

use crate::agent::journal_thread::Job;
use crate::agent::session_log::LogSetup;
use crate::journal::{BlobStore, JournalError, PrivateDir, Record, ReviewFlags};
use crate::protocol::change::ContentHash;
use crate::protocol::ids::SessionId;
use crate::review::{Keeper, Moment, ReviewBook, SharedBook, Texts};

/// Base and current text, by name.
pub type Kept = (Option<ContentHash>, Option<ContentHash>);

/// Where the texts under review of a session lie.
pub fn review_dir(state_dir: &Path, session: &SessionId) -> PathBuf {
    state_dir.join("sessions").join(&session.0).join("review")
}

/// Where it is marked that something waits in the project at `root`.
pub fn waiting_dir(state_dir: &Path, root: &Path) -> PathBuf {
    state_dir
        .join("waiting")
        .join(ContentHash::of(root.as_os_str().as_bytes()).0)
}

/// Keeps the review of one session.
pub struct ReviewKeeper {
    keeper: Keeper,
    book: SharedBook,
    dir: PathBuf,
    store: Option<BlobStore>,
    /// What the journal says of each file that waits.
    kept: BTreeMap<PathBuf, Kept>,
    /// Files of which an earlier process said that they wait.
    inherited: Vec<PathBuf>,
    /// Bytes that no record speaks of any more.
    unused: BTreeSet<ContentHash>,
    marks: PathBuf,
    session: SessionId,
    marked: bool,
}

impl ReviewKeeper {
    /// Begins to keep what waits in the book of `setup`, and hears of changes there through `jobs`.
    pub fn new(setup: &LogSetup, jobs: Sender<Job>) -> Self {
        let notify = Arc::new(move |urgency| {
            // After the end of the session nobody keeps it.
            let _ = jobs.send(Job::Changed(urgency));
        });
        let keeper = lock(&setup.review).watch(notify);
        Self {
            keeper,
            book: Arc::clone(&setup.review),
            dir: review_dir(&setup.state_dir, &setup.session),
            store: None,
            kept: setup.kept.clone(),
            inherited: setup.kept.keys().cloned().collect(),
            unused: BTreeSet::new(),
            marks: waiting_dir(&setup.state_dir, &setup.root),
            session: setup.session.clone(),
            marked: !setup.kept.is_empty(),
        }
    }

    /// The records that bring the journal up to the review of now. The bytes they name are on the disk.
    ///
    /// # Errors
    /// When they cannot be written there.
    pub fn records(&mut self) -> Result<Vec<Record>, JournalError> {
        let mut changed: BTreeMap<PathBuf, Option<Moment>> =
            lock(&self.book).take_changed(self.keeper).into_iter().collect();
        for path in std::mem::take(&mut self.inherited) {
            changed.entry(path).or_insert(None);
        }
        let mut records = Vec::new();
        for (path, moment) in changed {
            records.extend(match moment {
                Some(moment) => self.base(path, &moment)?,
                None => self.closed(path),
            });
        }
        self.mark();
        Ok(records)
    }

    /// The records that give everything away: another session keeps it from now on.
    pub fn hand_over(&mut self) -> Vec<Record> {
        let paths: Vec<PathBuf> = self.kept.keys().cloned().collect();
        let closed = paths.into_iter().filter_map(|path| self.closed(path)).collect();
        self.mark();
        closed
    }

    /// Removes the bytes that no record speaks of any more. Call it when the records are written.
    pub fn clean_up(&mut self) {
        let Some(store) = &self.store else { return };
        for hash in std::mem::take(&mut self.unused) {
            let used =
                |(base, current): &Kept| base.as_ref() == Some(&hash) || current.as_ref() == Some(&hash);
            if !self.kept.values().any(used) {
                // What stays costs room, nothing else.
                store.remove(&hash).ok();
            }
        }
    }

    fn base(&mut self, path: PathBuf, moment: &Moment) -> Result<Option<Record>, JournalError> {
        let Texts { base, current } = moment.texts();
        let store = match &self.store {
            Some(store) => store,
            None => self.store.insert(BlobStore::open(&self.dir)?),
        };
        let put = |text: &Option<String>| text.as_ref().map(|text| store.put(text.as_bytes())).transpose();
        let kept = (put(&base)?, put(&current)?);
        if self.kept.get(&path) == Some(&kept) {
            return Ok(None);
        }
        let flags = ReviewFlags {
            created: base.is_none(),
            deleted: current.is_none(),
            binary: false,
        };
        let old = self.kept.insert(path.clone(), kept.clone());
        self.retire(old);
        let (base, current) = kept;
        Ok(Some(Record::ReviewBase {
            path,
            base,
            current,
            flags,
        }))
    }

    fn closed(&mut self, path: PathBuf) -> Option<Record> {
        let old = self.kept.remove(&path)?;
        self.retire(Some(old));
        Some(Record::ReviewClosed { path })
    }

    fn retire(&mut self, old: Option<Kept>) {
        let hashes = old.into_iter().flat_map(|(base, current)| [base, current]);
        self.unused.extend(hashes.flatten());
    }

    /// Makes or removes the mark. Without it the next start says nothing; `:Dcode resume` still finds it.
    fn mark(&mut self) {
        let wanted = !self.kept.is_empty();
        if wanted == self.marked {
            return;
        }
        let done = if wanted {
            PrivateDir::create_all(&self.marks).and_then(|dir| dir.replace(&self.session.0, b""))
        } else {
            unmark(&self.marks, &self.session)
        };
        if done.is_ok() {
            self.marked = wanted;
        }
    }
}

/// Takes away the mark that something of `session` waits.
pub fn unmark(marks: &Path, session: &SessionId) -> io::Result<()> {
    match PrivateDir::open(marks).and_then(|dir| dir.remove(&session.0)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => {
            // Others may have theirs in it.
            std::fs::remove_dir(marks).ok();
            Ok(())
        }
    }
}

fn lock(book: &SharedBook) -> MutexGuard<'_, ReviewBook> {
    book.lock().unwrap_or_else(PoisonError::into_inner)
}
