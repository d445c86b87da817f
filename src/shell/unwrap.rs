//! Programs that run other programs: what they would run.
//!
//! A wrapper is transparent only when each of its options is known: an unknown option may take the next
//! word as its value, and the program that runs would be another than the one that is judged.

use super::command::{Class, SimpleCommand, Word, WordKind};
use super::gate::start_of;
use super::wrappers;

/// What a wrapper runs.
pub(super) struct Wrapped {
    /// The wrapper's own class.
    pub class: Class,
    /// Why, when it is not `Read`.
    pub reason: Option<String>,
    /// What it runs, as far as it can be seen.
    pub inner: Vec<Inner>,
}

/// A command in a wrapper.
pub(super) enum Inner {
    /// A program and its arguments, not parsed again.
    Words(Vec<Word>),
    /// Text that a shell parses.
    Line(String),
}

impl Wrapped {
    pub fn clear(inner: Vec<Inner>) -> Self {
        Self {
            class: Class::Read,
            reason: None,
            inner,
        }
    }

    pub fn opaque(reason: impl Into<String>, inner: Vec<Inner>) -> Self {
        Self {
            class: Class::Unknown,
            reason: Some(reason.into()),
            inner,
        }
    }
}

/// Shells that take a line with `-c`; of the others the grammar is another one.
const SHELLS: [&str; 7] = ["bash", "sh", "dash", "ksh", "ksh93", "mksh", "ash"];
/// Those of them that may know no more than POSIX asks for.
const POSIX_SHELLS: [&str; 3] = ["sh", "dash", "ash"];
const OTHER_SHELLS: [&str; 7] = ["zsh", "fish", "tcsh", "csh", "nu", "elvish", "pwsh"];

/// Whether text within these wrappers, the outermost first, is read by a shell that may not be bash.
pub(super) fn by_posix_shell(wrappers: &[String]) -> bool {
    let mut shells = wrappers
        .iter()
        .rev()
        .filter(|name| SHELLS.contains(&name.as_str()));
    shells
        .next()
        .is_some_and(|name| POSIX_SHELLS.contains(&name.as_str()))
}

/// What a command runs, if it is a wrapper.
pub(super) fn unwrap(command: &SimpleCommand) -> Option<Wrapped> {
    let program = command.program.as_deref()?;
    let arguments = command.words.get(1..)?;
    match program {
        "eval" => return Some(line_of(arguments, "`eval` runs what is not in the line")),
        "trap" => return Some(trap(arguments)),
        "find" | "gfind" => return find(arguments),
        "fd" | "fdfind" => return fd(arguments),
        _ if SHELLS.contains(&program) => return shell(program, arguments, true),
        _ if OTHER_SHELLS.contains(&program) => return shell(program, arguments, false),
        "command"
            if arguments
                .first()
                .is_some_and(|word| matches!(word.text.as_str(), "-v" | "-V")) =>
        {
            return Some(Wrapped::clear(Vec::new()));
        }
        _ => {}
    }
    let (wrapper, own) = wrappers::find(&command.normal)?;
    let skipped = command.words.len() - command.normal.len();
    Some(wrappers::unwrap(
        wrapper,
        program,
        command.words.get(skipped + own..)?,
    ))
}

/// Arguments that are joined by blanks and parsed by a shell.
pub(super) fn line_of(arguments: &[Word], opaque: &str) -> Wrapped {
    let arguments = match arguments.split_first() {
        Some((first, rest)) if first.text == "--" => rest,
        _ => arguments,
    };
    if arguments.iter().all(Word::is_literal) {
        let line = arguments
            .iter()
            .map(|word| word.text.as_str())
            .collect::<Vec<_>>()
            .join(" ");
        return Wrapped::clear(vec![Inner::Line(line)]);
    }
    // Not the whole truth, but good for a rule that denies.
    Wrapped::opaque(opaque, vec![Inner::Words(arguments.to_vec())])
}

