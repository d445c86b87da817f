//! The steps of a session and what each found and left.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::journal::JournalError;
use crate::protocol::change::{BufferText, ContentHash};
use crate::protocol::ids::{SessionId, StepIx, TurnId};
use crate::snapshot::effects::Effect;
use crate::snapshot::error::SnapshotError;
use crate::snapshot::layout::{Layout, Place, SnapshotDirs};
use crate::snapshot::manifest::{After, Before, Disk, Entry, Manifest, VERSION};
use crate::snapshot::observe::{Above, above, is_plain, observe};
use crate::snapshot::restore::Plan;
use crate::snapshot::undo_log::{Undo, UndoLog, Undone};

/// The snapshots of one session. Every method blocks on the disk: call it off the async threads.
///
/// Nothing is made on disk before the first capture. What a method could not write it has not done.
#[derive(Debug)]
pub struct SnapshotStore {
    layout: Layout,
    book: Mutex<Book>,
}

/// What is known of all steps.
#[derive(Debug, Default)]
pub(super) struct Book {
    pub(super) steps: BTreeMap<StepIx, Step>,
    pub(super) log: UndoLog,
}

#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) turn: TurnId,
    files: Vec<(Place, Entry)>,
}

impl Step {
    /// The files that the step changed, or may have changed.
    pub(super) fn changed(&self) -> impl Iterator<Item = &Entry> {
        self.files
            .iter()
            .map(|(_, entry)| entry)
            .filter(|entry| !entry.lost && !entry.unchanged())
    }

    /// The files that the step changed and that cannot be undone.
    pub(super) fn lost(&self) -> impl Iterator<Item = &Path> {
        let lost = self.files.iter().filter(|(_, entry)| entry.lost);
        lost.map(|(_, entry)| entry.path.as_path())
    }

    /// Adds what was found at a path, unless the step knows the path already; `false` = nothing changed.
    fn take_up(&mut self, place: Place, fresh: Entry) -> bool {
        match self.find(&fresh.path) {
            None => self.files.push((place, fresh)),
            Some((_, entry)) => match &entry.after {
                Some(left) if left.still_is(&fresh.before) => return false,
                // A call that changed nothing, and then somebody did: what they wrote is what to keep.
                Some(_) if entry.unchanged() => *entry = fresh,
                Some(_) => entry.interrupted = true,
                None => return false,
            },
        }
        true
    }

    fn take_effect(&mut self, place: Place, effect: &Effect) {
        if let Some((_, entry)) = self.find(&effect.path) {
            entry.lost |= effect.before.is_none();
            entry.after = effect.after.clone().or(entry.after.take());
            return;
        }
        let nothing = || Disk::Absent { missing: Vec::new() };
        self.files.push((
            place,
            Entry {
                path: effect.path.clone(),
                before: effect.before.clone().unwrap_or(Before {
                    disk: nothing(),
                    buffer: None,
                }),
                after: Some(effect.after.clone().unwrap_or(After {
                    disk: nothing(),
                    buffer: None,
                })),
                interrupted: false,
                lost: effect.before.is_none(),
            },
        ));
    }

    fn find(&mut self, path: &Path) -> Option<(Place, &mut Entry)> {
        let found = self.files.iter_mut().find(|(_, entry)| entry.path == path);
        found.map(|(place, entry)| (*place, entry))
    }
}

impl Book {
    /// Steps that changed files and are not taken back, newest first.
    pub(super) fn live(&self) -> impl Iterator<Item = (StepIx, &Step)> {
        let live = |(ix, step): &(&StepIx, &Step)| !self.log.holds(**ix) && step.changed().next().is_some();
        self.steps.iter().rev().filter(live).map(|(ix, step)| (*ix, step))
    }
}

/// A step that changed files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepRecord {
    /// Which.
    pub step: StepIx,
    /// Of which turn.
    pub turn: TurnId,
    /// The files, sorted.
    pub paths: Vec<PathBuf>,
    /// Files that it changed and that cannot be undone, sorted.
    pub lost: Vec<PathBuf>,
    /// Whether it is taken back.
    pub undone: bool,
}

