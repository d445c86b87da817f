//! How strictly a line of a patch is compared with a line of the file.

use std::borrow::Cow;

/// How lines are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Pass {
    /// As they are.
    Exact,
    /// Without blanks and tabs at the end.
    NoTrailing,
    /// Without white space at both ends.
    Trimmed,
    /// Runs of blanks and tabs taken as one blank, both ends trimmed.
    Collapsed,
}

/// From the strictest on.
pub const PASSES: [Pass; 4] = [Pass::Exact, Pass::NoTrailing, Pass::Trimmed, Pass::Collapsed];

impl Pass {
    /// The line as it is compared.
    pub fn of(self, line: &str) -> Cow<'_, str> {
        match self {
            Self::Exact => Cow::Borrowed(line),
            Self::NoTrailing => Cow::Borrowed(line.trim_end_matches([' ', '\t'])),
            Self::Trimmed => Cow::Borrowed(line.trim()),
            Self::Collapsed => {
                let line = line.trim();
                if line.contains("  ") || line.contains('\t') {
                    let words = line.split([' ', '\t']).filter(|word| !word.is_empty());
                    Cow::Owned(words.collect::<Vec<_>>().join(" "))
                } else {
                    Cow::Borrowed(line)
                }
            }
        }
    }
}
