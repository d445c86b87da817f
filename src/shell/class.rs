//! The class of one command: its row in the table, then all that raises it.

use super::command::{Assignment, Class, Redirect, RedirectKind, SimpleCommand, Word, WordKind};
use super::globals::{GLOBAL_VALUES, RISKY_GLOBALS};
use super::programs::{Risk, Row, row};
use super::scripts;

/// Folders whose programs are those of the table.
const SYSTEM_FOLDERS: [&str; 7] = [
    "/bin",
    "/sbin",
    "/usr/bin",
    "/usr/sbin",
    "/usr/local/bin",
    "/usr/local/sbin",
    "/opt/homebrew/bin",
];

/// Variables that change how output looks, and nothing else.
const HARMLESS_VARIABLES: [&str; 18] = [
    "CI",
    "CLICOLOR",
    "COLUMNS",
    "DEBUG",
    "FORCE_COLOR",
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_COLLATE",
    "LC_CTYPE",
    "LC_MESSAGES",
    "LC_NUMERIC",
    "LC_TIME",
    "LINES",
    "NO_COLOR",
    "RUST_BACKTRACE",
    "RUST_LOG",
    "TZ",
];

/// What the rest of the line says about a command.
pub(super) struct Around {
    /// For a wrapper: its own class and why.
    pub wrapper: Option<(Class, Option<String>)>,
    /// The redirects belong to a group or a loop, whose commands are judged on their own.
    pub group: bool,
    /// The name of the program is another one in a POSIX shell.
    pub odd_name: bool,
}

/// Fills in `program` and `normal` from `words`.
pub(super) fn name(command: &mut SimpleCommand) {
    let Some((first, rest)) = command.words.split_first() else {
        return;
    };
    let (folder, base) = match first.text.rsplit_once('/') {
        Some((folder, base)) => (Some(folder), base),
        None => (None, first.text.as_str()),
    };
    let system = folder.is_none_or(|folder| SYSTEM_FOLDERS.contains(&folder));
    if first.is_literal() && !base.is_empty() {
        command.program = Some(base.to_owned());
    }
    let shown = if system && first.is_literal() {
        base
    } else {
        first.text.as_str()
    };
    command.normal = std::iter::once(shown.to_owned()).collect();
    let skipped = command
        .program
        .as_deref()
        .map_or(0, |program| globals(program, rest));
    command
        .normal
        .extend(rest.iter().skip(skipped).map(|word| word.text.clone()));
}

/// How many words stand between a program and its subcommand.
fn globals(program: &str, rest: &[Word]) -> usize {
    let Some((_, with_value)) = GLOBAL_VALUES.iter().find(|(name, _)| *name == program) else {
        return 0;
    };
    let mut words = rest.iter().enumerate();
    while let Some((at, word)) = words.next() {
        if !word.is_literal() || !word.text.starts_with(['-', '+']) {
            return at;
        }
        if with_value.contains(&word.text.as_str()) {
            words.next();
        }
    }
    // Options alone: `git --version`.
    0
}

/// Fills in class, reason, risky options and uncovered parts.
pub(super) fn judge(command: &mut SimpleCommand, around: &Around) {
    let mut verdict = Verdict {
        class: Class::Read,
        reason: None,
    };
    program(command, around, &mut verdict);
    if around.odd_name {
        verdict.raise(Class::Unknown, || "shells differ in what its name is".into());
    }
    let reads = command.program.as_deref() == Some("read");
    for assignment in &command.assignments {
        // `IFS= read` is for that one `read`.
        let harmless = is_harmless(&assignment.name) || (reads && assignment.name == "IFS");
        if !harmless {
            let name = &assignment.name;
            verdict.raise(Class::Unknown, || format!("{name} may change what programs do"));
            command.uncovered.push(assigned(assignment));
        }
    }
    for redirect in &command.redirects {
        if redirect_class(command, redirect, around.group, &mut verdict) {
            command.uncovered.push(redirect.text.clone());
        }
    }
    command.class = verdict.class;
    command.reason = verdict.reason;
}

struct Verdict {
    class: Class,
    reason: Option<String>,
}

impl Verdict {
    fn raise(&mut self, class: Class, reason: impl FnOnce() -> String) {
        if class > self.class {
            self.class = class;
            self.reason = Some(reason());
        }
    }
}

fn program(command: &mut SimpleCommand, around: &Around, verdict: &mut Verdict) {
    if command.words.is_empty() {
        return;
    }
    let Some(program) = command.program.clone() else {
        verdict.raise(Class::Unknown, || {
            "the shell computes the name of the program".into()
        });
        return;
    };
    if let Some((class, reason)) = &around.wrapper {
        verdict.raise(*class, || reason.clone().unwrap_or_default());
    }
    if scripts::asks_version(command) {
        return;
    }
    let found = row(&command.normal);
    let special = scripts::special(command);
    if command.normal.first() != Some(&program) {
        // The table may still make it worse: `./rm` is no better than an unknown program.
        verdict.raise(Class::Unknown, || {
            format!("`{program}` is not taken from a folder of the system")
        });
    } else if found.is_none() && special.is_none() && around.wrapper.is_none() {
        verdict.raise(Class::Unknown, || {
            format!("`{program}` is not in the table of known programs")
        });
    }
    if let Some((class, why)) = special {
        command.opaque = class > Class::Read && !scripts::SETS.contains(&program.as_str());
        verdict.raise(class, || why.into());
    }
    if let Some(row) = found {
        if around.wrapper.is_none() {
            verdict.raise(row.class, || plain_reason(&program, row.class));
        }
        risks(command, row, verdict);
    }
    risky_globals(&program, command, verdict);
}

