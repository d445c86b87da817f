//! The hard rules for shell lines: nothing removes or overwrites `/`, a home, the working directory, its
//! `.git` or a disk, and nothing writes the agent's own rules.

use std::path::Path;

use crate::permission::finding::Finding;
use crate::permission::ground::Ground;
use crate::permission::hard::refuse;
use crate::permission::named::{Named, Naming, name_matcher};
use crate::shell::command::{Analysis, Class, SimpleCommand, Word};

/// Programs that remove every operand.
const REMOVERS: &[&str] = &[
    "rm",
    "rmdir",
    "unlink",
    "shred",
    "srm",
    "trash",
    "trash-put",
    "wipe",
];

/// Programs that overwrite every operand.
const WRITERS: &[&str] = &[
    "tee",
    "truncate",
    "touch",
    "wipefs",
    "blkdiscard",
    "mkswap",
    "fdisk",
    "sfdisk",
    "sgdisk",
    "parted",
];

/// Programs whose last operand, or the value of `-t`, is what they write.
const COPIERS: &[&str] = &["cp", "mv", "install", "ln", "rsync", "scp"];

/// Words of `find` that narrow nothing down that matters.
const FIND_ALL: &[&str] = &[
    "-delete",
    "-depth",
    "-d",
    "-xdev",
    "-mount",
    "-exec",
    "-execdir",
    "-ok",
    "-okdir",
    "-print",
    "-print0",
    "-ls",
    "-true",
    "-type",
    "f",
    "d",
    "l",
    "-mindepth",
    "-maxdepth",
    "-a",
    "-o",
    "-or",
    "-and",
    "(",
    ")",
];

/// Judges a line: the first command that a hard rule refuses.
pub fn line(ground: &Ground, naming: &Naming<'_>, analysis: &Analysis) -> Option<Finding> {
    let judge = Judge { ground, naming };
    analysis
        .commands
        .iter()
        .find_map(|command| judge.redirects(command).or_else(|| judge.command(command)))
        .or_else(|| judge.fed_by_pipe(analysis))
}

struct Judge<'a> {
    ground: &'a Ground,
    naming: &'a Naming<'a>,
}

