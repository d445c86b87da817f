//! Exact replacement of a piece of text.
//!
//! Both sides are literal: nothing is unescaped, expanded or folded. The one liberty concerns line
//! endings, which a model does not see: `\n` in the old text also matches `\r\n`, and each line of the
//! new text gets the ending of the line that it replaces. No byte outside the match changes.

use std::ops::Range;

use thiserror::Error;

use crate::edit::adopt_endings::with_endings;
use crate::fs::endings::to_lf;

/// Occurrences counted before the count is given as "at least".
const COUNT_LIMIT: usize = 10_000;
/// Lines named in an ambiguity error.
const LINES_NAMED: usize = 5;

/// A text after replacement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replaced {
    /// The whole new text.
    pub text: String,
    /// For each replacement the first and last line (from 1, inclusive) of what stands there now.
    /// After a deletion both name the line where the text was.
    pub lines: Vec<(usize, usize)>,
}

/// Why nothing was replaced. The texts are for the model.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ReplaceError {
    /// It would match everywhere.
    #[error(
        "old_string is empty. Give the exact text to replace; to make or overwrite a file use write_file."
    )]
    EmptyOld,
    /// Nothing to do.
    #[error("old_string and new_string are identical; there is nothing to change.")]
    Identical,
    /// No such text.
    #[error("old_string was not found.")]
    NotFound,
    /// More than one occurrence, overlapping ones counted, and `all` was not asked for.
    #[error("old_string occurs {} times, at {}. Add lines around it until it is unique, or set replace_all to change every occurrence.", count_words(*.count), line_words(.lines, *.count))]
    Ambiguous {
        /// How often it occurs; counting stops at 10,000.
        count: usize,
        /// The lines of the first few, from 1.
        lines: Vec<usize>,
    },
    /// The matched lines have different endings and the new text other lines.
    #[error(
        "The text at line {line} mixes LF and CRLF line endings, so it is not clear which ones the new lines should have. Replace it in smaller pieces whose lines have one kind of ending."
    )]
    MixedEndings {
        /// First line of the match, from 1.
        line: usize,
    },
}

/// Replaces `old` by `new` in `text`: the only occurrence, or with `all` every one (of overlapping
/// ones the first).
///
/// Where `old` and `new` differ in line endings alone, these are meant: then they match exactly.
pub fn replace(text: &str, old: &str, new: &str, all: bool) -> Result<Replaced, ReplaceError> {
    if old.is_empty() {
        return Err(ReplaceError::EmptyOld);
    }
    if old == new {
        return Err(ReplaceError::Identical);
    }
    let (old_lf, new_lf) = (to_lf(old), to_lf(new));
    if old_lf == new_lf {
        let found = select(text, find(text, old, all), all)?;
        let pieces = found.into_iter().map(|range| (range, new.to_owned())).collect();
        return Ok(splice(text, pieces));
    }
    let view = LfView::of(text);
    let found = select(&view.text, find(&view.text, &old_lf, all), all)?;
    let pieces = found
        .into_iter()
        .map(|range| {
            let raw = view.raw_range(&range);
            let piece = with_endings(text, &raw, new).ok_or_else(|| ReplaceError::MixedEndings {
                line: LineCounter::new(text).line_at(raw.start),
            })?;
            Ok((raw, piece))
        })
        .collect::<Result<_, _>>()?;
    Ok(splice(text, pieces))
}

/// The places where `old` stands: overlapping ones for a uniqueness check, else disjoint ones.
fn find(text: &str, old: &str, disjoint: bool) -> Vec<Range<usize>> {
    let step = if disjoint {
        old.len()
    } else {
        old.chars().next().map_or(1, char::len_utf8)
    };
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = text.get(from..).and_then(|rest| rest.find(old)) {
        let start = from + at;
        found.push(start..start + old.len());
        if !disjoint && found.len() >= COUNT_LIMIT {
            break;
        }
        from = start + step;
    }
    found
}

fn select(text: &str, found: Vec<Range<usize>>, all: bool) -> Result<Vec<Range<usize>>, ReplaceError> {
    if found.is_empty() {
        return Err(ReplaceError::NotFound);
    }
    if found.len() > 1 && !all {
        let mut lines = LineCounter::new(text);
        let named = found
            .iter()
            .take(LINES_NAMED)
            .map(|range| lines.line_at(range.start))
            .collect();
        return Err(ReplaceError::Ambiguous {
            count: found.len(),
            lines: named,
        });
    }
    Ok(found)
}

