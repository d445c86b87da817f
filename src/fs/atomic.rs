//! Files replaced whole or not at all.
//!
//! The new bytes go to a temporary file in the same folder and are flushed; `commit` renames it over
//! the old one. So a crash, a full disk or a cancelled turn leaves the old content, never half of the
//! new. Mode and owner stay. Where a rename would break something (other hard links, a foreign owner,
//! extended attributes, a folder that takes no new file) the file is written in place, and its old
//! bytes are put back should that fail.

use std::fs::{File, Metadata, Permissions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, Gid, Uid};
use tempfile::{NamedTempFile, TempPath};
use thiserror::Error;

use crate::fs::cause::cause;
use crate::fs::made_parents::MadeParents;
use crate::fs::pinned::{self, Pinned};

/// How the names of temporary files begin.
pub const PREFIX: &str = ".dcode-";
const MODE_BITS: u32 = 0o7777;

/// Why a file was not written. The old content stands.
#[derive(Debug, Error)]
#[error("{path} was not written: {reason}", path = path.display())]
pub struct AtomicError {
    /// The file.
    pub path: PathBuf,
    /// Cause and remedy in words.
    pub reason: String,
    /// Whether the system did not permit it.
    pub denied: bool,
}

impl AtomicError {
    fn new(path: &Path, reason: impl Into<String>) -> Self {
        Self {
            path: path.to_owned(),
            reason: reason.into(),
            denied: false,
        }
    }

    pub(super) fn io(path: &Path, error: &io::Error) -> Self {
        Self {
            denied: matches!(
                error.kind(),
                io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem
            ),
            ..Self::new(path, cause(error))
        }
    }
}

/// Bytes that lie ready beside the file they will replace. Dropped without [`StagedWrite::commit`] it
/// leaves nothing behind: no temporary file and no folder that it made.
#[derive(Debug)]
pub struct StagedWrite {
    target: PathBuf,
    /// The target by way of the held folder.
    place: PathBuf,
    how: How,
    mode: Option<u32>,
    // Declared after `how`: the temporary file goes first, then the folders around it.
    parents: MadeParents,
    folder: Pinned,
}

#[derive(Debug)]
enum How {
    /// Rename over what stands there, or over nothing.
    Rename { temp: TempPath, replaces: bool },
    /// Copy from the temporary file, or from memory where the folder takes no temporary file.
    InPlace {
        bytes: Vec<u8>,
        /// Device and number of the file that is meant.
        file: (u64, u64),
        _room: Option<TempPath>,
    },
}

/// What a commit did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Committed {
    /// The file that was written: the given one, or where its link leads.
    pub path: PathBuf,
    /// Folders that were made for it, outermost first.
    pub made_parents: Vec<PathBuf>,
}

impl StagedWrite {
    /// Lays `bytes` ready for `path`. A link is followed to the file it names. `mode` sets the
    /// permission bits; without it an existing file keeps its own and a new one gets 0666 less the
    /// umask. Missing folders are made.
    pub fn stage(path: &Path, bytes: &[u8], mode: Option<u32>) -> Result<Self, AtomicError> {
        let target = follow_link(path)?;
        let real = real_above(&target).map_err(|error| AtomicError::io(path, &error))?;
        Ok(Self {
            target,
            ..Self::stage_exact(PREFIX, &real, bytes, mode)?
        })
    }

    /// The same for a path that is real already, as a judged one is: a link that stands on the way by now is
    /// refused. The temporary file's name begins with `prefix`, so that it can be found again.
    pub fn stage_exact(
        prefix: &str,
        path: &Path,
        bytes: &[u8],
        mode: Option<u32>,
    ) -> Result<Self, AtomicError> {
        let failed = |error: &io::Error| AtomicError::io(path, error);
        let (Some(above), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(AtomicError::new(path, "it is a directory"));
        };
        let (parents, folder) = MadeParents::hold(above)?;
        let here = folder.here().map_err(|error| failed(&error))?;
        let place = here.join(name);
        let existing = match std::fs::symlink_metadata(&place) {
            Ok(metadata) => Some(metadata),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(failed(&error)),
        };
        let target = path.to_owned();
        let how = match &existing {
            Some(metadata) => stage_existing(prefix, &target, &place, &here, metadata, bytes)?,
            None => {
                let temp = write_temp(prefix, &here, bytes, mode.unwrap_or(0o666))
                    .map_err(|error| AtomicError::io(&target, &error))?;
                How::Rename {
                    temp: temp.into_temp_path(),
                    replaces: false,
                }
            }
        };
        if let (How::Rename { temp, .. }, Some(mode)) =
            (&how, mode.or_else(|| existing.as_ref().map(Metadata::mode)))
        {
            std::fs::set_permissions(temp, Permissions::from_mode(mode & MODE_BITS))
                .map_err(|error| AtomicError::io(&target, &error))?;
        }
        Ok(Self {
            target,
            place,
            how,
            mode,
            parents,
            folder,
        })
    }

