//! A folder that is ours alone: 0700, its files 0600, and no link in it is ever followed.
//!
//! Everything goes through the folder's handle, so that a folder exchanged for a link after it was
//! opened leads nowhere.

use std::fs::{DirBuilder, File, Permissions};
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags};

const DIR_MODE: u32 = 0o700;
const FILE_MODE: u32 = 0o600;
const TEMP_PREFIX: &str = ".tmp-";

/// A private folder, open.
#[derive(Debug)]
pub struct PrivateDir {
    fd: OwnedFd,
    path: PathBuf,
}

impl PrivateDir {
    /// Opens the folder `path` and makes it private; it and its missing parents are made. Links on the
    /// way to it are followed: use [`Self::subdir`] below a folder that somebody else may have filled.
    pub fn create_all(path: &Path) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(DIR_MODE).create(path)?;
        Self::open(path)?.made_private()
    }

    /// Opens the folder `path` as it is.
    pub fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let fd = rustix::fs::open(path, flags, Mode::empty())?;
        Ok(Self {
            fd,
            path: path.to_owned(),
        })
    }

    /// Opens the child folder `name`, making it if it is missing; a link is refused.
    pub fn subdir(&self, name: &str) -> io::Result<Self> {
        match rustix::fs::mkdirat(&self.fd, name, Mode::from_raw_mode(DIR_MODE)) {
            Ok(()) | Err(rustix::io::Errno::EXIST) => {}
            Err(errno) => return Err(errno.into()),
        }
        self.child(name)?.made_private()
    }

    /// Opens the child folder `name`; `None` when there is none. A link is refused.
    pub fn existing_subdir(&self, name: &str) -> io::Result<Option<Self>> {
        match self.child(name) {
            Ok(dir) => Ok(Some(dir)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn child(&self, name: &str) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = rustix::fs::openat(&self.fd, name, flags, Mode::empty())?;
        Ok(Self {
            fd,
            path: self.path.join(name),
        })
    }

    fn made_private(self) -> io::Result<Self> {
        let mode = Mode::from_raw_mode(rustix::fs::fstat(&self.fd)?.st_mode);
        if mode.as_raw_mode() != DIR_MODE {
            rustix::fs::fchmod(&self.fd, Mode::from_raw_mode(DIR_MODE))?;
        }
        Ok(self)
    }

    /// Where it lies, for messages and for what takes a path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens the file `name` for reading; neither a link nor anything but a regular file.
    pub fn open_file(&self, name: &str) -> io::Result<File> {
        self.open_with(name, OFlags::RDONLY)
    }

    /// Opens the file `name` with further flags; neither a link nor anything but a regular file.
    pub(crate) fn open_with(&self, name: &str, flags: OFlags) -> io::Result<File> {
        let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = File::from(rustix::fs::openat(
            &self.fd,
            name,
            flags,
            Mode::from_raw_mode(FILE_MODE),
        )?);
        if !file.metadata()?.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
        }
        Ok(file)
    }

    /// The whole file `name`.
    pub fn read(&self, name: &str) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.open_file(name)?.read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// The size of the regular file `name`; `None` for everything else.
    pub fn size_of(&self, name: &str) -> Option<u64> {
        let stat = rustix::fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        let regular = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
        regular.then(|| u64::try_from(stat.st_size).ok()).flatten()
    }

    /// Replaces the file `name` by `bytes`: whole or not at all.
    pub fn replace(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let mut pending = self.new_file()?;
        pending.write_all(bytes)?;
        pending.commit(name)
    }

    /// A file without a name yet; dropped before [`PendingFile::commit`] it leaves nothing behind.
    pub fn new_file(&self) -> io::Result<PendingFile<'_>> {
        let temp = format!("{TEMP_PREFIX}{}", ulid::Ulid::new());
        let file = self.open_with(&temp, OFlags::RDWR | OFlags::CREATE | OFlags::EXCL)?;
        Ok(PendingFile {
            dir: self,
            temp: Some(temp),
            file,
        })
    }

    /// Gives the file `name` of `from` the same name here: a hard link, or a copy where the file
    /// system has none. What stands there already is left.
    pub fn link_from(&self, from: &Self, name: &str) -> io::Result<()> {
        match rustix::fs::linkat(&from.fd, name, &self.fd, name, AtFlags::empty()) {
            Ok(()) | Err(rustix::io::Errno::EXIST) => Ok(()),
            Err(rustix::io::Errno::NOENT) => Err(io::ErrorKind::NotFound.into()),
            Err(_) => {
                let mut pending = self.new_file()?;
                io::copy(&mut from.open_file(name)?, &mut pending)?;
                pending.commit(name)
            }
        }
    }

    /// Removes the file or link `name`.
    pub fn remove(&self, name: &str) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.fd, name, AtFlags::empty())?)
    }

    /// The names in it, sorted; those that are not UTF-8 are none of ours and left out.
    pub fn names(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in Dir::read_from(&self.fd)? {
            match entry?.file_name().to_str() {
                Ok("." | "..") | Err(_) => {}
                Ok(name) => names.push(name.to_owned()),
            }
        }
        names.sort();
        Ok(names)
    }

    /// Removes temporary files that a killed process left. Only for the one writer of the folder.
    pub fn sweep(&self) -> io::Result<()> {
        for name in self.names()?.iter().filter(|name| name.starts_with(TEMP_PREFIX)) {
            rustix::fs::unlinkat(&self.fd, name, AtFlags::empty())?;
        }
        Ok(())
    }
}