fn plain_reason(program: &str, class: Class) -> String {
    match class {
        Class::Destructive => format!("`{program}` may remove or end what does not come back"),
        Class::Change => format!("`{program}` changes files or state"),
        Class::Unknown => format!("`{program}` may run or fetch what is not in the line"),
        Class::Read => String::new(),
    }
}

/// Options and operands of a row.
fn risks(command: &mut SimpleCommand, row: &Row, verdict: &mut Verdict) {
    let names = row
        .names
        .split(',')
        .map(str::trim)
        .filter(|name| command.normal.join(" ").starts_with(name));
    let own = names.map(|name| name.split(' ').count()).max().unwrap_or(1);
    let skipped = command.words.len() - command.normal.len();
    let mut operands = 0;
    let mut options_ended = false;
    for word in command.words.iter().skip(skipped + own) {
        for Risk(option, class, why) in row.risks {
            let named = option.starts_with(['-', '+']);
            if !(named && options_ended) && is_option(word, option, row.single_dash) {
                verdict.raise(*class, || format!("`{}` {why}", word.text));
                if named && !command.risky_options.contains(&word.text) {
                    command.risky_options.push(word.text.clone());
                }
                if named && *class != Class::Destructive && !command.running_options.contains(&word.text) {
                    command.running_options.push(word.text.clone());
                }
            }
        }
        let counts_as_option = !options_ended && word.may_be_option;
        if counts_as_option && !word.is_literal() && !row.risks.is_empty() {
            verdict.raise(Class::Unknown, || {
                format!("`{}` could become an option", word.text)
            });
            command.uncovered.push(word.text.clone());
        }
        operands += usize::from(!counts_as_option);
        options_ended |= word.is_literal() && word.text == "--";
    }
    if operands > row.operands {
        verdict.raise(Class::Change, || "with this argument it changes something".into());
    }
}

/// Whether a word is, or holds, this option.
fn is_option(word: &Word, option: &str, single_dash: bool) -> bool {
    if !word.is_literal() {
        return false;
    }
    let text = word.text.as_str();
    if text == option {
        return true;
    }
    if let Some(prefix) = option.strip_suffix('*') {
        return text.starts_with(prefix);
    }
    if let Some(long) = option.strip_prefix("--") {
        let Some(given) = text.strip_prefix("--") else {
            return false;
        };
        let given = given.split('=').next().unwrap_or_default();
        return !given.is_empty() && long.starts_with(given);
    }
    match option.strip_prefix('-') {
        // `-xo`, `-oFILE`: any position may be an option or a value; too often is on the safe side.
        Some(letter) if letter.len() == 1 && !single_dash => text
            .strip_prefix('-')
            .is_some_and(|rest| !rest.starts_with('-') && rest.contains(letter)),
        _ => false,
    }
}

fn risky_globals(program: &str, command: &mut SimpleCommand, verdict: &mut Verdict) {
    let Some((_, risky)) = RISKY_GLOBALS.iter().find(|(name, _)| *name == program) else {
        return;
    };
    let skipped = command.words.len() - command.normal.len();
    for word in command.words.iter().skip(1).take(skipped) {
        let name = word.text.split('=').next().unwrap_or_default();
        // `-Hhost`: the value may be joined to a short option.
        let joined =
            |option: &&&str| option.len() == 2 && !name.starts_with("--") && name.starts_with(**option);
        let option = risky.iter().find(|option| **option == name || joined(option));
        if let Some(option) = option {
            verdict.raise(Class::Unknown, || {
                format!("`{option}` can make `{program}` run another program or act elsewhere")
            });
            command.risky_options.push(word.text.clone());
            command.running_options.push(word.text.clone());
        }
    }
}

/// Judges one redirect; whether a rule leaves it uncovered.
fn redirect_class(command: &SimpleCommand, redirect: &Redirect, group: bool, verdict: &mut Verdict) -> bool {
    let Some(target) = &redirect.target else {
        return false;
    };
    if redirect.kind == RedirectKind::HereString {
        return false;
    }
    let text = &redirect.text;
    if target.text.starts_with("/dev/tcp/") || target.text.starts_with("/dev/udp/") {
        verdict.raise(Class::Unknown, || format!("`{text}` opens a connection"));
        return true;
    }
    if differs(text) {
        verdict.raise(Class::Unknown, || {
            format!("shells differ in which file `{text}` is")
        });
        return true;
    }
    if !redirect.writes_file() {
        return false;
    }
    let does_nothing = !group && matches!(command.program.as_deref(), None | Some(":" | "true"));
    if matches!(target.kind, WordKind::Variable | WordKind::Dynamic) {
        verdict.raise(Class::Unknown, || {
            format!("`{text}` writes to a file that the shell computes")
        });
    } else if target.text.starts_with("/dev/") {
        verdict.raise(Class::Destructive, || format!("`{text}` writes to a device"));
    } else if redirect.kind == RedirectKind::Write && does_nothing {
        verdict.raise(Class::Destructive, || format!("`{text}` empties the file"));
    } else {
        verdict.raise(Class::Change, || format!("`{text}` writes a file"));
    }
    true
}

/// Whether a word holds `$'…'` or `$"…"`, which to a POSIX shell begins with a dollar.
pub(super) fn differs(raw: &str) -> bool {
    raw.contains("$'") || raw.contains("$\"")
}

/// Whether setting a variable of this name changes nothing that programs do. Names in lower case belong to
/// the line itself, but for the proxies.
pub(super) fn is_harmless(name: &str) -> bool {
    let own = name
        .chars()
        .all(|char| char.is_ascii_lowercase() || char.is_ascii_digit() || char == '_');
    (own && !name.ends_with("_proxy")) || HARMLESS_VARIABLES.contains(&name)
}

fn assigned(assignment: &Assignment) -> String {
    format!("{}={}", assignment.name, assignment.value.text)
}
