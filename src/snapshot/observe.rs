//! Looking at a path without following a link.

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Component, Path, PathBuf};

use rustix::fs::OFlags;

use crate::journal::BlobStore;
use crate::protocol::change::BufferText;
use crate::snapshot::error::SnapshotError;
use crate::snapshot::manifest::{Before, BufferBefore, Disk};

/// What the folders above a path are.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Above {
    /// All there, and folders.
    Folders,
    /// These are missing, outermost first.
    Missing(Vec<PathBuf>),
    /// This one is a link or a file: what lies beyond it is not the path that is meant.
    Blocked(PathBuf),
}

/// Whether a path is absolute, names something below `/` and has no `..`.
pub(super) fn is_plain(path: &Path) -> bool {
    let normal = |part| matches!(part, Component::RootDir | Component::Normal(_));
    path.is_absolute() && path.file_name().is_some() && path.components().all(normal)
}

/// Looks at the folders above `path`. A path that is not absolute or holds `..` is refused.
pub(super) fn above(path: &Path) -> Result<Above, SnapshotError> {
    if !is_plain(path) {
        return Err(SnapshotError::Unresolved {
            path: path.to_owned(),
            through: path.to_owned(),
        });
    }
    let mut folders: Vec<&Path> = path.ancestors().skip(1).collect();
    folders.reverse();
    for (at, folder) in folders.iter().enumerate() {
        match std::fs::symlink_metadata(folder) {
            Ok(metadata) if metadata.is_dir() => {}
            Ok(_) => return Ok(Above::Blocked((*folder).to_owned())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let missing = folders
                    .iter()
                    .skip(at)
                    .map(|folder| (*folder).to_owned())
                    .collect();
                return Ok(Above::Missing(missing));
            }
            Err(error) => return Err(SnapshotError::io(folder, &error)),
        }
    }
    Ok(Above::Folders)
}

/// What is at `path` now, its bytes kept in `blobs`. Beyond a link nothing is: the real path is gone.
pub(super) fn observe(
    path: &Path,
    buffer: Option<&BufferText>,
    blobs: &BlobStore,
) -> Result<Before, SnapshotError> {
    let disk = match above(path)? {
        Above::Folders => disk(path, blobs)?,
        Above::Missing(missing) => Disk::Absent { missing },
        Above::Blocked(_) => Disk::Absent { missing: Vec::new() },
    };
    let buffer = buffer
        .map(|buffer| -> Result<_, SnapshotError> {
            Ok(BufferBefore {
                blob: blobs.put(buffer.text.as_bytes())?,
                modified: buffer.modified,
            })
        })
        .transpose()?;
    Ok(Before { disk, buffer })
}

fn disk(path: &Path, blobs: &BlobStore) -> Result<Disk, SnapshotError> {
    let failed = |error: io::Error| SnapshotError::io(path, &error);
    let metadata = match std::fs::symlink_metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Ok(Disk::Absent { missing: Vec::new() });
        }
        Err(error) => return Err(failed(error)),
    };
    let kind = metadata.file_type();
    if kind.is_symlink() {
        let target = std::fs::read_link(path).map_err(failed)?;
        return Ok(Disk::Link { target });
    }
    if kind.is_dir() {
        return Ok(Disk::Folder {
            mode: Some(metadata.mode() & 0o7777),
        });
    }
    if !kind.is_file() {
        return Err(SnapshotError::Special(path.to_owned()));
    }
    let (mut file, metadata) = open_regular(path)?;
    let blob = blobs.put_reader(&mut file)?;
    Ok(Disk::File {
        blob,
        mode: metadata.mode() & 0o7777,
    })
}

/// Opens a file that was a regular one a moment ago; one that is not any more neither blocks nor leads
/// elsewhere.
fn open_regular(path: &Path) -> Result<(File, Metadata), SnapshotError> {
    let opened = OpenOptions::new()
        .read(true)
        .custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed())
        .open(path)
        .and_then(|file| file.metadata().map(|metadata| (file, metadata)));
    match opened {
        Ok((file, metadata)) if metadata.is_file() => Ok((file, metadata)),
        Ok(_) => Err(SnapshotError::Special(path.to_owned())),
        Err(error) => Err(SnapshotError::io(path, &error)),
    }
}
