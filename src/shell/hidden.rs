//! Builtins and variables by which a line runs what is not among its commands.
//!
//! `let`, `read` and their kin evaluate a name such as `a[$(x)]`; an alias, a function in the environment or `PS4`
//! runs what a variable holds. Such a line is not judged: it is asked each time.

use std::collections::HashSet;

use super::command::{Assignment, SimpleCommand, Word};
use super::convert::is_plain_value;

/// What was found.
#[derive(Default)]
pub(super) struct Hidden {
    /// Why the line cannot be judged.
    pub refused: Option<&'static str>,
    /// The values of variables are evaluated as arithmetic.
    pub reads_in_arithmetic: bool,
    /// A variable gets a value that arithmetic would run.
    pub odd_value: bool,
}

impl Hidden {
    fn refused(why: &'static str) -> Self {
        Self {
            refused: Some(why),
            ..Self::default()
        }
    }
}

const EVALUATES: &str = "a builtin would evaluate its argument";
const RUNS: &str = "a builtin would run what is in its argument";

/// Variables whose values the shell runs or expands.
fn is_run(name: &str) -> bool {
    matches!(
        name,
        "PS0" | "PS1" | "PS2" | "PS4" | "PROMPT_COMMAND" | "BASH_ENV" | "ENV"
    ) || name.starts_with("BASH_FUNC_")
}

/// Looks at a command whose program is known by name, and at what it sets.
pub(super) fn look(command: &SimpleCommand, given: &[Assignment]) -> Hidden {
    let runs = |assignment: &Assignment| {
        let is_code = assignment.name.starts_with("BASH_FUNC_") || !is_plain_value(&assignment.value);
        is_run(&assignment.name) && is_code
    };
    if given.iter().any(runs) {
        return Hidden::refused("the shell would run what a variable holds");
    }
    let arguments = command.words.get(1..).unwrap_or_default();
    match command.program.as_deref().unwrap_or_default() {
        "alias"
            if arguments
                .iter()
                .any(|word| !word.is_literal() || word.text.contains('=')) =>
        {
            Hidden::refused("an alias changes what later words mean")
        }
        "hash" if has_letter(arguments, 'p') => Hidden::refused("`hash -p` makes a name another program"),
        "compgen" | "complete"
            if ['C', 'F', 'W']
                .iter()
                .any(|letter| has_letter(arguments, *letter)) =>
        {
            Hidden::refused(RUNS)
        }
        "mapfile" | "readarray" if has_letter(arguments, 'C') => Hidden::refused(RUNS),
        "jobs" if has_letter(arguments, 'x') => Hidden::refused(RUNS),
        "bind" | "history" | "fc" if !arguments.is_empty() => Hidden::refused(RUNS),
        "printf" if !has_letter(arguments, 'v') => Hidden::default(),
        "test" | "["
            if !arguments
                .iter()
                .any(|word| matches!(word.text.as_str(), "-v" | "-R")) =>
        {
            Hidden::default()
        }
        "let" => Hidden {
            reads_in_arithmetic: true,
            ..names(arguments)
        },
        "declare" | "typeset" | "local" | "readonly" | "export" => {
            let evaluates = has_letter(arguments, 'i') || has_letter(arguments, 'n');
            Hidden {
                reads_in_arithmetic: evaluates,
                odd_value: arguments.iter().any(|word| !word.is_literal()),
                ..names(arguments)
            }
        }
        "read" | "mapfile" | "readarray" | "getopts" => Hidden {
            // What it reads may be anything.
            odd_value: true,
            ..names(arguments)
        },
        "printf" | "test" | "[" | "unset" | "wait" => names(arguments),
        _ => Hidden::default(),
    }
}

/// Arguments that are names of variables, perhaps with an index.
fn names(arguments: &[Word]) -> Hidden {
    let code = |word: &Word| word.is_literal() && word.text.contains(['$', '`']) && word.text.contains('[');
    if arguments.iter().any(code) {
        return Hidden::refused(EVALUATES);
    }
    let to_run = |word: &Word| is_run(word.text.split(['=', '[']).next().unwrap_or_default());
    let assigns = |word: &Word| to_run(word) && word.text.contains(['$', '`']);
    let fills = |word: &Word| to_run(word) && !word.text.contains('=');
    if arguments.iter().any(|word| assigns(word) || fills(word)) {
        return Hidden::refused("the shell would run what a variable holds");
    }
    Hidden {
        reads_in_arithmetic: arguments
            .iter()
            .any(|word| !word.is_literal() || word.text.contains('[')),
        ..Hidden::default()
    }
}

/// Whether a letter stands in an option, or may.
fn has_letter(arguments: &[Word], letter: char) -> bool {
    arguments.iter().any(|word| {
        let option = word.text.starts_with(['-', '+']) && word.text.contains(letter);
        option || (!word.is_literal() && word.may_be_option)
    })
}

/// Whether a function calls itself, perhaps by way of others. Each pair is a function and what it calls.
pub(super) fn recurses(calls: &[(String, String)]) -> bool {
    // What calls nothing of the rest is left out, until nothing changes: a circle remains.
    let mut left: HashSet<&str> = calls.iter().map(|(function, _)| function.as_str()).collect();
    loop {
        let calling: HashSet<&str> = calls
            .iter()
            .filter(|(function, called)| left.contains(function.as_str()) && left.contains(called.as_str()))
            .map(|(function, _)| function.as_str())
            .collect();
        if calling.len() == left.len() {
            return !left.is_empty();
        }
        left = calling;
    }
}

/// Whether a word is `{name}`: bash, but not a POSIX shell, would put the number of a following redirect's file into
/// that variable.
pub(super) fn names_descriptor(raw: &str) -> bool {
    let name = raw.strip_prefix('{').and_then(|raw| raw.strip_suffix('}'));
    name.is_some_and(|name| {
        name.starts_with(|char: char| char.is_ascii_alphabetic() || char == '_')
            && !name.contains([',', '{', ' '])
            && !name.contains("..")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_circle_of_calls_is_found() {
        let calls = |pairs: &[(&str, &str)]| {
            let own = |(from, to): &(&str, &str)| ((*from).to_owned(), (*to).to_owned());
            recurses(&pairs.iter().map(own).collect::<Vec<_>>())
        };
        assert!(calls(&[("f", "f")]));
        assert!(calls(&[("f", "g"), ("g", "f")]));
        assert!(calls(&[
            ("a", "f"),
            ("f", "g"),
            ("g", "h"),
            ("h", "f"),
            ("h", "ls")
        ]));
        assert!(!calls(&[("f", "g"), ("g", "ls"), ("f", "ls")]));
        assert!(!calls(&[]));
    }

    #[test]
    fn a_descriptor_with_a_name_is_known() {
        assert!(names_descriptor("{fd}") && names_descriptor("{a[1]}"));
        assert!(!names_descriptor("{}") && !names_descriptor("{a,b}") && !names_descriptor("{1}"));
    }
}
