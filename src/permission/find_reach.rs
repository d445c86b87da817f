//! What a `find` reaches: its places, and whether its tests narrow them down.

use std::path::Path;

use globset::GlobBuilder;

use crate::shell::command::SimpleCommand;

/// Words of `find` that narrow nothing down that matters.
const FIND_ALL: &[&str] = &[
    "-delete", "-depth", "-d", "-xdev", "-mount", "-exec", "-execdir", "-ok", "-okdir", "-print", "-print0",
    "-ls", "-true", "-follow", "-noleaf", "-a", "-and", "(", ")", "+", ";", "{}",
];

/// Tests of `find` that narrow nothing down, with their value.
const FIND_LOOSE: &[&str] = &[
    "-type",
    "-mindepth",
    "-maxdepth",
    "-user",
    "-uid",
    "-links",
    "-fstype",
];

/// Tests of `find` by name: they narrow something down unless their pattern is all stars.
const FIND_NAMES: &[&str] = &[
    "-name",
    "-iname",
    "-path",
    "-ipath",
    "-wholename",
    "-iwholename",
    "-regex",
    "-iregex",
];

/// Actions of `find` that run a program.
pub(super) const FIND_RUNS: &[&str] = &["-exec", "-execdir", "-ok", "-okdir"];

/// The words of a `find` without its name, where its places begin, and where its tests do.
pub(super) fn find_parts(command: &SimpleCommand) -> (Vec<&str>, usize, usize) {
    let texts: Vec<&str> = command
        .words
        .iter()
        .skip(1)
        .map(|word| word.text.as_str())
        .collect();
    let mut start = 0;
    while let Some(text) = texts.get(start) {
        let skipped = match *text {
            "-H" | "-L" | "-P" | "--" => 1,
            "-D" => 2,
            text if text.starts_with("-O") => 1,
            _ => break,
        };
        start += skipped;
    }
    let start = start.min(texts.len());
    let end = (start..texts.len())
        .find(|at| {
            texts
                .get(*at)
                .is_some_and(|text| text.starts_with(['-', '(', '!']))
        })
        .unwrap_or(texts.len());
    (texts, start, end)
}

/// Whether tests of `find` narrow down what its action meets: in each part between `-o` that has an action.
/// What a test excludes (`! -name x`) is little beside what it leaves.
pub(super) fn is_narrowed(tests: &[&str]) -> bool {
    let acts = |part: &&[&str]| {
        part.iter()
            .any(|text| *text == "-delete" || FIND_RUNS.contains(text) || text.starts_with("-print"))
    };
    let parts: Vec<&[&str]> = tests.split(|text| matches!(*text, "-o" | "-or" | ",")).collect();
    let mut with_action = parts.iter().copied().filter(acts).peekable();
    if with_action.peek().is_none() {
        return parts.into_iter().all(part_is_narrowed);
    }
    with_action.all(part_is_narrowed)
}

fn part_is_narrowed(part: &[&str]) -> bool {
    let mut words = part.iter().peekable();
    let mut negated = false;
    while let Some(text) = words.next() {
        if matches!(*text, "!" | "-not") {
            if words.peek().is_some_and(|next| **next == "(") {
                return false;
            }
            negated = true;
            continue;
        }
        if FIND_RUNS.contains(text) {
            // Its words are no tests.
            words.find(|text| matches!(**text, ";" | "+"));
        } else if FIND_LOOSE.contains(text) {
            words.next();
        } else if FIND_NAMES.contains(text) {
            let pattern = words.next().copied().unwrap_or_default();
            // Of what begins with a dot, `meets` sees what must stay.
            let dots = if matches!(*text, "-name" | "-iname") {
                ""
            } else {
                "./"
            };
            let all = pattern
                .chars()
                .all(|char| "*?[]".contains(char) || dots.contains(char));
            if !negated && !all {
                return true;
            }
        } else if text.starts_with('-') && !FIND_ALL.contains(text) {
            if !negated {
                return true;
            }
            words.next();
        }
        negated = false;
    }
    false
}

/// What a `find` meets that must stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meets {
    /// Its tests spare it.
    Spared,
    /// Its tests cannot be judged.
    Unclear,
    /// Its tests let it through.
    Met,
}

/// Whether the tests of a `find` that was started at `place`, as written, let the entry `below` it through, by
/// names and depths. Other tests count as passed.
pub(super) fn meets(tests: &[&str], place: &str, below: &Path, is_folder: bool) -> Meets {
    let depth = below.components().count();
    let limit = |name: &str| {
        let at = tests.iter().position(|text| *text == name)?;
        tests.get(at + 1)?.parse::<usize>().ok()
    };
    if limit("-maxdepth").is_some_and(|most| depth > most)
        || limit("-mindepth").is_some_and(|least| depth < least)
    {
        return Meets::Spared;
    }
    let shown = if below.as_os_str().is_empty() {
        place.to_owned()
    } else {
        format!("{}/{}", place.trim_end_matches('/'), below.display())
    };
    let name = shown.rsplit('/').next().unwrap_or_default();
    // Of a group, any part may be what the action hangs on.
    let grouped = tests.contains(&"(");
    let acts = |part: &&[&str]| {
        grouped
            || part
                .iter()
                .any(|text| *text == "-delete" || FIND_RUNS.contains(text) || text.starts_with("-print"))
    };
    let parts: Vec<&[&str]> = tests.split(|text| matches!(*text, "-o" | "-or" | ",")).collect();
    let all = !parts.iter().any(acts);
    let judged = parts.iter().filter(|part| all || acts(part));
    let mut found = Meets::Spared;
    for part in judged {
        match part_meets(part, name, &shown, is_folder) {
            Meets::Met => return Meets::Met,
            Meets::Unclear => found = Meets::Unclear,
            Meets::Spared => {}
        }
    }
    found
}

fn part_meets(part: &[&str], name: &str, shown: &str, is_folder: bool) -> Meets {
    let mut found = Meets::Met;
    let mut words = part.iter();
    let mut negated = false;
    while let Some(text) = words.next() {
        let passes = match *text {
            "!" | "-not" => {
                negated = true;
                continue;
            }
            "-type" => words
                .next()
                .map(|kinds| kinds.contains(if is_folder { 'd' } else { 'f' })),
            "-name" => words.next().map(|pattern| is_like(pattern, name, false)),
            "-iname" => words.next().map(|pattern| is_like(pattern, name, true)),
            "-path" | "-wholename" => words.next().map(|pattern| is_like(pattern, shown, false)),
            "-ipath" | "-iwholename" => words.next().map(|pattern| is_like(pattern, shown, true)),
            "-regex" | "-iregex" => {
                words.next();
                found = Meets::Unclear;
                None
            }
            text if FIND_RUNS.contains(&text) => {
                words.find(|text| matches!(**text, ";" | "+"));
                None
            }
            _ => None,
        };
        if passes.is_some_and(|passes| passes == negated) {
            return Meets::Spared;
        }
        negated = false;
    }
    found
}

/// Whether a pattern of `find`, whose stars also stand for `/` and for a leading dot, takes a text.
fn is_like(pattern: &str, text: &str, any_case: bool) -> bool {
    let glob = GlobBuilder::new(&pattern.replace(['{', '}', ','], "?"))
        .case_insensitive(any_case)
        .literal_separator(false)
        .build();
    // What is no pattern to us may be one to `find`.
    glob.map_or(true, |glob| glob.compile_matcher().is_match(text))
}
