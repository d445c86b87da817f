//! A change set is noted before it happens, so that one that breaks off with the process can be taken back by
//! the next; see `intent_note.rs` for what lies where and `recover.rs` for the taking back.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use crate::backend::BackendError;
use crate::backend::disk::Disk;
use crate::backend::intent_note::{After, Before, LOCK, STAGED, STEPS, Staged, Step, Steps, VERSION};
use crate::backend::plan::{Action, Planned};
use crate::fs::atomic;
use crate::fs::cause::cause;
use crate::journal::{FileLock, PrivateDir};
use crate::protocol::change::ContentHash;

/// So many files are flushed one by one.
const FEW: usize = 16;

/// A change set on its way, noted. Dropped without [`Intent::end`] it is as after a kill.
#[derive(Debug)]
pub struct Intent {
    dir: PrivateDir,
    prefix: String,
    staged: Staged,
    /// Whether temporary files stay beside files that are written in place.
    in_place: bool,
    _lock: FileLock,
}

impl Intent {
    /// Notes below `intents` that files at `paths` will be laid ready. Nothing was done before. Blocks.
    pub fn begin(intents: &Path, paths: &[PathBuf]) -> Result<Self, BackendError> {
        Self::try_begin(intents, paths).map_err(|error| refused(intents, &error))
    }

    fn try_begin(intents: &Path, paths: &[PathBuf]) -> io::Result<Self> {
        let id = ulid::Ulid::new().to_string();
        let name = format!("{}-{id}", std::process::id());
        let dir = PrivateDir::create_all(intents)?.subdir(&name)?;
        let begun = Self::fill(dir, &id, paths);
        if begun.is_err() {
            remove(&intents.join(name));
        }
        begun
    }

    fn fill(dir: PrivateDir, id: &str, paths: &[PathBuf]) -> io::Result<Self> {
        dir.new_file()?.commit(LOCK)?;
        let lock = FileLock::try_take(dir.open_file(LOCK)?)?;
        let lock = lock.ok_or_else(|| io::Error::from(io::ErrorKind::ResourceBusy))?;
        let mut folders: Vec<PathBuf> = paths
            .iter()
            .filter_map(|path| path.parent())
            .map(Path::to_path_buf)
            .collect();
        folders.sort();
        folders.dedup();
        let mut missing: Vec<PathBuf> = Vec::new();
        for folder in &folders {
            let above = folder
                .ancestors()
                .take_while(|above| std::fs::symlink_metadata(above).is_err());
            missing.extend(above.map(Path::to_path_buf));
        }
        missing.sort();
        missing.dedup();
        let staged = Staged {
            version: VERSION,
            prefix: format!("{}{id}-", atomic::PREFIX),
            folders,
            missing,
        };
        dir.replace(STAGED, &serde_json::to_vec(&staged)?)?;
        Ok(Self {
            dir,
            prefix: staged.prefix.clone(),
            staged,
            in_place: false,
            _lock: lock,
        })
    }

    /// How the temporary files of this set must begin.
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// Notes what will be done and keeps what lay there. Afterwards it may happen. A single file that is
    /// replaced in one move needs no note: it cannot be half done. Blocks.
    pub fn promise(&mut self, label: &str, plans: &[Planned]) -> Result<(), BackendError> {
        let torn = |planned: &Planned| matches!(&planned.action, Action::Write { staged, .. } if staged.in_place().is_some());
        self.in_place = plans.iter().any(torn);
        if plans.len() < 2 && !self.in_place {
            return Ok(());
        }
        self.try_promise(label, plans)
            .map_err(|error| refused(self.dir.path(), &error))
    }

