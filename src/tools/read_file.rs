//! The tool `read_file`: a text file, or a range of its lines, with line numbers; images, sound, video and
//! documents as they are.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::backend::{Backend, BackendError};
use crate::media::encode::{block, size_words};
use crate::media::kind::{MediaType, media_type};
use crate::permission::access::Access;
use crate::protocol::change::{FileText, TextSource};
use crate::protocol::tool::ToolClass;
use crate::tools::file_pages::{End, Page, Range};
use crate::tools::file_paths::{link_note, reply, resolve, shown};
use crate::tools::file_stream::{Source, stream};
use crate::tools::seen::SeenFiles;
use crate::tools::tool::{Tool, ToolCtx, ToolError, ToolOutput};
use crate::words;

/// What is returned at most, in bytes, line numbers included.
pub(super) const MAX_RETURNED: usize = 2 * 1024 * 1024;

/// Reads files for the model.
pub struct ReadFile {
    backend: Arc<dyn Backend>,
    seen: Arc<SeenFiles>,
}

impl ReadFile {
    /// A tool that reads from `backend` and notes in `seen` what it read.
    pub fn new(backend: Arc<dyn Backend>, seen: Arc<SeenFiles>) -> Self {
        Self { backend, seen }
    }
}

/// The arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// The file: relative to the working directory, or absolute.
    #[serde(alias = "file_path")]
    pub path: String,
    /// From 1. Default: 1.
    pub start_line: Option<i64>,
    /// Inclusive. Default: the last line.
    pub end_line: Option<i64>,
    /// First character of the first line, from 1: to go on inside a very long line.
    pub start_column: Option<i64>,
    /// Other spelling: lines to skip, from 0.
    #[schemars(skip)]
    pub offset: Option<i64>,
    /// Other spelling: number of lines.
    #[schemars(skip)]
    pub limit: Option<i64>,
}

impl Args {
    fn range(&self) -> Result<Range, ToolError> {
        let wrong = |what: &str| {
            let text = format!("Invalid line range: {what}. Lines count from 1, and end_line is inclusive.");
            ToolError::Reply(text)
        };
        let number = |name: &str, value: i64, least: i64| {
            usize::try_from(value)
                .ok()
                .filter(|_| value >= least)
                .ok_or_else(|| wrong(&format!("{name}={value}")))
        };
        let first = match (self.start_line, self.offset) {
            (Some(line), _) => number("start_line", line, 1)?,
            // Before the start is the start.
            (None, Some(skip)) => number("offset", skip.max(0), 0)?.saturating_add(1),
            (None, None) => 1,
        };
        let last = match (self.end_line, self.limit) {
            (Some(line), _) => Some(number("end_line", line, 1)?),
            (None, Some(count)) => Some(number("limit", count, 1)?.saturating_add(first - 1)),
            (None, None) => None,
        };
        let column = number("start_column", self.start_column.unwrap_or(1), 1)?;
        match last {
            Some(last) if last < first => Err(wrong(&format!("start_line={first}, end_line={last}"))),
            _ => Ok(Range { first, last, column }),
        }
    }
}

#[async_trait]
impl Tool for ReadFile {
    type Args = Args;

    fn name(&self) -> &'static str {
        "read_file"
    }

    fn class(&self) -> ToolClass {
        ToolClass::Read
    }

    fn pages_itself(&self) -> bool {
        true
    }

    fn description(&self) -> &'static str {
        include_str!("text/read_file.md")
    }

    fn title(&self, args: &Args) -> String {
        match args.range() {
            Ok(Range {
                first: 1, last: None, ..
            })
            | Err(_) => args.path.clone(),
            Ok(Range {
                first, last: None, ..
            }) => format!("{}:{first}-", args.path),
            Ok(Range {
                first,
                last: Some(last),
                ..
            }) => format!("{}:{first}-{last}", args.path),
        }
    }

    fn access(&self, args: &Args, cwd: &Path) -> Result<Vec<Access>, ToolError> {
        Ok(vec![Access::Read(resolve(cwd, &args.path)?.path)])
    }

    async fn run(&self, args: Args, ctx: &ToolCtx) -> Result<ToolOutput, ToolError> {
        let resolved = resolve(&ctx.cwd, &args.path)?;
        let name = shown(&ctx.cwd, &resolved.path);
        let note = link_note(&args.path, &resolved);
        if let Some(media) = media_type(&resolved.path) {
            return self.media(&name, &resolved.path, media, &note).await;
        }
        let text = self.backend.read_text(&resolved.path).await;
        // What has no lines has no wrong range of them.
        let range = match &text {
            Ok(file) if file.text.is_empty() => Range::ALL,
            _ => args.range()?,
        };
        match text {
            Ok(file) => {
                self.seen.note(&resolved.path, &file.text);
                from_memory(&name, &file, range, &note)
            }
            Err(BackendError::TooLarge { size, .. }) => {
                let source = Source {
                    backend: self.backend.as_ref(),
                    name: &name,
                    path: &resolved.path,
                    note: &note,
                };
                stream(&source, size, range, ctx).await
            }
            Err(error @ BackendError::Binary { .. }) => {
                let text = format!("{error} Consider `file` or `xxd` in bash to look into it.");
                Err(ToolError::Reply(text))
            }
            Err(error) => Err(reply(error)),
        }
    }
}