    /// The file that will be written.
    pub fn path(&self) -> &Path {
        &self.target
    }

    /// The bytes, where the file will not be replaced in one move but written over: a kill in the middle
    /// leaves half of them.
    pub fn in_place(&self) -> Option<&[u8]> {
        match &self.how {
            How::InPlace { bytes, .. } => Some(bytes),
            How::Rename { .. } => None,
        }
    }

    /// Puts the bytes in place. A new file is refused when something came to stand there meanwhile.
    pub fn commit(self) -> Result<Committed, AtomicError> {
        let Self {
            target,
            place,
            how,
            mode,
            parents,
            folder,
        } = self;
        let failed = |error: &io::Error| AtomicError::io(&target, error);
        // Where there is no way by descriptor, the path must still lead to the folder that is held.
        let here = folder.here().map_err(|error| failed(&error))?;
        match how {
            How::Rename { temp, replaces: true } => temp.persist(&place).map_err(|e| failed(&e.error))?,
            How::Rename {
                temp,
                replaces: false,
            } => place_new(temp, &place).map_err(|e| failed(&e))?,
            How::InPlace { bytes, file, _room } => {
                write_in_place(&place, file, &bytes, mode).map_err(|e| failed(&e))?;
            }
        }
        // The content is in place; that the folder's entry reaches the disk late is no failure.
        if let Ok(folder) = File::open(here) {
            folder.sync_all().ok();
        }
        let made_parents = parents.keep();
        Ok(Committed {
            path: target,
            made_parents,
        })
    }
}

/// Writes a file whole or not at all; see [`StagedWrite`].
pub fn write(path: &Path, bytes: &[u8], mode: Option<u32>) -> Result<Committed, AtomicError> {
    StagedWrite::stage(path, bytes, mode)?.commit()
}

/// [`write`] for a path that is real already; see [`StagedWrite::stage_exact`].
pub fn write_exact(path: &Path, bytes: &[u8], mode: Option<u32>) -> Result<Committed, AtomicError> {
    StagedWrite::stage_exact(PREFIX, path, bytes, mode)?.commit()
}

