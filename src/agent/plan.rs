//! Looking at the calls of a step before the first runs.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::agent::core::Core;
use crate::permission::mode::Mode;
use crate::protocol::message::ToolCall;
use crate::tools::batch::{Batch, Planned};

/// What the gate, and in the mode `auto` the reviewer, say of `calls` as things stand now. Calls that `skip`
/// answers are left out.
///
/// A call alone needs no look ahead, but for the reviewer; without a person there is nobody to show several
/// calls to, and no reviewer.
pub async fn plan(
    core: &Core,
    calls: &[ToolCall],
    skip: &(dyn Fn(&ToolCall) -> Option<String> + Sync),
    human: bool,
    cancel: &CancellationToken,
) -> Batch {
    let alone = calls.len() < 2 && core.gate.mode() != Mode::Auto;
    if !human || alone || cancel.is_cancelled() {
        return Batch::default();
    }
    let look = |call: &ToolCall| {
        let tool = core.registry.find(&call.name).ok()?;
        let prepare = || tool.prepare(&call.arguments, &core.cwd);
        // A tool that fails by a fault of its own is answered where it would run.
        let prepared = catch_unwind(AssertUnwindSafe(prepare)).ok()?.ok()?;
        Some(Planned {
            call: call.id.clone(),
            tool: Arc::clone(tool),
            prepared,
        })
    };
    let wanted = calls.iter().filter(|call| skip(call).is_none());
    let planned = tokio::task::block_in_place(|| wanted.filter_map(look).collect());
    core.dispatcher.plan(planned, human, cancel).await
}