impl SnapshotStore {
    /// The store of a new session.
    pub fn new(dirs: SnapshotDirs, session: SessionId) -> Self {
        Self {
            layout: Layout::new(dirs, session),
            book: Mutex::default(),
        }
    }

    /// The store of an earlier session, read from its manifests. A step that cannot be read is left
    /// out and its reason given; the others can be undone. Only for the holder of the session's journal.
    pub fn reopen(dirs: SnapshotDirs, session: SessionId) -> (Self, Vec<SnapshotError>) {
        let store = Self::new(dirs, session);
        let mut problems = Vec::new();
        if let Err(error) = store.load(&mut problems) {
            problems.push(error);
        }
        (store, problems)
    }

    fn load(&self, problems: &mut Vec<SnapshotError>) -> Result<(), SnapshotError> {
        let mut book = self.book();
        for (place, dir) in self.layout.existing()? {
            dir.sweep()?;
            if place == Place::State {
                match UndoLog::read(dir.dir()) {
                    Ok(log) => book.log = log,
                    Err(error) => problems.push(error),
                }
            }
            for manifest in dir.manifests()? {
                match manifest.and_then(|manifest| self.trusted(place, manifest)) {
                    Ok(manifest) => {
                        let step = book.steps.entry(manifest.step).or_insert_with(|| Step {
                            turn: manifest.turn,
                            files: Vec::new(),
                        });
                        step.files
                            .extend(manifest.files.into_iter().map(|entry| (place, entry)));
                    }
                    Err(error) => problems.push(error),
                }
            }
        }
        Ok(())
    }

    /// What lies in the project may have been written by anybody who can write there. So a manifest
    /// there speaks of nothing outside the project.
    fn trusted(&self, place: Place, manifest: Manifest) -> Result<Manifest, SnapshotError> {
        for entry in &manifest.files {
            let plain = is_plain(&entry.path);
            let inside = entry.path.starts_with(self.layout.project()) || place == Place::State;
            if !plain || !inside {
                return Err(SnapshotError::Damaged {
                    path: entry.path.clone(),
                    reason: format!(
                        "step {} of the project names it, but it is no path inside",
                        manifest.step
                    ),
                });
            }
        }
        Ok(manifest)
    }

    /// Keeps what is at `path` before `step` changes it; `buffer` is the loaded buffer that holds it.
    /// The first capture of a path in a step wins. What cannot be kept must not be changed.
    ///
    /// `path` is absolute with the links above it resolved; a link at its end is kept as a link.
    /// A step that has not been seen before ends what can be redone.
    pub fn capture(
        &self,
        step: StepIx,
        turn: TurnId,
        path: &Path,
        buffer: Option<&BufferText>,
    ) -> Result<(), SnapshotError> {
        self.capture_all(step, turn, [(path, buffer)])
    }

