//! The line edits that turn one buffer text into another.

use std::time::{Duration, Instant};

use similar::{Algorithm, DiffOp, capture_diff_slices_deadline};

use crate::protocol::change::LineEdit;

/// After this time the rest of the difference is taken as one edit instead of being minimised.
const DEADLINE: Duration = Duration::from_millis(200);

/// The edits from `old` to `new` (texts of a buffer: `\n` ends a line, no final `\n` means `noeol`),
/// ascending and disjoint, in lines of `old`; and `endofline` where it changes.
///
/// A buffer always has a line: the empty text is one empty line with `endofline` on.
pub fn line_edits(old: &str, new: &str) -> (Vec<LineEdit>, Option<bool>) {
    let (old_lines, old_eol) = buffer_lines(old);
    let (new_lines, new_eol) = buffer_lines(new);
    let deadline = Instant::now() + DEADLINE;
    let ops = capture_diff_slices_deadline(Algorithm::Myers, &old_lines, &new_lines, Some(deadline));
    let mut edits: Vec<LineEdit> = Vec::new();
    for op in ops {
        if matches!(op, DiffOp::Equal { .. }) {
            continue;
        }
        let (start, end) = (op.old_range().start, op.old_range().end);
        let lines = new_lines
            .get(op.new_range())
            .unwrap_or_default()
            .iter()
            .map(|line| (*line).to_owned());
        match edits.last_mut() {
            Some(last) if last.end == start => {
                last.end = end;
                last.lines.extend(lines);
            }
            _ => edits.push(LineEdit {
                start,
                end,
                lines: lines.collect(),
            }),
        }
    }
    (edits, (old_eol != new_eol).then_some(new_eol))
}

/// The lines of a buffer text and its `endofline`.
fn buffer_lines(text: &str) -> (Vec<&str>, bool) {
    match text.strip_suffix('\n') {
        Some(body) => (body.split('\n').collect(), true),
        None => (text.split('\n').collect(), text.is_empty()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn edit(start: usize, end: usize, lines: &[&str]) -> LineEdit {
        LineEdit {
            start,
            end,
            lines: lines.iter().map(|line| (*line).to_owned()).collect(),
        }
    }

    fn apply(old: &str, edits: &[LineEdit], eol: Option<bool>) -> String {
        let (lines, old_eol) = buffer_lines(old);
        let mut lines: Vec<String> = lines.into_iter().map(str::to_owned).collect();
        for edit in edits.iter().rev() {
            lines.splice(edit.start..edit.end, edit.lines.clone());
        }
        let end = if eol.unwrap_or(old_eol) { "\n" } else { "" };
        lines.join("\n") + end
    }

    #[test]
    fn finds_the_smallest_edits() {
        assert_eq!(
            line_edits("a\nb\nc\n", "a\nX\nc\n"),
            (vec![edit(1, 2, &["X"])], None)
        );
        assert_eq!(
            line_edits("a\nb\n", "a\nn\nb\n"),
            (vec![edit(1, 1, &["n"])], None)
        );
        assert_eq!(line_edits("a\nb\nc\n", "a\nc\n"), (vec![edit(1, 2, &[])], None));
        assert_eq!(line_edits("a\n", "a\n"), (vec![], None));
        assert_eq!(
            line_edits("a\nb\nc\nd\n", "A\nb\nc\nD\n"),
            (vec![edit(0, 1, &["A"]), edit(3, 4, &["D"])], None)
        );
    }

    #[test]
    fn knows_the_final_newline_and_the_empty_buffer() {
        assert_eq!(line_edits("a\n", "a"), (vec![], Some(false)));
        assert_eq!(line_edits("a", "a\n"), (vec![], Some(true)));
        assert_eq!(line_edits("", "a\n"), (vec![edit(0, 1, &["a"])], None));
        assert_eq!(line_edits("a\nb\n", ""), (vec![edit(0, 2, &[""])], None));
        assert_eq!(line_edits("", "a"), (vec![edit(0, 1, &["a"])], Some(false)));
    }

    proptest! {
        #[test]
        fn the_edits_lead_to_the_new_text(old in "[ab\n]{0,20}", new in "[abc\n]{0,20}") {
            let (edits, eol) = line_edits(&old, &new);
            prop_assert!(edits.is_sorted_by(|a, b| a.end < b.start));
            let made = apply(&old, &edits, eol);
            // An empty buffer holds one empty line: its two spellings are the same text.
            let same = made == new || (made == "\n" && new.is_empty());
            prop_assert!(same, "{:?} != {:?}", made, new);
        }
    }
}
