//! What a call would change, for the person who is asked.

use crate::edit::unified::unified_diff_between;
use crate::fs::endings::to_lf;

/// More is not read in a float.
const MOST_LINES: usize = 2_000;
const MOST_BYTES: usize = 128 * 1024;

/// A file before or after: its name and its text.
pub type Side<'a> = (&'a str, &'a str);

/// The difference as a diff. Line endings are not told apart: a float shows them badly, and the tools keep
/// them.
pub fn diff((old_name, old): Side<'_>, (new_name, new): Side<'_>) -> String {
    unified_diff_between((old_name, &to_lf(old)), (new_name, &to_lf(new)))
}

/// The change of one file, cut to what a float can show.
pub fn change(name: &str, old: &str, new: &str) -> String {
    clip(&diff((name, old), (name, new)))
}

/// A text cut to what a float can show; the last line says what is left out.
pub fn clip(text: &str) -> String {
    let mut end = 0;
    for (shown, line) in text.split_inclusive('\n').enumerate() {
        if shown >= MOST_LINES || end + line.len() > MOST_BYTES {
            let more = text.split_inclusive('\n').count() - shown;
            let shown = text.get(..end).unwrap_or_default();
            return format!("{shown}… {more} more lines");
        }
        end += line.len();
    }
    text.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_at_a_line() {
        assert_eq!(clip("a\nb"), "a\nb");
        let long = clip(&"x\n".repeat(MOST_LINES + 5));
        assert!(long.ends_with("x\n… 5 more lines"), "{long}");
        assert_eq!(clip(&"y".repeat(MOST_BYTES + 1)), "… 1 more lines");
    }

    #[test]
    fn line_endings_are_not_told_apart() {
        assert_eq!(diff(("a", "x\r\ny\r\n"), ("a", "x\ny\n")), "");
        assert!(diff(("a", "x\r\n"), ("b", "y\r\n")).starts_with("--- a/a\n+++ b/b\n@@"));
    }
}
