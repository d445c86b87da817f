//! The stamps of all files of a tree, and what differs between two tables of them.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ignore::{DirEntry, ParallelVisitor, ParallelVisitorBuilder, WalkState};

use crate::protocol::change::ContentHash;
use crate::search::project::own_files;

/// A tree with more files than this is not watched.
pub(super) const MAX_FILES: usize = 200_000;
/// The clock of file systems steps this far: within one step a second change shows in no stamp.
const YOUNG: Duration = Duration::from_millis(10);
/// Young files up to this size are read to be sure.
const MAX_HASHED: u64 = 16 * 1024 * 1024;

/// What the file system says of an entry. Any change of content or mode changes it, but for two changes
/// within a tick of its clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stat {
    pub(super) link: bool,
    pub(super) dev: u64,
    pub(super) ino: u64,
    pub(super) size: u64,
    pub(super) modified: (i64, i64),
    pub(super) changed: (i64, i64),
    pub(super) mode: u32,
}

impl Stat {
    /// Of an entry that is there, a file or a link; others are nobody's to keep.
    pub(super) fn of(path: &Path) -> Option<Self> {
        Self::read(&std::fs::symlink_metadata(path).ok()?)
    }

    pub(super) fn read(metadata: &std::fs::Metadata) -> Option<Self> {
        let kind = metadata.file_type();
        (kind.is_file() || kind.is_symlink()).then(|| Self {
            link: kind.is_symlink(),
            dev: metadata.dev(),
            ino: metadata.ino(),
            size: metadata.size(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
            mode: metadata.mode() & 0o7777,
        })
    }

    /// Whether another change could follow within the same tick.
    fn is_young(&self) -> bool {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let changed = Duration::new(
            u64::try_from(self.changed.0).unwrap_or_default(),
            u32::try_from(self.changed.1).unwrap_or_default(),
        );
        now.saturating_sub(changed) < YOUNG
    }
}

/// One entry.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) stat: Stat,
    /// Its content, where the stamp alone does not vouch for it.
    young: Option<ContentHash>,
    /// What it says, of a link.
    pub(super) target: Option<PathBuf>,
}

/// All entries of a tree at a time.
#[derive(Debug, Default)]
pub(super) struct Table {
    /// By path, as bytes: a path is hashed component by component, which takes several times as long.
    rows: HashMap<OsString, Row>,
    pub(super) folders: HashSet<PathBuf>,
}

/// Entries that differ between two tables.
#[derive(Debug, Default)]
pub(super) struct Difference {
    pub(super) created: Vec<PathBuf>,
    pub(super) changed: Vec<PathBuf>,
    pub(super) deleted: Vec<PathBuf>,
}

impl Table {
    /// Looks at the tree below `root`; `None` when it is too large.
    pub(super) fn walk(root: &Path) -> Option<Self> {
        let (found, count) = (Mutex::new(Self::default()), AtomicUsize::new(0));
        let mut visitors = Visitors {
            found: &found,
            count: &count,
        };
        own_files(root).build_parallel().visit(&mut visitors);
        let whole = count.into_inner() <= MAX_FILES;
        whole.then(|| found.into_inner().unwrap_or_default())
    }

    /// What is at `path`.
    pub(super) fn row(&self, path: &Path) -> Option<&Row> {
        self.rows.get(path.as_os_str())
    }

    /// All entries, in no order.
    pub(super) fn rows(&self) -> impl Iterator<Item = (&Path, &Row)> {
        self.rows.iter().map(|(path, row)| (Path::new(path), row))
    }

    /// What became of the entries of this table in a `later` one, each list sorted.
    pub(super) fn difference(&self, later: &Self) -> Difference {
        let mut found = Difference::default();
        for (path, row) in later.rows() {
            match self.row(path) {
                None => found.created.push(path.to_owned()),
                Some(old) if old.differs(path, row) => found.changed.push(path.to_owned()),
                Some(_) => {}
            }
        }
        if self.rows.len() + found.created.len() > later.rows.len() {
            let gone = self.rows().filter(|(path, _)| later.row(path).is_none());
            found.deleted.extend(gone.map(|(path, _)| path.to_owned()));
        }
        for list in [&mut found.created, &mut found.changed, &mut found.deleted] {
            list.sort();
        }
        found
    }

    /// The folders above `path` that were not there, outermost first.
    pub(super) fn missing_above(&self, path: &Path, root: &Path) -> Vec<PathBuf> {
        let above = path.ancestors().skip(1).take_while(|folder| *folder != root);
        let missing = above.filter(|folder| !self.folders.contains(*folder));
        let mut missing: Vec<PathBuf> = missing.map(Path::to_path_buf).collect();
        missing.reverse();
        missing
    }
}

impl Row {
    fn new(path: &Path, stat: Stat) -> Self {
        let unsure = !stat.link && stat.size <= MAX_HASHED && stat.is_young();
        Self {
            stat,
            young: unsure.then(|| hash(path)).flatten(),
            target: stat.link.then(|| std::fs::read_link(path).ok()).flatten(),
        }
    }

    fn differs(&self, path: &Path, later: &Self) -> bool {
        if self.stat != later.stat {
            return true;
        }
        self.young.is_some() && self.young != later.young.clone().or_else(|| hash(path))
    }
}

fn hash(path: &Path) -> Option<ContentHash> {
    Some(ContentHash::of(&std::fs::read(path).ok()?))
}

struct Visitors<'a> {
    found: &'a Mutex<Table>,
    count: &'a AtomicUsize,
}

impl<'a> ParallelVisitorBuilder<'a> for Visitors<'a> {
    fn build(&mut self) -> Box<dyn ParallelVisitor + 'a> {
        Box::new(Visitor {
            found: self.found,
            count: self.count,
            rows: Vec::new(),
            folders: Vec::new(),
        })
    }
}

/// One thread of a walk. Gives what it found over when it ends.
struct Visitor<'a> {
    found: &'a Mutex<Table>,
    count: &'a AtomicUsize,
    rows: Vec<(PathBuf, Row)>,
    folders: Vec<PathBuf>,
}

impl ParallelVisitor for Visitor<'_> {
    fn visit(&mut self, entry: Result<DirEntry, ignore::Error>) -> WalkState {
        // What cannot be looked at is not watched.
        let Ok(entry) = entry else {
            return WalkState::Continue;
        };
        let folder = entry.file_type().is_some_and(|kind| kind.is_dir());
        if folder {
            self.folders.push(entry.into_path());
            return WalkState::Continue;
        }
        if let Some(stat) = Stat::of(entry.path()) {
            if self.count.fetch_add(1, Ordering::Relaxed) >= MAX_FILES {
                self.count.fetch_add(1, Ordering::Relaxed);
                return WalkState::Quit;
            }
            let path = entry.into_path();
            let row = Row::new(&path, stat);
            self.rows.push((path, row));
        }
        WalkState::Continue
    }
}

impl Drop for Visitor<'_> {
    fn drop(&mut self) {
        if let Ok(mut found) = self.found.lock() {
            let rows = self.rows.drain(..);
            found
                .rows
                .extend(rows.map(|(path, row)| (path.into_os_string(), row)));
            found.folders.extend(self.folders.drain(..));
        }
    }
}
