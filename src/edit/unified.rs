//! The difference of two texts as people and models read it.

use std::time::Duration;

use similar::{ChangeTag, TextDiff};

use crate::words::count;

/// After this time the rest is shown as replaced instead of being minimised.
const DEADLINE: Duration = Duration::from_millis(300);
const CONTEXT: usize = 3;

/// Sizes of a difference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DiffStat {
    /// Lines added.
    pub added: usize,
    /// Lines removed.
    pub removed: usize,
    /// Stretches of changed lines, each with no unchanged line in it.
    pub hunks: usize,
}

impl DiffStat {
    /// In the words of a summary, for example `1 hunk · +7 −4`.
    pub fn words(&self) -> String {
        format!(
            "{} · +{} −{}",
            count(self.hunks, "hunk"),
            self.added,
            self.removed
        )
    }
}

/// A unified diff with three lines of context; empty when the texts are equal. `path` is as it shall
/// be shown, relative to the project.
pub fn unified_diff(path: &str, old: &str, new: &str) -> String {
    unified_diff_between((path, old), (path, new))
}

/// [`unified_diff`] of a file that also moves: path and text before, path and text after.
pub fn unified_diff_between((old_path, old): (&str, &str), (new_path, new): (&str, &str)) -> String {
    let (old, new) = (lines(old), lines(new));
    let diff = diff(&old, &new);
    let mut unified = diff.unified_diff();
    unified
        .context_radius(CONTEXT)
        .header(&format!("a/{old_path}"), &format!("b/{new_path}"));
    unified.to_string()
}

/// How large the difference is.
pub fn diff_stat(old: &str, new: &str) -> DiffStat {
    let (old, new) = (lines(old), lines(new));
    let diff = diff(&old, &new);
    let mut stat = DiffStat {
        hunks: diff.grouped_ops(0).len(),
        ..DiffStat::default()
    };
    for change in diff.iter_all_changes() {
        match change.tag() {
            ChangeTag::Insert => stat.added += 1,
            ChangeTag::Delete => stat.removed += 1,
            ChangeTag::Equal => {}
        }
    }
    stat
}

fn diff<'old, 'new>(old: &[&'old str], new: &[&'new str]) -> TextDiff<'old, 'new, str> {
    let mut config = TextDiff::configure();
    config.timeout(DEADLINE).newline_terminated(true);
    config.diff_slices(old, new)
}

/// Lines with their ends; a lone `\r` ends none.
fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_lines_with_context() {
        let diff = unified_diff("a.rs", "1\n2\n3\n4\n5\n6\n7\n8\n", "1\n2\n3\n4\nX\n6\n7\n8\n");
        assert_eq!(
            diff,
            "--- a/a.rs\n+++ b/a.rs\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+X\n 6\n 7\n 8\n"
        );
        assert_eq!(unified_diff("a", "x", "x"), "");
    }

    #[test]
    fn says_when_the_final_newline_is_missing() {
        let diff = unified_diff("a", "x\n", "x");
        assert!(diff.contains("\\ No newline at end of file"), "{diff}");
    }

    #[test]
    fn counts() {
        let stat = diff_stat("a\nb\nc\nd\n", "A\nb\nc\nD\nE\n");
        assert_eq!(
            stat,
            DiffStat {
                added: 3,
                removed: 2,
                hunks: 2
            }
        );
        assert_eq!(stat.words(), "2 hunks · +3 −2");
        assert_eq!(diff_stat("", "a\n").words(), "1 hunk · +1 −0");
    }
}
