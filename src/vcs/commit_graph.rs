//! git's commit-graph files: trees, times and parents of commits without opening objects, and filters of the
//! paths that each commit changed.
//!
//! The files are read into memory, not mapped: a file that is cut short while it is mapped kills the process.

use std::fs;
use std::path::Path;

use git2::Oid;

use crate::vcs::bloom::{Filters, Key};

/// Larger files are not used.
const MAX_BYTES: u64 = 256 * 1024 * 1024;
const HASH: usize = 20;
const ENTRY: usize = HASH + 16;
/// A parent that is none.
const NONE: u32 = 0x7000_0000;
/// A second parent that is the start of a list of more; the rest of the number says where.
const MORE: u32 = 0x8000_0000;

/// A commit in the graph.
pub struct Entry {
    /// Its tree.
    pub tree: Oid,
    /// The committer's time, in seconds since 1970.
    pub time: i64,
    /// Places of its parents.
    pub parents: Vec<u32>,
}

/// All layers of a repository's commit-graph; places count through them.
pub struct CommitGraph {
    layers: Vec<Layer>,
}

struct Layer {
    data: Vec<u8>,
    /// Commits in the layers below.
    base: u32,
    count: u32,
    fanout: usize,
    ids: usize,
    entries: usize,
    edges: Option<(usize, usize)>,
    filters: Option<Filters>,
}

impl CommitGraph {
    /// The graph in `objects/info`; `None` when there is none, or none that this can read.
    pub fn open(info: &Path) -> Option<Self> {
        if let Some(layer) = Layer::open(&info.join("commit-graph"), 0) {
            return Some(Self { layers: vec![layer] });
        }
        let folder = info.join("commit-graphs");
        let chain = fs::read_to_string(folder.join("commit-graph-chain")).ok()?;
        let (mut layers, mut base) = (Vec::new(), 0);
        for hash in chain.lines() {
            let layer = Layer::open(&folder.join(format!("graph-{hash}.graph")), base)?;
            base = base.checked_add(layer.count)?;
            layers.push(layer);
        }
        (!layers.is_empty()).then_some(Self { layers })
    }

    /// The place of a commit.
    pub fn find(&self, id: Oid) -> Option<u32> {
        self.layers.iter().find_map(|layer| layer.find(id.as_bytes()))
    }

    /// The commit at a place.
    pub fn id(&self, place: u32) -> Option<Oid> {
        let (layer, at) = self.at(place)?;
        Oid::from_bytes(layer.bytes(layer.ids + at * HASH, HASH)?).ok()
    }

    /// What is known of the commit at a place.
    pub fn entry(&self, place: u32) -> Option<Entry> {
        let (layer, at) = self.at(place)?;
        let data = layer.bytes(layer.entries + at * ENTRY, ENTRY)?;
        let word = |at: usize| Some(u32::from_be_bytes(data.get(at..at + 4)?.try_into().ok()?));
        let tree = Oid::from_bytes(data.get(..HASH)?).ok()?;
        let (first, second) = (word(HASH)?, word(HASH + 4)?);
        // The two lowest bits of the word before are the highest of the time.
        let time = i64::from(word(HASH + 8)? & 3) << 32 | i64::from(word(HASH + 12)?);
        let mut parents = Vec::with_capacity(1);
        if first != NONE {
            parents.push(first);
        }
        if second & MORE != 0 {
            let (start, end) = layer.edges?;
            let mut at = start + (second & !MORE) as usize * 4;
            while at < end {
                let edge = layer.word(at)?;
                parents.push(edge & !MORE);
                if edge & MORE != 0 {
                    break;
                }
                at += 4;
            }
        } else if second != NONE {
            parents.push(second);
        }
        Some(Entry { tree, time, parents })
    }

    /// Whether the filter of the commit says that each of `keys` is the same as in its first parent. Without a
    /// filter, and without a key, it does not.
    pub fn excludes(&self, place: u32, keys: &[Key]) -> bool {
        let Some((layer, at)) = self.at(place) else {
            return false;
        };
        layer
            .filters
            .as_ref()
            .is_some_and(|filters| filters.excludes(&layer.data, at, keys))
    }

    fn at(&self, place: u32) -> Option<(&Layer, usize)> {
        let layer = self.layers.iter().rev().find(|layer| layer.base <= place)?;
        let at = place - layer.base;
        (at < layer.count).then_some((layer, at as usize))
    }
}

impl Layer {
    fn open(path: &Path, base: u32) -> Option<Self> {
        if fs::metadata(path).ok()?.len() > MAX_BYTES {
            return None;
        }
        let data = fs::read(path).ok()?;
        let chunks = usize::from(*data.get(6)?);
        // Signature, version 1, SHA-1.
        if data.get(..6)? != b"CGPH\x01\x01" {
            return None;
        }
        let table = |name: &[u8; 4]| -> Option<(usize, usize)> {
            (0..chunks).find_map(|chunk| {
                let row = data.get(8 + chunk * 12..8 + (chunk + 2) * 12)?;
                let offset = |at: usize| {
                    let bytes = row.get(at..at + 8)?.try_into().ok()?;
                    usize::try_from(u64::from_be_bytes(bytes)).ok()
                };
                let (start, end) = (offset(4)?, offset(16)?);
                let fits = row.get(..4)? == name && start <= end && end <= data.len();
                fits.then_some((start, end))
            })
        };
        let (fanout, ids, entries) = (table(b"OIDF")?, table(b"OIDL")?, table(b"CDAT")?);
        let edges = table(b"EDGE");
        let filters = Filters::new(&data, table(b"BIDX"), table(b"BDAT"));
        let last = data.get(fanout.0 + 255 * 4..fanout.0 + 256 * 4)?;
        let count = u32::from_be_bytes(last.try_into().ok()?);
        let holds = |chunk: (usize, usize), size: usize| (chunk.1 - chunk.0) / size >= count as usize;
        if !holds(ids, HASH) || !holds(entries, ENTRY) || fanout.1 - fanout.0 < 1024 {
            return None;
        }
        Some(Self {
            base,
            count,
            fanout: fanout.0,
            ids: ids.0,
            entries: entries.0,
            edges,
            filters,
            data,
        })
    }

    fn bytes(&self, at: usize, len: usize) -> Option<&[u8]> {
        self.data.get(at..at.checked_add(len)?)
    }

    fn word(&self, at: usize) -> Option<u32> {
        Some(u32::from_be_bytes(self.bytes(at, 4)?.try_into().ok()?))
    }

    fn find(&self, id: &[u8]) -> Option<u32> {
        let first = usize::from(*id.first()?);
        let mut low = match first {
            0 => 0,
            _ => self.word(self.fanout + (first - 1) * 4)?,
        };
        let mut high = self.word(self.fanout + first * 4)?;
        while low < high {
            let middle = low + (high - low) / 2;
            match self.bytes(self.ids + middle as usize * HASH, HASH)?.cmp(id) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return self.base.checked_add(middle),
            }
        }
        None
    }
}
