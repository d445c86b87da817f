//! Indentation carried over from how a patch writes lines to how the file has them.
//!
//! When lines were found although their indentation differs (tabs for blanks, a block moved in), the lines
//! that come in between must be indented as the file is. What does not follow from the lines that were
//! found is not guessed.

/// How the indentation of a patch becomes the file's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Indents {
    /// Indentation in the patch, and in the file; each of the patch once, the longest first.
    known: Vec<(String, String)>,
    /// One level in the patch, and in the file.
    step: Option<(String, String)>,
    /// The same indentation of the patch stands for several of the file.
    unclear: Vec<String>,
}

impl Indents {
    /// Learns from lines that were found: each as the patch has it and as the file has it.
    pub fn learn<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let mut indents = Self::default();
        for (patch, file) in pairs {
            if patch.trim().is_empty() {
                continue;
            }
            let (of_patch, of_file) = (indentation(patch), indentation(file));
            match indents.known.iter().find(|(known, _)| known == of_patch) {
                None => indents.known.push((of_patch.to_owned(), of_file.to_owned())),
                Some((_, known)) if known == of_file => {}
                Some(_) => indents.unclear.push(of_patch.to_owned()),
            }
        }
        indents
            .known
            .sort_by_key(|(patch, _)| std::cmp::Reverse(patch.len()));
        indents.step = indents.find_step();
        indents
    }

    /// A line of the patch as the file would have it; `None` where that does not follow.
    pub fn translate(&self, line: &str) -> Option<String> {
        let indent = indentation(line);
        let text = line.get(indent.len()..)?;
        let same = self.known.iter().all(|(patch, file)| patch == file);
        if text.is_empty() || (same && self.unclear.is_empty()) {
            return Some(line.to_owned());
        }
        Some(self.indent(indent)? + text)
    }

    fn indent(&self, indent: &str) -> Option<String> {
        if self.unclear.iter().any(|unclear| unclear == indent) {
            return None;
        }
        let zero = (String::new(), String::new());
        let zero = (self.step.is_some() && self.other_kind()).then_some(&zero);
        let (base, in_file) = self
            .known
            .iter()
            .chain(zero)
            .find(|(known, _)| indent.starts_with(known.as_str()))?;
        if self.unclear.contains(base) {
            return None;
        }
        let mut rest = indent.get(base.len()..)?;
        let mut result = in_file.clone();
        while !rest.is_empty() {
            let (patch, file) = self.step.as_ref()?;
            rest = rest.strip_prefix(patch.as_str())?;
            result.push_str(file);
        }
        Some(result)
    }

    /// Whether the patch has blanks where the file has tabs, or the other way round: then both count
    /// from the margin.
    fn other_kind(&self) -> bool {
        let kinds = |(patch, file): &(String, String)| {
            let (patch, file) = (only(patch), only(file));
            patch.is_some() && file.is_some() && patch != file
        };
        self.known.iter().any(kinds)
    }

    fn find_step(&self) -> Option<(String, String)> {
        let margin = (String::new(), String::new());
        let margin = self.other_kind().then_some(&margin);
        let mut places: Vec<_> = self.known.iter().chain(margin).collect();
        places.dedup();
        places.windows(2).find_map(|pair| match pair {
            [(deep, in_file), (base, base_in_file)] => {
                let patch = deep.strip_prefix(base.as_str())?;
                let file = in_file.strip_prefix(base_in_file.as_str())?;
                only(patch).zip(only(file))?;
                let divisor = gcd(patch.len(), file.len());
                Some((
                    patch.get(..patch.len() / divisor)?.to_owned(),
                    file.get(..file.len() / divisor)?.to_owned(),
                ))
            }
            _ => None,
        })
    }
}

fn indentation(line: &str) -> &str {
    let bare = line.trim_start_matches([' ', '\t']);
    line.get(..line.len() - bare.len()).unwrap_or_default()
}

/// The character that the text is made of; `None` of the empty text and of a mixture.
fn only(text: &str) -> Option<char> {
    let first = text.chars().next()?;
    text.chars().all(|c| c == first).then_some(first)
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a.max(1) } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn say(pairs: &[(&str, &str)], line: &str) -> Option<String> {
        Indents::learn(pairs.iter().copied()).translate(line)
    }

    #[test]
    fn blanks_become_tabs_at_every_depth() {
        let pairs = [("    ifdef V", "\tifdef V"), ("        echo 1", "\t\techo 1")];
        assert_eq!(say(&pairs, "        echo 2").unwrap(), "\t\techo 2");
        assert_eq!(say(&pairs, "            deep").unwrap(), "\t\t\tdeep");
        assert_eq!(say(&pairs, "all:").unwrap(), "all:");
        assert_eq!(say(&[("        x", "\t\tx")], "    y").unwrap(), "\ty");
        assert_eq!(say(&[("\tx", "    x")], "\t\ty").unwrap(), "        y");
    }

    #[test]
    fn a_block_that_stands_deeper_takes_its_new_lines_along() {
        let pairs = [("if a:", "    if a:"), ("  b()", "      b()")];
        assert_eq!(say(&pairs, "  c()").unwrap(), "      c()");
        assert_eq!(say(&pairs, "    d()").unwrap(), "        d()");
        assert_eq!(say(&[("b", "  b  ")], "X").unwrap(), "  X");
    }

    #[test]
    fn what_does_not_follow_is_not_guessed() {
        assert_eq!(say(&[("a", "a"), ("b", "    b")], "c"), None);
        assert_eq!(say(&[("  a", "      a")], "    b"), None);
        assert_eq!(say(&[("    a", "        a")], "b"), None);
    }

    #[test]
    fn what_is_equal_stays() {
        assert_eq!(say(&[("  a", "  a  ")], "\t odd").unwrap(), "\t odd");
        assert_eq!(say(&[("a", "    a")], "").unwrap(), "");
    }
}
