//! What the working tree shows of the entries of the index without a look into a file.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use git2::IndexEntry;
use rustix::fs::{AtFlags, FileType, Stat};

use crate::vcs::store::Store;
use crate::vcs::tree::mode;

/// With more entries than this several threads look at the files.
const FEW: usize = 1_000;
/// Threads that do.
const THREADS: usize = 4;

/// What a look at a file says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// As the index has it.
    Clean,
    /// Something of this mode that may differ.
    Changed(u32),
    /// A folder that belongs to another repository.
    Submodule,
    /// Nothing, or what no entry can be.
    Gone,
}

/// Looks at the files of all entries, in their order, and does `meanwhile` while other threads look. `index` is
/// the file of the index.
pub(super) fn at_all<T>(
    store: &Store,
    index: Option<&Path>,
    entries: &[IndexEntry],
    meanwhile: impl FnOnce() -> T,
) -> (Vec<Look>, T) {
    let settings = Settings::of(store, index);
    // Without a root there is no file.
    let root = File::open(store.root()).ok();
    let look = &|entries: &[IndexEntry]| -> Vec<Look> {
        let one = |entry| {
            root.as_ref()
                .map_or(Look::Gone, |root| settings.look(root, entry))
        };
        entries.iter().map(one).collect()
    };
    if entries.len() < FEW {
        return (look(entries), meanwhile());
    }
    let size = entries.len().div_ceil(THREADS);
    std::thread::scope(|scope| {
        let threads: Vec<_> = entries
            .chunks(size)
            .map(|part| (part, scope.spawn(move || look(part))))
            .collect();
        let other = meanwhile();
        let looks = threads.into_iter().flat_map(|(part, thread)| {
            // A thread that could not run leaves its part to this one.
            thread.join().unwrap_or_else(|_| look(part))
        });
        (looks.collect(), other)
    })
}

/// Not looked at in the working tree: assumed unchanged, or outside a sparse checkout.
fn is_assumed(entry: &IndexEntry) -> bool {
    entry.flags & 0x8000 != 0 || entry.flags_extended & (1 << 14) != 0
}

struct Settings {
    filemode: bool,
    trust_ctime: bool,
    index_time: (i64, i64),
}

impl Settings {
    fn of(store: &Store, index: Option<&Path>) -> Self {
        let config = store.git().config().ok();
        let flag = |name| {
            let value = config.as_ref().and_then(|config| config.get_bool(name).ok());
            value.unwrap_or(true)
        };
        let written = index.and_then(|path| fs::metadata(path).ok());
        Self {
            filemode: flag("core.filemode"),
            trust_ctime: flag("core.trustctime"),
            index_time: written.map_or((0, 0), |index| (index.mtime(), index.mtime_nsec())),
        }
    }

    fn look(&self, root: &File, entry: &IndexEntry) -> Look {
        if is_assumed(entry) {
            return Look::Clean;
        }
        // From the root on: that saves the way to it, which is half of all for a look.
        let Ok(there) = rustix::fs::statat(root, entry.path.as_slice(), AtFlags::SYMLINK_NOFOLLOW) else {
            return Look::Gone;
        };
        let mode = match FileType::from_raw_mode(there.st_mode) {
            FileType::Directory if entry.mode == mode::SUBMODULE => return Look::Submodule,
            FileType::Symlink => mode::LINK,
            FileType::RegularFile if !self.filemode && mode::same_kind(entry.mode, mode::FILE) => entry.mode,
            FileType::RegularFile if there.st_mode & 0o100 != 0 => mode::EXECUTABLE,
            FileType::RegularFile => mode::FILE,
            _ => return Look::Gone,
        };
        if mode == entry.mode && self.is_unchanged(&there, entry) {
            Look::Clean
        } else {
            Look::Changed(mode)
        }
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
            && at < self.index_time
            // An index without fine times cannot tell within its second.
            && (at.1 != 0 || at.0 < self.index_time.0)
    }
}
