//! One prompt of the person, to rest. The only place that talks to a model.

use std::sync::{Arc, PoisonError};

use futures_util::StreamExt;
use tokio_util::sync::CancellationToken;

use crate::agent::context;
use crate::agent::core::Core;
use crate::agent::feedback;
use crate::agent::loop_guard::{LoopGuard, Verdict};
use crate::agent::step;
use crate::host::scope;
use crate::protocol::event::{Event, TurnEnd, Usage};
use crate::protocol::ids::{CallId, StepIx, TurnId};
use crate::protocol::message::{ToolCall, ToolResult};
use crate::protocol::op::PromptContext;
use crate::provider::{ChatRequest, ProviderError, ProviderErrorKind, StopReason, StreamEvent, TokenCount};

/// What the person wants.
pub struct Prompt {
    /// The turn's number.
    pub turn: TurnId,
    /// The words.
    pub text: String,
    /// Where the person is.
    pub context: PromptContext,
}

/// How a turn ended.
pub struct Ended {
    /// Why.
    pub reason: TurnEnd,
    /// The last text of the model.
    pub text: String,
    /// For errors and limits: what happened and what to type.
    pub message: Option<String>,
}

impl Ended {
    fn new(reason: TurnEnd, text: String) -> Self {
        Self {
            reason,
            text,
            message: None,
        }
    }

    /// A turn that failed by a fault of ours.
    pub fn fault() -> Self {
        let message = "The turn failed by a fault of dcode itself, which is in the log. See :Dcode log.";
        Self {
            reason: TurnEnd::Error,
            text: String::new(),
            message: Some(message.into()),
        }
    }

    fn failed(text: String, error: &ProviderError) -> Self {
        let message = format!("{} {}", error.message, error.hint);
        Self {
            reason: TurnEnd::Error,
            text,
            message: Some(message.trim_end().to_owned()),
        }
    }
}

/// A reply of the model, as far as it came.
#[derive(Default)]
struct Reply {
    text: String,
    reasoning: String,
    calls: Vec<ToolCall>,
    stop: Option<StopReason>,
}

/// Why a reply is not whole.
enum Cut {
    Interrupted,
    Failed(ProviderError),
}

/// Runs a turn until the model has nothing more to do, or something ends it.
pub async fn run_turn(core: &Arc<Core>, prompt: Prompt, cancel: &CancellationToken) -> Ended {
    let mut notes = core.take_notes();
    // What is asked of the editor ends with the turn.
    let scope = || core.scope(cancel.clone());
    notes.extend(scope::within(scope(), feedback::own_edits(core)).await);
    let text = context::user_text(&prompt.text, &prompt.context, &notes, &core.cwd);
    append(core, |history| Some(history.push_user(text).clone()));
    core.dispatcher.effects.prepare();
    let mut guard = LoopGuard::default();
    let mut said = String::new();
    let mut looked = false;
    let limit = core.config.limits.max_steps;
    for _ in 0..limit {
        let step = core.next_step();
        let mut reply = Reply::default();
        let cut = receive(core, prompt.turn, step, &mut reply, cancel).await.err();
        if !reply.text.is_empty() {
            said.clone_from(&reply.text);
        }
        if let Some(cut) = cut {
            // Half a call must not reach the history: pairs live and die together.
            append(core, |history| {
                history.push_assistant(reply.text, reply.reasoning, &[]).cloned()
            });
            return match cut {
                Cut::Interrupted => Ended::new(TurnEnd::Interrupted, said),
                Cut::Failed(error) => Ended::failed(said, &error),
            };
        }
        append(core, |history| {
            history
                .push_assistant(reply.text, reply.reasoning, &reply.calls)
                .cloned()
        });
        if reply.calls.is_empty() {
            return at_rest(reply.stop, said);
        }
        let verdict = guard.judge(&reply.calls);
        if verdict == Verdict::Stop {
            let results = reply
                .calls
                .iter()
                .map(|call| refused(call, "Not run: this turn was ended."));
            let results = results.collect();
            append(core, |history| Some(history.push_results(results).clone()));
            let message = "The model made the same call again and again. Say in other words what you want.";
            return Ended {
                reason: TurnEnd::Loop,
                text: said,
                message: Some(message.into()),
            };
        }
        let skip = |call: &ToolCall| {
            (verdict == Verdict::Warn && guard.repeated(call)).then(|| {
                "Not run: the same call was made three times and its result does not change. Use the \
                 result you have, or go another way."
                    .to_owned()
            })
        };
        if !looked && step::may_change(core, &reply.calls) {
            looked = true;
            scope::within(scope(), feedback::look_around(core)).await;
        }
        let mut results = step::run_calls(core, prompt.turn, step, &reply.calls, &skip, cancel).await;
        let changed = core.snapshots.touched(step).into_iter().map(|(path, ..)| path);
        if let Some(news) = scope::within(scope(), feedback::diagnostics(core, changed.collect())).await
            && let Some(last) = results.last_mut()
        {
            last.text = format!("{}\n\n[{news}]", last.text.trim_end());
        }
        append(core, |history| Some(history.push_results(results).clone()));
        if cancel.is_cancelled() {
            return Ended::new(TurnEnd::Interrupted, said);
        }
    }
    let message = format!("Stopped after {limit} steps. Say `go on` to let it work further.");
    Ended {
        reason: TurnEnd::StepLimit,
        text: said,
        message: Some(message),
    }
}

