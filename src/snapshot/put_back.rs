//! Putting the disk back, links and folders included: all of it or nothing.
//!
//! The order keeps links from being followed. First everything that shall go goes, the deepest first,
//! then the folders that held it, and only then comes what shall come, the outermost first. A link is
//! removed as a link and made as a link; whatever it points to is never touched.

use std::collections::BTreeSet;
use std::fs::{DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use crate::fs::atomic;
use crate::snapshot::error::SnapshotError;
use crate::snapshot::manifest::{After, Disk};
use crate::snapshot::observe::{Above, above, observe};
use crate::snapshot::restore::{DiskContent, Restoration};
use crate::snapshot::store::SnapshotStore;

/// A path and what it shall hold.
struct Want<'a> {
    path: &'a Path,
    disk: DiskContent,
}

impl SnapshotStore {
    /// Makes the disk hold what each restoration says, buffers aside. A file that changed since the
    /// restoration was worked out stops it all; when one cannot be written, those before it are put
    /// back as they were.
    pub fn put_back(&self, restorations: &[Restoration]) -> Result<(), SnapshotError> {
        let mut todo: Vec<&Restoration> = Vec::new();
        let mut come_again = Vec::new();
        for restoration in restorations.iter().filter(|r| r.disk.is_some()) {
            let found = observe(&restoration.path, None, self.blobs_for(&restoration.path)?)?;
            // A folder that came again with the files in it.
            if let (Disk::Folder { .. }, Some(DiskContent::Folder { mode })) =
                (&found.disk, &restoration.disk)
            {
                come_again.push((restoration.path.as_path(), *mode));
                continue;
            }
            let seen = After {
                disk: restoration.now.disk.clone(),
                buffer: None,
            };
            if !seen.still_is(&found) {
                return Err(SnapshotError::ChangedMeanwhile(restoration.path.clone()));
            }
            todo.push(restoration);
        }
        let wants: Vec<Want> = todo
            .iter()
            .filter_map(|restoration| {
                let disk = restoration.disk.clone()?;
                let path = restoration.path.as_path();
                Some(Want { path, disk })
            })
            .collect();
        let placed = apply(&wants).inspect_err(|_| {
            let before: Vec<Want> = todo
                .iter()
                .filter_map(|restoration| {
                    let disk = self.content(&restoration.now.disk).ok()?;
                    let path = restoration.path.as_path();
                    Some(Want { path, disk })
                })
                .collect();
            // What held this a moment ago can hold it again; more than trying cannot be done.
            apply(&before).ok();
        });
        if placed.is_ok() {
            come_again
                .into_iter()
                .for_each(|(path, mode)| set_mode(path, mode));
        }
        placed
    }
}

/// Gives a folder its permission bits. What it holds is in place: that they cannot be set is no failure.
fn set_mode(folder: &Path, mode: Option<u32>) {
    if let Some(mode) = mode {
        std::fs::set_permissions(folder, Permissions::from_mode(mode)).ok();
    }
}

fn apply(wants: &[Want]) -> Result<(), SnapshotError> {
    let mut wants: Vec<&Want> = wants.iter().collect();
    wants.sort_by_key(|want| want.path);
    for want in wants.iter().rev() {
        clear(want)?;
    }
    remove_folders(&wants);
    for want in &wants {
        place(want)?;
    }
    // Last, the innermost first: a folder that takes no new file had some all the same.
    for want in wants.iter().rev() {
        if let DiskContent::Folder { mode } = want.disk {
            set_mode(want.path, mode);
        }
    }
    Ok(())
}

/// Removes what stands in the way of `want`: the file that shall go, or a link where something else
/// shall be. Folders are left to [`remove_folders`].
fn clear(want: &Want) -> Result<(), SnapshotError> {
    if above(want.path)? != Above::Folders {
        return Ok(());
    }
    let failed = |error: io::Error| SnapshotError::io(want.path, &error);
    let kind = match std::fs::symlink_metadata(want.path) {
        Ok(metadata) => metadata.file_type(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(failed(error)),
    };
    // A file over a file is replaced in one rename, later.
    let goes = match want.disk {
        DiskContent::File { .. } => kind.is_symlink(),
        _ => !kind.is_dir(),
    };
    if goes {
        std::fs::remove_file(want.path).map_err(failed)?;
    }
    Ok(())
}

/// Removes the folders that were not there, as far as nothing else lies in them.
fn remove_folders(wants: &[&Want]) {
    let folders: BTreeSet<&Path> = wants
        .iter()
        .filter_map(|want| match &want.disk {
            DiskContent::Absent { missing } => {
                let missing = missing.iter().map(PathBuf::as_path);
                Some(missing.chain(std::iter::once(want.path)))
            }
            _ => None,
        })
        .flatten()
        .collect();
    for folder in folders.into_iter().rev() {
        // `rmdir` takes neither a link nor a folder that holds something.
        if above(folder).is_ok_and(|above| above == Above::Folders) {
            std::fs::remove_dir(folder).ok();
        }
    }
}

fn place(want: &Want) -> Result<(), SnapshotError> {
    if let DiskContent::Absent { .. } = want.disk {
        let gone = std::fs::symlink_metadata(want.path).is_err();
        let beyond = above(want.path)? != Above::Folders;
        return if gone || beyond {
            Ok(())
        } else {
            Err(SnapshotError::FolderInTheWay(want.path.to_owned()))
        };
    }
    if let Above::Blocked(through) = above(want.path)? {
        return Err(SnapshotError::Unresolved {
            path: want.path.to_owned(),
            through,
        });
    }
    let is_folder = std::fs::symlink_metadata(want.path).is_ok_and(|metadata| metadata.is_dir());
    if is_folder && !matches!(want.disk, DiskContent::Folder { .. }) {
        return Err(SnapshotError::FolderInTheWay(want.path.to_owned()));
    }
    let made_parent = || match want.path.parent() {
        Some(parent) => DirBuilder::new().recursive(true).create(parent),
        None => Ok(()),
    };
    match &want.disk {
        DiskContent::File { bytes, mode } => {
            atomic::write_exact(want.path, bytes, Some(*mode)).map_err(|error| SnapshotError::Io {
                path: error.path,
                reason: error.reason,
            })?;
        }
        DiskContent::Link { target } => made_parent()
            .and_then(|()| symlink(target, want.path))
            .map_err(|error| SnapshotError::io(want.path, &error))?,
        DiskContent::Folder { .. } => DirBuilder::new()
            .recursive(true)
            .create(want.path)
            .map_err(|error| SnapshotError::io(want.path, &error))?,
        DiskContent::Absent { .. } => {}
    }
    Ok(())
}
