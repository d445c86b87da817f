//! The tool `glob`: files by name.

use std::path::{Path, PathBuf};

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::fs::nearest;
use crate::fs::safe_path::Resolved;
use crate::permission::access::Access;
use crate::protocol::tool::ToolClass;
use crate::search::glob::{Glob as Pattern, fixed_folder};
use crate::search::walk::{LeftOut, Walk, Wanted, list};
use crate::tools::file_paths::{link_note, resolve, shown};
use crate::tools::ls::Visible;
use crate::tools::tool::{Tool, ToolCtx, ToolError, ToolOutput};
use crate::words::count;

/// Paths shown.
const MOST_SHOWN: usize = 1_000;

/// Finds files for the model.
pub struct Glob {
    visible: Visible,
}

impl Glob {
    /// A tool that names what `visible` allows to be named.
    pub fn new(visible: Visible) -> Self {
        Self { visible }
    }
}

/// The arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// For example `src/**/*.ts`.
    pub pattern: String,
    /// The directory to look in. Default: the working directory.
    #[serde(default, alias = "cwd", alias = "file_path")]
    pub path: Option<String>,
    /// Hidden files too.
    #[serde(default)]
    pub hidden: Option<bool>,
    /// Ignored files too.
    #[serde(default)]
    pub no_ignore: Option<bool>,
}

/// Where to look, and for what.
struct Place {
    /// The directory as the reader names it; empty for the working directory.
    name: PathBuf,
    resolved: Resolved,
    pattern: Pattern,
}

impl Args {
    /// Names in front of the first special character are a directory that the caller named: it is looked
    /// into although it is hidden, ignored or a link.
    fn place(&self, cwd: &Path) -> Result<Place, ToolError> {
        let given = self
            .path
            .as_deref()
            .filter(|path| !path.is_empty())
            .unwrap_or(".");
        let root = resolve(cwd, given)?;
        let (folder, rest) = match fixed_folder(&self.pattern) {
            Some(("/", rest)) => ("", rest),
            // A leading `/` binds to the root, unless it begins the path of a directory that there is.
            Some((folder, rest)) if folder.starts_with('/') => {
                let below_root = folder.trim_start_matches('/');
                let absolute = !root.path.join(below_root).is_dir() && Path::new(folder).is_dir();
                (if absolute { folder } else { below_root }, rest)
            }
            Some((folder, rest)) => (folder, rest),
            None => ("", self.pattern.as_str()),
        };
        let rest = if rest == "/" { "/**" } else { rest };
        let pattern = Pattern::new(rest).map_err(|error| ToolError::Reply(error.to_string()))?;
        let at = Path::new(given).join(folder);
        let resolved = resolve(cwd, &at.display().to_string())?;
        let name = match resolved.given.strip_prefix(resolve(cwd, ".")?.path) {
            Ok(inside) => inside.to_owned(),
            Err(_) => resolved.given.clone(),
        };
        Ok(Place {
            name,
            resolved,
            pattern,
        })
    }
}

#[async_trait]
impl Tool for Glob {
    type Args = Args;

