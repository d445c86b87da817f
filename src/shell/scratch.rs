//! The folder that commands in a sandbox have for themselves. It ends with the session; what a killed Neovim left is
//! removed by the next one.

use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use tempfile::TempDir;

const PREFIX: &str = "dcode-sandbox-";
/// Held locked as long as the folder is in use, however its owner ends.
const LOCK: &str = "lock";

/// A folder with `tmp`, `cache` and `empty` in it.
#[derive(Debug)]
pub(super) struct Scratch {
    folder: TempDir,
    _lock: File,
}

impl Scratch {
    /// Makes one in the system's folder for temporary files, and has those removed that nobody holds any more.
    pub fn new() -> io::Result<Self> {
        let parent = std::env::temp_dir();
        let made = Self::within(&parent)?;
        // Nothing waits for it: it may be much.
        std::thread::Builder::new()
            .name("dcode-sweep".into())
            .spawn(move || sweep(&parent))
            .ok();
        Ok(made)
    }

    fn within(parent: &Path) -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(parent)?;
        for name in ["tmp", "cache", "empty"] {
            std::fs::create_dir(folder.path().join(name))?;
        }
        // Nobody sees it by its name before it is locked: it would be taken for left.
        let making = folder.path().join("making");
        let lock = File::create(&making)?;
        flock(&lock, FlockOperation::NonBlockingLockExclusive)?;
        std::fs::rename(making, folder.path().join(LOCK))?;
        Ok(Self { folder, _lock: lock })
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Removes the folder now; what cannot be removed stays.
    pub fn remove(&self) {
        std::fs::remove_dir_all(self.path()).ok();
    }
}

/// Removes what is of this user and unlocked.
fn sweep(parent: &Path) {
    let own = rustix::process::geteuid().as_raw();
    for entry in std::fs::read_dir(parent).into_iter().flatten().flatten() {
        let ours = entry.file_name().to_string_lossy().starts_with(PREFIX)
            && entry
                .metadata()
                .is_ok_and(|data| data.is_dir() && data.uid() == own);
        if ours && is_left(&entry.path()) {
            std::fs::remove_dir_all(entry.path()).ok();
        }
    }
}

/// Whether a folder has a lock that nobody holds. One without a lock is just being made.
fn is_left(folder: &Path) -> bool {
    let lock: PathBuf = folder.join(LOCK);
    let is_file = std::fs::symlink_metadata(&lock).is_ok_and(|data| data.is_file());
    is_file
        && File::open(lock).is_ok_and(|lock| flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[test]
    fn only_what_nobody_holds_is_swept() {
        let parent = tempfile::tempdir().unwrap();
        let held = Scratch::within(parent.path()).unwrap();
        let left = parent.path().join("dcode-sandbox-left");
        let other = parent.path().join("other");
        for folder in [&left, &other] {
            std::fs::create_dir(folder).unwrap();
            File::create(folder.join(LOCK)).unwrap();
        }
        sweep(parent.path());
        assert!(held.path().join("tmp").is_dir() && other.is_dir());
        assert!(!left.exists());
        let path = held.path().to_owned();
        held.remove();
        assert!(!path.exists());
    }

    #[test]
    fn what_is_being_made_is_not_swept() {
        let parent = tempfile::tempdir().unwrap();
        let made = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let sweepers = [(); 2].map(|()| {
                scope.spawn(|| {
                    while !made.load(Ordering::Relaxed) {
                        sweep(parent.path());
                    }
                })
            });
            let whole = (0..2_000).all(|_| {
                Scratch::within(parent.path()).is_ok_and(|scratch| scratch.path().join("empty").is_dir())
            });
            made.store(true, Ordering::Relaxed);
            assert!(whole, "swept while it was made");
            drop(sweepers);
        });
    }
}
