//! Which deleted files and added files are one file that was renamed, by git's rules: first the same bytes, then
//! the same name in another folder, then the most alike.

use std::collections::{HashMap, HashSet};

use git2::Oid;

use crate::vcs::changes::{Change, File};
use crate::vcs::error::{Stop, VcsError};
use crate::vcs::similarity::{MAX, Measure, Pieces, RENAME, score, too_different};
use crate::vcs::store::Store;
use crate::vcs::tree::mode;

/// With more pairs than the square of this only equal bytes are a rename.
const LIMIT: usize = 1000;
/// Files with the same bytes that are looked at for one.
const SAME: usize = 100;
/// The best sources that are remembered for a file.
const BEST: usize = 4;
/// How alike files of the same name must be.
const SAME_NAME: u64 = RENAME + (MAX - RENAME) / 2;
/// Larger files are renamed only with equal bytes.
const MAX_BYTES: usize = 16 * 1024 * 1024;

/// Joins deletions and additions to renames. With `only`, just the one of that new path is looked for.
///
/// # Errors
/// The stop. A missing object is no rename.
pub fn join(
    store: &Store,
    changes: Vec<Change>,
    only: Option<&[u8]>,
    stop: &dyn Stop,
) -> Result<Vec<Change>, VcsError> {
    let wanted = |change: &Change| only.is_none_or(|path| change.path() == path);
    let side = |old: bool| {
        let picked = changes.iter().enumerate().filter(move |(_, change)| {
            change.old.is_some() == old && change.new.is_some() != old && (old || wanted(change))
        });
        picked.map(|(at, _)| at).collect::<Vec<_>>()
    };
    let (sources, targets) = (side(true), side(false));
    if sources.is_empty() || targets.is_empty() {
        return Ok(changes);
    }
    let mut search = Search {
        store,
        stop,
        changes: &changes,
        sources,
        targets,
        pairs: HashMap::new(),
        used: HashSet::new(),
        measure: Measure::default(),
        pieces: HashMap::new(),
    };
    search.same_bytes();
    search.same_names()?;
    search.most_alike()?;
    let (pairs, used) = (search.pairs, search.used);
    let mut joined = Vec::with_capacity(changes.len());
    for (at, change) in changes.iter().enumerate() {
        match pairs.get(&at) {
            Some((source, score)) => joined.push(Change {
                old: changes.get(*source).and_then(|change| change.old.clone()),
                new: change.new.clone(),
                similarity: Some(u8::try_from(score * 100 / MAX).unwrap_or(100)),
            }),
            None if used.contains(&at) => {}
            None => joined.push(change.clone()),
        }
    }
    Ok(joined)
}

struct Search<'a> {
    store: &'a Store,
    stop: &'a dyn Stop,
    changes: &'a [Change],
    sources: Vec<usize>,
    targets: Vec<usize>,
    /// The source and the score of a target.
    pairs: HashMap<usize, (usize, u64)>,
    used: HashSet<usize>,
    measure: Measure,
    pieces: HashMap<Oid, Option<Pieces>>,
}

fn base(path: &[u8]) -> &[u8] {
    path.rsplit(|byte| *byte == b'/').next().unwrap_or(path)
}

