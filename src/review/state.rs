//! Base, current text, and the regions in which they differ: one moment of a file under review.
//!
//! Invariants (checked by [`State::problem`] in the tests):
//! 1. regions are ascending, in bounds, and at least one unchanged line lies between two of them;
//! 2. no region begins or ends with a line that both sides share, and none is empty;
//! 3. outside the regions the two sides have the same lines in the same order;
//! 4. `tail` is set exactly when the sides differ in something that no region shows: the final newline,
//!    or the existence of an empty file.

use std::ops::Range;

use crate::protocol::change::LineEdit;
use crate::protocol::ids::HunkId;
use crate::review::diff::{self, WHILE_TYPING};
use crate::review::region::{HunkIds, Region, shifted};
use crate::review::side::Side;

/// Above this many lines (both sides of a region together) an edit inside the region does not diff it
/// again: typing must stay fast in a rewritten file.
const REDIFF_LINES: usize = 1_000;

/// One moment of a file under review. A clone shares the texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct State {
    /// What the person has agreed to.
    pub(super) base: Side,
    /// What is there.
    pub(super) current: Side,
    /// Where the lines differ.
    pub(super) regions: Vec<Region>,
    /// The hunk for a difference that no line shows.
    pub(super) tail: Option<HunkId>,
    /// Grows with every change of the hunks, but for their line numbers.
    pub(super) revision: u64,
}

impl State {
    /// A file with nothing to review.
    pub(super) fn clean(side: Side) -> Self {
        Self {
            base: side.clone(),
            current: side,
            regions: Vec::new(),
            tail: None,
            revision: 0,
        }
    }

    /// A file that is gone, with nothing to review.
    pub(super) fn gone(revision: u64) -> Self {
        Self {
            revision,
            ..Self::clean(Side::read(None, false))
        }
    }

    /// Two texts of a file, compared.
    pub(super) fn compared(base: Side, current: Side, ids: &mut HunkIds) -> Self {
        let mut regions: Vec<Region> = Vec::new();
        let mut moved = 0;
        for edit in diff::between(&base.lines, &current.lines, diff::ON_RELOAD) {
            let start = edit.start.saturating_add_signed(moved);
            moved += edit.lines.len() as isize - (edit.end - edit.start) as isize;
            regions.push(Region {
                id: ids.fresh(),
                base: edit.start..edit.end,
                current: start..start + edit.lines.len(),
                touched: false,
            });
        }
        let mut state = Self {
            base,
            current,
            regions,
            tail: None,
            revision: 0,
        };
        state.settle_tail(ids);
        state
    }

    /// Whether there is nothing to review.
    pub(super) fn is_settled(&self) -> bool {
        self.regions.is_empty() && self.tail.is_none()
    }

    /// The number of regions that lie wholly before an edit that begins at `start`.
    ///
    /// Text that is put where lines were deleted counts as standing after the deleted ones.
    pub(super) fn regions_before(&self, start: usize) -> usize {
        self.regions.partition_point(|region| region.current.end <= start)
    }

    /// The base line for the current line `at`, which is in no region; `before` as of [`Self::regions_before`].
    pub(super) fn base_line(&self, at: usize, before: usize) -> usize {
        match before.checked_sub(1).and_then(|last| self.regions.get(last)) {
            Some(region) => region.base.end + (at - region.current.end),
            None => at,
        }
    }

    /// Replaces current lines and moves the regions from `first_after` on.
    pub(super) fn splice_current(&mut self, range: Range<usize>, lines: &[String], first_after: usize) {
        let by = lines.len() as isize - range.len() as isize;
        self.current.lines.splice(range, lines);
        if by != 0 {
            for region in self.regions.iter_mut().skip(first_after) {
                region.current = shifted(&region.current, by);
            }
        }
    }

    /// Replaces base lines and moves the regions from `first_after` on.
    pub(super) fn splice_base(&mut self, range: Range<usize>, lines: &[String], first_after: usize) {
        let by = lines.len() as isize - range.len() as isize;
        self.base.lines.splice(range, lines);
        if by != 0 {
            for region in self.regions.iter_mut().skip(first_after) {
                region.base = shifted(&region.base, by);
            }
        }
    }

    /// Cuts what both sides share from the ends of `region`; `None` when nothing is left.
    pub(super) fn trimmed(&self, mut region: Region) -> Option<Region> {
        let (base, current) = (&self.base.lines, &self.current.lines);
        let start = base.common_start(region.base.clone(), current, region.current.clone());
        region.base.start += start;
        region.current.start += start;
        let end = base.common_end(region.base.clone(), current, region.current.clone());
        region.base.end -= end;
        region.current.end -= end;
        (!region.base.is_empty() || !region.current.is_empty()).then_some(region)
    }

    /// `region` cut down to what differs: none, one or several regions. Of `old`, the regions it was
    /// made from, each passes its id to the first new one that covers some of the same base.
    pub(super) fn narrowed(&self, region: Region, old: &[Region], ids: &mut HunkIds) -> Vec<Region> {
        let Some(region) = self.trimmed(region) else {
            return Vec::new();
        };
        let mut pieces = vec![region.clone()];
        let size = region.base.len() + region.current.len();
        if !region.base.is_empty() && !region.current.is_empty() && size <= REDIFF_LINES {
            let base = self.base.lines.get(region.base.clone());
            let current = self.current.lines.get(region.current.clone());
            pieces = diff::changes(&base, &current, WHILE_TYPING)
                .into_iter()
                .map(|change| Region {
                    base: change.old.start + region.base.start..change.old.end + region.base.start,
                    current: change.new.start + region.current.start..change.new.end + region.current.start,
                    ..region.clone()
                })
                .collect();
        }
        let mut free: Vec<&Region> = old.iter().collect();
        for piece in &mut pieces {
            let met = |old: &&Region| old.base.start <= piece.base.end && piece.base.start <= old.base.end;
            piece.id = match free.iter().position(met) {
                Some(at) => free.remove(at).id,
                None => ids.fresh(),
            };
        }
        pieces
    }

