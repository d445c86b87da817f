//! One prompt of the person, to rest.

use std::sync::{Arc, PoisonError};

use tokio_util::sync::CancellationToken;

use crate::agent::compact::{self, Why};
use crate::agent::core::Core;
use crate::agent::feedback;
use crate::agent::history::History;
use crate::agent::loop_guard::{LoopGuard, Verdict};
use crate::agent::prompt;
use crate::agent::reply::{self, Cut, Place, Reply};
use crate::agent::step;
use crate::host::scope;
use crate::protocol::event::{Event, TurnEnd};
use crate::protocol::ids::TurnId;
use crate::protocol::message::{Message, Role, ToolCall, ToolResult};
use crate::protocol::op::PromptContext;
use crate::provider::{ProviderError, ProviderErrorKind, StopReason};

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

    /// What stands in the history where the model said nothing.
    fn in_place_of_a_word(&self) -> &'static str {
        match self.reason {
            TurnEnd::Interrupted => "[The person stopped this before there was an answer.]",
            TurnEnd::Error => "[There was no answer: the request failed.]",
            TurnEnd::StepLimit | TurnEnd::Loop => "[This was ended here.]",
            TurnEnd::Done => "[No answer.]",
        }
    }
}

/// Runs a turn until the model has nothing more to do, or something ends it.
pub async fn run_turn(core: &Arc<Core>, prompt: Prompt, cancel: &CancellationToken) -> Ended {
    core.dispatcher.panel.hear(&prompt.text);
    // What is asked of the editor ends with the turn.
    let own = scope::within(core.scope(cancel.clone()), feedback::own_edits(core)).await;
    let blocks = prompt::blocks(core, &prompt.text, &prompt.context, own);
    append(core, |history| Some(history.push_user(blocks).clone()));
    core.dispatcher.effects.prepare();
    let ended = work(core, prompt.turn, cancel).await;
    let word = ended.in_place_of_a_word();
    append(core, |history| history.close(word).cloned());
    ended
}

async fn work(core: &Arc<Core>, turn: TurnId, cancel: &CancellationToken) -> Ended {
    // Taken once a prompt: within a turn every request begins with the same bytes.
    let prefix = core.prefix();
    let mut guard = LoopGuard::default();
    let mut said = String::new();
    let mut looked = false;
    let scope = || core.scope(cancel.clone());
    let limit = core.config.limits.max_steps;
    let mut shortened = false;
    for _ in 0..limit {
        if !the_person_spoke_last(core) {
            take_words(core, turn);
        }
        if compact::due(core, &prefix) {
            compact::compact(core, &prefix, Why::Full, cancel).await;
        }
        let step = core.next_step();
        let mut reply = Reply::default();
        let cut = reply::receive(core, &prefix, Place { turn, step }, &mut reply, cancel)
            .await
            .err();
        let text = reply.text();
        if !text.is_empty() {
            said = text;
        }
        if let Some(cut) = cut {
            append(core, |history| {
                history.push_assistant(reply.into_cut_blocks()).cloned()
            });
            return match cut {
                Cut::Interrupted => Ended::new(TurnEnd::Interrupted, said),
                Cut::Failed(error) => {
                    // Once a turn: what is too long after that will not get shorter.
                    let too_long = error.kind == ProviderErrorKind::ContextTooLong;
                    if too_long
                        && !std::mem::replace(&mut shortened, true)
                        && compact::compact(core, &prefix, Why::TooLong, cancel).await
                    {
                        continue;
                    }
                    Ended::failed(said, &error)
                }
            };
        }
        let (calls, stop) = (reply.calls(), reply.stop);
        append(core, |history| {
            history.push_assistant(reply.into_blocks()).cloned()
        });
        if calls.is_empty() {
            if stop == Some(StopReason::End) && !cancel.is_cancelled() && take_words(core, turn) {
                continue;
            }
            return at_rest(stop, said);
        }
        let verdict = guard.judge(&calls);
        if verdict == Verdict::Stop {
            let results = calls
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
        if !looked && step::may_change(core, &calls) {
            looked = true;
            scope::within(scope(), feedback::look_around(core)).await;
        }
        let mut results = step::run_calls(core, turn, step, &calls, &skip, cancel).await;
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

/// Then nothing of theirs is added: two messages of the person in a row are refused by some servers.
fn the_person_spoke_last(core: &Core) -> bool {
    let history = core.history.lock().unwrap_or_else(PoisonError::into_inner);
    let last = history.messages().last();
    last.is_some_and(|last| last.role == Role::User)
}

/// Hands the model what the person said meanwhile; false when that is nothing.
fn take_words(core: &Core, turn: TurnId) -> bool {
    let mut blocks = Vec::new();
    for words in core.waiting.take_words() {
        core.dispatcher.panel.hear(&words.text);
        blocks.extend(prompt::added(core, &words.text, &words.context));
        let text = words.text;
        core.events.push(Event::WordsTaken { turn, text });
    }
    if blocks.is_empty() {
        return false;
    }
    append(core, |history| Some(history.push_user(blocks).clone()));
    true
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

/// Makes the history whole after a turn that failed by a fault of ours: every call has its result, and the
/// model the last word.
pub fn mend(core: &Core) {
    append(core, |history| {
        let text = "Not known: dcode failed while it ran. Look before you run it again.";
        history.answer_open_calls(text).cloned()
    });
    append(core, |history| {
        history.close("[This was ended by a fault of dcode.]").cloned()
    });
}

/// Appends to the history and the journal.
fn append(core: &Core, add: impl FnOnce(&mut History) -> Option<Message>) {
    let message = add(&mut core.history.lock().unwrap_or_else(PoisonError::into_inner));
    if let Some(message) = message {
        core.log.message(message);
    }
}
