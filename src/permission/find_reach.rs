//! What a `find` reaches: its places, and whether its tests narrow them down.

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
    let mut words = part.iter();
    let mut negated = false;
    while let Some(text) = words.next() {
        if matches!(*text, "!" | "-not") {
            negated = true;
            continue;
        }
        if FIND_RUNS.contains(text) {
            // Its words are no tests.
            words.by_ref().find(|text| matches!(**text, ";" | "+"));
        } else if FIND_LOOSE.contains(text) {
            words.next();
        } else if FIND_NAMES.contains(text) {
            let pattern = words.next().copied().unwrap_or_default();
            let all = pattern.chars().all(|char| "*?./[]".contains(char));
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
