//! The one way in: parse, permit, snapshot, run, offload. Tools do none of it themselves.

use std::collections::HashSet;
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::FutureExt;

use crate::host::{Editor, Human, HumanError};
use crate::offload::OffloadDir;
use crate::permission::access::Access;
use crate::permission::decision::{Decision, Verdict};
use crate::permission::facts::Facts;
use crate::permission::gate::Gate;
use crate::protocol::ids::{StepIx, TurnId};
use crate::protocol::message::Block;
use crate::protocol::request::{Approval, Choice};
use crate::protocol::tool::Outcome;
use crate::snapshot::SnapshotStore;
use crate::tools::locks::PathLocks;
use crate::tools::registry::{DynTool, Prepared};
use crate::tools::tool::{ToolCtx, ToolError, ToolOutput};

/// How long a tool may take to wind up after it was cancelled, before it is dropped.
const GRACE: Duration = Duration::from_secs(2);

/// Tools whose results page by their own caps, and are never offloaded (row U15).
const SELF_PAGED: [&str; 4] = ["read_file", "ls", "glob", "grep"];

/// What every call passes through. One a session; children share it.
pub struct Dispatcher {
    /// Judges calls.
    pub gate: Arc<Gate>,
    /// Is asked.
    pub human: Arc<dyn Human>,
    /// Knows the unsaved text, for snapshots.
    pub editor: Arc<dyn Editor>,
    /// Keeps what was there before.
    pub snapshots: Arc<SnapshotStore>,
    /// Takes results that are too long.
    pub offload: Arc<OffloadDir>,
    /// One writer a path.
    pub locks: PathLocks,
}

/// Where in the session a call belongs.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// The step, the unit of undo.
    pub step: StepIx,
    /// The turn.
    pub turn: TurnId,
    /// Limit of the tool's own time, without the time that the person takes.
    pub limit: Option<Duration>,
}

/// How a call ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Finished {
    /// In a word.
    pub outcome: Outcome,
    /// What the model reads.
    pub text: String,
    /// Media that go with it.
    pub media: Vec<Block>,
    /// A few words for the person.
    pub summary: String,
    /// Files that were changed.
    pub changed: Vec<PathBuf>,
    /// What the gate said.
    pub decision: Decision,
    /// The tool's own time.
    pub elapsed: Duration,
}

impl Finished {
    /// A call that did not run because its arguments did not fit or there is no such tool.
    pub fn unfit(error: &ToolError) -> Self {
        Self::without_run(Outcome::Failed, error.to_string(), "not run", Decision::Allow)
    }

    /// A call that the turn's stop overtook.
    pub fn cancelled() -> Self {
        let text = "Interrupted by the person before it was done.".to_owned();
        Self::without_run(Outcome::Cancelled, text, "interrupted", Decision::Allow)
    }

    fn without_run(outcome: Outcome, text: String, summary: &str, decision: Decision) -> Self {
        Self {
            outcome,
            text,
            media: Vec::new(),
            summary: summary.into(),
            changed: Vec::new(),
            decision,
            elapsed: Duration::ZERO,
        }
    }
}

impl Dispatcher {
    /// Takes a prepared call through the gate, the snapshot and its run.
    pub async fn dispatch(
        &self,
        tool: &Arc<dyn DynTool>,
        prepared: Prepared,
        place: Place,
        ctx: ToolCtx,
    ) -> Finished {
        let (prepared, decision) = match self.permit(tool, prepared, &ctx).await {
            Ok(permitted) => permitted,
            Err(refused) => return refused,
        };
        let started = Instant::now();
        let result = self.run(prepared, place, &ctx).await;
        let elapsed = started.elapsed();
        let finished = match result {
            Ok(output) => self.finished(tool.name(), output, decision),
            Err(ToolError::Cancelled) => Finished {
                decision,
                ..Finished::cancelled()
            },
            Err(ToolError::Denied { reason }) => {
                Finished::without_run(Outcome::Denied, reason, "denied", decision)
            }
            Err(ToolError::Reply(text)) => Finished::without_run(Outcome::Failed, text, "failed", decision),
        };
        Finished { elapsed, ..finished }
    }