impl Search<'_> {
    fn file(&self, at: usize) -> Option<&File> {
        let change = self.changes.get(at)?;
        change.new.as_ref().or(change.old.as_ref())
    }

    fn pair(&mut self, source: usize, target: usize, score: u64) {
        self.pairs.insert(target, (source, score));
        self.used.insert(source);
    }

    fn same_bytes(&mut self) {
        let mut by_id: HashMap<Oid, Vec<usize>> = HashMap::new();
        for at in &self.sources {
            if let Some(file) = self.file(*at) {
                by_id.entry(file.id).or_default().push(*at);
            }
        }
        for target in self.targets.clone() {
            let Some(file) = self.file(target) else { continue };
            let same = by_id.get(&file.id).map(Vec::as_slice).unwrap_or_default();
            let free = same.iter().take(SAME).filter(|at| !self.used.contains(at));
            let fits = free.filter(|at| {
                self.file(**at).is_some_and(|source| {
                    let regular = |mode: u32| mode::same_kind(mode, mode::FILE);
                    source.mode == file.mode || regular(source.mode) && regular(file.mode)
                })
            });
            let mut best = None;
            for at in fits {
                let named = self
                    .file(*at)
                    .is_some_and(|source| base(&source.path) == base(&file.path));
                if named {
                    best = Some(*at);
                    break;
                }
                best = best.or(Some(*at));
            }
            if let Some(source) = best.filter(|_| !file.id.is_zero()) {
                self.pair(source, target, MAX);
            }
        }
    }

    fn free_sources(&self) -> Vec<usize> {
        let free = self.sources.iter().filter(|at| !self.used.contains(at));
        free.copied().collect()
    }

    fn free_targets(&self) -> Vec<usize> {
        let free = self.targets.iter().filter(|at| !self.pairs.contains_key(at));
        free.copied().collect()
    }

    fn same_names(&mut self) -> Result<(), VcsError> {
        let unique = |files: &[usize]| {
            let mut names: HashMap<Vec<u8>, Option<usize>> = HashMap::new();
            for at in files {
                if let Some(file) = self.file(*at) {
                    let slot = names.entry(base(&file.path).to_vec());
                    slot.and_modify(|one| *one = None).or_insert(Some(*at));
                }
            }
            names
        };
        let sources = self.free_sources();
        let (by_name, targets) = (unique(&sources), unique(&self.free_targets()));
        for source in sources {
            let Some(name) = self.file(source).map(|file| base(&file.path).to_vec()) else {
                continue;
            };
            if by_name.get(&name) != Some(&Some(source)) {
                continue;
            }
            let Some(Some(target)) = targets.get(&name).copied() else {
                continue;
            };
            if let Some(score) = self.score(source, target, SAME_NAME)? {
                self.pair(source, target, score);
            }
        }
        Ok(())
    }

    fn most_alike(&mut self) -> Result<(), VcsError> {
        let (sources, targets) = (self.free_sources(), self.free_targets());
        if sources.len().saturating_mul(targets.len()) > LIMIT * LIMIT {
            return Ok(());
        }
        let mut found = Vec::new();
        for target in targets {
            let mut best: Vec<(u64, bool, usize)> = Vec::with_capacity(BEST + 1);
            for source in &sources {
                let Some(score) = self.score(*source, target, RENAME)? else {
                    continue;
                };
                let named = self
                    .file(*source)
                    .zip(self.file(target))
                    .is_some_and(|(one, other)| base(&one.path) == base(&other.path));
                let at = best.partition_point(|(other, same, _)| (*other, *same) >= (score, named));
                best.insert(at, (score, named, *source));
                best.truncate(BEST);
            }
            found.extend(
                best.into_iter()
                    .map(|(score, named, source)| (score, named, source, target)),
            );
        }
        found.sort_by_key(|(score, named, ..)| std::cmp::Reverse((*score, *named)));
        for (score, _, source, target) in found {
            if !self.used.contains(&source) && !self.pairs.contains_key(&target) {
                self.pair(source, target, score);
            }
        }
        Ok(())
    }

    /// The score, when it is at least `least`.
    fn score(&mut self, source: usize, target: usize, least: u64) -> Result<Option<u64>, VcsError> {
        self.stop.check()?;
        let Some((old, new)) = self.file(source).zip(self.file(target)) else {
            return Ok(None);
        };
        let regular = mode::same_kind(old.mode, mode::FILE) && mode::same_kind(new.mode, mode::FILE);
        let (old, new) = (old.id, new.id);
        if !regular {
            return Ok(None);
        }
        let size = |id: Oid| self.store.size(id).ok().filter(|size| *size <= MAX_BYTES);
        let Some((one, other)) = size(old).zip(size(new)) else {
            return Ok(None);
        };
        if too_different(one as u64, other as u64, least) {
            return Ok(None);
        }
        for id in [old, new] {
            if !self.pieces.contains_key(&id) {
                let pieces = self.store.object(id, |_, data| self.measure.pieces(data)).ok();
                self.pieces.insert(id, pieces);
            }
        }
        let pieces = |id: &Oid| self.pieces.get(id).and_then(Option::as_ref);
        let scored = pieces(&old).zip(pieces(&new)).map(|(old, new)| score(old, new));
        Ok(scored.filter(|score| *score >= least))
    }
}
