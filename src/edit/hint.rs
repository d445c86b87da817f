//! What to tell a model whose `old_string` is not in the file.
//!
//! The hint shows where the nearest text stands and what differs. It is never applied: a guess that is
//! written without being seen is how files get lost.

use std::fmt::Write;

use crate::edit::closest::{Closest, closest};
use crate::edit::difference::difference;

/// Line edits within which a window counts as near.
pub const MAX_DISTANCE: usize = 3;

const PREVIEW_LINES: usize = 8;
const PREVIEW_CHARS: usize = 200;
/// Places of the longest word that are looked at.
const MAX_PLACES: usize = 10_000;
/// Shorter texts stand everywhere once white space is left out.
const MIN_BARE: usize = 4;

/// The message for a miss: that `old` is not in `path`, where the nearest text is, what differs. Takes
/// some 5 ms for 10,000 lines and some 50 for 100,000, so keep it off the main thread; when `cancel` becomes true the rest of the search is left out.
pub fn miss(path: &str, text: &str, old: &str, cancel: &dyn Fn() -> bool) -> String {
    let mut message = format!("old_string was not found in {path}.");
    if text.is_empty() {
        return message + " The file is empty; fill it with write_file.";
    }
    let lines = split(text);
    let wanted = split(old);
    if let Some(note) = spelling(text, old) {
        message += &note;
        return message + " Nothing was changed.";
    }
    if let Some(note) = ends_without_break(text, old) {
        message += &note;
        return message + " Nothing was changed.";
    }
    let near = closest(&lines, &wanted, MAX_DISTANCE, cancel);
    if let Some(near) = &near {
        describe(&mut message, "old_string", (&lines, &wanted), near);
    }
    let spaced = if cancel() {
        None
    } else {
        other_white_space(text, old)
    };
    if let Some(line) = spaced.filter(|line| near.is_none_or(|near| near.start + 1 != *line)) {
        // Writing to a String cannot fail.
        let _ = write!(
            message,
            " The same text stands at line {line} with other white space."
        );
    }
    let next = if near.is_some() || spaced.is_some() {
        "Read those lines"
    } else {
        "Read the file"
    };
    message + " Nothing was changed. " + next + ", then retry with the exact text."
}

/// What to say where the text ends like `old` but for the line break at its end.
fn ends_without_break(text: &str, old: &str) -> Option<String> {
    let stripped = old.strip_suffix('\n')?;
    let stripped = stripped.strip_suffix('\r').unwrap_or(stripped);
    if stripped.is_empty() || stripped.ends_with('\n') || !text.ends_with(stripped) {
        return None;
    }
    let line = text.lines().count() - stripped.lines().count() + 1;
    let places = text.matches(stripped).count();
    let several = if places > 1 {
        format!(
            " Without it old_string would occur {places} times: add text around it, so that it fits one place only."
        )
    } else {
        String::new()
    };
    Some(no_break(line) + &several)
}

fn no_break(line: usize) -> String {
    format!(
        " Its lines stand at line {line}, but the text there has no line break at its end; leave the last line break out."
    )
}

/// Lines without their ends; a final line break makes no further line.
fn split(text: &str) -> Vec<&str> {
    text.lines().collect()
}

/// Where the text nearest to `wanted` stands and what differs, as sentences with a space in front; `None`
/// when nothing is near. `name` is what the wanted text is called.
pub(super) fn nearest(
    lines: &[&str],
    wanted: &[&str],
    name: &str,
    cancel: &dyn Fn() -> bool,
) -> Option<String> {
    let near = closest(lines, wanted, MAX_DISTANCE, cancel)?;
    let mut message = String::new();
    describe(&mut message, name, (lines, wanted), &near);
    Some(message)
}

