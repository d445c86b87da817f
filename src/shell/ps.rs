//! `ps`: whether it shows the environment of a process, which holds the keys of the providers.

use super::command::Word;

/// Letters of `ps` that show no environment, joined or not, with or without a dash.
const PS_LETTERS: &str = "aAdfFlLjwxyuHTMZ1";

/// Whether `ps` shows the environment of no process. With BSD's `e` it does, and an option that it does not
/// understand makes it read all of them the BSD way: so only what is known passes.
pub(super) fn shows_no_environment(arguments: &[Word]) -> bool {
    let numbers = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || byte == b',');
    let columns = |text: &str| {
        !text.contains("env")
            && text
                .chars()
                .all(|char| char.is_ascii_lowercase() || char.is_ascii_digit() || "%,_=:-+".contains(char))
    };
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let text = word.text.as_str();
        if !word.is_literal() {
            return false;
        }
        if numbers(text) || matches!(text, "--forest" | "--no-headers" | "--no-heading") {
            continue;
        }
        if text.strip_prefix("--sort=").is_some_and(columns)
            || text.strip_prefix("--format=").is_some_and(columns)
        {
            continue;
        }
        let (letters, dashed) = match text.strip_prefix('-') {
            Some(letters) => (letters, true),
            None => (text, false),
        };
        let (letters, value) = match letters.char_indices().last() {
            Some((at, last @ ('o' | 'O' | 'p'))) => (letters.get(..at).unwrap_or_default(), Some(last)),
            _ => (letters, None),
        };
        let known = |letter: char| PS_LETTERS.contains(letter) || (dashed && letter == 'e');
        if !letters.chars().all(known) || (letters.is_empty() && value.is_none()) {
            return false;
        }
        // `-aue`: with a user of that name unknown it is read the BSD way.
        if letters.contains('e') && letters.contains('u') {
            return false;
        }
        let Some(letter) = value else { continue };
        // The shell's own numbers are as good as written ones.
        let own = |word: &Word| matches!(word.text.trim_matches('"'), "$$" | "$!" | "$PPID" | "${PPID}");
        let fits = words.next().is_some_and(|word| match letter {
            'p' => own(word) || (word.is_literal() && numbers(&word.text)),
            _ => word.is_literal() && columns(&word.text),
        });
        if !fits {
            return false;
        }
    }
    true
}
