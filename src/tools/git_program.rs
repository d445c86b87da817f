//! The git program, for repositories that libgit2 cannot read. It runs only where the person allows it
//! (`git_program`), and then as little else as can be: no pager, no hook, no external diff, no signature check, no
//! fetch of objects, and no variable of ours that speaks to git.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};
use tokio_util::sync::CancellationToken;

use crate::shell::env::find_program;
use crate::tools::git::{Place, outside};
use crate::tools::tool::ToolError;

/// Bytes of an error of git that are passed on.
const MAX_ERROR: u64 = 2_000;
/// Set in each call, whatever the configuration says.
const SETTINGS: [&str; 9] = [
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.quotePath=false",
    "core.alternateRefsCommand=",
    "log.showSignature=false",
    "log.follow=false",
    "blame.ignoreRevsFile=",
    "diff.noprefix=false",
    "diff.mnemonicPrefix=false",
];

/// One repository, asked through the program.
pub struct GitProgram {
    program: PathBuf,
    root: PathBuf,
    cancel: CancellationToken,
}

/// What it printed.
pub struct Printed {
    /// The beginning, as much as was asked for.
    pub bytes: Vec<u8>,
    /// There was more.
    pub cut: bool,
}

impl Printed {
    /// As text; what is no UTF-8 becomes the replacement character.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }
}

impl GitProgram {
    /// The repository of a place. git itself says whether it trusts it (`safe.directory`).
    ///
    /// # Errors
    /// There is no git, or what it says.
    pub async fn open(place: &Place, cancel: &CancellationToken) -> Result<Self, ToolError> {
        let program = find_program("git").ok_or_else(|| {
            ToolError::Reply("`git_program` is on, but no program called git is installed.".into())
        })?;
        let from = place.from.ancestors().find(|path| path.is_dir());
        let mut git = Self {
            program,
            root: from.unwrap_or(&place.from).to_owned(),
            cancel: cancel.clone(),
        };
        let root = match git.line(&["rev-parse", "--show-toplevel"]).await {
            Err(ToolError::Reply(_)) => git.line(&["rev-parse", "--absolute-git-dir"]).await?,
            root => root?,
        };
        git.root = PathBuf::from(root);
        Ok(git)
    }

    /// The working tree, or the folder of a bare repository.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// A path from the root; empty for the root.
    ///
    /// # Errors
    /// The path lies outside.
    pub fn inside(&self, path: &Path) -> Result<OsString, ToolError> {
        match path.strip_prefix(&self.root) {
            Ok(below) => Ok(below.as_os_str().to_owned()),
            Err(_) => Err(ToolError::Reply(outside(path, &self.root))),
        }
    }

    /// What `git ARGS` prints, at most `most` bytes. Pathspecs are taken to the letter.
    ///
    /// # Errors
    /// What git says when it fails; the stop, which ends it.
    pub async fn run<S: AsRef<OsStr>>(&self, args: &[S], most: usize) -> Result<Printed, ToolError> {
        self.feed(args, None, most).await
    }

    /// The first line of what it prints.
    ///
    /// # Errors
    /// As [`GitProgram::run`].
    pub async fn line<S: AsRef<OsStr>>(&self, args: &[S]) -> Result<OsString, ToolError> {
        let printed = self.run(args, 1 << 16).await?.bytes;
        let line = printed.strip_suffix(b"\n").unwrap_or(&printed);
        Ok(OsStr::from_bytes(line).to_owned())
    }

    /// As [`GitProgram::run`], with something for it to read.
    ///
    /// # Errors
    /// As [`GitProgram::run`].
    pub async fn feed<S: AsRef<OsStr>>(
        &self,
        args: &[S],
        input: Option<Vec<u8>>,
        most: usize,
    ) -> Result<Printed, ToolError> {
        let mut command = self.command(input.is_some());
        let child = command.args(args).spawn().map_err(|error| {
            let why = crate::fs::cause::cause(&error);
            ToolError::Reply(format!("The git program does not start: {why}."))
        })?;
        tokio::select! {
            () = self.cancel.cancelled() => Err(ToolError::Cancelled),
            printed = talk(child, input, most) => printed,
        }
    }

    fn command(&self, reads: bool) -> Command {
        let mut command = Command::new(&self.program);
        for (name, _) in std::env::vars_os() {
            if name.as_bytes().starts_with(b"GIT_") {
                command.env_remove(name);
            }
        }
        command
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("GIT_NO_LAZY_FETCH", "1")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_ALLOW_PROTOCOL", "none")
            .env("LC_ALL", "C.UTF-8")
            .args(["--no-pager", "--literal-pathspecs"])
            .args(SETTINGS.iter().flat_map(|setting| ["-c", setting]))
            .current_dir(&self.root)
            .stdin(if reads { Stdio::piped() } else { Stdio::null() })
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true);
        command
    }
}

async fn talk(mut child: Child, input: Option<Vec<u8>>, most: usize) -> Result<Printed, ToolError> {
    let failed = |error: std::io::Error| {
        let why = crate::fs::cause::cause(&error);
        ToolError::Reply(format!("What the git program printed cannot be read: {why}."))
    };
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let write = async {
        if let (Some(mut stdin), Some(input)) = (stdin, input) {
            // A git that does not read to the end has its reasons, and says them.
            let _ = stdin.write_all(&input).await;
        }
    };
    let read = async {
        let mut bytes = Vec::new();
        if let Some(mut stdout) = stdout {
            let more = u64::try_from(most).unwrap_or(u64::MAX).saturating_add(1);
            (&mut stdout).take(more).read_to_end(&mut bytes).await?;
        }
        Ok::<_, std::io::Error>(bytes)
    };
    let hear = async {
        let mut words = Vec::new();
        if let Some(mut stderr) = stderr {
            let _ = (&mut stderr).take(MAX_ERROR).read_to_end(&mut words).await;
            // The rest is drained, so that git does not wait for us.
            let _ = tokio::io::copy(&mut stderr, &mut tokio::io::sink()).await;
        }
        words
    };
    let ((), bytes, words) = tokio::join!(write, read, hear);
    let mut bytes: Vec<u8> = bytes.map_err(failed)?;
    let cut = bytes.len() > most;
    if cut {
        bytes.truncate(most);
        return Ok(Printed { bytes, cut });
    }
    if child.wait().await.map_err(failed)?.success() {
        return Ok(Printed { bytes, cut });
    }
    let words = String::from_utf8_lossy(&words);
    Err(ToolError::Reply(format!("git says: {}", words.trim())))
}
