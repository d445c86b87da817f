//! Who wrote each line of a file: each commit on the way back hands the lines that it did not change to its
//! parents, as git does.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::rc::Rc;

use git2::Oid;

use crate::vcs::changes::between_trees;
use crate::vcs::error::{Stop, VcsError};
use crate::vcs::history::{Ix, Node};
use crate::vcs::line_match::{Span, hunks, split};
use crate::vcs::numbered::{Numbered, Numbers};
use crate::vcs::renames;
use crate::vcs::store::Store;
use crate::vcs::suspects::{Origin, Suspects};
use crate::vcs::trail::{Found, Trails};
use crate::vcs::tree::mode;

/// Contents that are kept: a commit's content was its child's parent's.
const KEPT: usize = 8;

/// Lines in a row with the same origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blamed {
    /// The first line, from 0.
    pub start: usize,
    /// How many.
    pub lines: usize,
    /// The commit; `None` for lines that were not committed.
    pub commit: Option<Oid>,
    /// The first line in the commit's version, from 0.
    pub original: usize,
    /// The path in the commit.
    pub path: Rc<[u8]>,
    /// The commit has no parents here (the first, or where a shallow clone ends).
    pub boundary: bool,
}

/// A file by its path and blob.
pub type OldFile = (Vec<u8>, Oid);

/// A content that was not committed: it lies above these commits.
pub struct Uncommitted {
    /// Its blob, lent to the store.
    pub blob: Oid,
    /// Parents that the next commit would have, each with the path and blob there; `None` where it has none.
    pub parents: Vec<(Oid, Option<OldFile>)>,
}

/// What to blame.
pub enum From {
    /// The file at `path` in a commit.
    Commit(Oid),
    /// A content that was not committed.
    Work(Uncommitted),
}

/// Blames the lines `first..end` (from 0) of the file at `path`; `end` is cut to the file's. The lines come in
/// order.
///
/// # Errors
/// [`VcsError::Kind`] when the commit has no such file, a missing object, the stop.
pub fn blame(
    store: &Store,
    from: From,
    path: &[u8],
    lines: std::ops::Range<usize>,
    stop: &dyn Stop,
) -> Result<Vec<Blamed>, VcsError> {
    let mut blame = Blame {
        store,
        stop,
        suspects: Suspects::new(store),
        trails: HashMap::new(),
        contents: VecDeque::new(),
        numbers: Numbers::default(),
        done: Vec::new(),
    };
    let path: Rc<[u8]> = path.into();
    match from {
        From::Commit(commit) => {
            let ix = store.history().borrow_mut().number(commit);
            let node = store.history().borrow_mut().load(store, ix)?;
            let Some(blob) = file(store.entry(node.tree, &path)?) else {
                return Err(VcsError::Kind(format!(
                    "{} is not a file.",
                    crate::vcs::quote::path(&path)
                )));
            };
            let all = blame.all(blob, lines)?;
            let origin = blame.suspects.number(ix, &path, blob);
            blame.suspects.hand(origin, all)?;
        }
        From::Work(work) => {
            let mut left = blame.all(work.blob, lines)?;
            for (parent, there) in work.parents {
                if let Some((old, blob)) = there {
                    let ix = store.history().borrow_mut().number(parent);
                    let origin = blame.suspects.number(ix, &old.into(), blob);
                    left = blame.pass(&left, work.blob, origin)?;
                }
            }
            blame.done.extend(left.into_iter().map(|span| Blamed {
                start: span.start,
                lines: span.lines,
                commit: None,
                original: span.there,
                path: Rc::clone(&path),
                boundary: false,
            }));
        }
    }
    while let Some((ix, origins)) = blame.suspects.next_commit() {
        stop.check()?;
        blame.commit(ix, origins)?;
    }
    Ok(blame.in_order())
}

fn file(found: Found) -> Option<Oid> {
    found
        .filter(|(mode, _)| mode::same_kind(*mode, mode::FILE))
        .map(|(_, id)| id)
}

/// Path and blob.
type Version = (Rc<[u8]>, Oid);

struct Blame<'a> {
    store: &'a Store,
    stop: &'a dyn Stop,
    suspects: Suspects<'a>,
    trails: HashMap<Rc<[u8]>, Trails>,
    contents: VecDeque<(Oid, Rc<Numbered>)>,
    numbers: Numbers,
    done: Vec<Blamed>,
}

