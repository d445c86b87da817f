//! How an edit changes what is under review.
//!
//! **The agent's** lines become pending; the base stays. An edit that overlaps or touches a hunk joins it
//! (two changes with no unchanged line between them are one hunk), and the joined hunk is diffed again.
//!
//! **The person's** lines go into the base too, unless they fall inside a hunk:
//! - what puts the base's lines back makes that part of the hunk vanish;
//! - text put directly before or after a hunk is outside it; where lines were deleted, it stands after them;
//! - lines put between lines of a hunk are the person's alone: the base gets them too, at the place that
//!   stands for theirs, and the hunk becomes two. So nothing that is put in disappears with a rejection;
//!   what the person made of the agent's own lines goes with them (and `u` brings it back);
//! - an edit across the border of a hunk is cut there when it only removes lines or keeps their number
//!   (indenting, substitution); otherwise the hunk grows over it.

use crate::protocol::change::LineEdit;
use crate::review::diff::{self, WHILE_TYPING};
use crate::review::hunk::Author;
use crate::review::region::{HunkIds, Region};
use crate::review::state::State;

impl State {
    /// Takes in an edit as an editor reports it. Line numbers beyond the end are cut.
    pub(super) fn apply(&mut self, edit: &LineEdit, author: Author, ids: &mut HunkIds) {
        if let Some(edit) = self.canonical(edit) {
            self.apply_all(&[edit], author, ids);
        }
    }

    /// Takes in edits in the terms of [`crate::review::lines::Lines`], ascending and disjoint.
    pub(super) fn apply_all(&mut self, edits: &[LineEdit], author: Author, ids: &mut HunkIds) {
        let touched = self.regions.iter().any(|region| region.touched);
        for edit in edits.iter().rev() {
            match author {
                Author::Person => self.person_edit(edit, ids),
                Author::Agent => {
                    for part in diff::refine(&self.current.lines, edit, WHILE_TYPING)
                        .into_iter()
                        .rev()
                    {
                        self.agent_edit(&part, ids);
                    }
                }
            }
        }
        // What is left of a file that the agent made and the person typed in is the person's.
        let kept = author == Author::Person && touched && self.regions.is_empty();
        self.base.absent &= !kept;
        self.settle(ids);
    }

    /// Takes in the final newline of the current text.
    pub(super) fn set_eol(&mut self, eol: bool, author: Author, ids: &mut HunkIds) {
        let follows = self.base.eol == self.current.eol || self.base.lines.is_empty();
        if author == Author::Person && follows {
            self.base.eol = eol;
        }
        self.revision += u64::from(self.current.eol != eol);
        self.current.eol = eol;
        self.settle_tail(ids);
    }

    /// Brings the state back to its invariants after lines have moved.
    pub(super) fn settle(&mut self, ids: &mut HunkIds) {
        if self.is_back() {
            self.base.lines = self.current.lines.clone();
            self.regions.clear();
            self.revision += 1;
        }
        self.base.absent &= self.base.lines.is_empty();
        self.current.absent &= self.current.lines.is_empty();
        self.join_touching(ids);
        self.settle_tail(ids);
    }

    /// Whether there are regions, and they cancel each other out: the two texts are the same all the same.
    fn is_back(&self) -> bool {
        let Some(first) = self.regions.first() else {
            return false;
        };
        let (current, base) = (&self.current.lines, &self.base.lines);
        // Up to the first region they are the same, and in it they differ nearly always: that is seen at once.
        let from = first.base.start;
        let rest = base.len().saturating_sub(from);
        let same = current.len() == base.len()
            && base.common_start(from..base.len(), current, from..current.len()) == rest;
        same || ((current.len().max(base.len()) <= 1) && current.same_text(base))
    }

