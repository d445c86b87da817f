//! Paths and results as the file tools speak of them.

use std::path::{Path, PathBuf};

use crate::backend::BackendError;
use crate::fs::safe_path::{self, Resolved};
use crate::protocol::change::AppliedFile;
use crate::tools::tool::ToolError;

/// Resolves a path as the model wrote it.
pub fn resolve(cwd: &Path, written: &str) -> Result<Resolved, ToolError> {
    safe_path::resolve(cwd, written).map_err(|error| ToolError::Reply(error.to_string()))
}

/// Resolves a path that shall be a file.
pub fn resolve_file(cwd: &Path, written: &str) -> Result<Resolved, ToolError> {
    if written.ends_with('/') {
        return Err(ToolError::Reply(format!(
            "{written} names a directory. Give the path of a file."
        )));
    }
    resolve(cwd, written)
}

/// A name in a folder, for what is to be removed or moved: the links on the way are resolved, a link at the
/// end is what is meant.
pub struct Entry {
    /// The real folder and the name as written.
    pub path: PathBuf,
    /// Where the path leads.
    pub resolved: Resolved,
}

impl Entry {
    /// Whether the name itself is a link.
    pub fn is_link(&self) -> bool {
        self.path != self.resolved.path
    }
}

/// Resolves the folder of a path as the model wrote it.
pub fn resolve_entry(cwd: &Path, written: &str) -> Result<Entry, ToolError> {
    let resolved = resolve(cwd, written)?;
    let path = match (
        resolved.given.parent().and_then(Path::to_str),
        resolved.given.file_name(),
    ) {
        (Some(folder), Some(name)) => resolve(cwd, folder)?.path.join(name),
        _ => resolved.path.clone(),
    };
    Ok(Entry { path, resolved })
}

/// A path for the reader: relative to the working directory where it lies inside.
pub fn shown(cwd: &Path, path: &Path) -> String {
    match path.strip_prefix(cwd) {
        Ok(inside) if !inside.as_os_str().is_empty() => inside.display().to_string(),
        _ => path.display().to_string(),
    }
}

/// Names the real file when a link leads to it, as a sentence with a space in front; else empty.
pub fn link_note(written: &str, resolved: &Resolved) -> String {
    match &resolved.through_link {
        Some(_) => format!(" {written} leads through a link to {}.", resolved.path.display()),
        None => String::new(),
    }
}

/// What the model and the person should know about how a change was kept, as sentences with a space in
/// front; else empty. `intended` is the text that was to be written.
pub fn keep_note(applied: &AppliedFile, intended: &str) -> String {
    let mut note = String::new();
    if !applied.saved {
        let why = applied.note.as_deref().unwrap_or("the buffer was not written");
        note = format!(" The change is in the open buffer and not saved: {why}.");
    } else if let Some(words) = &applied.note {
        note = format!(" Note: {words}.");
    }
    let changed_on_save = applied
        .text
        .as_deref()
        .is_some_and(|text| !same_text(text, intended));
    if changed_on_save {
        note += " The editor changed the text further when saving (a formatter?): read it before you edit it again.";
    }
    note
}

/// A buffer's text has no `\r`, and always a line.
fn same_text(buffer: &str, intended: &str) -> bool {
    buffer == intended
        || crate::fs::endings::to_lf(intended) == buffer
        || (intended.is_empty() && buffer == "\n")
}

/// An error of the backend as the answer to the model.
pub fn reply(error: BackendError) -> ToolError {
    match error {
        BackendError::Cancelled => ToolError::Cancelled,
        other => ToolError::Reply(other.to_string()),
    }
}
