//! What the git tools ask of a repository, answered by the git program in the same form. What a rule withholds is
//! found out first: git is then asked for the other files only.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::ops::Range as Lines;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::tools::git::{GitService, Place};
use crate::tools::git_blame;
use crate::tools::git_log;
use crate::tools::git_program::GitProgram;
use crate::tools::tool::{ToolCtx, ToolError, ToolOutput};
use crate::vcs::commit::Who;
use crate::vcs::quote;
use crate::vcs::refs::Range;
use crate::vcs::report::{Form, Visible};
use crate::words;

/// The longest diff and the longest list of changes, in bytes.
pub const MAX_BYTES: usize = 1024 * 1024;
/// The longest content, in bytes.
const MAX_CONTENT: usize = 2 * 1024 * 1024;
/// The longest blame, in bytes as git prints it.
const MAX_BLAME: usize = 64 * 1024 * 1024;

/// A question about the repository of a place.
pub enum Question {
    /// Commits that change the place.
    Log {
        /// `None` is HEAD.
        range: Option<Range>,
        /// In seconds since 1970.
        since: Option<i64>,
        /// Go on under the old name.
        follow: bool,
        /// At most so many.
        limit: usize,
    },
    /// What differs at the place.
    Diff {
        /// `None` is HEAD and the working tree.
        range: Option<Range>,
        /// Only what is staged, or only what is not.
        staged: Option<bool>,
        /// How it is said.
        form: Form,
    },
    /// A commit or a tag.
    Commit {
        /// Its name.
        name: String,
        /// How its diff is said.
        form: Form,
    },
    /// The place as it was at a ref; an empty one is the index.
    Content(String),
    /// Whose each line of the place is.
    Blame {
        /// `None` is the working tree.
        reference: Option<String>,
        /// Lines from 0, without the end.
        lines: Lines<usize>,
    },
}

/// The answer of the git program.
///
/// # Errors
/// What git says, what may not be shown, the stop.
pub async fn answer(
    service: &GitService,
    place: &Place,
    ctx: &ToolCtx,
    question: Question,
) -> Result<ToolOutput, ToolError> {
    let git = GitProgram::open(place, &ctx.cancel).await?;
    let path = if place.named {
        git.inside(&place.path)?
    } else {
        OsString::new()
    };
    let asked = Asked {
        service,
        git: &git,
        path,
    };
    match question {
        Question::Log {
            range,
            since,
            follow,
            limit,
        } => asked.log(range.as_ref(), since, follow, limit).await,
        Question::Diff { range, staged, form } => asked.diff(range.as_ref(), staged, form).await,
        Question::Commit { name, form } => asked.commit(&name, form).await,
        Question::Content(name) => asked.content(&name).await,
        Question::Blame { reference, lines } => {
            let shown = crate::tools::file_paths::shown(&ctx.cwd, &place.path);
            asked
                .blame(reference.as_deref(), lines, &place.path, &shown)
                .await
        }
    }
}

/// A range as git takes it.
pub fn words(range: &Range) -> String {
    match range {
        Range::One(name) => name.clone(),
        Range::Two(one, other) => format!("{one}..{other}"),
        Range::Symmetric(one, other) => format!("{one}...{other}"),
    }
}

/// A repository that is asked, and the path that the question is about.
pub struct Asked<'a> {
    /// What may be shown, and the unsaved buffers.
    pub service: &'a GitService,
    /// The repository.
    pub git: &'a GitProgram,
    /// From its root; empty for all of it.
    pub path: OsString,
}

