//! What lies at one path in many commits, with as few trees read as can be: where a folder on the way is the
//! same object in two commits, so is all below it.

use std::collections::HashMap;

use git2::Oid;

use crate::vcs::bloom::Key;
use crate::vcs::error::VcsError;
use crate::vcs::history::{History, Ix, Node};
use crate::vcs::store::Store;
use crate::vcs::tree::mode;

/// What lies at a path: mode and object.
pub type Found = Option<(u32, Oid)>;

/// One path through a history.
pub struct Trails {
    parts: Vec<Vec<u8>>,
    keys: Vec<Key>,
    /// For each commit that is still needed: what each folder on the way is, and at the end the path itself.
    known: HashMap<Ix, Vec<Found>>,
}

impl Trails {
    /// Nothing is looked at yet.
    pub fn new(path: &[u8]) -> Self {
        let parts = path.split(|byte| *byte == b'/').filter(|part| !part.is_empty());
        Self {
            parts: parts.map(<[u8]>::to_vec).collect(),
            keys: Key::of(path),
            known: HashMap::new(),
        }
    }

    /// What lies at the path in a commit.
    ///
    /// # Errors
    /// [`VcsError::Missing`].
    pub fn at(&mut self, store: &Store, ix: Ix, node: &Node) -> Result<Found, VcsError> {
        if let Some(trail) = self.known.get(&ix) {
            return Ok(trail.last().copied().flatten());
        }
        let trail = self.walk(store, node.tree, &[])?;
        let found = trail.last().copied().flatten();
        self.known.insert(ix, trail);
        Ok(found)
    }

    /// What lies at the path in the parent of a commit that was asked for before.
    ///
    /// # Errors
    /// [`VcsError::Missing`].
    pub fn at_parent(
        &mut self,
        store: &Store,
        child: Ix,
        parent: Ix,
        node: &Node,
    ) -> Result<Found, VcsError> {
        if !self.known.contains_key(&parent) {
            let like = self.known.get(&child).map(Vec::as_slice).unwrap_or_default();
            let trail = self.walk(store, node.tree, like)?;
            self.known.insert(parent, trail);
        }
        let trail = self.known.get(&parent);
        Ok(trail.and_then(|trail| trail.last().copied().flatten()))
    }

    /// Whether the filters of the commit-graph say that the first parent has the same there; nothing is read then.
    pub fn surely_same(&mut self, history: &History, child: Ix, parent: Ix) -> bool {
        let same = history.surely_same(child, &self.keys);
        if same
            && !self.known.contains_key(&parent)
            && let Some(trail) = self.known.get(&child)
        {
            let mut trail = trail.clone();
            // The folders above may differ; only what is below them is known.
            let end = trail.len().saturating_sub(1);
            for above in trail.iter_mut().take(end) {
                *above = None;
            }
            self.known.insert(parent, trail);
        }
        same
    }

    /// Forgets a commit.
    pub fn forget(&mut self, ix: Ix) {
        self.known.remove(&ix);
    }

    fn walk(&self, store: &Store, tree: Oid, like: &[Found]) -> Result<Vec<Found>, VcsError> {
        let mut trail: Vec<Found> = Vec::with_capacity(self.parts.len() + 1);
        trail.push(Some((mode::TREE, tree)));
        for (at, part) in self.parts.iter().enumerate() {
            let here = trail.last().copied().flatten();
            let same = here.is_some() && like.get(at).copied() == Some(here);
            if let (true, Some(rest)) = (same, like.get(at + 1..)) {
                trail.extend_from_slice(rest);
                return Ok(trail);
            }
            trail.push(match here {
                Some((mode::TREE, id)) => store.child(id, part)?,
                _ => None,
            });
        }
        Ok(trail)
    }
}
