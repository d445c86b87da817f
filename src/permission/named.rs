//! The paths that a shell line names, as far as its text shows.
//!
//! A word may hold a path in several ways (`--file=x`, `-fx`, `@x`, `HEAD:x`); every reading counts, because
//! the readers of this module look for paths that must be asked or refused. `cd` in the line moves the
//! place from which relative paths count.

use std::path::{Path, PathBuf};

use globset::GlobBuilder;

use crate::fs::safe_path::{normalize, resolve};
use crate::permission::ground::Ground;
use crate::shell::command::{Analysis, SimpleCommand, Word, WordKind};

/// Folders that a line can be in; more `cd`s than this in one line are not followed.
const MAX_BASES: usize = 8;

/// Entries of a folder that a pattern is tried on.
const MAX_ENTRIES: usize = 4096;

/// Resolves the words of one line.
pub struct Naming<'a> {
    ground: &'a Ground,
    bases: Vec<PathBuf>,
}

impl<'a> Naming<'a> {
    /// Follows the `cd`s of the line.
    pub fn new(ground: &'a Ground, analysis: &Analysis) -> Self {
        let mut naming = Self {
            ground,
            bases: vec![ground.cwd.clone()],
        };
        for command in &analysis.commands {
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
            let home = ground.home.clone();
            let targets = match place {
                Some(word) => naming.word(word).into_iter().map(|named| named.real).collect(),
                None => home.into_iter().collect::<Vec<_>>(),
            };
            for target in targets {
                naming.add_base(target);
            }
        }
        naming
    }

    fn add_base(&mut self, folder: PathBuf) {
        if self.bases.len() < MAX_BASES && !self.bases.contains(&folder) {
            self.bases.push(folder);
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

    /// Every path that a word may name.
    pub fn word(&self, word: &Word) -> Vec<Named> {
        let mut found: Vec<Named> = Vec::new();
        for text in readings(&word.text) {
            let text = self.expand(&text);
            for base in &self.bases {
                let is_pattern = word.kind == WordKind::Pattern || text.contains(['*', '?', '[']);
                let paths = if is_pattern { glob(base, &text) } else { Vec::new() };
                for named in paths.into_iter().chain([Named::new(base, &text)]) {
                    if !found.contains(&named) {
                        found.push(named);
                    }
                }
            }
        }
        found
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

/// A path that a line names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// As it stands after expansion.
    pub text: String,
    /// Absolute, links in the parent resolved and the last name as written: what removing it removes.
    pub entry: PathBuf,
    /// Absolute, all links resolved: what reading or writing it touches.
    pub real: PathBuf,
}

impl Named {
    fn new(base: &Path, text: &str) -> Self {
        let written = base.join(text);
        let real = resolve(base, text).map_or_else(|_| normalize(&written), |resolved| resolved.path);
        let plain = normalize(&written);
        // The kernel follows a link before it goes up: `link/../x` is beside the link's target.
        let parent = written.parent().and_then(|parent| parent.canonicalize().ok());
        let entry = match (parent, written.file_name()) {
            _ if text.ends_with('/') || text.ends_with("/.") => real.clone(),
            (Some(parent), Some(name)) => parent.join(name),
            _ => plain,
        };
        Self {
            text: text.to_owned(),
            entry,
            real,
        }
    }

    /// Both paths.
    pub fn paths(&self) -> [&Path; 2] {
        [&self.real, &self.entry]
    }
}

/// The texts in a word that may be paths.
fn readings(text: &str) -> Vec<String> {
    let mut readings = vec![text.to_owned()];
    readings.extend(
        text.char_indices()
            .filter(|(_, char)| "=@:,".contains(*char))
            .filter_map(|(at, char)| text.get(at + char.len_utf8()..).map(str::to_owned)),
    );
    let short = text.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
    readings.extend(short.and_then(|rest| rest.get(1..)).map(str::to_owned));
    readings.retain(|reading| !reading.is_empty());
    readings.truncate(8);
    readings
}

/// What a pattern matches now, as the shell would: a leading dot only where the pattern has one.
fn glob(base: &Path, pattern: &str) -> Vec<Named> {
    let start = if pattern.starts_with('/') {
        PathBuf::from("/")
    } else {
        PathBuf::new()
    };
    let mut found = vec![start];
    for part in pattern.split('/').filter(|part| !part.is_empty()) {
        if !part.contains(['*', '?', '[', '{']) {
            found.iter_mut().for_each(|path| path.push(part));
            continue;
        }
        let Some(matcher) = name_matcher(part) else {
            return Vec::new();
        };
        let below = found.iter().flat_map(|folder| {
            let names = std::fs::read_dir(base.join(folder)).into_iter().flatten();
            let names = names.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
            names
                .filter(|name| matcher(name))
                .map(|name| folder.join(name))
                .take(MAX_ENTRIES)
        });
        found = below.take(MAX_ENTRIES).collect();
    }
    let texts = found.iter().filter_map(|path| path.to_str());
    texts
        .filter(|text| !text.is_empty())
        .map(|text| Named::new(base, text))
        .collect()
}

/// Whether a name is matched by the last part of a shell pattern.
pub fn name_matcher(pattern: &str) -> Option<impl Fn(&str) -> bool + use<>> {
    let glob = GlobBuilder::new(pattern)
        .literal_separator(true)
        .build()
        .ok()?
        .compile_matcher();
    let dot = pattern.starts_with(['.', '{', '\\', '[']);
    Some(move |name: &str| glob.is_match(name) && (dot || !name.starts_with('.')))
}

#[cfg(test)]
mod tests {
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

    #[test]
    fn a_star_leaves_hidden_names_out() {
        let star = name_matcher("*").unwrap();
        assert!(star("a") && !star(".git"));
        let dots = name_matcher(".*").unwrap();
        assert!(dots(".git") && !dots("a"));
        let both = name_matcher("{*,.*}").unwrap();
        assert!(both("a") && both(".git"));
    }
}
