//! Does it, tells of it, takes it back.

use std::sync::{Arc, PoisonError};

use tokio_util::sync::CancellationToken;

use crate::agent::compact::{fold, meter, summary, trim};
use crate::agent::core::Core;
use crate::agent::prefix::Prefix;
use crate::agent::reply::{self, Cut, Reply};
use crate::protocol::event::{CompactionState, Event};
use crate::protocol::message::Message;
use crate::provider::StreamEvent;
use crate::words::count;

/// What stays behind the summary, in tokens at most.
const TAIL: u64 = 20_000;
/// Trimming alone is enough when it brings the conversation below this part of the limit, in percent.
const ENOUGH: u64 = 60;

/// Why a conversation is compacted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// It came near the window.
    Full,
    /// The provider refused it as too long.
    TooLong,
    /// The person wants it.
    Asked,
}

/// Whether the next request would be too long.
pub fn due(core: &Core, prefix: &Prefix) -> bool {
    let (length, limit) = length_and_limit(core, prefix);
    core.meter().is_due(length, limit)
}

/// How many tokens the next request would have, about, and at how many the conversation is compacted.
pub fn length_and_limit(core: &Core, prefix: &Prefix) -> (u64, u64) {
    let limit = limit(core);
    let meter = core.meter();
    let history = core.history.lock().unwrap_or_else(PoisonError::into_inner);
    let length = meter.length(prefix, history.messages(), history.rewrites().0);
    (length, limit)
}

fn limit(core: &Core) -> u64 {
    let window = core.provider().map_or(0, |provider| provider.context_window());
    meter::limit(window, core.config.limits.compact_at)
}

/// Compacts the conversation in the middle of a turn and tells of it. False when nothing was changed: there was
/// nothing to make shorter, or it was cancelled.
pub async fn compact(core: &Arc<Core>, prefix: &Prefix, why: Why, cancel: &CancellationToken) -> bool {
    let (changed, told) = attempt(core, prefix, why, cancel).await;
    core.events.push(told);
    changed
}

/// Compacts it because the person asked, and gives what is to be told when nothing runs any more.
pub async fn asked(core: &Arc<Core>, cancel: &CancellationToken) -> Event {
    attempt(core, &core.prefix(), Why::Asked, cancel).await.1
}

/// Whether something was changed, and what is to be told of it.
async fn attempt(core: &Arc<Core>, prefix: &Prefix, why: Why, cancel: &CancellationToken) -> (bool, Event) {
    let failed = |message: &str| (false, event(CompactionState::Failed, message.to_owned(), None));
    let (messages, before) = {
        let meter = core.meter();
        let history = core.history.lock().unwrap_or_else(PoisonError::into_inner);
        let length = meter.length(prefix, history.messages(), history.rewrites().0);
        (history.messages().to_vec(), length)
    };
    let target = match why {
        Why::Full => limit(core),
        // Whatever the window is, this is more than it.
        Why::TooLong => before.min(limit(core)),
        Why::Asked => 0,
    };
    let cut = {
        let meter = core.meter();
        // The provider may count more than the estimate says: the same part of the messages stays.
        let room = TAIL.min(target.max(before) / 5);
        let room = room.saturating_mul(meter.estimate(&messages)) / before.max(1);
        fold::cut(&messages, room, &meter)
    };
    let (shorter, trims) = trim::trimmed(&messages, cut);
    if trims > 0 && length(core, prefix, &shorter) <= target / 100 * ENOUGH {
        let message = format!("shortened {}", count(trims, "old result"));
        return (true, settle(core, prefix, shorter, None, before, &message));
    }
    // A summary alone is nothing to be summarised.
    if cut < 2 {
        return failed("There is nothing to compact yet.");
    }
    tell(core, CompactionState::Started, String::new(), None);
    let whole = why != Why::TooLong;
    let old = if whole { &messages } else { &shorter };
    let (words, without) = match ask(core, prefix, old.get(..cut).unwrap_or_default(), cancel).await {
        Ok(words) => (words, None),
        Err(Cut::Interrupted) => {
            return failed("Compacting was stopped; the conversation is as it was.");
        }
        Err(Cut::Failed(error)) => {
            let words = summary::mechanical(messages.get(..cut).unwrap_or_default());
            (words, Some(error.message))
        }
    };
    let now = fold::folded(&messages, cut, &words);
    if why == Why::Asked && length(core, prefix, &now) >= length(core, prefix, &messages) {
        return failed("There is nothing to compact yet: the summary would be longer than what was said.");
    }
    let mut message = count(cut, "message") + " became a summary";
    if let Some(reason) = without {
        let reason = reason.trim_end_matches('.');
        message.push_str(&format!(" that the model could not write ({reason})"));
    }
    (true, settle(core, prefix, now, Some(words), before, &message))
}

