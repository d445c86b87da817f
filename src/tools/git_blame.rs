//! The tool `git_blame`: which commit each line of a file comes from.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt::Write as _;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use git2::Oid;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::fs::calendar;
use crate::permission::access::Access;
use crate::protocol::tool::ToolClass;
use crate::tools::file_paths::shown;
use crate::tools::git::{GitService, Place, inside};
use crate::tools::git_answers::Question;
use crate::tools::tool::{Tool, ToolCtx, ToolError, ToolOutput};
use crate::vcs::blame::{Blamed, From, blame};
use crate::vcs::commit::Reader;
use crate::vcs::error::{Stop, VcsError};
use crate::vcs::similarity::is_binary;
use crate::vcs::store::Store;
use crate::vcs::{nearby, refs, uncommitted};
use crate::words;

/// Digits of a commit.
pub(super) const DIGITS: usize = 8;
/// How wide the name of an author is at least.
const NAME_WIDTH: usize = 20;
/// The name of who wrote what is not committed.
pub(super) const NOBODY: &str = "Not Committed Yet";

/// Blames for the model.
pub struct GitBlame(GitService);

impl GitBlame {
    /// A tool over these repositories.
    pub fn new(service: GitService) -> Self {
        Self(service)
    }
}

/// The arguments.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// The file.
    #[serde(alias = "file_path")]
    pub path: String,
    /// `10,40` or `10,+5`.
    pub range: Option<String>,
    /// Default: the working tree.
    #[serde(rename = "ref")]
    pub reference: Option<String>,
}

#[async_trait]
impl Tool for GitBlame {
    type Args = Args;

    fn name(&self) -> &'static str {
        "git_blame"
    }

    fn class(&self) -> ToolClass {
        ToolClass::Read
    }

    fn description(&self) -> &'static str {
        include_str!("text/git_blame.md")
    }

    fn title(&self, args: &Args) -> String {
        let range = args.range.as_ref().map(|range| format!(":{range}"));
        let at = args.reference.as_ref().map(|name| format!(" at {name}"));
        format!(
            "{}{}{}",
            args.path,
            range.unwrap_or_default(),
            at.unwrap_or_default()
        )
    }

    fn access(&self, args: &Args, cwd: &Path) -> Result<Vec<Access>, ToolError> {
        Ok(Place::new(cwd, Some(&args.path))?.access())
    }

    async fn run(&self, args: Args, ctx: &ToolCtx) -> Result<ToolOutput, ToolError> {
        let place = Place::new(&ctx.cwd, Some(&args.path))?;
        if !place.named {
            return Err(ToolError::Reply("Give the path of a file.".into()));
        }
        let lines = lines(args.range.as_deref()).map_err(|error| ToolError::Reply(error.to_string()))?;
        let buffers: HashMap<PathBuf, String> = self.0.unsaved().await.into_iter().collect();
        let (stop, file, name) = (
            ctx.cancel.clone(),
            place.path.clone(),
            shown(&ctx.cwd, &place.path),
        );
        let reference = args.reference.filter(|name| !name.trim().is_empty());
        if let Some(name) = &reference {
            refs::range(name).map_err(|error| ToolError::Reply(error.to_string()))?;
        }
        let question = Question::Blame {
            reference: reference.clone(),
            lines: lines.clone(),
        };
        let made = self.0.ask(&place, ctx, question, move |_, store| {
            let path = inside(store, &file)?;
            let (from, content) = match &reference {
                Some(name) => at_ref(store, name, &path)?,
                None => uncommitted::version(store, &path, buffers.get(&file).map(String::as_str), &stop)?,
            };
            let content = store.blob(content)?;
            if is_binary(&content) {
                return Err(VcsError::Kind(format!(
                    "{name} is not text: it has no lines to blame."
                )));
            }
            let count = crate::vcs::line_match::count_lines(&content);
            if lines.start >= count.max(1) {
                return Err(VcsError::Argument(format!(
                    "{name} has {}: range begins after its end.",
                    words::count(count, "line")
                )));
            }
            let blamed = blame(store, from, &path, lines, &stop)?;
            text(store, &name, &content, &blamed, &stop)
        });
        made.await
    }
}

fn at_ref(store: &Store, name: &str, path: &[u8]) -> Result<(From, Oid), VcsError> {
    let commit = refs::commit(store, name)?;
    let tree = refs::commit_tree(store, commit)?;
    match store.entry(tree, path)? {
        Some((_, id)) => Ok((From::Commit(commit), id)),
        None => Err(nearby::no_such_path(store, tree, path, name)),
    }
}

