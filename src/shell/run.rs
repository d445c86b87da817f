//! Runs one shell line to its end, whatever it does.

use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};
use thiserror::Error;
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;
use tokio::process::{Child, Command};
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::background::Tap;
use super::env::{self, Shell};
use super::family::{Family, MARK};
use super::output::OutputBuffer;
use super::watchdog::Watchdog;
use crate::fs::cause::cause;

/// Between TERM and KILL.
const GRACE: Duration = Duration::from_millis(300);
/// How long the dead may take to be gone, after KILL.
const AFTER_KILL: Duration = Duration::from_millis(500);
/// Between two looks at a family that shall end.
const LOOK: Duration = Duration::from_millis(20);
/// Between two reports of progress.
const PROGRESS: Duration = Duration::from_millis(100);
/// A program's last output is complete when nothing came for this long after its end.
const QUIET: Duration = Duration::from_millis(20);
/// The system takes no longer argument (128 KiB with its NUL, on Linux).
const LONGEST_LINE: usize = 120 << 10;

/// What to run.
#[derive(Clone, Debug)]
pub struct RunSpec {
    /// The line, given to the shell with `-c`.
    pub line: String,
    /// The shell.
    pub shell: Shell,
    /// Where it runs.
    pub cwd: PathBuf,
    /// After this it is ended.
    pub timeout: Duration,
    /// Names of environment variables that it must not see, such as those of the providers' keys.
    pub secrets: Vec<String>,
    /// Words before the shell: a program that runs it, with its arguments. None when empty.
    pub before: Vec<OsString>,
    /// Is given the output as it comes, too.
    pub tap: Option<Tap>,
}

impl RunSpec {
    /// An empty line in `/` with two minutes.
    pub fn new(shell: Shell) -> Self {
        Self {
            line: String::new(),
            shell,
            cwd: PathBuf::from("/"),
            timeout: Duration::from_secs(120),
            secrets: Vec::new(),
            before: Vec::new(),
            tap: None,
        }
    }
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// With this code.
    Code(i32),
    /// By this signal, which was not ours.
    Signal(i32),
    /// It was ended at its timeout.
    TimedOut,
    /// It was ended because the turn was stopped.
    Cancelled,
}

/// What a run gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunOutput {
    /// How it ended.
    pub exit: Exit,
    /// Both streams in the order of writing; no escape sequences or control characters but tab and newline.
    /// Where the middle of very long output was dropped, a line says so.
    pub output: String,
    /// Lines dropped.
    pub dropped_lines: u64,
    /// Bytes dropped, as printed.
    pub dropped_bytes: u64,
    /// The shell ended by itself and left processes in its session, which were ended then.
    pub ended_background: bool,
    /// From start to end.
    pub elapsed: Duration,
}

/// Why a line did not run. The texts are for the model: they say what to do next.
#[derive(Debug, Error)]
pub enum RunError {
    /// There is no such folder.
    #[error("The folder {} does not exist: create it or run the command elsewhere.", .0.display())]
    NoFolder(PathBuf),
    /// A NUL cannot be given to a program.
    #[error("The command holds a NUL character: remove it.")]
    Nul,
    /// Longer than the system allows.
    #[error("The command is {0} bytes long, more than the system allows: write it to a file and run that.")]
    TooLong(usize),
    /// The shell did not start.
    #[error("The shell {} did not start: {reason}.", shell.display())]
    Start {
        /// The program.
        shell: PathBuf,
        /// In words.
        reason: String,
    },
}

