//! Options of programs that copy, link, pack and unpack: where they write and what they take away.

use crate::shell::command::{SimpleCommand, Word};

/// Programs that unpack into a folder.
const UNPACKERS: &[&str] = &["tar", "gtar", "bsdtar", "unzip", "cpio", "7z", "pax"];

/// The value of `-t`, joined, in a cluster or under an abbreviated name.
pub(super) fn target_option(command: &SimpleCommand) -> Option<Word> {
    let part = |word: &Word, text: &str| Word {
        text: text.to_owned(),
        ..word.clone()
    };
    command.words.iter().enumerate().skip(1).find_map(|(at, word)| {
        let next = || command.words.get(at + 1).cloned();
        if let Some(long) = word.text.strip_prefix("--") {
            let (name, value) = match long.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (long, None),
            };
            let is_target = !name.is_empty() && "target-directory".starts_with(name);
            return is_target
                .then(|| value.map(|value| part(word, value)).or_else(next))
                .flatten();
        }
        let letters = word.text.strip_prefix('-')?;
        // A letter before it that takes a value: what follows is that value.
        let (before, value) = letters.split_once('t')?;
        if before.contains(['S', 'm', 'o', 'g']) {
            return None;
        }
        if value.is_empty() {
            next()
        } else {
            Some(part(word, value))
        }
    })
}

/// Whether a long option or a letter of a cluster is among the words.
fn has_option(command: &SimpleCommand, letters: &[char], long: &[&str]) -> bool {
    command.words.iter().skip(1).any(|word| {
        if let Some(name) = word.text.strip_prefix("--") {
            let name = name.split('=').next().unwrap_or_default();
            return !name.is_empty() && long.iter().any(|long| long.starts_with(name));
        }
        word.text.starts_with('-') && word.text.contains(letters)
    })
}

/// Whether it makes another name for a file, not a copy and not a link by name.
pub(super) fn links(program: &str, command: &SimpleCommand) -> bool {
    match program {
        "ln" => !has_option(command, &['s'], &["symbolic"]),
        "cp" => has_option(command, &['l'], &["link"]),
        "rsync" => command.words.iter().any(|word| word.text.starts_with("--link")),
        _ => false,
    }
}

/// Whether it copies folders with all that they hold.
pub(super) fn copies_folders(program: &str, command: &SimpleCommand) -> bool {
    match program {
        "cp" => has_option(command, &['r', 'R', 'a'], &["recursive", "archive"]),
        "rsync" | "scp" => has_option(command, &['r', 'a'], &["recursive", "archive"]),
        "mv" => true,
        _ => false,
    }
}

/// `tar --remove-files`, `zip -m`: what goes into the archive is removed.
pub(super) fn takes_away(command: &SimpleCommand) -> bool {
    if command.program.as_deref() == Some("zip") {
        return has_option(command, &['m'], &["move"]);
    }
    command.words.iter().any(|word| word.text.starts_with("--remove"))
}

/// Whether it writes files that an archive names.
pub(super) fn unpacks(program: &str, command: &SimpleCommand) -> bool {
    if !UNPACKERS.contains(&program) {
        return false;
    }
    if !program.contains("tar") {
        return true;
    }
    let bundled = command.words.get(1).is_some_and(|word| word.text.contains('x'));
    bundled || has_option(command, &['x'], &["extract", "get"])
}