    /// What the gate says of a call; nothing runs and nobody is asked.
    pub fn explain(&self, tool: &Arc<dyn DynTool>, prepared: &Prepared) -> Verdict {
        self.gate.explain(&facts(tool, prepared))
    }

    /// The call as it may run, or how it ended.
    async fn permit(
        &self,
        tool: &Arc<dyn DynTool>,
        prepared: Prepared,
        ctx: &ToolCtx,
    ) -> Result<(Prepared, Decision), Finished> {
        let facts = facts(tool, &prepared);
        let verdict = self.gate.decide(&facts, self.human.present());
        match verdict.decision {
            Decision::Allow => return Ok((prepared, Decision::Allow)),
            Decision::Deny => return Err(denied_by_rule(&verdict)),
            Decision::Ask => {}
        }
        let approval = approval(tool, &prepared, &verdict, prepared.preview(ctx.clone()).await);
        let answer = match self.human.approve(approval).await {
            Ok(answer) => answer,
            Err(HumanError::Cancelled) => {
                return Err(Finished {
                    decision: Decision::Ask,
                    ..Finished::cancelled()
                });
            }
            Err(HumanError::Absent) => {
                let text = format!(
                    "Not run: {} Nobody is there to be asked. Go on without it, or say what the person \
                     should allow.",
                    verdict.reason
                );
                return Err(Finished::without_run(
                    Outcome::Denied,
                    text,
                    "denied",
                    Decision::Deny,
                ));
            }
        };
        if answer.decision == Choice::Deny || !verdict.choices.contains(&answer.decision) {
            return Err(denied_by_person(answer.feedback.as_deref()));
        }
        let Some(args) = answer.args else {
            // An answer that cannot be kept must not stop the call that the person has just allowed.
            if let Err(error) = self.gate.remember(&facts, answer.decision) {
                (ctx.progress)(format!("{error}"));
            }
            return Ok((prepared, Decision::Ask));
        };
        let edited = tool
            .prepare(&args.to_string(), &ctx.cwd)
            .map_err(|error| Finished::unfit(&error))?;
        let verdict = self
            .gate
            .decide(&self::facts(tool, &edited), self.human.present());
        if verdict.decision == Decision::Deny {
            return Err(denied_by_rule(&verdict));
        }
        Ok((edited, Decision::Ask))
    }

    async fn run(&self, prepared: Prepared, place: Place, ctx: &ToolCtx) -> Result<ToolOutput, ToolError> {
        let paths: Vec<PathBuf> = prepared
            .access
            .iter()
            .filter_map(|access| access.changed_path().map(Path::to_path_buf))
            .collect();
        let _held = self.locks.acquire(paths.clone()).await;
        self.capture(place, &paths).await?;
        // The person may have taken a while to answer. What came to be touched since was neither judged nor
        // kept.
        if !paths.is_empty() && prepared.access_now(&ctx.cwd)? != prepared.access {
            return Err(ToolError::Reply(
                "Nothing was done: what lies at these paths changed while the call waited. Look again, and make the \
                 call again if it is still right."
                    .into(),
            ));
        }
        let cancel = ctx.cancel.child_token();
        let ctx = ToolCtx {
            cancel: cancel.clone(),
            ..ctx.clone()
        };
        let mut run = Box::pin(AssertUnwindSafe(prepared.run(ctx)).catch_unwind());
        let limit = async {
            match place.limit {
                Some(limit) => tokio::time::sleep(limit).await,
                None => std::future::pending().await,
            }
        };
        let result = tokio::select! {
            result = &mut run => result,
            () = cancel.cancelled() => wind_up(run).await,
            () = limit => {
                cancel.cancel();
                // The tool says Cancelled; whoever set the limit says which limit it was.
                wind_up(run).await
            }
        };
        self.finish(place, &paths).await;
        result.unwrap_or_else(|_panic| {
            Err(ToolError::Reply(
                "The tool failed by a fault of its own, which is in the log. Go another way.".into(),
            ))
        })
    }

