//! How a test's Neovim is started: with the checkout as its only plugin, an empty home and a project of
//! its own.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use tempfile::TempDir;
use tokio::io::AsyncWriteExt as _;
use tokio::process::{Child, Command};

use crate::driver::{Nvim, PATIENCE};
use crate::model_server::ModelServer;
use crate::neovims::Neovim;

/// Every process that a test's Neovim starts inherits this variable; its value is the test's home.
pub const MARK: &str = "DCODE_TEST_HOME";

/// How a Neovim is to be started. The defaults: 80 columns, 24 rows, dark, an empty project.
#[derive(Clone, Debug)]
pub struct Setup {
    size: (i64, i64),
    before: Vec<String>,
    files: Vec<(PathBuf, String)>,
    open: Option<PathBuf>,
    env: Vec<(String, String)>,
}

/// A Neovim that has ended.
#[derive(Debug)]
pub struct Finished {
    /// Its exit code.
    pub code: Option<i32>,
    /// What it wrote.
    pub stdout: String,
    /// What it wrote there.
    pub stderr: String,
    folder: TempDir,
}

impl Finished {
    /// The project's folder.
    pub fn project(&self) -> PathBuf {
        self.folder.path().join("project")
    }
}

impl Setup {
    /// The defaults.
    pub fn new() -> Self {
        Self {
            size: (80, 24),
            before: Vec::new(),
            files: Vec::new(),
            open: None,
            env: Vec::new(),
        }
    }

    /// Columns and rows.
    pub fn size(mut self, columns: i64, rows: i64) -> Self {
        self.size = (columns, rows);
        self
    }

    /// A command that runs before plugins are loaded, such as `lua vim.g.dcode = { … }`.
    pub fn before(mut self, command: &str) -> Self {
        self.before.push(command.to_owned());
        self
    }

    /// `light` or `dark`.
    pub fn background(self, background: &str) -> Self {
        self.before(&format!("set background={background}"))
    }

    /// Configures the plugin to talk to `model`; `more` is further Lua for the same table, such as
    /// `mode = 'yolo',`.
    pub fn model(self, model: &ModelServer, more: &str) -> Self {
        let provider = format!(
            "{{ wire = 'openai', base_url = '{}', api_key_env = 'MOCK_KEY' }}",
            model.base_url()
        );
        self.before(&format!(
            "lua vim.g.dcode = {{ model = 'mock:any', providers = {{ mock = {provider} }}, {more} }}"
        ))
        .env("MOCK_KEY", "a key for tests")
    }

    /// A file of the project, with its text.
    pub fn file(mut self, path: &str, text: &str) -> Self {
        self.files.push((path.into(), text.to_owned()));
        self
    }

    /// A file of the person's home, with its text.
    pub fn home_file(self, path: &str, text: &str) -> Self {
        self.file(&format!("../home/{path}"), text)
    }

    /// The file that is open at the start.
    pub fn open(mut self, path: &str) -> Self {
        self.open = Some(path.into());
        self
    }

    /// A variable of the environment.
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Starts it. The working directory is a new project, outside any repository.
    pub async fn start(&self, neovim: &Neovim) -> Nvim {
        let folder = self.folder().await;
        let (home, project) = (folder.path().join("home"), folder.path().join("project"));
        let mut command = self.command(neovim, &home, &project);
        command.arg("--embed").args(&self.open).stderr(Stdio::inherit());
        Nvim::launch(command, self.size, neovim.clone(), folder).await
    }

    /// Starts it in the home and the project that another Neovim left; no files are made.
    pub async fn start_in(&self, folder: TempDir, neovim: &Neovim) -> Nvim {
        let (home, project) = (folder.path().join("home"), folder.path().join("project"));
        let mut command = self.command(neovim, &home, &project);
        command.arg("--embed").args(&self.open).stderr(Stdio::inherit());
        Nvim::launch(command, self.size, neovim.clone(), folder).await
    }

    /// Runs it without a screen to its end, with `arguments` and with `input` on stdin.
    pub async fn run(&self, neovim: &Neovim, arguments: &[&str], input: &str) -> Finished {
        let folder = self.folder().await;
        let (home, project) = (folder.path().join("home"), folder.path().join("project"));
        let mut command = self.command(neovim, &home, &project);
        command
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("Neovim starts");
        let mut stdin = child.stdin.take().expect("a pipe");
        // It may end without reading.
        stdin.write_all(input.as_bytes()).await.ok();
        drop(stdin);
        let ended = tokio::time::timeout(PATIENCE, child.wait_with_output()).await;
        let output = ended.expect("it ends in time").expect("its output");
        Finished {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).expect("UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("UTF-8"),
            folder,
        }
    }

    /// Starts Neovim without a terminal; what it prints is dropped.
    pub async fn spawn(&self, neovim: &Neovim, arguments: &[&str]) -> (Child, TempDir) {
        let folder = self.folder().await;
        let (home, project) = (folder.path().join("home"), folder.path().join("project"));
        let mut command = self.command(neovim, &home, &project);
        command.args(arguments);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        (command.spawn().expect("Neovim starts"), folder)
    }

    /// A folder with an empty home and the project.
    async fn folder(&self) -> TempDir {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (home, project) = (folder.path().join("home"), folder.path().join("project"));
        for folder in [&home, &project] {
            std::fs::create_dir(folder).expect("a folder");
        }
        for (path, text) in &self.files {
            let path = project.join(path);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            tokio::fs::write(path, text).await.expect("a file of the project");
        }
        folder
    }

    fn command(&self, neovim: &Neovim, home: &Path, project: &Path) -> Command {
        let checkout = env!("CARGO_MANIFEST_DIR");
        let mut command = Command::new(&neovim.path);
        command.args(["--clean", "-n", "--cmd", &format!("set runtimepath^={checkout}")]);
        for before in &self.before {
            command.args(["--cmd", before]);
        }
        command.current_dir(project).env_clear().kill_on_drop(true);
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.envs([
            ("LANG", "C.UTF-8"),
            ("TERM", "xterm-256color"),
            ("SHELL", "/bin/sh"),
        ]);
        command
            .env("HOME", home)
            .env(MARK, home)
            .env("NVIM_LOG_FILE", home.join("nvim.log"));
        for kind in ["CONFIG", "DATA", "STATE", "CACHE", "RUNTIME"] {
            let name = if kind == "RUNTIME" {
                "XDG_RUNTIME_DIR".to_owned()
            } else {
                format!("XDG_{kind}_HOME")
            };
            command.env(name, home.join(kind.to_lowercase()));
        }
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
        command
    }
}
