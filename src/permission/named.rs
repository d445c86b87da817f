//! The paths that a shell line names, as far as its text shows.
//!
//! A word may hold a path in several ways (`--file=x`, `-fx`, `@x`, `HEAD:x`); every reading counts, because
//! the readers of this module look for paths that must be asked or refused. `cd` in the line moves the
//! place from which relative paths count.

use std::cell::Cell;
use std::path::PathBuf;

use crate::permission::braces;
use crate::permission::filled::{Filled, Variables};
use crate::permission::ground::Ground;
use crate::permission::line_globs::LineGlobs;
use crate::permission::named_path::{Named, readings};
use crate::shell::command::{Analysis, SimpleCommand, Word, WordKind};

/// Folders that a line can be in; more `cd`s than this in one line are not followed.
const MAX_BASES: usize = 8;

/// Entries that the searches of one line (`grep -r`) are followed to, to see whether a secret is among them.
const MAX_SEARCHED: usize = 200_000;

/// Programs that work in the folder of one of these options.
const MOVERS: &[&str] = &[
    "env", "git", "sudo", "make", "gmake", "ninja", "tar", "npm", "pnpm", "yarn", "go", "cargo", "uv",
];
const MOVING_OPTIONS: &[&str] = &["-C", "-D", "--chdir", "--directory", "--cwd", "--prefix", "--dir"];

/// What makes `*` match hidden names, as an option of the shell or as a variable.
const HIDDEN_TOO: [&str; 2] = ["dotglob", "GLOBIGNORE"];

/// Resolves the words of one line.
pub struct Naming<'a> {
    ground: &'a Ground,
    bases: Vec<PathBuf>,
    variables: Variables,
    is_lost: bool,
    takes_hidden: bool,
    globs: LineGlobs,
    searched: Cell<usize>,
}

impl<'a> Naming<'a> {
    /// Follows the `cd`s of the line.
    pub fn new(ground: &'a Ground, analysis: &Analysis) -> Self {
        let mut naming = Self {
            ground,
            bases: vec![ground.cwd.clone()],
            variables: Variables::new(ground, analysis),
            is_lost: false,
            takes_hidden: HIDDEN_TOO.iter().any(|name| analysis.mentions(name)),
            globs: LineGlobs::default(),
            searched: Cell::new(MAX_SEARCHED),
        };
        // Which patterns meet which names is another matter then.
        if analysis.mentions("nocaseglob") || analysis.commands.iter().any(sets_unknown_option) {
            naming.globs.give_up();
        }
        for command in &analysis.commands {
            for word in moved_to(command) {
                naming.follow(&word);
            }
            let moves = matches!(command.program.as_deref(), Some("cd" | "pushd"));
            if !moves {
                continue;
            }
            if naming.bases.len() >= MAX_BASES {
                // Too many to follow: the worst places count.
                let home = ground.home.clone();
                naming
                    .bases
                    .extend(std::iter::once(PathBuf::from("/")).chain(home));
                break;
            }
            let place = command
                .words
                .iter()
                .skip(1)
                .find(|word| !word.text.starts_with('-'));
            match place {
                Some(word) => naming.follow(word),
                None => ground
                    .home
                    .clone()
                    .into_iter()
                    .for_each(|home| naming.add_base(home)),
            }
        }
        naming
    }

    fn follow(&mut self, word: &Word) {
        // `{}` of `xargs -I{}`
        let is_fed = word.kind == WordKind::Dynamic && !word.text.contains(['$', '`']);
        self.is_lost |= is_fed || self.fill(word).computed;
        let targets: Vec<PathBuf> = self.word(word).into_iter().map(|named| named.real).collect();
        for target in targets {
            self.add_base(target);
        }
    }

    /// The places of the session.
    pub fn ground(&self) -> &Ground {
        self.ground
    }

    /// Whether the line goes to a folder that it computes.
    pub fn is_lost(&self) -> bool {
        self.is_lost
    }

    /// Whether the line makes `*` match hidden names (`shopt -s dotglob`).
    pub fn takes_hidden(&self) -> bool {
        self.takes_hidden
    }

    /// Whether the patterns of the line meet more files than were looked at: what it names is not known.
    pub fn is_exhausted(&self) -> bool {
        self.globs.is_exhausted()
    }

    /// What the shell makes of a word, as far as the line says.
    pub fn fill(&self, word: &Word) -> Filled {
        let filled = self.variables.fill(word);
        if filled.exhausted {
            self.globs.give_up();
        }
        filled
    }

    fn add_base(&mut self, folder: PathBuf) {
        if self.bases.contains(&folder) {
            return;
        }
        if self.bases.len() < MAX_BASES {
            self.bases.push(folder);
        } else {
            self.is_lost = true;
        }
    }

    /// The folders that the line may be in, the working directory first.
    pub fn bases(&self) -> &[PathBuf] {
        &self.bases
    }

    /// Every path that the arguments, assignments and redirects of a command may name.
    pub fn command(&self, command: &SimpleCommand) -> Vec<Named> {
        let words = command.words.iter();
        let values = command.assignments.iter().map(|assignment| &assignment.value);
        let targets = command
            .redirects
            .iter()
            .filter_map(|redirect| redirect.target.as_ref());
        words
            .chain(values)
            .chain(targets)
            .flat_map(|word| self.word(word))
            .collect()
    }

    /// Every path that they may name when variables that the line does not know hold nothing.
    pub fn emptied(&self, command: &SimpleCommand) -> Vec<Named> {
        let targets = command
            .redirects
            .iter()
            .filter_map(|redirect| redirect.target.as_ref());
        let words = command.words.iter().skip(1).chain(targets);
        words
            .flat_map(|word| self.texts(&self.fill(word).emptied, true))
            .collect()
    }

