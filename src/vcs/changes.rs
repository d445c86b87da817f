//! What differs between two trees.

use std::cmp::Ordering;

use git2::Oid;

use crate::vcs::error::{Stop, VcsError};
use crate::vcs::store::Store;
use crate::vcs::tree::{Entry, entries, mode};

/// A file on one side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Relative to the root of the repository.
    pub path: Vec<u8>,
    /// One of [`mode`].
    pub mode: u32,
    /// The object.
    pub id: Oid,
    /// Of a submodule: its own working tree is changed.
    pub dirty: bool,
}

/// One file that differs. At least one side is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Before.
    pub old: Option<File>,
    /// After.
    pub new: Option<File>,
    /// Of a renamed file: how alike both are, in percent.
    pub similarity: Option<u8>,
}

impl Change {
    /// The path after, or before when it was deleted.
    pub fn path(&self) -> &[u8] {
        let file = self.new.as_ref().or(self.old.as_ref());
        file.map_or(&[], |file| &file.path)
    }

    /// Both paths.
    pub fn paths(&self) -> impl Iterator<Item = &[u8]> {
        let sides = self.old.iter().chain(&self.new);
        sides.map(|file| file.path.as_slice())
    }

    /// A change from one side to the other; a change of kind (a file that became a link) is a deletion and an
    /// addition.
    pub fn between(old: Option<File>, new: Option<File>) -> Vec<Self> {
        let change = |old, new| Self {
            old,
            new,
            similarity: None,
        };
        match (old, new) {
            (Some(old), Some(new)) if !mode::same_kind(old.mode, new.mode) => {
                vec![change(Some(old), None), change(None, Some(new))]
            }
            (old, new) => vec![change(old, new)],
        }
    }
}

/// The changes from one tree to another at or below `path` (empty: everywhere), in the order of their paths.
///
/// # Errors
/// A missing object, or the stop.
pub fn between_trees(
    store: &Store,
    old: Option<Oid>,
    new: Option<Oid>,
    path: &[u8],
    stop: &dyn Stop,
) -> Result<Vec<Change>, VcsError> {
    let mut comparison = Comparison {
        store,
        stop,
        changes: Vec::new(),
        path: Vec::new(),
    };
    if path.is_empty() {
        comparison.trees(old, new)?;
    } else {
        let find = |tree: Option<Oid>| match tree {
            Some(tree) => store.entry(tree, path),
            None => Ok(None),
        };
        let (old, new) = (find(old)?, find(new)?);
        comparison.path = path.to_vec();
        comparison.pair(old, new)?;
    }
    Ok(comparison.changes)
}

struct Comparison<'a> {
    store: &'a Store,
    stop: &'a dyn Stop,
    changes: Vec<Change>,
    path: Vec<u8>,
}

type Found = Option<(u32, Oid)>;

impl Comparison<'_> {
    fn trees(&mut self, old: Option<Oid>, new: Option<Oid>) -> Result<(), VcsError> {
        if old == new {
            return Ok(());
        }
        self.stop.check()?;
        // The differing entries are taken out, so that no tree's bytes are held while its folders are entered.
        let load = |tree: Option<Oid>| match tree {
            Some(tree) => self.store.tree(tree, <[u8]>::to_vec),
            None => Ok(Vec::new()),
        };
        let (old, new) = (load(old)?, load(new)?);
        let (mut olds, mut news) = (entries(&old).peekable(), entries(&new).peekable());
        loop {
            let order = match (olds.peek(), news.peek()) {
                (None, None) => return Ok(()),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some(old), Some(new)) => old.order(new),
            };
            let old = if order.is_le() { olds.next() } else { None };
            let new = if order.is_ge() { news.next() } else { None };
            if old != new {
                let found = |entry: Option<Entry<'_>>| entry.map(|entry| (entry.mode, entry.id));
                let name = old.or(new).map_or(&b""[..], |entry| entry.name);
                self.below(name, found(old), found(new))?;
            }
        }
    }

    fn below(&mut self, name: &[u8], old: Found, new: Found) -> Result<(), VcsError> {
        let length = self.path.len();
        if !self.path.is_empty() {
            self.path.push(b'/');
        }
        self.path.extend_from_slice(name);
        let result = self.pair(old, new);
        self.path.truncate(length);
        result
    }

    fn pair(&mut self, old: Found, new: Found) -> Result<(), VcsError> {
        if old == new {
            return Ok(());
        }
        let tree = |found: Found| found.filter(|(mode, _)| *mode == mode::TREE).map(|(_, id)| id);
        let file = |found: Found| {
            found
                .filter(|(mode, _)| *mode != mode::TREE)
                .map(|(mode, id)| File {
                    path: self.path.clone(),
                    mode,
                    id,
                    dirty: false,
                })
        };
        let (old_file, new_file) = (file(old), file(new));
        if old_file.is_some() || new_file.is_some() {
            self.changes.extend(Change::between(old_file, new_file));
        }
        let (old_tree, new_tree) = (tree(old), tree(new));
        if old_tree.is_some() || new_tree.is_some() {
            self.trees(old_tree, new_tree)?;
        }
        Ok(())
    }
}
