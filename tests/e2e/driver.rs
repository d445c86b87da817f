//! A running Neovim of a test's own: driven by keys as a person would, watched through its screen.
//! Nothing here sleeps: every wait ends with the event it waits for, or fails after [`PATIENCE`] and
//! shows the screen.

use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use nvim_rs::compat::tokio::Compat;
use nvim_rs::{Handler, Neovim as Rpc, UiAttachOptions};
use rmpv::Value;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tempfile::TempDir;
use tokio::process::{Child, ChildStdin, Command};
use tokio::sync::{Mutex, watch};

use crate::grid::Screen;
use crate::neovims::Neovim;
use crate::setup::MARK;

/// How long anything may take.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// Waits until `holds`, for what sends no event (processes, files); fails after [`PATIENCE`].
pub async fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let asked = async {
        let mut tick = tokio::time::interval(Duration::from_millis(5));
        while !holds() {
            tick.tick().await;
        }
    };
    assert!(
        tokio::time::timeout(PATIENCE, asked).await.is_ok(),
        "waited in vain: {what}"
    );
}

/// A running Neovim; it is killed when dropped. A test that fails prints its last screen.
pub struct Nvim {
    rpc: Rpc<Compat<ChildStdin>>,
    child: Child,
    pid: u32,
    screen: watch::Receiver<Arc<Screen>>,
    folder: TempDir,
    neovim: Neovim,
}

impl Nvim {
    /// Runs `command` and attaches a UI of `size` columns and rows. `folder` is removed in the end.
    pub async fn launch(mut command: Command, size: (i64, i64), neovim: Neovim, folder: TempDir) -> Self {
        let (screen, handler) = ScreenHandler::new();
        let started = nvim_rs::create::tokio::new_child_cmd(&mut command, handler).await;
        let (rpc, _io, child) = started.expect("Neovim starts");
        let nvim = Self {
            rpc,
            pid: child.id().expect("Neovim runs"),
            child,
            screen,
            folder,
            neovim,
        };
        // Neovim reads its configuration only when a UI is there.
        let mut ui = UiAttachOptions::new();
        ui.set_rgb(true)
            .set_linegrid_external(true)
            .set_hlstate_external(true);
        nvim.within("ui_attach", nvim.rpc.ui_attach(size.0, size.1, &ui))
            .await
            .expect("a UI");
        nvim
    }

    /// Which Neovim this is.
    pub fn neovim(&self) -> &Neovim {
        &self.neovim
    }

    /// The project's folder, which is the working directory.
    pub fn project(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    /// The home of this Neovim's person.
    pub fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// The bytes of a file of the project, as they are on the disk.
    pub fn on_disk(&self, path: &str) -> String {
        std::fs::read_to_string(self.project().join(path)).expect("a file of the project")
    }

    /// Types keys, in the notation of `:help key-notation`. It does not wait for their effect.
    pub async fn input(&self, keys: &str) {
        self.within("input", self.rpc.input(keys))
            .await
            .expect("keys are taken");
    }

    /// Runs an Ex command; an error fails the test.
    pub async fn command(&self, command: &str) {
        let done = self.within(command, self.rpc.command(command)).await;
        done.unwrap_or_else(|error| panic!("{command}: {error}"));
    }

    /// Runs Lua and gives what it returns; an error fails the test. `arguments` are its `...`.
    pub async fn lua_with<T: DeserializeOwned>(&self, code: &str, arguments: &impl Serialize) -> T {
        let arguments = match rmpv::ext::to_value(arguments).expect("arguments are data") {
            Value::Array(arguments) => arguments,
            Value::Nil => Vec::new(),
            single => vec![single],
        };
        let done = self.within(code, self.rpc.exec_lua(code, arguments)).await;
        let value = done.unwrap_or_else(|error| panic!("{code}\n{error}"));
        rmpv::ext::from_value(value.clone()).unwrap_or_else(|error| panic!("{code}\ngave {value}: {error}"))
    }

    /// [`Self::lua_with`] no arguments.
    pub async fn lua<T: DeserializeOwned>(&self, code: &str) -> T {
        self.lua_with(code, &()).await
    }

    /// The screen at the last flush.
    pub fn screen(&self) -> Arc<Screen> {
        Arc::clone(&self.screen.borrow())
    }

    /// Waits until `text` stands on the screen, in one row.
    pub async fn wait_for(&self, text: &str) -> Arc<Screen> {
        self.wait_until(&format!("{text:?} on the screen"), |screen| {
            screen.find(text).is_some()
        })
        .await
    }

    /// Waits until `text` is gone from the screen.
    pub async fn wait_gone(&self, text: &str) -> Arc<Screen> {
        self.wait_until(&format!("{text:?} gone"), |screen| screen.find(text).is_none())
            .await
    }

    /// Waits for a screen that `accept` takes; `what` names it where it does not come.
    pub async fn wait_until(&self, what: &str, accept: impl FnMut(&Screen) -> bool) -> Arc<Screen> {
        match self.try_wait(PATIENCE, accept).await {
            Ok(screen) => screen,
            Err(why) => panic!(
                "waited in vain for {what}: {why}; the screen:\n{}",
                self.framed_screen()
            ),
        }
    }

    /// The same with a limit of one's own; the reason where none comes.
    pub async fn try_wait(
        &self,
        limit: Duration,
        mut accept: impl FnMut(&Screen) -> bool,
    ) -> Result<Arc<Screen>, &'static str> {
        let mut screens = self.screen.clone();
        let accepted = async {
            screens
                .wait_for(|screen| accept(screen))
                .await
                .map(|screen| Arc::clone(&screen))
        };
        match tokio::time::timeout(limit, accepted).await {
            Ok(Ok(screen)) => Ok(screen),
            Ok(Err(_)) => Err("Neovim has ended"),
            Err(_) => Err("it did not come in time"),
        }
    }

