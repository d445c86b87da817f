//! Which lines of two contents are the same, by git's rules: what a version hands to the one before it.

use git2::{DiffOptions, Patch};

use crate::vcs::error::VcsError;
use crate::vcs::numbered::Numbered;

/// Equal ends of two contents are cut off in pieces of this size, as git does: what is cut changes which of
/// several equal lines counts as new.
const TAIL: usize = 1024;

/// Lines of a version that stand in the file that is blamed.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    /// The first line in the file that is blamed, from 0.
    pub start: usize,
    /// How many.
    pub lines: usize,
    /// The first line in the version, from 0.
    pub there: usize,
}

/// How many lines a content has; the last may lack its end.
pub fn count_lines(content: &[u8]) -> usize {
    let ends = content.iter().filter(|byte| **byte == b'\n').count();
    ends + usize::from(content.last().is_some_and(|byte| *byte != b'\n'))
}

/// Lines that differ: from 0, in the old content and in the new.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hunk {
    /// The first line of the old content, or the one that it would have.
    pub old: usize,
    /// How many there.
    pub old_lines: usize,
    /// The first line of the new content, or the one that it would have.
    pub new: usize,
    /// How many there.
    pub new_lines: usize,
}

/// What differs between two contents, in order.
///
/// # Errors
/// What libgit2 says.
pub fn hunks(old: &Numbered, new: &Numbered) -> Result<Vec<Hunk>, VcsError> {
    let tail = common_tail(&old.bytes, &new.bytes);
    let without_tail = |side: &Numbered| side.bytes.len() - tail;
    compare(old.upto(without_tail(old)), new.upto(without_tail(new)))
}

fn compare(old: &[u8], new: &[u8]) -> Result<Vec<Hunk>, VcsError> {
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

/// Splits a span at the hunks: what lies between them is the same in the old content and goes to
/// `passed`, with its place there; the rest goes to `left`.
pub fn split(span: Span, hunks: &[Hunk], passed: &mut Vec<Span>, left: &mut Vec<Span>) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vcs::numbered::Numbers;

    fn spans(list: &[Span]) -> Vec<(usize, usize, usize)> {
        list.iter()
            .map(|span| (span.start, span.lines, span.there))
            .collect()
    }

    #[test]
    fn a_span_is_split_at_what_was_put_in_and_taken_out() {
        // `b` is new, `x` and `y` are gone.
        let hunks = compare(b"a\nc\nx\ny\nd\n", b"a\nb\nc\nd\n").unwrap();
        let whole = Span {
            start: 10,
            lines: 4,
            there: 0,
        };
        let (mut passed, mut left) = (Vec::new(), Vec::new());
        split(whole, &hunks, &mut passed, &mut left);
        assert_eq!(spans(&left), [(11, 1, 1)]);
        assert_eq!(spans(&passed), [(10, 1, 0), (12, 1, 1), (13, 1, 4)]);
        // Only a part of the lines is asked for.
        let last = Span {
            start: 0,
            lines: 1,
            there: 3,
        };
        let (mut passed, mut left) = (Vec::new(), Vec::new());
        split(last, &hunks, &mut passed, &mut left);
        assert_eq!((spans(&passed), spans(&left)), (vec![(0, 1, 4)], Vec::new()));
    }

    #[test]
    fn numbers_in_place_of_lines_change_no_hunk() {
        let mut rng = fastrand::Rng::with_seed(11);
        let words = [
            "",
            "  ",
            "\t",
            "}",
            "  }",
            "\t}",
            "    if x {",
            "end",
            "\r",
            "a longer line",
            "b",
        ];
        let mut known = Numbers::default();
        for _ in 0..400 {
            let mut side = |lines: &mut Vec<String>| {
                for _ in 0..rng.usize(1..6) {
                    let at = rng.usize(0..=lines.len());
                    if rng.bool() || at == lines.len() {
                        let word = words[rng.usize(0..words.len())];
                        let tail = if rng.u8(0..3) == 0 {
                            rng.u8(0..9).to_string()
                        } else {
                            String::new()
                        };
                        lines.insert(at, format!("{word}{tail}"));
                    } else {
                        lines.remove(at);
                    }
                }
                lines.join("\n") + if rng.bool() { "\n" } else { "" }
            };
            let mut lines: Vec<String> = Vec::new();
            for _ in 0..8 {
                side(&mut lines);
            }
            let (old, new) = (side(&mut lines), side(&mut lines));
            let tail = common_tail(old.as_bytes(), new.as_bytes());
            let plain = compare(
                &old.as_bytes()[..old.len() - tail],
                &new.as_bytes()[..new.len() - tail],
            );
            let numbered = hunks(
                &Numbered::new(old.clone().into_bytes(), &mut known),
                &Numbered::new(new.clone().into_bytes(), &mut known),
            );
            assert_eq!(numbered.unwrap(), plain.unwrap(), "{old:?} {new:?}");
        }
    }

    #[test]
    fn the_end_that_is_cut_off_ends_at_a_line() {
        let tail = "same line\n".repeat(500);
        let (old, new) = (format!("a\n{tail}"), format!("b\n{tail}"));
        let cut = common_tail(old.as_bytes(), new.as_bytes());
        assert!(cut > 0 && cut.is_multiple_of(10) && cut <= tail.len(), "{cut}");
        assert_eq!(common_tail(b"a\n", b"b\n"), 0);
        assert_eq!(count_lines(b"a\nb"), 2);
        assert_eq!(count_lines(b""), 0);
    }
}
