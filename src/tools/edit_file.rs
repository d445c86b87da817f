//! The tool `edit_file`: an exact piece of text replaced.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use crate::backend::{Backend, BackendError};
use crate::edit::hint;
use crate::edit::replace::{ReplaceError, replace};
use crate::edit::unified::diff_stat;
use crate::permission::access::Access;
use crate::protocol::change::{AppliedFile, ChangeSet, Content, Expect, FileChange, Origin};
use crate::protocol::tool::ToolClass;
use crate::tools::file_paths::{keep_note, link_note, reply, resolve_file, shown};
use crate::tools::grep::MayShow;
use crate::tools::places::places;
use crate::tools::preview::change;
use crate::tools::seen::SeenFiles;
use crate::tools::tool::{Tool, ToolCtx, ToolError, ToolOutput};
use crate::words::count;

/// Attempts when the text changes between reading and writing.
const ATTEMPTS: usize = 2;

/// Replaces text for the model.
pub struct EditFile {
    backend: Arc<dyn Backend>,
    seen: Arc<SeenFiles>,
    may_show: MayShow,
}

impl EditFile {
    /// A tool that edits through `backend` and notes the outcome in `seen`.
    pub fn new(backend: Arc<dyn Backend>, seen: Arc<SeenFiles>) -> Self {
        Self {
            backend,
            seen,
            may_show: Arc::new(|_| true),
        }
    }

    /// The same tool, whose errors tell nothing of files that `may_show` refuses: an edit may be permitted
    /// where reading is not, and a near miss would be a way to read.
    pub fn hiding(self, may_show: MayShow) -> Self {
        Self { may_show, ..self }
    }

    fn veiled(&self, name: &str, path: &Path, error: ToolError) -> ToolError {
        match error {
            ToolError::Reply(_) if !(self.may_show)(path) => ToolError::Reply(format!(
                "{name} was not changed: old_string does not stand in it exactly once. What it holds may not be \
                 shown to you; ask the person for the exact lines."
            )),
            other => other,
        }
    }
}

/// The arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// The file.
    #[serde(alias = "file_path")]
    pub path: String,
    /// The text to replace.
    pub old_string: Option<String>,
    /// Its replacement.
    pub new_string: Option<String>,
    /// Every occurrence, not the only one.
    #[serde(default)]
    pub replace_all: bool,
    /// Instead: several replacements, one after the other, all or none.
    #[serde(default)]
    pub edits: Vec<Edit>,
}

/// One replacement.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct Edit {
    /// The exact text to replace.
    pub old_string: String,
    /// The text to put in its place.
    pub new_string: String,
    /// Replace every occurrence.
    #[serde(default)]
    pub replace_all: bool,
}

impl Args {
    fn edits(&self) -> Result<Vec<Edit>, ToolError> {
        match (&self.old_string, &self.new_string) {
            (None, None) if !self.edits.is_empty() => Ok(self.edits.clone()),
            (Some(old), Some(new)) if self.edits.is_empty() => {
                let (old_string, new_string) = (old.clone(), new.clone());
                Ok(vec![Edit {
                    old_string,
                    new_string,
                    replace_all: self.replace_all,
                }])
            }
            (Some(_), Some(_)) => Err(ToolError::Reply(
                "Give old_string and new_string, or edits, not both.".to_owned(),
            )),
            (None, _) => Err(ToolError::Reply(
                "old_string is missing. Give the exact text to replace.".to_owned(),
            )),
            (_, None) => Err(ToolError::Reply(
                "new_string is missing. Give the text to put in place, or an empty string to delete."
                    .to_owned(),
            )),
        }
    }
}

/// A text with all edits made.
struct Edited {
    text: String,
    lines: Vec<(usize, usize)>,
}

#[async_trait]
impl Tool for EditFile {
    type Args = Args;