    /// Waits until the Lua expression is neither nil nor false.
    pub async fn wait_for_lua(&self, expression: &str) {
        // Asked from outside, so that Neovim's own loop runs as it does for a person.
        let asked = async {
            let mut tick = tokio::time::interval(Duration::from_millis(5));
            while !self.lua::<bool>(&format!("return not not ({expression})")).await {
                tick.tick().await;
            }
        };
        if tokio::time::timeout(PATIENCE, asked).await.is_err() {
            panic!(
                "waited in vain for {expression}; the screen:\n{}",
                self.framed_screen()
            );
        }
    }

    /// The mode, which Neovim tells once it has taken the keys before it.
    pub async fn mode(&self) -> String {
        let mode = self
            .within("get_mode", self.rpc.get_mode())
            .await
            .expect("a mode");
        let name = mode
            .into_iter()
            .find(|(key, _)| key.as_str() == Some("mode"))
            .expect("a mode")
            .1;
        name.as_str().expect("a name").to_owned()
    }

    /// The process.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Waits until the process has ended.
    pub async fn exit(&mut self) -> ExitStatus {
        let ended = tokio::time::timeout(PATIENCE, self.child.wait()).await;
        ended
            .unwrap_or_else(|_| panic!("Neovim does not end:\n{}", self.framed_screen()))
            .expect("a status")
    }

    /// Ends the process as `kill -9` does.
    pub async fn kill(&mut self) {
        self.child.kill().await.expect("it is killed");
    }

    /// Home and project, for another Neovim. Only for one that has ended.
    pub fn take_folder(&mut self) -> TempDir {
        let empty = tempfile::tempdir().expect("a temporary folder");
        std::mem::replace(&mut self.folder, empty)
    }

    /// The processes besides Neovim that it or its children left running: id and command line. Linux only.
    /// The watchdog has an empty environment, but says in its arguments whose it is.
    pub fn leftovers(&self) -> Vec<String> {
        let mark = format!("{MARK}={}", self.home().display());
        let watchdog = format!("DCODE_CHILD={}-", self.pid);
        let processes = std::fs::read_dir("/proc")
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|entry| {
                let pid: u32 = entry.file_name().to_str()?.parse().ok()?;
                let environment = std::fs::read(entry.path().join("environ")).ok()?;
                let marked = environment
                    .split(|byte| *byte == 0)
                    .any(|variable| variable == mark.as_bytes());
                let command = std::fs::read(entry.path().join("cmdline")).ok()?;
                let command = String::from_utf8_lossy(&command).replace('\0', " ");
                let ours = marked || command.contains(&watchdog);
                (ours && pid != self.pid).then(|| format!("{pid} {command}"))
            });
        processes.collect()
    }

    /// Memory that the process holds, in KiB. Linux only.
    pub fn memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid())).expect("a status");
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("VmRSS:"))
            .expect("a size");
        line.trim().trim_end_matches(" kB").parse().expect("a number")
    }

    async fn within<T>(&self, what: &str, call: impl Future<Output = T>) -> T {
        let done = tokio::time::timeout(PATIENCE, call).await;
        done.unwrap_or_else(|_| panic!("no answer to {what}; the screen:\n{}", self.framed_screen()))
    }

    /// The screen for a person who reads a failure.
    pub fn framed_screen(&self) -> String {
        let lines = self.screen().lines().into_iter().map(|line| format!("│{line}\n"));
        lines.collect::<String>()
    }
}

impl Drop for Nvim {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!(
                "the last screen of Neovim {}:\n{}",
                self.neovim.series,
                self.framed_screen()
            );
        }
    }
}

/// Decodes what Neovim draws; each flush is published.
#[derive(Clone)]
struct ScreenHandler {
    drawn: Arc<Mutex<Screen>>,
    shown: Arc<watch::Sender<Arc<Screen>>>,
}

impl ScreenHandler {
    fn new() -> (watch::Receiver<Arc<Screen>>, Self) {
        let (sender, receiver) = watch::channel(Arc::default());
        (
            receiver,
            Self {
                drawn: Arc::default(),
                shown: Arc::new(sender),
            },
        )
    }
}

#[async_trait]
impl Handler for ScreenHandler {
    type Writer = Compat<ChildStdin>;

    async fn handle_notify(&self, name: String, batch: Vec<Value>, _: Rpc<Self::Writer>) {
        if name == "redraw" {
            let mut screen = self.drawn.lock().await;
            if screen.redraw(&batch) {
                self.shown.send_replace(Arc::new(screen.clone()));
            }
        }
    }
}
