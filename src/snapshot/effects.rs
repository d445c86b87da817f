//! What a shell command did to the files of the project.
//!
//! The tree is looked at just before a command and right after it. What differs is the command's, but for
//! what was written through the editor meanwhile. The old content of a changed or deleted file comes from
//! git where the index vouches for it, else from a copy made beforehand; where neither has it the file is
//! named and cannot be undone.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use git2::Oid;

use crate::protocol::change::ContentHash;
use crate::protocol::ids::{StepIx, TurnId};
use crate::snapshot::copies::Copies;
use crate::snapshot::error::SnapshotError;
use crate::snapshot::manifest::{After, Before, Disk};
use crate::snapshot::store::SnapshotStore;
use crate::snapshot::table::{Difference, Stat, Table};
use crate::vcs::clean::{CleanIndex, Stamp};

/// Files larger than this are named and not kept.
const MAX_KEPT: u64 = 64 * 1024 * 1024;

/// One file that a command created, changed or deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effect {
    /// The file.
    pub path: PathBuf,
    /// What was there; `None` when its content is not known any more: it cannot be undone.
    pub before: Option<Before>,
    /// What is there.
    pub after: Option<After>,
}

/// Why the effects of commands are not seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unwatched {
    /// There is no project.
    NoProject,
    /// There are too many files.
    TooLarge,
}

/// Watches the tree of one project. Every method but [`TreeWatch::written`] blocks.
pub struct TreeWatch {
    /// Links resolved; `None` = nothing is watched.
    root: Option<PathBuf>,
    known: Mutex<Known>,
    written: Mutex<HashSet<PathBuf>>,
}

#[derive(Default)]
struct Known {
    table: Option<Table>,
    too_large: bool,
    copies: Copies,
    index: Option<CleanIndex>,
    /// Blobs that hold a file as it is, by path.
    blobs: HashMap<OsString, (Stat, Oid)>,
    /// Commands that run now.
    running: usize,
}

impl TreeWatch {
    /// Watches the tree at `root`.
    pub fn new(root: Option<PathBuf>) -> Self {
        Self {
            root,
            known: Mutex::default(),
            written: Mutex::default(),
        }
    }

    /// A file is written by somebody whose writes are no command's: the editor, a tool.
    pub fn written(&self, path: &Path) {
        self.lock_written().insert(path.to_owned());
    }

    /// Looks at the tree for the first time, so that [`TreeWatch::before`] has little to do.
    pub fn prepare(&self) {
        let Some(root) = &self.root else { return };
        let mut known = self.lock();
        if known.table.is_none() && known.running == 0 {
            known.look(root);
        }
    }

    /// A command is about to run.
    ///
    /// # Errors
    /// Why its effects will not be seen; it may run all the same.
    pub fn before(&self) -> Result<(), Unwatched> {
        let root = self.root.as_deref().ok_or(Unwatched::NoProject)?;
        let mut known = self.lock();
        if known.running == 0 {
            self.lock_written().clear();
            known.look(root);
        }
        if known.too_large {
            return Err(Unwatched::TooLarge);
        }
        known.running += 1;
        Ok(())
    }

    /// A command for which [`TreeWatch::before`] was called has ended: what it did. Old and new contents are
    /// kept in `store` and recorded there as the work of `step`.
    ///
    /// # Errors
    /// When they cannot be kept; then nothing is recorded.
    pub fn after(
        &self,
        store: &SnapshotStore,
        step: StepIx,
        turn: TurnId,
    ) -> Result<Vec<Effect>, SnapshotError> {
        let Some(root) = &self.root else {
            return Ok(Vec::new());
        };
        let mut known = self.lock();
        known.running = known.running.saturating_sub(1);
        let (Some(old), Some(new)) = (known.table.take(), Table::walk(root)) else {
            known.table = None;
            return Ok(Vec::new());
        };
        let difference = old.difference(&new);
        let written = self.lock_written().clone();
        let effects = known.effects(store, root, &old, &new, difference, &written);
        known.table = Some(new);
        let effects = effects?;
        store.record(step, turn, &effects)?;
        Ok(effects)
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        // The table is put in whole, and a wrong one is corrected by the next look.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_written(&self) -> MutexGuard<'_, HashSet<PathBuf>> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    /// Looks at the tree, and sees to it that the content of every file is kept somewhere, within limits.
    fn look(&mut self, root: &Path) {
        let Some(table) = Table::walk(root) else {
            self.too_large = true;
            self.table = None;
            return;
        };
        self.too_large = false;
        match &mut self.index {
            Some(index) => index.refresh(),
            None => self.index = CleanIndex::open(root),
        }
        let is = |path: &Path, stat: &Stat| table.row(path).is_some_and(|row| row.stat == *stat);
        self.copies.retain(is);
        self.blobs.retain(|path, (stat, _)| is(Path::new(path), stat));
        for (path, row) in table.rows() {
            let stat = &row.stat;
            if stat.link || self.blobs.contains_key(path.as_os_str()) || self.copies.has(path, stat) {
                continue;
            }
            let stamp = Stamp {
                modified: stat.modified,
                inode: stat.ino,
                size: stat.size,
            };
            match self.index.as_ref().and_then(|index| index.blob(path, &stamp)) {
                Some(blob) => {
                    self.blobs.insert(path.as_os_str().to_owned(), (*stat, blob));
                }
                // Without room it stays without a copy.
                None => {
                    self.copies.add(path, *stat);
                }
            }
        }
        self.table = Some(table);
    }

    fn effects(
        &self,
        store: &SnapshotStore,
        root: &Path,
        old: &Table,
        new: &Table,
        difference: Difference,
        written: &HashSet<PathBuf>,
    ) -> Result<Vec<Effect>, SnapshotError> {
        let mut effects = Vec::new();
        let Difference {
            created,
            changed,
            deleted,
        } = difference;
        for path in created.into_iter().chain(changed).chain(deleted) {
            if written.contains(&path) {
                continue;
            }
            let before = match old.row(&path) {
                None => Some(Disk::Absent {
                    missing: old.missing_above(&path, root),
                }),
                Some(row) => match &row.target {
                    Some(target) => Some(Disk::Link {
                        target: target.clone(),
                    }),
                    None => self.old(store, &path, &row.stat)?,
                },
            };
            let after = match new.row(&path) {
                None => Some(Disk::Absent { missing: Vec::new() }),
                Some(row) if row.stat.size > MAX_KEPT => None,
                Some(_) => Some(store.observe(&path, None)?.disk),
            };
            // A file that was only touched did not change.
            if before.is_some() && before == after {
                continue;
            }
            let before = before.filter(|_| after.is_some());
            effects.push(Effect {
                path,
                before: before.map(|disk| Before { disk, buffer: None }),
                after: after.map(|disk| After { disk, buffer: None }),
            });
        }
        effects.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(effects)
    }

    /// What was at `path` when it had this `stat`, its bytes kept in `store`.
    fn old(&self, store: &SnapshotStore, path: &Path, stat: &Stat) -> Result<Option<Disk>, SnapshotError> {
        let from_git = || {
            let (known, blob) = self.blobs.get(path.as_os_str())?;
            let index = self.index.as_ref().filter(|_| known == stat)?;
            index.content(*blob)
        };
        let Some(bytes) = self.copies.get(path, stat).or_else(from_git) else {
            return Ok(None);
        };
        let blob: ContentHash = store.keep(path, &bytes)?;
        Ok(Some(Disk::File {
            blob,
            mode: stat.mode,
        }))
    }
}
