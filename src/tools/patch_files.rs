//! The files of a patch as they will be: section after section, in memory.
//!
//! A patch may name a file several times, or add what it has just moved away; each section sees what
//! those before it made. Only the outcome becomes a change set, so that it happens whole or not at all.

use std::path::Path;

use tokio_util::sync::CancellationToken;

use crate::backend::{Backend, BackendError};
use crate::edit::patch::{Chunk, FileAction};
use crate::edit::patch_apply::{Patched, apply, new_text};
use crate::edit::patch_hint::explain;
use crate::fs::endings::adapt_endings;
use crate::protocol::change::TextSource;
use crate::tools::file_paths::reply;
use crate::tools::grep::MayShow;
use crate::tools::patch_sections::Section;
use crate::tools::patched_file::{Before, Now, Outcome, PatchedFile};
use crate::tools::places::places;
use crate::tools::tool::ToolError;
use crate::words;

/// Works the sections out one after the other.
pub struct Workspace<'a> {
    backend: &'a dyn Backend,
    may_show: &'a MayShow,
    cancel: &'a CancellationToken,
    files: Vec<PatchedFile>,
}

impl<'a> Workspace<'a> {
    /// Nothing is read yet. Errors tell nothing of what files hold that `may_show` refuses.
    pub fn new(backend: &'a dyn Backend, may_show: &'a MayShow, cancel: &'a CancellationToken) -> Self {
        Self {
            backend,
            may_show,
            cancel,
            files: Vec::new(),
        }
    }

    /// Works out all sections. When some do not fit, the error names each of them.
    pub async fn run(mut self, sections: &[Section]) -> Result<Outcome, ToolError> {
        let (mut words, mut wrong) = (Vec::new(), Vec::new());
        for section in sections {
            match self.section(section).await {
                Ok(text) => words.push(text),
                Err(ToolError::Reply(text)) => wrong.push(text),
                Err(other) => return Err(other),
            }
        }
        if wrong.is_empty() {
            let files = self.files;
            return Ok(Outcome { files, words });
        }
        wrong.push("Nothing was changed.".to_owned());
        Err(ToolError::Reply(wrong.join("\n")))
    }

    async fn section(&mut self, section: &Section) -> Result<String, ToolError> {
        let name = &section.name;
        let text = match &section.action {
            FileAction::Add(lines) => {
                let file = self.at(&section.path, name).await?;
                if !file.is_gone() {
                    return Err(ToolError::Reply(format!(
                        "{name} exists already, so it cannot be added. Change it with `*** Update File: {name}`."
                    )));
                }
                let text = adapt_endings(&new_text(lines), file.old_text());
                file.now = Now::Text(text);
                file.from = None;
                format!("Added {name} ({}).", words::count(lines.len(), "line"))
            }
            FileAction::Delete => {
                let file = self.at(&section.path, name).await?;
                if file.is_gone() {
                    return Err(missing(&section.path, name));
                }
                file.now = Now::Nothing;
                format!("Deleted {name}.")
            }
            FileAction::Update { chunks, .. } => self.update(section, chunks).await?,
        };
        Ok(text + &section.note)
    }

