//! The calls of one reply: reads run together, everything else alone and in the model's order.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures_util::stream;
use futures_util::{FutureExt, StreamExt};
use tokio_util::sync::CancellationToken;

use crate::agent::core::Core;
use crate::agent::effects;
use crate::host::scope::{self, Scope};
use crate::protocol::event::{Event, Level};
use crate::protocol::ids::{StepIx, TurnId};
use crate::protocol::message::{ToolCall, ToolResult};
use crate::protocol::tool::{Outcome, ToolClass};
use crate::tools::dispatch::Place;
use crate::tools::finished::Finished;
use crate::tools::registry::canonical;
use crate::tools::tool::{ToolCtx, ToolError};

/// How many reads run at a time.
const READS_TOGETHER: usize = 8;

/// Runs the calls of a step and gives one result a call, in their order, whatever happens.
///
/// `skip` says why a call is answered without running. After a cancel the rest is answered, not run.
pub async fn run_calls(
    core: &Arc<Core>,
    turn: TurnId,
    step: StepIx,
    calls: &[ToolCall],
    skip: &(dyn Fn(&ToolCall) -> Option<String> + Sync),
    cancel: &CancellationToken,
) -> Vec<ToolResult> {
    core.step_begins(step, turn);
    let place = Place {
        step,
        turn,
        limit: None,
    };
    let mut results = Vec::with_capacity(calls.len());
    for group in calls.chunk_by(|one, next| is_read(core, one) && is_read(core, next)) {
        let group = stream::iter(group.iter().cloned()).map(|call| async move {
            if cancel.is_cancelled() {
                return result(&call, Finished::cancelled());
            }
            if let Some(text) = skip(&call) {
                return ToolResult {
                    id: call.id,
                    text,
                    is_error: true,
                    media: Vec::new(),
                };
            }
            let scope = core.scope(cancel.clone());
            let finished = run_call(core, &call, place, scope).await;
            result(&call, finished)
        });
        results.extend(group.buffered(READS_TOGETHER).collect::<Vec<_>>().await);
    }
    core.log.step_kept(step);
    results
}

/// Runs one call and tells the editor of it.
pub async fn run_call(core: &Arc<Core>, call: &ToolCall, place: Place, scope: Scope) -> Finished {
    // Accesses are looked up only now: an earlier call of the step may have moved a file or made a link.
    let prepare = || {
        let tool = core.registry.find(&call.name)?;
        Ok((tool, tool.prepare(&call.arguments, &core.cwd)?))
    };
    let prepared = catch_unwind(AssertUnwindSafe(prepare)).unwrap_or_else(|_| Err(ToolError::fault()));
    let title = match &prepared {
        Ok((_, prepared)) => prepared.title.clone(),
        Err(_) => String::new(),
    };
    let name = canonical(&call.name).to_owned();
    core.events.push(Event::ToolStarted {
        call: call.id.clone(),
        step: place.step,
        tool: name.clone(),
        title,
    });
    let mut open = OpenCall {
        core,
        call,
        name,
        finished: None,
    };
    let finished = match prepared {
        Err(error) => Finished::unfit(&error),
        Ok((tool, prepared)) => {
            let ctx = context(core, call, &scope.cancel);
            let work = scope::within(scope, core.dispatcher.dispatch(tool, prepared, place, ctx));
            let done = AssertUnwindSafe(work).catch_unwind().await;
            done.unwrap_or_else(|_| Finished::unfit(&ToolError::fault()))
        }
    };
    if let Some(notice) = &finished.notice {
        core.notice(Level::Warn, notice.clone(), None);
    }
    if !finished.changed.is_empty() {
        whole_files(core, place.step, finished.changed.clone()).await;
        core.events.push(Event::FilesChanged {
            paths: finished.changed.clone(),
        });
        // After it: a buffer has read its file again when its hunks are looked for.
        core.events.push(Event::HunksChanged {
            paths: finished.changed.clone(),
        });
    }
    open.finished = Some(finished.clone());
    finished
}

/// Lets what no line shows wait for review.
async fn whole_files(core: &Arc<Core>, step: StepIx, paths: Vec<PathBuf>) {
    let core = Arc::clone(core);
    let work = move || effects::review_whole(&core.review, &core.snapshots, step, &paths);
    // A fault there costs the review of these files; their step is undone all the same.
    let _ = tokio::task::spawn_blocking(work).await;
}

/// Says that the call ended, also when the work is dropped half-way.
struct OpenCall<'a> {
    core: &'a Core,
    call: &'a ToolCall,
    name: String,
    finished: Option<Finished>,
}

impl Drop for OpenCall<'_> {
    fn drop(&mut self) {
        let finished = self.finished.take().unwrap_or_else(Finished::cancelled);
        self.core.events.push(Event::ToolFinished {
            call: self.call.id.clone(),
            tool: std::mem::take(&mut self.name),
            outcome: finished.outcome,
            summary: finished.summary,
            text: finished.text,
            elapsed_ms: millis(finished.elapsed),
        });
    }
}

fn context(core: &Arc<Core>, call: &ToolCall, cancel: &CancellationToken) -> ToolCtx {
    let (events, id) = (Arc::clone(&core.events), call.id.clone());
    ToolCtx {
        call: call.id.clone(),
        cwd: core.cwd.clone(),
        cancel: cancel.clone(),
        progress: Arc::new(move |tail| {
            events.push(Event::ToolProgress {
                call: id.clone(),
                tail,
            });
        }),
    }
}

/// Whether one of the calls may change files.
pub fn may_change(core: &Core, calls: &[ToolCall]) -> bool {
    let class = |call: &ToolCall| core.registry.find(&call.name).map(|tool| tool.class());
    calls
        .iter()
        .any(|call| matches!(class(call), Ok(ToolClass::Mutate | ToolClass::Execute)))
}

fn is_read(core: &Core, call: &ToolCall) -> bool {
    core.registry
        .find(&call.name)
        .is_ok_and(|tool| tool.class() == ToolClass::Read)
}

fn result(call: &ToolCall, finished: Finished) -> ToolResult {
    ToolResult {
        id: call.id.clone(),
        text: finished.text,
        is_error: finished.outcome != Outcome::Ok,
        media: finished.media,
    }
}

fn millis(elapsed: Duration) -> u64 {
    u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX)
}