/// A text with `\n` alone, and the way back to its bytes.
struct LfView<'a> {
    text: std::borrow::Cow<'a, str>,
    /// Offsets in `text` of the `\n` that were `\r\n`, ascending.
    crlf: Vec<usize>,
}

impl<'a> LfView<'a> {
    fn of(raw: &'a str) -> Self {
        let crlf = raw
            .match_indices("\r\n")
            .enumerate()
            .map(|(before, (at, _))| at - before)
            .collect();
        Self {
            text: to_lf(raw),
            crlf,
        }
    }

    fn raw_range(&self, range: &Range<usize>) -> Range<usize> {
        let raw = |at: usize| at + self.crlf.partition_point(|crlf| *crlf < at);
        raw(range.start)..raw(range.end)
    }
}

fn splice(text: &str, pieces: Vec<(Range<usize>, String)>) -> Replaced {
    let mut result = String::with_capacity(text.len());
    let mut spans = Vec::with_capacity(pieces.len());
    let mut from = 0;
    for (range, piece) in pieces {
        result.push_str(text.get(from..range.start).unwrap_or_default());
        spans.push(result.len()..result.len() + piece.len());
        result.push_str(&piece);
        from = range.end;
    }
    result.push_str(text.get(from..).unwrap_or_default());
    let mut counter = LineCounter::new(&result);
    let lines = spans
        .into_iter()
        .map(|span| {
            let first = counter.line_at(span.start);
            let last_byte = if span.is_empty() { span.start } else { span.end - 1 };
            (first, counter.line_at(last_byte))
        })
        .collect();
    Replaced { text: result, lines }
}

/// Line numbers of ascending offsets, in one pass.
struct LineCounter<'a> {
    bytes: &'a [u8],
    at: usize,
    line: usize,
}

impl<'a> LineCounter<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            bytes: text.as_bytes(),
            at: 0,
            line: 1,
        }
    }

    fn line_at(&mut self, offset: usize) -> usize {
        let passed = self.bytes.get(self.at..offset).unwrap_or_default();
        self.line += passed.iter().filter(|byte| **byte == b'\n').count();
        self.at = self.at.max(offset);
        self.line
    }
}

fn count_words(count: usize) -> String {
    if count >= COUNT_LIMIT {
        format!("at least {COUNT_LIMIT}")
    } else {
        count.to_string()
    }
}

