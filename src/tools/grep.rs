//! The tool `grep`: lines that match.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::fs::safe_path::Resolved;
use crate::permission::access::Access;
use crate::protocol::tool::ToolClass;
use crate::search::glob::Glob;
use crate::search::grep::{FileHits, Findings, GrepError, Place, Query, grep};
use crate::search::walk::Walk;
use crate::tools::file_paths::{link_note, resolve, shown};
use crate::tools::tool::{Tool, ToolCtx, ToolError, ToolOutput};
use crate::words::count;

/// Lines of content, context included, or files that are shown by default, and at most.
const DEFAULT_SHOWN: usize = 200;
const MOST_SHOWN: usize = 2_000;
/// The most context on each side, in lines.
const MOST_CONTEXT: usize = 50;
/// The longest answer, in bytes.
const MOST_BYTES: usize = 48_000;
/// Withheld files that are named.
const NAMED: usize = 5;

/// The texts of modified buffers, by real path.
pub type Buffers = Arc<dyn Fn() -> BoxFuture<'static, Vec<(PathBuf, String)>> + Send + Sync>;

/// Whether the content of a file may be shown.
pub type MayShow = Arc<dyn Fn(&Path) -> bool + Send + Sync>;

/// Searches text for the model.
pub struct Grep {
    buffers: Buffers,
    may_show: MayShow,
}

impl Grep {
    /// A tool that searches `buffers` in the place of the files that they hold, and leaves out what
    /// `may_show` refuses, by name.
    pub fn new(buffers: Buffers, may_show: MayShow) -> Self {
        Self { buffers, may_show }
    }
}

/// The arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// The expression, or with `literal` the text.
    pub pattern: String,
    /// A file or directory. Default: the working directory.
    #[serde(default, alias = "file_path")]
    pub path: Option<String>,
    /// Only these files: `*.rs`, `src/**/*.ts`, `!*.min.js`.
    #[serde(default, alias = "glob", alias = "include")]
    pub glob_filter: Option<String>,
    /// Default: content.
    #[serde(default)]
    pub output_mode: Option<OutputMode>,
    /// The pattern is plain text.
    #[serde(default)]
    pub literal: Option<bool>,
    /// Upper and lower case are one.
    #[serde(default, alias = "ignore_case")]
    pub case_insensitive: Option<bool>,
    /// Lines around each match, at most 50.
    #[serde(default, alias = "context")]
    pub context_lines: Option<usize>,
    /// Lines or files shown, at most 2000. Default: 200.
    #[serde(default, alias = "head_limit", alias = "limit")]
    pub max_count: Option<usize>,
    /// Hidden files too.
    #[serde(default)]
    pub hidden: Option<bool>,
    /// Ignored files too.
    #[serde(default)]
    pub no_ignore: Option<bool>,
}

/// What is shown of the matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OutputMode {
    /// `path:line:text` for each matching line.
    Content,
    /// The paths of files with a match.
    FilesWithMatches,
    /// `path:number` of matching lines for each file.
    Count,
}

impl Args {
    fn path(&self) -> &str {
        self.path
            .as_deref()
            .filter(|path| !path.is_empty())
            .unwrap_or(".")
    }

    fn mode(&self) -> OutputMode {
        self.output_mode.unwrap_or(OutputMode::Content)
    }

    fn shown(&self) -> usize {
        self.max_count
            .filter(|count| *count > 0)
            .unwrap_or(DEFAULT_SHOWN)
            .min(MOST_SHOWN)
    }

    fn query(&self) -> Query {
        let content = self.mode() == OutputMode::Content;
        Query {
            pattern: self.pattern.clone(),
            literal: self.literal.unwrap_or(false),
            case_insensitive: self.case_insensitive.unwrap_or(false),
            context: if content {
                self.context_lines.unwrap_or(0).min(MOST_CONTEXT)
            } else {
                0
            },
            max_lines: if content { self.shown() } else { 0 },
            count_all: self.mode() != OutputMode::FilesWithMatches,
        }
    }

