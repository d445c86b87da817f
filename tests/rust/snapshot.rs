//! Snapshots of steps and what undo makes of them. Here the world that the tests stand in.

use std::fs::{File, OpenOptions, Permissions};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use dcode::journal::Journal;
use dcode::protocol::change::{BufferText, Content, ContentHash, Expect, FileChange};
use dcode::protocol::ids::{SessionId, StepIx, TurnId};
use dcode::snapshot::{
    After, Before, BufferBefore, Disk, DiskContent, Fit, Plan, Restoration, Scope, SnapshotDirs,
    SnapshotError, SnapshotStore, StepRecord, Undone, prune,
};

mod buffers;
mod kinds;
mod layout;
mod order;
mod since;
mod soundness;

/// A project, a state folder, and the store of one session.
pub struct World {
    _temp: tempfile::TempDir,
    pub root: PathBuf,
    pub dirs: SnapshotDirs,
    pub store: SnapshotStore,
}

pub fn session() -> SessionId {
    SessionId("01JZZZZZZZZZZZZZZZZZZZZZZZ".to_owned())
}

impl World {
    pub fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("ws")).unwrap();
        let dirs = SnapshotDirs {
            project: root.join("ws"),
            state: root.join("state"),
        };
        let store = SnapshotStore::new(dirs.clone(), session());
        Self {
            _temp: temp,
            root,
            dirs,
            store,
        }
    }

    /// A path in the project.
    pub fn at(&self, name: &str) -> PathBuf {
        self.dirs.project.join(name)
    }

    /// The process ends, and another one goes on with the session.
    pub fn restart(&mut self) {
        let (store, problems) = SnapshotStore::reopen(self.dirs.clone(), session());
        assert!(problems.is_empty(), "{problems:?}");
        self.store = store;
    }

    /// A step of the agent that does `change` to files that no buffer holds.
    pub fn step(&self, step: u64, turn: u64, names: &[&str], change: impl FnOnce()) {
        for name in names {
            self.store
                .capture(StepIx(step), TurnId(turn), &self.at(name), None)
                .unwrap();
        }
        change();
        for name in names {
            self.store.finish(StepIx(step), &self.at(name), None).unwrap();
        }
    }

    pub fn undo(&self, scope: Scope) -> Result<usize, Refused> {
        let plan = self.store.plan_undo(scope)?;
        let (was, done) = self.carry_out(&plan)?;
        let undone = was
            .into_iter()
            .map(|(path, was)| {
                let now = After::from(&self.store.observe(&path, None).unwrap());
                Undone { path, was, now }
            })
            .collect();
        self.store.mark_undone(&plan, undone, &[])?;
        Ok(done)
    }

    pub fn redo(&self) -> Result<usize, Refused> {
        let plan = self.store.plan_redo()?;
        let (was, done) = self.carry_out(&plan)?;
        let now = was
            .into_iter()
            .map(|(path, _)| {
                let now = After::from(&self.store.observe(&path, None).unwrap());
                (path, now)
            })
            .collect();
        self.store.mark_redone(&plan, now)?;
        Ok(done)
    }

    /// Checks all files, then puts all back; says what was there, and how many files were written.
    fn carry_out(&self, plan: &Plan) -> Result<(Vec<(PathBuf, Before)>, usize), Refused> {
        let mut was = Vec::new();
        let mut restorations = Vec::new();
        let mut conflicts = Vec::new();
        for file in &plan.files {
            let now = self.store.observe(&file.path, None)?;
            match self.store.check(file, &now)? {
                Fit::Matches => restorations.push(self.store.restoration(file, &now)?),
                Fit::ChangedSince { lines } => conflicts.push((file.path.clone(), lines)),
            }
            was.push((file.path.clone(), now));
        }
        if !conflicts.is_empty() {
            return Err(Refused::Conflicts(conflicts));
        }
        restorations.retain(|restoration| !restoration.is_nothing());
        self.store.put_back(&restorations)?;
        Ok((was, restorations.len()))
    }
}

#[derive(Debug)]
pub enum Refused {
    Conflicts(Vec<(PathBuf, usize)>),
    Error(SnapshotError),
}

impl From<SnapshotError> for Refused {
    fn from(error: SnapshotError) -> Self {
        Self::Error(error)
    }
}

/// Writes a file; a new one is 0644 whatever the umask.
pub fn put(path: &Path, bytes: &[u8]) {
    let new = !path.exists();
    File::create(path).unwrap().write_all(bytes).unwrap();
    if new {
        std::fs::set_permissions(path, Permissions::from_mode(0o644)).unwrap();
    }
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

fn mode(path: &Path) -> u32 {
    std::fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777
}

fn buffer(text: &str, modified: bool) -> BufferText {
    BufferText {
        buf: 1,
        tick: 1,
        text: text.to_owned(),
        modified,
    }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}
