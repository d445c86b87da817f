//! Commits in git's order: the newest first that were reached, with the side branches that did not touch a path
//! left out as git does.

use git2::Oid;

use crate::vcs::by_time::ByTime;
use crate::vcs::error::{Stop, VcsError};
use crate::vcs::history::Ix;
use crate::vcs::store::Store;
use crate::vcs::trail::Trails;

/// Commits that are looked at after everything left seems to be excluded: clocks differ.
const SLOP: usize = 5;

const SEEN: u8 = 1;
const EXCLUDED: u8 = 2;
const QUEUED: u8 = 4;
/// It changes nothing at the path.
const SAME: u8 = 8;
/// It was named as an end: excluded, and yet a parent to compare with.
const END: u8 = 16;

/// What to walk over.
pub struct Query<'a> {
    /// From here down.
    pub tips: Vec<Oid>,
    /// Not these, nor what is below them.
    pub excluded: Vec<Oid>,
    /// Only commits that change this file or folder; empty: all.
    pub path: &'a [u8],
    /// Not older than this, in seconds since 1970.
    pub since: Option<i64>,
}

/// A walk; each commit is read when it is asked for.
pub struct Walk<'a> {
    store: &'a Store,
    stop: &'a dyn Stop,
    trails: Option<Trails>,
    since: Option<i64>,
    queue: ByTime,
    flags: Vec<u8>,
    /// Queued commits that are not excluded.
    wanted: usize,
    /// With exclusions the whole walk is made first.
    limited: Option<std::vec::IntoIter<Ix>>,
}

impl<'a> Walk<'a> {
    /// Begins.
    ///
    /// # Errors
    /// A missing object.
    pub fn new(store: &'a Store, query: &Query<'_>, stop: &'a dyn Stop) -> Result<Self, VcsError> {
        let mut walk = Self {
            store,
            stop,
            trails: (!query.path.is_empty()).then(|| Trails::new(query.path)),
            since: query.since,
            queue: ByTime::default(),
            flags: Vec::new(),
            wanted: 0,
            limited: None,
        };
        for (ids, flag) in [(&query.excluded, EXCLUDED), (&query.tips, 0)] {
            for id in ids {
                let ix = store.history().borrow_mut().number(*id);
                if flag == EXCLUDED {
                    walk.set(ix, END);
                }
                walk.reach(ix, flag)?;
            }
        }
        if !query.excluded.is_empty() {
            walk.limited = Some(walk.limit()?.into_iter());
        }
        Ok(walk)
    }

    /// The next commit.
    ///
    /// # Errors
    /// A missing object, or the stop.
    pub fn step(&mut self) -> Result<Option<Ix>, VcsError> {
        if let Some(limited) = &mut self.limited {
            return Ok(limited.next());
        }
        while let Some(ix) = self.pop() {
            let old = self.time(ix)? < self.since.unwrap_or(i64::MIN);
            if old {
                continue;
            }
            self.expand(ix)?;
            if self.flag(ix) & SAME == 0 {
                return Ok(Some(ix));
            }
        }
        Ok(None)
    }

    fn flag(&self, ix: Ix) -> u8 {
        self.flags.get(ix.at()).copied().unwrap_or(0)
    }

    fn set(&mut self, ix: Ix, flag: u8) {
        if self.flags.len() <= ix.at() {
            self.flags.resize(ix.at() + 1, 0);
        }
        if let Some(flags) = self.flags.get_mut(ix.at()) {
            *flags |= flag;
        }
    }

    fn time(&self, ix: Ix) -> Result<i64, VcsError> {
        Ok(self.store.history().borrow_mut().load(self.store, ix)?.time)
    }

    /// Queues a commit once; marks it, and all below it that was reached, where it is excluded.
    fn reach(&mut self, ix: Ix, flag: u8) -> Result<(), VcsError> {
        if flag & EXCLUDED != 0 {
            self.exclude(ix)?;
        }
        if self.flag(ix) & SEEN == 0 {
            self.set(ix, SEEN | QUEUED);
            if self.flag(ix) & EXCLUDED == 0 {
                self.wanted += 1;
            }
            let time = self.time(ix)?;
            self.queue.push(time, ix);
        }
        Ok(())
    }

