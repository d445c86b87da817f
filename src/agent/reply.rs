//! One request and its reply, piece by piece.

use std::sync::{Arc, PoisonError};

use futures_util::StreamExt;
use tokio_util::sync::CancellationToken;

use crate::agent::cache_watch::Shape;
use crate::agent::core::Core;
use crate::agent::prefix::Prefix;
use crate::protocol::event::Event;
use crate::protocol::ids::{CallId, StepIx, TurnId};
use crate::protocol::message::{Block, Message, ToolCall};
use crate::provider::{
    ChatRequest, Provider, ProviderError, ProviderErrorKind, StopReason, StreamEvent, TokenCount, Wait,
};

/// Which reply it is.
#[derive(Clone, Copy)]
pub struct Place {
    /// In which turn.
    pub turn: TurnId,
    /// In which step.
    pub step: StepIx,
}

/// A reply of the model, as far as it came.
#[derive(Default)]
pub struct Reply {
    /// Its pieces in the order in which they began.
    blocks: Vec<Block>,
    /// Why it ended; none while it goes on, and for ever when it was cut.
    pub stop: Option<StopReason>,
}

/// Why a reply is not whole.
pub enum Cut {
    /// The person stopped it.
    Interrupted,
    /// The provider failed.
    Failed(ProviderError),
}

impl Reply {
    /// The words.
    pub fn text(&self) -> String {
        self.blocks.iter().filter_map(text_of).collect()
    }

    /// What it wants run.
    pub fn calls(&self) -> Vec<ToolCall> {
        let calls = self.blocks.iter().filter_map(|block| match block {
            Block::ToolCall(call) => Some(call.clone()),
            _ => None,
        });
        calls.collect()
    }

    /// The reply as blocks of a message.
    pub fn into_blocks(self) -> Vec<Block> {
        self.blocks
    }

    /// A reply that was cut, as blocks. Half a call must not reach the history: calls and results live and
    /// die together.
    pub fn into_cut_blocks(mut self) -> Vec<Block> {
        self.blocks.retain(|block| !matches!(block, Block::ToolCall(_)));
        self.blocks
    }

    /// Adds a piece of text.
    pub fn add_text(&mut self, more: &str) {
        match self.blocks.last_mut() {
            Some(Block::Text { text }) => text.push_str(more),
            _ => self.blocks.push(Block::Text { text: more.into() }),
        }
    }

    fn add_reasoning(&mut self, more: &str) {
        match self.blocks.last_mut() {
            Some(Block::Reasoning { text }) => text.push_str(more),
            _ => self.blocks.push(Block::Reasoning { text: more.into() }),
        }
    }
}

fn text_of(block: &Block) -> Option<&str> {
    match block {
        Block::Text { text } => Some(text),
        _ => None,
    }
}

/// The request that sends the whole conversation.
pub fn request(core: &Core, prefix: &Prefix) -> ChatRequest {
    let history = core.history.lock().unwrap_or_else(PoisonError::into_inner);
    with_messages(prefix, history.messages().to_vec())
}

/// A request of `messages` behind the usual beginning.
pub fn with_messages(prefix: &Prefix, messages: Vec<Message>) -> ChatRequest {
    ChatRequest {
        system: prefix.system().to_owned(),
        messages,
        tools: prefix.tools().to_vec(),
    }
}

/// Sends the conversation and collects the reply into `reply`, telling the editor of each piece.
///
/// # Errors
/// Why it is not whole; `reply` holds what came until then.
pub async fn receive(
    core: &Arc<Core>,
    prefix: &Prefix,
    place: Place,
    reply: &mut Reply,
    cancel: &CancellationToken,
) -> Result<(), Cut> {
    let provider = core.provider().map_err(Cut::Failed)?;
    let request = request(core, prefix);
    let told = |reply: &mut Reply, event| tell(core, place, reply, event);
    let counted = patiently(
        core,
        provider.as_ref(),
        prefix,
        place,
        &request,
        reply,
        &told,
        cancel,
    )
    .await?;
    if let Some(count) = counted {
        let mut meter = core.meter();
        let history = core.history.lock().unwrap_or_else(PoisonError::into_inner);
        meter.counted(prefix, history.messages(), history.rewrites().0, count);
    }
    Ok(())
}

