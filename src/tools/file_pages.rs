//! Lines of a text with their numbers, cut to a size; inside a line where one line is too long.

use std::fmt::Write;

/// Where to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// First line, from 1.
    pub first: usize,
    /// Last line, inclusive; `None` = to the end.
    pub last: Option<usize>,
    /// First character of the first line, from 1.
    pub column: usize,
}

impl Range {
    /// The whole text.
    pub const ALL: Self = Self {
        first: 1,
        last: None,
        column: 1,
    };
}

/// Where a page ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The last line asked for was shown in full.
    Range,
    /// The page is full; this is the next character to read.
    Full {
        /// Its line, from 1.
        line: usize,
        /// Its column, from 1.
        column: usize,
    },
}

/// Collects numbered lines until it is full. Lines may come in pieces.
pub struct Page {
    text: String,
    limit: usize,
    range: Range,
    line: usize,
    column: usize,
    open: bool,
    full: Option<(usize, usize)>,
}

impl Page {
    /// An empty page of at most about `limit` bytes.
    pub fn new(range: Range, limit: usize) -> Self {
        Self {
            text: String::new(),
            limit,
            range,
            line: 1,
            column: 1,
            open: false,
            full: None,
        }
    }

    /// Whether nothing more is needed.
    pub fn is_done(&self) -> bool {
        self.full.is_some() || self.range.last.is_some_and(|last| self.line > last)
    }

    /// The line that comes next, from 1.
    pub fn line(&self) -> usize {
        self.line
    }

    /// Passes over the lines before the range without decoding them; gives what is left of `bytes`, from the
    /// first line of the range on. For encodings in which a byte 10 is always a line feed.
    pub fn skip_lines<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let missing = self.range.first.saturating_sub(self.line);
        if missing == 0 {
            return bytes;
        }
        let breaks = memchr::memchr_iter(b'\n', bytes).count();
        if breaks < missing {
            self.line += breaks;
            return &[];
        }
        self.line += missing;
        let last = memchr::memchr_iter(b'\n', bytes).nth(missing - 1);
        last.and_then(|at| bytes.get(at + 1..)).unwrap_or_default()
    }

    /// Takes a piece of the text; pieces end anywhere between two characters.
    pub fn push(&mut self, piece: &str) {
        for part in piece.split_inclusive('\n') {
            if self.is_done() {
                return;
            }
            let (body, ends) = match part.strip_suffix('\n') {
                Some(body) => (body, true),
                None => (part, false),
            };
            if self.line >= self.range.first {
                self.push_body(body);
            }
            if ends && self.full.is_none() {
                self.end_line();
            }
        }
    }

    /// The page and how it ended. A last line without line break counts.
    pub fn finish(mut self) -> (String, End) {
        if self.open {
            self.close();
        }
        let end = self
            .full
            .map_or(End::Range, |(line, column)| End::Full { line, column });
        (self.text, end)
    }

    fn push_body(&mut self, body: &str) {
        let skip = if self.line == self.range.first {
            self.range.column.saturating_sub(self.column)
        } else {
            0
        };
        let start = body.char_indices().nth(skip).map_or(body.len(), |(at, _)| at);
        self.column += body.get(..start).unwrap_or_default().chars().count();
        let body = body.get(start..).unwrap_or_default();
        if !self.open {
            // Writing to a String cannot fail.
            let _ = write!(self.text, "{:>6}\t", self.line);
            self.open = true;
        }
        let room = self.limit.saturating_sub(self.text.len());
        let cut = boundary_before(body, room);
        let (fits, rest) = body.split_at(cut);
        self.text.push_str(fits);
        self.column += fits.chars().count();
        if !rest.is_empty() {
            self.close();
            self.full = Some((self.line, self.column));
        }
    }

    fn end_line(&mut self) {
        if self.open || self.line >= self.range.first {
            if self.text.ends_with('\r') {
                self.text.pop();
            }
            self.close();
            if self.text.len() >= self.limit {
                self.full = Some((self.line + 1, 1));
            }
        }
        self.line += 1;
        self.column = 1;
    }

    fn close(&mut self) {
        self.text.push('\n');
        self.open = false;
    }
}

/// The last place between two characters that is not behind `at`.
fn boundary_before(text: &str, at: usize) -> usize {
    (0..=at.min(text.len()))
        .rev()
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ALL: Range = Range::ALL;

    fn page(text: &str, range: Range, limit: usize) -> (String, End) {
        let mut page = Page::new(range, limit);
        page.push(text);
        page.finish()
    }

    #[test]
    fn lines_are_numbered_and_lose_their_carriage_return() {
        let (text, end) = page("package main\r\n\r\nlast", ALL, 1000);
        assert_eq!(
            (text.as_str(), end),
            ("     1\tpackage main\n     2\t\n     3\tlast\n", End::Range)
        );
        let (text, _) = page(
            "a\nb\nc\n",
            Range {
                first: 2,
                last: Some(2),
                column: 1,
            },
            1000,
        );
        assert_eq!(text, "     2\tb\n");
    }

    #[test]
    fn a_full_page_says_where_to_go_on() {
        let (text, end) = page("abc\ndef\n", ALL, 9);
        assert_eq!(
            (text.as_str(), end),
            ("     1\tab\n", End::Full { line: 1, column: 3 })
        );
        let (text, end) = page("abc\ndef\n", Range { column: 3, ..ALL }, 9);
        assert_eq!(
            (text.as_str(), end),
            ("     1\tc\n", End::Full { line: 2, column: 1 })
        );
        let (text, _) = page("aéé\n", Range { column: 2, ..ALL }, 100);
        assert_eq!(text, "     1\téé\n");
    }

    proptest! {
        #[test]
        fn pages_join_to_the_whole_text(lines in prop::collection::vec("[aé]{0,9}", 1..6), limit in 10usize..40) {
            let text = lines.join("\n") + "\n";
            let (mut shown, mut at) = (vec![String::new()], ALL);
            loop {
                let (part, end) = page(&text, at, limit);
                for line in part.lines() {
                    let (number, body) = line.split_once('\t').unwrap();
                    let number: usize = number.trim().parse().unwrap();
                    shown.resize(shown.len().max(number), String::new());
                    shown[number - 1].push_str(body);
                }
                match end {
                    End::Range => break,
                    End::Full { line, column } => {
                        prop_assert!((line, column) > (at.first, at.column), "no progress");
                        at = Range { first: line, last: None, column };
                    }
                }
            }
            prop_assert_eq!(shown, lines);
        }

        #[test]
        fn pieces_make_no_difference(text in "[aé\r\n]{0,30}", cut in 0usize..30, limit in 10usize..60) {
            let whole = page(&text, ALL, limit);
            let at = boundary_before(&text, cut);
            let mut pieces = Page::new(ALL, limit);
            pieces.push(&text[..at]);
            pieces.push(&text[at..]);
            prop_assert_eq!(pieces.finish(), whole);
        }
    }
}
