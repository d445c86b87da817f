//! Commits and how they hang together, by number: read once, from the commit-graph where there is one.

use std::collections::HashMap;
use std::ops::Range;

use git2::{ObjectType, Oid};

use crate::vcs::commit_graph::CommitGraph;
use crate::vcs::error::VcsError;
use crate::vcs::store::Store;

/// A commit of a [`History`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ix(u32);

impl Ix {
    /// The number as an index.
    pub fn at(self) -> usize {
        self.0 as usize
    }
}

/// What is known of a commit when it was read.
#[derive(Clone, Debug)]
pub struct Node {
    /// Its tree.
    pub tree: Oid,
    /// The committer's time, in seconds since 1970.
    pub time: i64,
    parents: Range<u32>,
}

/// Commits by number.
pub struct History {
    graph: Option<CommitGraph>,
    ids: Vec<Oid>,
    by_id: HashMap<Oid, Ix>,
    nodes: Vec<Option<Node>>,
    parents: Vec<Ix>,
    /// The place in the commit-graph.
    places: Vec<Option<u32>>,
}

impl History {
    /// Nothing is read yet.
    pub fn new(graph: Option<CommitGraph>) -> Self {
        Self {
            graph,
            ids: Vec::new(),
            by_id: HashMap::new(),
            nodes: Vec::new(),
            parents: Vec::new(),
            places: Vec::new(),
        }
    }

    /// How many commits have a number.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether none has.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// The number of a commit.
    pub fn number(&mut self, id: Oid) -> Ix {
        self.number_at(id, None)
    }

    fn number_at(&mut self, id: Oid, place: Option<u32>) -> Ix {
        if let Some(ix) = self.by_id.get(&id) {
            return *ix;
        }
        let ix = Ix(u32::try_from(self.ids.len()).unwrap_or(u32::MAX));
        self.ids.push(id);
        self.nodes.push(None);
        self.places.push(place);
        self.by_id.insert(id, ix);
        ix
    }

    /// The name of a commit.
    pub fn id(&self, ix: Ix) -> Oid {
        self.ids.get(ix.at()).copied().unwrap_or(Oid::ZERO_SHA1)
    }

    /// Reads a commit, if it was not before.
    ///
    /// # Errors
    /// [`VcsError::Missing`], and [`VcsError::Kind`] for what is no commit.
    pub fn load(&mut self, store: &Store, ix: Ix) -> Result<Node, VcsError> {
        if let Some(Some(node)) = self.nodes.get(ix.at()) {
            return Ok(node.clone());
        }
        let node = match self.graph_node(ix) {
            Some(node) => node,
            None => self.object_node(store, ix)?,
        };
        if let Some(slot) = self.nodes.get_mut(ix.at()) {
            *slot = Some(node.clone());
        }
        Ok(node)
    }

    /// The parents of a commit that was read.
    pub fn parents(&self, node: &Node) -> &[Ix] {
        let range = node.parents.start as usize..node.parents.end as usize;
        self.parents.get(range).unwrap_or_default()
    }

    /// Whether the changed-path filter of a commit excludes that any of `keys` changed against its first parent.
    pub fn surely_same(&self, ix: Ix, keys: &[crate::vcs::bloom::Key]) -> bool {
        let place = self.places.get(ix.at()).copied().flatten();
        match (&self.graph, place) {
            (Some(graph), Some(place)) => graph.excludes(place, keys),
            _ => false,
        }
    }

    fn graph_node(&mut self, ix: Ix) -> Option<Node> {
        let graph = self.graph.take()?;
        let node = self.node_of(&graph, ix);
        self.graph = Some(graph);
        node
    }

    fn node_of(&mut self, graph: &CommitGraph, ix: Ix) -> Option<Node> {
        let place = match self.places.get(ix.at()).copied().flatten() {
            Some(place) => place,
            None => graph.find(self.id(ix))?,
        };
        if let Some(slot) = self.places.get_mut(ix.at()) {
            *slot = Some(place);
        }
        let entry = graph.entry(place)?;
        let parents: Option<Vec<Ix>> = entry
            .parents
            .iter()
            .map(|parent| Some(self.number_at(graph.id(*parent)?, Some(*parent))))
            .collect();
        Some(self.node(entry.tree, entry.time, &parents?))
    }

    fn object_node(&mut self, store: &Store, ix: Ix) -> Result<Node, VcsError> {
        let id = self.id(ix);
        let (tree, time, parents) = store
            .object(id, |kind, data| {
                (kind == ObjectType::Commit).then(|| header(data)).flatten()
            })?
            .ok_or_else(|| VcsError::Kind(format!("The object {id} is not a commit that can be read.")))?;
        let parents: Vec<Ix> = if store.is_shallow(id) {
            Vec::new()
        } else {
            parents.into_iter().map(|parent| self.number(parent)).collect()
        };
        Ok(self.node(tree, time, &parents))
    }

    fn node(&mut self, tree: Oid, time: i64, parents: &[Ix]) -> Node {
        let start = u32::try_from(self.parents.len()).unwrap_or(u32::MAX);
        self.parents.extend_from_slice(parents);
        let end = u32::try_from(self.parents.len()).unwrap_or(u32::MAX);
        Node {
            tree,
            time,
            parents: start..end,
        }
    }
}

/// Tree, committer's time and parents, out of the bytes of a commit.
fn header(data: &[u8]) -> Option<(Oid, i64, Vec<Oid>)> {
    let mut lines = data.split(|byte| *byte == b'\n');
    let id = |hex: &[u8]| Oid::from_str(std::str::from_utf8(hex).ok()?).ok();
    let tree = id(lines.next()?.strip_prefix(b"tree ")?)?;
    let (mut parents, mut time) = (Vec::new(), 0);
    for line in lines {
        if let Some(parent) = line.strip_prefix(b"parent ") {
            parents.push(id(parent)?);
        } else if line.starts_with(b"committer ") {
            time = seconds(line);
            break;
        } else if line.is_empty() {
            break;
        }
    }
    Some((tree, time, parents))
}

/// The time of a line that ends with `> <seconds> <zone>`; 0 when there is none.
fn seconds(line: &[u8]) -> i64 {
    let after = line.iter().rposition(|byte| *byte == b'>').map_or(0, |at| at + 1);
    let rest = line.get(after..).unwrap_or_default();
    let text = std::str::from_utf8(rest).unwrap_or_default();
    let number = text.split_whitespace().next().unwrap_or_default();
    number.parse().unwrap_or(0)
}
