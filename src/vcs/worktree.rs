//! What differs between a tree, the index and the working tree.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::{self, Metadata};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use git2::{IndexEntry, Oid};

use crate::vcs::changes::{Change, File};
use crate::vcs::error::{Stop, VcsError};
use crate::vcs::open::{discover, open};
use crate::vcs::store::Store;
use crate::vcs::tree::{entries, mode};
use crate::vcs::work_file::WorkFiles;

/// With more entries than this several threads look at the files.
const FEW: usize = 1_000;
/// Threads that do.
const THREADS: usize = 4;
/// Submodules within submodules whose working trees are looked at.
const DEPTH: usize = 4;

/// Two states to compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum States {
    /// A tree (`None`: the empty one) with the index.
    TreeIndex(Option<Oid>),
    /// The index with the working tree.
    IndexWork,
    /// A tree with the working tree; what the index does not know counts as deleted.
    TreeWork(Option<Oid>),
}

/// What differs.
#[derive(Debug, Default)]
pub struct Differences {
    /// In the order of paths.
    pub changes: Vec<Change>,
    /// Paths with a merge conflict.
    pub unmerged: Vec<Vec<u8>>,
    /// Changed files that are too large to be compared.
    pub too_large: Vec<Vec<u8>>,
}

/// Compares two states at or below `path` (empty: everywhere). `buffers` are unsaved texts by absolute path:
/// they stand for the files that they will be.
///
/// # Errors
/// [`VcsError::Index`], a missing object, a file that cannot be read, the stop.
pub fn differences(
    store: &Store,
    states: States,
    path: &[u8],
    buffers: &HashMap<PathBuf, String>,
    stop: &dyn Stop,
) -> Result<Differences, VcsError> {
    differences_at(store, states, path, buffers, stop, 0)
}

fn differences_at(
    store: &Store,
    states: States,
    path: &[u8],
    buffers: &HashMap<PathBuf, String>,
    stop: &dyn Stop,
    depth: usize,
) -> Result<Differences, VcsError> {
    let mut index = store.git().index().map_err(|error| index_error(&error))?;
    index.read(false).map_err(|error| index_error(&error))?;
    let inside = |entry: &IndexEntry| is_at_or_below(&entry.path, path);
    let mut unmerged = HashSet::new();
    let mut indexed = Vec::with_capacity(index.len());
    for entry in index.iter().filter(inside) {
        if stage(&entry) == 0 {
            indexed.push(entry);
        } else {
            unmerged.insert(entry.path);
        }
    }
    let mut sides = Sides {
        work: WorkFiles::new(store),
        buffers: buffers_below(store.root(), buffers),
        found: Differences::default(),
        store,
        stop,
        depth,
    };
    let mut pairs: BTreeMap<Vec<u8>, (Option<File>, Option<File>)> = BTreeMap::new();
    match states {
        States::TreeIndex(_) => {
            for entry in indexed.into_iter().filter(|entry| !is_intended(entry)) {
                let file = file_of(&entry);
                pairs.entry(entry.path).or_default().1 = Some(file);
            }
        }
        States::IndexWork | States::TreeWork(_) => {
            let against_index = states == States::IndexWork;
            for (entry, file) in sides.work_files(indexed, index.path())? {
                let old = (against_index && !is_intended(&entry)).then(|| file_of(&entry));
                pairs.insert(entry.path, (old, file));
            }
        }
    }
    for path in &unmerged {
        // What the tree has and the working tree holds, whatever the index thinks.
        let there = states != States::IndexWork;
        if there && matches!(states, States::TreeWork(_)) {
            let file = sides.conflicted(path)?;
            pairs.insert(path.clone(), (None, file));
        }
    }
    if let States::TreeIndex(tree) | States::TreeWork(tree) = states {
        let mut listed = Vec::new();
        list(store, tree, path, stop, &mut listed)?;
        for file in listed {
            if states != States::TreeIndex(tree) || !unmerged.contains(&file.path) {
                let path = file.path.clone();
                pairs.entry(path).or_default().0 = Some(file);
            }
        }
    }
    let mut found = sides.found;
    for (_, (old, new)) in pairs {
        if old != new {
            found.changes.extend(Change::between(old, new));
        }
    }
    found.unmerged = unmerged.into_iter().collect();
    found.unmerged.sort_unstable();
    Ok(found)
}

fn index_error(error: &git2::Error) -> VcsError {
    VcsError::Index(error.message().to_owned())
}