/// The model's summary of `old`. The request begins as all others do, so that it costs little.
async fn ask(
    core: &Arc<Core>,
    prefix: &Prefix,
    old: &[Message],
    cancel: &CancellationToken,
) -> Result<String, Cut> {
    let provider = core.provider().map_err(Cut::Failed)?;
    let request = reply::with_messages(prefix, summary::asked(old.to_vec()));
    let mut reply = Reply::default();
    let told = |reply: &mut Reply, event| match event {
        StreamEvent::Text(text) => reply.add_text(&text),
        StreamEvent::Done(stop) => reply.stop = Some(stop),
        // It was told to call nothing; what it thinks is not kept.
        _ => {}
    };
    reply::exchange(
        core,
        provider.as_ref(),
        prefix,
        request,
        &mut reply,
        &told,
        cancel,
    )
    .await?;
    let words = reply.text();
    if words.trim().is_empty() {
        return Ok(summary::mechanical(old));
    }
    Ok(words)
}

/// Puts the new history in the place of the old one, and gives what is to be told.
fn settle(
    core: &Core,
    prefix: &Prefix,
    messages: Vec<Message>,
    summary: Option<String>,
    before: u64,
    what: &str,
) -> Event {
    let after = length(core, prefix, &messages);
    core.log.compacted(&messages, summary.as_deref());
    core.history
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .rewrite(messages);
    core.meter().compacted(after);
    resized(core, after);
    let message = format!(
        "Compacted: {what}, {} → {} tokens. :Dcode compact undo brings it back.",
        thousands(before),
        thousands(after)
    );
    event(CompactionState::Done, message, summary)
}

/// Takes the last compaction back; what was said since stays.
pub fn take_back(core: &Core) {
    let prefix = core.prefix();
    let taken = {
        let mut history = core.history.lock().unwrap_or_else(PoisonError::into_inner);
        history.take_back().then(|| history.messages().to_vec())
    };
    let Some(messages) = taken else {
        let message = "No compaction is left to take back.".into();
        return tell(core, CompactionState::Failed, message, None);
    };
    core.log.compaction_undone();
    let after = length(core, &prefix, &messages);
    // The person wants it long: it is not compacted again before it has grown.
    core.meter().compacted(after);
    resized(core, after);
    let message = format!(
        "The conversation is whole again, {} tokens. It stays so until it has grown.",
        thousands(after)
    );
    tell(core, CompactionState::Undone, message, None);
}

fn length(core: &Core, prefix: &Prefix, messages: &[Message]) -> u64 {
    // No count of the provider knows these messages.
    core.meter().length(prefix, messages, u64::MAX)
}

fn resized(core: &Core, tokens: u64) {
    let window = core.provider().map_or(0, |provider| provider.context_window());
    let usage = core.ledger().resized(tokens, window);
    core.status.usage(usage);
    core.events.push(Event::Usage(usage));
}

/// Tells how long the conversation of a session is that goes on; nobody has counted it yet.
pub fn tell_length(core: &Core) {
    let (length, _) = length_and_limit(core, &core.prefix());
    resized(core, length);
}

/// What is told of a compaction that broke off by a fault of ours.
pub fn fault() -> Event {
    let message = "The compaction failed by a fault of its own; see :Dcode log.";
    event(CompactionState::Failed, message.to_owned(), None)
}

fn tell(core: &Core, state: CompactionState, message: String, summary: Option<String>) {
    core.events.push(event(state, message, summary));
}

fn event(state: CompactionState, message: String, summary: Option<String>) -> Event {
    Event::Compaction {
        state,
        message,
        summary,
    }
}

fn thousands(tokens: u64) -> String {
    if tokens < 1_000 {
        return format!("{tokens}");
    }
    format!("{}.{}k", tokens / 1_000, tokens % 1_000 / 100)
}