    async fn update(&mut self, section: &Section, chunks: &[Chunk]) -> Result<String, ToolError> {
        let name = &section.name;
        let (cancel, may_show) = (self.cancel.clone(), self.may_show);
        let file = self.at(&section.path, name).await?;
        if file.is_gone() {
            return Err(missing(&section.path, name));
        }
        let (now, words) = match (&file.now, chunks.is_empty()) {
            (now, true) => (now.clone(), String::new()),
            (Now::Text(text), false) => {
                let patched = patch(name.clone(), text.clone(), chunks.to_vec(), cancel).await;
                let patched = patched.map_err(|error| match error {
                    ToolError::Reply(_) if !may_show(&section.path) => ToolError::Reply(format!(
                        "The patch does not fit {name}. What the file holds may not be shown to you; ask the person for \
                         the exact lines."
                    )),
                    other => other,
                })?;
                if patched.text == *text && section.move_to.is_none() {
                    return Err(ToolError::Reply(format!(
                        "The patch leaves {name} as it is: its lines with `-` and `+` are equal, or there are none."
                    )));
                }
                let words = chunks_placed(&patched);
                (Now::Text(patched.text), words)
            }
            (Now::Same | Now::Nothing, false) => {
                return Err(ToolError::Reply(format!(
                    "{name} is not text, or too large to be patched; use bash."
                )));
            }
        };
        let Some((target, target_name)) = &section.move_to else {
            file.now = now;
            return Ok(format!("Updated {name} ({words})."));
        };
        // What is unchanged from the disk moves byte for byte.
        let unchanged = matches!((&file.before, &now), (Before::Text(old), Now::Text(text)) if old.text == *text)
            && !is_modified(&file.before);
        let (was, from) = (file.now.clone(), file.from.clone());
        let from = from.unwrap_or_else(|| section.path.clone());
        file.now = Now::Nothing;
        let to = self.at(target, target_name).await?;
        if !to.is_gone() {
            self.at(&section.path, name).await?.now = was;
            return Err(ToolError::Reply(format!(
                "{target_name} exists already, so {name} cannot be moved there. Delete it first, or choose another \
                 name."
            )));
        }
        to.now = if unchanged { Now::Same } else { now };
        to.from = Some(from);
        let words = if words.is_empty() {
            words
        } else {
            format!(" ({words})")
        };
        Ok(format!("Moved {name} to {target_name}{words}."))
    }

    /// The file at a path as it is by now; read when it is named first.
    async fn at(&mut self, path: &Path, name: &str) -> Result<&mut PatchedFile, ToolError> {
        if let Some(at) = self.files.iter().position(|file| file.path == path) {
            // Looked up again for the borrow checker; it is there.
            return self.files.get_mut(at).ok_or(ToolError::Cancelled);
        }
        let is_link = std::fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink());
        let before = match self.backend.read_text(path).await {
            _ if is_link => Before::Other,
            Ok(file) => Before::Text(file),
            Err(BackendError::NotFound { .. }) => Before::Nothing,
            Err(BackendError::Binary { .. } | BackendError::TooLarge { .. }) => Before::Other,
            Err(BackendError::IsDirectory(_)) => {
                return Err(ToolError::Reply(format!(
                    "{name} is a directory. A patch changes files; the tool delete removes directories."
                )));
            }
            Err(error) => return Err(reply(error)),
        };
        let now = match &before {
            Before::Nothing => Now::Nothing,
            Before::Text(file) => Now::Text(file.text.clone()),
            Before::Other => Now::Same,
        };
        self.files.push(PatchedFile {
            path: path.to_owned(),
            name: name.to_owned(),
            before,
            now,
            from: None,
        });
        self.files.last_mut().ok_or(ToolError::Cancelled)
    }
}

fn is_modified(before: &Before) -> bool {
    matches!(before, Before::Text(file) if matches!(file.source, TextSource::Buffer { modified: true, .. }))
}

fn missing(path: &Path, name: &str) -> ToolError {
    ToolError::Reply(format!(
        "{name} does not exist.{}",
        crate::fs::nearest::hint(path)
    ))
}

/// Makes the chunks beside the async threads: a large file takes milliseconds, a hint some more.
async fn patch(
    name: String,
    text: String,
    chunks: Vec<Chunk>,
    cancel: CancellationToken,
) -> Result<Patched, ToolError> {
    let work = move || match apply(&text, &chunks) {
        Ok(patched) => Ok(patched),
        Err(_) if cancel.is_cancelled() => Err(ToolError::Cancelled),
        Err(error) => Err(ToolError::Reply(explain(&name, &text, &chunks, &error, &|| {
            cancel.is_cancelled()
        }))),
    };
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|_| {
        Err(ToolError::Reply(
            "The patch broke off by a fault in dcode; nothing was changed.".to_owned(),
        ))
    })
}

/// How many chunks came where, in words.
fn chunks_placed(patched: &Patched) -> String {
    let count = patched.lines.len();
    let plural = if count == 1 { "" } else { "s" };
    let loosely: Vec<String> = patched.loosely.iter().map(|at| (at + 1).to_string()).collect();
    let loosely = if loosely.is_empty() {
        String::new()
    } else {
        format!(
            "; found with other white space than the patch has, which was kept: chunk {}",
            loosely.join(", ")
        )
    };
    format!("{count} chunk{plural}, {}{loosely}", places(&patched.lines))
}
