//! Line diffs of small pieces: what really changed inside an edit.

use std::ops::Range;
use std::time::{Duration, Instant};

use similar::{Algorithm, DiffOp, capture_diff_slices_deadline};

use crate::protocol::change::LineEdit;
use crate::review::lines::Lines;

/// Time for a diff on the editor's main thread; what is not finished by then stays coarse.
pub(super) const WHILE_TYPING: Duration = Duration::from_millis(4);
/// Time for the diff of a whole file, when it is loaded again.
pub(super) const ON_RELOAD: Duration = Duration::from_millis(50);

/// Lines of the old text and the lines that stand in their place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) old: Range<usize>,
    pub(super) new: Range<usize>,
}

/// The differing runs, ascending, at least one equal line between two of them.
pub(super) fn changes(old: &[String], new: &[String], time: Duration) -> Vec<Change> {
    let start = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let (old_tail, new_tail) = (&old[start..], &new[start..]);
    let end = old_tail
        .iter()
        .rev()
        .zip(new_tail.iter().rev())
        .take_while(|(a, b)| a == b)
        .count();
    let old_middle = &old_tail[..old_tail.len() - end];
    let new_middle = &new_tail[..new_tail.len() - end];
    if old_middle.is_empty() && new_middle.is_empty() {
        return Vec::new();
    }
    if old_middle.is_empty() || new_middle.is_empty() {
        return vec![Change {
            old: start..start + old_middle.len(),
            new: start..start + new_middle.len(),
        }];
    }
    let deadline = Instant::now() + time;
    let ops = capture_diff_slices_deadline(Algorithm::Myers, old_middle, new_middle, Some(deadline));
    let mut found: Vec<Change> = Vec::new();
    for op in ops.iter().filter(|op| !matches!(op, DiffOp::Equal { .. })) {
        let shifted = |range: Range<usize>| range.start + start..range.end + start;
        let (old, new) = (shifted(op.old_range()), shifted(op.new_range()));
        match found.last_mut() {
            Some(last) if last.old.end == old.start && last.new.end == new.start => {
                last.old.end = old.end;
                last.new.end = new.end;
            }
            _ => found.push(Change { old, new }),
        }
    }
    found
}

/// The edits that make `new` of `old`, ascending.
pub(super) fn between(old: &Lines, new: &Lines, time: Duration) -> Vec<LineEdit> {
    // What both share at the ends, most of a file as a rule, is not even taken out of the texts.
    let start = old.common_start(0..old.len(), new, 0..new.len());
    let end = old.common_end(start..old.len(), new, start..new.len());
    let whole = LineEdit {
        start,
        end: old.len() - end,
        lines: new.get(start..new.len() - end),
    };
    refine(old, &whole, time)
}

/// `edit` of `text` as the smallest edits that do the same, ascending.
pub(super) fn refine(text: &Lines, edit: &LineEdit, time: Duration) -> Vec<LineEdit> {
    let old = text.get(edit.start..edit.end);
    changes(&old, &edit.lines, time)
        .into_iter()
        .map(|change| LineEdit {
            start: edit.start + change.old.start,
            end: edit.start + change.old.end,
            lines: edit.lines[change.new].to_vec(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str) -> Vec<String> {
        text.chars().map(String::from).collect()
    }

    #[test]
    fn three_changed_lines_are_three_changes() {
        let found = changes(&split("abcdefgh"), &split("aBcdEfgh!"), WHILE_TYPING);
        let expected = [(1..2, 1..2), (4..5, 4..5), (8..8, 8..9)];
        assert_eq!(found, expected.map(|(old, new)| Change { old, new }));
    }

    #[test]
    fn equal_texts_have_no_change() {
        assert!(changes(&split("abc"), &split("abc"), WHILE_TYPING).is_empty());
    }
}
