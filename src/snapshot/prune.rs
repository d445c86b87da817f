//! Old sessions give their room back.

use std::io;
use std::path::Path;

use crate::journal::{PrivateDir, is_plain_name, journal_path, try_lock};
use crate::protocol::ids::SessionId;
use crate::snapshot::error::SnapshotError;
use crate::snapshot::layout::SnapshotDirs;

/// How many sessions keep their snapshots, in the project and in the state folder each.
pub const KEEP: usize = 30;

/// Removes the snapshots of all but the newest `keep` sessions, in each of the two places, and says
/// whose. Sessions are ULIDs, so their names tell their age. One that a process has open stays, and
/// so does every folder that is not named like a session.
pub fn prune(dirs: &SnapshotDirs, keep: usize) -> Result<Vec<SessionId>, SnapshotError> {
    let project = dirs.deepseek().map(|deepseek| deepseek.join("snapshots"));
    let mut removed = Vec::new();
    for root in project.into_iter().chain([dirs.state_snapshots()]) {
        for session in old_sessions(&root, keep)? {
            // Held until its snapshots are gone, so that nobody resumes the session meanwhile.
            let _lock = match try_lock(&journal_path(&dirs.state, &session)) {
                Ok(Some(lock)) => Some(lock),
                Err(error) if error.kind() == io::ErrorKind::NotFound => None,
                Ok(None) | Err(_) => continue,
            };
            let folder = root.join(&session.0);
            // It removes links, it does not follow them.
            std::fs::remove_dir_all(&folder).map_err(|error| SnapshotError::io(&folder, &error))?;
            if !removed.contains(&session) {
                removed.push(session);
            }
        }
    }
    Ok(removed)
}

fn old_sessions(root: &Path, keep: usize) -> Result<Vec<SessionId>, SnapshotError> {
    let failed = |error: io::Error| SnapshotError::io(root, &error);
    match std::fs::symlink_metadata(root) {
        Ok(metadata) if metadata.is_dir() => {}
        Ok(_) => return Ok(Vec::new()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed(error)),
    }
    let mut names = PrivateDir::open(root)
        .and_then(|dir| dir.names())
        .map_err(failed)?;
    names.retain(|name| {
        let folder = std::fs::symlink_metadata(root.join(name)).is_ok_and(|metadata| metadata.is_dir());
        folder && is_plain_name(name)
    });
    let old = names.len().saturating_sub(keep);
    names.truncate(old);
    Ok(names.into_iter().map(SessionId).collect())
}