fn at_rest(stop: Option<StopReason>, said: String) -> Ended {
    let message = match stop {
        Some(StopReason::Length) => "The reply was cut at the model's limit of output. Say `go on`.",
        Some(StopReason::Filtered) => "The provider's filter cut the reply. Say it in other words.",
        _ => return Ended::new(TurnEnd::Done, said),
    };
    Ended {
        reason: TurnEnd::Error,
        text: said,
        message: Some(message.into()),
    }
}

fn refused(call: &ToolCall, why: &str) -> ToolResult {
    ToolResult {
        id: call.id.clone(),
        text: why.into(),
        is_error: true,
        media: Vec::new(),
    }
}

/// Makes the history whole after a turn that failed by a fault of ours: every call has its result.
pub fn mend(core: &Core) {
    append(core, |history| {
        let text = "Not known: dcode failed while it ran. Look before you run it again.";
        history.answer_open_calls(text).cloned()
    });
}

/// Appends to the history and the journal.
fn append(
    core: &Core,
    add: impl FnOnce(&mut crate::agent::history::History) -> Option<crate::protocol::message::Message>,
) {
    let message = add(&mut core.history.lock().unwrap_or_else(PoisonError::into_inner));
    if let Some(message) = message {
        core.log.message(message);
    }
}

/// Sends the conversation and collects the reply.
async fn receive(
    core: &Arc<Core>,
    turn: TurnId,
    step: StepIx,
    reply: &mut Reply,
    cancel: &CancellationToken,
) -> Result<(), Cut> {
    let provider = core.provider().map_err(Cut::Failed)?;
    let messages = core
        .history
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .messages()
        .to_vec();
    let request = ChatRequest {
        system: core.system.clone(),
        messages,
        tools: core.registry.specs(),
    };
    let mut stream = tokio::select! {
        stream = provider.stream(request) => stream.map_err(Cut::Failed)?,
        () = cancel.cancelled() => return Err(Cut::Interrupted),
    };
    loop {
        let event = tokio::select! {
            event = stream.next() => event,
            () = cancel.cancelled() => return Err(Cut::Interrupted),
        };
        match event {
            Some(Ok(event)) => take(core, turn, step, reply, event, provider.context_window()),
            Some(Err(error)) => return Err(Cut::Failed(error)),
            None if reply.stop.is_some() => return Ok(()),
            None => return Err(Cut::Failed(cut_short(provider.name()))),
        }
    }
}

fn cut_short(model: &str) -> ProviderError {
    ProviderError {
        kind: ProviderErrorKind::Network,
        message: format!("The reply of {model} broke off."),
        hint: "Send the prompt again.".into(),
    }
}

fn take(core: &Core, turn: TurnId, step: StepIx, reply: &mut Reply, event: StreamEvent, window: u64) {
    match event {
        StreamEvent::Text(text) => {
            reply.text.push_str(&text);
            core.events.push(Event::TextDelta { turn, text });
        }
        StreamEvent::Reasoning(text) => {
            reply.reasoning.push_str(&text);
            core.events.push(Event::ReasoningDelta { turn, text });
        }
        StreamEvent::ToolCall { id, name, arguments } => {
            let id = unique_id(core, step, &reply.calls, id);
            reply.calls.push(ToolCall { id, name, arguments });
        }
        StreamEvent::Usage(count) => core.events.push(Event::Usage(add_usage(core, count, window))),
        StreamEvent::Done(stop) => reply.stop = Some(stop),
    }
}

/// The provider's id, unless it is empty or known already: some providers number each reply anew.
fn unique_id(core: &Core, step: StepIx, before: &[ToolCall], id: String) -> CallId {
    let id = CallId(id);
    let history = core.history.lock().unwrap_or_else(PoisonError::into_inner);
    if id.0.is_empty() || history.has_call(&id) || before.iter().any(|call| call.id == id) {
        CallId(format!("call_{step}_{}", before.len()))
    } else {
        id
    }
}

fn add_usage(core: &Core, count: TokenCount, window: u64) -> Usage {
    let mut usage = core.usage.lock().unwrap_or_else(PoisonError::into_inner);
    usage.input_tokens += count.input;
    usage.cached_tokens += count.cached;
    usage.output_tokens += count.output;
    usage.context_tokens = count.input + count.output;
    usage.context_window = window;
    usage.requests += 1;
    core.status.usage(*usage);
    *usage
}
