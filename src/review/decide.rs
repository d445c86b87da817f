//! Accepting and rejecting.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;

use crate::protocol::change::LineEdit;
use crate::protocol::ids::HunkId;
use crate::review::hunk::{Existence, Hunk, Rejection, Selector};
use crate::review::region::{HunkIds, Region};
use crate::review::state::State;

/// A selected part of a region.
struct Part {
    index: usize,
    current: Range<usize>,
    whole: bool,
}

impl Part {
    fn whole(index: usize, region: &Region) -> Self {
        Self {
            index,
            current: region.current.clone(),
            whole: true,
        }
    }
}

impl State {
    /// The hunks in the order of their lines.
    pub(super) fn hunks(&self) -> Vec<Hunk> {
        let mut hunks: Vec<Hunk> = self.regions.iter().map(|region| self.hunk(region)).collect();
        hunks.extend(self.tail.map(|id| self.tail_hunk(id)));
        hunks
    }

    /// How many hunks there are.
    pub(super) fn count(&self) -> usize {
        self.regions.len() + usize::from(self.tail.is_some())
    }

    /// The base moves to the current text where `selector` says. Returns how many hunks it met.
    pub(super) fn accept(&mut self, selector: &Selector, ids: &mut HunkIds) -> usize {
        let parts = self.parts(selector);
        let tail = self.tail.is_some_and(|id| self.tail_selected(id, selector));
        self.accept_parts(parts, tail, ids)
    }

    /// The base moves to the current text in the regions that are `wanted`.
    pub(super) fn accept_regions(&mut self, wanted: impl Fn(&Self, &Region) -> bool, ids: &mut HunkIds) {
        let regions = self.regions.iter().enumerate();
        let wanted = regions.filter(|(_, region)| wanted(self, region));
        let parts = wanted.map(|(index, region)| Part::whole(index, region)).collect();
        self.accept_parts(parts, false, ids);
    }

    fn accept_parts(&mut self, parts: Vec<Part>, tail: bool, ids: &mut HunkIds) -> usize {
        let count = parts.len() + usize::from(tail);
        if count == 0 {
            return 0;
        }
        let mut end = tail;
        for part in parts.into_iter().rev() {
            end |= part.current.end == self.current.lines.len();
            self.accept_part(&part, ids);
        }
        if end {
            self.base.eol = self.current.eol;
        }
        self.base.absent = self.current.absent && self.regions.is_empty();
        self.revision += 1;
        self.settle(ids);
        count
    }

    /// The edits that put the base back where `selector` says; nothing changes here.
    pub(super) fn rejection(&self, selector: &Selector, crlf: bool) -> Rejection {
        let parts = self.parts(selector);
        let tail = self.tail.is_some_and(|id| self.tail_selected(id, selector));
        let hunks = parts.len() + usize::from(tail);
        let mut after = self.current.clone();
        let mut edits = Vec::with_capacity(parts.len());
        for part in parts.iter().rev() {
            let region = &self.regions[part.index];
            let lines = self.base.lines.get(region.base_of(&part.current));
            after.lines.splice(part.current.clone(), &lines);
            edits.push(LineEdit {
                start: part.current.start,
                end: self.shown(part.current.end),
                lines,
            });
        }
        edits.reverse();
        let end = tail
            || parts
                .last()
                .is_some_and(|part| part.current.end == self.current.lines.len());
        let eol = (end && self.base.eol_differs(&self.current)).then_some(self.base.eol);
        after.eol = eol.unwrap_or(after.eol);
        if after.lines.is_empty() {
            // Not a newline alone, unless that is what there was.
            after.eol = self.base.lines.is_empty() && self.base.eol;
        }
        let whole = hunks == self.count() && parts.iter().all(|part| part.whole);
        let untouched = !self.regions.iter().any(|region| region.touched);
        let created = self.base.absent && !self.current.absent;
        let remove_file = created && whole && untouched && self.base.lines.is_empty();
        after.absent = remove_file || (self.current.absent && hunks == 0);
        Rejection {
            edits,
            eol,
            text: after.text(crlf),
            remove_file,
            hunks,
            whole: None,
        }
    }