impl Asked<'_> {
    /// How much of a path of the repository may be shown.
    pub fn visible(&self, path: &[u8]) -> Visible {
        self.service
            .visible_at(&self.git.root().join(OsStr::from_bytes(path)))
    }

    /// `--`, and the path if there is one.
    pub fn limit_to_path(&self, args: &mut Vec<OsString>) {
        args.push("--".into());
        if !self.path.is_empty() {
            args.push(self.path.clone());
        }
    }

    async fn log(
        &self,
        range: Option<&Range>,
        since: Option<i64>,
        follow: bool,
        limit: usize,
    ) -> Result<ToolOutput, ToolError> {
        let mut args: Vec<OsString> = ["log", "--no-color", "--format=%h %ad %aN: %s", "--date=short"]
            .map(OsString::from)
            .into();
        args.push(format!("-n{}", limit + 1).into());
        args.extend(since.map(|since| format!("--since=@{since}").into()));
        if follow && !self.path.is_empty() {
            args.push("--follow".into());
        }
        args.push(range.map_or("HEAD".into(), words).into());
        self.limit_to_path(&mut args);
        let text = self.git.run(&args, MAX_BYTES).await?.text();
        let lines: Vec<&str> = text.lines().take(limit).collect();
        Ok(git_log::output(&lines, text.lines().nth(limit).is_some()))
    }

    async fn content(&self, name: &str) -> Result<ToolOutput, ToolError> {
        let path = self.path.as_bytes();
        let (kind, id) = if path.is_empty() {
            ("tree".to_owned(), name.to_owned())
        } else {
            self.entry(name, path).await?
        };
        let (text, summary) = match kind.as_str() {
            "tree" => self.folder(&id, path).await?,
            "commit" => (format!("Subproject commit {id}\n"), "submodule".into()),
            _ if self.visible(path) != Visible::Content => {
                let words = format!("The content of {} may not be shown.", quote::path(path));
                return Err(ToolError::Reply(words));
            }
            _ => self.file(&id, path).await?,
        };
        Ok(ToolOutput {
            text,
            summary,
            ..ToolOutput::default()
        })
    }

    /// The kind and the name of the object that is at a path; an empty `name` is the index.
    async fn entry(&self, name: &str, path: &[u8]) -> Result<(String, String), ToolError> {
        let staged = name.is_empty();
        let mut args: Vec<OsString> = if staged {
            vec!["ls-files".into(), "-s".into(), "-z".into()]
        } else {
            vec!["ls-tree".into(), "-z".into(), name.into()]
        };
        args.extend(["--".into(), self.path.clone()]);
        let printed = self.git.run(&args, MAX_BYTES).await?;
        let found = printed.bytes.split(|byte| *byte == 0).find_map(|line| {
            let at = line.iter().position(|byte| *byte == b'\t')?;
            let (head, there) = (line.get(..at)?, line.get(at + 1..)?);
            let head = std::str::from_utf8(head).ok()?;
            (there == path).then(|| head.split(' ').map(str::to_owned).collect::<Vec<_>>())
        });
        match found.as_deref() {
            Some([mode, id, _]) if staged => {
                let kind = if mode == "160000" { "commit" } else { "blob" };
                Ok((kind.into(), id.clone()))
            }
            Some([_, kind, id]) => Ok((kind.clone(), id.clone())),
            _ => {
                let at = if staged { "the index" } else { name };
                Err(ToolError::Reply(format!(
                    "{} does not exist in {at}.",
                    quote::path(path)
                )))
            }
        }
    }

    async fn folder(&self, tree: &str, path: &[u8]) -> Result<(String, String), ToolError> {
        let printed = self.git.run(&["ls-tree", "-z", tree], MAX_CONTENT).await?;
        let (mut text, mut count, mut hidden) = (String::new(), 0, 0);
        for line in printed.bytes.split(|byte| *byte == 0) {
            let Some(at) = line.iter().position(|byte| *byte == b'\t') else {
                continue;
            };
            let (head, name) = (
                line.get(..at).unwrap_or_default(),
                line.get(at + 1..).unwrap_or_default(),
            );
            let below: PathBuf = Path::new(OsStr::from_bytes(path)).join(OsStr::from_bytes(name));
            if self.visible(below.as_os_str().as_bytes()) == Visible::Nothing {
                hidden += 1;
                continue;
            }
            count += 1;
            let slash = if head.starts_with(b"040000") { "/" } else { "" };
            let _ = writeln!(text, "{}{slash}", quote::path(name));
        }
        if hidden > 0 {
            let _ = writeln!(text, "({hidden} withheld by a rule)");
        }
        Ok((text, words::count(count, "name")))
    }

    async fn file(&self, blob: &str, path: &[u8]) -> Result<(String, String), ToolError> {
        let printed = self.git.run(&["cat-file", "blob", blob], MAX_CONTENT).await?;
        if crate::vcs::similarity::is_binary(&printed.bytes) {
            let words = format!("({} is not text)\n", quote::path(path));
            return Ok((words, "not text".into()));
        }
        let mut text = printed.text();
        if printed.cut {
            let _ = write!(text, "\n(cut: {} is longer)\n", quote::path(path));
        }
        let summary = words::count(text.lines().count(), "line");
        Ok((text, summary))
    }

    async fn blame(
        &self,
        reference: Option<&str>,
        lines: Lines<usize>,
        path: &Path,
        shown: &str,
    ) -> Result<ToolOutput, ToolError> {
        let unsaved = self.service.unsaved().await;
        let buffer = unsaved.into_iter().find(|(there, _)| there == path);
        let buffer = buffer
            .filter(|_| reference.is_none())
            .map(|(_, text)| text.into_bytes());
        let mut args: Vec<OsString> = vec!["blame".into(), "--line-porcelain".into()];
        let last = if lines.end == usize::MAX {
            String::new()
        } else {
            lines.end.to_string()
        };
        args.push(format!("-L{},{last}", lines.start + 1).into());
        if buffer.is_some() {
            args.extend(["--contents", "-"].map(OsString::from));
        }
        args.extend(reference.map(OsString::from));
        args.extend(["--".into(), self.path.clone()]);
        let printed = self.git.feed(&args, buffer, MAX_BLAME).await?;
        Ok(blamed(&printed.text(), shown))
    }
}

/// The lines of `git blame --line-porcelain` in the form of git_blame.
fn blamed(porcelain: &str, shown: &str) -> ToolOutput {
    let (mut text, mut count) = (String::new(), 0);
    let mut commits: HashSet<String> = HashSet::new();
    let (mut id, mut line, mut who) = (String::new(), String::new(), Who::default());
    for row in porcelain.split('\n') {
        if let Some(content) = row.strip_prefix('\t') {
            let sha: String = id.chars().take(git_blame::DIGITS).collect();
            let uncommitted = id.bytes().all(|digit| digit == b'0');
            let name = if uncommitted { git_blame::NOBODY } else { &who.name };
            if !uncommitted {
                commits.insert(id.clone());
            }
            let head = git_blame::head_of(&sha, name, &who.utc_day());
            let content = content.strip_suffix('\r').unwrap_or(content);
            let _ = writeln!(text, "{shown}:{line}  {head}  {content}");
            count += 1;
            continue;
        }
        match row.split_once(' ') {
            Some(("author", name)) => name.clone_into(&mut who.name),
            Some(("author-time", time)) => who.time = time.parse().unwrap_or(0),
            Some((first, rest))
                if first.len() >= 40 && first.bytes().all(|byte| byte.is_ascii_hexdigit()) =>
            {
                first.clone_into(&mut id);
                rest.split(' ').nth(1).unwrap_or_default().clone_into(&mut line);
            }
            _ => {}
        }
    }
    if text.is_empty() {
        text = format!("({shown} is empty)\n");
    }
    ToolOutput {
        text,
        summary: format!(
            "{} · {}",
            words::count(count, "line"),
            words::count(commits.len(), "commit")
        ),
        ..ToolOutput::default()
    }
}
