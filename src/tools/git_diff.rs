//! The tool `git_diff`: what differs between two commits, or the working tree and a commit.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::permission::access::Access;
use crate::protocol::tool::ToolClass;
use crate::tools::git::{GitService, Place};
use crate::tools::git_answers::Question;
use crate::tools::tool::{Tool, ToolCtx, ToolError, ToolOutput};
use crate::vcs::changes::between_trees;
use crate::vcs::error::{Stop, VcsError};
use crate::vcs::nearby;
use crate::vcs::refs::{self, Range};
use crate::vcs::renames;
use crate::vcs::report::{Form, Report, report};
use crate::vcs::store::Store;
use crate::vcs::worktree::{Differences, States, differences};
use crate::words;

/// Lines of context unless told otherwise, and at most.
const CONTEXT: u32 = 3;
const MOST_CONTEXT: u32 = 1_000;

/// Compares for the model.
pub struct GitDiff(GitService);

impl GitDiff {
    /// A tool over these repositories.
    pub fn new(service: GitService) -> Self {
        Self(service)
    }
}

/// The arguments.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// From this ref, or a range `a..b`, `a...b`. Default: HEAD.
    pub ref_a: Option<String>,
    /// To this ref. Default: the working tree.
    pub ref_b: Option<String>,
    /// Only this file or folder.
    #[serde(alias = "file_path")]
    pub path: Option<String>,
    /// true: only what is staged; false: only what is not.
    pub staged: Option<bool>,
    /// Counts of lines only.
    pub stat: Option<bool>,
    /// Status letters and paths only.
    pub name_only: Option<bool>,
    /// Default: 3.
    pub context: Option<u32>,
}

/// An argument that is not empty.
fn given(text: Option<&String>) -> Option<&str> {
    text.map(|text| text.trim()).filter(|text| !text.is_empty())
}

impl Args {
    fn form(&self) -> Form {
        if self.name_only == Some(true) {
            Form::Names
        } else if self.stat == Some(true) {
            Form::Stat
        } else {
            Form::Patch(self.context.unwrap_or(CONTEXT).min(MOST_CONTEXT))
        }
    }

    fn refs(&self) -> Result<Option<Range>, VcsError> {
        let wrong = |text: &str| Err(VcsError::Argument(text.to_owned()));
        let range = match (given(self.ref_a.as_ref()), given(self.ref_b.as_ref())) {
            (None, None) => None,
            (None, Some(_)) => {
                return wrong(
                    "ref_b alone compares nothing. Give ref_a too; for HEAD with the working tree give neither.",
                );
            }
            (Some(one), None) => Some(refs::range(one)?),
            (Some(one), Some(other)) => match (refs::range(one)?, refs::range(other)?) {
                (Range::One(one), Range::One(other)) => Some(Range::Two(one, other)),
                _ => return wrong("Give a range in ref_a alone, or one ref in ref_a and one in ref_b."),
            },
        };
        match (&range, self.staged) {
            (Some(Range::Two(..) | Range::Symmetric(..)), Some(_)) => {
                wrong("staged is about the index: leave it out to compare two refs.")
            }
            (Some(_), Some(false)) => {
                wrong("staged=false compares the working tree with the index: leave ref_a out.")
            }
            _ => Ok(range),
        }
    }
}

#[async_trait]
impl Tool for GitDiff {
    type Args = Args;

    fn name(&self) -> &'static str {
        "git_diff"
    }

    fn class(&self) -> ToolClass {
        ToolClass::Read
    }

    fn description(&self) -> &'static str {
        include_str!("text/git_diff.md")
    }

    fn title(&self, args: &Args) -> String {
        let mut title = match (given(args.ref_a.as_ref()), given(args.ref_b.as_ref())) {
            (Some(one), Some(other)) => format!("{one} {other}"),
            (Some(one), None) => one.to_owned(),
            _ if args.staged == Some(true) => "staged".into(),
            _ => "working tree".into(),
        };
        if let Some(path) = given(args.path.as_ref()) {
            title = format!("{title} {path}");
        }
        title
    }

    fn access(&self, args: &Args, cwd: &Path) -> Result<Vec<Access>, ToolError> {
        Ok(Place::new(cwd, args.path.as_deref())?.access())
    }

    async fn run(&self, args: Args, ctx: &ToolCtx) -> Result<ToolOutput, ToolError> {
        let place = Place::new(&ctx.cwd, args.path.as_deref())?;
        let range = args.refs().map_err(|error| ToolError::Reply(error.to_string()))?;
        let buffers: HashMap<PathBuf, String> = self.0.unsaved().await.into_iter().collect();
        let (stop, path, named) = (ctx.cancel.clone(), place.path.clone(), place.named);
        let question = Question::Diff {
            range: range.clone(),
            staged: args.staged,
            form: args.form(),
        };
        let made = self.0.ask(&place, ctx, question, move |service, store| {
            let path = if named {
                crate::tools::git::inside(store, &path)?
            } else {
                Vec::new()
            };
            let compare = Compare {
                store,
                path: &path,
                buffers: &buffers,
                stop: &stop,
            };
            let mut found = compare.compare(range.as_ref(), args.staged)?;
            found.changes = renames::join(store, found.changes, None, &stop)?;
            let report = report(
                store,
                &found,
                args.form(),
                &|path| service.visible(store, path),
                &stop,
            )?;
            if report.text.is_empty() && named {
                compare.check_path(range.as_ref())?;
            }
            Ok(output(report))
        });
        made.await
    }
}

