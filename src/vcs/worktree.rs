//! What differs between a tree, the index and the working tree.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use git2::{IndexEntry, Oid};

use crate::vcs::changes::{Change, File};
use crate::vcs::error::{Stop, VcsError};
use crate::vcs::looks::{self, Look};
use crate::vcs::open::{discover, open};
use crate::vcs::store::Store;
use crate::vcs::tree::{entries, mode};
use crate::vcs::work_file::WorkFiles;

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
    // Before it is read: one that is written meanwhile is newer than this says, which costs a look at a file.
    let read_at = written_at(index.path());
    index.read(false).map_err(|error| index_error(&error))?;
    let inside = |entry: &IndexEntry| is_at_or_below(&entry.path, path);
    // Of a conflict ours, where there is one. An index is in the order of paths, and of stages.
    let mut conflicts: Vec<IndexEntry> = Vec::new();
    let mut indexed = Vec::with_capacity(index.len());
    for entry in index.iter().filter(inside) {
        if stage(&entry) == 0 {
            indexed.push(entry);
        } else if conflicts.last().is_none_or(|last| last.path != entry.path) {
            conflicts.push(entry);
        } else if stage(&entry) == 2 {
            conflicts.pop();
            conflicts.push(entry);
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
    let listed = || match states {
        States::TreeIndex(tree) | States::TreeWork(tree) => list(store, tree, path, stop),
        States::IndexWork => Ok(Vec::new()),
    };
    let (olds, news) = match states {
        States::TreeIndex(_) => {
            let mut olds = listed()?;
            let is_unmerged = |file: &File| {
                let found = conflicts.binary_search_by(|entry| entry.path.cmp(&file.path));
                found.is_ok()
            };
            olds.retain(|file| !is_unmerged(file));
            let staged = indexed.iter().filter(|entry| !is_intended(entry));
            (olds, staged.map(file_of).collect())
        }
        States::IndexWork => {
            let (news, _) = sides.work_files(&indexed, read_at, || Ok(()))?;
            let staged = indexed.iter().filter(|entry| !is_intended(entry));
            (staged.map(file_of).collect(), news)
        }
        States::TreeWork(_) => {
            let (mut news, olds) = sides.work_files(&indexed, read_at, listed)?;
            // What the tree has and the working tree holds, whatever the index thinks.
            let (conflicted, ()) = sides.work_files(&conflicts, read_at, || Ok(()))?;
            news.extend(conflicted);
            (olds, news)
        }
    };
    let mut found = sides.found;
    found.changes = paired(olds, news);
    found.unmerged = conflicts.into_iter().map(|entry| entry.path).collect();
    Ok(found)
}

/// The changes from the files of one side to those of the other, in the order of their paths.
fn paired(mut olds: Vec<File>, mut news: Vec<File>) -> Vec<Change> {
    // As good as sorted: an index and a tree are, by their formats.
    olds.sort_by(|one, other| one.path.cmp(&other.path));
    news.sort_by(|one, other| one.path.cmp(&other.path));
    let (mut olds, mut news) = (olds.into_iter().peekable(), news.into_iter().peekable());
    let mut changes = Vec::new();
    loop {
        let order = match (olds.peek(), news.peek()) {
            (None, None) => return changes,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(old), Some(new)) => old.path.cmp(&new.path),
        };
        let old = if order.is_le() { olds.next() } else { None };
        let new = if order.is_ge() { news.next() } else { None };
        if old != new {
            changes.extend(Change::between(old, new));
        }
    }
}

/// When a file was written, in seconds and nanoseconds; long ago when it is not known.
fn written_at(path: Option<&Path>) -> (i64, i64) {
    let written = path.and_then(|path| fs::metadata(path).ok());
    written.map_or((0, 0), |data| (data.mtime(), data.mtime_nsec()))
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

/// The files of a tree at or below `path`, in its order.
fn list(store: &Store, tree: Option<Oid>, path: &[u8], stop: &dyn Stop) -> Result<Vec<File>, VcsError> {
    let mut files = Vec::new();
    let root = match tree {
        Some(tree) => store.entry(tree, path)?,
        None => None,
    };
    let mut open: Vec<_> = root
        .map(|(mode, id)| (path.to_vec(), mode, id))
        .into_iter()
        .collect();
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
        let first = open.len();
        store.tree(id, |data| {
            for entry in entries(data) {
                let mut below = Vec::with_capacity(path.len() + 1 + entry.name.len());
                below.extend_from_slice(&path);
                if !below.is_empty() {
                    below.push(b'/');
                }
                below.extend_from_slice(entry.name);
                open.push((below, entry.mode, entry.id));
            }
        })?;
        // The first of them is the next to be taken.
        if let Some(below) = open.get_mut(first..) {
            below.reverse();
        }
    }
    Ok(files)
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
    /// What the working tree holds in the place of each entry, and what `meanwhile` gives, which runs while
    /// the files are looked at.
    fn work_files<T>(
        &mut self,
        indexed: &[IndexEntry],
        read_at: (i64, i64),
        meanwhile: impl FnOnce() -> Result<T, VcsError>,
    ) -> Result<(Vec<File>, T), VcsError> {
        let (looks, other) = looks::at_all(self.store, read_at, indexed, self.stop, meanwhile)?;
        let mut files = Vec::with_capacity(indexed.len());
        for (entry, look) in indexed.iter().zip(looks) {
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
                (None, Look::Clean) => Some(file_of(entry)),
                (None, Look::Gone) => None,
                (None, Look::Submodule) => Some(self.submodule(entry)),
                (None, Look::Changed(mode)) => {
                    self.stop.check()?;
                    self.changed(entry, mode)?
                }
            };
            files.extend(file);
        }
        Ok((files, other))
    }

    /// `None` for a file that has gone since it was looked at.
    fn changed(&mut self, entry: &IndexEntry, mode: u32) -> Result<Option<File>, VcsError> {
        let id = match self.work.file(&entry.path) {
            Ok(Some(id)) => id,
            Ok(None) => {
                self.found.too_large.push(entry.path.clone());
                entry.id
            }
            Err(error) => {
                let whole = self.store.root().join(std::ffi::OsStr::from_bytes(&entry.path));
                return if fs::symlink_metadata(whole).is_err() {
                    Ok(None)
                } else {
                    Err(error)
                };
            }
        };
        Ok(Some(File {
            path: entry.path.clone(),
            mode,
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
