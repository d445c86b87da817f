//! Makes planned changes of the disk happen, all of them or none. Everything here blocks.

use std::collections::VecDeque;
use std::path::PathBuf;

use crate::backend::BackendError;
use crate::backend::disk::{self, Disk};
use crate::fs::atomic::StagedWrite;
use crate::fs::cause::cause;
use crate::fs::pinned;

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
            disk::remove(&path, &before).map_err(|error| BackendError::Io {
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

/// Puts back what was there, the last change first. The answer names what could not be put back.
fn take_back(done: Vec<Done>) -> Vec<PathBuf> {
    let mut left = Vec::new();
    for Done {
        path,
        before,
        made_parents,
    } in done.into_iter().rev()
    {
        let restored = disk::put_back(&path, before);
        for folder in made_parents.iter().rev() {
            pinned::remove(folder, true).ok();
        }
        if !restored {
            left.push(path);
        }
    }
    left
}
