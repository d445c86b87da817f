//! Calls and explanations that Lua asks for: the same way in as a model's calls.

use std::slice;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::agent::core::Core;
use crate::agent::{plan, step};
use crate::host::scope::Scope;
use crate::permission::mode::Mode;
use crate::protocol::event::Event;
use crate::protocol::ids::{CallId, TicketId};
use crate::protocol::message::ToolCall;
use crate::protocol::tool::{CallResult, Outcome};
use crate::tools::dispatch::Place;
use crate::tools::tool::ToolError;

/// A call from Lua.
pub struct LuaCall {
    /// Its number.
    pub ticket: TicketId,
    /// Name or alias.
    pub tool: String,
    /// The arguments.
    pub args: Value,
    /// Limit of the tool's own time.
    pub limit: Duration,
    /// Whether somebody answers approvals.
    pub human: bool,
}

/// Runs the call as a step of its own. The answer is an [`Event::CallFinished`].
pub async fn run(core: Arc<Core>, call: LuaCall, cancel: CancellationToken) -> Event {
    let (step, turn) = (core.next_step(), core.next_turn());
    core.log.step(step, turn);
    let place = Place {
        step,
        turn,
        limit: Some(call.limit),
    };
    let scope = Scope {
        ticket: Some(call.ticket),
        human: call.human,
        ..core.scope(cancel)
    };
    let arguments = if call.args.is_null() {
        String::new()
    } else {
        call.args.to_string()
    };
    let id = CallId(format!("lua_{}", call.ticket));
    let made = ToolCall {
        id,
        name: call.tool,
        arguments,
    };
    let batch = plan::plan(
        &core,
        slice::from_ref(&made),
        &|_| None,
        call.human,
        &scope.cancel,
    )
    .await;
    let finished = step::run_call(&core, &made, place, scope, &batch).await;
    core.log.step_kept(step);
    let blocks = finished
        .media
        .iter()
        .filter_map(|block| serde_json::to_value(block).ok())
        .collect::<Vec<_>>();
    let result = CallResult {
        ok: finished.outcome == Outcome::Ok,
        text: finished.text,
        blocks: (!blocks.is_empty()).then_some(blocks),
        decision: finished.decision.as_str().into(),
    };
    Event::CallFinished {
        ticket: call.ticket,
        result,
    }
}

/// What the gate would say, as [`Event::Explained`].
pub async fn explain(core: Arc<Core>, ticket: TicketId, tool: String, args: Value) {
    let events = Arc::clone(&core.events);
    // Accesses are resolved on the disk.
    let explained = tokio::task::spawn_blocking(move || explanation(&core, &tool, &args)).await;
    let explanation = explained
        .unwrap_or_else(|_| Err(ToolError::fault()))
        .unwrap_or_else(|error| json!({"error": error.to_string()}));
    events.push(Event::Explained { ticket, explanation });
}

fn explanation(core: &Core, name: &str, args: &Value) -> Result<Value, ToolError> {
    let tool = core.registry.find(name)?;
    let arguments = if args.is_null() {
        String::new()
    } else {
        args.to_string()
    };
    let prepared = tool.prepare(&arguments, &core.cwd)?;
    let verdict = core.dispatcher.explain(tool, &prepared);
    let mut explanation = json!({
        "decision": verdict.decision,
        "rule": verdict.rule,
        "layer": verdict.layer,
        "reason": verdict.reason,
    });
    // Who is asked before the person, or instead.
    if let Some(why) = verdict.grave.filter(|_| core.dispatcher.panel.validates()) {
        explanation["validator"] = why.into();
    }
    if verdict.reviewable && core.gate.mode() == Mode::Auto {
        explanation["reviewed"] = true.into();
    }
    if let Some(pattern) = verdict.pattern {
        explanation["pattern"] = pattern.into();
    }
    if let Some(commands) = verdict.commands {
        explanation["commands"] = json!(commands);
    }
    Ok(explanation)
}

/// The answer to a call that failed by a fault of ours.
pub fn fault(ticket: TicketId) -> Event {
    let text = "The call failed by a fault of its own, which is in the log (:Dcode log).".to_owned();
    Event::CallFinished {
        ticket,
        result: CallResult {
            ok: false,
            text,
            blocks: None,
            decision: "deny".into(),
        },
    }
}
