//! The words that braces stand for: `{a,b}c` is `ac bc`, `{1..3}` is `1 2 3`. The shell reads them before
//! anything else, so every path in a word is looked for in each of its words.

/// Words of one word at most.
const MAX_WORDS: usize = 64;
/// Groups of braces in one word at most, one in another or one after another.
const MAX_GROUPS: usize = 32;
/// Bytes of a word with braces at most.
const MAX_BYTES: usize = 16 * 1024;

/// The words of a text; itself when no braces stand for anything. `None` when they are too many.
pub(super) fn words(text: &str) -> Option<Vec<String>> {
    let mut found = Vec::new();
    if !text.contains('{') {
        found.push(text.to_owned());
        return Some(found);
    }
    if text.len() > MAX_BYTES || text.matches('{').count() > MAX_GROUPS {
        return None;
    }
    expand(text.to_owned(), 0, &mut found).then_some(found)
}

/// Adds the words of a text; `false` when they are too many.
fn expand(text: String, depth: usize, found: &mut Vec<String>) -> bool {
    let Some((before, alternatives, after)) = first_group(&text) else {
        found.push(text);
        return found.len() <= MAX_WORDS;
    };
    if depth > MAX_GROUPS {
        return false;
    }
    let Some(alternatives) = alternatives else {
        return false;
    };
    alternatives
        .into_iter()
        .all(|alternative| expand(format!("{before}{alternative}{after}"), depth + 1, found))
}

/// The first braces that stand for words: what is before them, the words (`None` = too many), what is after.
type Group<'t> = (&'t str, Option<Vec<String>>, &'t str);

fn first_group(text: &str) -> Option<Group<'_>> {
    text.match_indices('{').find_map(|(at, _)| {
        let (before, rest) = text.split_at(at);
        if before.ends_with('$') {
            // `${x}`
            return None;
        }
        let end = closing(rest)?;
        let inside = rest.get(1..end)?;
        let alternatives = list(inside).map(Some).or_else(|| sequence(inside))?;
        Some((before, alternatives, rest.get(end + 1..)?))
    })
}

/// Where the brace is closed that a text begins with.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, char) in text.char_indices() {
        match char {
            '{' => depth += 1,
            '}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
    }
    None
}

/// `a,b{c,d}` is `a` and `b{c,d}`; nothing without a comma of its own.
fn list(inside: &str) -> Option<Vec<String>> {
    let mut parts = vec![String::new()];
    let mut depth = 0_usize;
    for char in inside.chars() {
        match char {
            ',' if depth == 0 => {
                parts.push(String::new());
                continue;
            }
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if let Some(part) = parts.last_mut() {
            part.push(char);
        }
    }
    (parts.len() > 1).then_some(parts)
}

/// `1..3`, `a..e..2`; the inner `None` is for too many.
fn sequence(inside: &str) -> Option<Option<Vec<String>>> {
    let parts: Vec<&str> = inside.split("..").collect();
    let (first, last, step) = match parts.as_slice() {
        [first, last] => (*first, *last, 1),
        [first, last, step] => (*first, *last, step.parse::<i64>().ok()?),
        _ => return None,
    };
    let letter = |text: &str| {
        let mut chars = text.chars();
        chars
            .next()
            .filter(|char| char.is_ascii_alphabetic() && chars.next().is_none())
    };
    let number = |text: &str| text.parse::<i64>().ok();
    let (from, to, width) = match (letter(first), letter(last)) {
        (Some(from), Some(to)) => (i64::from(u32::from(from)), i64::from(u32::from(to)), None),
        _ => {
            // `01..10` has leading zeros.
            let is_padded = [first, last]
                .iter()
                .any(|text| text.trim_start_matches('-').starts_with('0') && text.len() > 1);
            let width = if is_padded { first.len().max(last.len()) } else { 0 };
            (number(first)?, number(last)?, Some(width))
        }
    };
    let step = step.unsigned_abs().max(1);
    let count = from.abs_diff(to) / step;
    if count >= MAX_WORDS as u64 {
        return Some(None);
    }
    let one = |at: u64| {
        let way = i64::try_from(at * step).unwrap_or_default();
        let value = if from <= to { from + way } else { from - way };
        match width {
            Some(width) => format!("{value:0width$}"),
            None => u32::try_from(value)
                .ok()
                .and_then(char::from_u32)
                .map(String::from)
                .unwrap_or_default(),
        }
    };
    Some(Some((0..=count).map(one).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn braces_stand_for_words() {
        for (text, expected) in [
            ("a", "a"),
            ("{a,b}", "a b"),
            ("x{a,b}y", "xay xby"),
            ("{a,b}{c,d}", "ac ad bc bd"),
            ("{a,b{c,d}}", "a bc bd"),
            ("{,x}", " x"),
            ("{/,x}", "/ x"),
            ("{./.en,x}v", "./.env xv"),
            ("{a{b,c}}", "{ab} {ac}"),
            ("{a}", "{a}"),
            ("{}", "{}"),
            ("{a,b", "{a,b"),
            ("{x,{a,b}", "{x,a {x,b"),
            ("${x}{a,b}", "${x}a ${x}b"),
            ("${x,y}", "${x,y}"),
            (".{e..e}nv", ".env"),
            ("{1..3}", "1 2 3"),
            ("{3..1}", "3 2 1"),
            ("{a..e..2}", "a c e"),
            ("{-1..1}", "-1 0 1"),
            ("{08..10}", "08 09 10"),
            ("{1..x}", "{1..x}"),
            ("{1..2..x}", "{1..2..x}"),
        ] {
            assert_eq!(words(text).unwrap().join(" "), expected, "{text}");
        }
    }

    #[test]
    fn too_many_words_are_not_followed() {
        let nested = "{".repeat(40);
        let long = format!("{{a,{}}}", "x".repeat(MAX_BYTES));
        let (many, single) = ("{a,b}".repeat(7), "{a..a}".repeat(MAX_GROUPS));
        for text in ["{1..65}", "{1..9223372036854775807}", &nested, &long, &many] {
            assert_eq!(words(text), None, "{text}");
        }
        assert_eq!(words("{1..64}").map(|words| words.len()), Some(64));
        assert_eq!(words(&"{a,b}".repeat(6)).map(|words| words.len()), Some(64));
        assert_eq!(words(&single).map(|words| words.len()), Some(1));
    }
}
