//! Paths as git prints them with `core.quotePath=false`: plain, unless a line of output could not hold them.

use std::fmt::Write as _;

/// The path, in quotes with escapes where it holds a quote, a backslash, a control character or no text.
pub fn path(path: &[u8]) -> String {
    prefixed("", path)
}

/// The same with a prefix (`a/`) inside the quotes.
pub fn prefixed(prefix: &str, path: &[u8]) -> String {
    let plain = std::str::from_utf8(path).ok();
    let plain = plain.filter(|text| {
        !text
            .chars()
            .any(|c| c.is_ascii_control() || c == '"' || c == '\\')
    });
    if let Some(plain) = plain {
        return format!("{prefix}{plain}");
    }
    let mut quoted = format!("\"{prefix}");
    for chunk in path.utf8_chunks() {
        for letter in chunk.valid().chars() {
            match letter {
                '"' | '\\' => {
                    quoted.push('\\');
                    quoted.push(letter);
                }
                '\n' => quoted.push_str("\\n"),
                '\t' => quoted.push_str("\\t"),
                '\r' => quoted.push_str("\\r"),
                control if control.is_ascii_control() => {
                    let _ = write!(quoted, "\\{:03o}", u32::from(control));
                }
                other => quoted.push(other),
            }
        }
        for byte in chunk.invalid() {
            let _ = write!(quoted, "\\{byte:03o}");
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    #[test]
    fn only_what_a_line_cannot_hold_is_quoted() {
        assert_eq!(super::path("отчёт a b.txt".as_bytes()), "отчёт a b.txt");
        assert_eq!(
            super::prefixed("a/", b"q\"\t\x01\xff"),
            "\"a/q\\\"\\t\\001\\377\""
        );
    }
}