    /// A number that two regions share when their lines are the same.
    pub(super) fn fingerprint(&self, region: &Region) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.base.lines.get(region.base.clone()).hash(&mut hasher);
        self.current.lines.get(region.current.clone()).hash(&mut hasher);
        hasher.finish()
    }

    /// The regions that `selector` covers wholly, with their fingerprints.
    pub(super) fn selected(&self, selector: &Selector) -> Vec<(HunkId, u64)> {
        let parts = self.parts(selector).into_iter().filter(|part| part.whole);
        let regions = parts.map(|part| &self.regions[part.index]);
        regions
            .map(|region| (region.id, self.fingerprint(region)))
            .collect()
    }

    fn accept_part(&mut self, part: &Part, ids: &mut HunkIds) {
        let region = self.regions.remove(part.index);
        let base = region.base_of(&part.current);
        let lines = self.current.lines.get(part.current.clone());
        let by = lines.len() as isize - base.len() as isize;
        let above = Region {
            base: region.base.start..base.start,
            current: region.current.start..part.current.start,
            ..region.clone()
        };
        let below = Region {
            base: base.end.saturating_add_signed(by)..region.base.end.saturating_add_signed(by),
            current: part.current.end..region.current.end,
            ..region
        };
        self.splice_base(base, &lines, part.index);
        let mut pieces: Vec<Region> = [above, below]
            .into_iter()
            .filter_map(|piece| self.trimmed(piece))
            .collect();
        if let [_, second] = pieces.as_mut_slice() {
            second.id = ids.fresh();
        }
        self.regions.splice(part.index..part.index, pieces);
    }

    fn parts(&self, selector: &Selector) -> Vec<Part> {
        let regions = self.regions.iter().enumerate();
        regions
            .filter_map(|(index, region)| self.part(index, region, selector))
            .collect()
    }

    fn part(&self, index: usize, region: &Region, selector: &Selector) -> Option<Part> {
        let whole = Part::whole(index, region);
        match *selector {
            Selector::All => Some(whole),
            Selector::Hunk(id) => (id == region.id).then_some(whole),
            Selector::Lines { first, last } if region.current.is_empty() => {
                let line = self.anchor(region.current.start);
                (first <= line && line <= last).then_some(whole)
            }
            Selector::Lines { first, last } => {
                let start = region.current.start.max(first.saturating_sub(1));
                let end = region.current.end.min(last);
                let whole = start == region.current.start && end == region.current.end;
                (start < end).then_some(Part {
                    index,
                    current: start..end,
                    whole,
                })
            }
        }
    }

    fn tail_selected(&self, tail: HunkId, selector: &Selector) -> bool {
        match *selector {
            Selector::All => true,
            Selector::Hunk(id) => id == tail,
            Selector::Lines { first, last } => {
                let line = self.anchor(self.current.lines.len());
                first <= line && line <= last
            }
        }
    }

    fn hunk(&self, region: &Region) -> Hunk {
        let span = self.span(region);
        Hunk {
            id: span.id,
            start: span.start,
            count: span.count,
            removed: self.base.lines.get(region.base.clone()),
            added: self.current.lines.get(region.current.clone()),
            final_newline: span.final_newline,
            file: span.file,
            at_end: span.at_end,
            whole: None,
        }
    }

    /// The hunk for a difference that no line shows.
    pub(super) fn tail_hunk(&self, id: HunkId) -> Hunk {
        let len = self.current.lines.len();
        let last = self.current.lines.get(len.saturating_sub(1)..len);
        Hunk {
            id,
            start: self.anchor(len),
            count: last.len(),
            removed: if self.base.absent {
                Vec::new()
            } else {
                last.clone()
            },
            added: if self.current.absent { Vec::new() } else { last },
            final_newline: self.eol_change(),
            file: self.existence(),
            at_end: false,
            whole: None,
        }
    }

    /// The final newline that came or went.
    pub(super) fn eol_change(&self) -> Option<bool> {
        self.base.eol_differs(&self.current).then_some(self.current.eol)
    }

    /// What became of the file as a whole.
    pub(super) fn existence(&self) -> Option<Existence> {
        match (self.base.absent, self.current.absent) {
            (true, false) => Some(Existence::Created),
            (false, true) => Some(Existence::Deleted),
            _ => None,
        }
    }

    /// The 1-based line that an editor shows at or before `line` (0-based).
    pub(super) fn anchor(&self, line: usize) -> usize {
        (line + 1).min(self.current.lines.len()).max(1)
    }

    /// An end in the line numbers of an editor, which shows an empty text as one line.
    fn shown(&self, end: usize) -> usize {
        if self.current.lines.is_empty() { 1 } else { end }
    }
}
