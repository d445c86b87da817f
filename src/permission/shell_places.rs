//! Where a command acts, beside what it is: outside, in a git folder, in a repository that anybody can have
//! made, on what the shell computes.

use crate::config::layer::Sourced;
use crate::permission::finding::Finding;
use crate::permission::named::Naming;
use crate::permission::named_path::Named;
use crate::shell::command::{Analysis, Class, Redirect, RedirectKind, SimpleCommand, Word, WordKind};

const TIER: &str = "tier";

/// Programs that change the files among their operands: an allow rule for one of them does not speak of
/// files outside.
const FILE_CHANGERS: &[&str] = &[
    "cp", "mv", "install", "ln", "rsync", "scp", "mkdir", "touch", "tee", "truncate", "rm", "rmdir",
    "unlink", "shred", "tar", "zip", "unzip", "gzip", "gunzip", "bzip2", "xz", "zstd", "split", "csplit",
    "patch", "chmod", "chown", "chgrp", "dd", "sed", "gsed", "mkfifo", "sort", "find",
];

/// Of these, the ones that only read all operands but the last.
const COPIERS: &[&str] = &["cp", "install", "ln", "rsync", "scp"];

/// Programs that remove what they name, so that an unknown operand may be anything.
const REMOVERS: &[&str] = &["rm", "rmdir", "unlink", "shred", "srm", "mv", "trash"];

/// An allow rule speaks of a command, not of every place it could be done in: a path in a git folder or
/// outside of the working directory is asked, unless the rule names it.
pub(super) fn beyond(
    naming: &Naming<'_>,
    command: &SimpleCommand,
    entry: &Sourced<String>,
) -> Option<Finding> {
    let everything = matches!(entry.value.as_str(), "*" | "shell_allow_list = all");
    if everything || command.program.as_deref() == Some("git") {
        return None;
    }
    let program = command.program.as_deref().unwrap_or_default();
    // `-S` is for one who is not there to be asked: only git folders count.
    let counts_outside = FILE_CHANGERS.contains(&program) && !entry.value.starts_with("shell_allow_list");
    let arguments: Vec<&Word> = command.words.iter().skip(1).collect();
    let last = arguments.iter().rposition(|word| !word.text.starts_with('-'));
    let is_target = |at: usize, word: &Word| {
        let follows = at
            .checked_sub(1)
            .and_then(|before| arguments.get(before))
            .is_some_and(|before| before.text.starts_with("-t") || before.text.starts_with("--t"));
        !COPIERS.contains(&program) || Some(at) == last || follows || word.text.starts_with('-')
    };
    let is_named = |word: &Word| entry.value.split_whitespace().any(|part| part == word.text);
    let ground = naming.ground();
    let meets = |named: &Named| {
        named.paths().into_iter().any(|path| {
            ground.is_git(path)
                || (counts_outside && !ground.is_work_folder(path) && !path.starts_with("/dev"))
        })
    };
    let words = arguments.iter().enumerate();
    let (_, word) = words
        .filter(|(at, word)| is_target(*at, word) && !is_named(word))
        .find(|(_, word)| naming.word(word).iter().any(meets))?;
    Some(Finding::ask(
        TIER,
        "a rule for a command does not cover writing in .git or outside, unless it names the path",
        format!(
            "`{}` of `{}` lies in a git folder or outside.",
            word.text, command.text
        ),
    ))
}

/// Whether a line runs git, and beside it only what writes nowhere in a git folder: no program of the project.
pub(super) fn only_git(naming: &Naming<'_>, analysis: &Analysis) -> bool {
    let is_git = |command: &SimpleCommand| command.program.as_deref() == Some("git");
    let is_known = |command: &SimpleCommand| {
        let program = command.program.as_deref().unwrap_or_default();
        let plain = command.class == Class::Read || FILE_CHANGERS.contains(&program);
        let open = |word: &Word| naming.fill(word).computed || word.kind == WordKind::Dynamic;
        is_git(command) || (plain && !names_git(naming, command) && !command.words.iter().any(open))
    };
    let runs = |command: &SimpleCommand| command.class != Class::Unknown && is_known(command);
    analysis.unparsable.is_none()
        && analysis.commands.iter().any(is_git)
        && analysis.commands.iter().all(runs)
}

/// Whether a command names something in a git folder.
pub(super) fn names_git(naming: &Naming<'_>, command: &SimpleCommand) -> bool {
    let meets = |named: &Named| named.paths().into_iter().any(|path| naming.ground().is_git(path));
    naming.command(command).iter().any(meets)
}

/// git in a folder that only looks like a repository: its config can run programs.
pub(super) fn repository(naming: &Naming<'_>, command: &SimpleCommand) -> Option<Finding> {
    if command.program.as_deref() != Some("git") {
        return None;
    }
    let foreign = naming
        .bases()
        .iter()
        .find(|base| naming.ground().is_foreign_git(base));
    let reason = match foreign {
        Some(folder) => format!(
            "{} lies in a folder that git takes for a repository; its config can run programs.",
            folder.display()
        ),
        None if naming.is_lost() || command.wrapped_by.iter().any(|wrapper| wrapper.ends_with("find")) => {
            "git runs in a folder that the line computes.".to_owned()
        }
        None => return None,
    };
    Some(Finding::ask(
        TIER,
        "git in a folder that is not known is asked",
        reason,
    ))
}

/// Whether it may change the files among its operands, or writes into one by a redirect.
pub(super) fn changes_files(command: &SimpleCommand) -> bool {
    let writes = |redirect: &Redirect| {
        matches!(
            redirect.kind,
            RedirectKind::Write | RedirectKind::Append | RedirectKind::ReadWrite
        )
    };
    let program = command.program.as_deref().unwrap_or_default();
    FILE_CHANGERS.contains(&program) || command.redirects.iter().any(writes)
}

/// Whether it removes what the shell computes, or runs a program whose name the shell computes: a hard rule
/// cannot be ruled out.
pub(super) fn may_remove_anything(naming: &Naming<'_>, command: &SimpleCommand) -> bool {
    let Some(program) = command.program.as_deref() else {
        return !command.words.is_empty();
    };
    if REMOVERS.contains(&program)
        && command
            .wrapped_by
            .iter()
            .any(|wrapper| matches!(wrapper.as_str(), "fd" | "fdfind" | "parallel"))
    {
        return true;
    }
    // What `find` hands over was judged with it.
    let found = command
        .wrapped_by
        .last()
        .is_some_and(|wrapper| wrapper == "find" || wrapper == "gfind");
    let is_open = |word: &Word| {
        let filled = naming.fill(word);
        let is_fed = word.kind == WordKind::Dynamic && !word.text.contains(['$', '`']);
        (is_fed && !found) || filled.computed || filled.foreign
    };
    REMOVERS.contains(&program) && command.words.iter().skip(1).any(is_open)
}
