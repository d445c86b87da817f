//! One writer: an `flock` on the journal, which ends with the process however the process ends.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::{FlockOperation, OFlags};

/// A file that nobody else has locked. The lock is given back when this is dropped.
#[derive(Debug)]
pub struct FileLock {
    file: File,
}

impl FileLock {
    /// Takes the lock without waiting; `None` when somebody else has it. The lock belongs to this
    /// handle: a second one in the same process is somebody else.
    pub fn try_take(file: File) -> io::Result<Option<Self>> {
        match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(Self { file })),
            Err(rustix::io::Errno::WOULDBLOCK) => Ok(None),
            Err(errno) => Err(errno.into()),
        }
    }

    /// The locked file.
    pub fn file(&self) -> &File {
        &self.file
    }
}

impl Drop for FileLock {
    fn drop(&mut self) {
        // Closing would do, but for a child that was forked just now and has not yet become its program.
        rustix::fs::flock(&self.file, FlockOperation::Unlock).ok();
    }
}

/// Whether some process has the file at `path` locked. What is not there is not locked; what cannot
/// be looked at counts as locked, because the answer decides what may be thrown away.
pub fn is_locked(path: &Path) -> bool {
    match try_lock(path) {
        Ok(lock) => lock.is_none(),
        Err(error) => error.kind() != io::ErrorKind::NotFound,
    }
}

/// Takes the lock of the file at `path` without waiting; `None` when somebody else has it. Links are
/// not followed.
pub fn try_lock(path: &Path) -> io::Result<Option<FileLock>> {
    let file = OpenOptions::new()
        .read(true)
        .custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed())
        .open(path)?;
    FileLock::try_take(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_seen_while_it_is_held_and_gone_when_dropped() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("j");
        assert!(!is_locked(&path), "nothing is there");
        let file = File::create(&path).unwrap();
        assert!(!is_locked(&path));
        let lock = FileLock::try_take(file).unwrap().unwrap();
        assert!(is_locked(&path));
        assert!(FileLock::try_take(File::open(&path).unwrap()).unwrap().is_none());
        drop(lock);
        assert!(!is_locked(&path));
    }
}