fn trap(arguments: &[Word]) -> Wrapped {
    match arguments.first() {
        Some(word) if word.is_literal() && !word.text.starts_with('-') => {
            Wrapped::clear(vec![Inner::Line(word.text.clone())])
        }
        None => Wrapped::clear(Vec::new()),
        Some(word) if matches!(word.text.as_str(), "-" | "-l" | "-p") => Wrapped::clear(Vec::new()),
        Some(_) => Wrapped::opaque("`trap` runs what is not in the line", Vec::new()),
    }
}

fn shell(program: &str, arguments: &[Word], same_grammar: bool) -> Option<Wrapped> {
    let mut words = arguments.iter();
    let mut wants_line = false;
    while let Some(word) = words.next() {
        let text = word.text.as_str();
        if !word.is_literal() && word.may_be_option {
            return Some(Wrapped::opaque(
                format!("`{text}` could become an option of `{program}`"),
                Vec::new(),
            ));
        }
        if matches!(text, "--version" | "--help") && arguments.len() == 1 {
            return None;
        }
        if matches!(text, "--rcfile" | "--init-file") {
            return Some(Wrapped::opaque(format!("`{text}` runs another file"), Vec::new()));
        }
        if text.starts_with(['-', '+']) && text.len() > 1 {
            let letters = text.trim_start_matches(['-', '+']);
            if !text.starts_with("--") {
                wants_line |= letters.contains('c');
                let named = letters.ends_with(['o', 'O']).then(|| words.next()).flatten();
                if named.is_some_and(|name| !name.is_literal()) {
                    return Some(Wrapped::opaque(
                        format!("which option `{text}` of `{program}` sets is not in the line"),
                        Vec::new(),
                    ));
                }
            }
            continue;
        }
        if !wants_line {
            return Some(Wrapped::opaque(
                format!("what `{program}` runs is in the file `{}`", start_of(text)),
                Vec::new(),
            ));
        }
        if !word.is_literal() {
            return Some(Wrapped::opaque(
                format!("`{program} -c` runs what is not in the line"),
                Vec::new(),
            ));
        }
        let inner = vec![Inner::Line(word.text.clone())];
        return Some(if same_grammar {
            Wrapped::clear(inner)
        } else {
            Wrapped::opaque(format!("the grammar of `{program}` is another one"), inner)
        });
    }
    Some(Wrapped::opaque(
        format!("what `{program}` runs comes from its input"),
        Vec::new(),
    ))
}

/// `-exec` and its kin: each up to `;` or `{} +`.
fn find(arguments: &[Word]) -> Option<Wrapped> {
    let is_action = |word: &Word| matches!(word.text.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir");
    let mut inner = Vec::new();
    let mut rest = arguments;
    while let Some(at) = rest.iter().position(is_action) {
        let after = rest.get(at + 1..)?;
        let end = (0..after.len()).find(|end| {
            let text = |at: usize| after.get(at).map(|word| word.text.as_str());
            text(*end) == Some(";") || (text(*end) == Some("+") && *end > 0 && text(end - 1) == Some("{}"))
        });
        let Some(end) = end else {
            return Some(Wrapped::opaque(
                "`-exec` has no end",
                vec![Inner::Words(after.to_vec())],
            ));
        };
        let mut words = after.get(..end)?.to_vec();
        for word in words.iter_mut().filter(|word| word.text.contains("{}")) {
            // A path that begins with a starting point, or `./` with -execdir: never an option.
            word.kind = WordKind::Dynamic;
        }
        inner.push(Inner::Words(words));
        rest = after.get(end + 1..)?;
    }
    (!inner.is_empty()).then(|| Wrapped::clear(inner))
}

fn fd(arguments: &[Word]) -> Option<Wrapped> {
    let is_action = |word: &Word| matches!(word.text.as_str(), "-x" | "-X" | "--exec" | "--exec-batch");
    let at = arguments.iter().position(is_action)?;
    let words: Vec<Word> = arguments
        .iter()
        .skip(at + 1)
        .take_while(|word| word.text != ";")
        .cloned()
        .collect();
    Some(Wrapped::opaque(
        "it runs a program on what it finds",
        vec![Inner::Words(words)],
    ))
}