fn describe(message: &mut String, name: &str, (lines, wanted): (&[&str], &[&str]), near: &Closest) {
    let first = near.start + 1;
    if near.distance == 0 {
        message.push_str(&no_break(first));
        return;
    }
    let equal = if near.has_equal_line {
        ""
    } else {
        "; none of its lines is equal"
    };
    let _ = writeln!(
        message,
        " Closest match at line {first} (distance {}{equal}):",
        near.distance
    );
    let window = lines.get(near.start..near.start + near.len).unwrap_or_default();
    for (offset, line) in window.iter().take(PREVIEW_LINES).enumerate() {
        let _ = writeln!(message, "{:>6}\t{}", first + offset, shorten(line));
    }
    if window.len() > PREVIEW_LINES {
        let _ = writeln!(message, "       … {} more lines", window.len() - PREVIEW_LINES);
    }
    let before = near.start.checked_sub(1).and_then(|at| lines.get(at));
    if before.is_some() && before == wanted.first() {
        let _ = write!(
            message,
            "Line {} is the first of {name}; line {first} is missing in it.",
            first - 1
        );
    } else if let Some(text) = first_difference(window, wanted, first, name) {
        message.push_str(&text);
    }
}

fn first_difference(window: &[&str], wanted: &[&str], first: usize, name: &str) -> Option<String> {
    let equal = window.iter().zip(wanted).take_while(|(a, b)| a == b).count();
    let line = first + equal;
    match (window.get(equal), wanted.get(equal)) {
        (Some(_), Some(want)) if window.get(equal + 1) == Some(want) => {
            Some(format!("Line {line} is missing in {name}."))
        }
        (Some(file), Some(_)) if wanted.get(equal + 1) == Some(file) => Some(format!(
            "{name} has a line before line {line} that the file does not have."
        )),
        (Some(file), Some(want)) => {
            difference(file, want, name).map(|text| format!("In line {line}, {text}."))
        }
        (None, Some(_)) => Some(format!("{name} goes on where the file ends.")),
        (_, None) => None,
    }
}

/// Mistakes of spelling that have a sure remedy.
fn spelling(text: &str, old: &str) -> Option<String> {
    if let Some(bare) = without_gutter(old).filter(|bare| text.contains(bare.as_str())) {
        let line = line_of(text, &bare)?;
        return Some(format!(
            " It holds the line numbers that read_file puts in front; without them the text stands at line {line}."
        ));
    }
    let plain = unescape(old).filter(|plain| text.contains(plain.as_str()))?;
    let line = line_of(text, &plain)?;
    Some(format!(
        " It is escaped once too often: with real line breaks, tabs and quotes instead of `\\n`, `\\t` and `\\\"` the text stands at line {line}."
    ))
}

fn line_of(text: &str, piece: &str) -> Option<usize> {
    let before = text.get(..text.find(piece)?)?;
    Some(before.matches('\n').count() + 1)
}

/// The text without `  12<tab>` in front of every line.
fn without_gutter(old: &str) -> Option<String> {
    let bare: Option<Vec<&str>> = old
        .split('\n')
        .map(|line| {
            let (number, rest) = line.split_once('\t')?;
            let number = number.trim_start();
            (!number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())).then_some(rest)
        })
        .collect();
    bare.map(|lines| lines.join("\n")).filter(|text| !text.is_empty())
}

/// The text with one level of backslashes taken away; `None` when that changes nothing.
fn unescape(old: &str) -> Option<String> {
    if !old.contains('\\') {
        return None;
    }
    let mut plain = String::with_capacity(old.len());
    let mut chars = old.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            plain.push(c);
            continue;
        }
        match chars.next() {
            Some('n') => plain.push('\n'),
            Some('t') => plain.push('\t'),
            Some('r') => plain.push('\r'),
            Some(c @ ('"' | '\'' | '\\' | '/' | '`' | '$')) => plain.push(c),
            Some(other) => plain.extend(['\\', other]),
            None => plain.push('\\'),
        }
    }
    (plain != old).then_some(plain)
}

