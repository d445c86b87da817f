//! What the git tools ask of a repository, answered by the git program in the same form. What a rule withholds is
//! found out first: git is then asked for the other files only.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::ops::Range as Lines;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use crate::tools::git::{GitService, Place, plural};
use crate::tools::git_blame;
use crate::tools::git_log;
use crate::tools::git_program::GitProgram;
use crate::tools::git_show;
use crate::tools::tool::{ToolCtx, ToolError, ToolOutput};
use crate::vcs::commit::Who;
use crate::vcs::quote;
use crate::vcs::refs::Range;
use crate::vcs::report::{self, Form, Visible};

/// The longest diff and the longest list of changes, in bytes.
const MAX_BYTES: usize = 1024 * 1024;
/// The longest content, in bytes.
const MAX_CONTENT: usize = 2 * 1024 * 1024;
/// The longest blame, in bytes as git prints it.
const MAX_BLAME: usize = 64 * 1024 * 1024;
/// Files whose diff is asked for at once; the others are named.
const MOST_FILES: usize = 1_000;

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

fn words(range: &Range) -> String {
    match range {
        Range::One(name) => name.clone(),
        Range::Two(one, other) => format!("{one}..{other}"),
        Range::Symmetric(one, other) => format!("{one}...{other}"),
    }
}

/// A changed file in a list of git.
struct Changed {
    letter: char,
    /// The path; of a renamed file the old one, then the new one.
    paths: Vec<Vec<u8>>,
}

/// `:100644 100644 1234 5678 R090`, a NUL, the path, a NUL, for renames one more path.
fn changes(raw: &[u8]) -> Vec<Changed> {
    let mut fields = raw.split(|byte| *byte == 0);
    let mut found = Vec::new();
    while let Some(head) = fields.next() {
        let Some(letter) = head.rsplit(|byte| *byte == b' ').next().and_then(<[u8]>::first) else {
            continue;
        };
        let letter = char::from(*letter);
        let count = if matches!(letter, 'R' | 'C') { 2 } else { 1 };
        let paths: Vec<Vec<u8>> = fields.by_ref().take(count).map(<[u8]>::to_vec).collect();
        if paths.len() == count {
            found.push(Changed { letter, paths });
        }
    }
    found
}

impl Changed {
    fn title(&self) -> String {
        let paths: Vec<String> = self.paths.iter().map(|path| quote::path(path)).collect();
        paths.join(" => ")
    }
}

struct Asked<'a> {
    service: &'a GitService,
    git: &'a GitProgram,
    path: OsString,
}

