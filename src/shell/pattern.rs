//! What an answer to a command is remembered as: a rule that covers commands like it, and no more.

use super::command::{Class, SimpleCommand};

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
const INTERPRETERS: [&str; 16] = [
    "bash", "bun", "dash", "deno", "fish", "ksh", "lua", "node", "nvim", "perl", "php", "python", "python3",
    "ruby", "sh", "zsh",
];

/// Programs that run anything at all: an answer to one is never remembered.
const NEVER: [&str; 12] = [
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
];

/// The rule for a judged command; `None` when an answer must not be remembered.
pub(super) fn pattern(command: &SimpleCommand) -> Option<String> {
    let program = command.program.as_deref()?;
    if command.class == Class::Destructive || !command.uncovered.is_empty() || NEVER.contains(&program) {
        return None;
    }
    let normal = &command.normal;
    if !command.risky_options.is_empty() {
        // Only exactly this: it names the option.
        let literal = command.words.iter().all(super::command::Word::is_literal);
        return (literal && normal.len() == command.words.len())
            .then(|| join(normal))
            .flatten();
    }
    let second = normal.get(1).map(String::as_str);
    let named = match second {
        None => 1,
        Some("-m") if program.starts_with("python") => 3,
        Some(option) if INTERPRETERS.contains(&program) && !WITH_SUBCOMMAND.contains(&program) => {
            // `python3 -c …` and `bash -x …` are programs of their own each time.
            if option.starts_with('-') {
                return join(normal);
            }
            2
        }
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

/// Words as a rule; `None` when one of them cannot stand in a rule.
fn join(words: &[String]) -> Option<String> {
    let plain = |word: &String| {
        !word.is_empty()
            && !word.contains(|char: char| char.is_whitespace() || "*\"'`$\\()<>|&;#!~{}[]?".contains(char))
    };
    words.iter().all(plain).then(|| words.join(" "))
}