    fn glob(&self) -> Result<Option<Glob>, ToolError> {
        let pattern = self.glob_filter.as_deref().filter(|pattern| !pattern.is_empty());
        pattern
            .map(Glob::new)
            .transpose()
            .map_err(|error| ToolError::Reply(error.to_string()))
    }
}

#[async_trait]
impl Tool for Grep {
    type Args = Args;

    fn name(&self) -> &'static str {
        "grep"
    }

    fn class(&self) -> ToolClass {
        ToolClass::Read
    }

    fn pages_itself(&self) -> bool {
        true
    }

    fn description(&self) -> &'static str {
        include_str!("text/grep.md")
    }

    fn title(&self, args: &Args) -> String {
        let mut title = args.pattern.clone();
        if args.path() != "." {
            title = format!("{title} in {}", args.path());
        }
        if let Some(glob) = &args.glob_filter {
            title = format!("{title} ({glob})");
        }
        title
    }

    fn access(&self, args: &Args, cwd: &Path) -> Result<Vec<Access>, ToolError> {
        Ok(vec![Access::Read(resolve(cwd, args.path())?.path)])
    }

    async fn run(&self, args: Args, ctx: &ToolCtx) -> Result<ToolOutput, ToolError> {
        let resolved = resolve(&ctx.cwd, args.path())?;
        let glob = args.glob()?;
        let walk = Walk {
            root: resolved.path.clone(),
            hidden: args.hidden.unwrap_or(false) || glob.as_ref().is_some_and(Glob::names_hidden),
            no_ignore: args.no_ignore.unwrap_or(false),
        };
        let query = args.query();
        let buffers: HashMap<PathBuf, String> = (self.buffers)().await.into_iter().collect();
        let (may_show, cancel) = (self.may_show.clone(), ctx.cancel.clone());
        let search = move || {
            let may_show = |path: &Path| may_show(path);
            grep(
                &query,
                &Place {
                    walk,
                    glob,
                    buffers: &buffers,
                    may_show: &may_show,
                },
                &cancel,
            )
        };
        let found = tokio::task::spawn_blocking(search)
            .await
            .map_err(|_| ToolError::Reply("The search failed inside. Try another pattern or path.".into()))?
            .map_err(|error| match error {
                GrepError::Cancelled => ToolError::Cancelled,
                other => ToolError::Reply(other.to_string()),
            })?;
        Ok(Answer {
            args: &args,
            resolved: &resolved,
            cwd: &ctx.cwd,
            found: &found,
        }
        .output())
    }
}

/// What was found, for the model to read.
struct Answer<'a> {
    args: &'a Args,
    resolved: &'a Resolved,
    cwd: &'a Path,
    found: &'a Findings,
}

