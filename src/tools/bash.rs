//! The tool `bash`: one shell line.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::permission::access::Access;
use crate::protocol::tool::ToolClass;
use crate::shell::env::Shell;
use crate::shell::run::{Exit, RunOutput, RunSpec, run};
use crate::shell::watchdog::Watchdog;
use crate::tools::tool::{Tool, ToolCtx, ToolError, ToolOutput};

const LONGEST_TIMEOUT: Duration = Duration::from_secs(3600);
/// The longest title, in characters.
const TITLE: usize = 200;

/// Runs shell lines for the model.
pub struct Bash {
    shell: Shell,
    watchdog: Arc<Watchdog>,
    secrets: Vec<String>,
    timeout: Duration,
}

impl Bash {
    /// A tool that runs lines in `shell`, each for at most `timeout` unless the call says otherwise; a
    /// program does not see the environment variables named in `secrets`.
    pub fn new(shell: Shell, watchdog: Arc<Watchdog>, secrets: Vec<String>, timeout: Duration) -> Self {
        Self {
            shell,
            watchdog,
            secrets,
            timeout,
        }
    }
}

/// The arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// The shell line. It may have several lines.
    pub command: String,
    /// After how many milliseconds the command is ended. Default: 120000.
    #[serde(default)]
    pub timeout_ms: Option<i64>,
    /// The same in seconds, for who calls it so.
    #[serde(default)]
    #[schemars(skip)]
    pub timeout: Option<f64>,
}

impl Args {
    fn timeout(&self, default: Duration) -> Duration {
        let milliseconds = self
            .timeout_ms
            .and_then(|ms| u64::try_from(ms).ok())
            .map(Duration::from_millis);
        let seconds = self
            .timeout
            .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        milliseconds
            .or(seconds)
            .filter(|timeout| !timeout.is_zero())
            .unwrap_or(default)
            .min(LONGEST_TIMEOUT)
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
        let mut lines = args.command.trim().lines();
        let first: String = lines.next().unwrap_or_default().chars().take(TITLE).collect();
        if lines.next().is_some() {
            format!("{first} …")
        } else {
            first
        }
    }

    fn access(&self, args: &Args, _cwd: &Path) -> Result<Vec<Access>, ToolError> {
        if args.command.trim().is_empty() {
            return Err(ToolError::Reply(
                "The command is empty. Give the shell line to run.".into(),
            ));
        }
        Ok(vec![Access::Run(args.command.clone())])
    }

    async fn preview(&self, args: &Args, _ctx: &ToolCtx) -> Option<String> {
        Some(args.command.clone())
    }

    async fn run(&self, args: Args, ctx: &ToolCtx) -> Result<ToolOutput, ToolError> {
        let spec = RunSpec {
            timeout: args.timeout(self.timeout),
            line: args.command,
            shell: self.shell.clone(),
            cwd: ctx.cwd.clone(),
            secrets: self.secrets.clone(),
        };
        let output = run(spec, &ctx.cancel, &*ctx.progress, &self.watchdog)
            .await
            .map_err(|error| ToolError::Reply(error.to_string()))?;
        answer(&output)
    }
}

fn answer(run: &RunOutput) -> Result<ToolOutput, ToolError> {
    let time = format!("{:.1}s", run.elapsed.as_secs_f64());
    let (first, summary) = match run.exit {
        Exit::Cancelled => return Err(ToolError::Cancelled),
        Exit::Code(code) => (format!("exit {code} in {time}"), format!("exit {code}")),
        Exit::Signal(signal) => {
            let name = signal_name(signal);
            (format!("ended by {name} in {time}"), name)
        }
        Exit::TimedOut => {
            let advice =
                "it and all that it started were ended. Give a longer timeout_ms, or run less at once.";
            (
                format!("timed out after {time}: {advice} Output so far:"),
                "timed out".to_owned(),
            )
        }
    };
    let mut text = first;
    if run.ended_background {
        text += "\n(what it left running in the background was ended)";
    }
    text.push('\n');
    text += if run.output.trim().is_empty() {
        "(no output)"
    } else {
        &run.output
    };
    if !text.ends_with('\n') {
        text.push('\n');
    }
    Ok(ToolOutput {
        text,
        summary,
        failed: run.exit != Exit::Code(0),
        ..ToolOutput::default()
    })
}

fn signal_name(signal: i32) -> String {
    let name = match signal {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        6 => "SIGABRT",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        15 => "SIGTERM",
        _ => return format!("signal {signal}"),
    };
    format!("{name} (signal {signal})")
}
