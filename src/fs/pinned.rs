//! Files and folders held by a descriptor, so that what was judged is what is opened.
//!
//! The paths here are real already: [`crate::fs::safe_path`] took their links away, and the gate judged what
//! was left. So a link on the way can only have come since, and nothing here follows one. Linux resolves the
//! whole path in one call that refuses links (`openat2`); where the kernel has none, folder after folder is
//! opened from the descriptor of the one before. What is done in a folder then is done by way of its
//! descriptor (`/proc/self/fd`), whatever its path leads to by then. A system without that takes the path
//! again, after a look whether it still leads to the same folder.

use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;

/// A folder that stays the same folder, whatever becomes of its path.
#[derive(Debug)]
pub struct Pinned {
    folder: OwnedFd,
    path: PathBuf,
}

/// The flags of a descriptor that only names a folder.
#[cfg(target_os = "linux")]
const NAMES: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
#[cfg(not(target_os = "linux"))]
const NAMES: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

impl Pinned {
    /// Holds the folder at `path`, an absolute path.
    ///
    /// # Errors
    /// One for which [`is_detour`] is true, where a part of the path is a link.
    pub fn folder(path: &Path) -> io::Result<Self> {
        Ok(Self {
            folder: open_exact(path, NAMES)?,
            path: path.to_owned(),
        })
    }

    /// The same, and makes what is missing of the path. Gives the folders that it made, outermost first.
    pub fn make(path: &Path) -> io::Result<(Self, Vec<PathBuf>)> {
        let missing = match Self::folder(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => error,
            found => return Ok((found?, Vec::new())),
        };
        let (Some(above), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(missing);
        };
        let (above, mut made) = Self::make(above)?;
        match rustix::fs::mkdirat(&above.folder, name, Mode::from_raw_mode(0o777)) {
            Ok(()) => made.push(path.to_owned()),
            // Somebody else made it meanwhile.
            Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
        let folder = rustix::fs::openat(&above.folder, name, NAMES | OFlags::NOFOLLOW, Mode::empty())?;
        let path = path.to_owned();
        Ok((Self { folder, path }, made))
    }

    /// The folder above `path`, held, and `path` by way of it.
    pub fn above(path: &Path) -> io::Result<(Self, PathBuf)> {
        let (Some(above), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(Errno::ISDIR.into());
        };
        let folder = Self::folder(above)?;
        let place = folder.at(name)?;
        Ok((folder, place))
    }

    /// A path of `name` in this folder, for as long as the folder is held. The name itself may be a link.
    pub fn at(&self, name: &OsStr) -> io::Result<PathBuf> {
        Ok(self.here()?.join(name))
    }

    /// A path of this folder, for as long as it is held.
    pub fn here(&self) -> io::Result<PathBuf> {
        let by_descriptor = PathBuf::from(format!("/proc/self/fd/{}", self.folder.as_raw_fd()));
        let held = rustix::fs::fstat(&self.folder)?;
        let leads = |path: &Path| rustix::fs::stat(path).map(|there| (there.st_dev, there.st_ino));
        for path in [by_descriptor.as_path(), &self.path] {
            if leads(path) == Ok((held.st_dev, held.st_ino)) {
                return Ok(path.to_owned());
            }
        }
        Err(Errno::LOOP.into())
    }

    /// Removes the file, link or empty folder called `name`.
    pub fn remove(&self, name: &OsStr, is_folder: bool) -> io::Result<()> {
        let flags = if is_folder {
            AtFlags::REMOVEDIR
        } else {
            AtFlags::empty()
        };
        Ok(rustix::fs::unlinkat(&self.folder, name, flags)?)
    }
}

/// Opens what lies at `path`, an absolute path, for reading. It does not wait for the other end of a pipe.
///
/// # Errors
/// One for which [`is_detour`] is true, where a part of the path is a link, the last one too.
pub fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    open_exact(path, flags).map(File::from)
}

/// Opens a file in a held folder for reading and writing; a link is not followed.
pub fn open_to_change(place: &Path) -> io::Result<File> {
    let no_link = i32::try_from(OFlags::NOFOLLOW.bits()).unwrap_or_default();
    OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(no_link)
        .open(place)
}

/// Removes the file, link or empty folder at `path`.
pub fn remove(path: &Path, is_folder: bool) -> io::Result<()> {
    let (Some(above), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(Errno::ISDIR.into());
    };
    Pinned::folder(above)?.remove(name, is_folder)
}

/// Whether the error says that a link stands where none stood when the path was judged.
pub fn is_detour(error: &io::Error) -> bool {
    error.raw_os_error() == Some(Errno::LOOP.raw_os_error())
}

#[cfg(target_os = "linux")]
fn open_exact(path: &Path, flags: OFlags) -> io::Result<OwnedFd> {
    use rustix::fs::{CWD, ResolveFlags};
    match rustix::fs::openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
        // An old kernel, or a sandbox that does not know the call.
        Err(Errno::NOSYS | Errno::PERM) => walk(path, flags),
        opened => Ok(opened?),
    }
}