/// Runs a line and waits for its end; on timeout and cancel all that it started is ended, also what ignores
/// TERM or holds the output open, and the call returns within half a second.
///
/// What the shell leaves running when it ends by itself is ended, too. `progress` is given the last lines at
/// most ten times a second. Needs a tokio runtime with I/O and time. If the future is dropped, the family is
/// killed.
pub async fn run(
    spec: RunSpec,
    cancel: &CancellationToken,
    progress: &(dyn Fn(String) + Send + Sync),
    watchdog: &Watchdog,
) -> Result<RunOutput, RunError> {
    check(&spec)?;
    let started = Instant::now();
    let mut running = start(&spec, watchdog).map_err(|error| RunError::Start {
        shell: spec.shell.program().to_path_buf(),
        reason: cause(&error),
    })?;
    let end = running.watch(spec.timeout, cancel, progress).await;
    let mut ended_background = false;
    let exit = match end {
        End::Exited(status) => {
            running.read_rest().await;
            ended_background = running.family.lives_anywhere();
            if ended_background {
                running.stop().await;
            } else {
                running.gone = true;
            }
            match (status.code(), status.signal()) {
                (Some(code), _) => Exit::Code(code),
                (None, signal) => Exit::Signal(signal.unwrap_or_default()),
            }
        }
        End::TimedOut => {
            running.stop().await;
            Exit::TimedOut
        }
        End::Cancelled => {
            running.stop().await;
            Exit::Cancelled
        }
    };
    let cleaned = std::mem::replace(&mut running.output.kept, OutputBuffer::new()).finish();
    Ok(RunOutput {
        exit,
        output: cleaned.text,
        dropped_lines: cleaned.dropped_lines,
        dropped_bytes: cleaned.dropped_bytes,
        ended_background,
        elapsed: started.elapsed(),
    })
}

fn check(spec: &RunSpec) -> Result<(), RunError> {
    if spec.line.contains('\0') {
        return Err(RunError::Nul);
    }
    if spec.line.len() > LONGEST_LINE {
        return Err(RunError::TooLong(spec.line.len()));
    }
    if !spec.cwd.is_dir() {
        return Err(RunError::NoFolder(spec.cwd.clone()));
    }
    Ok(())
}

fn start<'a>(spec: &RunSpec, watchdog: &'a Watchdog) -> io::Result<Running<'a>> {
    let mark = watchdog.next_mark()?;
    // One pipe for both streams keeps their order.
    let (reader, writer) = io::pipe()?;
    let mut command = match spec.before.split_first() {
        Some((first, rest)) => {
            let mut command = Command::new(first);
            command.args(rest).arg(spec.shell.program());
            command
        }
        None => Command::new(spec.shell.program()),
    };
    // A line that begins with `-` would be an option.
    command.arg("-c").arg(format!(" {}", spec.line));
    command
        .current_dir(&spec.cwd)
        .stdin(Stdio::null())
        .stdout(writer.try_clone()?)
        .stderr(writer);
    for (name, value) in env::changes(&spec.secrets) {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command.env(MARK, &mark);
    lead_session(&mut command);
    let child = command.spawn()?;
    // It holds our ends of the pipe for writing.
    drop(command);
    let leader = child
        .id()
        .and_then(|id| i32::try_from(id).ok())
        .and_then(Pid::from_raw)
        .ok_or_else(|| io::Error::other("it has no process id"))?;
    let running = Running {
        family: Family { leader, mark },
        child,
        pipe: Some(pipe::Receiver::from_owned_fd(OwnedFd::from(reader))?),
        output: Output {
            kept: OutputBuffer::new(),
            tap: spec.tap.clone(),
        },
        chunk: vec![0; 64 << 10],
        watchdog,
        gone: false,
    };
    // From here on, dropping `running` ends the family.
    watchdog.watch(leader)?;
    Ok(running)
}

/// A session of its own: a process group for signals, and no terminal, so that a password prompt fails at
/// once instead of drawing over Neovim and stopping on SIGTTIN.
#[allow(unsafe_code)] // the safe `process_group` leaves the child on Neovim's terminal
fn lead_session(command: &mut Command) {
    let setsid = || rustix::process::setsid().map(drop).map_err(io::Error::from);
    // SAFETY: the closure runs between fork and exec, where only async-signal-safe calls are allowed: it
    // makes the one system call setsid(2) and allocates nothing.
    unsafe {
        command.pre_exec(setsid);
    }
}

