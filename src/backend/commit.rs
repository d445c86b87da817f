//! Makes planned changes of the disk happen, all of them or none. Everything here blocks.

use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};

use crate::backend::BackendError;
use crate::backend::disk::Disk;
use crate::fs::atomic::{self, StagedWrite};
use crate::fs::cause::cause;

/// One change of the disk.
pub struct DiskStep {
    pub path: PathBuf,
    /// What must still lie there, and is put back when a later step fails.
    pub before: Disk,
    pub what: DiskAction,
}

/// What happens on disk.
pub enum DiskAction {
    Write(StagedWrite),
    Remove,
}

/// Why a commit failed, and what could not be put back as it was.
pub struct CommitError {
    pub error: BackendError,
    pub left_changed: Vec<PathBuf>,
}

/// How to take one step back.
struct Done {
    path: PathBuf,
    before: Disk,
    made_parents: Vec<PathBuf>,
}

/// Does all steps, writes first. When one fails, those before it are taken back.
pub fn commit(steps: Vec<DiskStep>) -> Result<(), CommitError> {
    let (writes, mut removals): (Vec<_>, Vec<_>) = steps
        .into_iter()
        .partition(|step| matches!(step.what, DiskAction::Write(_)));
    // What cannot be put back goes late; folders go last, of nested ones the inner first.
    removals.sort_by(|a, b| {
        let rank = |step: &DiskStep| match step.before {
            Disk::Directory => 2,
            Disk::Large { .. } => 1,
            Disk::Absent | Disk::File { .. } | Disk::Link(_) => 0,
        };
        rank(a).cmp(&rank(b)).then_with(|| b.path.cmp(&a.path))
    });
    let mut steps: VecDeque<DiskStep> = writes.into_iter().chain(removals).collect();
    let mut done: Vec<Done> = Vec::new();
    while let Some(step) = steps.pop_front() {
        match one(step) {
            Ok(step) => done.push(step),
            Err(error) => {
                // The last staged first: folders made for several files must be empty when their maker goes.
                while steps.pop_back().is_some() {}
                return Err(CommitError {
                    error,
                    left_changed: take_back(done),
                });
            }
        }
    }
    Ok(())
}

fn one(step: DiskStep) -> Result<Done, BackendError> {
    let DiskStep { path, before, what } = step;
    if !before.is_still_at(&path) {
        return Err(BackendError::Stale(path));
    }
    let made_parents = match what {
        DiskAction::Write(staged) => {
            let committed = staged.commit().map_err(|error| BackendError::Io {
                path: error.path,
                reason: error.reason,
            })?;
            committed.made_parents
        }
        DiskAction::Remove => {
            remove(&path, &before).map_err(|error| BackendError::Io {
                path: path.clone(),
                reason: cause(&error),
            })?;
            Vec::new()
        }
    };
    Ok(Done {
        path,
        before,
        made_parents,
    })
}

fn remove(path: &Path, what: &Disk) -> io::Result<()> {
    match what {
        Disk::Absent => Ok(()),
        Disk::Directory => std::fs::remove_dir(path),
        Disk::File { .. } | Disk::Large { .. } | Disk::Link(_) => std::fs::remove_file(path),
    }
}

/// Puts back what was there, the last change first. The answer names what could not be put back.
fn take_back(done: Vec<Done>) -> Vec<PathBuf> {
    let mut left = Vec::new();
    for Done {
        path,
        before,
        made_parents,
    } in done.into_iter().rev()
    {
        let restored = match before {
            Disk::Absent => std::fs::remove_file(&path).is_ok(),
            Disk::File { bytes, mode, .. } => atomic::write(&path, &bytes, Some(mode)).is_ok(),
            Disk::Large { .. } => false,
            Disk::Link(target) => std::os::unix::fs::symlink(target, &path).is_ok(),
            Disk::Directory => std::fs::create_dir(&path).is_ok(),
        };
        for folder in made_parents.iter().rev() {
            std::fs::remove_dir(folder).ok();
        }
        if !restored {
            left.push(path);
        }
    }
    left
}
