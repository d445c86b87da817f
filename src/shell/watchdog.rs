//! One small process that ends what a killed Neovim leaves behind.
//!
//! It reads the process groups of running commands from a pipe. When the pipe closes, however Neovim ended,
//! it sends TERM and 300 ms later KILL to what is left. On Linux it also finds, by the mark in the
//! environment, processes that left their group.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::process::Pid;

use super::family::MARK;

/// `$0` is the prefix of all marks. Plain POSIX: dash wants `kill -s TERM -- -GROUP` in this form.
const SCRIPT: &str = r#"
trap '' INT TERM HUP
groups=' '
while read -r line; do
  case $line in
    +*) groups="$groups${line#+} " ;;
    -*) rest=' '; for g in $groups; do [ "$g" = "${line#-}" ] || rest="$rest$g "; done; groups=$rest ;;
  esac
done
signal() {
  for g in $groups; do kill -s "$1" -- "-$g" 2>/dev/null; done
  [ -d /proc/self ] || return 0
  for f in $(grep -lsF "$0" /proc/[0-9]*/environ 2>/dev/null); do
    f=${f#/proc/}; kill -s "$1" "${f%/environ}" 2>/dev/null
  done
}
signal TERM; sleep 0.3 || sleep 1; signal KILL
"#;

/// The watchdog of this Neovim. It starts with the first command.
#[derive(Debug)]
pub struct Watchdog {
    /// Begins the mark of every command.
    token: String,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    process: Option<(Child, ChildStdin)>,
    groups: BTreeSet<i32>,
    runs: u64,
}

impl Default for Watchdog {
    fn default() -> Self {
        Self::new()
    }
}

impl Watchdog {
    /// Starts nothing yet.
    pub fn new() -> Self {
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default()
            .as_nanos();
        Self {
            token: format!("{}-{now:x}.", std::process::id()),
            state: Mutex::default(),
        }
    }

    /// Ends what still runs, as it would after Neovim's death, and the watchdog itself. Returns at once; a
    /// later command starts a new one.
    pub fn shutdown(&self) {
        let mut state = self.state();
        state.groups.clear();
        if let Some((mut process, pipe)) = state.process.take() {
            drop(pipe);
            // Nobody waits for it while Neovim quits; in a longer life it must not stay a zombie.
            std::thread::spawn(move || process.wait());
        }
    }

    /// A mark for the next command; starts the watchdog.
    pub(super) fn next_mark(&self) -> io::Result<String> {
        let mut state = self.state();
        if state.process.is_none() {
            state.process = Some(self.start()?);
        }
        state.runs += 1;
        Ok(format!("{}{}", self.token, state.runs))
    }

    /// Tells it of a group that runs.
    pub(super) fn watch(&self, group: Pid) -> io::Result<()> {
        let mut state = self.state();
        state.groups.insert(group.as_raw_pid());
        let line = format!("+{}\n", group.as_raw_pid());
        let told = match &mut state.process {
            Some((_, pipe)) => pipe.write_all(line.as_bytes()),
            None => Err(io::ErrorKind::BrokenPipe.into()),
        };
        if told.is_ok() {
            return Ok(());
        }
        // Somebody ended it: a new one learns all groups.
        let (process, mut pipe) = self.start()?;
        for group in &state.groups {
            writeln!(pipe, "+{group}")?;
        }
        if let Some((mut old, _)) = state.process.replace((process, pipe)) {
            let _ = old.try_wait();
        }
        Ok(())
    }

    /// Tells it that a group is gone.
    pub(super) fn forget(&self, group: Pid) {
        let mut state = self.state();
        state.groups.remove(&group.as_raw_pid());
        if let Some((_, pipe)) = &mut state.process {
            // If it is dead there is nothing to forget.
            let _ = writeln!(pipe, "-{}", group.as_raw_pid());
        }
    }

    // The pipe's end is close-on-exec (std sees to it), so no other child can hold it open.
    #[allow(clippy::disallowed_methods)] // it must not be in a watched group
    fn start(&self) -> io::Result<(Child, ChildStdin)> {
        let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into());
        let mut process = Command::new("/bin/sh")
            .args(["-c", SCRIPT, &format!("{MARK}={}", self.token)])
            .env_clear()
            .env("PATH", path)
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()?;
        let pipe = process.stdin.take().ok_or(io::ErrorKind::BrokenPipe)?;
        Ok((process, pipe))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