impl Asked<'_> {
    fn visible(&self, path: &[u8]) -> Visible {
        self.service
            .visible_at(&self.git.root().join(OsStr::from_bytes(path)))
    }

    /// `--`, and the path if there is one.
    fn limit_to_path(&self, args: &mut Vec<OsString>) {
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

    async fn diff(
        &self,
        range: Option<&Range>,
        staged: Option<bool>,
        form: Form,
    ) -> Result<ToolOutput, ToolError> {
        let mut args: Vec<OsString> = vec!["diff".into()];
        match (range, staged) {
            (None, Some(false)) => {}
            (None, _) => {
                if staged == Some(true) {
                    args.push("--cached".into());
                }
                args.push(self.head_or_nothing().await?);
            }
            (Some(range), _) => {
                if staged == Some(true) {
                    args.push("--cached".into());
                }
                args.push(words(range).into());
            }
        }
        let (text, summary) = self.compared(&args, form).await?;
        let unsaved = self.service.unsaved().await;
        let unseen = unsaved.iter().any(|(path, _)| path.starts_with(self.git.root()));
        let mut text = if text.is_empty() {
            "(no diff)\n".to_owned()
        } else {
            text
        };
        if unseen && !matches!(range, Some(Range::Two(..) | Range::Symmetric(..))) {
            text.push_str(
                "(the git program answered: it sees files as they were saved, not unsaved buffers)\n",
            );
        }
        Ok(ToolOutput {
            text,
            summary,
            ..ToolOutput::default()
        })
    }

    /// HEAD, or the empty tree before the first commit.
    async fn head_or_nothing(&self) -> Result<OsString, ToolError> {
        match self
            .git
            .run(&["rev-parse", "--verify", "-q", "HEAD"], MAX_BYTES)
            .await
        {
            Ok(_) => Ok("HEAD".into()),
            Err(ToolError::Reply(_)) => {
                let empty = ["hash-object", "-t", "tree", "--stdin"];
                let printed = self.git.feed(&empty, Some(Vec::new()), MAX_BYTES).await?;
                Ok(OsString::from_vec(printed.bytes.trim_ascii().to_vec()))
            }
            Err(error) => Err(error),
        }
    }

    /// What `git ARGS` compares, of the files that may be shown, and a few words for the person.
    async fn compared(&self, args: &[OsString], form: Form) -> Result<(String, String), ToolError> {
        let with = |options: &[&str]| {
            let plain = [
                "--no-color",
                "--no-ext-diff",
                "--no-textconv",
                "-M",
                "--ignore-submodules=dirty",
            ];
            let mut all = args.get(..1).unwrap_or_default().to_vec();
            all.extend(plain.iter().chain(options).map(OsString::from));
            all.extend_from_slice(args.get(1..).unwrap_or_default());
            all
        };
        let mut list = with(&["--raw", "-z"]);
        self.limit_to_path(&mut list);
        let listed = self.git.run(&list, MAX_BYTES).await?;
        let found = changes(&listed.bytes);
        let (mut text, mut shown, mut named, mut hidden) = (String::new(), Vec::new(), Vec::new(), 0);
        for change in &found {
            let seen = change.paths.iter().map(|path| self.visible(path)).min();
            match seen.unwrap_or(Visible::Nothing) {
                Visible::Nothing => hidden += 1,
                _ if form == Form::Names => {
                    let _ = writeln!(text, "{} {}", change.letter, change.title());
                }
                Visible::Name => named.push(change.title()),
                Visible::Content => shown.push(change),
            }
        }
        let left_out: Vec<String> = shown
            .iter()
            .skip(MOST_FILES)
            .map(|change| change.title())
            .collect();
        shown.truncate(MOST_FILES);
        if !shown.is_empty() {
            let mut ask = match form {
                Form::Stat => with(&["--numstat"]),
                _ => with(&["-p", &format!("-U{}", form.context())]),
            };
            ask.push("--".into());
            let paths = shown.iter().flat_map(|change| &change.paths);
            ask.extend(paths.map(|path| OsStr::from_bytes(path).to_owned()));
            let printed = self.git.run(&ask, MAX_BYTES).await?;
            match form {
                Form::Stat => stat(&printed.text(), &mut text),
                _ => text.push_str(&printed.text()),
            }
            if printed.cut {
                text.push_str("\n(there is more: narrow with path, or use stat or name_only)\n");
            }
        }
        report::left_out(&mut text, left_out);
        report::withheld(&mut text, named, hidden);
        if listed.cut {
            text.push_str("(more files differ: narrow with path)\n");
        }
        let summary = match found.len() {
            0 => "no diff".into(),
            count => plural(count, "file"),
        };
        Ok((text, summary))
    }

    async fn commit(&self, name: &str, form: Form) -> Result<ToolOutput, ToolError> {
        let kind = self.git.line(&["cat-file", "-t", name]).await?;
        if kind != "commit" && kind != "tag" {
            return Err(ToolError::Reply(git_show::bare_name(name)));
        }
        let head = [
            "show",
            "-s",
            "--no-color",
            "--format=medium",
            "--use-mailmap",
            name,
        ];
        let mut text = self.git.run(&head, MAX_BYTES).await?.text();
        let commit = format!("{name}^{{commit}}");
        let merge = self
            .git
            .run(
                &["rev-parse", "--verify", "-q", &format!("{commit}^2")],
                MAX_BYTES,
            )
            .await;
        text.push('\n');
        if merge.is_ok() {
            text.push_str("(a merge: the diff is against its first parent, with all that it brought)\n");
        }
        let args: Vec<OsString> = ["show", "--format=", "-m", "--first-parent", &commit]
            .map(OsString::from)
            .into();
        let (diff, summary) = self.compared(&args, form).await?;
        text.push_str(&diff);
        Ok(ToolOutput {
            text,
            summary,
            ..ToolOutput::default()
        })
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
        Ok((text, plural(count, "name")))
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
        let summary = plural(text.lines().count(), "line");
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

/// `1<tab>2<tab>path` as a line of a stat, and the sums.
fn stat(numbers: &str, text: &mut String) {
    let (mut files, mut added, mut removed) = (0, 0, 0);
    for line in numbers.lines() {
        let mut fields = line.splitn(3, '\t');
        let (Some(more), Some(less), Some(path)) = (fields.next(), fields.next(), fields.next()) else {
            continue;
        };
        files += 1;
        match (more.parse::<usize>(), less.parse::<usize>()) {
            (Ok(more), Ok(less)) => {
                added += more;
                removed += less;
                let _ = writeln!(text, "{path} | +{more} -{less}");
            }
            _ => {
                let _ = writeln!(text, "{path} | not text");
            }
        }
    }
    report::sums(text, files, added, removed);
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
        summary: format!("{} · {}", plural(count, "line"), plural(commits.len(), "commit")),
        ..ToolOutput::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_changes_with_renames_and_names_that_are_no_text() {
        let raw = b":100644 100644 a b M\0dir/\xff\0:100644 100644 a b R087\0old name\0new\0:000000 100644 0 b A\0n\0";
        let found: Vec<(char, String)> = changes(raw).iter().map(|one| (one.letter, one.title())).collect();
        assert_eq!(
            found,
            [
                ('M', "\"dir/\\377\"".to_owned()),
                ('R', "old name => new".to_owned()),
                ('A', "n".to_owned())
            ]
        );
        assert!(changes(b"").is_empty());
    }
}
