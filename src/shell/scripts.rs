//! Commands whose class hangs on what their arguments say: small scripts, builtins, version queries.

use super::class::is_harmless;
use super::command::{Class, SimpleCommand, Word};
use super::ps;

/// Programs that may be asked for their version or help unasked: those that read no file of the project first
/// (`cargo` may be another one by `rust-toolchain.toml`, `yarn` a script by `.yarnrc.yml`).
const KNOWN_TO_ANSWER: [&str; 20] = [
    "awk", "bash", "cc", "clang", "cmake", "fd", "find", "g++", "gcc", "git", "javac", "lua", "make", "node",
    "nvim", "perl", "python", "python3", "rg", "ruby",
];

/// Whether the command only asks a known program for its version or help.
pub(super) fn asks_version(command: &SimpleCommand) -> bool {
    let [program, option] = command.words.as_slice() else {
        return false;
    };
    let known = command
        .normal
        .first()
        .is_some_and(|name| KNOWN_TO_ANSWER.contains(&name.as_str()));
    // Not `-v`: of some programs it is no question.
    known
        && program.is_literal()
        && option.is_literal()
        && matches!(option.text.as_str(), "--version" | "--help" | "-V")
}

/// Builtins whose arguments say in plain words what they set: a rule that names one means it.
pub(super) const SETS: [&str; 6] = ["export", "declare", "local", "readonly", "typeset", "set"];

/// The class of a command that the table cannot describe, and why; `None` for any other. For `sed` it only
/// adds to the table.
pub(super) fn special(command: &SimpleCommand) -> Option<(Class, &'static str)> {
    let (_, arguments) = command.words.split_first()?;
    let (harmless, why) = match command.program.as_deref()? {
        "[" | "test" => {
            // `test -v 'a[$(x)]'` runs x; in ksh `-eq` does, too.
            let named = |word: &Word| matches!(word.text.as_str(), "-v" | "-R");
            (
                !arguments.iter().any(|word| named(word) || holds_code(word)),
                "it may evaluate its argument",
            )
        }
        "printf" if !arguments.iter().any(holds_code) => return None,
        "printf" => (false, "it may evaluate its argument"),
        "exit" | "return" | "break" | "continue" | "shift" => {
            let number = |word: &Word| {
                word.text == "$?"
                    || (word.is_literal() && word.text.bytes().all(|byte| byte.is_ascii_digit()))
            };
            (arguments.iter().all(number), "it may evaluate its argument")
        }
        "set" => (
            arguments.iter().all(sets_harmless_option),
            "`set` changes how the rest of the line is read",
        ),
        "export" | "declare" | "local" | "readonly" | "typeset" => {
            // A value with `[` may be evaluated; what is not `NAME` or `NAME=…` is an option.
            let plain = |word: &Word| {
                let name = word.text.split('=').next().unwrap_or_default();
                is_name(name) && is_harmless(name)
            };
            (arguments.iter().all(plain), "it may change what programs do")
        }
        "read" => (reads_harmlessly(arguments), "it may change what programs do"),
        "awk" | "gawk" | "mawk" => (awk_only_prints(arguments), UNKNOWN_SCRIPT),
        "ps" => (
            ps::shows_no_environment(arguments),
            "it may show the environment of a process",
        ),
        "tar" | "gtar" | "bsdtar" => {
            // `tar cIf`: letters without a dash.
            let joined = arguments.first().is_some_and(|word| {
                word.is_literal() && !word.text.starts_with('-') && word.text.contains(['I', 'F'])
            });
            if !joined {
                return None;
            }
            (false, "it runs another program")
        }
        "zip" => {
            let tests = |word: &Word| word.text.starts_with('-') && word.text.contains("TT");
            if !arguments.iter().any(tests) {
                return None;
            }
            (false, "`-TT` runs another program")
        }
        "git" => {
            // `git --help` alone is answered by git itself.
            let asks = |word: &Word| word.text == "--help";
            if !arguments.iter().any(asks) {
                return None;
            }
            (
                false,
                "`--help` shows a manual page with a program that a setting may name",
            )
        }
        "yq" => {
            let opens = |word: &Word| {
                ["load", "eval(", "system"]
                    .iter()
                    .any(|call| word.text.contains(call))
            };
            if !arguments.iter().any(opens) {
                return None;
            }
            (false, UNKNOWN_SCRIPT)
        }
        "sed" | "gsed" if sed(arguments) => return None,
        "sed" | "gsed" => (false, UNKNOWN_SCRIPT),
        _ => return None,
    };
    Some((if harmless { Class::Read } else { Class::Unknown }, why))
}

