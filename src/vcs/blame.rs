//! Who wrote each line of a file: each commit on the way back hands the lines that it did not change to its
//! parents, as git does.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap, VecDeque};
use std::rc::Rc;

use git2::{DiffOptions, Oid, Patch};

use crate::vcs::changes::between_trees;
use crate::vcs::error::{Stop, VcsError};
use crate::vcs::history::{Ix, Node};
use crate::vcs::renames;
use crate::vcs::store::Store;
use crate::vcs::trail::{Found, Trails};
use crate::vcs::tree::mode;

/// Contents that are kept: a commit's content was its child's parent's.
const KEPT: usize = 8;
/// Equal ends of two contents are cut off in pieces of this size, as git does: what is cut changes which of
/// several equal lines counts as new.
const TAIL: usize = 1024;

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
        origins: Vec::new(),
        numbers: HashMap::new(),
        suspects: HashMap::new(),
        queue: BinaryHeap::new(),
        pushed: 0,
        trails: HashMap::new(),
        contents: VecDeque::new(),
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
            let origin = blame.origin(ix, &path, blob);
            blame.hand(origin, all)?;
        }
        From::Work(work) => {
            let mut left = blame.all(work.blob, lines)?;
            for (parent, there) in work.parents {
                if let Some((old, blob)) = there {
                    let ix = store.history().borrow_mut().number(parent);
                    let origin = blame.origin(ix, &old.into(), blob);
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
    while let Some((_, _, ix)) = blame.queue.pop() {
        stop.check()?;
        blame.commit(ix)?;
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

/// Lines that a version is suspected of.
#[derive(Clone, Copy, Debug)]
struct Span {
    /// The first line in the file that is blamed.
    start: usize,
    lines: usize,
    /// The first line in the version.
    there: usize,
}

/// A version of the file: in a commit, at a path.
struct Origin {
    commit: Ix,
    path: Rc<[u8]>,
    blob: Oid,
    spans: Vec<Span>,
}

struct Blame<'a> {
    store: &'a Store,
    stop: &'a dyn Stop,
    origins: Vec<Origin>,
    numbers: HashMap<(Ix, Rc<[u8]>), usize>,
    /// Versions that have lines, by commit; each such commit is queued.
    suspects: HashMap<Ix, Vec<usize>>,
    queue: BinaryHeap<(i64, Reverse<usize>, Ix)>,
    pushed: usize,
    trails: HashMap<Rc<[u8]>, Trails>,
    contents: VecDeque<(Oid, Rc<Vec<u8>>)>,
    done: Vec<Blamed>,
}

impl Blame<'_> {
    fn all(&mut self, blob: Oid, lines: std::ops::Range<usize>) -> Result<Vec<Span>, VcsError> {
        let count = count_lines(&self.content(blob)?);
        let (start, end) = (lines.start.min(count), lines.end.min(count));
        let span = Span {
            start,
            lines: end.saturating_sub(start),
            there: start,
        };
        Ok(if span.lines > 0 { vec![span] } else { Vec::new() })
    }

    fn content(&mut self, blob: Oid) -> Result<Rc<Vec<u8>>, VcsError> {
        if let Some((_, content)) = self.contents.iter().find(|(id, _)| *id == blob) {
            return Ok(Rc::clone(content));
        }
        let content = Rc::new(self.store.blob(blob)?);
        self.contents.truncate(KEPT - 1);
        self.contents.push_front((blob, Rc::clone(&content)));
        Ok(content)
    }

    fn origin(&mut self, commit: Ix, path: &Rc<[u8]>, blob: Oid) -> usize {
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

    /// Makes a version suspected of lines.
    fn hand(&mut self, origin: usize, spans: Vec<Span>) -> Result<(), VcsError> {
        let Some(found) = self.origins.get_mut(origin) else {
            return Ok(());
        };
        if spans.is_empty() {
            return Ok(());
        }
        let commit = found.commit;
        let first = found.spans.is_empty();
        found.spans.extend(spans);
        if first {
            let waiting = self.suspects.entry(commit).or_default();
            waiting.push(origin);
            if waiting.len() == 1 {
                let time = self.store.history().borrow_mut().load(self.store, commit)?.time;
                self.queue.push((time, Reverse(self.pushed), commit));
                self.pushed += 1;
            }
        }
        Ok(())
    }

    fn commit(&mut self, ix: Ix) -> Result<(), VcsError> {
        let origins = self.suspects.remove(&ix).unwrap_or_default();
        let node = self.store.history().borrow_mut().load(self.store, ix)?;
        let parents = self.store.history().borrow().parents(&node).to_vec();
        for origin in origins {
            let Some(found) = self.origins.get_mut(origin) else {
                continue;
            };
            let mut spans = std::mem::take(&mut found.spans);
            let (path, blob) = (Rc::clone(&found.path), found.blob);
            spans.sort_unstable_by_key(|span| span.there);
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
                    let origin = self.origin(*parent, &old, there);
                    self.hand(origin, spans)?;
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
            let origin = self.origin(*parent, &old, there);
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
        let Some(there) = self.origins.get(origin).map(|origin| origin.blob) else {
            return Ok(spans.to_vec());
        };
        let (old, new) = (self.content(there)?, self.content(blob)?);
        let hunks = hunks(&old, &new)?;
        let (mut passed, mut left) = (Vec::new(), Vec::new());
        for span in spans {
            split(*span, &hunks, &mut passed, &mut left);
        }
        self.hand(origin, passed)?;
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

/// How many lines a content has; the last may lack its end.
pub fn count_lines(content: &[u8]) -> usize {
    let ends = content.iter().filter(|byte| **byte == b'\n').count();
    ends + usize::from(content.last().is_some_and(|byte| *byte != b'\n'))
}

/// Lines that differ: from 0, in the old content and in the new.
#[derive(Clone, Copy, Debug)]
struct Hunk {
    old: usize,
    old_lines: usize,
    new: usize,
    new_lines: usize,
}

fn hunks(old: &[u8], new: &[u8]) -> Result<Vec<Hunk>, VcsError> {
    let tail = common_tail(old, new);
    let cut = |content: &'_ [u8]| content.len() - tail;
    let (old, new) = (
        old.get(..cut(old)).unwrap_or(old),
        new.get(..cut(new)).unwrap_or(new),
    );
    let mut options = DiffOptions::new();
    options.context_lines(0).indent_heuristic(true).force_text(true);
    let patch = Patch::from_buffers(old, None, new, None, Some(&mut options))?;
    // Of a side without lines the line before is given.
    let start = |line: u32, lines: u32| (line - u32::from(lines > 0 && line > 0)) as usize;
    (0..patch.num_hunks())
        .map(|at| {
            let (hunk, _) = patch.hunk(at)?;
            Ok(Hunk {
                old: start(hunk.old_start(), hunk.old_lines()),
                old_lines: hunk.old_lines() as usize,
                new: start(hunk.new_start(), hunk.new_lines()),
                new_lines: hunk.new_lines() as usize,
            })
        })
        .collect()
}

/// How many bytes at the end of both are the same and can be left out: whole lines.
fn common_tail(old: &[u8], new: &[u8]) -> usize {
    let pieces = old.rchunks_exact(TAIL).zip(new.rchunks_exact(TAIL));
    let same = pieces.take_while(|(one, other)| one == other).count() * TAIL;
    // The line in which the sides part is given back.
    let from = old.len() - same;
    let rest = old.get(from..).unwrap_or_default();
    let back = rest
        .iter()
        .position(|byte| *byte == b'\n')
        .map_or(rest.len(), |at| at + 1);
    same - back
}

/// Splits a span at the hunks: what lies between them is the same in the old content.
fn split(span: Span, hunks: &[Hunk], passed: &mut Vec<Span>, left: &mut Vec<Span>) {
    let end = span.there + span.lines;
    let mut here = span.there;
    let piece = |from: usize, to: usize, there: usize| Span {
        start: span.start + (from - span.there),
        lines: to - from,
        there,
    };
    let first = hunks.partition_point(|hunk| hunk.new + hunk.new_lines <= here);
    // How far the old content's lines are from the new one's, before the next hunk.
    let mut shift = match first.checked_sub(1).and_then(|before| hunks.get(before)) {
        Some(hunk) => (hunk.new + hunk.new_lines, hunk.old + hunk.old_lines),
        None => (0, 0),
    };
    for hunk in hunks.get(first..).unwrap_or_default() {
        let upto = hunk.new.min(end);
        if here < upto {
            passed.push(piece(here, upto, here - shift.0 + shift.1));
            here = upto;
        }
        let over = (hunk.new + hunk.new_lines).min(end);
        if here < over {
            left.push(piece(here, over, here));
            here = over;
        }
        shift = (hunk.new + hunk.new_lines, hunk.old + hunk.old_lines);
        if here >= end {
            return;
        }
    }
    if here < end {
        passed.push(piece(here, end, here - shift.0 + shift.1));
    }
}
