//! The trait and its words.

use std::time::Duration;

use async_trait::async_trait;
use futures_util::stream::BoxStream;
use serde_json::Value;
use thiserror::Error;

use super::prices::Prices;
use super::retry::RetryPolicy;

use crate::protocol::message::Message;
use crate::protocol::tool::ToolSpec;

/// A model that can be talked to.
#[async_trait]
pub trait Provider: Send + Sync {
    /// `provider:model`, as the person wrote it.
    fn name(&self) -> &str;

    /// Whether it only plays a script; said wherever the model is named.
    fn scripted(&self) -> bool {
        false
    }

    /// The context window in tokens; 0 when unknown.
    fn context_window(&self) -> u64 {
        0
    }

    /// What it costs; None when unknown.
    fn prices(&self) -> Option<Prices> {
        None
    }

    /// Whether it is shown images; else it reads a notice in their place.
    fn sees_images(&self) -> bool {
        false
    }

    /// When a reply that broke half-way is asked for again; never, unless said.
    fn patience(&self) -> RetryPolicy {
        RetryPolicy {
            retries: 0,
            ..RetryPolicy::default()
        }
    }

    /// The bytes that [`stream`](Self::stream) would send for `request`, for the person to look at; `None`
    /// when nothing is sent.
    fn body(&self, _request: &ChatRequest) -> Option<Vec<u8>> {
        None
    }

    /// Sends the conversation and gives the reply as it comes. Dropping the stream ends the request.
    ///
    /// A failure before the reply began is tried again inside where that may help; each wait is told
    /// as [`StreamEvent::Waiting`] before it begins. A reply that broke half-way is the caller's to judge.
    async fn stream(
        &self,
        request: ChatRequest,
    ) -> Result<BoxStream<'static, Result<StreamEvent, ProviderError>>, ProviderError>;
}

/// What is sent. Two successive requests of a session share every byte up to the new messages.
#[derive(Clone, Debug, PartialEq)]
pub struct ChatRequest {
    /// The system prompt.
    pub system: String,
    /// The conversation; every call is followed by its result.
    pub messages: Vec<Message>,
    /// The tools on offer, in order.
    pub tools: Vec<ToolSpec>,
}

/// A piece of a reply.
#[derive(Clone, Debug, PartialEq)]
pub enum StreamEvent {
    /// Nothing came yet: the request failed and is sent again after a wait.
    Waiting(Wait),
    /// The next piece of text.
    Text(String),
    /// The next piece of reasoning.
    Reasoning(String),
    /// A complete call. `arguments` is as the model wrote it, and may be no JSON.
    ToolCall {
        /// The provider's id; may repeat over turns.
        id: String,
        /// The name as written.
        name: String,
        /// The arguments as written; empty means `{}`.
        arguments: String,
    },
    /// Reasoning that only its own model can read, signed or encrypted: kept as
    /// [`Block::Sealed`](crate::protocol::message::Block::Sealed), in its place among the other pieces.
    Sealed {
        /// Whose it is.
        model: String,
        /// As the provider wrote it.
        item: Value,
    },
    /// Tokens used by this request.
    Usage(TokenCount),
    /// The reply ended in order. A stream that ends without it was cut.
    Done(StopReason),
}

/// A pause before the same request is sent again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wait {
    /// How long.
    pub length: Duration,
    /// Which of the further tries comes next, from 1.
    pub number: u32,
    /// How many there are at most.
    pub of: u32,
    /// One sentence: what failed.
    pub why: String,
}

/// Tokens of one request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TokenCount {
    /// Of the request, all of it.
    pub input: u64,
    /// Of these, found in the provider's cache.
    pub cached: u64,
    /// Of these, newly written to the cache, where the provider says so and charges for it.
    pub written: u64,
    /// Of the reply, reasoning included.
    pub output: u64,
    /// Of these, reasoning, where the provider says so.
    pub reasoning: u64,
}

/// Why a reply ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// Nothing more to say.
    End,
    /// It wants calls run.
    ToolCalls,
    /// It was cut at the provider's limit of output.
    Length,
    /// A filter of the provider.
    Filtered,
}

/// A failure, in words for the person.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct ProviderError {
    /// What sort.
    pub kind: ProviderErrorKind,
    /// One sentence: what happened. Never holds a key.
    pub message: String,
    /// What to type or check.
    pub hint: String,
}

/// Sorts of failure; each has its own sentence and its own treatment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProviderErrorKind {
    /// No key, or a wrong one.
    Auth,
    /// No route to the server, or it hung up.
    Network,
    /// The server has no such model.
    UnknownModel,
    /// The conversation is longer than the context window.
    ContextTooLong,
    /// Too many requests, or no credit.
    RateLimit,
    /// The server failed.
    Server,
    /// The reply cannot be understood.
    Protocol,
    /// The configuration does not name a usable model.
    Config,
}