/// The entry of a path in the index, without a conflict. git2's own look-up panics at some paths.
pub fn index_entry(index: &git2::Index, path: &[u8]) -> Option<IndexEntry> {
    index.iter().find(|entry| entry.path == path && stage(entry) == 0)
}

/// Whether `path` is `at` or lies below it.
pub fn is_at_or_below(path: &[u8], at: &[u8]) -> bool {
    match path.strip_prefix(at) {
        Some(rest) => at.is_empty() || rest.is_empty() || rest.starts_with(b"/"),
        None => false,
    }
}

fn stage(entry: &IndexEntry) -> u16 {
    (entry.flags >> 12) & 3
}

/// Added without content (`git add -N`).
fn is_intended(entry: &IndexEntry) -> bool {
    entry.flags_extended & (1 << 13) != 0
}

/// Not looked at in the working tree: assumed unchanged, or outside a sparse checkout.
fn is_assumed(entry: &IndexEntry) -> bool {
    entry.flags & 0x8000 != 0 || entry.flags_extended & (1 << 14) != 0
}

fn file_of(entry: &IndexEntry) -> File {
    File {
        path: entry.path.clone(),
        mode: entry.mode,
        id: entry.id,
        dirty: false,
    }
}

/// The buffers that lie below the root, by their path from there.
fn buffers_below<'a>(root: &Path, buffers: &'a HashMap<PathBuf, String>) -> HashMap<Vec<u8>, &'a str> {
    let below = buffers.iter().filter_map(|(path, text)| {
        let path = path.strip_prefix(root).ok()?;
        Some((path.as_os_str().as_bytes().to_vec(), text.as_str()))
    });
    below.collect()
}

/// The files of a tree at or below `path`.
fn list(
    store: &Store,
    tree: Option<Oid>,
    path: &[u8],
    stop: &dyn Stop,
    files: &mut Vec<File>,
) -> Result<(), VcsError> {
    let Some(tree) = tree else { return Ok(()) };
    let Some((mode, id)) = store.entry(tree, path)? else {
        return Ok(());
    };
    let mut open = vec![(path.to_vec(), mode, id)];
    while let Some((path, mode, id)) = open.pop() {
        if mode != mode::TREE {
            files.push(File {
                path,
                mode,
                id,
                dirty: false,
            });
            continue;
        }
        stop.check()?;
        store.tree(id, |data| {
            for entry in entries(data) {
                let mut below = path.clone();
                if !below.is_empty() {
                    below.push(b'/');
                }
                below.extend_from_slice(entry.name);
                open.push((below, entry.mode, entry.id));
            }
        })?;
    }
    Ok(())
}

struct Sides<'a> {
    store: &'a Store,
    stop: &'a dyn Stop,
    work: WorkFiles<'a>,
    buffers: HashMap<Vec<u8>, &'a str>,
    found: Differences,
    depth: usize,
}

