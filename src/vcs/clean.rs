//! Which files git holds exactly as they lie in the working tree, told from stamps alone.

use std::path::{Path, PathBuf};

use git2::{Oid, Repository};

/// What the file system says of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// Seconds and nanoseconds of the last change of its content.
    pub modified: (i64, i64),
    /// Its inode.
    pub inode: u64,
    /// Its size.
    pub size: u64,
}

/// The index of a repository, read anew only when it changed. Nothing of the repository is ever written.
pub struct CleanIndex {
    repository: Repository,
    root: PathBuf,
    /// When the index was written: a file changed in the same moment or later may differ unseen.
    written: (i64, i64),
}

impl CleanIndex {
    /// The index of the repository that holds `folder`; `None` where there is none with a working tree.
    pub fn open(folder: &Path) -> Option<Self> {
        let repository = Repository::discover(folder).ok()?;
        let root = repository.workdir()?.canonicalize().ok()?;
        let mut clean = Self {
            repository,
            root,
            written: (0, 0),
        };
        clean.refresh();
        Some(clean)
    }

    /// Takes in what was added or committed since.
    pub fn refresh(&mut self) {
        use std::os::unix::fs::MetadataExt as _;
        let Ok(mut index) = self.repository.index() else {
            self.written = (0, 0);
            return;
        };
        let stat = index.path().and_then(|path| std::fs::metadata(path).ok());
        self.written = stat.map_or((0, 0), |stat| (stat.mtime(), stat.mtime_nsec()));
        if index.read(false).is_err() {
            // An index that cannot be read vouches for nothing.
            self.written = (0, 0);
        }
    }

    /// The blob that holds the bytes of the file at `path`, which has this `stamp`; `None` when git does not
    /// hold them, or cannot be sure.
    pub fn blob(&self, path: &Path, stamp: &Stamp) -> Option<Oid> {
        let below = path.strip_prefix(&self.root).ok()?;
        // The repository holds it; this counts a reference.
        let entry = self.repository.index().ok()?.get_path(below, 0)?;
        let modified = (
            i64::from(entry.mtime.seconds()),
            i64::from(entry.mtime.nanoseconds()),
        );
        // git keeps the low 32 bits.
        let low = |value: u64| value & u64::from(u32::MAX);
        let same = modified == stamp.modified
            && u64::from(entry.file_size) == low(stamp.size)
            && (entry.ino == 0 || u64::from(entry.ino) == low(stamp.inode));
        let settled = stamp.modified < self.written;
        if !(same && settled) {
            return None;
        }
        // Where git turns line endings or keeps a pointer in place of the file, the sizes differ.
        let (size, _) = self.repository.odb().ok()?.read_header(entry.id).ok()?;
        (u64::try_from(size).ok()? == stamp.size).then_some(entry.id)
    }

    /// The bytes of a blob.
    pub fn content(&self, blob: Oid) -> Option<Vec<u8>> {
        Some(self.repository.find_blob(blob).ok()?.content().to_vec())
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt as _;

    use super::*;

    fn stamp(path: &Path) -> Stamp {
        let stat = std::fs::symlink_metadata(path).unwrap();
        Stamp {
            modified: (stat.mtime(), stat.mtime_nsec()),
            inode: stat.ino(),
            size: stat.size(),
        }
    }

    #[test]
    fn git_vouches_for_what_was_added_and_not_changed_since() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let repository = Repository::init(&root).unwrap();
        let (added, other) = (root.join("added"), root.join("other"));
        for path in [&added, &other] {
            crate::fs::atomic::write(path, b"text\n", None).unwrap();
            let past = filetime(path, 1_000_000_000);
            assert!(past);
        }
        let mut index = repository.index().unwrap();
        index.add_path(Path::new("added")).unwrap();
        index.write().unwrap();
        let clean = CleanIndex::open(&root).unwrap();
        let blob = clean.blob(&added, &stamp(&added)).unwrap();
        assert_eq!(clean.content(blob).unwrap(), b"text\n");
        assert_eq!(clean.blob(&other, &stamp(&other)), None);
        crate::fs::atomic::write(&added, b"more\n", None).unwrap();
        assert_eq!(clean.blob(&added, &stamp(&added)), None, "changed since");
    }

    fn filetime(path: &Path, seconds: i64) -> bool {
        let time = rustix::fs::Timespec {
            tv_sec: seconds,
            tv_nsec: 5,
        };
        let times = rustix::fs::Timestamps {
            last_access: time,
            last_modification: time,
        };
        rustix::fs::utimensat(rustix::fs::CWD, path, &times, rustix::fs::AtFlags::empty()).is_ok()
    }
}