/// As [`exchange`]; a reply that broke half-way is asked for again after a pause. Nothing of it has run: calls
/// come out only when a reply is whole. So what came of it is dropped, but the last time.
#[expect(
    clippy::too_many_arguments,
    reason = "those of exchange, and the place for the pause"
)]
async fn patiently(
    core: &Core,
    provider: &dyn Provider,
    prefix: &Prefix,
    place: Place,
    request: &ChatRequest,
    reply: &mut Reply,
    told: &(dyn Fn(&mut Reply, StreamEvent) + Sync),
    cancel: &CancellationToken,
) -> Result<Option<TokenCount>, Cut> {
    let policy = provider.patience();
    for tries in 1.. {
        let sent = exchange(core, provider, prefix, request.clone(), reply, told, cancel).await;
        let Err(Cut::Failed(error)) = &sent else {
            return sent;
        };
        // One that never began was tried again already, where that helps.
        let began = !reply.blocks.is_empty();
        let Some(length) = policy.backoff(tries).filter(|_| began && error.is_transient()) else {
            return sent;
        };
        let wait = Wait {
            length,
            number: tries,
            of: policy.retries,
            why: error.message.clone(),
        };
        tell(core, place, reply, StreamEvent::Waiting(wait));
        tokio::select! {
            () = tokio::time::sleep(length) => {}
            () = cancel.cancelled() => return Err(Cut::Interrupted),
        }
        *reply = Reply::default();
    }
    Err(Cut::Interrupted)
}

/// Sends one request and hands each event of its reply to `told`, but for the count of tokens, which goes
/// into the books and comes back.
///
/// # Errors
/// Why the reply is not whole.
pub async fn exchange(
    core: &Core,
    provider: &dyn Provider,
    prefix: &Prefix,
    request: ChatRequest,
    reply: &mut Reply,
    told: &(dyn Fn(&mut Reply, StreamEvent) + Sync),
    cancel: &CancellationToken,
) -> Result<Option<TokenCount>, Cut> {
    core.ledger().sent(Shape {
        model: provider.name().to_owned(),
        prints: prefix.prints().clone(),
        epoch: core
            .history
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .rewrites(),
    });
    let mut counted = None;
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
            Some(Ok(StreamEvent::Usage(count))) => {
                book(core, provider, count);
                counted = Some(count);
            }
            Some(Ok(event)) => told(reply, event),
            Some(Err(error)) => return Err(Cut::Failed(error)),
            None if reply.stop.is_some() => return Ok(counted),
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

fn book(core: &Core, provider: &dyn Provider, count: TokenCount) {
    let (name, window) = (provider.name(), provider.context_window());
    let usage = core.ledger().counted(name, count, provider.prices(), window);
    core.status.usage(usage);
    core.events.push(Event::Usage(usage));
}

fn tell(core: &Core, Place { turn, step }: Place, reply: &mut Reply, event: StreamEvent) {
    match event {
        StreamEvent::Text(text) => {
            reply.add_text(&text);
            core.events.push(Event::TextDelta { turn, text });
        }
        StreamEvent::Reasoning(text) => {
            reply.add_reasoning(&text);
            core.events.push(Event::ReasoningDelta { turn, text });
        }
        StreamEvent::ToolCall { id, name, arguments } => {
            let id = unique_id(core, step, &reply.blocks, id);
            reply
                .blocks
                .push(Block::ToolCall(ToolCall { id, name, arguments }));
        }
        StreamEvent::Sealed { model, item } => reply.blocks.push(Block::Sealed { model, item }),
        StreamEvent::Waiting(wait) => core.events.push(Event::Waiting {
            turn,
            ms: u64::try_from(wait.length.as_millis()).unwrap_or(u64::MAX),
            number: wait.number,
            of: wait.of,
            why: wait.why,
        }),
        StreamEvent::Usage(_) => {}
        StreamEvent::Done(stop) => reply.stop = Some(stop),
    }
}

/// The provider's id, unless it is empty or known already: some providers number each reply anew.
fn unique_id(core: &Core, step: StepIx, before: &[Block], id: String) -> CallId {
    let id = CallId(id);
    let history = core.history.lock().unwrap_or_else(PoisonError::into_inner);
    let made = || before.iter().filter(|block| matches!(block, Block::ToolCall(_)));
    let taken =
        history.has_call(&id) || made().any(|block| matches!(block, Block::ToolCall(call) if call.id == id));
    if id.0.is_empty() || taken {
        CallId(format!("call_{step}_{}", made().count()))
    } else {
        id
    }
}
