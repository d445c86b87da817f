//! Which characters of two lines differ, in words that make invisible ones visible.

use crate::words;

/// Characters shown of a differing stretch.
const SHOWN: usize = 30;

/// The first difference of two lines that are not equal, as a sentence without its full stop:
/// `at column 5 the file has 1 tab, old_string has 4 spaces`. `name` is what the wanted line is part of.
pub fn difference(in_file: &str, wanted: &str, name: &str) -> Option<String> {
    let file: Vec<char> = in_file.chars().collect();
    let want: Vec<char> = wanted.chars().collect();
    let head = file.iter().zip(&want).take_while(|(a, b)| a == b).count();
    let tail = file
        .iter()
        .skip(head)
        .rev()
        .zip(want.iter().skip(head).rev())
        .take_while(|(a, b)| a == b)
        .count();
    let (of_file, of_want) = (
        file.get(head..file.len() - tail)?,
        want.get(head..want.len() - tail)?,
    );
    if of_file == of_want {
        return None;
    }
    // Of white space the whole run is told: "2 spaces, not 4" says more than "2 too many".
    let blank = |stretch: &[char]| stretch.iter().all(|c| c.is_whitespace());
    let (before, after) = if blank(of_file) && blank(of_want) {
        let same = |c: &&char| c.is_whitespace();
        let before = file.iter().take(head).rev().take_while(same).count();
        (
            before,
            file.iter().skip(file.len() - tail).take_while(same).count(),
        )
    } else {
        (0, 0)
    };
    let of_file = file.get(head - before..file.len() - tail + after)?;
    let of_want = want.get(head - before..want.len() - tail + after)?;
    let column = head - before + 1;
    Some(format!(
        "at column {column} the file has {}, {name} has {}",
        visible(of_file),
        visible(of_want)
    ))
}

/// A stretch of characters so that a reader can tell it from any other.
fn visible(chars: &[char]) -> String {
    let (first, all_same) = match chars.first() {
        None => return "nothing".to_owned(),
        Some(first) => (*first, chars.iter().all(|c| c == first)),
    };
    let count = chars.len();
    match first {
        ' ' if all_same => return words::count(count, "space"),
        '\t' if all_same => return words::count(count, "tab"),
        _ => {}
    }
    let mut text: String = chars.iter().take(SHOWN).map(|c| mark(*c)).collect();
    if count > SHOWN {
        text.push('…');
    }
    let look_alikes: Vec<String> = chars
        .iter()
        .take(4)
        .filter(|c| !c.is_ascii())
        .map(|c| format!("U+{:04X}", u32::from(*c)))
        .collect();
    if look_alikes.is_empty() {
        format!("`{text}`")
    } else {
        format!("`{text}` ({})", look_alikes.join(" "))
    }
}

fn mark(c: char) -> String {
    match c {
        '\t' => "<tab>".to_owned(),
        ' ' => " ".to_owned(),
        c if c.is_control() || c.is_whitespace() || is_invisible(c) => format!("<U+{:04X}>", u32::from(c)),
        c => c.to_string(),
    }
}

fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2064}' | '\u{feff}' | '\u{ad}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invisible_characters_become_visible() {
        let say = |file: &str, wanted: &str| difference(file, wanted, "old_string").unwrap();
        assert_eq!(
            say("\treturn", "    return"),
            "at column 1 the file has 1 tab, old_string has 4 spaces"
        );
        assert_eq!(
            say("a\u{a0}b", "a b"),
            "at column 2 the file has `<U+00A0>` (U+00A0), old_string has 1 space"
        );
        assert_eq!(
            say("say “x", "say \"x"),
            "at column 5 the file has `“` (U+201C), old_string has `\"`"
        );
        assert_eq!(
            say("f(a, b)", "f(a)"),
            "at column 4 the file has `, b`, old_string has nothing"
        );
        assert_eq!(
            say("  log(1)", "    log(1)"),
            "at column 1 the file has 2 spaces, old_string has 4 spaces"
        );
        assert_eq!(
            say("x ", "x"),
            "at column 2 the file has 1 space, old_string has nothing"
        );
        assert_eq!(difference("same", "same", "x"), None);
    }
}