    fn name(&self) -> &'static str {
        "glob"
    }

    fn class(&self) -> ToolClass {
        ToolClass::Read
    }

    fn pages_itself(&self) -> bool {
        true
    }

    fn description(&self) -> &'static str {
        include_str!("text/glob.md")
    }

    fn title(&self, args: &Args) -> String {
        match args.path.as_deref() {
            None | Some("" | ".") => args.pattern.clone(),
            Some(path) => format!("{} in {path}", args.pattern),
        }
    }

    fn access(&self, args: &Args, cwd: &Path) -> Result<Vec<Access>, ToolError> {
        Ok(vec![Access::Read(args.place(cwd)?.resolved.path)])
    }

    async fn run(&self, args: Args, ctx: &ToolCtx) -> Result<ToolOutput, ToolError> {
        let place = args.place(&ctx.cwd)?;
        check_root(&ctx.cwd, &place.resolved.path)?;
        let walk = Walk {
            root: place.resolved.path.clone(),
            hidden: args.hidden.unwrap_or(false) || place.pattern.names_hidden(),
            no_ignore: args.no_ignore.unwrap_or(false),
        };
        let (visible, cancel) = (self.visible.clone(), ctx.cancel.clone());
        let pattern = place.pattern.clone();
        let search = move || {
            let wanted = Wanted {
                only: Some(&pattern),
                shown: Some(&|path| visible(path)),
            };
            let listing = list(&walk, wanted, &cancel)?;
            let below = |path: &PathBuf| path.strip_prefix(&walk.root).ok().map(Path::to_owned);
            let shown = listing.files.iter().take(MOST_SHOWN);
            Some(Found {
                total: listing.files.len(),
                shown: shown.filter_map(below).collect(),
                withheld: listing.withheld,
                left_out: listing.left_out,
            })
        };
        let found = tokio::task::spawn_blocking(search)
            .await
            .map_err(|_| ToolError::Reply("The search failed inside. Try another pattern or path.".into()))?
            .ok_or(ToolError::Cancelled)?;
        Ok(answer(&args, &place, &found))
    }
}

/// What was found.
struct Found {
    total: usize,
    /// The first of them, relative to the directory.
    shown: Vec<PathBuf>,
    withheld: u64,
    left_out: LeftOut,
}

fn check_root(cwd: &Path, root: &Path) -> Result<(), ToolError> {
    if root.is_dir() {
        return Ok(());
    }
    let name = shown(cwd, root);
    let text = if root.exists() {
        format!("{name} is a file, not a directory. Read it with read_file, or give its directory.")
    } else {
        format!("There is no directory {name}.{}", nearest::hint(root))
    };
    Err(ToolError::Reply(text))
}

fn answer(args: &Args, place: &Place, found: &Found) -> ToolOutput {
    let total = found.total;
    let mut lines: Vec<String> = found
        .shown
        .iter()
        .map(|file| line(&place.name.join(file)))
        .collect();
    if total == 0 {
        let place = match args.path.as_deref() {
            None | Some("" | ".") => String::new(),
            Some(path) => format!(" in {path}"),
        };
        lines.push(format!("No files match {}{place}.", args.pattern));
    }
    let mut notes = Vec::new();
    if total > MOST_SHOWN {
        notes.push(format!(
            "{MOST_SHOWN} of {total} files are shown; narrow the pattern or path to see the others"
        ));
    }
    if found.withheld > 0 {
        notes.push(format!("{} withheld by a rule", count(found.withheld, "file")));
    }
    let left_out = found.left_out;
    for (number, kind, option) in [
        (left_out.ignored, "ignored name", "no_ignore=true"),
        (left_out.hidden, "hidden name", "hidden=true"),
    ] {
        if number > 0 {
            notes.push(format!(
                "{} not looked at; {option} or a pattern that begins with its path does",
                count(number, kind)
            ));
        }
    }
    if left_out.unreadable > 0 {
        notes.push(format!(
            "{} could not be read",
            count(left_out.unreadable, "file or folder")
        ));
    }
    if left_out.too_many {
        notes.push("there are too many files to look at all; give a narrower path".to_owned());
    }
    let link = link_note(&place.name.display().to_string(), &place.resolved);
    if !link.is_empty() {
        notes.push(link.trim().trim_end_matches('.').to_owned());
    }
    if !notes.is_empty() {
        lines.push(format!("({}.)", notes.join("; ")));
    }
    ToolOutput {
        text: lines.join("\n") + "\n",
        summary: count(total, "file"),
        ..ToolOutput::default()
    }
}

/// A path on one line, whatever it holds.
fn line(path: &Path) -> String {
    let name = path.display().to_string();
    if name.chars().any(char::is_control) {
        name.escape_debug().to_string()
    } else {
        name
    }
}
