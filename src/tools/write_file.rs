//! The tool `write_file`: a whole file, new or replaced.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::backend::{Backend, BackendError};
use crate::edit::unified::diff_stat;
use crate::fs::endings::adapt_endings;
use crate::permission::access::Access;
use crate::protocol::change::{ChangeSet, Content, Expect, FileChange, FileText, Origin, TextSource};
use crate::protocol::tool::ToolClass;
use crate::tools::file_paths::{keep_note, link_note, reply, resolve_file, shown};
use crate::tools::preview::change;
use crate::tools::seen::SeenFiles;
use crate::tools::tool::{Tool, ToolCtx, ToolError, ToolOutput};
use crate::words::count;

/// Writes whole files for the model.
pub struct WriteFile {
    backend: Arc<dyn Backend>,
    seen: Arc<SeenFiles>,
}

impl WriteFile {
    /// A tool that writes through `backend`, unless `seen` knows another content of the file.
    pub fn new(backend: Arc<dyn Backend>, seen: Arc<SeenFiles>) -> Self {
        Self { backend, seen }
    }

    /// What stands at the path; `None` where nothing does. Refuses what changed since it was seen.
    async fn current(&self, name: &str, path: &Path) -> Result<Option<Old>, ToolError> {
        let old = match self.backend.read_text(path).await {
            Ok(file) if is_gone(&file, path).await => None,
            Ok(file) => Some(Old::Text(file)),
            Err(BackendError::NotFound { .. }) => None,
            // Not text: whoever wants it replaced as a whole gets that; its bytes are in the snapshot.
            Err(BackendError::Binary { .. } | BackendError::TooLarge { .. }) => Some(Old::Other),
            Err(error) => return Err(reply(error)),
        };
        let unchanged = match (self.seen.get(path), &old) {
            (None, _) => true,
            (Some(seen), Some(Old::Text(file))) => seen == file.hash(),
            (Some(_), Some(Old::Other)) => false,
            (Some(_), None) => {
                // Said once; to write it again is then a decision.
                self.seen.forget(path);
                let text =
                    format!("{name} was removed since you read it. If it shall exist again, write it again.");
                return Err(ToolError::Reply(text));
            }
        };
        if unchanged {
            Ok(old)
        } else {
            let text =
                format!("{name} changed since you read it. Read it again, then write what it shall hold.");
            Err(ToolError::Reply(text))
        }
    }
}

/// Whether the file is gone and only an empty buffer is left of it, as after the rejection of a file that was
/// made.
async fn is_gone(file: &FileText, path: &Path) -> bool {
    let buffer = matches!(file.source, TextSource::Buffer { .. });
    let empty = file.text.trim_end_matches('\n').is_empty();
    buffer && empty && tokio::fs::symlink_metadata(path).await.is_err()
}

enum Old {
    Text(FileText),
    Other,
}

/// The arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// The file.
    #[serde(alias = "file_path")]
    pub path: String,
    /// The whole content.
    pub content: String,
}

#[async_trait]
impl Tool for WriteFile {
    type Args = Args;

    fn name(&self) -> &'static str {
        "write_file"
    }

    fn class(&self) -> ToolClass {
        ToolClass::Mutate
    }

    fn description(&self) -> &'static str {
        include_str!("text/write_file.md")
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
        let (old, replaced) = match self.backend.read_text(&path).await {
            Ok(file) => (file.text, ""),
            Err(BackendError::NotFound { .. }) => (String::new(), ""),
            Err(_) => (String::new(), "(replaces a file that cannot be shown)\n"),
        };
        Some(format!("{replaced}{}", change(&name, &old, &args.content)))
    }

    async fn run(&self, args: Args, ctx: &ToolCtx) -> Result<ToolOutput, ToolError> {
        let resolved = resolve_file(&ctx.cwd, &args.path)?;
        let path = resolved.path.clone();
        let name = shown(&ctx.cwd, &path);
        let old = self.current(&name, &path).await?;
        let (expect, old_text) = match &old {
            None => (Expect::Absent, ""),
            Some(Old::Other) => (Expect::Any, ""),
            Some(Old::Text(file)) => (Expect::Text(file.hash()), file.text.as_str()),
        };
        let text = adapt_endings(&args.content, old_text);
        if matches!(old, Some(Old::Text(_))) && text == old_text {
            self.seen.note(&path, &text);
            let text = format!("{name} holds exactly this already; nothing was changed.");
            return Ok(ToolOutput {
                text,
                summary: "unchanged".to_owned(),
                ..ToolOutput::default()
            });
        }
        let content = Content::Text(text.clone());
        let changes = vec![FileChange::Write {
            path: path.clone(),
            expect,
            content,
        }];
        let set = ChangeSet {
            origin: Origin::Agent,
            label: format!("write_file {name}"),
            changes,
        };
        let applied = self.backend.apply(set).await.map_err(reply)?.pop();
        let now = applied
            .as_ref()
            .and_then(|file| file.text.clone())
            .unwrap_or_else(|| text.clone());
        self.seen.note(&path, &now);

        let verb = if old.is_some() { "Wrote" } else { "Created" };
        let lines = count(text.lines().count(), "line");
        let kept = applied.map(|file| keep_note(&file, &text)).unwrap_or_default();
        Ok(ToolOutput {
            text: format!(
                "{verb} {name} ({lines}).{kept}{}",
                link_note(&args.path, &resolved)
            ),
            summary: diff_stat(old_text, &now).words(),
            changed: vec![path],
            ..ToolOutput::default()
        })
    }
}