    fn name(&self) -> &'static str {
        "edit_file"
    }

    fn class(&self) -> ToolClass {
        ToolClass::Mutate
    }

    fn description(&self) -> &'static str {
        include_str!("text/edit_file.md")
    }

    fn title(&self, args: &Args) -> String {
        args.path.clone()
    }

    fn access(&self, args: &Args, cwd: &Path) -> Result<Vec<Access>, ToolError> {
        Ok(vec![Access::Write(resolve_file(cwd, &args.path)?.path)])
    }

    async fn preview(&self, args: &Args, ctx: &ToolCtx) -> Option<String> {
        let path = resolve_file(&ctx.cwd, &args.path).ok()?.path;
        let name = shown(&ctx.cwd, &path);
        let old = self.backend.read_text(&path).await.ok()?.text;
        let edits = args.edits().ok()?;
        let edited = work(name.clone(), old.clone(), edits, ctx.cancel.clone()).await;
        Some(change(&name, &old, &edited.ok()?.text))
    }

    async fn run(&self, args: Args, ctx: &ToolCtx) -> Result<ToolOutput, ToolError> {
        let edits = args.edits()?;
        let resolved = resolve_file(&ctx.cwd, &args.path)?;
        let name = shown(&ctx.cwd, &resolved.path);
        let mut attempt = 1;
        let (old, edited, applied) = loop {
            let old = self.backend.read_text(&resolved.path).await.map_err(missing)?;
            let edited = work(name.clone(), old.text.clone(), edits.clone(), ctx.cancel.clone())
                .await
                .map_err(|error| self.veiled(&name, &resolved.path, error))?;
            let content = Content::Text(edited.text.clone());
            let expect = Expect::Text(old.hash());
            let changes = vec![FileChange::Write {
                path: resolved.path.clone(),
                expect,
                content,
            }];
            let set = ChangeSet {
                origin: Origin::Agent,
                label: format!("edit_file {name}"),
                changes,
            };
            match self.backend.apply(set).await {
                Ok(mut applied) => break (old, edited, applied.pop()),
                // The exact match decides, on the fresh text.
                Err(BackendError::Stale(_)) if attempt < ATTEMPTS => attempt += 1,
                Err(error) => return Err(reply(error)),
            }
        };
        let now = applied
            .as_ref()
            .and_then(|file| file.text.as_deref())
            .unwrap_or(&edited.text);
        self.seen.note_edit(&resolved.path, &old.hash(), now);
        Ok(ToolOutput {
            text: report(&name, &edited, applied.as_ref()) + &link_note(&args.path, &resolved),
            summary: diff_stat(&old.text, now).words(),
            changed: vec![resolved.path],
            ..ToolOutput::default()
        })
    }
}

fn missing(error: BackendError) -> ToolError {
    match error {
        BackendError::NotFound { .. } => {
            ToolError::Reply(format!("{error} To make a new file use write_file."))
        }
        other => reply(other),
    }
}

/// Makes the edits beside the async threads: a large file takes milliseconds, a hint some more.
async fn work(
    name: String,
    text: String,
    edits: Vec<Edit>,
    cancel: CancellationToken,
) -> Result<Edited, ToolError> {
    let done = tokio::task::spawn_blocking(move || edit_all(&name, text, &edits, &cancel)).await;
    done.unwrap_or_else(|_| {
        Err(ToolError::Reply(
            "The edit broke off by a fault in dcode; nothing was changed.".to_owned(),
        ))
    })
}

fn edit_all(
    name: &str,
    mut text: String,
    edits: &[Edit],
    cancel: &CancellationToken,
) -> Result<Edited, ToolError> {
    let mut lines = Vec::new();
    for (nth, edit) in edits.iter().enumerate() {
        let replaced = match replace(&text, &edit.old_string, &edit.new_string, edit.replace_all) {
            Ok(replaced) => replaced,
            Err(_) if cancel.is_cancelled() => return Err(ToolError::Cancelled),
            Err(error) => {
                let which = if edits.len() > 1 {
                    format!("Edit {} of {}: ", nth + 1, edits.len())
                } else {
                    String::new()
                };
                let why = match error {
                    ReplaceError::NotFound => {
                        hint::miss(name, &text, &edit.old_string, &|| cancel.is_cancelled())
                    }
                    other => format!("{name} was not changed. {other}"),
                };
                return Err(ToolError::Reply(which + &why));
            }
        };
        text = replaced.text;
        lines.extend(replaced.lines);
    }
    Ok(Edited { text, lines })
}

fn report(name: &str, edited: &Edited, applied: Option<&AppliedFile>) -> String {
    let kept = applied
        .map(|file| keep_note(file, &edited.text))
        .unwrap_or_default();
    format!(
        "Edited {name} ({}, {}).{kept}",
        count(edited.lines.len(), "replacement"),
        places(&edited.lines)
    )
}
