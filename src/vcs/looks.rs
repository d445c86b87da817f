//! What the working tree shows of the entries of the index without a look into a file.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::panic::resume_unwind;
use std::path::Path;

use git2::IndexEntry;
use rustix::fs::{AtFlags, FileType, OFlags, Stat};
use rustix::io::Errno;

use crate::fs::cause::cause;
use crate::vcs::error::{Stop, VcsError};
use crate::vcs::store::Store;
use crate::vcs::tree::mode;

/// With more entries than this several threads look at the files.
const FEW: usize = 1_000;
/// Threads that do.
const THREADS: usize = 4;
/// So many files are looked at between two looks at whether to stop.
const UNLOOKED: usize = 512;

/// What a look at a file says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// As the index has it.
    Clean,
    /// Something of this mode that may differ.
    Changed(u32),
    /// A folder that belongs to another repository.
    Submodule,
    /// Nothing, or what no entry can be.
    Gone,
}

/// Looks at the files of all entries, in their order, and does `meanwhile` too: where there are many entries, other
/// threads look. The index was read at or after the time `read_at` of its file, in seconds and nanoseconds.
///
/// # Errors
/// [`VcsError::File`] for what cannot be looked at, [`VcsError::Cancelled`], and what `meanwhile` says.
pub(super) fn at_all<T>(
    store: &Store,
    read_at: (i64, i64),
    entries: &[IndexEntry],
    stop: &dyn Stop,
    meanwhile: impl FnOnce() -> Result<T, VcsError>,
) -> Result<(Vec<Look>, T), VcsError> {
    let settings = Settings::of(store, read_at);
    let root = open_folder(store.root()).map_err(|error| VcsError::File {
        path: store.root().to_owned(),
        why: cause(&error),
    })?;
    let look = &|entries: &[IndexEntry]| -> Result<Vec<Look>, VcsError> {
        let mut folders = Folders {
            root: &root,
            real: HashMap::new(),
        };
        let one = |(at, entry): (usize, &IndexEntry)| {
            if at.is_multiple_of(UNLOOKED) {
                stop.check()?;
            }
            settings
                .look(&mut folders, entry)
                .map_err(|error| VcsError::File {
                    path: Path::new(std::str::from_utf8(&entry.path).unwrap_or("a file")).to_owned(),
                    why: cause(&io::Error::from(error)),
                })
        };
        entries.iter().enumerate().map(one).collect()
    };
    if entries.len() < FEW {
        return Ok((look(entries)?, meanwhile()?));
    }
    let size = entries.len().div_ceil(THREADS);
    std::thread::scope(|scope| {
        let threads: Vec<_> = entries
            .chunks(size)
            .map(|part| {
                let thread = std::thread::Builder::new().spawn_scoped(scope, move || look(part));
                (part, thread)
            })
            .collect();
        let other = meanwhile()?;
        let mut looks = Vec::with_capacity(entries.len());
        for (part, thread) in threads {
            looks.extend(match thread {
                Ok(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic))?,
                // The system gives no more threads.
                Err(_) => look(part)?,
            });
        }
        Ok((looks, other))
    })
}

/// A folder to look from. Where the system can, what it holds need not be readable for that.
fn open_folder(path: &Path) -> io::Result<File> {
    #[cfg(target_os = "linux")]
    let only_way = OFlags::PATH;
    #[cfg(not(target_os = "linux"))]
    let only_way = OFlags::empty();
    let flags = only_way | OFlags::DIRECTORY;
    OpenOptions::new()
        .read(true)
        .custom_flags(flags.bits().cast_signed())
        .open(path)
}

/// The folders of the working tree that were looked at.
struct Folders<'a> {
    root: &'a File,
    /// Whether a folder is one, and no link is on the way to it.
    real: HashMap<Vec<u8>, bool>,
}

