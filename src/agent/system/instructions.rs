//! Files in which the person and the project say how to work, in their order of weight.
//!
//! Of the project: in each folder from its root to the working directory the first of [`NAMES`], and
//! [`BESIDE`]. Of the person: [`OWN`] in the home. Later ones weigh more, and the person's most.
//!
//! A project may be a stranger's. Its files are read only where they really lie inside of it and where the
//! gate would show them, up to a limit, and without what a reader would not see.

use std::path::{Path, PathBuf};

use super::clean::clean;
use super::peek::peek;
use crate::permission::gate::ReadFilter;
use crate::permission::judge::Shown;

/// Of these the first that a folder has.
const NAMES: &[&str] = &["DEEPSEEK.md", "AGENTS.md", "CLAUDE.md"];
/// Read besides, where they are there.
const BESIDE: &[&str] = &[".deepagents/AGENTS.md", ".deepseek/instructions.md"];
/// The person's own, below the home.
const OWN: &[&str] = &[
    ".deepagents/agent/AGENTS.md",
    ".deepseek/AGENTS.md",
    ".deepseek/instructions.md",
];

/// Of one file so much is taken.
const FILE_BYTES: u64 = 16 * 1024;
/// And of all together; the person's come first, then the nearest.
const ALL_BYTES: usize = 40 * 1024;

/// Whose words they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Whoever wrote the project.
    Project,
    /// The person.
    Person,
}

/// A file with instructions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// Whose words.
    pub source: Source,
    /// How it is named to the model: below the project or the home.
    pub name: String,
    /// The words.
    pub text: String,
    /// The size of the file, when not all of it is in `text`.
    pub cut_from: Option<u64>,
}

/// Where to look.
pub struct Places<'a> {
    /// The project, when there is one.
    pub root: Option<&'a Path>,
    /// The working directory.
    pub cwd: &'a Path,
    /// The person's home.
    pub home: &'a Path,
    /// What the gate shows.
    pub reads: &'a ReadFilter,
}

/// The instructions in ascending weight, and what the person should hear of them, a sentence each.
pub fn find(places: &Places<'_>) -> (Vec<Instruction>, Vec<String>) {
    let mut finder = Finder {
        places,
        seen: Vec::new(),
        notices: Vec::new(),
        room: ALL_BYTES,
    };
    let own: Vec<_> = OWN
        .iter()
        .filter_map(|name| finder.take(Source::Person, &places.home.join(name), places.home))
        .collect();
    let mut project = Vec::new();
    // The nearest first, so that it is not the one that has no room left.
    for folder in folders(places) {
        let within = places.root.unwrap_or(places.cwd);
        for name in BESIDE {
            project.extend(finder.take(Source::Project, &folder.join(name), within));
        }
        let first = NAMES
            .iter()
            .find_map(|name| finder.take(Source::Project, &folder.join(name), within));
        project.extend(first);
    }
    project.reverse();
    project.extend(own);
    (project, finder.notices)
}

/// From the working directory up to the root of the project. A home is no project.
fn folders(places: &Places<'_>) -> Vec<PathBuf> {
    if places.cwd == places.home {
        return Vec::new();
    }
    let root = places.root.unwrap_or(places.cwd);
    places
        .cwd
        .ancestors()
        .take_while(|folder| folder.starts_with(root))
        .map(Path::to_owned)
        .collect()
}

struct Finder<'a> {
    places: &'a Places<'a>,
    /// Files that were taken: one may be a link to another.
    seen: Vec<PathBuf>,
    notices: Vec<String>,
    room: usize,
}

impl Finder<'_> {
    fn take(&mut self, source: Source, path: &Path, within: &Path) -> Option<Instruction> {
        let limit = FILE_BYTES.min(self.room as u64);
        let found = peek(path, within, limit)?;
        let name = path.strip_prefix(within).unwrap_or(path).display().to_string();
        if source == Source::Project && self.places.reads.shown_real(&found.real) != Shown::Content {
            self.notices.push(format!(
                "{name} is not sent to the model: it leads to a file that it may not read."
            ));
            return None;
        }
        if self.seen.contains(&found.real) {
            return None;
        }
        self.seen.push(found.real);
        let cleaned = clean(&found.text);
        if cleaned.invisible > 0 {
            self.notices.push(format!(
                "{name} holds {} invisible characters; they are not sent to the model. Look at it.",
                cleaned.invisible
            ));
        }
        let cut_from = (found.size > limit).then_some(found.size);
        let text = match cut_from {
            // Not half a line.
            Some(_) => cleaned
                .text
                .rsplit_once('\n')
                .map_or("", |(whole, _)| whole)
                .to_owned(),
            None => cleaned.text,
        };
        if text.is_empty() {
            return None;
        }
        self.room = self.room.saturating_sub(text.len());
        Some(Instruction {
            source,
            name,
            text,
            cut_from,
        })
    }
}