impl Answer<'_> {
    fn output(&self) -> ToolOutput {
        let found = self.found;
        let mut text = String::new();
        let complete = match self.args.mode() {
            OutputMode::Content => self.content(&mut text),
            OutputMode::FilesWithMatches => self.files(&mut text, |path, _| path),
            OutputMode::Count => self.files(&mut text, |path, file| format!("{path}:{}", file.matches)),
        };
        if found.files.is_empty() {
            text = format!(
                "No matches for `{}` under `{}`.\n",
                self.args.pattern,
                self.args.path()
            );
            text += self.hint();
        }
        for note in self.notes(complete) {
            text += &format!("({note})\n");
        }
        let files = count(found.files.len(), "file");
        let summary = match self.args.mode() {
            OutputMode::FilesWithMatches => files,
            _ => format!("{} in {files}", count(found.matching_lines, "line")),
        };
        ToolOutput {
            text,
            summary,
            ..ToolOutput::default()
        }
    }

    /// The path as the caller would write it.
    fn path(&self, file: &Path) -> String {
        let given = match file.strip_prefix(&self.resolved.path) {
            Ok(below) if below.as_os_str().is_empty() => self.resolved.given.clone(),
            Ok(below) => self.resolved.given.join(below),
            Err(_) => file.to_owned(),
        };
        let real_cwd = std::fs::canonicalize(self.cwd);
        shown(real_cwd.as_deref().unwrap_or(self.cwd), &given)
    }

    /// Whether all was written.
    fn content(&self, text: &mut String) -> bool {
        let with_context = self.args.query().context > 0;
        for file in &self.found.files {
            let path = self.path(&file.path);
            let mut last: Option<u64> = None;
            for line in &file.lines {
                if text.len() > MOST_BYTES {
                    return false;
                }
                if with_context && !text.is_empty() && last.is_none_or(|last| line.number > last + 1) {
                    text.push_str("--\n");
                }
                last = Some(line.number);
                let mark = if line.matched { ':' } else { '-' };
                *text += &format!("{path}{mark}{}{mark}{}\n", line.number, line.text);
            }
        }
        !self.found.cut
    }

    fn files(&self, text: &mut String, line: impl Fn(String, &FileHits) -> String) -> bool {
        for (at, file) in self.found.files.iter().enumerate() {
            if at >= self.args.shown() || text.len() > MOST_BYTES {
                return false;
            }
            *text += &line(self.path(&file.path), file);
            text.push('\n');
        }
        true
    }

    fn hint(&self) -> &'static str {
        let (pattern, literal) = (&self.args.pattern, self.args.literal.unwrap_or(false));
        if !literal && pattern.contains("\\|") {
            return "`\\|` is a literal bar: alternatives are written `a|b`.\n";
        }
        if literal && ["|", ".*", ".+", "\\"].iter().any(|part| pattern.contains(part)) {
            return "literal=true takes the pattern as plain text; leave it out for a regular expression.\n";
        }
        ""
    }

    /// What is not in the answer, and how to see it.
    fn notes(&self, complete: bool) -> Vec<String> {
        let found = self.found;
        let mut notes = Vec::new();
        if !complete {
            let files = count(found.files.len(), "file");
            let all = match self.args.mode() {
                OutputMode::Content => {
                    format!("{} in {files}", count(found.matching_lines, "matching line"))
                }
                _ => files,
            };
            notes.push(format!(
                "{all} in all; not all are shown. Narrow the pattern, path or glob_filter, raise max_count up to \
                 {MOST_SHOWN}, or use output_mode=count"
            ));
        }
        let left_out = found.left_out;
        let counts = [
            (left_out.ignored, "ignored", "no_ignore=true"),
            (left_out.hidden, "hidden", "hidden=true"),
        ];
        for (number, kind, option) in counts.into_iter().filter(|(number, ..)| *number > 0) {
            let entries = count(number, &format!("{kind} name"));
            notes.push(format!(
                "{entries} not searched; {option} or a path to one searches it"
            ));
        }
        if left_out.too_many {
            notes.push("there are too many files to search all; give a narrower path".into());
        }
        if left_out.unreadable > 0 {
            notes.push(format!(
                "{} files or folders could not be read",
                left_out.unreadable
            ));
        }
        if found.binary > 0 {
            notes.push(format!("{} not searched, not text", count(found.binary, "file")));
        }
        if !found.withheld.is_empty() {
            let names: Vec<String> = found
                .withheld
                .iter()
                .take(NAMED)
                .map(|path| self.path(path))
                .collect();
            let more = found.withheld.len().saturating_sub(NAMED);
            let more = if more > 0 {
                format!(" and {more} more")
            } else {
                String::new()
            };
            notes.push(format!(
                "not searched, because their content may not be shown: {}{more}",
                names.join(", ")
            ));
        }
        let link = link_note(self.args.path(), self.resolved);
        if !link.is_empty() {
            notes.push(link.trim().to_owned());
        }
        notes
    }
}
