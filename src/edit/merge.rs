//! Three-way merges of texts, line by line.

/// Two changes of one text, put together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Merged {
    /// They touch different lines.
    Clean(String),
    /// They touch the same lines.
    Conflict {
        /// The text with both versions of these lines between conflict markers, ours first.
        marked: String,
        /// How many of our lines stand between them; at least 1.
        lines: usize,
    },
}

/// Makes both changes of `base`: the one to `ours` and the one to `theirs`. What both did alike is done once.
pub fn merge(base: &str, ours: &str, theirs: &str) -> Merged {
    match diffy::merge(base, ours, theirs) {
        Ok(text) => Merged::Clean(text),
        Err(marked) => Merged::Conflict {
            lines: our_lines(&marked).max(1),
            marked,
        },
    }
}

/// Lines between `<<<<<<<` and the next marker.
fn our_lines(marked: &str) -> usize {
    let (mut count, mut inside) = (0, false);
    for line in marked.lines() {
        if line.starts_with("<<<<<<<") {
            inside = true;
        } else if line.starts_with("|||||||") || line.starts_with("=======") {
            inside = false;
        } else {
            count += usize::from(inside);
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_of_different_lines_are_both_made() {
        let base = "1\n2\n3\n4\n5\n6\n";
        let merged = merge(base, "1\n2\n3\n4\n5\nsix\n", "one\n2\n3\n4\n5\n6\n");
        assert_eq!(merged, Merged::Clean("one\n2\n3\n4\n5\nsix\n".into()));
        assert_eq!(merge(base, base, "x\n"), Merged::Clean("x\n".into()));
    }

    #[test]
    fn changes_of_the_same_line_are_shown_both() {
        match merge("1\n2\n3\n", "1\nmine\nmore\n3\n", "1\nold\n3\n") {
            Merged::Conflict { marked, lines } => {
                assert_eq!(lines, 2);
                for line in ["mine\n", "more\n", "old\n", "<<<<<<<", ">>>>>>>"] {
                    assert!(marked.contains(line), "{marked}");
                }
            }
            clean @ Merged::Clean(_) => panic!("{clean:?}"),
        }
    }

    #[test]
    fn a_text_without_a_last_newline_keeps_it_so() {
        let merged = merge("a\nb\nc\nd", "A\nb\nc\nd", "a\nb\nc\nd\n");
        assert_eq!(merged, Merged::Clean("A\nb\nc\nd\n".into()));
    }
}
