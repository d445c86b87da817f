//! Whole files in and out by a program, beside the tools: bytes, absolute paths, one answer a file.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use thiserror::Error;

use crate::fs::atomic;
use crate::offload::OffloadDir;

/// A file that is to be laid down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upload {
    /// Absolute, without `..`. `/retrieved/…` is a file of the session's own folder.
    pub path: PathBuf,
    /// All it shall hold. An existing file is replaced and keeps its mode; missing folders are made.
    pub bytes: Vec<u8>,
}

/// How an upload ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uploaded {
    /// As it was given.
    pub path: PathBuf,
    /// Why it was not laid down; `None` when it was.
    pub error: Option<TransferError>,
}

/// What a download gave: a content or an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Downloaded {
    /// As it was given.
    pub path: PathBuf,
    /// All bytes of the file.
    pub content: Result<Vec<u8>, TransferError>,
}

/// Why a file was not transferred. The text is a code for programs, but for [`TransferError::Other`].
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TransferError {
    /// Nothing is there.
    #[error("file_not_found")]
    NotFound,
    /// The system does not let us.
    #[error("permission_denied")]
    Denied,
    /// A folder stands there.
    #[error("is_directory")]
    Directory,
    /// Not absolute, with `..`, below a file, or no regular file.
    #[error("invalid_path")]
    Invalid,
    /// Anything else, in words: the disk is full, for example.
    #[error("{0}")]
    Other(String),
}

/// Lays one file down. Blocks.
pub(super) fn upload(offload: Option<&OffloadDir>, file: &Upload) -> Result<(), TransferError> {
    let path = place(offload, &file.path)?;
    if let (Some(offload), true) = (offload, path != file.path) {
        offload
            .make()
            .map_err(|error| TransferError::Other(error.to_string()))?;
    }
    if path.is_dir() {
        return Err(TransferError::Directory);
    }
    let folder = path.ancestors().skip(1).find(|folder| folder.exists());
    if folder.is_some_and(|folder| !folder.is_dir()) {
        return Err(TransferError::Invalid);
    }
    let denied = |error: atomic::AtomicError| {
        if error.denied {
            TransferError::Denied
        } else {
            TransferError::Other(error.to_string())
        }
    };
    atomic::write(&path, &file.bytes, None).map(drop).map_err(denied)
}

/// Reads one file. Blocks.
pub(super) fn download(offload: Option<&OffloadDir>, path: &Path) -> Result<Vec<u8>, TransferError> {
    let path = place(offload, path)?;
    let kind = std::fs::metadata(&path).map_err(|error| refused(&error))?;
    if kind.is_dir() {
        return Err(TransferError::Directory);
    }
    // A pipe would block for ever.
    if !kind.is_file() {
        return Err(TransferError::Invalid);
    }
    let mut bytes = Vec::new();
    File::open(&path)
        .and_then(|mut file| file.read_to_end(&mut bytes))
        .map_err(|error| refused(&error))?;
    Ok(bytes)
}

fn place(offload: Option<&OffloadDir>, path: &Path) -> Result<PathBuf, TransferError> {
    let plain = |part| matches!(part, Component::RootDir | Component::Normal(_));
    let nul = path.as_os_str().as_encoded_bytes().contains(&0);
    if nul || !path.is_absolute() || path.file_name().is_none() || !path.components().all(plain) {
        return Err(TransferError::Invalid);
    }
    let routed = offload.and_then(|offload| offload.route(path));
    Ok(routed.unwrap_or_else(|| path.to_owned()))
}

fn refused(error: &io::Error) -> TransferError {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => TransferError::NotFound,
        io::ErrorKind::PermissionDenied => TransferError::Denied,
        io::ErrorKind::IsADirectory => TransferError::Directory,
        _ => TransferError::Other(crate::fs::cause::cause(error)),
    }
}
