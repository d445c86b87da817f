//! The hard rules for shell lines: nothing removes or overwrites `/`, a home, the working directory, its
//! `.git` or a disk, and nothing writes the agent's own rules.

use std::path::Path;

use crate::permission::copying::{copies_folders, links, takes_away, target_option, unpacks};
use crate::permission::find_reach::{FIND_RUNS, Meets, find_parts, is_narrowed, meets};
use crate::permission::finding::Finding;
use crate::permission::ground::Ground;
use crate::permission::hard::refuse;
use crate::permission::line_globs::name_matcher;
use crate::permission::named::Naming;
use crate::permission::named_path::Named;
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
        if program == "find" || program == "gfind" {
            return self.find(command);
        }
        if matches!(program, "tar" | "gtar" | "bsdtar" | "zip") && takes_away(command) {
            let taken = operands.iter().find_map(|word| self.removes(command, word));
            if taken.is_some() {
                return taken;
            }
        }
        if unpacks(program, command) {
            let mut places = self.naming.command(command).into_iter().map(|named| named.real);
            let bases = self.naming.bases().iter().cloned();
            if places
                .by_ref()
                .chain(bases)
                .any(|place| self.ground.is_beside_protected(&place))
            {
                return Some(protected(command));
            }
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
        let into = (program != "rsync" && program != "scp")
            .then(|| target_option(command))
            .flatten();
        let all = operands;
        let (target, sources): (&Word, Vec<&Word>) = match (&into, all.split_last()) {
            (Some(into), _) => (into, all.iter().copied().filter(|word| *word != into).collect()),
            (None, Some((last, sources))) => (*last, sources.to_vec()),
            (None, None) => return None,
        };
        if links(program, command) {
            // Another name for a protected file: what is written there is written here.
            let linked = operands.iter().flat_map(|word| self.naming.word(word));
            let ours = |named: Named| {
                named
                    .paths()
                    .into_iter()
                    .any(|path| self.ground.is_protected(path) || self.ground.is_beside_protected(path))
            };
            if linked.into_iter().any(ours) {
                return Some(protected(command));
            }
        }
        // `mv .git{,.bak}`: one word is source and target.
        let twice = target.text.contains('{').then_some(target);
        let moved = (program == "mv")
            .then(|| {
                let mut sources = sources.iter().copied().chain(twice);
                sources.find_map(|word| self.removes(command, word))
            })
            .flatten();
        let mirrored = command.words.iter().any(|word| word.text.starts_with("--del"));
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
                let held: Vec<Named> = sources.iter().flat_map(|word| self.naming.word(word)).collect();
                let whole = copies_folders(program, command);
                let lands = |named: &Named| {
                    let by_name = names.iter().any(|name| {
                        let place = named.real.join(name);
                        self.ground.is_protected(&place)
                            || (whole
                                && held
                                    .iter()
                                    .any(|from| self.ground.covers_protected(&from.real, &place)))
                    });
                    let beside = self.ground.is_beside_protected(&named.real);
                    let merged = || {
                        held.iter()
                            .any(|from| self.ground.covers_protected(&from.real, &named.real))
                    };
                    by_name || (whole && (beside || merged()))
                };
                self.naming
                    .word(target)
                    .iter()
                    .any(lands)
                    .then(|| protected(command))
            })
    }

    /// `find PLACE -delete` with nothing that narrows it down removes the place; one that is narrowed down may still
    /// find what must stay.
    fn find(&self, command: &SimpleCommand) -> Option<Finding> {
        let (texts, ..) = find_parts(command);
        let is_action = |at: usize, text: &str| {
            let runs = FIND_RUNS.contains(&text);
            text == "-delete" || (runs && texts.get(at + 1).is_some_and(|next| is_remover(next)))
        };
        let removes = texts.iter().enumerate().any(|(at, text)| is_action(at, text));
        removes.then(|| self.removes_found(command, command)).flatten()
    }

    /// What the `remover` would remove of what `find` finds.
    fn removes_found(&self, find: &SimpleCommand, remover: &SimpleCommand) -> Option<Finding> {
        let (texts, start, first_option) = find_parts(find);
        let tests = texts.get(first_option..).unwrap_or_default();
        let places = self.find_places(find, start, first_option);
        if !is_narrowed(tests) {
            return places.iter().find_map(|named| self.removes_path(remover, named));
        }
        let mut unclear = false;
        for place in &places {
            let mut is_met = |entry: &Path, is_folder: bool| {
                let Ok(below) = entry.strip_prefix(&place.real) else {
                    return false;
                };
                // `rm -rf .` is refused by rm.
                if below.as_os_str().is_empty() && place.text.ends_with('.') {
                    return false;
                }
                let meets = meets(tests, &place.text, below, is_folder);
                unclear |= meets == Meets::Unclear;
                meets == Meets::Met
            };
            for entry in self.ground.never_removed() {
                let named = Named {
                    text: entry.display().to_string(),
                    entry: entry.clone(),
                    real: entry,
                };
                if is_met(&named.real, true)
                    && let Some(refused) = self.removes_path(remover, &named)
                {
                    return Some(refused);
                }
            }
            for folder in self.ground.git_dirs() {
                // With these goes all that it holds.
                if is_met(&folder.join("HEAD"), false) && is_met(&folder.join("config"), false) {
                    return Some(refuse_removal(remover, place, "the working directory's .git"));
                }
            }
        }
        unclear.then(|| {
            Finding::ask(
                "hard",
                "a `find` that removes what an expression finds is asked each time",
                format!(
                    "What `{}` removes is not known: its expression is not read.",
                    remover.text
                ),
            )
            .sticking()
        })
    }

    /// The places that a `find` looks below.
    fn find_places(&self, command: &SimpleCommand, start: usize, first_option: usize) -> Vec<Named> {
        let places = command.words.iter().skip(1 + start).take(first_option - start);
        let mut named: Vec<Named> = places.flat_map(|word| self.naming.word(word)).collect();
        if first_option == start {
            named.extend(self.naming.bases().iter().map(|base| Named {
                text: ".".to_owned(),
                entry: base.clone(),
                real: base.clone(),
            }));
        }
        named
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
        let finds = |command: &&SimpleCommand| matches!(command.program.as_deref(), Some("find" | "gfind"));
        let all_found = analysis
            .commands
            .iter()
            .filter(finds)
            .find_map(|command| self.removes_found(command, remover));
        if all_found.is_some() {
            return all_found;
        }
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
        (self.ground.is_protected_name(&named.entry) || self.ground.holds_protected(&named.entry))
            .then(|| protected(command))
    }

    /// `rm -rf /*`, `rm -rf ~/*`, and a pattern that takes `.git` with it.
    fn everything_in(&self, command: &SimpleCommand, word: &Word) -> Option<Finding> {
        let texts = self.naming.fill(word).texts;
        texts
            .iter()
            .flat_map(|text| self.naming.braces(text))
            .find_map(|text| self.everything_at(command, word, &text))
    }

    fn everything_at(&self, command: &SimpleCommand, word: &Word, text: &str) -> Option<Finding> {
        let text = self.naming.expand(text);
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
            let hidden = self.naming.takes_hidden() && matches("git");
            let taken = if ours { matches(".git") || hidden } else { all };
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