enum End {
    Exited(ExitStatus),
    TimedOut,
    Cancelled,
}

/// Where output goes.
struct Output {
    kept: OutputBuffer,
    tap: Option<Tap>,
}

impl Output {
    fn push(&mut self, bytes: &[u8]) {
        self.kept.push(bytes);
        if let Some(tap) = &self.tap {
            tap.push(bytes);
        }
    }
}

/// A command that runs. Dropping it kills the family.
struct Running<'a> {
    family: Family,
    child: Child,
    /// `None` once it is closed.
    pipe: Option<pipe::Receiver>,
    output: Output,
    chunk: Vec<u8>,
    watchdog: &'a Watchdog,
    /// All of the family was seen to be gone.
    gone: bool,
}

impl Running<'_> {
    /// Until the shell ends, the time is over or the turn is stopped.
    async fn watch(
        &mut self,
        limit: Duration,
        cancel: &CancellationToken,
        progress: &(dyn Fn(String) + Send + Sync),
    ) -> End {
        let deadline = sleep(limit);
        tokio::pin!(deadline);
        let mut report = interval(PROGRESS);
        report.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut fresh = false;
        loop {
            tokio::select! {
                biased;
                () = cancel.cancelled() => return End::Cancelled,
                () = &mut deadline => return End::TimedOut,
                // An error means that somebody else waited for it: it is gone all the same.
                status = self.child.wait() => return End::Exited(status.unwrap_or_default()),
                _ = report.tick(), if fresh => {
                    fresh = false;
                    progress(self.output.kept.progress());
                }
                () = read(&mut self.pipe, &mut self.chunk, &mut self.output) => fresh = true,
            }
        }
    }

    /// What the shell wrote before it ended; a background process that goes on writing is not waited for.
    async fn read_rest(&mut self) {
        let until_quiet = async {
            while self.pipe.is_some() {
                let next = read(&mut self.pipe, &mut self.chunk, &mut self.output);
                if timeout(QUIET, next).await.is_err() {
                    break;
                }
            }
        };
        let _ = timeout(GRACE, until_quiet).await;
    }

    /// TERM, then KILL; returns when nothing lives, or after the grace of both.
    async fn stop(&mut self) {
        for (signal, patience) in [(Signal::TERM, GRACE), (Signal::KILL, AFTER_KILL)] {
            let strays = self.family.signal(signal);
            if timeout(patience, self.until_gone(&strays)).await.is_ok() {
                // One may have forked while it was looked for; KILL looks again.
                if signal == Signal::KILL || self.family.signal(Signal::KILL).is_empty() {
                    self.gone = true;
                    break;
                }
            }
        }
        self.read_rest().await;
    }

    async fn until_gone(&mut self, strays: &[Pid]) {
        let mut look = interval(LOOK);
        loop {
            tokio::select! {
                _ = look.tick() => {
                    // Reaps it, so that it does not count as living.
                    let _ = self.child.try_wait();
                    if !self.family.lives(strays) {
                        return;
                    }
                }
                // Its last words; a full pipe would also keep it from ending.
                () = read(&mut self.pipe, &mut self.chunk, &mut self.output) => {}
            }
        }
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if !self.gone && self.family.lives_anywhere() {
            self.family.signal(Signal::KILL);
        }
        self.watchdog.forget(self.family.leader);
    }
}

/// One read; never ready once the pipe is closed. Safe to drop: a read that was not ready took nothing.
async fn read(pipe: &mut Option<pipe::Receiver>, chunk: &mut [u8], output: &mut Output) {
    let Some(open) = pipe else {
        return std::future::pending().await;
    };
    match open.read(chunk).await {
        Ok(0) | Err(_) => *pipe = None,
        Ok(count) => output.push(chunk.get(..count).unwrap_or_default()),
    }
}