    async fn capture(&self, place: Place, paths: &[PathBuf]) -> Result<(), ToolError> {
        let mut found = Vec::with_capacity(paths.len());
        for path in paths {
            let buffer = self.editor.read_buffer(path).await.map_err(|error| match error {
                crate::host::EditorError::Cancelled => ToolError::Cancelled,
                other => ToolError::Reply(other.to_string()),
            })?;
            found.push((path.clone(), buffer));
        }
        let store = Arc::clone(&self.snapshots);
        let captured = tokio::task::spawn_blocking(move || {
            let files = found
                .iter()
                .map(|(path, buffer)| (path.as_path(), buffer.as_ref()));
            store
                .capture_all(place.step, place.turn, files)
                .map_err(|error| error.to_string())
        });
        let captured = captured.await.unwrap_or_else(|error| Err(error.to_string()));
        captured.map_err(|error| {
            ToolError::Reply(format!(
                "Nothing was changed, because it could not be kept for undo: {error}"
            ))
        })
    }

    async fn finish(&self, place: Place, paths: &[PathBuf]) {
        let mut found = Vec::with_capacity(paths.len());
        for path in paths {
            let buffer = self.editor.read_buffer(path).await.ok().flatten();
            found.push((path.clone(), buffer.map(|buffer| buffer.text)));
        }
        let store = Arc::clone(&self.snapshots);
        let done = tokio::task::spawn_blocking(move || {
            let files = found.iter().map(|(path, text)| (path.as_path(), text.as_deref()));
            store.finish_all(place.step, files)
        });
        // Without the state afterwards, undo refuses these files with words: it cannot know what changed them.
        let _ = done.await;
    }

    fn finished(&self, tool: &str, output: ToolOutput, decision: Decision) -> Finished {
        let text = if SELF_PAGED.contains(&tool) {
            output.text
        } else {
            self.offload.fit(tool, output.text)
        };
        Finished {
            outcome: if output.failed {
                Outcome::Failed
            } else {
                Outcome::Ok
            },
            text,
            media: output.media,
            summary: output.summary,
            changed: output.changed,
            decision,
            elapsed: Duration::ZERO,
        }
    }
}

async fn wind_up<T>(
    run: impl Future<Output = std::thread::Result<Result<T, ToolError>>>,
) -> std::thread::Result<Result<T, ToolError>> {
    tokio::time::timeout(GRACE, run)
        .await
        .unwrap_or(Ok(Err(ToolError::Cancelled)))
}

fn facts<'a>(tool: &'a Arc<dyn DynTool>, prepared: &'a Prepared) -> Facts<'a> {
    Facts {
        tool: tool.name(),
        class: tool.class(),
        access: &prepared.access,
    }
}

fn approval(
    tool: &Arc<dyn DynTool>,
    prepared: &Prepared,
    verdict: &Verdict,
    diff: Option<String>,
) -> Approval {
    let changed = || prepared.access.iter().filter_map(Access::changed_path);
    let all: HashSet<&Path> = changed().collect();
    // Of a directory that goes its name says it all; the preview lists what is in it.
    let within = |path: &Path| path.ancestors().skip(1).any(|above| all.contains(&above));
    let paths: Vec<PathBuf> = changed()
        .filter(|path| !within(path))
        .map(Path::to_path_buf)
        .collect();
    Approval {
        tool: tool.name().into(),
        title: prepared.title.clone(),
        reason: verdict.reason.clone(),
        rule: verdict.rule.clone(),
        commands: verdict.commands.clone(),
        paths: (!paths.is_empty()).then_some(paths),
        diff,
        choices: verdict.choices.clone(),
        pattern: verdict.pattern.clone(),
    }
}

fn denied_by_rule(verdict: &Verdict) -> Finished {
    let text = format!(
        "Not allowed: {} ({}). Do not try the same another way; go on without it, or ask the person.",
        verdict.reason, verdict.rule
    );
    Finished::without_run(Outcome::Denied, text, "not allowed", Decision::Deny)
}

fn denied_by_person(feedback: Option<&str>) -> Finished {
    let text = match feedback.map(str::trim).filter(|words| !words.is_empty()) {
        Some(words) => format!("The person denied this call and says: {words}"),
        None => {
            "The person denied this call. Do not try it again; go another way, or ask what is wanted.".into()
        }
    };
    Finished::without_run(Outcome::Denied, text, "denied", Decision::Ask)
}
