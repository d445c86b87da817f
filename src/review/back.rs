//! Bringing rejected hunks back, wherever their place has gone meanwhile.

use crate::protocol::change::LineEdit;
use crate::review::hunk::Selector;
use crate::review::state::State;
use crate::review::tracked_file::TrackedFile;

/// How many rejections a file remembers.
const REMEMBERED: usize = 50;

/// A hunk that was rejected: what stood there, what stands there again, and between what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Taken {
    /// The line at which it stood.
    line: usize,
    removed: Vec<String>,
    added: Vec<String>,
    above: Option<String>,
    below: Option<String>,
}

impl State {
    /// The selected hunks that lines show, before they are rejected.
    fn taken(&self, selector: &Selector) -> Vec<Taken> {
        let lines = &self.current.lines;
        let one = |at: usize| lines.get(at..at + 1).pop();
        let selected = self.regions.iter().filter(|region| match selector {
            Selector::Hunk(id) => region.id == *id,
            Selector::Lines { first, last } => {
                let end = region.current.end.max(region.current.start + 1);
                region.current.start < *last && *first <= end
            }
            Selector::All => true,
        });
        selected
            .map(|region| Taken {
                line: region.current.start,
                removed: self.base.lines.get(region.base.clone()),
                added: lines.get(region.current.clone()),
                above: region.current.start.checked_sub(1).and_then(one),
                below: one(region.current.end),
            })
            .collect()
    }
}

impl Taken {
    /// The edit that puts it into `lines` again: between its neighbours, else nearest to where it stood;
    /// `None` when its place is gone.
    fn back(&self, lines: &[String]) -> Option<LineEdit> {
        let count = self.removed.len();
        let strangers = |at: usize| {
            let above = at.checked_sub(1).and_then(|at| lines.get(at)) != self.above.as_ref();
            let below = lines.get(at + count) != self.below.as_ref();
            usize::from(above) + usize::from(below)
        };
        let fits = |at: &usize| {
            let here = lines.get(*at..at + count) == Some(self.removed.as_slice());
            // Lines that were only added have nothing of their own to be known by.
            here && (count > 0 || strangers(*at) == 0)
        };
        let places = (0..=lines.len()).filter(fits);
        let start = places.min_by_key(|at| (strangers(*at), at.abs_diff(self.line)))?;
        Some(LineEdit {
            start,
            end: start + count,
            lines: self.added.clone(),
        })
    }
}

impl TrackedFile {
    /// Remembers the selected hunks, which are about to be rejected.
    pub(super) fn remember_rejected(&mut self, selector: &Selector) {
        let taken = self.state().taken(selector);
        if !taken.is_empty() {
            self.rejected.push(taken);
            let old = self.rejected.len().saturating_sub(REMEMBERED);
            self.rejected.drain(..old);
        }
    }

    /// The edits that bring back what was rejected last, ascending and disjoint; `None` = nothing was. Hunks
    /// whose place is gone are left out.
    pub(super) fn bring_back(&mut self) -> Option<Vec<LineEdit>> {
        let taken = self.rejected.pop()?;
        let current = &self.state().current.lines;
        let lines = current.get(0..current.len());
        let mut edits: Vec<LineEdit> = Vec::new();
        for edit in taken.iter().filter_map(|taken| taken.back(&lines)) {
            if edits.last().is_none_or(|last| last.end <= edit.start) {
                edits.push(edit);
            }
        }
        Some(edits)
    }
}