    /// [`SnapshotStore::capture`] of several paths, recorded together: all or none.
    pub fn capture_all<'a>(
        &self,
        step: StepIx,
        turn: TurnId,
        files: impl IntoIterator<Item = (&'a Path, Option<&'a BufferText>)>,
    ) -> Result<(), SnapshotError> {
        let mut found = Vec::new();
        for (path, buffer) in files {
            if let Above::Blocked(through) = above(path)? {
                return Err(SnapshotError::Unresolved {
                    path: path.to_owned(),
                    through,
                });
            }
            let (place, dir) = self.layout.for_path(path)?;
            let before = observe(path, buffer, &dir.blobs)?;
            let path = path.to_owned();
            found.push((
                place,
                Entry {
                    path,
                    before,
                    after: None,
                    interrupted: false,
                    lost: false,
                },
            ));
        }
        let mut book = self.book();
        let mut changed = self.begin(&mut book, step, turn)?;
        let mut places = BTreeSet::new();
        for (place, fresh) in found {
            places.extend(changed.take_up(place, fresh).then_some(place));
        }
        for place in &places {
            self.write(*place, step, &changed)?;
        }
        if !places.is_empty() {
            book.steps.insert(step, changed);
        }
        Ok(())
    }

    /// The step as it is known, or a new one: then what could be redone ends.
    fn begin(&self, book: &mut Book, step: StepIx, turn: TurnId) -> Result<Step, SnapshotError> {
        if !book.steps.contains_key(&step) && !book.log.undos.is_empty() {
            let mut log = book.log.clone();
            log.drop_redo();
            log.write(self.layout.dir(Place::State)?.dir())?;
            book.log = log;
        }
        Ok(book.steps.get(&step).cloned().unwrap_or(Step {
            turn,
            files: Vec::new(),
        }))
    }

    /// Records what a command of `step` did, all of it or nothing. Of a file that the step knows already the
    /// state it first found stays. One whose old content is not known is listed and never undone.
    pub fn record(&self, step: StepIx, turn: TurnId, effects: &[Effect]) -> Result<(), SnapshotError> {
        if effects.is_empty() {
            return Ok(());
        }
        let mut book = self.book();
        let mut changed = self.begin(&mut book, step, turn)?;
        let mut places = BTreeSet::new();
        for effect in effects {
            let (place, _) = self.layout.for_path(&effect.path)?;
            places.insert(place);
            changed.take_effect(place, effect);
        }
        for place in places {
            self.write(place, step, &changed)?;
        }
        book.steps.insert(step, changed);
        Ok(())
    }

    /// Records what `step` left at `path`, after each call that captured it, failed ones too.
    /// `buffer_text` is the text of the loaded buffer now. A path that was not captured is ignored.
    pub fn finish(&self, step: StepIx, path: &Path, buffer_text: Option<&str>) -> Result<(), SnapshotError> {
        self.finish_all(step, [(path, buffer_text)])
    }

    /// [`SnapshotStore::finish`] of several paths, recorded together.
    pub fn finish_all<'a>(
        &self,
        step: StepIx,
        files: impl IntoIterator<Item = (&'a Path, Option<&'a str>)>,
    ) -> Result<(), SnapshotError> {
        let Some(mut changed) = self.book().steps.get(&step).cloned() else {
            return Ok(());
        };
        let mut left = Vec::new();
        for (path, buffer_text) in files {
            let Some((place, _)) = changed.find(path) else {
                continue;
            };
            let dir = self.layout.dir(place)?;
            let disk = observe(path, None, &dir.blobs)?.disk;
            let buffer = buffer_text
                .map(|text| dir.blobs.put(text.as_bytes()))
                .transpose()?;
            left.push((path, After { disk, buffer }));
        }
        let mut book = self.book();
        self.set_after(&mut book, step, left)
    }

    fn set_after<'a>(
        &self,
        book: &mut Book,
        ix: StepIx,
        left: impl IntoIterator<Item = (&'a Path, After)>,
    ) -> Result<(), SnapshotError> {
        let Some(mut step) = book.steps.get(&ix).cloned() else {
            return Ok(());
        };
        let mut places = BTreeSet::new();
        for (path, after) in left {
            if let Some((place, entry)) = step.find(path) {
                entry.after = Some(after);
                places.insert(place);
            }
        }
        for place in places {
            self.write(place, ix, &step)?;
        }
        book.steps.insert(ix, step);
        Ok(())
    }

    fn write(&self, place: Place, ix: StepIx, step: &Step) -> Result<(), SnapshotError> {
        let here = |(at, entry): &(Place, Entry)| (*at == place).then(|| entry.clone());
        self.layout.dir(place)?.write(&Manifest {
            version: VERSION,
            step: ix,
            turn: step.turn,
            files: step.files.iter().filter_map(here).collect(),
        })
    }

    /// The steps that changed files, oldest first.
    pub fn steps(&self) -> Vec<StepRecord> {
        let book = self.book();
        let records = book.steps.iter().filter_map(|(ix, step)| {
            let mut paths: Vec<PathBuf> = step.changed().map(|entry| entry.path.clone()).collect();
            paths.sort();
            let mut lost: Vec<PathBuf> = step.lost().map(Path::to_path_buf).collect();
            lost.sort();
            (!paths.is_empty() || !lost.is_empty()).then(|| StepRecord {
                step: *ix,
                turn: step.turn,
                paths,
                lost,
                undone: book.log.holds(*ix),
            })
        });
        records.collect()
    }

    /// The files that `step` touched or was about to touch: what it found and what it left.
    pub fn touched(&self, step: StepIx) -> Vec<(PathBuf, Before, Option<After>)> {
        let book = self.book();
        let files = book.steps.get(&step).map(|step| step.files.clone());
        let files = files.unwrap_or_default().into_iter();
        files
            .filter(|(_, entry)| !entry.lost)
            .map(|(_, entry)| (entry.path, entry.before, entry.after))
            .collect()
    }

    /// What is at `path` now, kept so that it can be put back.
    pub fn observe(&self, path: &Path, buffer: Option<&BufferText>) -> Result<Before, SnapshotError> {
        observe(path, buffer, &self.layout.for_path(path)?.1.blobs)
    }

    /// Keeps bytes that belong to `path`, for example its review base, in the place of its snapshots.
    pub fn keep(&self, path: &Path, bytes: &[u8]) -> Result<ContentHash, SnapshotError> {
        Ok(self.layout.for_path(path)?.1.blobs.put(bytes)?)
    }

    /// The bytes of a blob of this session, wherever it lies.
    pub fn blob(&self, hash: &ContentHash) -> Result<Vec<u8>, SnapshotError> {
        let mut refused = None;
        for (_, dir) in self.layout.existing()? {
            match dir.blobs.get(hash) {
                Ok(bytes) => return Ok(bytes),
                // One place may hold a sound copy of what another has damaged.
                Err(error @ JournalError::DamagedBlob { .. }) => refused = Some(error),
                Err(error) => refused = refused.or(Some(error)),
            }
        }
        Err(SnapshotError::Store(refused.unwrap_or_else(|| {
            JournalError::NoBlob {
                hash: hash.0.clone(),
                store: self.layout.project().to_owned(),
            }
        })))
    }

    /// Records that `plan` was carried out: its steps are taken back, and `undone` is what a redo
    /// starts from, one entry a file of the plan. In the `foreign` files work of somebody else was kept:
    /// no step will take it for its own.
    pub fn mark_undone(
        &self,
        plan: &Plan,
        undone: Vec<Undone>,
        foreign: &[PathBuf],
    ) -> Result<(), SnapshotError> {
        let mut book = self.book();
        let own = undone.iter().filter(|undone| !foreign.contains(&undone.path));
        let left: Vec<(PathBuf, After)> = own.map(|u| (u.path.clone(), u.now.clone())).collect();
        let mut log = book.log.clone();
        log.undos.push(Undo {
            steps: plan.steps.clone(),
            files: undone,
        });
        log.write(self.layout.dir(Place::State)?.dir())?;
        book.log = log;
        self.settle(&mut book, plan, left)
    }

    /// Records that the plan of a redo was carried out; `now` is what it left at each file.
    pub fn mark_redone(&self, plan: &Plan, now: Vec<(PathBuf, After)>) -> Result<(), SnapshotError> {
        let mut book = self.book();
        let mut log = book.log.clone();
        if log.undos.pop().is_none_or(|undo| undo.steps != plan.steps) {
            return Err(SnapshotError::NothingToRedo);
        }
        log.write(self.layout.dir(Place::State)?.dir())?;
        book.log = log;
        self.settle(&mut book, plan, now)
    }

    /// The newest step that stands must expect what lies there now, which need not be to the byte what
    /// it left: an autocommand may have formatted it. Where somebody else wrote between two steps,
    /// that stays visible.
    fn settle(&self, book: &mut Book, plan: &Plan, now: Vec<(PathBuf, After)>) -> Result<(), SnapshotError> {
        for (path, left) in now {
            let Some(file) = plan.files.iter().find(|file| file.path == path) else {
                continue;
            };
            let newest = book.live().find_map(|(ix, step)| {
                let entry = step.changed().find(|entry| entry.path == path)?;
                Some((ix, entry.after.clone()?))
            });
            if let Some((ix, after)) = newest
                && after.still_is(&file.before)
                && after != left
            {
                self.set_after(book, ix, [(path.as_path(), left)])?;
            }
        }
        Ok(())
    }

    pub(super) fn book(&self) -> MutexGuard<'_, Book> {
        // Every change is made on a copy and put in whole.
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The place of a path's blobs.
    pub(super) fn blobs_for(&self, path: &Path) -> Result<&crate::journal::BlobStore, SnapshotError> {
        Ok(&self.layout.for_path(path)?.1.blobs)
    }
}