    /// Joins regions that have come to touch.
    pub(super) fn join_touching(&mut self, ids: &mut HunkIds) {
        if !self
            .regions
            .windows(2)
            .any(|pair| pair[0].current.end == pair[1].current.start)
        {
            return;
        }
        self.revision += 1;
        let mut joined: Vec<Region> = Vec::with_capacity(self.regions.len());
        let mut group: Vec<Region> = Vec::new();
        for region in std::mem::take(&mut self.regions) {
            if group
                .last()
                .is_some_and(|last| last.current.end != region.current.start)
            {
                joined.extend(self.join(&group, ids));
                group.clear();
            }
            group.push(region);
        }
        joined.extend(self.join(&group, ids));
        self.regions = joined;
    }

    fn join(&self, group: &[Region], ids: &mut HunkIds) -> Vec<Region> {
        match group {
            [] => Vec::new(),
            [one] => vec![one.clone()],
            [first, .., last] => {
                let whole = Region {
                    id: first.id,
                    base: first.base.start..last.base.end,
                    current: first.current.start..last.current.end,
                    touched: group.iter().any(|region| region.touched),
                };
                self.narrowed(whole, group, ids)
            }
        }
    }

    /// Makes or removes the hunk for a difference that no region shows.
    pub(super) fn settle_tail(&mut self, ids: &mut HunkIds) {
        let differs = self.base.absent != self.current.absent || self.base.eol_differs(&self.current);
        let shown = self.regions.last().is_some_and(|region| self.reaches_end(region));
        let tail = match self.tail {
            Some(id) if differs && !shown => Some(id),
            None if differs && !shown => Some(ids.fresh()),
            _ => None,
        };
        self.revision += u64::from(tail != self.tail);
        self.tail = tail;
    }

    /// Whether `region` holds the last line of either side.
    pub(super) fn reaches_end(&self, region: &Region) -> bool {
        region.current.end == self.current.lines.len()
    }

    /// `edit` in the terms of [`Lines`], where an empty text has no lines; `None` when it does nothing.
    pub(super) fn canonical(&self, edit: &LineEdit) -> Option<LineEdit> {
        let lines = &self.current.lines;
        let blank = |lines: &[String]| matches!(lines, [one] if one.is_empty());
        if lines.is_empty() {
            let mut shown = vec![String::new()];
            let end = edit.end.min(1);
            shown.splice(edit.start.min(end)..end, edit.lines.iter().cloned());
            let new = if blank(&shown) { Vec::new() } else { shown };
            return (!new.is_empty()).then_some(LineEdit {
                start: 0,
                end: 0,
                lines: new,
            });
        }
        let end = edit.end.min(lines.len());
        let start = edit.start.min(end);
        let does = start != end || !edit.lines.is_empty();
        does.then(|| LineEdit {
            start,
            end,
            lines: edit.lines.clone(),
        })
    }

    /// The first broken invariant, in words.
    #[cfg(test)]
    pub(super) fn problem(&self) -> Option<String> {
        let (mut base_at, mut at) = (0, 0);
        for (index, region) in self.regions.iter().enumerate() {
            if region.base.start > region.base.end || region.current.start > region.current.end {
                return Some(format!("{region:?} runs backwards"));
            }
            if region.base.start < base_at || region.current.start < at {
                return Some(format!("{region:?} overlaps the one before"));
            }
            if index > 0 && region.current.start == at {
                return Some(format!("{region:?} touches the one before"));
            }
            if self.trimmed(region.clone()).as_ref() != Some(region) {
                return Some(format!("{region:?} holds a line that both share at an end"));
            }
            if !self.base.lines.same(
                base_at..region.base.start,
                &self.current.lines,
                at..region.current.start,
            ) {
                return Some(format!("the lines before {region:?} differ"));
            }
            (base_at, at) = (region.base.end, region.current.end);
        }
        if at > self.current.lines.len() || base_at > self.base.lines.len() {
            return Some("the last region is out of bounds".to_owned());
        }
        let rest = (base_at..self.base.lines.len(), at..self.current.lines.len());
        if !self.base.lines.same(rest.0, &self.current.lines, rest.1) {
            return Some("the lines after the last region differ".to_owned());
        }
        let mut again = self.clone();
        again.settle_tail(&mut HunkIds::default());
        (again.tail.is_some() != self.tail.is_some()).then(|| "the tail hunk is out of step".to_owned())
    }
}

/// The base with the regions put in is the current text: the law in one function.
#[cfg(test)]
pub(super) fn patched(state: &State) -> crate::review::lines::Lines {
    let mut lines = state.base.lines.clone();
    for region in state.regions.iter().rev() {
        lines.splice(
            region.base.clone(),
            &state.current.lines.get(region.current.clone()),
        );
    }
    lines
}