fn output(report: Report) -> ToolOutput {
    let summary = match (report.files, report.counts.added, report.counts.removed) {
        (0, ..) => "no diff".into(),
        (files, 0, 0) => words::count(files, "file"),
        (files, added, removed) => format!("{} · +{added} −{removed}", words::count(files, "file")),
    };
    ToolOutput {
        text: if report.text.is_empty() {
            "(no diff)\n".into()
        } else {
            report.text
        },
        summary,
        ..ToolOutput::default()
    }
}

struct Compare<'a> {
    store: &'a Store,
    path: &'a [u8],
    buffers: &'a HashMap<PathBuf, String>,
    stop: &'a dyn Stop,
}

impl Compare<'_> {
    fn compare(&self, range: Option<&Range>, staged: Option<bool>) -> Result<Differences, VcsError> {
        let store = self.store;
        let states = match range {
            None => {
                store.workdir()?;
                let head = || match refs::head(store)? {
                    Some(head) => refs::commit_tree(store, head).map(Some),
                    None => Ok(None),
                };
                match staged {
                    None => States::TreeWork(head()?),
                    Some(true) => States::TreeIndex(head()?),
                    Some(false) => States::IndexWork,
                }
            }
            Some(Range::One(name)) => {
                let tree = Some(tree(store, name)?);
                if staged == Some(true) {
                    States::TreeIndex(tree)
                } else {
                    store.workdir()?;
                    States::TreeWork(tree)
                }
            }
            Some(Range::Two(one, other)) => return self.trees(tree(store, one)?, tree(store, other)?),
            Some(Range::Symmetric(one, other)) => {
                let (one, other) = (refs::commit(store, one)?, refs::commit(store, other)?);
                let base = refs::merge_base(store, one, other)?;
                return self.trees(refs::commit_tree(store, base)?, refs::commit_tree(store, other)?);
            }
        };
        differences(store, states, self.path, self.buffers, self.stop)
    }

    fn trees(&self, old: git2::Oid, new: git2::Oid) -> Result<Differences, VcsError> {
        let changes = between_trees(self.store, Some(old), Some(new), self.path, self.stop)?;
        Ok(Differences {
            changes,
            ..Differences::default()
        })
    }

    /// A path that is nowhere is a mistake, not an empty diff.
    fn check_path(&self, range: Option<&Range>) -> Result<(), VcsError> {
        let root = self.store.root().join(nearby::as_path(self.path));
        let (at, trees) = match range {
            None => ("HEAD".to_owned(), vec!["HEAD".to_owned()]),
            Some(Range::One(name)) => (name.clone(), vec![name.clone()]),
            Some(Range::Two(one, other) | Range::Symmetric(one, other)) => {
                (format!("{one} and in {other}"), vec![one.clone(), other.clone()])
            }
        };
        let on_disk = matches!(range, None | Some(Range::One(_))) && std::fs::symlink_metadata(root).is_ok();
        let mut last = None;
        for name in trees {
            let Ok(tree) = refs::tree(self.store, &name) else {
                continue;
            };
            if self.store.entry(tree, self.path)?.is_some() {
                return Ok(());
            }
            last = Some(tree);
        }
        match last {
            Some(tree) if !on_disk => Err(nearby::no_such_path(self.store, tree, self.path, &at)),
            _ => Ok(()),
        }
    }
}

/// A tree whose paths count from the root: rules for paths would not know a folder's.
fn tree(store: &Store, name: &str) -> Result<git2::Oid, VcsError> {
    if name.contains(':') {
        return Err(VcsError::Argument(format!(
            "`{name}` names a file or folder. Give the ref alone, and the path in path."
        )));
    }
    let (id, kind) = refs::object(store, name)?;
    if kind == git2::ObjectType::Tree {
        return Err(VcsError::Argument(format!(
            "`{id}` is a tree. Give a commit, a branch or a tag."
        )));
    }
    refs::tree(store, name)
}