/// The line (from 1) where the same text stands when white space is left out on both sides.
fn other_white_space(text: &str, old: &str) -> Option<usize> {
    let wanted: Vec<char> = old.chars().filter(|c| !c.is_whitespace()).collect();
    // White space is put between words, never into one: the longest word leads to the few places.
    let word = old
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .max_by_key(|word| word.len())?;
    if wanted.len() < MIN_BARE || word.is_empty() {
        return None;
    }
    let before = old
        .get(..old.find(word)?)?
        .chars()
        .filter(|c| !c.is_whitespace())
        .count();
    let (head, tail) = wanted.split_at_checked(before)?;
    text.match_indices(word).take(MAX_PLACES).find_map(|(at, _)| {
        let mut backward = text
            .get(..at)?
            .char_indices()
            .rev()
            .filter(|(_, c)| !c.is_whitespace());
        let mut forward = text.get(at..)?.chars().filter(|c| !c.is_whitespace());
        let mut start = at;
        let head_fits = head.iter().rev().all(|want| {
            backward.next().is_some_and(|(found_at, found)| {
                start = found_at;
                found == *want
            })
        });
        let fits = head_fits && tail.iter().all(|want| forward.next() == Some(*want));
        fits.then(|| text.get(..start).map(|before| before.matches('\n').count() + 1))
            .flatten()
    })
}

fn shorten(line: &str) -> String {
    match line.char_indices().nth(PREVIEW_CHARS) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or(line)),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn say(text: &str, old: &str) -> String {
        miss("src/a.rs", text, old, &|| false)
    }

    #[test]
    fn names_path_line_distance_and_difference() {
        let message = say("mod x;\nfn a() {\n\tone();\n}\n", "fn a() {\n    one();\n}");
        assert_eq!(
            message,
            "old_string was not found in src/a.rs. Closest match at line 2 (distance 1):\n     2\tfn a() {\n     \
             3\t\tone();\n     4\t}\nIn line 3, at column 1 the file has 1 tab, old_string has 4 spaces. Nothing was \
             changed. Read those lines, then retry with the exact text."
        );
    }

    #[test]
    fn says_when_no_line_is_equal() {
        let message = say("a\nTitle: “Draft one”\nb\n", "Title: \"Draft one\"");
        assert!(
            message.contains("Closest match at line 2 (distance 1; none of its lines is equal)"),
            "{message}"
        );
        assert!(message.contains("the file has `“Draft one”`"), "{message}");
    }

    #[test]
    fn far_texts_get_the_plain_message_or_the_white_space_note() {
        let far = say("a\nb\nc\nd\ne\n", "1\n2\n3\n4\n5");
        assert_eq!(
            far,
            "old_string was not found in src/a.rs. Nothing was changed. Read the file, then retry with the exact text."
        );
        let spaced = say("x\n  a1\n  b1\n  c1\n  d1\n", "a1\nb1\nc1\nd1");
        assert!(
            spaced.contains("The same text stands at line 2 with other white space."),
            "{spaced}"
        );
        assert!(!spaced.contains("Closest"), "{spaced}");
    }

    #[test]
    fn missing_and_additional_lines_are_named() {
        assert!(
            say("a\nnew\nb\nc\n", "a\nb\nc")
                .contains("Line 1 is the first of old_string; line 2 is missing in it.")
        );
        assert!(say("a\nb\nnew\nc\nd\n", "a\nb\nc\ny").contains("Line 3 is missing in old_string."));
        let message = say("alpha\nbeta\ngamma\n", "alpha\nx\nbeta\ngamma");
        assert!(
            message.contains("old_string has a line before line 2"),
            "{message}"
        );
        assert!(say("a\nb", "a\nb\n").contains("leave the last line break out"));
        assert!(say("", "a").contains("The file is empty"));
    }

    #[test]
    fn gutters_and_double_escapes_have_their_own_words() {
        assert!(
            say("x\nfoo\nbar\n", "     2\tfoo\n     3\tbar")
                .contains("line numbers that read_file puts in front")
        );
        assert!(say("x\nsay(\"a\")\n", "say(\\\"a\\\")").contains("escaped once too often"));
        assert!(say("a\n\tb\n", "a\\n\\tb").contains("stands at line 1"));
    }

    #[test]
    fn large_files_are_searched_and_the_search_is_cancelled() {
        let text: String = (0..100_000)
            .map(|n| format!("    let value_{n} = compute({n}, other);\n"))
            .collect();
        let old = "    let value_77777 = compute(77777, others);\n    let value_x = 1;";
        let message = say(&text, old);
        assert!(message.contains("at line 77778 "), "{message}");
        let stopped = miss("a", &text, old, &|| true);
        assert!(!stopped.contains("Closest"), "{stopped}");
    }
}
