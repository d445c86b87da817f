//! The tool `bash`: one shell line, waited for or in the background.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use crate::permission::access::Access;
use crate::protocol::request::Side;
use crate::protocol::tool::ToolClass;
use crate::shell::background::Background;
use crate::shell::env::Shell;
use crate::shell::run::{RunSpec, run};
use crate::shell::watchdog::Watchdog;
use crate::tools::bash_answer;
use crate::tools::bash_walls::Enclosure;
use crate::tools::tool::{Tool, ToolCtx, ToolError, ToolOutput};

const LONGEST_TIMEOUT: Duration = Duration::from_secs(3600);
/// How long a command in the background may run when the call does not say.
const IN_BACKGROUND: Duration = Duration::from_secs(24 * 3600);
/// How long a look at a command may wait for its end.
const LONGEST_WAIT: Duration = Duration::from_secs(60);
/// The longest title, in characters.
const TITLE: usize = 200;

/// Runs shell lines for the model.
pub struct Bash {
    shell: Shell,
    watchdog: Arc<Watchdog>,
    secrets: Vec<String>,
    timeout: Duration,
    background: Arc<Background>,
    enclosure: Enclosure,
}

impl Bash {
    /// A tool that runs lines in `shell`, each for at most `timeout` unless the call says otherwise; a
    /// program does not see the environment variables named in `secrets`. Nothing stands around the lines, and
    /// nobody hears of those in the background.
    pub fn new(shell: Shell, watchdog: Arc<Watchdog>, secrets: Vec<String>, timeout: Duration) -> Self {
        let background = Background::new(Arc::clone(&watchdog), &CancellationToken::new(), Arc::new(|_| {}));
        Self {
            shell,
            watchdog,
            secrets,
            timeout,
            background,
            enclosure: Enclosure::Open,
        }
    }

    /// Keeps what runs in the background there.
    pub fn with_background(self, background: Arc<Background>) -> Self {
        Self { background, ..self }
    }

    /// Runs the lines within these walls.
    pub fn within(self, enclosure: Enclosure) -> Self {
        Self { enclosure, ..self }
    }
}

/// What is done with a command in the background.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// Its new output, and whether it still runs.
    #[default]
    Poll,
    /// It is ended with all that it started.
    Stop,
}

/// The arguments.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Args {
    /// The shell line. Not with `handle`.
    #[serde(default)]
    pub command: String,
    /// Default: 120000, at most 3600000.
    #[serde(default)]
    pub timeout_ms: Option<i64>,
    /// The same in seconds, for who calls it so.
    #[serde(default)]
    #[schemars(skip)]
    pub timeout: Option<f64>,
    /// Return at once with a handle.
    #[serde(default)]
    pub background: bool,
    /// Of a command in the background.
    #[serde(default)]
    pub handle: Option<String>,
    /// With `handle`: `poll` (default) gives new output, with timeout_ms after waiting for the end; `stop` ends it.
    #[serde(default)]
    pub action: Option<Action>,
    /// Run it outside of the sandbox, where a result said so.
    #[serde(default)]
    pub unsandboxed: bool,
}

impl Args {
    fn given_timeout(&self) -> Option<Duration> {
        let milliseconds = self
            .timeout_ms
            .and_then(|ms| u64::try_from(ms).ok())
            .map(Duration::from_millis);
        let seconds = self
            .timeout
            .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        milliseconds.or(seconds).filter(|timeout| !timeout.is_zero())
    }
}

#[async_trait]
impl Tool for Bash {
    type Args = Args;

    fn name(&self) -> &'static str {
        "bash"
    }

    fn class(&self) -> ToolClass {
        ToolClass::Execute
    }

    fn description(&self) -> &'static str {
        include_str!("text/bash.md")
    }

    fn title(&self, args: &Args) -> String {
        if let Some(handle) = &args.handle {
            return match args.action.unwrap_or_default() {
                Action::Poll => format!("poll {handle}"),
                Action::Stop => format!("stop {handle}"),
            };
        }
        let mut lines = args.command.trim().lines();
        let first: String = lines.next().unwrap_or_default().chars().take(TITLE).collect();
        let more = if lines.next().is_some() { " …" } else { "" };
        let background = if args.background { " &" } else { "" };
        format!("{first}{more}{background}")
    }

    fn access(&self, args: &Args, _cwd: &Path) -> Result<Vec<Access>, ToolError> {
        let empty = args.command.trim().is_empty();
        match &args.handle {
            Some(_) if !empty => Err(ToolError::Reply(
                "Give a command or a handle, not both. A command in the background is looked at with its handle alone."
                    .into(),
            )),
            // A line that runs nothing.
            Some(_) => Ok(vec![Access::Run(String::new())]),
            None if empty => Err(ToolError::Reply(
                "The command is empty. Give the shell line to run.".into(),
            )),
            None => {
                let outside = (args.unsandboxed && self.enclosure.exists()).then_some(Access::OutsideSandbox);
                Ok(std::iter::once(Access::Run(args.command.clone())).chain(outside).collect())
            }
        }
    }

    fn sandbox(&self, args: &Args) -> Option<Side> {
        let side = if args.unsandboxed {
            Side::Outside
        } else {
            Side::Inside
        };
        (self.enclosure.exists() && args.handle.is_none()).then_some(side)
    }

    async fn preview(&self, args: &Args, _ctx: &ToolCtx) -> Option<String> {
        args.handle.is_none().then(|| args.command.clone())
    }

    async fn run(&self, args: Args, ctx: &ToolCtx) -> Result<ToolOutput, ToolError> {
        if let Some(handle) = &args.handle {
            return self.look(handle, &args, ctx).await;
        }
        let busy = !self.background.running().is_empty();
        let around = self
            .enclosure
            .around(&args.command, args.unsandboxed, &ctx.cwd, busy)?;
        let spec = RunSpec {
            timeout: match args.given_timeout() {
                Some(timeout) if args.background => timeout,
                Some(timeout) => timeout.min(LONGEST_TIMEOUT),
                None if args.background => IN_BACKGROUND,
                None => self.timeout.min(LONGEST_TIMEOUT),
            },
            line: args.command,
            shell: self.shell.clone(),
            cwd: ctx.cwd.clone(),
            secrets: self.secrets.clone(),
            before: around.words.clone(),
            tap: None,
        };
        if args.background {
            let line = spec.line.clone();
            let handle = self.background.start(spec).map_err(ToolError::Reply)?;
            return Ok(bash_answer::started(&handle, &line));
        }
        let line = spec.line.clone();
        let output = run(spec, &ctx.cancel, &*ctx.progress, &self.watchdog)
            .await
            .map_err(|error| ToolError::Reply(error.to_string()))?;
        let mut notes = self.enclosure.hold().await;
        notes.extend(around.hint(&output, &line));
        bash_answer::ended(&output, &notes)
    }
}

impl Bash {
    async fn look(&self, handle: &str, args: &Args, ctx: &ToolCtx) -> Result<ToolOutput, ToolError> {
        let wait = args.given_timeout().unwrap_or_default().min(LONGEST_WAIT);
        let look = async {
            match args.action.unwrap_or_default() {
                Action::Poll => self.background.poll(handle, wait).await,
                Action::Stop => self.background.stop(handle).await,
            }
        };
        let look = tokio::select! {
            look = look => look,
            () = ctx.cancel.cancelled() => return Err(ToolError::Cancelled),
        };
        let Some(look) = look else {
            return Err(ToolError::Reply(bash_answer::no_handle(
                handle,
                &self.background.running(),
            )));
        };
        Ok(bash_answer::looked(handle, &look, &self.enclosure.hold().await))
    }
}
