//! What lies on the local disk. Everything here blocks.

use std::fs::{File, Metadata, Permissions};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::backend::{BackendError, DirEntry, EntryKind, ReadBytes};
use crate::fs::cause::cause;
use crate::fs::pinned::{self, Pinned};
use crate::fs::text::{self, TextFormat};
use crate::fs::{atomic, nearest};
use crate::protocol::change::ContentHash;

/// The largest file that is taken into memory as a whole.
const MAX_WHOLE: u64 = 32 * 1024 * 1024;

/// What was seen at a path before a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Disk {
    Absent,
    File {
        bytes: Vec<u8>,
        mode: u32,
        stamp: Stamp,
    },
    /// A file too large to be kept in memory: it cannot be put back from here.
    Large {
        stamp: Stamp,
    },
    Link(PathBuf),
    Directory,
}

/// Tells whether a file is still the one that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    file: (u64, u64),
    size: u64,
    modified: (i64, i64),
}

impl Stamp {
    fn of(metadata: &Metadata) -> Self {
        Self {
            file: (metadata.dev(), metadata.ino()),
            size: metadata.size(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
        }
    }
}

impl Disk {
    /// The text and how it is laid down; `None` when there is no file or no text in it.
    pub fn text(&self) -> Option<(String, TextFormat)> {
        match self {
            Self::File { bytes, .. } => text::decode(bytes).ok(),
            Self::Absent | Self::Large { .. } | Self::Link(_) | Self::Directory => None,
        }
    }

    /// Whether the path still holds what was seen.
    pub fn is_still_at(&self, path: &Path) -> bool {
        let held = Pinned::above(path);
        let seen = held
            .as_ref()
            .map_err(|error| io::Error::from(error.kind()))
            .and_then(|(_, place)| std::fs::symlink_metadata(place));
        match (self, seen) {
            (Self::Absent, Err(error)) => is_absent(&error),
            (Self::File { stamp, .. } | Self::Large { stamp }, Ok(metadata)) => {
                metadata.is_file() && *stamp == Stamp::of(&metadata)
            }
            (Self::Link(target), Ok(_)) => {
                held.is_ok_and(|(_, place)| std::fs::read_link(place).is_ok_and(|now| now == *target))
            }
            (Self::Directory, Ok(metadata)) => metadata.is_dir(),
            _ => false,
        }
    }
}

/// Looks at a path without following a link in its last part.
pub fn observe(path: &Path) -> Result<Disk, BackendError> {
    let look = || {
        let (folder, place) = Pinned::above(path)?;
        std::fs::symlink_metadata(&place).map(|metadata| (folder, place, metadata))
    };
    let (_folder, place, metadata) = match look() {
        Ok(seen) => seen,
        Err(_) if path.parent().is_none() => return Ok(Disk::Directory),
        Err(error) if is_absent(&error) => return Ok(Disk::Absent),
        Err(error) => return Err(refused(path, &error)),
    };
    if metadata.is_dir() {
        return Ok(Disk::Directory);
    }
    if metadata.file_type().is_symlink() {
        return std::fs::read_link(place)
            .map(Disk::Link)
            .map_err(|error| refused(path, &error));
    }
    let stamp = Stamp::of(&metadata);
    if !metadata.is_file() || stamp.size > MAX_WHOLE {
        return Ok(Disk::Large { stamp });
    }
    let (bytes, metadata) = read_whole(path)?;
    Ok(Disk::File {
        bytes,
        mode: metadata.mode() & 0o7777,
        stamp: Stamp::of(&metadata),
    })
}

/// The hash of a file's bytes, whatever its size.
pub fn hash(path: &Path) -> Result<ContentHash, BackendError> {
    let (mut file, _) = open(path)?;
    let mut hasher = Sha256::new();
    io::copy(&mut file, &mut hasher).map_err(|error| refused(path, &error))?;
    let hex = hasher
        .finalize()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    Ok(ContentHash(hex))
}

/// The text of a file and how it is laid down.
pub fn read_text(path: &Path) -> Result<(String, TextFormat), BackendError> {
    let (bytes, _) = read_whole(path)?;
    text::decode(&bytes).map_err(|error| BackendError::Binary {
        path: path.to_owned(),
        reason: error.to_string(),
    })
}

/// A stretch of a file.
pub fn read_bytes(path: &Path, offset: u64, limit: usize) -> Result<ReadBytes, BackendError> {
    let (mut file, metadata) = open(path)?;
    file.seek(SeekFrom::Start(offset))
        .map_err(|error| refused(path, &error))?;
    let limit = u64::try_from(limit).unwrap_or(u64::MAX);
    let expected = metadata.len().saturating_sub(offset).min(limit);
    let mut bytes = Vec::with_capacity(usize::try_from(expected).unwrap_or_default());
    file.take(limit)
        .read_to_end(&mut bytes)
        .map_err(|error| refused(path, &error))?;
    Ok(ReadBytes {
        bytes,
        total: metadata.len(),
    })
}

/// The children of a folder.
pub fn list(path: &Path) -> Result<Vec<DirEntry>, BackendError> {
    let held = match Pinned::folder(path) {
        Err(error) if error.kind() == io::ErrorKind::NotADirectory && path.is_file() => {
            let reason = "it is a file, not a directory; read it with read_file".to_owned();
            return Err(BackendError::Io {
                path: path.to_owned(),
                reason,
            });
        }
        held => held.map_err(|error| refused(path, &error))?,
    };
    let here = held.here().map_err(|error| refused(path, &error))?;
    let entries = std::fs::read_dir(here).map_err(|error| refused(path, &error))?;
    let mut children = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|error| refused(path, &error))?;
        // One that vanished meanwhile is no child any more.
        let Ok(metadata) = entry.metadata() else { continue };
        let kind = match metadata.file_type() {
            kind if kind.is_dir() => EntryKind::Dir,
            kind if kind.is_symlink() => EntryKind::Link,
            _ => EntryKind::File,
        };
        let target = (kind == EntryKind::Link)
            .then(|| std::fs::read_link(entry.path()).ok())
            .flatten();
        children.push(DirEntry {
            name: entry.file_name().to_string_lossy().into_owned(),
            kind,
            target,
            size: if kind == EntryKind::File {
                metadata.len()
            } else {
                0
            },
            modified: metadata.modified().ok(),
        });
    }
    children.sort_by(|a, b| a.name.as_bytes().cmp(b.name.as_bytes()));
    Ok(children)
}

