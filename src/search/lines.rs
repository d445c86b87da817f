//! One found line, fit to be read.

/// The longest line that is shown, in characters.
const SHOWN: usize = 400;
/// What is shown before the match of a longer line.
const BEFORE: usize = 120;

/// The line without its end and without control characters; a very long one is cut around the match, whose
/// place is `at`, in bytes.
pub(super) fn shown(line: &[u8], at: usize) -> String {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if line.len() <= SHOWN {
        return plain(&String::from_utf8_lossy(line));
    }
    // Bytes first, so that a line of megabytes is not decoded; four for each character are enough.
    let from = at.min(line.len()).saturating_sub(BEFORE * 4);
    let to = line.len().min(from.saturating_add((BEFORE + SHOWN) * 4));
    let window = String::from_utf8_lossy(line.get(from..to).unwrap_or_default());
    let match_at = String::from_utf8_lossy(line.get(from..at.clamp(from, to)).unwrap_or_default())
        .chars()
        .count();
    let skip = match_at.saturating_sub(BEFORE);
    let cut: String = window.chars().skip(skip).take(SHOWN).collect();
    let all = skip == 0 && from == 0 && to == line.len() && cut.len() == window.len();
    if all {
        return plain(&cut);
    }
    format!(
        "… {} … (line of {} bytes, cut)",
        plain(cut.trim_matches('\u{fffd}')),
        line.len()
    )
}

fn plain(text: &str) -> String {
    if !text.contains(|char: char| char.is_control() && char != '\t') {
        return text.to_owned();
    }
    text.chars()
        .map(|char| {
            if char.is_control() && char != '\t' {
                '\u{fffd}'
            } else {
                char
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_line_is_shown_whole() {
        assert_eq!(shown(b"let x = 1;\r\n", 0), "let x = 1;");
        assert_eq!(shown(b"\x1b[31mred\n", 0), "\u{fffd}[31mred");
        assert_eq!(shown("größe".as_bytes(), 0), "größe");
        assert_eq!(shown("é".repeat(400).as_bytes(), 0), "é".repeat(400));
    }

    #[test]
    fn a_long_line_is_cut_around_the_match_on_character_boundaries() {
        let line = format!("{}needle{}", "é".repeat(100_000), "ü".repeat(100_000));
        let shown = shown(line.as_bytes(), 200_000);
        assert!(shown.contains("needle") && shown.len() < 2_000, "{}", shown.len());
        assert!(shown.ends_with("(line of 400006 bytes, cut)") && !shown.contains('\u{fffd}'));
    }
}
