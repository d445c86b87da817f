//! What stays in the conversation of a text that is too long for it.

/// A result over this many bytes is offloaded.
pub const MAX_BYTES: usize = 50 * 1024;
/// A result over this many lines is offloaded.
pub const MAX_LINES: usize = 2000;

/// The most that is shown of the start, and of the end: bytes and lines.
const HEAD: (usize, usize) = (6 * 1024, 75);
const TAIL: (usize, usize) = (2 * 1024, 25);

/// The start and the end of a text, with a line between them that says how many lines are left out.
pub(super) fn preview(text: &str) -> String {
    let head = head(text);
    let rest = text.get(head.len()..).unwrap_or_default();
    let tail = tail(rest);
    let between = rest.get(..rest.len() - tail.len()).unwrap_or_default();
    let lines = between.trim_matches('\n').lines().count();
    let left_out = match lines {
        0 => return text.trim_end().to_owned(),
        1 => format!("{} bytes", between.len()),
        lines => format!("{lines} lines"),
    };
    let (head, tail) = (head.trim_end(), tail.trim_matches('\n'));
    format!("{head}\n[… {left_out} …]\n{tail}")
}

/// Whole lines where that leaves something.
fn head(text: &str) -> &str {
    let (bytes, lines) = HEAD;
    let end = boundary(text, bytes.min(text.len()));
    let mut start = text.get(..end).unwrap_or_default();
    if let Some((at, _)) = start.match_indices('\n').nth(lines - 1) {
        start = start.get(..at).unwrap_or_default();
    } else if end < text.len()
        && let Some(at) = start.rfind('\n')
    {
        start = start.get(..at).unwrap_or_default();
    }
    start
}

fn tail(text: &str) -> &str {
    let (bytes, lines) = TAIL;
    let begin = boundary(text, text.len().saturating_sub(bytes));
    let end = text.get(begin..).unwrap_or_default();
    let body = end.trim_end_matches('\n');
    if let Some((at, _)) = body.rmatch_indices('\n').nth(lines - 1) {
        return end.get(at + 1..).unwrap_or_default();
    }
    match body.find('\n') {
        Some(at) if begin > 0 => end.get(at + 1..).unwrap_or_default(),
        _ => end,
    }
}

/// The last place between two characters that is not behind `at`.
fn boundary(text: &str, at: usize) -> usize {
    (0..=at)
        .rev()
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn start_and_end_are_shown_in_whole_lines() {
        let text: String = (1..=3000).map(|at| format!("line {at}\n")).collect();
        let shown = preview(&text);
        let lines: Vec<&str> = shown.lines().collect();
        assert_eq!((lines[0], lines[74]), ("line 1", "line 75"));
        assert_eq!(lines[75], "[… 2900 lines …]");
        assert_eq!((lines[76], lines.len()), ("line 2976", 101));
        assert_eq!(lines[100], "line 3000");
    }

    #[test]
    fn one_long_line_is_cut_between_characters() {
        let text = "é".repeat(100_000);
        let shown = preview(&text);
        assert!(
            shown.len() < 9_000 && shown.contains("[… 191808 bytes …]"),
            "{}",
            &shown[6_000..6_300]
        );
        assert!(shown.starts_with('é') && shown.ends_with('é'));
    }
}