    fn agent_edit(&mut self, edit: &LineEdit, ids: &mut HunkIds) {
        let first = self
            .regions
            .partition_point(|region| region.current.end < edit.start);
        let last = self
            .regions
            .partition_point(|region| region.current.start <= edit.end);
        if first < last {
            return self.grow(edit, first, last, false, ids);
        }
        self.revision += 1;
        let base = self.base_line(edit.start, first)..self.base_line(edit.end, first);
        let current = edit.start..edit.start + edit.lines.len();
        self.splice_current(edit.start..edit.end, &edit.lines, first);
        self.regions.insert(
            first,
            Region {
                id: ids.fresh(),
                base,
                current,
                touched: false,
            },
        );
    }

    fn person_edit(&mut self, edit: &LineEdit, ids: &mut HunkIds) {
        if self.puts_back(edit, ids) {
            return;
        }
        let near = |region: &Region| region.current.start <= edit.end && edit.start <= region.current.end;
        if !self.regions.iter().any(near) {
            return self.outside(edit);
        }
        for part in diff::refine(&self.current.lines, edit, WHILE_TYPING)
            .into_iter()
            .rev()
        {
            self.person_part(&part, ids);
        }
    }

    fn person_part(&mut self, edit: &LineEdit, ids: &mut HunkIds) {
        if self.puts_back(edit, ids) {
            return;
        }
        let first = self
            .regions
            .partition_point(|region| region.current.end <= edit.start);
        let last = self
            .regions
            .partition_point(|region| region.current.start < edit.end);
        if first >= last {
            return self.outside(edit);
        }
        let put_in = edit.start == edit.end && last == first + 1;
        if put_in && self.regions[first].current.start < edit.start {
            return self.put_into(first, edit, ids);
        }
        let cuts = self.cuts(edit, first, last);
        if cuts.is_empty() {
            return self.grow(edit, first, last, true, ids);
        }
        let keeps = !edit.lines.is_empty();
        let mut end = edit.end;
        for start in cuts.into_iter().rev().chain([edit.start]) {
            let lines = if keeps {
                edit.lines[start - edit.start..end - edit.start].to_vec()
            } else {
                Vec::new()
            };
            self.person_part(&LineEdit { start, end, lines }, ids);
            end = start;
        }
    }

    /// Where an edit that keeps or removes lines crosses the borders of the regions it meets, ascending.
    fn cuts(&self, edit: &LineEdit, first: usize, last: usize) -> Vec<usize> {
        if !edit.lines.is_empty() && edit.lines.len() != edit.end - edit.start {
            return Vec::new();
        }
        let mut cuts: Vec<usize> = self.regions[first..last]
            .iter()
            .flat_map(|region| [region.current.start, region.current.end])
            .filter(|cut| edit.start < *cut && *cut < edit.end)
            .collect();
        cuts.dedup();
        cuts
    }

    /// Lines that the person puts between lines of a region. They are nobody's change to decide on: the base
    /// gets them at the place that stands for theirs, and the region becomes one above and one below.
    fn put_into(&mut self, index: usize, edit: &LineEdit, ids: &mut HunkIds) {
        self.revision += 1;
        let region = self.regions.remove(index);
        let at = region.base_of(&(edit.start..edit.start)).start;
        self.splice_base(at..at, &edit.lines, index);
        self.splice_current(edit.start..edit.start, &edit.lines, index);
        let count = edit.lines.len();
        let above = Region {
            base: region.base.start..at,
            current: region.current.start..edit.start,
            touched: true,
            ..region.clone()
        };
        let below = Region {
            base: at + count..region.base.end + count,
            current: edit.start + count..region.current.end + count,
            touched: true,
            ..region
        };
        let mut pieces: Vec<Region> = [above, below]
            .into_iter()
            .filter_map(|part| self.trimmed(part))
            .collect();
        // Neither is the hunk that was: what was decided on that one must not hold for these.
        pieces.iter_mut().for_each(|piece| piece.id = ids.fresh());
        self.regions.splice(index..index, pieces);
    }

    /// An edit outside the regions: the base changes alike.
    fn outside(&mut self, edit: &LineEdit) {
        let before = self.regions_before(edit.start);
        let base = self.base_line(edit.start, before)..self.base_line(edit.end, before);
        self.splice_base(base, &edit.lines, before);
        self.splice_current(edit.start..edit.end, &edit.lines, before);
    }