impl Sides<'_> {
    /// Each entry with what the working tree holds in its place.
    fn work_files(
        &mut self,
        indexed: Vec<IndexEntry>,
        index: Option<&Path>,
    ) -> Result<Vec<(IndexEntry, Option<File>)>, VcsError> {
        let settings = Settings::of(self.store, index);
        let looks = look_at_all(self.store.root(), &indexed, &settings);
        let mut files = Vec::with_capacity(indexed.len());
        for (entry, look) in indexed.into_iter().zip(looks) {
            let file = match (self.buffers.get(entry.path.as_slice()).copied(), look) {
                (Some(text), look) => Some(File {
                    id: self.work.buffer(&entry.path, text)?,
                    mode: match look {
                        Look::Changed(mode) if mode::same_kind(mode, mode::FILE) => mode,
                        _ => entry.mode,
                    },
                    path: entry.path.clone(),
                    dirty: false,
                }),
                (None, Look::Clean) => Some(file_of(&entry)),
                (None, Look::Gone) => None,
                (None, Look::Submodule) => Some(self.submodule(&entry)),
                (None, Look::Changed(mode)) => {
                    self.stop.check()?;
                    self.changed(&entry, mode)?
                }
            };
            files.push((entry, file));
        }
        Ok(files)
    }

    fn changed(&mut self, entry: &IndexEntry, mode: u32) -> Result<Option<File>, VcsError> {
        let id = match self.work.file(&entry.path)? {
            Some(id) => id,
            None => {
                self.found.too_large.push(entry.path.clone());
                entry.id
            }
        };
        Ok(Some(File {
            path: entry.path.clone(),
            mode,
            id,
            dirty: false,
        }))
    }

    fn conflicted(&mut self, path: &[u8]) -> Result<Option<File>, VcsError> {
        let whole = self.store.root().join(std::ffi::OsStr::from_bytes(path));
        let id = match self.buffers.get(path).copied() {
            Some(text) => Some(self.work.buffer(path, text)?),
            None if fs::symlink_metadata(&whole).is_ok() => self.work.file(path)?,
            None => None,
        };
        Ok(id.map(|id| File {
            path: path.to_vec(),
            mode: mode::FILE,
            id,
            dirty: false,
        }))
    }

    /// The commit that is checked out in a submodule; one that is not there is as it should be.
    fn submodule(&self, entry: &IndexEntry) -> File {
        let unchanged = file_of(entry);
        let folder = self.store.root().join(std::ffi::OsStr::from_bytes(&entry.path));
        if fs::symlink_metadata(folder.join(".git")).is_err() || self.depth >= DEPTH {
            return unchanged;
        }
        let Ok(inner) = discover(&folder).and_then(|git| open(&git)) else {
            return unchanged;
        };
        let head = inner.git().head().and_then(|head| head.peel_to_commit());
        let Ok(head) = head else { return unchanged };
        let states = States::TreeWork(Some(head.tree_id()));
        let none = HashMap::new();
        let inside = differences_at(&inner, states, b"", &none, self.stop, self.depth + 1);
        File {
            id: head.id(),
            dirty: inside.is_ok_and(|inside| !inside.changes.is_empty()),
            ..unchanged
        }
    }
}

/// What a look at a file says.
#[derive(Clone, Copy)]
enum Look {
    /// As the index has it.
    Clean,
    /// Something of this mode that may differ.
    Changed(u32),
    Submodule,
    Gone,
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

    fn look(&self, path: &Path, entry: &IndexEntry) -> Look {
        if is_assumed(entry) {
            return Look::Clean;
        }
        let Ok(there) = fs::symlink_metadata(path) else {
            return Look::Gone;
        };
        let kind = there.file_type();
        if kind.is_dir() {
            return match entry.mode {
                mode::SUBMODULE => Look::Submodule,
                _ => Look::Gone,
            };
        }
        let mode = if kind.is_symlink() {
            mode::LINK
        } else if !kind.is_file() {
            return Look::Gone;
        } else if !self.filemode && mode::same_kind(entry.mode, mode::FILE) {
            entry.mode
        } else if there.mode() & 0o100 != 0 {
            mode::EXECUTABLE
        } else {
            mode::FILE
        };
        if mode == entry.mode && self.is_unchanged(&there, entry) {
            Look::Clean
        } else {
            Look::Changed(mode)
        }
    }

    /// By its times, size and number. A file that was written when the index was, or later, may have been
    /// changed without a trace: it is not unchanged.
    fn is_unchanged(&self, there: &Metadata, entry: &IndexEntry) -> bool {
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
        let (size, number) = (there.size() as u32, there.ino() as u32);
        same_time(there.mtime(), there.mtime_nsec(), entry.mtime)
            && (!self.trust_ctime || same_time(there.ctime(), there.ctime_nsec(), entry.ctime))
            && size == entry.file_size
            && (entry.ino == 0 || entry.ino == number)
            && at < self.index_time
            // An index without fine times cannot tell within its second.
            && (at.1 != 0 || at.0 < self.index_time.0)
    }
}

/// Looks at the files of all entries.
fn look_at_all(root: &Path, entries: &[IndexEntry], settings: &Settings) -> Vec<Look> {
    let look = |entries: &[IndexEntry]| -> Vec<Look> {
        let paths = entries
            .iter()
            .map(|entry| (entry, root.join(std::ffi::OsStr::from_bytes(&entry.path))));
        paths.map(|(entry, path)| settings.look(&path, entry)).collect()
    };
    if entries.len() < FEW {
        return look(entries);
    }
    let size = entries.len().div_ceil(THREADS);
    std::thread::scope(|scope| {
        let threads: Vec<_> = entries
            .chunks(size)
            .map(|part| (part, scope.spawn(move || look(part))))
            .collect();
        let looks = threads.into_iter().flat_map(|(part, thread)| {
            // A thread that could not run leaves its part to this one.
            thread.join().unwrap_or_else(|_| look(part))
        });
        looks.collect()
    })
}
