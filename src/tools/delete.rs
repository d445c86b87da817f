//! The tool `delete`: a file, or a directory with all that is in it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::backend::{Backend, BackendError};
use crate::fs::below::{Below, BelowError, Limits, below};
use crate::fs::safe_path::is_inside;
use crate::permission::access::Access;
use crate::protocol::change::{ChangeSet, Expect, FileChange, Origin};
use crate::protocol::tool::ToolClass;
use crate::tools::file_paths::{Entry, reply, resolve_entry, shown};
use crate::tools::preview::{change, clip};
use crate::tools::seen::SeenFiles;
use crate::tools::tool::{Tool, ToolCtx, ToolError, ToolOutput};
use crate::words;

/// What is removed at most: all of it is kept for undo before.
const LIMITS: Limits = Limits {
    entries: 1_000,
    bytes: 100 * 1024 * 1024,
};

/// Removes files for the model.
pub struct Delete {
    backend: Arc<dyn Backend>,
    seen: Arc<SeenFiles>,
}

impl Delete {
    /// A tool that removes through `backend`, unless `seen` knows another content of a file.
    pub fn new(backend: Arc<dyn Backend>, seen: Arc<SeenFiles>) -> Self {
        Self { backend, seen }
    }

    /// What a path is taken to hold; refuses what changed since it was read.
    async fn expect(&self, path: &Path, cwd: &Path) -> Result<Expect, ToolError> {
        let Some(seen) = self.seen.get(path) else {
            return Ok(Expect::Any);
        };
        match self.backend.read_text(path).await {
            Ok(file) if file.hash() == seen => Ok(Expect::Text(seen)),
            Err(BackendError::NotFound { .. }) => Ok(Expect::Any),
            Err(error @ BackendError::Cancelled) => Err(reply(error)),
            Ok(_) | Err(_) => Err(ToolError::Reply(format!(
                "{} changed since you read it. Nothing was removed. Read it again, then delete it if it still shall go.",
                shown(cwd, path)
            ))),
        }
    }
}

/// The arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// The file or directory.
    #[serde(alias = "file_path")]
    pub path: String,
}

/// What a call would remove.
struct Target {
    entry: Entry,
    below: Below,
}

impl Target {
    fn find(cwd: &Path, written: &str) -> Result<Self, ToolError> {
        let entry = resolve_entry(cwd, written)?;
        let real_cwd = resolve_entry(cwd, ".")?.resolved.path;
        if is_inside(&entry.path, &real_cwd) {
            return Err(ToolError::Reply(format!(
                "{written} is the working directory or holds it; that is not removed."
            )));
        }
        if is_inside(&real_cwd, &entry.resolved.given) && !is_inside(&real_cwd, &entry.path) {
            return Err(ToolError::Reply(format!(
                "{written} leads through a link to {}, outside the working directory. Nothing is removed through a \
                 link that leads out.",
                entry.path.display()
            )));
        }
        let below = below(&entry.path, LIMITS).map_err(|error| {
            let what = match error {
                BelowError::TooMuch { .. } => {
                    format!("{error}: too much to be kept for undo. Delete a part, or use rm in bash.")
                }
                BelowError::Io { .. } => format!("{error}."),
            };
            ToolError::Reply(format!("{written} was not removed: {what}"))
        })?;
        Ok(Self { entry, below })
    }

    /// All paths; the one that is meant also where nothing lies there.
    fn paths(&self) -> Vec<PathBuf> {
        if self.below.paths.is_empty() {
            vec![self.entry.path.clone()]
        } else {
            self.below.paths.clone()
        }
    }

    fn is_folder(&self) -> bool {
        self.below.folders > 0
    }
}

#[async_trait]
impl Tool for Delete {
    type Args = Args;

    fn name(&self) -> &'static str {
        "delete"
    }

    fn class(&self) -> ToolClass {
        ToolClass::Mutate
    }

    fn description(&self) -> &'static str {
        include_str!("text/delete.md")
    }

    fn title(&self, args: &Args) -> String {
        args.path.clone()
    }

    fn access(&self, args: &Args, cwd: &Path) -> Result<Vec<Access>, ToolError> {
        // Each file of a directory is judged and kept for itself.
        let paths = Target::find(cwd, &args.path)?.paths();
        Ok(paths.into_iter().map(Access::Delete).collect())
    }

    async fn preview(&self, args: &Args, ctx: &ToolCtx) -> Option<String> {
        let target = Target::find(&ctx.cwd, &args.path).ok()?;
        let name = shown(&ctx.cwd, &target.entry.path);
        if target.is_folder() {
            let names: Vec<String> = target.paths().iter().map(|path| shown(&ctx.cwd, path)).collect();
            return Some(clip(&names.join("\n")));
        }
        if target.entry.is_link() {
            return Some(format!("{name} → {}", target.entry.resolved.path.display()));
        }
        let file = self.backend.read_text(&target.entry.path).await.ok()?;
        Some(change(&name, &file.text, ""))
    }

    async fn run(&self, args: Args, ctx: &ToolCtx) -> Result<ToolOutput, ToolError> {
        let target = Target::find(&ctx.cwd, &args.path)?;
        let paths = target.paths();
        let mut changes = Vec::with_capacity(paths.len());
        for path in &paths {
            if ctx.cancel.is_cancelled() {
                return Err(ToolError::Cancelled);
            }
            let expect = self.expect(path, &ctx.cwd).await?;
            changes.push(FileChange::Delete {
                path: path.clone(),
                expect,
            });
        }
        let name = shown(&ctx.cwd, &target.entry.path);
        let set = ChangeSet {
            origin: Origin::Agent,
            label: format!("delete {name}"),
            changes,
        };
        self.backend.apply(set).await.map_err(reply)?;
        for path in &paths {
            self.seen.forget(path);
        }
        let files = paths.len() - target.below.folders;
        let count = words::count(files, "file");
        let (text, summary) = if target.is_folder() {
            (format!("Deleted the directory {name} with {count}."), count)
        } else if target.entry.is_link() {
            let to = target.entry.resolved.path.display();
            (
                format!("Deleted the link {name}; {to} stays."),
                "1 link".to_owned(),
            )
        } else {
            (format!("Deleted {name}."), count)
        };
        Ok(ToolOutput {
            text,
            summary,
            changed: paths,
            ..ToolOutput::default()
        })
    }
}