    /// The regions `first..last` and the lines of `edit` become one region.
    fn grow(&mut self, edit: &LineEdit, first: usize, last: usize, touched: bool, ids: &mut HunkIds) {
        self.revision += 1;
        let old: Vec<Region> = self.regions.drain(first..last).collect();
        let ([top, ..], [.., bottom]) = (old.as_slice(), old.as_slice()) else {
            return;
        };
        let start = edit.start.min(top.current.start);
        let end = edit.end.max(bottom.current.end);
        let base = top.base.start - (top.current.start - start)..bottom.base.end + (end - bottom.current.end);
        self.splice_current(edit.start..edit.end, &edit.lines, first);
        let whole = Region {
            id: top.id,
            base,
            current: start..end + edit.lines.len() - (edit.end - edit.start),
            touched: touched || old.iter().any(|region| region.touched),
        };
        let pieces = self.narrowed(whole, &old, ids);
        self.regions.splice(first..first, pieces);
    }

    /// Whether `edit` puts lines of the base back where a region stands; then that part of it is gone.
    fn puts_back(&mut self, edit: &LineEdit, ids: &mut HunkIds) -> bool {
        let place = edit.start..edit.end;
        let first = self
            .regions
            .partition_point(|region| region.current.end < place.start);
        let holds = |region: &Region| region.current.start <= place.start && place.end <= region.current.end;
        for index in first..self.regions.len() {
            let region = self.regions[index].clone();
            if region.current.start > place.start {
                break;
            }
            if !holds(&region) {
                continue;
            }
            let pair = region.base_of(&place);
            if self.base.lines.holds(pair.clone(), &edit.lines) {
                self.splice_current(place.clone(), &edit.lines, index + 1);
                self.split(index, place.start, &pair, edit.lines.len(), ids);
                return true;
            }
            if place.is_empty() && self.rejoins(index, &region, edit, ids) {
                return true;
            }
        }
        false
    }

    /// Lines put at the border of a region that are the base's lines there: a part of a deletion comes back.
    fn rejoins(&mut self, index: usize, region: &Region, edit: &LineEdit, ids: &mut HunkIds) -> bool {
        let count = edit.lines.len();
        if count > region.base.len() {
            return false;
        }
        let head = region.base.start..region.base.start + count;
        let tail = region.base.end - count..region.base.end;
        let pair = if edit.start == region.current.start && self.base.lines.holds(head.clone(), &edit.lines) {
            head
        } else if edit.start == region.current.end && self.base.lines.holds(tail.clone(), &edit.lines) {
            tail
        } else {
            return false;
        };
        self.splice_current(edit.start..edit.end, &edit.lines, index + 1);
        self.split(index, edit.start, &pair, count, ids);
        true
    }

    /// Takes `count` current lines from `at` on, which are the base lines `pair` again, out of a region
    /// whose current range is still that from before they were put there.
    fn split(
        &mut self,
        index: usize,
        at: usize,
        pair: &std::ops::Range<usize>,
        count: usize,
        ids: &mut HunkIds,
    ) {
        self.revision += 1;
        let region = self.regions.remove(index);
        let end = at + count;
        // What stood below the edit inside the region still does.
        let next = self
            .regions
            .get(index)
            .map(|next| (next.base.start, next.current.start));
        let (base_next, next) = next.unwrap_or((self.base.lines.len(), self.current.lines.len()));
        let current_end = next - (base_next - region.base.end);
        let above = Region {
            base: region.base.start..pair.start,
            current: region.current.start..at,
            ..region.clone()
        };
        let below = Region {
            base: pair.end..region.base.end,
            current: end..current_end,
            ..region.clone()
        };
        let mut pieces: Vec<Region> = [above, below]
            .into_iter()
            .filter_map(|part| self.trimmed(part))
            .collect();
        if let [_, second] = pieces.as_mut_slice() {
            second.id = ids.fresh();
        }
        self.regions.splice(index..index, pieces);
    }
}