/// A file of a [`PrivateDir`] that has no name yet.
#[derive(Debug)]
pub struct PendingFile<'a> {
    dir: &'a PrivateDir,
    temp: Option<String>,
    file: File,
}

impl PendingFile<'_> {
    /// Flushes it to the disk and gives it its name, in place of what had it. So a name never shows
    /// half of a content, also after a power cut.
    pub fn commit(mut self, name: &str) -> io::Result<()> {
        // The umask may have taken bits, never given some.
        self.file.set_permissions(Permissions::from_mode(FILE_MODE))?;
        self.file.sync_data()?;
        if let Some(temp) = &self.temp {
            rustix::fs::renameat(&self.dir.fd, temp, &self.dir.fd, name)?;
        }
        self.temp = None;
        Ok(())
    }
}

impl Write for PendingFile<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for PendingFile<'_> {
    fn drop(&mut self) {
        if let Some(temp) = &self.temp {
            rustix::fs::unlinkat(&self.dir.fd, temp, AtFlags::empty()).ok();
        }
    }
}

/// Whether `name` may be the name of a folder of ours: letters, digits, `-` and `_`, at most 64.
pub fn is_plain_name(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn mode(path: &Path) -> u32 {
        std::fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777
    }

    #[test]
    fn folders_and_files_are_private_whatever_was_there() {
        let temp = tempfile::tempdir().unwrap();
        let wide = temp.path().join("wide");
        DirBuilder::new().mode(0o755).create(&wide).unwrap();
        let dir = PrivateDir::create_all(&wide).unwrap().subdir("in").unwrap();
        dir.replace("f", b"x").unwrap();
        assert_eq!(
            [mode(&wide), mode(&wide.join("in")), mode(&wide.join("in/f"))],
            [0o700, 0o700, 0o600]
        );
    }

    #[test]
    fn links_are_refused_and_replaced_but_never_followed() {
        let temp = tempfile::tempdir().unwrap();
        let out = temp.path().join("out");
        std::fs::create_dir(&out).unwrap();
        let dir = PrivateDir::create_all(&temp.path().join("d")).unwrap();
        symlink(&out, dir.path().join("sub")).unwrap();
        symlink(out.join("f"), dir.path().join("f")).unwrap();
        assert!(dir.subdir("sub").is_err());
        assert!(dir.existing_subdir("sub").is_err());
        assert!(dir.read("f").is_err());
        dir.replace("f", b"mine").unwrap();
        assert_eq!(dir.read("f").unwrap(), b"mine");
        assert_eq!(std::fs::read_dir(&out).unwrap().count(), 0);
    }

    #[test]
    fn what_is_not_committed_leaves_nothing() {
        let temp = tempfile::tempdir().unwrap();
        let dir = PrivateDir::create_all(temp.path()).unwrap();
        drop(dir.new_file().unwrap());
        std::mem::forget(dir.new_file().unwrap());
        assert_eq!(dir.names().unwrap().len(), 1, "as after a kill");
        dir.sweep().unwrap();
        assert_eq!(dir.names().unwrap(), Vec::<String>::new());
    }

    #[test]
    fn plain_names() {
        assert!(is_plain_name("01J0-a_b"));
        for name in ["", ".", "..", "a/b", "a.b", "ä", "x\0", &"a".repeat(65)] {
            assert!(!is_plain_name(name), "{name:?}");
        }
    }
}