    fn exclude(&mut self, ix: Ix) -> Result<(), VcsError> {
        let mut open = vec![ix];
        while let Some(ix) = open.pop() {
            let flag = self.flag(ix);
            if flag & EXCLUDED != 0 {
                continue;
            }
            self.set(ix, EXCLUDED);
            if flag & QUEUED != 0 {
                self.wanted -= 1;
            }
            // What was walked over already stands in the result; its parents do too.
            if flag & SEEN != 0 && flag & QUEUED == 0 {
                open.extend(self.parents(ix)?);
            }
        }
        Ok(())
    }

    fn parents(&self, ix: Ix) -> Result<Vec<Ix>, VcsError> {
        let mut history = self.store.history().borrow_mut();
        let node = history.load(self.store, ix)?;
        Ok(history.parents(&node).to_vec())
    }

    fn pop(&mut self) -> Option<Ix> {
        let ix = self.queue.pop()?;
        if let Some(flags) = self.flags.get_mut(ix.at()) {
            *flags &= !QUEUED;
        }
        if self.flag(ix) & EXCLUDED == 0 {
            self.wanted -= 1;
        }
        Some(ix)
    }

    /// Queues the parents of a commit: all, or the one that has the same at the path.
    fn expand(&mut self, ix: Ix) -> Result<(), VcsError> {
        self.stop.check()?;
        let parents = self.parents(ix)?;
        let flag = self.flag(ix) & EXCLUDED;
        let only = match self.trails.take() {
            Some(mut trails) if flag == 0 => {
                let only = self.compare(&mut trails, ix, &parents);
                trails.forget(ix);
                self.trails = Some(trails);
                only?
            }
            trails => {
                self.trails = trails;
                None
            }
        };
        match only {
            Some(parent) => self.reach(parent, 0),
            None => parents
                .into_iter()
                .try_for_each(|parent| self.reach(parent, flag)),
        }
    }

    /// Marks a commit that changes nothing at the path. The parent that has the same there, when only that one is
    /// to be followed.
    fn compare(&mut self, trails: &mut Trails, ix: Ix, parents: &[Ix]) -> Result<Option<Ix>, VcsError> {
        let (store, history) = (self.store, self.store.history());
        let node = history.borrow_mut().load(store, ix)?;
        let (mut relevant, mut relevant_change, mut any_change) = (false, false, false);
        for (at, parent) in parents.iter().enumerate() {
            let excluded = self.flag(*parent) & (EXCLUDED | END) == EXCLUDED;
            relevant |= !excluded;
            let same = if at == 0 && trails.surely_same(&history.borrow(), ix, *parent) {
                true
            } else {
                let above = history.borrow_mut().load(store, *parent)?;
                above.tree == node.tree
                    || trails.at(store, ix, &node)? == trails.at_parent(store, ix, *parent, &above)?
            };
            if same && !excluded {
                self.set(ix, SAME);
                return Ok(Some(*parent));
            }
            if !same {
                any_change = true;
                relevant_change |= !excluded;
            }
        }
        let changed = if parents.is_empty() {
            trails.at(store, ix, &node)?.is_some()
        } else if relevant {
            relevant_change
        } else {
            any_change
        };
        if !changed {
            self.set(ix, SAME);
        }
        Ok(None)
    }

    /// All commits that are not excluded.
    fn limit(&mut self) -> Result<Vec<Ix>, VcsError> {
        let (mut found, mut date, mut slop) = (Vec::new(), i64::MAX, SLOP);
        while let Some(ix) = self.pop() {
            let time = self.time(ix)?;
            if time < self.since.unwrap_or(i64::MIN) {
                self.exclude(ix)?;
            }
            self.expand(ix)?;
            if self.flag(ix) & EXCLUDED == 0 {
                date = time;
                found.push(ix);
                continue;
            }
            let Some(next) = self.queue.next_time() else {
                break;
            };
            slop = if date <= next || self.wanted > 0 {
                SLOP
            } else {
                slop - 1
            };
            if slop == 0 {
                break;
            }
        }
        found.retain(|ix| self.flag(*ix) & (EXCLUDED | SAME) == 0);
        Ok(found)
    }
}
