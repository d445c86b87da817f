//! A place where base and current text differ.

use std::ops::Range;

use crate::protocol::ids::HunkId;

/// Lines of the base and the lines that stand in their place now. One of the two may be empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Region {
    /// The hunk's name.
    pub(super) id: HunkId,
    /// Line numbers of the base, 0-based.
    pub(super) base: Range<usize>,
    /// Line numbers of the current text, 0-based.
    pub(super) current: Range<usize>,
    /// Whether the person typed in it.
    pub(super) touched: bool,
}

impl Region {
    /// The base lines that the current lines `part` (inside this region) stand for.
    ///
    /// Lines are paired from the top; what one side has more than the other belongs to the last line.
    pub(super) fn base_of(&self, part: &Range<usize>) -> Range<usize> {
        let pair = |at: usize| self.base.start + (at - self.current.start).min(self.base.len());
        let start = if part.start == self.current.start {
            self.base.start
        } else if part.start == self.current.end {
            self.base.end
        } else {
            pair(part.start)
        };
        let end = if part.end == self.current.end {
            self.base.end
        } else {
            pair(part.end)
        };
        start..end.max(start)
    }
}

/// `range` moved by `by` lines.
pub(super) fn shifted(range: &Range<usize>, by: isize) -> Range<usize> {
    range.start.saturating_add_signed(by)..range.end.saturating_add_signed(by)
}

/// Fresh hunk ids; none is given twice.
#[derive(Clone, Debug, Default)]
pub(super) struct HunkIds(u64);

impl HunkIds {
    /// The next one, from 1.
    pub(super) fn fresh(&mut self) -> HunkId {
        self.0 += 1;
        HunkId(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_paired_from_the_top() {
        let region = Region {
            id: HunkId(1),
            base: 10..13,
            current: 20..22,
            touched: false,
        };
        assert_eq!(region.base_of(&(20..21)), 10..11);
        assert_eq!(region.base_of(&(21..22)), 11..13);
        assert_eq!(region.base_of(&(20..22)), 10..13);
        let region = Region {
            id: HunkId(1),
            base: 10..11,
            current: 20..23,
            touched: false,
        };
        assert_eq!(region.base_of(&(20..21)), 10..11);
        assert_eq!(region.base_of(&(21..23)), 11..11);
        let gone = Region {
            id: HunkId(1),
            base: 10..12,
            current: 20..20,
            touched: false,
        };
        assert_eq!(gone.base_of(&(20..20)), 10..12);
    }
}
