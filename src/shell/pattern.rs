//! What an answer to a command is remembered as: a rule that covers commands like it, and no more.

use super::command::{Class, SimpleCommand};
use super::wrappers;

/// Programs whose first argument says what they do.
const WITH_SUBCOMMAND: [&str; 34] = [
    "apk",
    "apt",
    "apt-get",
    "brew",
    "bun",
    "bundle",
    "cargo",
    "composer",
    "dnf",
    "docker",
    "dotnet",
    "gem",
    "gh",
    "git",
    "gmake",
    "go",
    "gradle",
    "helm",
    "just",
    "kubectl",
    "make",
    "mvn",
    "npm",
    "pacman",
    "pip",
    "pip3",
    "pnpm",
    "podman",
    "poetry",
    "rustup",
    "systemctl",
    "terraform",
    "uv",
    "yarn",
];

/// Subcommands that have subcommands of their own.
const TWO_LEVELS: [&str; 18] = [
    "bun run",
    "bundle exec",
    "docker compose",
    "docker container",
    "docker image",
    "docker volume",
    "gh issue",
    "gh pr",
    "gh repo",
    "git remote",
    "git stash",
    "git submodule",
    "git worktree",
    "go mod",
    "npm run",
    "pnpm run",
    "uv run",
    "yarn run",
];

/// Programs that run the file they are given: the pattern names the file.
const INTERPRETERS: [&str; 34] = [
    "ash",
    "bash",
    "bun",
    "csh",
    "dash",
    "deno",
    "elvish",
    "expect",
    "fish",
    "julia",
    "ksh",
    "ksh93",
    "lua",
    "luajit",
    "mksh",
    "node",
    "nodejs",
    "nu",
    "osascript",
    "perl",
    "php",
    "pwsh",
    "pypy3",
    "python",
    "python2",
    "python3",
    "R",
    "Rscript",
    "ruby",
    "sh",
    "tclsh",
    "tcsh",
    "wish",
    "zsh",
];

/// First arguments of an interpreter that make it another script each time: names of the standard input,
/// and subcommands that run code from the line.
const IN_THE_LINE: [&str; 7] = [
    "-",
    "/dev/stdin",
    "/dev/fd/0",
    "/proc/self/fd/0",
    "/proc/thread-self/fd/0",
    "eval",
    "repl",
];

/// Programs that run anything at all, and builtins that change what the rest of a line means: an answer to
/// one is never remembered.
const NEVER: [&str; 41] = [
    "sudo",
    "doas",
    "su",
    "eval",
    "source",
    ".",
    "exec",
    "ssh",
    "parallel",
    "chroot",
    "nsenter",
    "systemd-run",
    "alias",
    "bind",
    "builtin",
    "command",
    "complete",
    "declare",
    "ed",
    "emacs",
    "enable",
    "ex",
    "export",
    "gdb",
    "getopts",
    "hash",
    "let",
    "local",
    "mapfile",
    "nvim",
    "read",
    "readarray",
    "readonly",
    "set",
    "shopt",
    "trap",
    "typeset",
    "unalias",
    "unset",
    "vi",
    "vim",
];

/// Subcommands that run any program at all, in a container or on another machine.
const NEVER_SUB: [&str; 13] = [
    "docker run",
    "docker exec",
    "docker create",
    "podman run",
    "podman exec",
    "podman create",
    "docker compose run",
    "docker compose exec",
    "docker container run",
    "docker container exec",
    "kubectl run",
    "kubectl exec",
    "kubectl debug",
];

/// The rule for a judged command; `None` when an answer must not be remembered. `wraps` says that it is a
/// wrapper.
pub(super) fn pattern(command: &SimpleCommand, wraps: bool) -> Option<String> {
    let program = command.program.as_deref()?;
    let unknowable = command.opaque || !command.uncovered.is_empty();
    if command.class == Class::Destructive || unknowable || NEVER.contains(&program) {
        return None;
    }
    let normal = &command.normal;
    let runs_any = (2..=3).any(|count| {
        let start = normal.get(..count).map(|words| words.join(" "));
        start.is_some_and(|start| NEVER_SUB.contains(&start.as_str()))
    });
    if runs_any {
        return None;
    }
    let interprets = is_interpreter(program);
    if wraps && !interprets && command.class == Class::Unknown && command.risky_options.is_empty() {
        return wrapped(command);
    }
    if !command.risky_options.is_empty() {
        // Only exactly this: it names the option.
        let literal = command.words.iter().all(super::command::Word::is_literal);
        return (literal && normal.len() == command.words.len())
            .then(|| join(normal))
            .flatten();
    }
    let second = normal.get(1).map(String::as_str);
    let named = match second {
        // What it runs comes from its input.
        None if interprets => return None,
        None => 1,
        Some("-m") if program.starts_with("python") && normal.len() > 2 => 3,
        // `python3 -c …`, `sh -s` and `bash -x …` are programs of their own each time.
        Some(option) if interprets && (option.starts_with(['-', '+']) || IN_THE_LINE.contains(&option)) => {
            return None;
        }
        Some(_) if interprets && !WITH_SUBCOMMAND.contains(&program) => 2,
        Some(option) if option.starts_with('-') => 1,
        Some(sub) if TWO_LEVELS.contains(&format!("{program} {sub}").as_str()) => 3,
        Some(_) if WITH_SUBCOMMAND.contains(&program) => 2,
        Some(_) => 1,
    };
    let start = join(normal.get(..named.min(normal.len()))?)?;
    Some(if normal.len() > 1 {
        format!("{start} *")
    } else {
        start
    })
}

/// Also with a version: `python3.12`, `lua5.4`.
fn is_interpreter(program: &str) -> bool {
    let plain = program.trim_end_matches(|char: char| char.is_ascii_digit() || char == '.');
    INTERPRETERS.contains(&program) || INTERPRETERS.contains(&plain)
}

/// A wrapper that is never harmless (`uv run`, `npx`) is remembered with the program that it runs; one that
/// is unknown because of its arguments is not: the next arguments are others.
fn wrapped(command: &SimpleCommand) -> Option<String> {
    let (wrapper, own) = wrappers::find(&command.normal)?;
    let runs = command.normal.get(own)?;
    if !wrapper.is_always_unknown() || runs.starts_with('-') || runs.contains('=') {
        return None;
    }
    Some(format!("{} *", join(command.normal.get(..=own)?)?))
}

/// Words as a rule; `None` when one of them cannot stand in a rule.
fn join(words: &[String]) -> Option<String> {
    let plain = |word: &String| {
        !word.is_empty()
            && !word.contains(|char: char| char.is_whitespace() || "*\"'`$\\()<>|&;#!~{}[]?".contains(char))
    };
    words.iter().all(plain).then(|| words.join(" "))
}
