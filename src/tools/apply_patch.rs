//! The tool `apply_patch`: several files, or several places, in one call.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::backend::{Backend, BackendError};
use crate::edit::patch::{FileAction, Patch};
use crate::edit::patch_parse::parse;
use crate::edit::unified::diff_stat;
use crate::permission::access::Access;
use crate::protocol::change::{AppliedFile, ChangeSet, Origin};
use crate::protocol::tool::ToolClass;
use crate::tools::file_paths::{keep_note, reply};
use crate::tools::grep::MayShow;
use crate::tools::patch_files::Workspace;
use crate::tools::patch_sections::{Section, sections};
use crate::tools::patched_file::{Outcome, PatchedFile};
use crate::tools::preview::clip;
use crate::tools::seen::SeenFiles;
use crate::tools::tool::{Tool, ToolCtx, ToolError, ToolOutput};
use crate::words::count;

/// Attempts when a file changes between reading and writing.
const ATTEMPTS: usize = 2;

/// Applies patches for the model.
pub struct ApplyPatch {
    backend: Arc<dyn Backend>,
    seen: Arc<SeenFiles>,
    may_delete: bool,
    may_show: MayShow,
}

impl ApplyPatch {
    /// A tool that changes files through `backend` and notes the outcome in `seen`. Unless `may_delete`,
    /// a patch that deletes or moves a file is refused.
    pub fn new(backend: Arc<dyn Backend>, seen: Arc<SeenFiles>, may_delete: bool) -> Self {
        Self {
            backend,
            seen,
            may_delete,
            may_show: Arc::new(|_| true),
        }
    }

    /// The same tool, whose errors tell nothing of files that `may_show` refuses: a near miss would be a way
    /// to read them.
    pub fn hiding(self, may_show: MayShow) -> Self {
        Self { may_show, ..self }
    }

    fn note(&self, file: &PatchedFile, applied: Option<&AppliedFile>) {
        let now = applied.and_then(|applied| applied.text.as_deref());
        match (file.is_gone(), now) {
            (false, Some(now)) if file.is_new() => self.seen.note(&file.path, now),
            (false, Some(now)) => self.seen.note_edit(&file.path, &file.old_hash(), now),
            _ => self.seen.forget(&file.path),
        }
    }
}

/// The arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// From `*** Begin Patch` to `*** End Patch`.
    #[serde(rename = "patchText", alias = "patch", alias = "input", alias = "patch_text")]
    pub patch_text: String,
}

fn parsed(args: &Args) -> Result<Patch, ToolError> {
    parse(&args.patch_text).map_err(|error| ToolError::Reply(format!("{error} Nothing was changed.")))
}

#[async_trait]
impl Tool for ApplyPatch {
    type Args = Args;

    fn name(&self) -> &'static str {
        "apply_patch"
    }

    fn class(&self) -> ToolClass {
        ToolClass::Mutate
    }

    fn description(&self) -> &'static str {
        include_str!("text/apply_patch.md")
    }

    fn title(&self, args: &Args) -> String {
        let Ok(patch) = parse(&args.patch_text) else {
            return String::new();
        };
        let names = patch.files.iter().map(|file| match &file.action {
            FileAction::Add(_) => format!("+{}", file.path),
            FileAction::Delete => format!("-{}", file.path),
            FileAction::Update { move_to: None, .. } => file.path.clone(),
            FileAction::Update {
                move_to: Some(target),
                ..
            } => format!("{} → {target}", file.path),
        });
        names.collect::<Vec<_>>().join(", ")
    }

    fn access(&self, args: &Args, cwd: &Path) -> Result<Vec<Access>, ToolError> {
        let sections = sections(&parsed(args)?, cwd)?;
        if !self.may_delete && sections.iter().any(Section::removes) {
            return Err(ToolError::Reply(
                "The patch deletes or moves a file, and the tool delete is not offered here. Leave those sections out. \
                 Nothing was changed."
                    .to_owned(),
            ));
        }
        let mut accesses: Vec<Access> = Vec::new();
        for access in sections.iter().flat_map(Section::access) {
            if !accesses.contains(&access) {
                accesses.push(access);
            }
        }
        Ok(accesses)
    }

    async fn preview(&self, args: &Args, ctx: &ToolCtx) -> Option<String> {
        let sections = sections(&parse(&args.patch_text).ok()?, &ctx.cwd).ok()?;
        let workspace = Workspace::new(self.backend.as_ref(), &self.may_show, &ctx.cancel);
        let outcome = workspace.run(&sections).await.ok()?;
        Some(clip(&outcome.diff()))
    }

    async fn run(&self, args: Args, ctx: &ToolCtx) -> Result<ToolOutput, ToolError> {
        let patch = parsed(&args)?;
        let sections = sections(&patch, &ctx.cwd)?;
        let mut attempt = 1;
        loop {
            let workspace = Workspace::new(self.backend.as_ref(), &self.may_show, &ctx.cancel);
            let outcome = workspace.run(&sections).await?;
            if ctx.cancel.is_cancelled() {
                return Err(ToolError::Cancelled);
            }
            let changes = outcome.files.iter().filter_map(PatchedFile::change).collect();
            let set = ChangeSet {
                origin: Origin::Agent,
                label: label(&outcome.files),
                changes,
            };
            match self.backend.apply(set).await {
                Ok(applied) => {
                    for file in &outcome.files {
                        self.note(file, applied.iter().find(|applied| applied.path == file.path));
                    }
                    return Ok(report(&outcome, &applied, patch.unended));
                }
                // The chunks decide, on the fresh text.
                Err(BackendError::Stale(_)) if attempt < ATTEMPTS => attempt += 1,
                Err(error) => return Err(reply(error)),
            }
        }
    }
}

fn label(files: &[PatchedFile]) -> String {
    let first = files.first().map_or("", |file| file.name.as_str());
    match files.len() {
        0 | 1 => format!("apply_patch {first}"),
        count => format!("apply_patch {first} and {} more", count - 1),
    }
}

fn report(outcome: &Outcome, applied: &[AppliedFile], unended: bool) -> ToolOutput {
    let mut text = outcome.words.join("\n");
    let (mut added, mut removed, mut hunks) = (0, 0, 0);
    for file in &outcome.files {
        let done = applied.iter().find(|applied| applied.path == file.path);
        if let Some(done) = done.filter(|_| !file.is_gone()) {
            let kept = keep_note(done, file.new_text());
            if !kept.is_empty() {
                text += &format!("\n{}:{kept}", file.name);
            }
        }
        let stat = diff_stat(file.old_text(), file.new_text());
        added += stat.added;
        removed += stat.removed;
        hunks += stat.hunks;
    }
    if unended {
        text += "\n(`*** End Patch` was missing; what stood before it was taken as the whole patch.)";
    }
    let what = match applied.len() {
        1 => count(hunks, "hunk"),
        files => format!("{files} files"),
    };
    ToolOutput {
        text,
        summary: format!("{what} · +{added} −{removed}"),
        changed: applied.iter().map(|file| file.path.clone()).collect(),
        ..ToolOutput::default()
    }
}
