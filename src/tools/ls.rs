//! The tool `ls`: the immediate children of a directory.

use std::path::Path;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::backend::{Backend, DirEntry, EntryKind};
use crate::fs::calendar;
use crate::permission::access::Access;
use crate::protocol::tool::ToolClass;
use crate::tools::file_paths::{link_note, reply, resolve, shown};
use crate::tools::tool::{Tool, ToolCtx, ToolError, ToolOutput};

/// Entries shown.
const MAX_ENTRIES: usize = 2_000;

/// Says whether a path may be named; what a rule denies for reading may not.
pub type Visible = Arc<dyn Fn(&Path) -> bool + Send + Sync>;

/// Lists directories for the model.
pub struct Ls {
    backend: Arc<dyn Backend>,
    visible: Visible,
}

impl Ls {
    /// A tool that lists what `backend` has and `visible` allows to be named.
    pub fn new(backend: Arc<dyn Backend>, visible: Visible) -> Self {
        Self { backend, visible }
    }
}

/// The arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// Default: the working directory.
    #[serde(alias = "file_path")]
    pub path: Option<String>,
}

impl Args {
    fn path(&self) -> &str {
        match self.path.as_deref() {
            None | Some("") => ".",
            Some(path) => path,
        }
    }
}

#[async_trait]
impl Tool for Ls {
    type Args = Args;

    fn name(&self) -> &'static str {
        "ls"
    }

    fn class(&self) -> ToolClass {
        ToolClass::Read
    }

    fn pages_itself(&self) -> bool {
        true
    }

    fn description(&self) -> &'static str {
        include_str!("text/ls.md")
    }

    fn title(&self, args: &Args) -> String {
        args.path().to_owned()
    }

    fn access(&self, args: &Args, cwd: &Path) -> Result<Vec<Access>, ToolError> {
        Ok(vec![Access::Read(resolve(cwd, args.path())?.path)])
    }

    async fn run(&self, args: Args, ctx: &ToolCtx) -> Result<ToolOutput, ToolError> {
        let resolved = resolve(&ctx.cwd, args.path())?;
        let entries = self.backend.list(&resolved.path).await.map_err(reply)?;
        let found = entries.len();
        let named: Vec<DirEntry> = entries
            .into_iter()
            .filter(|entry| (self.visible)(&resolved.path.join(&entry.name)))
            .collect();
        let withheld = found - named.len();
        let mut lines: Vec<String> = named.iter().map(line).collect();
        lines.sort_unstable();
        let more = lines.len().saturating_sub(MAX_ENTRIES);
        lines.truncate(MAX_ENTRIES);
        if lines.is_empty() {
            lines.push(format!("(empty: {})", shown(&ctx.cwd, &resolved.path)));
        }
        if more > 0 {
            lines.push(format!(
                "({more} more entries; use glob with a pattern to see them)"
            ));
        }
        if withheld > 0 {
            lines.push(format!("({withheld} withheld by a rule)"));
        }
        let note = link_note(args.path(), &resolved);
        if !note.is_empty() {
            lines.push(format!("({})", note.trim_start()));
        }
        let plural = if named.len() == 1 { "y" } else { "ies" };
        let summary = format!("{} entr{plural}", named.len());
        Ok(ToolOutput {
            text: lines.join("\n") + "\n",
            summary,
            ..ToolOutput::default()
        })
    }
}

fn line(entry: &DirEntry) -> String {
    let name = visible_name(&entry.name);
    let time = entry
        .modified
        .map(|time| format!("  {}", utc(time)))
        .unwrap_or_default();
    match entry.kind {
        EntryKind::Dir => format!("[d] {name}{time}"),
        EntryKind::File => format!("[f] {name}  {} bytes{time}", entry.size),
        EntryKind::Link => {
            let target = entry.target.as_ref().map(|target| target.display().to_string());
            let target = target.map(|target| format!(" -> {}", visible_name(&target)));
            format!("[l] {name}{}{time}", target.unwrap_or_default())
        }
    }
}

/// A name on one line, whatever it holds.
fn visible_name(name: &str) -> String {
    if name.chars().any(char::is_control) {
        name.escape_debug().to_string()
    } else {
        name.to_owned()
    }
}

/// `YYYY-MM-DD HH:MM` in UTC.
fn utc(time: SystemTime) -> String {
    let seconds = time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let minutes = seconds % 86_400 / 60;
    let date = calendar::date(i64::try_from(seconds).unwrap_or(i64::MAX), 0);
    format!("{date} {:02}:{:02}", minutes / 60, minutes % 60)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn times_are_calendar_times() {
        let at = |seconds: u64| utc(UNIX_EPOCH + Duration::from_secs(seconds));
        assert_eq!(at(0), "1970-01-01 00:00");
        assert_eq!(at(951_782_400), "2000-02-29 00:00");
        assert_eq!(at(1_709_251_199), "2024-02-29 23:59");
        assert_eq!(at(1_735_689_600), "2025-01-01 00:00");
    }
}
