//! Change sets that broke off with their process are taken back: all files as they were, nothing left behind.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use rustix::process::{Pid, test_kill_process};
use serde::de::DeserializeOwned;

use crate::backend::intent::{remove, sweep};
use crate::backend::intent_note::{After, Before, LOCK, STAGED, STEPS, Staged, Step, Steps, VERSION};
use crate::fs::atomic;
use crate::journal::{PrivateDir, is_locked};
use crate::protocol::change::ContentHash;

/// A change set that was taken back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TakenBack {
    /// What it was: `apply_patch a.rs and 9 more`.
    pub label: String,
    /// Files that hold again what they held.
    pub restored: Vec<PathBuf>,
    /// Files that hold neither what they held nor what they should: somebody changed them since, or they
    /// could not be written. They are as they are.
    pub left: Vec<PathBuf>,
}

/// Takes back what processes that are gone left half done below `intents`. Call it before anything is
/// changed. Blocks; without leftovers it costs one look into a folder.
pub fn recover(intents: &Path) -> Vec<TakenBack> {
    let Ok(dir) = PrivateDir::open(intents) else {
        return Vec::new();
    };
    let names = dir.names().unwrap_or_default();
    names.iter().filter_map(|name| one(&dir, name)).collect()
}

fn one(intents: &PrivateDir, name: &str) -> Option<TakenBack> {
    let dir = intents.existing_subdir(name).ok()??;
    if is_locked(&dir.path().join(LOCK)) {
        return None;
    }
    let Some(staged) = read::<Staged>(&dir, STAGED) else {
        // Nothing was laid ready. It may be about to: the lock is taken a moment after the folder is made.
        if !lives(name) {
            remove(dir.path());
        }
        return None;
    };
    if staged.version > VERSION {
        return None;
    }
    let taken_back = match read::<Steps>(&dir, STEPS) {
        Some(steps) if steps.version > VERSION => return None,
        Some(steps) => Some(take_back(&dir, steps)),
        None => None,
    };
    sweep(&staged);
    remove(dir.path());
    taken_back.filter(|done| !done.restored.is_empty() || !done.left.is_empty())
}

fn read<T: DeserializeOwned>(dir: &PrivateDir, name: &str) -> Option<T> {
    serde_json::from_slice(&dir.read(name).ok()?).ok()
}

/// Whether the process of a set still runs; the name begins with its number.
fn lives(name: &str) -> bool {
    let number = name.split('-').next().and_then(|number| number.parse().ok());
    number
        .and_then(Pid::from_raw)
        .is_some_and(|pid| test_kill_process(pid) != Err(rustix::io::Errno::SRCH))
}

fn take_back(dir: &PrivateDir, steps: Steps) -> TakenBack {
    let Steps { label, mut steps, .. } = steps;
    // What shall not be there goes first, the innermost first; then folders come before what is in them.
    steps.sort_by(|a, b| a.path.cmp(&b.path));
    let (new, old): (Vec<Step>, Vec<Step>) = steps
        .into_iter()
        .partition(|step| matches!(step.before, Before::Absent));
    let (mut restored, mut left) = (Vec::new(), Vec::new());
    for step in new.into_iter().rev().chain(old) {
        match restore(dir, &step) {
            Ok(true) => restored.push(step.path),
            Ok(false) => {}
            Err(_) => left.push(step.path),
        }
    }
    restored.sort();
    left.sort();
    TakenBack {
        label,
        restored,
        left,
    }
}

/// Whether the path was changed back; an error where it holds what nobody noted.
fn restore(dir: &PrivateDir, step: &Step) -> io::Result<bool> {
    let old = match &step.before {
        Before::File { copy, .. } => Some(dir.read(copy)?),
        _ => None,
    };
    if holds(&step.path, &step.before, old.as_deref()) {
        return Ok(false);
    }
    if !ours(dir, step, old.as_deref().unwrap_or_default())? {
        return Err(io::ErrorKind::Other.into());
    }
    match (&step.before, old) {
        (Before::Absent, _) => std::fs::remove_file(&step.path)?,
        (Before::File { mode, .. }, Some(bytes)) => {
            atomic::write(&step.path, &bytes, Some(*mode))
                .map_err(|error| io::Error::other(error.to_string()))?;
        }
        (Before::Link { target }, _) => symlink(target, &step.path)?,
        (Before::Folder, _) => DirBuilder::new().create(&step.path)?,
        (Before::File { .. } | Before::Large, _) => return Err(io::ErrorKind::NotFound.into()),
    }
    Ok(true)
}

fn holds(path: &Path, before: &Before, old: Option<&[u8]>) -> bool {
    let found = std::fs::symlink_metadata(path);
    match (before, found) {
        (Before::Absent, Err(error)) => error.kind() == io::ErrorKind::NotFound,
        (Before::File { .. }, Ok(found)) => {
            found.is_file() && std::fs::read(path).is_ok_and(|now| Some(now.as_slice()) == old)
        }
        (Before::Large, Ok(found)) => found.is_file(),
        (Before::Link { target }, Ok(_)) => std::fs::read_link(path).is_ok_and(|now| now == *target),
        (Before::Folder, Ok(found)) => found.is_dir(),
        _ => false,
    }
}

/// Whether what lies there is what the set made of it, or half of that.
fn ours(dir: &PrivateDir, step: &Step, old: &[u8]) -> io::Result<bool> {
    match (&step.after, std::fs::symlink_metadata(&step.path)) {
        (After::Gone, Err(error)) => Ok(error.kind() == io::ErrorKind::NotFound),
        (After::File { hash, copy }, Ok(found)) if found.is_file() => {
            let now = std::fs::read(&step.path)?;
            let new = copy.as_ref().map(|copy| dir.read(copy)).transpose()?;
            Ok(ContentHash::of(&now) == *hash || new.is_some_and(|new| is_torn(&now, &new, old)))
        }
        _ => Ok(false),
    }
}

/// Whether `now` is a beginning of `new`, with nothing or the rest of `old` behind it: a write that broke off.
fn is_torn(now: &[u8], new: &[u8], old: &[u8]) -> bool {
    let written = now.iter().zip(new).take_while(|(a, b)| a == b).count();
    if written == now.len() {
        return true;
    }
    let unwritten = now
        .iter()
        .rev()
        .zip(old.iter().rev())
        .take_while(|(a, b)| a == b)
        .count();
    // The old bytes stay where they were, so they end where the old content ended.
    now.len() == old.len().max(written) && written + unwritten >= now.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_that_broke_off_is_known() {
        let (new, old) = (b"new content".as_slice(), b"the old".as_slice());
        for torn in ["", "new", "newd", "new old", "new content", "the old"] {
            let known = is_torn(torn.as_bytes(), new, old);
            assert_eq!(known, torn != "newd", "{torn}");
        }
        assert!(!is_torn(b"somebody else", new, old));
    }
}
