//! A repository in a temporary folder.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};

use dcode::permission::judge::Shown;
use dcode::protocol::ids::CallId;
use dcode::tools::git::GitService;
use dcode::tools::git_blame::GitBlame;
use dcode::tools::git_diff::GitDiff;
use dcode::tools::git_log::GitLog;
use dcode::tools::git_show::GitShow;
use dcode::tools::tool::{Tool, ToolCtx, ToolError, ToolOutput};
use serde_json::Value;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

pub struct Repository {
    _dir: TempDir,
    pub root: PathBuf,
    pub tools: Tools,
}

/// The four tools over one service, as in a session.
pub struct Tools {
    service: GitService,
    buffers: Arc<Mutex<Vec<(PathBuf, String)>>>,
}

impl Default for Tools {
    fn default() -> Self {
        Self::new(false)
    }
}

impl Tools {
    /// `program`: the git program may answer where libgit2 cannot.
    pub fn new(program: bool) -> Self {
        let buffers: Arc<Mutex<Vec<(PathBuf, String)>>> = Arc::default();
        let seen = Arc::clone(&buffers);
        let service = GitService::new(
            Arc::new(move || {
                let buffers = seen.lock().unwrap().clone();
                Box::pin(async move { buffers })
            }),
            Arc::new(
                |path: &Path| match path.file_name().and_then(|name| name.to_str()) {
                    Some(".env") => Shown::Name,
                    Some("denied") => Shown::Nothing,
                    _ => Shown::Content,
                },
            ),
        );
        let service = service.with_program(program);
        Self { service, buffers }
    }

    /// What is typed and not saved.
    pub fn type_into(&self, path: PathBuf, text: &str) {
        self.buffers.lock().unwrap().push((path, text.to_owned()));
    }

    pub async fn call(&self, name: &str, args: Value, cwd: &Path) -> Result<ToolOutput, ToolError> {
        self.call_until(name, args, cwd, CancellationToken::new()).await
    }

    pub async fn call_until(
        &self,
        name: &str,
        args: Value,
        cwd: &Path,
        cancel: CancellationToken,
    ) -> Result<ToolOutput, ToolError> {
        let ctx = ToolCtx {
            call: CallId("c".into()),
            cwd: cwd.to_owned(),
            cancel,
            progress: Arc::new(|_| {}),
        };
        let service = self.service.clone();
        match name {
            "git_diff" => run(&GitDiff::new(service), args, &ctx).await,
            "git_show" => run(&GitShow::new(service), args, &ctx).await,
            "git_blame" => run(&GitBlame::new(service), args, &ctx).await,
            "git_log" => run(&GitLog::new(service), args, &ctx).await,
            other => panic!("{other}"),
        }
    }
}

async fn run<T: Tool>(tool: &T, args: Value, ctx: &ToolCtx) -> Result<ToolOutput, ToolError> {
    let args: T::Args = serde_json::from_value(args).map_err(|error| ToolError::Reply(error.to_string()))?;
    tool.access(&args, &ctx.cwd)?;
    tool.run(args, ctx).await
}

/// The git program, without the person's settings.
pub fn command(cwd: &Path) -> Command {
    let mut command = Command::new("git");
    command
        .current_dir(cwd)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_AUTHOR_NAME", "Ann")
        .env("GIT_AUTHOR_EMAIL", "ann@example.invalid")
        .env("GIT_COMMITTER_NAME", "Ann")
        .env("GIT_COMMITTER_EMAIL", "ann@example.invalid")
        .env("GIT_AUTHOR_DATE", "1700000000 +0000")
        .env("GIT_COMMITTER_DATE", "1700000000 +0000")
        .env("TZ", "UTC")
        .env("LC_ALL", "C.UTF-8")
        .args(["-c", "core.quotePath=false", "-c", "protocol.file.allow=always"]);
    command
}

/// Its output, as bytes.
pub fn git_bytes(cwd: &Path, args: &[&str]) -> Vec<u8> {
    let output = command(cwd).args(args).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "git {args:?}: {errors}");
    output.stdout
}

/// Its output.
pub fn git(cwd: &Path, args: &[&str]) -> String {
    String::from_utf8_lossy(&git_bytes(cwd, args)).into_owned()
}

impl Repository {
    /// An empty one, on the branch `main`.
    pub fn new() -> Self {
        Self::with(&["-b", "main"])
    }

    /// An empty one; `options` are for `git init`.
    pub fn with(options: &[&str]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let args: Vec<&str> = ["init", "-q"].iter().chain(options).copied().collect();
        git(&root, &args);
        Self {
            _dir: dir,
            root,
            tools: Tools::default(),
        }
    }

    /// Merges a branch, which must end in a conflict.
    pub fn conflict_with(&self, branch: &str) {
        let merged = command(&self.root)
            .args(["merge", "-q", branch])
            .output()
            .unwrap();
        assert!(!merged.status.success());
    }

    pub fn git(&self, args: &[&str]) -> String {
        git(&self.root, args)
    }

    pub fn write(&self, path: &str, bytes: impl AsRef<[u8]>) {
        let path = self.root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    /// Commits all that is there; gives the whole name.
    pub fn commit(&self, message: &str) -> String {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", message]);
        self.git(&["rev-parse", "HEAD"]).trim().to_owned()
    }

    pub async fn text(&self, tool: &str, args: Value) -> String {
        let called = self.tools.call(tool, args, &self.root).await;
        called.unwrap_or_else(|error| panic!("{tool}: {error}")).text
    }

    pub async fn error(&self, tool: &str, args: Value) -> String {
        let called = self.tools.call(tool, args.clone(), &self.root).await;
        match called {
            Ok(output) => panic!("{tool} {args}: {}", output.text),
            Err(error) => error.to_string(),
        }
    }
}