impl Folders<'_> {
    /// What is at a path, unless it lies beyond a link: then it is another file.
    fn stat(&mut self, path: &[u8]) -> Result<Option<Stat>, Errno> {
        if let Some(folder) = folder_of(path)
            && !self.is_real(folder)?
        {
            return Ok(None);
        }
        // From the root on: that saves the way to it, which is half of all for a look.
        match rustix::fs::statat(self.root, path, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(stat)),
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn is_real(&mut self, folder: &[u8]) -> Result<bool, Errno> {
        if let Some(known) = self.real.get(folder) {
            return Ok(*known);
        }
        let found = self.stat(folder)?;
        let real = found.is_some_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Directory);
        self.real.insert(folder.to_owned(), real);
        Ok(real)
    }
}

fn folder_of(path: &[u8]) -> Option<&[u8]> {
    let at = path.iter().rposition(|byte| *byte == b'/')?;
    path.get(..at)
}

/// Whether the person said that it does not change.
fn is_assumed(entry: &IndexEntry) -> bool {
    entry.flags & 0x8000 != 0
}

/// Whether it lies outside a sparse checkout.
fn is_outside(entry: &IndexEntry) -> bool {
    entry.flags_extended & (1 << 14) != 0
}

struct Settings {
    filemode: bool,
    trust_ctime: bool,
    /// Files outside of the checkout that are there all the same are looked at.
    sparse: bool,
    read_at: (i64, i64),
}

impl Settings {
    fn of(store: &Store, read_at: (i64, i64)) -> Self {
        let config = store.git().config().ok();
        let flag = |name, usual| {
            let value = config.as_ref().and_then(|config| config.get_bool(name).ok());
            value.unwrap_or(usual)
        };
        Self {
            filemode: flag("core.filemode", true),
            trust_ctime: flag("core.trustctime", true),
            sparse: flag("core.sparsecheckout", false) && !flag("sparse.expectfilesoutsideofpatterns", false),
            read_at,
        }
    }

    fn look(&self, folders: &mut Folders<'_>, entry: &IndexEntry) -> Result<Look, Errno> {
        if is_assumed(entry) || (is_outside(entry) && !self.sparse) {
            return Ok(Look::Clean);
        }
        let Some(there) = folders.stat(&entry.path)? else {
            return Ok(if is_outside(entry) {
                Look::Clean
            } else {
                Look::Gone
            });
        };
        let mode = match FileType::from_raw_mode(there.st_mode) {
            FileType::Directory if entry.mode == mode::SUBMODULE => return Ok(Look::Submodule),
            FileType::Symlink => mode::LINK,
            FileType::RegularFile if !self.filemode && mode::same_kind(entry.mode, mode::FILE) => entry.mode,
            FileType::RegularFile if there.st_mode & 0o100 != 0 => mode::EXECUTABLE,
            FileType::RegularFile => mode::FILE,
            _ => return Ok(Look::Gone),
        };
        Ok(if mode == entry.mode && self.is_unchanged(&there, entry) {
            Look::Clean
        } else {
            Look::Changed(mode)
        })
    }

    /// By its times, size and number. A file that was written when the index was, or later, may have been
    /// changed without a trace: it is not unchanged.
    fn is_unchanged(&self, there: &Stat, entry: &IndexEntry) -> bool {
        let at = (
            i64::from(entry.mtime.seconds()),
            i64::from(entry.mtime.nanoseconds()),
        );
        let same_time = |seconds: i64, nanoseconds: i64, noted: git2::IndexTime| {
            let fine = i64::from(noted.nanoseconds());
            #[allow(clippy::cast_possible_truncation, reason = "the index keeps 32 bits")]
            let seconds = seconds as i32;
            seconds == noted.seconds() && (fine == 0 || fine == nanoseconds)
        };
        #[allow(clippy::cast_possible_truncation, reason = "the index keeps 32 bits")]
        let (size, number) = (there.st_size as u32, there.st_ino as u32);
        same_time(there.st_mtime, i64::try_from(there.st_mtime_nsec).unwrap_or_default(), entry.mtime)
            && (!self.trust_ctime || same_time(there.st_ctime, i64::try_from(there.st_ctime_nsec).unwrap_or_default(), entry.ctime))
            && size == entry.file_size
            && (entry.ino == 0 || entry.ino == number)
            && at < self.read_at
            // An index without fine times cannot tell within its second.
            && (at.1 != 0 || at.0 < self.read_at.0)
    }
}
