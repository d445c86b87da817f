//! The lines of a text, cheap to clone, to cut and to compare.
//!
//! An editor shows an empty file as one empty line: see [`Lines::same_text`].

use std::ops::Range;

use ropey::Rope;

/// Lines without their endings. A clone shares the text; an edit copies only what it touches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Lines(Rope);

impl Lines {
    /// The lines of `text`; a missing final newline does not matter here.
    pub(super) fn from_text(text: &str) -> Self {
        let mut rope = Rope::from_str(text);
        if !text.is_empty() && !text.ends_with('\n') {
            rope.insert_char(rope.len_chars(), '\n');
        }
        let lines = Self(rope);
        if lines.is_blank() { Self::default() } else { lines }
    }

    /// The number of lines.
    pub(super) fn len(&self) -> usize {
        self.0.len_lines() - 1
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.0.len_bytes() == 0
    }

    /// The lines of `range`, which is cut to what exists.
    pub(super) fn get(&self, range: Range<usize>) -> Vec<String> {
        let end = range.end.min(self.len());
        let start = range.start.min(end);
        self.0
            .lines_at(start)
            .take(end - start)
            .map(|line| {
                let mut line = String::from(line);
                line.pop();
                line
            })
            .collect()
    }

    /// Whether an editor shows both alike: no line and one empty line are the same to it.
    pub(super) fn same_text(&self, other: &Self) -> bool {
        self == other || (self.is_blank() && other.is_blank())
    }

    fn is_blank(&self) -> bool {
        self.is_empty() || self.0.len_bytes() == 1
    }

    /// Replaces the lines of `range` by `new`.
    pub(super) fn splice(&mut self, range: Range<usize>, new: &[String]) {
        let chars = self.chars(&range);
        let at = chars.start;
        self.0.remove(chars);
        let size = new.iter().map(|line| line.len() + 1).sum();
        let mut text = String::with_capacity(size);
        for line in new {
            // A line break inside a line (how some interfaces spell NUL) would shift every line below.
            text.extend(line.chars().map(|c| if c == '\n' { '\0' } else { c }));
            text.push('\n');
        }
        self.0.insert(at, &text);
    }

    /// Whether the lines of `range` are exactly `other`.
    pub(super) fn holds(&self, range: Range<usize>, other: &[String]) -> bool {
        range.len() == other.len() && self.get(range) == other
    }

    /// Whether two runs of lines are the same.
    #[cfg(test)]
    pub(super) fn same(&self, range: Range<usize>, other: &Self, theirs: Range<usize>) -> bool {
        range.len() == theirs.len() && self.slice(&range) == other.slice(&theirs)
    }

    /// How many lines at the start of both ranges are the same.
    pub(super) fn common_start(&self, range: Range<usize>, other: &Self, theirs: Range<usize>) -> usize {
        self.0
            .lines_at(range.start)
            .take(range.len())
            .zip(other.0.lines_at(theirs.start).take(theirs.len()))
            .take_while(|(a, b)| a == b)
            .count()
    }

    /// How many lines at the end of both ranges are the same.
    pub(super) fn common_end(&self, range: Range<usize>, other: &Self, theirs: Range<usize>) -> usize {
        let ours = self.0.lines_at(range.end).reversed().take(range.len());
        let theirs = other.0.lines_at(theirs.end).reversed().take(theirs.len());
        ours.zip(theirs).take_while(|(a, b)| a == b).count()
    }

    /// The text, every line ended by `\n`.
    pub(super) fn to_text(&self) -> String {
        String::from(&self.0)
    }

    #[cfg(test)]
    fn slice(&self, range: &Range<usize>) -> ropey::RopeSlice<'_> {
        self.0.slice(self.chars(range))
    }

    /// Character positions of `range`, cut to what exists.
    fn chars(&self, range: &Range<usize>) -> Range<usize> {
        let end = range.end.min(self.len());
        let start = range.start.min(end);
        self.0.line_to_char(start)..self.0.line_to_char(end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Lines {
        Lines::from_text(text)
    }

    #[test]
    fn an_empty_file_and_one_empty_line_are_the_same() {
        assert_eq!(lines(""), lines("\n"));
        assert_eq!(lines("").len(), 0);
        assert_eq!(lines("\n\n").len(), 2);
    }

    #[test]
    fn only_a_newline_ends_a_line() {
        let text = lines("a\u{2028}b\rc\u{b}d\ne");
        assert_eq!(text.get(0..9), ["a\u{2028}b\rc\u{b}d", "e"]);
    }

    #[test]
    fn counts_what_two_ranges_share() {
        let (a, b) = (lines("a\nb\nc\nd\n"), lines("x\na\nb\ny\nd\n"));
        assert_eq!(a.common_start(0..4, &b, 1..5), 2);
        assert_eq!(a.common_end(0..4, &b, 0..5), 1);
        assert_eq!(a.common_end(1..2, &b, 2..3), 1);
    }
}
