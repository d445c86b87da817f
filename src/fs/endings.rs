//! Line endings. A line ends with `\n` or `\r\n`; a lone `\r` is a character like any other.

use std::borrow::Cow;

/// How a line ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineEnding {
    /// `\n`
    Lf,
    /// `\r\n`
    CrLf,
}

impl LineEnding {
    /// The characters.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Lf => "\n",
            Self::CrLf => "\r\n",
        }
    }

    /// The ending of a line that is given with its ending; `None` for the last one without.
    pub fn of_line(line: &str) -> Option<Self> {
        if line.ends_with("\r\n") {
            Some(Self::CrLf)
        } else if line.ends_with('\n') {
            Some(Self::Lf)
        } else {
            None
        }
    }

    /// The ending that all lines of the text have; `None` when they differ or there is none.
    pub fn throughout(text: &str) -> Option<Self> {
        let lines = text.bytes().filter(|byte| *byte == b'\n').count();
        let crlf = text.matches("\r\n").count();
        match (lines, crlf) {
            (0, _) => None,
            (_, 0) => Some(Self::Lf),
            (lines, crlf) if lines == crlf => Some(Self::CrLf),
            _ => None,
        }
    }
}

/// The text with `\n` alone. A `\r` that no `\n` follows stays.
pub fn to_lf(text: &str) -> Cow<'_, str> {
    if text.contains("\r\n") {
        Cow::Owned(text.replace("\r\n", "\n"))
    } else {
        Cow::Borrowed(text)
    }
}

/// Gives `new` the line endings of `like`, where `like` has one kind throughout and `new` too.
/// Where either is mixed, or `like` has no line break, `new` stays as it is.
pub fn adapt_endings(new: &str, like: &str) -> String {
    match (LineEnding::throughout(new), LineEnding::throughout(like)) {
        (Some(LineEnding::Lf), Some(LineEnding::CrLf)) => new.replace('\n', "\r\n"),
        (Some(LineEnding::CrLf), Some(LineEnding::Lf)) => new.replace("\r\n", "\n"),
        _ => new.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_text_takes_the_endings_of_the_old() {
        assert_eq!(adapt_endings("a\nb\n", "x\r\ny\r\n"), "a\r\nb\r\n");
        assert_eq!(adapt_endings("a\r\nb\r\n", "x\r\ny\r\n"), "a\r\nb\r\n");
        assert_eq!(adapt_endings("a\r\nb", "x\n"), "a\nb");
        assert_eq!(adapt_endings("a\nb\n", "x\r\ny\n"), "a\nb\n");
        assert_eq!(adapt_endings("a\r\nb\n", "x\r\n"), "a\r\nb\n");
        assert_eq!(adapt_endings("a\nb", "no line break"), "a\nb");
    }

    #[test]
    fn a_lone_carriage_return_is_no_line_break() {
        assert_eq!(LineEnding::throughout("a\rb"), None);
        assert_eq!(LineEnding::throughout("a\rb\n"), Some(LineEnding::Lf));
        assert_eq!(to_lf("a\rb\r\nc"), "a\rb\nc");
    }

    #[test]
    fn each_line_knows_its_own_ending() {
        let endings: Vec<_> = "a\nb\r\nc"
            .split_inclusive('\n')
            .map(LineEnding::of_line)
            .collect();
        assert_eq!(endings, [Some(LineEnding::Lf), Some(LineEnding::CrLf), None]);
    }
}