fn text(
    store: &Store,
    name: &str,
    content: &[u8],
    blamed: &[Blamed],
    stop: &dyn Stop,
) -> Result<ToolOutput, VcsError> {
    let lines: Vec<&[u8]> = content.split_inclusive(|byte| *byte == b'\n').collect();
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = now.map_or(0, |now| i64::try_from(now.as_secs()).unwrap_or(0));
    let reader = Reader::new(store);
    let mut heads: HashMap<Option<Oid>, String> = HashMap::new();
    let (mut text, mut count) = (String::new(), 0);
    for piece in blamed {
        stop.check()?;
        let head = match heads.entry(piece.commit) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(free) => free.insert(head(&reader, piece.commit, now)?),
        };
        for at in piece.start..piece.start + piece.lines {
            let line = lines.get(at).copied().unwrap_or_default();
            let line = line.strip_suffix(b"\n").unwrap_or(line);
            let line = String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(line));
            let _ = writeln!(text, "{name}:{}  {head}  {line}", at + 1);
            count += 1;
        }
    }
    if text.is_empty() {
        text = format!("({name} is empty)\n");
    }
    let commits = heads.keys().flatten().count();
    Ok(ToolOutput {
        text,
        summary: format!(
            "{} · {}",
            words::count(count, "line"),
            words::count(commits, "commit")
        ),
        ..ToolOutput::default()
    })
}

/// What stands before the lines of a commit.
fn head(reader: &Reader<'_>, commit: Option<Oid>, now: i64) -> Result<String, VcsError> {
    let Some(id) = commit else {
        let sha = "0".repeat(DIGITS);
        return Ok(head_of(&sha, NOBODY, &calendar::date(now, 0)));
    };
    let author = reader.read(id)?.author;
    let sha: String = id.to_string().chars().take(DIGITS).collect();
    Ok(head_of(&sha, &author.name, &author.utc_day()))
}

/// The same of what is known already.
pub(super) fn head_of(sha: &str, author: &str, day: &str) -> String {
    format!("{sha}  {author:<NAME_WIDTH$}  {day}")
}

/// `10,40`, `10,+5`, `10,-5`, `10,`, `,40` or `10-40`, from 0 and without the end.
fn lines(range: Option<&str>) -> Result<Range<usize>, VcsError> {
    let Some(range) = range.map(str::trim).filter(|range| !range.is_empty()) else {
        return Ok(0..usize::MAX);
    };
    let wrong = || {
        let shown: String = range.chars().take(60).collect();
        VcsError::Argument(format!(
            "`{}` is not a range of lines. Write 10,40 or 10,+5; lines count from 1.",
            shown.escape_debug()
        ))
    };
    let number = |text: &str| text.trim().parse::<usize>().map_err(|_| wrong());
    let (first, rest) = match range.split_once(',') {
        Some(parts) => parts,
        None => range.split_once('-').unwrap_or((range, "")),
    };
    let first = if first.trim().is_empty() {
        1
    } else {
        number(first)?
    };
    let rest = rest.trim();
    let (first, last) = if let Some(count) = rest.strip_prefix('+') {
        (first, first.saturating_add(number(count)?).saturating_sub(1))
    } else if let Some(count) = rest.strip_prefix('-') {
        ((first + 1).saturating_sub(number(count)?).max(1), first)
    } else if rest.is_empty() {
        (first, usize::MAX)
    } else {
        (first, number(rest)?)
    };
    let (first, last) = if first > last {
        (last, first)
    } else {
        (first, last)
    };
    if first == 0 {
        return Err(wrong());
    }
    Ok(first - 1..last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_lines() {
        let range = |text: &str| lines(Some(text)).map_err(|error| error.to_string());
        assert_eq!(range("10,40"), Ok(9..40));
        assert_eq!(range("10,+5"), Ok(9..14));
        assert_eq!(range("10,-5"), Ok(5..10));
        assert_eq!(range("40,10"), Ok(9..40));
        assert_eq!(range("7"), Ok(6..usize::MAX));
        assert_eq!(range(",4"), Ok(0..4));
        assert_eq!(range("3-4"), Ok(2..4));
        assert_eq!(lines(None).unwrap(), 0..usize::MAX);
        for bad in ["0,4", "a,b", ":main", "1,2,3", "99999999999999999999999"] {
            assert!(range(bad).unwrap_err().contains("10,40"), "{bad}");
        }
    }
}
