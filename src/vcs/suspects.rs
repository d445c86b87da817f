//! Versions of a file that may have written lines, and the lines that each is suspected of. The newest commit
//! is looked at first: until then its children add to what it is suspected of.

use std::collections::HashMap;
use std::rc::Rc;

use git2::Oid;

use crate::vcs::by_time::ByTime;
use crate::vcs::error::VcsError;
use crate::vcs::history::Ix;
use crate::vcs::line_match::Span;
use crate::vcs::store::Store;

/// A version of the file: in a commit, at a path.
pub struct Origin {
    commit: Ix,
    /// The path.
    pub path: Rc<[u8]>,
    /// The content.
    pub blob: Oid,
    /// What it is suspected of.
    pub spans: Vec<Span>,
}

/// All versions of one blame.
pub struct Suspects<'a> {
    store: &'a Store,
    origins: Vec<Origin>,
    numbers: HashMap<(Ix, Rc<[u8]>), usize>,
    /// Versions that have lines, by commit; each such commit is queued.
    waiting: HashMap<Ix, Vec<usize>>,
    queue: ByTime,
}

impl<'a> Suspects<'a> {
    /// None yet.
    pub fn new(store: &'a Store) -> Self {
        Self {
            store,
            origins: Vec::new(),
            numbers: HashMap::new(),
            waiting: HashMap::new(),
            queue: ByTime::default(),
        }
    }

    /// The number of a version.
    pub fn number(&mut self, commit: Ix, path: &Rc<[u8]>, blob: Oid) -> usize {
        let origins = &mut self.origins;
        *self.numbers.entry((commit, Rc::clone(path))).or_insert_with(|| {
            origins.push(Origin {
                commit,
                path: Rc::clone(path),
                blob,
                spans: Vec::new(),
            });
            origins.len() - 1
        })
    }

    /// The content of the version with this number.
    pub fn blob(&self, number: usize) -> Option<Oid> {
        self.origins.get(number).map(|origin| origin.blob)
    }

    /// Makes a version suspected of lines.
    ///
    /// # Errors
    /// A missing object.
    pub fn hand(&mut self, number: usize, spans: Vec<Span>) -> Result<(), VcsError> {
        let Some(origin) = self.origins.get_mut(number) else {
            return Ok(());
        };
        if spans.is_empty() {
            return Ok(());
        }
        let (commit, first) = (origin.commit, origin.spans.is_empty());
        origin.spans.extend(spans);
        if first {
            let waiting = self.waiting.entry(commit).or_default();
            waiting.push(number);
            if waiting.len() == 1 {
                let time = self.store.history().borrow_mut().load(self.store, commit)?.time;
                self.queue.push(time, commit);
            }
        }
        Ok(())
    }

    /// The next commit with its versions, whose lines are taken out and sorted by where they stand there.
    pub fn next_commit(&mut self) -> Option<(Ix, Vec<Origin>)> {
        let commit = self.queue.pop()?;
        let numbers = self.waiting.remove(&commit).unwrap_or_default();
        let taken = numbers.into_iter().filter_map(|number| {
            let origin = self.origins.get_mut(number)?;
            let mut spans = std::mem::take(&mut origin.spans);
            spans.sort_unstable_by_key(|span| span.there);
            Some(Origin {
                commit,
                path: Rc::clone(&origin.path),
                blob: origin.blob,
                spans,
            })
        });
        Some((commit, taken.collect()))
    }
}
