//! Trees as they are stored: entries in order, one level at a time.

use std::cmp::Ordering;

use git2::{ObjectType, Oid};

use crate::vcs::error::VcsError;
use crate::vcs::store::Store;

/// The kinds of entries, and their permission bits.
pub mod mode {
    /// A folder.
    pub const TREE: u32 = 0o040_000;
    /// A file.
    pub const FILE: u32 = 0o100_644;
    /// A file that can be run.
    pub const EXECUTABLE: u32 = 0o100_755;
    /// A symbolic link.
    pub const LINK: u32 = 0o120_000;
    /// A commit of another repository.
    pub const SUBMODULE: u32 = 0o160_000;

    /// Whether two modes are the same kind of thing.
    pub fn same_kind(one: u32, other: u32) -> bool {
        one & 0o170_000 == other & 0o170_000
    }
}

/// An entry of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// One of [`mode`].
    pub mode: u32,
    /// Without a `/`.
    pub name: &'a [u8],
    /// The object.
    pub id: Oid,
}

impl Entry<'_> {
    /// Whether it is a folder.
    pub fn is_tree(&self) -> bool {
        self.mode == mode::TREE
    }

    /// The order of entries in a tree: a folder's name counts as if a `/` followed.
    pub fn order(&self, other: &Self) -> Ordering {
        let end = |entry: &Self| entry.is_tree().then_some(b'/');
        let (one, two) = (self.name.iter().copied(), other.name.iter().copied());
        one.chain(end(self)).cmp(two.chain(end(other)))
    }
}

/// The entries in the bytes of a tree. What is broken ends it.
pub fn entries(data: &[u8]) -> impl Iterator<Item = Entry<'_>> {
    let mut rest = data;
    std::iter::from_fn(move || {
        let (entry, after) = first(rest)?;
        rest = after;
        Some(entry)
    })
}

fn first(data: &[u8]) -> Option<(Entry<'_>, &[u8])> {
    let space = data.iter().take(8).position(|byte| *byte == b' ')?;
    let (mut mode, mut digits) = (0u32, data.get(..space)?.iter());
    if !digits.all(|digit| {
        mode = mode << 3 | u32::from(digit.wrapping_sub(b'0'));
        (b'0'..=b'7').contains(digit)
    }) {
        return None;
    }
    // Old trees hold modes such as 100664; git counts them as one of the two.
    let mode = match mode & 0o170_000 {
        0o100_000 if mode & 0o100 != 0 => mode::EXECUTABLE,
        0o100_000 => mode::FILE,
        kind => kind,
    };
    let named = data.get(space + 1..)?;
    let end = named.iter().position(|byte| *byte == 0)?;
    let id = Oid::from_bytes(named.get(end + 1..end + 21)?).ok()?;
    let name = named.get(..end)?;
    Some((Entry { mode, name, id }, named.get(end + 21..)?))
}

impl Store {
    /// The bytes of a tree, given to `look`.
    ///
    /// # Errors
    /// [`VcsError::Missing`], and [`VcsError::Kind`] for what is no tree.
    pub fn tree<T>(&self, id: Oid, look: impl FnOnce(&[u8]) -> T) -> Result<T, VcsError> {
        self.object(id, |kind, data| (kind == ObjectType::Tree).then(|| look(data)))?
            .ok_or_else(|| VcsError::Kind(format!("The object {id} is not a tree.")))
    }

    /// The entry at a path below a tree: mode and object. The root's is the tree itself.
    ///
    /// # Errors
    /// As [`Store::tree`].
    pub fn entry(&self, tree: Oid, path: &[u8]) -> Result<Option<(u32, Oid)>, VcsError> {
        let mut here = (mode::TREE, tree);
        for part in path.split(|byte| *byte == b'/').filter(|part| !part.is_empty()) {
            if here.0 != mode::TREE {
                return Ok(None);
            }
            match self.child(here.1, part)? {
                Some(child) => here = child,
                None => return Ok(None),
            }
        }
        Ok(Some(here))
    }

    /// The entry of that name in a tree.
    ///
    /// # Errors
    /// As [`Store::tree`].
    pub fn child(&self, tree: Oid, name: &[u8]) -> Result<Option<(u32, Oid)>, VcsError> {
        self.tree(tree, |data| {
            entries(data)
                .find(|entry| entry.name == name)
                .map(|entry| (entry.mode, entry.id))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_end_where_the_bytes_are_broken() {
        let mut data = b"100664 a\0".to_vec();
        data.extend([1; 20]);
        data.extend(b"40000 b\0");
        data.extend([2; 20]);
        data.extend(b"1006");
        let found: Vec<_> = entries(&data).map(|entry| (entry.mode, entry.name)).collect();
        assert_eq!(found, [(mode::FILE, &b"a"[..]), (mode::TREE, &b"b"[..])]);
        assert_eq!(entries(b"9 a\0").count(), 0);
    }

    #[test]
    fn a_folder_stands_where_its_files_would() {
        let entry = |mode, name| Entry {
            mode,
            name,
            id: Oid::ZERO_SHA1,
        };
        let folder = entry(mode::TREE, b"a");
        assert_eq!(entry(mode::FILE, b"a.b").order(&folder), Ordering::Less);
        assert_eq!(entry(mode::FILE, b"a0").order(&folder), Ordering::Greater);
        assert_eq!(entry(mode::FILE, b"a").order(&folder), Ordering::Less);
    }
}