/// The path with the links of its folders resolved, as far as those exist.
fn real_above(path: &Path) -> io::Result<PathBuf> {
    let path = std::path::absolute(path)?;
    for folder in path.ancestors().skip(1) {
        let below = path.strip_prefix(folder).unwrap_or(&path);
        match std::fs::canonicalize(folder) {
            Ok(real) => return Ok(real.join(below)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(path)
}

fn follow_link(path: &Path) -> Result<PathBuf, AtomicError> {
    match std::fs::symlink_metadata(path) {
        Ok(metadata) if metadata.file_type().is_symlink() => std::fs::canonicalize(path).map_err(|error| {
            let reason = format!("it is a link whose target cannot be reached ({})", cause(&error));
            AtomicError::new(path, reason)
        }),
        _ => Ok(path.to_owned()),
    }
}

/// `target` is what messages name; `place` is where it is looked at.
fn stage_existing(
    prefix: &str,
    target: &Path,
    place: &Path,
    folder: &Path,
    old: &Metadata,
    bytes: &[u8],
) -> Result<How, AtomicError> {
    if old.is_dir() {
        return Err(AtomicError::new(target, "it is a directory"));
    }
    if !old.is_file() {
        return Err(AtomicError::new(target, "it is not a regular file"));
    }
    // A rename would not ask: the folder decides about it. The file's own mode is the person's word.
    rustix::fs::access(place, Access::WRITE_OK).map_err(|errno| match errno {
        rustix::io::Errno::ACCESS => AtomicError {
            denied: true,
            ..AtomicError::new(
                target,
                "the file is not writable for you; change its permissions (`chmod u+w`) if it shall be changed",
            )
        },
        other => AtomicError::io(target, &other.into()),
    })?;
    let temp = match write_temp(prefix, folder, bytes, 0o600) {
        Ok(temp) => temp,
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            return Ok(How::InPlace {
                bytes: bytes.to_vec(),
                file: (old.dev(), old.ino()),
                _room: None,
            });
        }
        Err(error) => return Err(AtomicError::io(target, &error)),
    };
    if old.nlink() > 1 || has_attributes(place) || !take_owner(temp.as_file(), old) {
        return Ok(How::InPlace {
            bytes: bytes.to_vec(),
            file: (old.dev(), old.ino()),
            _room: Some(temp.into_temp_path()),
        });
    }
    Ok(How::Rename {
        temp: temp.into_temp_path(),
        replaces: true,
    })
}

fn write_temp(prefix: &str, folder: &Path, bytes: &[u8], mode: u32) -> io::Result<NamedTempFile> {
    let mut temp = tempfile::Builder::new()
        .prefix(prefix)
        .permissions(Permissions::from_mode(mode & MODE_BITS))
        .tempfile_in(folder)?;
    temp.write_all(bytes)?;
    temp.as_file().sync_all()?;
    Ok(temp)
}

/// Whether the file has an access list or other extended attributes that a new file would lack. Labels
/// that the system gives every file by itself do not count.
fn has_attributes(target: &Path) -> bool {
    let mut names = vec![0u8; 4096];
    match rustix::fs::listxattr(target, &mut names) {
        Ok(length) => names
            .get(..length)
            .unwrap_or_default()
            .split(|byte| *byte == 0)
            .any(|name| !name.is_empty() && name != b"security.selinux" && name != b"com.apple.provenance"),
        // More names than fit are names; a file system without attributes has none.
        Err(errno) => errno == rustix::io::Errno::RANGE,
    }
}

/// Gives the temporary file the owner and group of the old one; `false` when that is not allowed.
fn take_owner(temp: &File, old: &Metadata) -> bool {
    let Ok(new) = temp.metadata() else { return false };
    if (new.uid(), new.gid()) == (old.uid(), old.gid()) {
        return true;
    }
    let (uid, gid) = (Uid::from_raw(old.uid()), Gid::from_raw(old.gid()));
    rustix::fs::fchown(temp, Some(uid), Some(gid)).is_ok()
}

fn place_new(temp: TempPath, target: &Path) -> io::Result<()> {
    match temp.persist_noclobber(target) {
        Ok(()) => Ok(()),
        Err(refused) if refused.error.kind() == io::ErrorKind::AlreadyExists => {
            let reason = "something came to stand there meanwhile; read it, then retry";
            Err(io::Error::other(reason))
        }
        // Some file systems have neither hard links nor an exclusive rename.
        Err(refused) if std::fs::symlink_metadata(target).is_err() => {
            refused.path.persist(target).map_err(|refused| refused.error)
        }
        Err(refused) => Err(refused.error),
    }
}

fn write_in_place(place: &Path, meant: (u64, u64), bytes: &[u8], mode: Option<u32>) -> io::Result<()> {
    let mut file = pinned::open_to_change(place)?;
    let found = file.metadata()?;
    if (found.dev(), found.ino()) != meant {
        let reason = "another file came to stand there meanwhile; read it, then retry";
        return Err(io::Error::other(reason));
    }
    let mut old = Vec::new();
    file.read_to_end(&mut old)?;
    let mut put = |bytes: &[u8]| -> io::Result<()> {
        file.seek(SeekFrom::Start(0))?;
        file.write_all(bytes)?;
        file.set_len(u64::try_from(bytes.len()).unwrap_or(u64::MAX))?;
        file.sync_all()
    };
    put(bytes).inspect_err(|_| {
        // The old bytes had their room a moment ago; more than trying cannot be done.
        put(&old).ok();
    })?;
    match mode {
        Some(mode) => file.set_permissions(Permissions::from_mode(mode & MODE_BITS)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    fn file(folder: &Path, name: &str, bytes: &[u8], mode: u32) -> PathBuf {
        let path = folder.join(name);
        File::create(&path).unwrap().write_all(bytes).unwrap();
        std::fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        path
    }

    #[test]
    fn an_existing_file_keeps_its_mode() {
        let dir = tempfile::tempdir().unwrap();
        let path = file(dir.path(), "run.sh", b"old", 0o755);
        let before = std::fs::metadata(&path).unwrap();
        let committed = write(&path, b"new", None).unwrap();
        let after = std::fs::metadata(&path).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
        assert_eq!(after.mode(), before.mode());
        assert_ne!(after.ino(), before.ino());
        assert_eq!(
            committed,
            Committed {
                path: path.clone(),
                made_parents: vec![]
            }
        );
        write(&path, b"new", Some(0o640)).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().mode() & MODE_BITS, 0o640);
        assert_eq!(names(dir.path()), ["run.sh"]);
    }

    #[test]
    fn nothing_stays_of_a_write_that_is_dropped() {
        let dir = tempfile::tempdir().unwrap();
        let path = file(dir.path(), "a", b"old", 0o644);
        let deep = dir.path().join("x/y/new");
        let staged = [
            StagedWrite::stage(&path, b"new", None).unwrap(),
            StagedWrite::stage(&deep, b"new", None).unwrap(),
        ];
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
        assert!(deep.parent().unwrap().is_dir());
        drop(staged);
        assert_eq!(names(dir.path()), ["a"]);
    }

    #[test]
    fn new_files_and_their_folders_are_made_and_named() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x/y/new");
        let committed = write(&path, b"new", None).unwrap();
        assert_eq!(
            committed.made_parents,
            [dir.path().join("x"), dir.path().join("x/y")]
        );
        assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o111, 0);
        assert_ne!(std::fs::metadata(&path).unwrap().mode() & 0o600, 0);
    }

    #[test]
    fn a_new_file_does_not_replace_one_that_came_meanwhile() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        let staged = StagedWrite::stage(&path, b"ours", None).unwrap();
        file(dir.path(), "a", b"theirs", 0o644);
        assert!(staged.commit().unwrap_err().to_string().contains("meanwhile"));
        assert_eq!(std::fs::read(&path).unwrap(), b"theirs");
        assert_eq!(names(dir.path()), ["a"]);
    }

    #[test]
    fn links_lead_to_their_target_and_hard_links_stay_one_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = file(dir.path(), "a", b"long old content", 0o644);
        symlink("a", dir.path().join("soft")).unwrap();
        std::fs::hard_link(&path, dir.path().join("hard")).unwrap();
        write(&dir.path().join("soft"), b"new", None).unwrap();
        assert_eq!(std::fs::read(dir.path().join("hard")).unwrap(), b"new");
        assert_eq!(
            std::fs::read_link(dir.path().join("soft")).unwrap(),
            Path::new("a")
        );
        assert_eq!(names(dir.path()), ["a", "hard", "soft"]);
    }

    #[test]
    fn extended_attributes_stay() {
        let dir = tempfile::tempdir().unwrap();
        let path = file(dir.path(), "a", b"old", 0o644);
        let flags = rustix::fs::XattrFlags::empty();
        if rustix::fs::setxattr(&path, "user.note", b"kept", flags).is_err() {
            println!("skipped: this file system has no extended attributes");
            return;
        }
        write(&path, b"new", None).unwrap();
        let mut value = [0u8; 16];
        let length = rustix::fs::getxattr(&path, "user.note", &mut value).unwrap();
        assert_eq!(&value[..length], b"kept");
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
    }

    #[test]
    fn refusals_say_why() {
        let dir = tempfile::tempdir().unwrap();
        let error = write(dir.path(), b"x", None).unwrap_err();
        assert_eq!(error.reason, "it is a directory");
        let path = file(dir.path(), "a", b"", 0o644);
        let error = write(&path.join("b"), b"x", None).unwrap_err();
        assert!(error.reason.contains("not a directory"), "{error}");
        let error = write(&dir.path().join("n".repeat(300)), b"x", None).unwrap_err();
        assert!(error.reason.contains("too long"), "{error}");
        assert_eq!(names(dir.path()), ["a"]);
    }
}