/// Whether `read` fills variables of the line only.
fn reads_harmlessly(arguments: &[Word]) -> bool {
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let plain = match word.text.as_str() {
            "-d" | "-n" | "-N" | "-p" | "-t" | "-u" => words.next().is_some(),
            "-r" | "-s" | "-rs" | "-e" => true,
            "-rd" | "-rn" | "-rp" | "-rt" => words.next().is_some(),
            name => is_name(name) && is_harmless(name),
        };
        if !word.is_literal() || !plain {
            return false;
        }
    }
    true
}

const UNKNOWN_SCRIPT: &str = "its script is not among those known to only print";

/// Whether arithmetic, which some builtins do on their arguments, would run something.
fn holds_code(word: &Word) -> bool {
    word.is_literal() && word.text.contains('[') && (word.text.contains("$(") || word.text.contains('`'))
}

fn sets_harmless_option(word: &Word) -> bool {
    let named = matches!(word.text.as_str(), "pipefail" | "errexit" | "nounset" | "xtrace");
    let letters = word.text.strip_prefix(['-', '+']).unwrap_or_default();
    word.is_literal()
        && (named || (!letters.is_empty() && letters.chars().all(|letter| "euxo".contains(letter))))
}

/// Whether `awk` only prints: no command, file or library is named in its script.
fn awk_only_prints(arguments: &[Word]) -> bool {
    let mut arguments = arguments.iter();
    loop {
        let Some(word) = arguments.next() else {
            return false;
        };
        if !word.is_literal() {
            return false;
        }
        match word.text.as_str() {
            "-F" | "-v" => {
                if arguments.next().is_none_or(|value| value.may_be_option) {
                    return false;
                }
            }
            "--" => {
                return arguments
                    .next()
                    .is_some_and(|script| script.is_literal() && awk(&script.text));
            }
            text if text.starts_with("-F") || text.starts_with("-v") => {}
            text if text.starts_with('-') => return false,
            script => return awk(script),
        }
    }
}

fn awk(script: &str) -> bool {
    // With `ARGV` it opens files that the line does not name.
    let calls = ["system", "getline", "ARGV", "@", ">", "fflush", "close"];
    let script = script.replace(">=", "");
    !calls.iter().any(|call| script.contains(call)) && !script.replace("||", "").contains('|')
}

fn sed(arguments: &[Word]) -> bool {
    let mut words = arguments.iter();
    let mut scripts = 0;
    let mut operands = false;
    while let Some(word) = words.next() {
        if !word.is_literal() {
            // A file; but it must not be able to be an option.
            if word.may_be_option || scripts == 0 {
                return false;
            }
            continue;
        }
        match word.text.as_str() {
            "-n" | "-E" | "-r" | "-s" | "-z" | "-u" | "--quiet" | "--silent" | "-nE" | "-nr" | "-En"
            | "-rn" => {}
            "-e" | "-ne" => {
                let script = words.next();
                if !script.is_some_and(|script| script.is_literal() && sed_script(&script.text)) {
                    return false;
                }
                scripts += 1;
            }
            "--" => operands = true,
            text if text.starts_with('-') && !operands => return false,
            text if scripts == 0 => {
                if !sed_script(text) {
                    return false;
                }
                scripts += 1;
            }
            _ => {}
        }
    }
    scripts > 0
}

