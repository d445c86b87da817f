//! One writer a path at a time, from reading to writing, also among parallel agents.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};

/// The locks of all paths that are being changed.
#[derive(Default)]
pub struct PathLocks {
    locks: Mutex<HashMap<PathBuf, Weak<AsyncMutex<()>>>>,
}

impl PathLocks {
    /// Waits for all of `paths`, in their order, so that two callers never wait for each other.
    pub async fn acquire(&self, mut paths: Vec<PathBuf>) -> Vec<OwnedMutexGuard<()>> {
        paths.sort();
        paths.dedup();
        let mut guards = Vec::with_capacity(paths.len());
        for path in paths {
            let lock = self.lock_of(path);
            guards.push(lock.lock_owned().await);
        }
        guards
    }

    fn lock_of(&self, path: PathBuf) -> Arc<AsyncMutex<()>> {
        let mut locks = self.locks.lock().unwrap_or_else(PoisonError::into_inner);
        locks.retain(|_, lock| lock.strong_count() > 0);
        if let Some(lock) = locks.get(&path).and_then(Weak::upgrade) {
            return lock;
        }
        let lock = Arc::new(AsyncMutex::new(()));
        locks.insert(path, Arc::downgrade(&lock));
        lock
    }
}