impl ReadFile {
    /// A whole file as a block, or words about one that is too large.
    async fn media(
        &self,
        name: &str,
        path: &Path,
        media: MediaType,
        note: &str,
    ) -> Result<ToolOutput, ToolError> {
        let limit = usize::try_from(media.kind.limit()).unwrap_or(usize::MAX);
        let read = self.backend.read_bytes(path, 0, limit).await.map_err(reply)?;
        let size = size_words(read.total);
        let (text, blocks, summary) = if read.total == 0 {
            (
                format!("(empty file: {name}){note}"),
                Vec::new(),
                "empty".to_owned(),
            )
        } else if read.total > media.kind.limit() {
            let most = size_words(media.kind.limit());
            let text = format!(
                "{name} is {} of {size} and not shown: the limit is {most}. Make a smaller one of it with a program in \
                 bash, or work with a part.{note}",
                media.mime
            );
            (text, Vec::new(), format!("{size}, not shown"))
        } else {
            let block = block(media, &read.bytes);
            (
                format!("{name} ({}, {size}).{note}", media.mime),
                vec![block],
                size,
            )
        };
        Ok(ToolOutput {
            text,
            media: blocks,
            summary,
            ..ToolOutput::default()
        })
    }
}

fn from_memory(name: &str, file: &FileText, range: Range, note: &str) -> Result<ToolOutput, ToolError> {
    let total = file.text.lines().count();
    let unsaved = match file.source {
        TextSource::Buffer { modified: true, .. } => {
            " This is the open buffer's text; it has unsaved changes."
        }
        TextSource::Buffer { .. } | TextSource::Disk => "",
    };
    let laid_down = file
        .laid_down
        .as_ref()
        .map(|words| format!(" The file is {words}."));
    let note = &(laid_down.unwrap_or_default() + note);
    if file.text.is_empty() {
        let text = format!("(empty file: {name}){note}{unsaved}");
        return Ok(ToolOutput {
            text,
            summary: "empty".to_owned(),
            ..ToolOutput::default()
        });
    }
    if range.first > total {
        return Err(past_the_end(name, range, total));
    }
    let mut page = Page::new(range, MAX_RETURNED);
    page.push(&file.text);
    let (mut text, end) = page.finish();
    let shown = text.lines().count();
    let part = match end {
        End::Full { line, column } => {
            let size = file.text.len();
            format!(
                "The file has {}, {size} bytes.{}",
                lines_words(total),
                go_on(line, column)
            )
        }
        End::Range if shown < total => format!("The file has {}.", lines_words(total)),
        End::Range => String::new(),
    };
    let remark = format!("{part}{note}{unsaved}");
    if !remark.is_empty() {
        text += &format!("({})\n", remark.trim_start());
    }
    Ok(ToolOutput {
        text,
        summary: lines_words(shown),
        ..ToolOutput::default()
    })
}

pub(super) fn go_on(line: usize, column: usize) -> String {
    let column = if column > 1 {
        format!(" and start_column={column}")
    } else {
        String::new()
    };
    format!(" More follows: go on with start_line={line}{column}.")
}

pub(super) fn past_the_end(name: &str, range: Range, total: usize) -> ToolError {
    ToolError::Reply(format!(
        "start_line={} is past the end: {name} has {}.",
        range.first,
        lines_words(total)
    ))
}

pub(super) fn lines_words(count: usize) -> String {
    words::count(count, "line")
}
