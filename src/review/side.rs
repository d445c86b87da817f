//! One side of the comparison: what the file was, or what it is.

use crate::review::lines::Lines;

/// A text with what lines do not say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Side {
    /// The lines.
    pub(super) lines: Lines,
    /// Whether the last line is ended by a newline. Means nothing without lines.
    pub(super) eol: bool,
    /// The file does not exist.
    pub(super) absent: bool,
}

impl Side {
    /// `None` = the file does not exist. With `crlf` the carriage returns before newlines are left out.
    pub(super) fn read(text: Option<&str>, crlf: bool) -> Self {
        let plain = text.unwrap_or_default();
        let lines = if crlf {
            Lines::from_text(&plain.replace("\r\n", "\n"))
        } else {
            Lines::from_text(plain)
        };
        Self {
            lines,
            eol: text.is_none_or(|text| text.ends_with('\n')),
            absent: text.is_none(),
        }
    }

    /// The text; `None` = the file does not exist.
    pub(super) fn text(&self, crlf: bool) -> Option<String> {
        if self.absent {
            return None;
        }
        let mut text = self.lines.to_text();
        if text.is_empty() && self.eol {
            text.push('\n');
        } else if !self.eol {
            text.pop();
        }
        Some(if crlf { text.replace('\n', "\r\n") } else { text })
    }

    /// Whether both sides have a last line and only one of them ends it.
    pub(super) fn eol_differs(&self, other: &Self) -> bool {
        self.eol != other.eol && !self.lines.is_empty() && !other.lines.is_empty()
    }
}

/// Whether every line of `text` ends in `\r\n`: then an editor keeps the `\r` out of its lines.
pub(super) fn is_crlf(text: &str) -> bool {
    let mut any = false;
    for line in text.split_inclusive('\n').filter(|line| line.ends_with('\n')) {
        if !line.ends_with("\r\n") {
            return false;
        }
        any = true;
    }
    any
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_comes_back_byte_for_byte() {
        for text in ["", "\n", "a", "a\n", "a\n\n", "\na", "a\r\nb\n"] {
            assert_eq!(
                Side::read(Some(text), false).text(false).as_deref(),
                Some(text),
                "{text:?}"
            );
        }
        assert_eq!(Side::read(None, false).text(false), None);
        assert_eq!(
            Side::read(Some("a\r\nb"), true).text(true).as_deref(),
            Some("a\r\nb")
        );
    }

    #[test]
    fn dos_files_are_those_without_a_bare_newline() {
        assert!(is_crlf("a\r\nb\r\n") && is_crlf("foo\r\nbar"));
        assert!(!is_crlf("a\r\nb\n") && !is_crlf("a") && !is_crlf(""));
    }
}