/// Whether every command of a script prints, deletes a line of the output, quits or substitutes.
fn sed_script(script: &str) -> bool {
    let mut rest = script.trim();
    while !rest.is_empty() {
        let Some(next) = sed_command(rest) else {
            return false;
        };
        rest = next.trim_start_matches([' ', ';', '\n', '\t']);
    }
    !script.trim().is_empty()
}

/// Skips one command; `None` when it is not a known harmless one.
fn sed_command(script: &str) -> Option<&str> {
    let mut rest = sed_address(script)?;
    if let Some(second) = rest.strip_prefix(',') {
        rest = sed_address(second.strip_prefix(['+', '~']).unwrap_or(second))?;
    }
    rest = rest.trim_start();
    rest = rest.strip_prefix('!').unwrap_or(rest);
    let mut chars = rest.chars();
    match chars.next()? {
        'p' | 'd' | 'q' | '=' | 'n' | 'N' | 'h' | 'H' | 'g' | 'G' | 'x' | 'D' | 'P' => {}
        's' => {
            let delimiter = chars
                .next()
                .filter(|char| !char.is_alphanumeric() && !"\\ \n".contains(*char))?;
            let after = sed_part(sed_part(chars.as_str(), delimiter)?, delimiter)?;
            chars = after
                .trim_start_matches(|flag: char| "gpiI".contains(flag) || flag.is_ascii_digit())
                .chars();
        }
        _ => return None,
    }
    let rest = chars.as_str();
    let ends = rest.trim_start_matches([' ', '\t']);
    (ends.is_empty() || ends.starts_with([';', '\n'])).then_some(rest)
}

fn sed_address(script: &str) -> Option<&str> {
    let script = script.trim_start();
    if let Some(rest) = script.strip_prefix('$') {
        return Some(rest);
    }
    if let Some(rest) = script.strip_prefix('/') {
        return sed_part(rest, '/').map(|rest| rest.strip_prefix('I').unwrap_or(rest));
    }
    Some(script.trim_start_matches(|char: char| char.is_ascii_digit()))
}

/// What follows the next unescaped delimiter. A bracket expression makes the end uncertain.
fn sed_part(text: &str, delimiter: char) -> Option<&str> {
    let mut escaped = false;
    let mut bracket = false;
    for (at, char) in text.char_indices() {
        match char {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '\n' => return None,
            '[' => bracket = true,
            ']' => bracket = false,
            _ if char == delimiter => {
                return if bracket {
                    None
                } else {
                    text.get(at + char.len_utf8()..)
                };
            }
            _ => {}
        }
    }
    None
}

fn is_name(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with(|char: char| char.is_ascii_digit())
        && text
            .chars()
            .all(|char| char.is_ascii_alphanumeric() || char == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sed_scripts_that_only_print() {
        for script in [
            "1,20p",
            "$p",
            "/fn main/,/^}/p",
            "s/a/b/g",
            "s|a\\|b|c|2p",
            "10q",
            "1d; $!d",
            "/x/!d",
            "5,+3p",
        ] {
            assert!(sed_script(script), "{script}");
        }
        for script in [
            "w out",
            "1e",
            "s/a/b/e",
            "s/a/b/w f",
            "r /etc/passwd",
            "1,3w f",
            "s/[/]/x/e",
            "",
            "e rm x",
        ] {
            assert!(!sed_script(script), "{script}");
        }
    }

    #[test]
    fn awk_scripts_that_only_print() {
        assert!(awk("{print $1}") && awk("NR==1 || /x/ {print}") && awk("NR>=10 && NR<=20"));
        assert!(!awk("BEGIN { ARGV[1] = \"x\" }"));
        assert!(!awk("{system(\"rm\")}") && !awk("{print | \"sh\"}") && !awk("{print > \"f\"}"));
    }
}
