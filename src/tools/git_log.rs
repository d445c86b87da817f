//! The tool `git_log`: commits, the newest first.

use std::fmt::Write as _;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::permission::access::Access;
use crate::protocol::tool::ToolClass;
use crate::tools::git::{GitService, Place, inside, reply};
use crate::tools::git_answers::Question;
use crate::tools::tool::{Tool, ToolCtx, ToolError, ToolOutput};
use crate::vcs::commit::Reader;
use crate::vcs::error::{Stop, VcsError};
use crate::vcs::log::{Listed, Wanted, list};
use crate::vcs::store::Store;
use crate::vcs::{nearby, quote, refs, since};
use crate::words;

/// Commits shown unless told otherwise, and at most.
const DEFAULT: i64 = 20;
const MOST: i64 = 200;

/// Lists commits for the model.
pub struct GitLog(GitService);

impl GitLog {
    /// A tool over these repositories.
    pub fn new(service: GitService) -> Self {
        Self(service)
    }
}

/// The arguments.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// Only what changes this file or folder.
    #[serde(alias = "file_path")]
    pub path: Option<String>,
    /// `2024-05-31`, `2 weeks ago`.
    pub since: Option<String>,
    /// At most 200. Default: 20.
    #[serde(alias = "limit")]
    pub n: Option<i64>,
    /// A ref, or a range `a..b`. Default: HEAD.
    #[serde(rename = "ref")]
    pub reference: Option<String>,
    /// Follow `path` through renames.
    pub follow: Option<bool>,
}

impl Args {
    fn limit(&self) -> usize {
        let n = self.n.filter(|n| *n > 0).unwrap_or(DEFAULT).min(MOST);
        usize::try_from(n).unwrap_or(20)
    }
}

#[async_trait]
impl Tool for GitLog {
    type Args = Args;

    fn name(&self) -> &'static str {
        "git_log"
    }

    fn class(&self) -> ToolClass {
        ToolClass::Read
    }

    fn description(&self) -> &'static str {
        include_str!("text/git_log.md")
    }

    fn title(&self, args: &Args) -> String {
        let parts = [&args.reference, &args.path, &args.since];
        let parts: Vec<&str> = parts.into_iter().flatten().map(String::as_str).collect();
        if parts.is_empty() {
            "HEAD".into()
        } else {
            parts.join(" ")
        }
    }

    fn access(&self, args: &Args, cwd: &Path) -> Result<Vec<Access>, ToolError> {
        Ok(Place::new(cwd, args.path.as_deref())?.access())
    }

    async fn run(&self, args: Args, ctx: &ToolCtx) -> Result<ToolOutput, ToolError> {
        let place = Place::new(&ctx.cwd, args.path.as_deref())?;
        let (stop, path, named) = (ctx.cancel.clone(), place.path.clone(), place.named);
        let asked = Asked::new(&args).map_err(reply)?;
        let question = Question::Log {
            range: asked
                .range
                .as_deref()
                .map(refs::range)
                .transpose()
                .map_err(reply)?,
            since: asked.since,
            follow: asked.follow,
            limit: asked.limit,
        };
        let listed = self.0.ask(&place, ctx, question, move |_, store| {
            let path = if named { inside(store, &path)? } else { Vec::new() };
            log(store, &asked, &path, &stop)
        });
        listed.await
    }
}

/// The arguments, understood.
struct Asked {
    range: Option<String>,
    since: Option<i64>,
    follow: bool,
    limit: usize,
}

impl Asked {
    fn new(args: &Args) -> Result<Self, VcsError> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let now = now.map_or(0, |now| i64::try_from(now.as_secs()).unwrap_or(i64::MAX));
        let given = |text: &Option<String>| text.clone().filter(|text| !text.trim().is_empty());
        let since = given(&args.since).map(|since| since::parse(&since, now));
        Ok(Self {
            range: given(&args.reference),
            since: since.transpose()?,
            follow: args.follow == Some(true),
            limit: args.limit(),
        })
    }
}

fn log(store: &Store, asked: &Asked, path: &[u8], stop: &dyn Stop) -> Result<ToolOutput, VcsError> {
    let wanted = Wanted {
        range: asked.range.as_deref(),
        path,
        follow: asked.follow,
        since: asked.since,
        limit: asked.limit,
    };
    let listed = list(store, &wanted, stop)?;
    let reader = Reader::new(store);
    let mut text = String::new();
    for id in &listed.commits {
        let words = reader.read(*id)?;
        let (day, who) = (words.author.day(), &words.author.name);
        let _ = writeln!(text, "{} {day} {who}: {}", store.short(*id), words.subject());
    }
    if listed.commits.is_empty() {
        check_path(store, &wanted)?;
        text.push_str("(no commits)\n");
    }
    notes(&listed, &mut text);
    Ok(ToolOutput {
        text,
        summary: words::count(listed.commits.len(), "commit"),
        ..ToolOutput::default()
    })
}

/// The answer of lines that the git program printed.
pub(super) fn output(lines: &[&str], more: bool) -> ToolOutput {
    let mut text = lines.iter().map(|line| format!("{line}\n")).collect::<String>();
    if lines.is_empty() {
        text.push_str("(no commits)\n");
    }
    let listed = Listed {
        more,
        ..Listed::default()
    };
    notes(&listed, &mut text);
    ToolOutput {
        text,
        summary: words::count(lines.len(), "commit"),
        ..ToolOutput::default()
    }
}

/// A path that never was is a mistake, not an empty history.
fn check_path(store: &Store, wanted: &Wanted<'_>) -> Result<(), VcsError> {
    let on_disk = std::fs::symlink_metadata(store.root().join(nearby::as_path(wanted.path))).is_ok();
    if wanted.path.is_empty() || wanted.range.is_some() || wanted.since.is_some() || on_disk {
        return Ok(());
    }
    let tree = refs::tree(store, "HEAD")?;
    match nearby::no_such_path(store, tree, wanted.path, "the history of HEAD") {
        error if store.entry(tree, wanted.path)?.is_none() => Err(error),
        _ => Ok(()),
    }
}

fn notes(listed: &Listed, text: &mut String) {
    if let Some(old) = &listed.renamed_from {
        let _ = writeln!(text, "(renamed: at first it was {})", quote::path(old));
    }
    if listed.more {
        let _ = writeln!(
            text,
            "(there are more: raise n up to {MOST}, or narrow with path, since or ref)"
        );
    }
    if listed.cut {
        text.push_str("(this is a shallow clone: older commits are not in it)\n");
    }
}