impl Judge<'_> {
    fn redirects(&self, command: &SimpleCommand) -> Option<Finding> {
        let written = command.redirects.iter().filter(|redirect| redirect.writes_file());
        written
            .filter_map(|redirect| redirect.target.as_ref())
            .find_map(|word| self.overwrites(command, word))
    }

    fn command(&self, command: &SimpleCommand) -> Option<Finding> {
        let program = command.program.as_deref()?;
        let operands = operands(command);
        if REMOVERS.contains(&program) {
            return operands.iter().find_map(|word| self.removes(command, word));
        }
        if program == "find" {
            return self.find(command);
        }
        if program == "dd" {
            let outputs = command.words.iter().filter(|word| word.text.starts_with("of="));
            return outputs
                .into_iter()
                .find_map(|word| self.overwrites(command, word));
        }
        if WRITERS.contains(&program) || program.starts_with("mkfs") || program.starts_with("mke2fs") {
            return operands.iter().find_map(|word| self.overwrites(command, word));
        }
        if COPIERS.contains(&program) {
            return self.copies(command, program, &operands);
        }
        // `sed -i`, editors, scripts: whatever may change files and names our own.
        let names_ours = || {
            self.naming
                .command(command)
                .iter()
                .any(|named| self.ground.is_protected(&named.real))
        };
        (command.class != Class::Read && names_ours()).then(|| protected(command))
    }

    fn copies(&self, command: &SimpleCommand, program: &str, operands: &[&Word]) -> Option<Finding> {
        let into = command
            .words
            .iter()
            .enumerate()
            .find_map(|(at, word)| match word.text.as_str() {
                "-t" | "--target-directory" => command.words.get(at + 1),
                text if text.starts_with("--target-directory=") => Some(word),
                _ => None,
            });
        let (target, sources) = match (into, operands.split_last()) {
            (Some(into), _) => (into, operands),
            (None, Some((last, sources))) => (*last, sources),
            (None, None) => return None,
        };
        let moved = (program == "mv")
            .then(|| sources.iter().find_map(|word| self.removes(command, word)))
            .flatten();
        let mirrored = command.words.iter().any(|word| word.text.starts_with("--delete"));
        let emptied = (program == "rsync" && mirrored)
            .then(|| self.removes(command, target))
            .flatten();
        moved
            .or(emptied)
            .or_else(|| self.overwrites(command, target))
            .or_else(|| {
                // `cp x ~/.deepseek/` writes below the folder that is named.
                let name = |word: &&Word| Path::new(&word.text).file_name().map(ToOwned::to_owned);
                let names: Vec<_> = sources.iter().filter_map(name).collect();
                let lands = |named: &Named| {
                    names
                        .iter()
                        .any(|name| self.ground.is_protected(&named.real.join(name)))
                };
                self.naming
                    .word(target)
                    .iter()
                    .any(lands)
                    .then(|| protected(command))
            })
    }

    /// `find PLACE -delete` with nothing that narrows it down removes the place.
    fn find(&self, command: &SimpleCommand) -> Option<Finding> {
        let texts: Vec<&str> = command
            .words
            .iter()
            .skip(1)
            .map(|word| word.text.as_str())
            .collect();
        let first_option = texts
            .iter()
            .position(|text| text.starts_with(['-', '(', '!']))
            .unwrap_or(texts.len());
        let removes = texts.iter().enumerate().any(|(at, text)| {
            let runs = ["-exec", "-execdir", "-ok", "-okdir"].contains(text);
            *text == "-delete" || (runs && texts.get(at + 1).is_some_and(|next| is_remover(next)))
        });
        let end = texts
            .iter()
            .position(|text| text.starts_with("-exec") || text.starts_with("-ok"));
        let tests = texts
            .get(first_option..end.unwrap_or(texts.len()))
            .unwrap_or_default();
        let narrowed = tests
            .iter()
            .any(|text| !FIND_ALL.contains(text) && text.parse::<u32>().is_err());
        if !removes || narrowed {
            return None;
        }
        let places = command.words.iter().skip(1).take(first_option);
        let mut named: Vec<Named> = places.flat_map(|word| self.naming.word(word)).collect();
        if first_option == 0 {
            named.extend(self.naming.bases().iter().map(|base| Named {
                text: ".".to_owned(),
                entry: base.clone(),
                real: base.clone(),
            }));
        }
        named.iter().find_map(|named| self.removes_path(command, named))
    }

    /// `echo / | xargs rm -rf`: the words of the line are what is removed. The working directory is left
    /// out, because `find . -name … | xargs rm` is common and removes only what was found.
    fn fed_by_pipe(&self, analysis: &Analysis) -> Option<Finding> {
        let fed = |command: &&SimpleCommand| {
            let through = command
                .wrapped_by
                .iter()
                .any(|wrapper| wrapper == "xargs" || wrapper == "parallel");
            through && command.program.as_deref().is_some_and(is_remover)
        };
        let remover = analysis.commands.iter().find(fed)?;
        let words = analysis
            .commands
            .iter()
            .flat_map(|command| command.words.iter().skip(1));
        words.flat_map(|word| self.naming.word(word)).find_map(|named| {
            let vital = self.ground.vital(&named.real)?;
            let spared = vital == "the working directory" || named.text == "." || named.text == "..";
            (!spared).then(|| refuse_removal(remover, &named, vital))
        })
    }

    fn removes(&self, command: &SimpleCommand, word: &Word) -> Option<Finding> {
        self.everything_in(command, word).or_else(|| {
            self.naming
                .word(word)
                .iter()
                .find_map(|named| self.removes_path(command, named))
        })
    }

    fn removes_path(&self, command: &SimpleCommand, named: &Named) -> Option<Finding> {
        if let Some(vital) = self.ground.vital(&named.entry) {
            return Some(refuse_removal(command, named, vital));
        }
        (self.ground.is_protected(&named.entry) || self.ground.holds_protected(&named.entry))
            .then(|| protected(command))
    }

    /// `rm -rf /*`, `rm -rf ~/*`, and a pattern that takes `.git` with it.
    fn everything_in(&self, command: &SimpleCommand, word: &Word) -> Option<Finding> {
        let text = self.naming.expand(&word.text);
        let (folder, pattern) = text.rsplit_once('/').unwrap_or(("", &text));
        if !pattern.contains(['*', '?', '{', '[']) {
            return None;
        }
        let folder = match folder {
            "" if text.starts_with('/') => "/",
            "" => ".",
            folder => folder,
        };
        let matches = name_matcher(pattern)?;
        let place = Word {
            text: folder.to_owned(),
            ..word.clone()
        };
        let places = self.naming.word(&place);
        places.into_iter().find_map(|named| {
            let vital = self.ground.vital(&named.real)?;
            let all = matches("a") && matches("zz");
            let ours = named.real == self.ground.cwd;
            let taken = if ours { matches(".git") } else { all };
            taken.then(|| refuse_removal(command, &named, vital))
        })
    }

    fn overwrites(&self, command: &SimpleCommand, word: &Word) -> Option<Finding> {
        self.naming.word(word).iter().find_map(|named| {
            if named.paths().iter().any(|path| self.ground.is_protected(path)) {
                return Some(protected(command));
            }
            // A folder as target is written into, not overwritten.
            let vital = self.ground.vital(&named.real)?;
            let overwritten = vital == "a disk" || (vital.ends_with(".git") && !named.real.is_dir());
            overwritten.then(|| {
                refuse(
                    &format!("{vital} is not overwritten"),
                    format!("`{}` would overwrite {vital}.", command.text),
                )
            })
        })
    }
}

fn is_remover(program: &str) -> bool {
    let name = program.rsplit('/').next().unwrap_or(program);
    REMOVERS.contains(&name)
}

fn refuse_removal(command: &SimpleCommand, named: &Named, vital: &str) -> Finding {
    refuse(
        &format!("{vital} is not removed"),
        format!(
            "`{}` would remove {} ({vital}).",
            command.text,
            named.real.display()
        ),
    )
}

fn protected(command: &SimpleCommand) -> Finding {
    refuse(
        "the agent's own rules, tokens and trust are written by the person alone",
        format!(
            "`{}` would change rules or tokens of the agent. Ask the person to do it.",
            command.text
        ),
    )
}

/// The words that are no options; after `--` all of them.
fn operands(command: &SimpleCommand) -> Vec<&Word> {
    let mut plain = false;
    let mut found = Vec::new();
    for word in command.words.iter().skip(1) {
        if plain || !word.text.starts_with('-') {
            found.push(word);
        } else if word.text == "--" {
            plain = true;
        }
    }
    found
}