    fn try_promise(&self, label: &str, plans: &[Planned]) -> io::Result<()> {
        let mut steps = Vec::with_capacity(plans.len());
        for (nth, planned) in plans.iter().enumerate() {
            let Some(after) = self.after(nth, &planned.action)? else {
                continue;
            };
            let before = match &planned.before {
                Disk::Absent => Before::Absent,
                Disk::File { bytes, mode, .. } => Before::File {
                    copy: self.copy(nth, "before", bytes)?,
                    mode: *mode,
                },
                Disk::Large { .. } => Before::Large,
                Disk::Link(target) => Before::Link {
                    target: target.clone(),
                },
                Disk::Directory => Before::Folder,
            };
            steps.push(Step {
                path: planned.path.clone(),
                before,
                after,
            });
        }
        self.flush(&steps)?;
        let steps = Steps {
            version: VERSION,
            label: label.to_owned(),
            steps,
        };
        self.dir.replace(STEPS, &serde_json::to_vec(&steps)?)
    }

    /// What will lie on disk; `None` where a buffer changes and its file does not.
    fn after(&self, nth: usize, action: &Action) -> io::Result<Option<After>> {
        let file = |hash: ContentHash, torn: Option<&[u8]>| -> io::Result<Option<After>> {
            let copy = torn.map(|bytes| self.copy(nth, "after", bytes)).transpose()?;
            Ok(Some(After::File { hash, copy }))
        };
        match action {
            Action::Write { staged, hash, .. } => file(hash.clone(), staged.in_place()),
            Action::Remove { .. } => Ok(Some(After::Gone)),
            Action::Buffer(plan) if plan.edits.deleted => Ok(Some(After::Gone)),
            Action::Buffer(plan) => match &plan.on_disk {
                Some(bytes) if plan.edits.save => file(ContentHash::of(bytes), Some(bytes)),
                _ => Ok(None),
            },
        }
    }

    /// Not flushed: a process that is killed loses nothing. See [`Intent::flush`] for a power cut.
    fn copy(&self, nth: usize, what: &str, bytes: &[u8]) -> io::Result<String> {
        let name = format!("{nth}-{what}");
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
        self.dir.open_with(&name, flags)?.write_all(bytes)?;
        Ok(name)
    }

    /// Brings the copies to the disk: one by one where they are few, else all that the file system holds back.
    fn flush(&self, steps: &[Step]) -> io::Result<()> {
        if steps.len() > FEW {
            #[cfg(target_os = "linux")]
            return Ok(rustix::fs::syncfs(self.dir.open_file(STAGED)?)?);
        }
        for step in steps {
            let before = match &step.before {
                Before::File { copy, .. } => Some(copy),
                _ => None,
            };
            let after = match &step.after {
                After::File { copy, .. } => copy.as_ref(),
                After::Gone => None,
            };
            for copy in before.into_iter().chain(after) {
                self.dir.open_file(copy)?.sync_data()?;
            }
        }
        Ok(())
    }

    /// The set has happened, or was taken back, whole: forgets it and removes what may lie about. Blocks.
    pub fn end(self, happened: bool) {
        let steps = self.dir.path().join(STEPS);
        // With this file gone nothing will be taken back. A refusal of the moment must not decide it.
        if std::fs::remove_file(&steps).is_err() && steps.exists() {
            std::fs::remove_file(&steps).ok();
        }
        // A temporary file may have refused to go; it is looked for where there was one.
        if !happened || self.in_place {
            sweep(&self.staged);
        }
        remove(self.dir.path());
    }
}

/// Removes temporary files of a set and the folders that it made, as far as nothing lies in them.
pub(super) fn sweep(staged: &Staged) {
    for folder in &staged.folders {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            if name.as_encoded_bytes().starts_with(staged.prefix.as_bytes()) {
                std::fs::remove_file(entry.path()).ok();
            }
        }
    }
    for folder in staged.missing.iter().rev() {
        std::fs::remove_dir(folder).ok();
    }
}

/// Removes the folder of a set.
pub(super) fn remove(dir: &Path) {
    if std::fs::remove_dir_all(dir).is_err() {
        std::fs::remove_dir_all(dir).ok();
    }
}

fn refused(at: &Path, error: &io::Error) -> BackendError {
    BackendError::Io {
        path: at.to_owned(),
        reason: format!(
            "the change could not be noted there, which a crash would make necessary ({}). Nothing was changed",
            cause(error)
        ),
    }
}
