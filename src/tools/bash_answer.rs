//! What the model reads of a command that ran, runs on or was ended.

use std::time::Duration;

use crate::shell::background::{Look, Running};
use crate::shell::run::{Exit, RunOutput};
use crate::tools::tool::{ToolError, ToolOutput};

/// A command that was waited for; the `notes` say what the sandbox did.
pub fn ended(run: &RunOutput, notes: &[String]) -> Result<ToolOutput, ToolError> {
    let time = seconds(run.elapsed);
    let (first, summary) = match run.exit {
        Exit::Cancelled => return Err(ToolError::Cancelled),
        Exit::TimedOut => {
            let advice =
                "it and all that it started were ended. Give a longer timeout_ms, or run less at once.";
            (
                format!("timed out after {time}: {advice} Output so far:"),
                "timed out".to_owned(),
            )
        }
        exit => (format!("{} in {time}", words(exit)), summary(exit)),
    };
    let mut text = first;
    if run.ended_background {
        text += "\n(what it left running in the background was ended)";
    }
    push_notes(&mut text, notes);
    push_output(&mut text, &run.output);
    Ok(ToolOutput {
        text,
        summary,
        failed: run.exit != Exit::Code(0),
        ..ToolOutput::default()
    })
}

/// A command that was started in the background.
pub fn started(handle: &str, line: &str) -> ToolOutput {
    let first = line.trim().lines().next().unwrap_or_default();
    ToolOutput {
        text: format!(
            "`{first}` runs in the background as {handle}. Look at it with bash{{handle: \"{handle}\", action: \
             \"poll\"}}, end it with action \"stop\". It ends with the session.\n"
        ),
        summary: format!("in the background: {handle}"),
        ..ToolOutput::default()
    }
}

/// A look at a command in the background; the `notes` say what the sandbox did.
pub fn looked(handle: &str, look: &Look, notes: &[String]) -> ToolOutput {
    let time = seconds(look.elapsed);
    let (state, summary, failed) = match &look.ended {
        None => (
            format!("{handle} has run for {time}"),
            format!("{handle} runs"),
            false,
        ),
        Some(Ok(run)) => {
            let failed = !matches!(run.exit, Exit::Code(0) | Exit::Cancelled);
            let how = match run.exit {
                Exit::Cancelled => "stopped".to_owned(),
                exit => words(exit),
            };
            (
                format!("{handle} ended after {time}: {how}"),
                format!("{handle}: {how}"),
                failed,
            )
        }
        Some(Err(error)) => (
            format!("{handle} did not run: {error}"),
            "did not run".into(),
            true,
        ),
    };
    let mut text = format!("{state}. New output:");
    push_notes(&mut text, notes);
    push_output(&mut text, &look.output);
    ToolOutput {
        text,
        summary,
        failed,
        ..ToolOutput::default()
    }
}

/// There is no command with this handle.
pub fn no_handle(handle: &str, running: &[Running]) -> String {
    let list: Vec<String> = running
        .iter()
        .map(|running| {
            format!(
                "{} ({})",
                running.handle,
                running.line.lines().next().unwrap_or_default()
            )
        })
        .collect();
    let list = if list.is_empty() {
        "nothing".to_owned()
    } else {
        list.join(", ")
    };
    format!("There is no command with the handle `{handle}`. In the background runs: {list}.")
}

fn push_notes(text: &mut String, notes: &[String]) {
    for note in notes {
        *text += &format!("\n({note}.)");
    }
}

fn push_output(text: &mut String, output: &str) {
    text.push('\n');
    *text += if output.trim().is_empty() {
        "(no output)"
    } else {
        output
    };
    if !text.ends_with('\n') {
        text.push('\n');
    }
}

fn seconds(elapsed: Duration) -> String {
    format!("{:.1}s", elapsed.as_secs_f64())
}

fn words(exit: Exit) -> String {
    match exit {
        Exit::Signal(signal) => format!("ended by {}", signal_name(signal)),
        exit => summary(exit),
    }
}

fn summary(exit: Exit) -> String {
    match exit {
        Exit::Code(code) => format!("exit {code}"),
        Exit::Signal(signal) => signal_name(signal),
        Exit::TimedOut => "timed out".into(),
        Exit::Cancelled => "stopped".into(),
    }
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
