//! A file of a patch, before and after, and all of them as an outcome.

use std::path::PathBuf;

use crate::protocol::change::{Content, ContentHash, Expect, FileChange, FileText};
use crate::tools::preview::diff;

/// What lies at a path before the patch.
#[derive(Clone, Debug)]
pub(super) enum Before {
    Nothing,
    Text(FileText),
    /// No text, too large, or a link: it may go or move, not change.
    Other,
}

/// What shall lie there.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Now {
    Nothing,
    Text(String),
    /// What lay at the path that it came from, byte for byte.
    Same,
}

/// A file on its way.
#[derive(Clone, Debug)]
pub struct PatchedFile {
    /// Where it lies.
    pub path: PathBuf,
    /// The path for the reader.
    pub name: String,
    pub(super) before: Before,
    pub(super) now: Now,
    /// Where its bytes, encoding and mode come from, when it was moved here.
    pub(super) from: Option<PathBuf>,
}

impl PatchedFile {
    /// The text before, empty where there was none.
    pub fn old_text(&self) -> &str {
        match &self.before {
            Before::Text(file) => &file.text,
            Before::Nothing | Before::Other => "",
        }
    }

    /// The text after, empty where there is none.
    pub fn new_text(&self) -> &str {
        match &self.now {
            Now::Text(text) => text,
            Now::Nothing | Now::Same => "",
        }
    }

    /// The hash of the text before.
    pub fn old_hash(&self) -> ContentHash {
        ContentHash::of(self.old_text().as_bytes())
    }

    /// Whether nothing lies there afterwards.
    pub fn is_gone(&self) -> bool {
        self.now == Now::Nothing
    }

    /// Whether nothing lay there before.
    pub fn is_new(&self) -> bool {
        matches!(self.before, Before::Nothing)
    }

    /// What is to be done; `None` where everything stays.
    pub fn change(&self) -> Option<FileChange> {
        let path = self.path.clone();
        let expect = match &self.before {
            Before::Nothing => Expect::Absent,
            Before::Text(file) => Expect::Text(file.hash()),
            Before::Other => Expect::Any,
        };
        let content = match (&self.now, &self.from) {
            (Now::Nothing, _) if matches!(self.before, Before::Nothing) => return None,
            (Now::Nothing, _) => return Some(FileChange::Delete { path, expect }),
            (Now::Text(text), Some(from)) => Content::Moved {
                from: from.clone(),
                text: Some(text.clone()),
            },
            (Now::Same, Some(from)) => Content::Moved {
                from: from.clone(),
                text: None,
            },
            (Now::Text(text), None) => Content::Text(text.clone()),
            (Now::Same, None) => return None,
        };
        Some(FileChange::Write {
            path,
            expect,
            content,
        })
    }
}

/// The outcome of a patch that fits.
pub struct Outcome {
    /// The files, in the order in which the patch names them first.
    pub files: Vec<PatchedFile>,
    /// One sentence a section.
    pub words: Vec<String>,
}

impl Outcome {
    /// All differences as one diff; of a file that moves unchanged, a line that says so.
    pub fn diff(&self) -> String {
        let origin = |file: &PatchedFile| {
            let from = file.from.as_ref()?;
            self.files.iter().find(|other| other.path == *from)
        };
        let moved = |file: &PatchedFile| {
            self.files
                .iter()
                .any(|other| other.from.as_ref() == Some(&file.path))
        };
        let mut text = String::new();
        for file in self.files.iter().filter(|file| !(file.is_gone() && moved(file))) {
            match origin(file) {
                Some(old) if file.now == Now::Same => {
                    text += &format!("{} → {}\n", old.name, file.name);
                }
                Some(old) => {
                    text += &diff((&old.name, old.old_text()), (&file.name, file.new_text()));
                }
                None => text += &diff((&file.name, file.old_text()), (&file.name, file.new_text())),
            }
        }
        text
    }
}