fn line_words(lines: &[usize], count: usize) -> String {
    let more = count > lines.len();
    let words: Vec<String> = lines.iter().map(|line| format!("line {line}")).collect();
    match words.split_last() {
        Some((last, rest)) if !rest.is_empty() && !more => format!("{} and {last}", rest.join(", ")),
        _ if more => format!("{} and further on", words.join(", ")),
        _ => words.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn one(text: &str, old: &str, new: &str) -> String {
        replace(text, old, new, false).unwrap().text
    }

    #[test]
    fn both_sides_are_literal() {
        assert_eq!(
            one("say(\"end\");\n", "\"end\"", "\"$& $1 $$ ${x} \\1\""),
            "say(\"$& $1 $$ ${x} \\1\");\n"
        );
        assert_eq!(
            one("X\n", "X", "\\title{A}\\newline\n  \\"),
            "\\title{A}\\newline\n  \\\n"
        );
        assert_eq!(one("it’s\n", "’", "'"), "it's\n");
    }

    #[test]
    fn refusals() {
        assert_eq!(replace("pq", "", "X", true), Err(ReplaceError::EmptyOld));
        assert_eq!(replace("pq", "p", "p", false), Err(ReplaceError::Identical));
        assert_eq!(replace("pq", "x", "p", true), Err(ReplaceError::NotFound));
    }

    #[test]
    fn overlapping_occurrences_make_a_match_ambiguous() {
        let text = "retry()\nretry()\nretry()\n";
        let error = replace(text, "retry()\nretry()", "stop()", false).unwrap_err();
        assert_eq!(
            error,
            ReplaceError::Ambiguous {
                count: 2,
                lines: vec![1, 2]
            }
        );
        assert!(
            error
                .to_string()
                .contains("occurs 2 times, at line 1 and line 2."),
            "{error}"
        );
        assert_eq!(
            replace("ééé", "éé", "x", false),
            Err(ReplaceError::Ambiguous {
                count: 2,
                lines: vec![1, 1]
            })
        );
        assert_eq!(replace("aaa", "aa", "x", true).unwrap().text, "xa");
    }

    #[test]
    fn only_the_first_lines_are_named() {
        let error = replace(&"k\n".repeat(9), "k", "v", false).unwrap_err();
        assert!(
            error
                .to_string()
                .contains("9 times, at line 1, line 2, line 3, line 4, line 5 and further on.")
        );
        let error = replace(&"k\n".repeat(20_000), "k", "v", false).unwrap_err();
        assert!(error.to_string().contains("at least 10000 times"));
    }

    #[test]
    fn each_line_keeps_its_own_ending() {
        assert_eq!(
            one("one\ntwo\r\nthree\nfour\n", "one\ntwo\nthree", "1\n2\n3"),
            "1\n2\r\n3\nfour\n"
        );
        assert_eq!(
            one("fn a\r\n{\r\n}\r\n", "fn a\r\n{", "fn b\r\n{"),
            "fn b\r\n{\r\n}\r\n"
        );
        assert_eq!(one("a\r\nb\r\n", "a\nb", "a\nx\ny"), "a\r\nx\r\ny\r\n");
        assert_eq!(one("a\r\nb\r\n", "a", "x\ny"), "x\r\ny\r\nb\r\n");
        assert_eq!(one("a\nb\n", "a", "x\r\ny"), "x\ny\nb\n");
        assert_eq!(one("a\r\nb", "b", "x\ny"), "a\r\nx\r\ny");
        assert_eq!(one("a", "a", "x\r\ny"), "x\r\ny");
        // Lines that stay keep theirs, whatever is put between them.
        assert_eq!(one("a\nb\r\nc\n", "a\nb\nc", "a\nnew\nb\nc"), "a\nnew\nb\r\nc\n");
        assert_eq!(
            replace("a\nb\r\nc\n", "a\nb\nc\n", "x\ny\nz\nw\n", false),
            Err(ReplaceError::MixedEndings { line: 1 })
        );
        // Deleting a line with its break never leaves half of the break.
        assert_eq!(one("a\r\nb\r\nc\r\n", "b\n", ""), "a\r\nc\r\n");
        assert_eq!(one("a\r\nb\r\nc\r\n", "\nb", ""), "a\r\nc\r\n");
    }

    #[test]
    fn endings_alone_can_be_changed() {
        assert_eq!(one("a\r\nb\r\n", "a\r\n", "a\n"), "a\nb\r\n");
        assert_eq!(
            replace("a\nb\n", "a\r\n", "a\n", false),
            Err(ReplaceError::NotFound)
        );
    }

    #[test]
    fn lines_of_the_new_text_are_told() {
        let replaced = replace("a\nk\nb\nk\n", "k", "x\ny", true).unwrap();
        assert_eq!(replaced.text, "a\nx\ny\nb\nx\ny\n");
        assert_eq!(replaced.lines, [(2, 3), (5, 6)]);
        assert_eq!(replace("a\nk\nb\n", "k\n", "", false).unwrap().lines, [(2, 2)]);
        assert_eq!(
            replace("a\nk\nb\n", "k\n", "x\ny\n", false).unwrap().lines,
            [(2, 3)]
        );
    }

    proptest! {
        #[test]
        fn what_lies_outside_the_match_stays(before in "[ab\r\n]{0,8}", after in "[ab\r\n]{0,8}", new in "[x\n]{0,5}") {
            let text = format!("{before}OLD{after}");
            let replaced = replace(&text, "OLD", &new, false).unwrap();
            prop_assert!(replaced.text.starts_with(&before));
            prop_assert!(replaced.text.ends_with(&after));
            let inner = &replaced.text[before.len()..replaced.text.len() - after.len()];
            prop_assert_eq!(to_lf(inner).into_owned(), new);
        }

        #[test]
        fn on_lf_text_it_is_the_plain_replacement(text in "[ab\n]{0,20}", old in "[ab\n]{1,3}", new in "[cb\n]{0,3}") {
            match replace(&text, &old, &new, true) {
                Ok(replaced) => prop_assert_eq!(replaced.text, text.replace(&old, &new)),
                Err(ReplaceError::NotFound) => prop_assert!(!text.contains(&old)),
                Err(error) => prop_assert_eq!((error, &old), (ReplaceError::Identical, &new)),
            }
        }
    }
}
