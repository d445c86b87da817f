//! The one way in: parse, permit, snapshot, run, offload. Tools do none of it themselves.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::host::{Editor, EditorError, Human, HumanError, scope};
use crate::offload::OffloadDir;
use crate::permission::access::Access;
use crate::permission::decision::{Decision, Verdict};
use crate::permission::facts::Facts;
use crate::permission::gate::Gate;
use crate::protocol::ids::{StepIx, TurnId};
use crate::protocol::request::{Approval, Choice};
use crate::protocol::tool::{Outcome, ToolClass};
use crate::snapshot::SnapshotStore;
use crate::tools::finished::Finished;
use crate::tools::limits;
use crate::tools::locks::PathLocks;
use crate::tools::registry::{DynTool, Prepared};
use crate::tools::shell_effects::{Seen, ShellEffects};
use crate::tools::tool::{ToolCtx, ToolError, ToolOutput};

/// Tools whose results page by their own caps, and are never offloaded.
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
    /// Sees what commands change.
    pub effects: ShellEffects,
}

/// Runs what looks at the disk (links of paths, globs of a shell line, the person's file) without holding
/// up the other work of its thread.
fn blocking<T>(work: impl FnOnce() -> T) -> T {
    tokio::task::block_in_place(work)
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

/// A call that may run.
struct Permitted {
    prepared: Prepared,
    decision: Decision,
    notice: Option<String>,
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
        let Permitted {
            prepared,
            decision,
            notice,
        } = match self.permit(tool, prepared, &ctx).await {
            Ok(permitted) => permitted,
            Err(refused) => return refused,
        };
        let executes = tool.class() == ToolClass::Execute;
        let watched = if executes {
            self.effects.before().await
        } else {
            Err(None)
        };
        let (result, elapsed) = self.run(prepared, place, &ctx).await;
        let seen = match watched {
            // Also after a stop: what it did until then is the step's.
            Ok(()) => scope::tidying(self.effects.after(&self.snapshots, place, &ctx.cwd)).await,
            Err(notice) => Seen {
                notice,
                ..Seen::default()
            },
        };
        let finished = match result {
            Ok(output) => self.finished(tool.name(), output, decision),
            Err(ToolError::Cancelled) => Finished {
                decision,
                ..Finished::cancelled()
            },
            Err(ToolError::Denied { reason }) => {
                Finished::without_run(Outcome::Denied, reason, "denied", decision)
            }
            Err(error @ ToolError::TimedOut(_)) => {
                Finished::without_run(Outcome::Failed, error.to_string(), "timed out", decision)
            }
            Err(ToolError::Reply(text)) => Finished::without_run(Outcome::Failed, text, "failed", decision),
        };
        let mut changed = finished.changed;
        changed.extend(seen.changed);
        Finished {
            elapsed,
            notice: notice.or(seen.notice),
            changed,
            ..finished
        }
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
    ) -> Result<Permitted, Finished> {
        let permitted = |prepared, decision, notice| Permitted {
            prepared,
            decision,
            notice,
        };
        let facts = facts(tool, &prepared);
        let human = self.human.present();
        let verdict = blocking(|| self.gate.decide(&facts, human));
        // Where somebody is there and nothing is asked, nothing can be offered either.
        let matters = verdict.decision == Decision::Ask || (verdict.decision == Decision::Allow && !human);
        let unsaved = if tool.class() == ToolClass::Execute && matters {
            self.unsaved().await
        } else {
            Vec::new()
        };
        match verdict.decision {
            Decision::Allow => {
                // Nobody is there to save them: the command must see what the tools have written.
                let notice = if human { None } else { self.save(unsaved).await };
                return Ok(permitted(prepared, Decision::Allow, notice));
            }
            Decision::Deny => return Err(Finished::denied_by_rule(&verdict)),
            Decision::Ask => {}
        }
        let mut approval = approval(tool, &prepared, &verdict, prepared.preview(ctx.clone()).await);
        approval.unsaved.clone_from(&unsaved);
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
            return Err(Finished::denied_by_person(answer.feedback.as_deref()));
        }
        let Some(args) = answer.args else {
            // An answer that cannot be kept must not stop the call that the person has just allowed.
            let kept = blocking(|| self.gate.remember(&facts, answer.decision));
            let kept = kept.err().map(|error| error.to_string());
            let wanted = if answer.save { unsaved } else { Vec::new() };
            let notice = kept.or(self.save(wanted).await);
            return Ok(permitted(prepared, Decision::Ask, notice));
        };
        let edited = tool
            .prepare(&args.to_string(), &ctx.cwd)
            .map_err(|error| Finished::unfit(&error))?;
        let facts = self::facts(tool, &edited);
        let verdict = blocking(|| self.gate.decide(&facts, human));
        if verdict.decision == Decision::Deny {
            return Err(Finished::denied_by_rule(&verdict));
        }
        let wanted = if answer.save { unsaved } else { Vec::new() };
        let notice = self.save(wanted).await;
        Ok(permitted(edited, Decision::Ask, notice))
    }

    /// The buffers whose text a command would not see.
    async fn unsaved(&self) -> Vec<PathBuf> {
        // Without the editor's word there is nothing to offer.
        let buffers = self.editor.unsaved().await.unwrap_or_default();
        buffers.into_iter().map(|buffer| buffer.path).collect()
    }

    /// Writes buffers; a sentence for the person on those that could not be written.
    async fn save(&self, paths: Vec<PathBuf>) -> Option<String> {
        if paths.is_empty() {
            return None;
        }
        match self.editor.save(paths).await {
            Ok(failed) if failed.is_empty() => None,
            Ok(failed) => {
                let told = failed.iter().map(|file| {
                    let name = file.path.file_name().unwrap_or_default().to_string_lossy();
                    format!("{name} is not saved: {}.", file.reason)
                });
                Some(told.collect::<Vec<_>>().join(" "))
            }
            Err(error) => Some(format!("The buffers are not saved: {error}")),
        }
    }

    /// Runs a call that is permitted; also gives the time that the tool itself took.
    async fn run(
        &self,
        prepared: Prepared,
        place: Place,
        ctx: &ToolCtx,
    ) -> (Result<ToolOutput, ToolError>, Duration) {
        let paths = changed_paths(&prepared);
        let _held = tokio::select! {
            held = self.locks.acquire(paths.clone()) => held,
            () = ctx.cancel.cancelled() => return (Err(ToolError::Cancelled), Duration::ZERO),
        };
        if let Err(error) = self.capture(place, &paths).await {
            return (Err(error), Duration::ZERO);
        }
        let clock = scope::clock();
        let started = clock.worked();
        let result = limits::run(prepared, ctx, place.limit, &clock).await;
        let elapsed = clock.worked().saturating_sub(started);
        self.effects.written(&paths);
        // Also after a stop: without the state that the call left, undo could not know it for ours.
        scope::tidying(self.finish(place, &paths)).await;
        (result, elapsed)
    }

    async fn capture(&self, place: Place, paths: &[PathBuf]) -> Result<(), ToolError> {
        let mut found = Vec::with_capacity(paths.len());
        for path in paths {
            let buffer = self.editor.read_buffer(path).await.map_err(|error| match error {
                EditorError::Cancelled => ToolError::Cancelled,
                other => ToolError::Reply(other.to_string()),
            })?;
            found.push((path.clone(), buffer));
        }
        let store = Arc::clone(&self.snapshots);
        let captured = tokio::task::spawn_blocking(move || {
            let files = found
                .iter()
                .map(|(path, buffer)| (path.as_path(), buffer.as_ref()));
            let captured = store.capture_all(place.step, place.turn, files);
            captured.map_err(|error| error.to_string())
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
            // Where the state afterwards is not known, undo refuses this file with words, unless it holds
            // what it held before.
            if let Ok(buffer) = self.editor.read_buffer(path).await {
                found.push((path.clone(), buffer.map(|buffer| buffer.text)));
            }
        }
        let store = Arc::clone(&self.snapshots);
        let done = tokio::task::spawn_blocking(move || {
            let files = found.iter().map(|(path, text)| (path.as_path(), text.as_deref()));
            store.finish_all(place.step, files)
        });
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
            notice: None,
        }
    }
}

fn changed_paths(prepared: &Prepared) -> Vec<PathBuf> {
    let changed = prepared.access.iter().filter_map(Access::changed_path);
    changed.map(Path::to_path_buf).collect()
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
    let paths = outermost(changed_paths(prepared));
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
        unsaved: Vec::new(),
    }
}

/// The paths that lie in no other one of them: of a directory that goes its name says it all, and the
/// preview lists what is in it.
fn outermost(paths: Vec<PathBuf>) -> Vec<PathBuf> {
    let all: HashSet<PathBuf> = paths.iter().cloned().collect();
    let within = |path: &Path| path.ancestors().skip(1).any(|above| all.contains(above));
    paths.into_iter().filter(|path| !within(path)).collect()
}