impl Blame<'_> {
    fn all(&mut self, blob: Oid, lines: std::ops::Range<usize>) -> Result<Vec<Span>, VcsError> {
        let count = self.content(blob)?.lines();
        let (start, end) = (lines.start.min(count), lines.end.min(count));
        let span = Span {
            start,
            lines: end.saturating_sub(start),
            there: start,
        };
        Ok(if span.lines > 0 { vec![span] } else { Vec::new() })
    }

    fn content(&mut self, blob: Oid) -> Result<Rc<Numbered>, VcsError> {
        if let Some((_, content)) = self.contents.iter().find(|(id, _)| *id == blob) {
            return Ok(Rc::clone(content));
        }
        let content = Rc::new(Numbered::new(self.store.blob(blob)?, &mut self.numbers));
        self.contents.truncate(KEPT - 1);
        self.contents.push_front((blob, Rc::clone(&content)));
        Ok(content)
    }

    fn commit(&mut self, ix: Ix, origins: Vec<Origin>) -> Result<(), VcsError> {
        let node = self.store.history().borrow_mut().load(self.store, ix)?;
        let parents = self.store.history().borrow().parents(&node).to_vec();
        for origin in origins {
            let Origin {
                path, blob, spans, ..
            } = origin;
            let left = self.version(ix, &node, &parents, &path, blob, spans)?;
            if let Some(trails) = self.trails.get_mut(&path) {
                trails.forget(ix);
            }
            let id = self.store.history().borrow().id(ix);
            self.done.extend(left.into_iter().map(|span| Blamed {
                start: span.start,
                lines: span.lines,
                commit: Some(id),
                original: span.there,
                path: Rc::clone(&path),
                boundary: parents.is_empty(),
            }));
        }
        Ok(())
    }

    /// Hands the lines of a version to the parents' versions. What none of them has is left.
    fn version(
        &mut self,
        ix: Ix,
        node: &Node,
        parents: &[Ix],
        path: &Rc<[u8]>,
        blob: Oid,
        mut spans: Vec<Span>,
    ) -> Result<Vec<Span>, VcsError> {
        let mut above: Vec<Option<Version>> = vec![None; parents.len()];
        for renamed in [false, true] {
            for (at, parent) in parents.iter().enumerate() {
                if above.get(at).is_some_and(Option::is_some) {
                    continue;
                }
                let found = if renamed {
                    self.renamed(node, *parent, path)?
                } else {
                    let same = self.same_path(ix, node, *parent, at == 0, path, blob)?;
                    same.map(|blob| (Rc::clone(path), blob))
                };
                let Some((old, there)) = found else { continue };
                if there == blob {
                    let origin = self.suspects.number(*parent, &old, there);
                    self.suspects.hand(origin, spans)?;
                    return Ok(Vec::new());
                }
                let known = above.iter().take(at).flatten().any(|(_, other)| *other == there);
                if let (false, Some(slot)) = (known, above.get_mut(at)) {
                    *slot = Some((old, there));
                }
            }
        }
        for (parent, found) in parents.iter().zip(above) {
            let Some((old, there)) = found else { continue };
            if spans.is_empty() {
                break;
            }
            let origin = self.suspects.number(*parent, &old, there);
            spans = self.pass(&spans, blob, origin)?;
        }
        Ok(spans)
    }

    /// The file at the same path in a parent.
    fn same_path(
        &mut self,
        ix: Ix,
        node: &Node,
        parent: Ix,
        first: bool,
        path: &Rc<[u8]>,
        blob: Oid,
    ) -> Result<Option<Oid>, VcsError> {
        let (store, history) = (self.store, self.store.history());
        let trails = self
            .trails
            .entry(Rc::clone(path))
            .or_insert_with(|| Trails::new(path));
        if first && trails.surely_same(&history.borrow(), ix, parent) {
            return Ok(Some(blob));
        }
        let above = history.borrow_mut().load(store, parent)?;
        trails.at(store, ix, node)?;
        Ok(file(trails.at_parent(store, ix, parent, &above)?))
    }

    /// The file under another name in a parent that has none of this name.
    fn renamed(&mut self, node: &Node, parent: Ix, path: &[u8]) -> Result<Option<Version>, VcsError> {
        let above = self.store.history().borrow_mut().load(self.store, parent)?;
        if self.store.entry(above.tree, path)?.is_some() {
            return Ok(None);
        }
        let changes = between_trees(self.store, Some(above.tree), Some(node.tree), b"", self.stop)?;
        let joined = renames::join(self.store, changes, Some(path), self.stop)?;
        let change = joined.into_iter().find(|change| change.path() == path);
        let old = change.and_then(|change| change.old);
        Ok(old.map(|old| (old.path.into(), old.id)))
    }

    /// Hands to `origin` the lines that it has, and gives the others.
    fn pass(&mut self, spans: &[Span], blob: Oid, origin: usize) -> Result<Vec<Span>, VcsError> {
        let Some(there) = self.suspects.blob(origin) else {
            return Ok(spans.to_vec());
        };
        let (old, new) = (self.content(there)?, self.content(blob)?);
        let hunks = hunks(&old, &new)?;
        let (mut passed, mut left) = (Vec::new(), Vec::new());
        for span in spans {
            split(*span, &hunks, &mut passed, &mut left);
        }
        self.suspects.hand(origin, passed)?;
        Ok(left)
    }

    /// The result: neighbours with the same origin joined.
    fn in_order(self) -> Vec<Blamed> {
        let by_line: BTreeMap<usize, Blamed> = self.done.into_iter().map(|one| (one.start, one)).collect();
        let mut joined: Vec<Blamed> = Vec::with_capacity(by_line.len());
        for one in by_line.into_values() {
            match joined.last_mut() {
                Some(last)
                    if last.commit == one.commit
                        && last.path == one.path
                        && last.start + last.lines == one.start
                        && last.original + last.lines == one.original =>
                {
                    last.lines += one.lines;
                }
                _ => joined.push(one),
            }
        }
        joined
    }
}
