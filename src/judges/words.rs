//! A model's reason as it may be shown and handed on.

/// The longest reason, in characters.
const LONGEST: usize = 512;

/// One line of at most 512 characters, without control characters and without the queries of addresses, which
/// may hold what nobody should see.
pub fn clean(reason: &str) -> String {
    let mut words = String::new();
    for word in reason
        .split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|word| !word.is_empty())
    {
        if !words.is_empty() {
            words.push(' ');
        }
        match word.split_once('?') {
            Some((address, query)) if address.contains("://") && !query.is_empty() => {
                words.push_str(address);
                words.push_str("?…");
            }
            _ => words.push_str(word),
        }
    }
    match words.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", words.get(..at).unwrap_or_default()),
        None => words,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_one_clean_line() {
        assert_eq!(clean(" a\u{1b}[31m\n b\t?c "), "a [31m b ?c");
        assert_eq!(
            clean("see https://x.org/a?token=1, or why?"),
            "see https://x.org/a?… or why?"
        );
        let long = clean(&"é".repeat(1_000));
        assert_eq!((long.chars().count(), long.chars().last()), (513, Some('…')));
    }
}