#[cfg(not(target_os = "linux"))]
fn open_exact(path: &Path, flags: OFlags) -> io::Result<OwnedFd> {
    walk(path, flags)
}

/// Opens folder after folder, each from the one before.
fn walk(path: &Path, flags: OFlags) -> io::Result<OwnedFd> {
    let mut here = rustix::fs::open("/", NAMES, Mode::empty())?;
    let mut names = path
        .components()
        .filter(|part| !matches!(part, Component::RootDir | Component::CurDir))
        .peekable();
    if !path.is_absolute() {
        return Err(Errno::INVAL.into());
    }
    if names.peek().is_none() {
        return Ok(rustix::fs::open("/", flags, Mode::empty())?);
    }
    while let Some(name) = names.next() {
        let flags = if names.peek().is_some() { NAMES } else { flags };
        let next = rustix::fs::openat(&here, name.as_os_str(), flags | OFlags::NOFOLLOW, Mode::empty());
        here = next.map_err(|error| in_the_way(here.as_fd(), name.as_os_str(), error))?;
    }
    Ok(here)
}

/// A link where a folder is wanted is no folder to the system; to us it is a detour.
fn in_the_way(folder: impl AsFd, name: &OsStr, error: Errno) -> Errno {
    let found = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW);
    let is_link = found.is_ok_and(|found| {
        rustix::fs::FileType::from_raw_mode(found.st_mode) == rustix::fs::FileType::Symlink
    });
    if is_link && error == Errno::NOTDIR {
        Errno::LOOP
    } else {
        error
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn tree() -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let root = std::fs::canonicalize(dir.path()).unwrap();
        std::fs::create_dir_all(root.join("in/deep")).unwrap();
        std::fs::create_dir(root.join("out")).unwrap();
        symlink(root.join("out"), root.join("in/link")).unwrap();
        symlink(root.join("out/f"), root.join("in/f")).unwrap();
        (dir, root)
    }

    #[test]
    fn no_link_is_followed_by_either_way() {
        let (_dir, root) = tree();
        crate::fs::atomic::write(&root.join("out/f"), b"x", None).unwrap();
        let read = OFlags::RDONLY | OFlags::CLOEXEC;
        for opened in [open_exact, walk] {
            for (path, flags) in [
                ("in/link/f", read),
                ("in/f", read),
                ("in/link", NAMES),
                ("in/link/x", NAMES),
            ] {
                let error = opened(&root.join(path), flags).unwrap_err();
                assert!(is_detour(&error), "{path}: {error}");
            }
            assert!(opened(&root.join("out/f"), read).is_ok());
            assert!(opened(&root.join("in/deep"), NAMES).is_ok());
            assert!(opened(Path::new("/"), NAMES).is_ok());
            let missing = opened(&root.join("in/none/x"), read).unwrap_err();
            assert_eq!(missing.kind(), io::ErrorKind::NotFound);
            let file = opened(&root.join("out/f/x"), read).unwrap_err();
            assert_eq!(file.kind(), io::ErrorKind::NotADirectory);
        }
        assert!(walk(Path::new("in"), read).is_err());
    }

    #[test]
    fn a_held_folder_stays_when_its_path_leads_elsewhere() {
        let (_dir, root) = tree();
        let held = Pinned::folder(&root.join("in/deep")).unwrap();
        std::fs::rename(root.join("in/deep"), root.join("moved")).unwrap();
        symlink(root.join("out"), root.join("in/deep")).unwrap();
        let place = held.at(OsStr::new("new"));
        if cfg!(target_os = "linux") {
            crate::fs::atomic::write(&place.unwrap(), b"x", None).unwrap();
            assert!(root.join("moved/new").exists());
        } else {
            assert!(is_detour(&place.unwrap_err()));
        }
        assert!(!root.join("out/new").exists());
        assert!(held.remove(OsStr::new("none"), false).is_err());
    }

    #[test]
    fn folders_are_made_below_what_is_there_and_not_through_links() {
        let (_dir, root) = tree();
        let (_, made) = Pinned::make(&root.join("in/deep/a/b")).unwrap();
        assert_eq!(made, [root.join("in/deep/a"), root.join("in/deep/a/b")]);
        let (_, made) = Pinned::make(&root.join("in/deep/a/b")).unwrap();
        assert_eq!(made, Vec::<PathBuf>::new());
        assert!(is_detour(&Pinned::make(&root.join("in/link/a")).unwrap_err()));
        assert!(!root.join("out/a").exists());
        remove(&root.join("in/deep/a/b"), true).unwrap();
        assert!(remove(&root.join("in/link/f"), false).is_err());
        remove(&root.join("in/f"), false).unwrap();
        assert!(root.join("in/f").symlink_metadata().is_err());
    }
}