fn read_whole(path: &Path) -> Result<(Vec<u8>, Metadata), BackendError> {
    let (mut file, metadata) = open(path)?;
    if metadata.len() > MAX_WHOLE {
        return Err(BackendError::TooLarge {
            path: path.to_owned(),
            size: metadata.len(),
        });
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)
        .map_err(|error| refused(path, &error))?;
    Ok((bytes, metadata))
}

/// Opens a regular file by its real path. Others are refused before they are opened: opening a device may do
/// something.
fn open(path: &Path) -> Result<(File, Metadata), BackendError> {
    let regular = |kind: &Metadata| {
        if kind.is_dir() {
            return Err(BackendError::IsDirectory(path.to_owned()));
        }
        if !kind.is_file() && !kind.is_symlink() {
            let reason = "it is a device, pipe or socket, not a regular file".to_owned();
            return Err(BackendError::Io {
                path: path.to_owned(),
                reason,
            });
        }
        Ok(())
    };
    if path.parent().is_none() {
        return Err(BackendError::IsDirectory(path.to_owned()));
    }
    let (_folder, place) = Pinned::above(path).map_err(|error| refused(path, &error))?;
    regular(&std::fs::symlink_metadata(place).map_err(|error| refused(path, &error))?)?;
    let file = pinned::open(path).map_err(|error| refused(path, &error))?;
    let metadata = file.metadata().map_err(|error| refused(path, &error))?;
    regular(&metadata)?;
    Ok((file, metadata))
}

/// Removes what was seen at a path.
pub fn remove(path: &Path, seen: &Disk) -> io::Result<()> {
    match seen {
        Disk::Absent => Ok(()),
        Disk::Directory => pinned::remove(path, true),
        Disk::File { .. } | Disk::Large { .. } | Disk::Link(_) => pinned::remove(path, false),
    }
}

/// Puts back what was seen at a path where now nothing stands, or what was written since.
pub fn put_back(path: &Path, seen: Disk) -> bool {
    let place = || Pinned::above(path);
    match seen {
        Disk::Absent => pinned::remove(path, false).is_ok(),
        Disk::File { bytes, mode, .. } => atomic::write_exact(path, &bytes, Some(mode)).is_ok(),
        Disk::Large { .. } => false,
        Disk::Link(target) => place().is_ok_and(|(_folder, place)| symlink(target, place).is_ok()),
        Disk::Directory => place().is_ok_and(|(_folder, place)| std::fs::create_dir(place).is_ok()),
    }
}

/// Sets the permission bits of a file.
pub fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    let (_folder, place) = Pinned::above(path)?;
    pinned::open_to_change(&place)?.set_permissions(Permissions::from_mode(mode))
}

fn refused(path: &Path, error: &io::Error) -> BackendError {
    if is_absent(error) {
        return BackendError::NotFound {
            path: path.to_owned(),
            hint: nearest::hint(path),
        };
    }
    if pinned::is_detour(error) {
        return BackendError::Io {
            path: path.to_owned(),
            reason: "a link stands on the way by now; look again, then retry".to_owned(),
        };
    }
    BackendError::Io {
        path: path.to_owned(),
        reason: cause(error),
    }
}

/// A file in place of a folder on the way means that nothing is there, too.
fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}
