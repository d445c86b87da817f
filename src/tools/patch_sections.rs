//! The sections of a patch with their paths resolved, and what they will touch.

use std::path::{Path, PathBuf};

use crate::edit::patch::{FileAction, FilePatch, Patch};
use crate::permission::access::Access;
use crate::tools::file_paths::{Entry, link_note, resolve_entry, resolve_file, shown};
use crate::tools::tool::ToolError;

/// A section of a patch with its paths resolved.
pub struct Section {
    pub(super) action: FileAction,
    /// The file, links resolved; of one that goes the name itself.
    pub(super) path: PathBuf,
    /// The path for the reader.
    pub(super) name: String,
    /// Where the file goes, and that path for the reader.
    pub(super) move_to: Option<(PathBuf, String)>,
    /// What to say of links on the way; empty, or a sentence with a space in front.
    pub(super) note: String,
}

impl Section {
    /// Resolves the paths of a section.
    pub fn new(file: &FilePatch, cwd: &Path) -> Result<Self, ToolError> {
        let (path, note, move_to) = match &file.action {
            FileAction::Add(_) | FileAction::Update { move_to: None, .. } => {
                let resolved = resolve_file(cwd, &file.path)?;
                (resolved.path.clone(), link_note(&file.path, &resolved), None)
            }
            FileAction::Delete => {
                let entry = resolve_entry(cwd, &file.path)?;
                (entry.path.clone(), link_note_of_entry(&file.path, &entry), None)
            }
            FileAction::Update {
                move_to: Some(target),
                ..
            } => {
                let entry = resolve_entry(cwd, &file.path)?;
                let target = resolve_file(cwd, target)?;
                let same = target.path == entry.resolved.path;
                if entry.is_link() && !same {
                    return Err(ToolError::Reply(format!(
                        "{} is a link to {}. To move the file, name it by its own path.",
                        file.path,
                        entry.resolved.path.display()
                    )));
                }
                let name = shown(cwd, &target.path);
                let move_to = (!same).then_some((target.path, name));
                (
                    entry.resolved.path.clone(),
                    link_note(&file.path, &entry.resolved),
                    move_to,
                )
            }
        };
        Ok(Self {
            action: file.action.clone(),
            name: shown(cwd, &path),
            path,
            move_to,
            note,
        })
    }

    /// What it will touch.
    pub fn access(&self) -> Vec<Access> {
        match (&self.action, &self.move_to) {
            (FileAction::Delete, _) => vec![Access::Delete(self.path.clone())],
            (_, Some((target, _))) => {
                // Elsewhere it might be read by who may not read it here.
                vec![
                    Access::Read(self.path.clone()),
                    Access::Delete(self.path.clone()),
                    Access::Write(target.clone()),
                ]
            }
            (_, None) => vec![Access::Write(self.path.clone())],
        }
    }

    /// Whether a file goes.
    pub fn removes(&self) -> bool {
        matches!(self.action, FileAction::Delete) || self.move_to.is_some()
    }
}

fn link_note_of_entry(written: &str, entry: &Entry) -> String {
    if entry.is_link() {
        format!(" {written} is a link; what it leads to stays.")
    } else {
        link_note(written, &entry.resolved)
    }
}

/// The sections of a patch, in order.
pub fn sections(patch: &Patch, cwd: &Path) -> Result<Vec<Section>, ToolError> {
    patch.files.iter().map(|file| Section::new(file, cwd)).collect()
}
