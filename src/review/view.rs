//! Hunks as they are drawn: where each stands, and the lines of those that are seen. A buffer with hundreds
//! of hunks is drawn while somebody types, so nothing here copies what no window shows.

use crate::protocol::ids::HunkId;
use crate::review::hunk::{Existence, Hunk};
use crate::review::region::Region;
use crate::review::state::State;

/// Where a hunk stands and how large it is, without its lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// Its name.
    pub id: HunkId,
    /// As [`crate::review::Hunk::start`].
    pub start: usize,
    /// Lines in the file now.
    pub count: usize,
    /// Lines of the base.
    pub removed: usize,
    /// As [`crate::review::Hunk::at_end`].
    pub at_end: bool,
    /// As [`crate::review::Hunk::file`].
    pub file: Option<Existence>,
    /// As [`crate::review::Hunk::final_newline`].
    pub final_newline: Option<bool>,
}

/// What is drawn of a hunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Where it stands.
    pub span: Span,
    /// The first lines of the base, at most as many as asked for.
    pub removed: Vec<String>,
    /// The lines now, where they can be paired with the removed ones: as many, and all of them given.
    pub added: Vec<String>,
}

impl State {
    /// All hunks in the order of their lines, without their lines.
    pub(super) fn spans(&self) -> Vec<Span> {
        let regions = self.regions.iter().map(|region| self.span(region));
        regions.chain(self.tail.map(|id| self.tail_span(id))).collect()
    }

    /// The hunks that show on the lines `first..=last` (1-based), each with at most `most` removed lines.
    pub(super) fn seen(&self, first: usize, last: usize, most: usize) -> Vec<Seen> {
        let from = self.regions.partition_point(|region| {
            let shown_to = region.current.end.max(self.anchor(region.current.start));
            shown_to < first
        });
        let regions = self.regions.iter().skip(from);
        let regions = regions.take_while(|region| self.anchor(region.current.start) <= last);
        let mut seen: Vec<Seen> = regions.map(|region| self.drawn(region, most)).collect();
        if let Some(id) = self.tail {
            let span = self.tail_span(id);
            if (first..=last).contains(&span.start) {
                let hunk = self.tail_hunk(id);
                seen.push(Seen {
                    span,
                    removed: hunk.removed,
                    added: hunk.added,
                });
            }
        }
        seen
    }

    fn drawn(&self, region: &Region, most: usize) -> Seen {
        let shown = region.base.len().min(most);
        let paired = region.base.len() == region.current.len() && shown == region.base.len();
        let added = if paired { region.current.clone() } else { 0..0 };
        Seen {
            span: self.span(region),
            removed: self.base.lines.get(region.base.start..region.base.start + shown),
            added: self.current.lines.get(added),
        }
    }

    /// Where the hunk of `region` stands.
    pub(super) fn span(&self, region: &Region) -> Span {
        Span {
            id: region.id,
            start: self.anchor(region.current.start),
            count: region.current.len(),
            removed: region.base.len(),
            at_end: region.current.is_empty() && self.reaches_end(region) && region.current.start > 0,
            file: self.existence(),
            final_newline: self.eol_change().filter(|_| self.reaches_end(region)),
        }
    }

    fn tail_span(&self, id: HunkId) -> Span {
        Span::from(&self.tail_hunk(id))
    }
}

impl From<&Hunk> for Span {
    fn from(hunk: &Hunk) -> Self {
        Self {
            id: hunk.id,
            start: hunk.start,
            count: hunk.count,
            removed: hunk.removed.len(),
            at_end: hunk.at_end,
            file: hunk.file,
            final_newline: hunk.final_newline,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::protocol::change::LineEdit;
    use crate::review::{Author, ReviewBook};

    fn book(edits: &[(usize, usize, &[&str])]) -> ReviewBook {
        let mut book = ReviewBook::new();
        let text: String = (1..=20).map(|n| format!("line {n}\n")).collect();
        book.attach(Path::new("/a"), &text);
        for (start, end, lines) in edits {
            let lines = lines.iter().map(|line| (*line).to_owned()).collect();
            let edit = LineEdit {
                start: *start,
                end: *end,
                lines,
            };
            book.edit(Path::new("/a"), &edit, Author::Agent);
        }
        book
    }

    #[test]
    fn spans_say_of_every_hunk_what_the_hunks_say() {
        let book = book(&[(19, 20, &[]), (9, 10, &["ten", "and a half"]), (0, 1, &[])]);
        let hunks = book.hunks(Path::new("/a"));
        let spans = book.spans(Path::new("/a"));
        assert_eq!(spans.len(), 3);
        for (span, hunk) in spans.iter().zip(&hunks) {
            assert_eq!(
                (span.id, span.start, span.count, span.removed, span.at_end),
                (hunk.id, hunk.start, hunk.count, hunk.removed.len(), hunk.at_end)
            );
        }
    }

    #[test]
    fn only_what_shows_on_the_lines_is_given() {
        let book = book(&[(19, 20, &[]), (9, 10, &["ten"]), (0, 1, &[])]);
        let starts = |first, last| -> Vec<usize> {
            let seen = book.seen(Path::new("/a"), first, last, 10);
            seen.iter().map(|seen| seen.span.start).collect()
        };
        assert_eq!(starts(1, 20), [1, 9, 18]);
        assert_eq!(starts(2, 8), [0; 0]);
        assert_eq!(starts(9, 9), [9]);
        assert_eq!(
            starts(18, 18),
            [18],
            "a deletion at the end shows on the last line"
        );
        assert_eq!(starts(1, 1), [1], "and one at the top on the first");
    }

    #[test]
    fn lines_are_given_in_pairs_or_cut() {
        let book = book(&[(4, 7, &["a", "b", "c"])]);
        let all = &book.seen(Path::new("/a"), 1, 20, 3)[0];
        assert_eq!(all.added, ["a", "b", "c"]);
        let cut = &book.seen(Path::new("/a"), 1, 20, 2)[0];
        assert_eq!((cut.removed.len(), cut.span.removed), (2, 3));
        assert!(cut.added.is_empty());
    }
}