    /// Every path that a word may name.
    pub fn word(&self, word: &Word) -> Vec<Named> {
        self.texts(&self.fill(word).texts, word.kind != WordKind::Literal)
    }

    /// `expands`: whether the shell reads braces in the texts.
    fn texts(&self, texts: &[String], expands: bool) -> Vec<Named> {
        let mut found: Vec<Named> = Vec::new();
        let mut add = |named: Named| {
            if !found.contains(&named) {
                found.push(named);
            }
        };
        let words = texts.iter().flat_map(|text| {
            if expands {
                self.braces(text)
            } else {
                vec![text.clone()]
            }
        });
        for text in words.flat_map(|text| readings(&text)) {
            let text = self.expand(&text);
            for base in &self.bases {
                if text.contains(['*', '?', '[']) {
                    self.globs.matches(base, &text).into_iter().for_each(&mut add);
                }
                add(Named::new(base, &text));
            }
        }
        found
    }

    /// A text and the words that its braces stand for. Where they are too many, what the line names is not known.
    pub fn braces(&self, text: &str) -> Vec<String> {
        let words = braces::words(text);
        if words.is_none() {
            self.globs.give_up();
        }
        let mut words = words.unwrap_or_default();
        if !words.iter().any(|word| word == text) {
            words.push(text.to_owned());
        }
        words
    }

    /// Takes one entry from what the searches of the line are followed to; `false` when there is none left.
    pub fn spend_on_search(&self) -> bool {
        let left = self.searched.get();
        self.searched.set(left.saturating_sub(1));
        left > 0
    }

    /// Replaces what stands for a home or the working directory at the beginning of a word. Quotes that
    /// stand in a word as written go.
    pub fn expand(&self, text: &str) -> String {
        let text = text.replace('"', "");
        let home = self.ground.home.as_deref().map(|home| home.display().to_string());
        let cwd = self.ground.cwd.display().to_string();
        for (name, value) in [
            ("$HOME", home.clone()),
            ("${HOME}", home.clone()),
            ("$PWD", Some(cwd.clone())),
            ("${PWD}", Some(cwd)),
        ] {
            if let (Some(rest), Some(value)) = (text.strip_prefix(name), value)
                && (rest.is_empty() || rest.starts_with('/'))
            {
                return format!("{value}{rest}");
            }
        }
        let Some(rest) = text.strip_prefix('~') else {
            return text;
        };
        let (user, below) = rest.find('/').map_or((rest, ""), |slash| rest.split_at(slash));
        match user {
            "" => home.map_or(text.clone(), |home| format!("{home}{below}")),
            "root" => format!("/root{below}"),
            user => format!("/home/{user}{below}"),
        }
    }
}

/// Whether it changes how patterns are read in a way that the line does not say.
fn sets_unknown_option(command: &SimpleCommand) -> bool {
    let mut pairs = command.words.windows(2);
    let is_open = |word: &Word| !word.is_literal();
    // `bash -O NAME`
    let given = pairs.any(|pair| {
        let [option, value] = pair else { return false };
        option.text.starts_with(['-', '+']) && option.text.ends_with('O') && is_open(value)
    });
    given || (command.program.as_deref() == Some("shopt") && command.words.iter().any(is_open))
}

/// The folders that a command goes to by an option: `git -C DIR`, `env --chdir=DIR`.
fn moved_to(command: &SimpleCommand) -> Vec<Word> {
    if !command
        .program
        .as_deref()
        .is_some_and(|program| MOVERS.contains(&program))
    {
        return Vec::new();
    }
    let mut folders = Vec::new();
    for (at, word) in command.words.iter().enumerate().skip(1) {
        let part = |text: &str| Word {
            text: text.to_owned(),
            ..word.clone()
        };
        let text = word.text.as_str();
        if MOVING_OPTIONS.contains(&text) {
            folders.extend(command.words.get(at + 1).cloned());
        } else if let Some((name, value)) = text.split_once('=') {
            folders.extend(MOVING_OPTIONS.contains(&name).then(|| part(value)));
        } else if let Some(value) = text.strip_prefix("-C").or_else(|| text.strip_prefix("-D")) {
            folders.push(part(value));
        }
    }
    folders
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn naming(ground: &Ground) -> Naming<'_> {
        Naming::new(ground, &Analysis::default())
    }

    fn literal(text: &str) -> Word {
        Word {
            text: text.to_owned(),
            kind: WordKind::Literal,
            may_be_option: false,
        }
    }

    #[test]
    fn a_word_holds_a_path_in_several_ways() {
        let ground = Ground::new(Path::new("/w"), Some(Path::new("/h")), &[], &[]);
        let naming = naming(&ground);
        for text in [
            ".env",
            "./.env",
            "--file=.env",
            "-f.env",
            "@.env",
            "HEAD:.env",
            "a=b:.env",
            "x/../.env",
            "$PWD/.env",
        ] {
            let named = naming.word(&literal(text));
            assert!(
                named.iter().any(|named| named.real == Path::new("/w/.env")),
                "{text}: {named:?}"
            );
        }
    }

    #[test]
    fn homes_are_expanded() {
        let ground = Ground::new(Path::new("/w"), Some(Path::new("/h/me")), &[], &[]);
        let naming = naming(&ground);
        for (text, expected) in [
            ("~", "/h/me"),
            ("~/x", "/h/me/x"),
            ("~root", "/root"),
            ("~you/x", "/home/you/x"),
            ("$HOME", "/h/me"),
            ("\"${HOME}\"/x", "/h/me/x"),
            ("$HOMER/x", "$HOMER/x"),
        ] {
            assert_eq!(naming.expand(text), expected, "{text}");
        }
    }
}
