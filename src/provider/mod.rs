//! Models behind one trait: a request goes out, a stream of events comes back.
//!
//! | file | what it is for |
//! |---|---|
//! | `model` | the trait and its words |
//! | `prices` | what tokens cost |
//! | `settings`, `table` | what may be configured; choosing and opening a model |
//! | `scripted` | a provider that plays a file |
//! | `openai` | a provider that speaks chat completions over HTTP |
//! | `openai_wire`, `repair` | a conversation as the bytes of a request |
//! | `openai_chunk`, `tool_calls`, `openai_stream`, `sse` | the bytes of a reply as events |
//! | `http`, `retry` | the client: trust, patience, trying again |
//! | `error`, `transport`, `peer` | every failure as one sentence with a hint, and without a key |
//!
//! A new quirk of a server belongs into the `openai_*` file of its direction, and its bytes into
//! `tests/fixtures/llm/`.

mod error;
mod http;
mod model;
mod openai;
mod openai_chunk;
mod openai_stream;
mod openai_wire;
mod peer;
mod prices;
mod repair;
mod retry;
mod scripted;
mod settings;
mod sse;
mod table;
mod tool_calls;
mod transport;

pub use http::Timeouts;
pub use model::{
    ChatRequest, Provider, ProviderError, ProviderErrorKind, StopReason, StreamEvent, TokenCount,
};
pub use openai::{Dial, OpenAi};
pub use prices::Prices;
pub use repair::{INTERRUPTED, paired};
pub use retry::RetryPolicy;
pub use scripted::Scripted;
pub use settings::{ProviderRow, ProviderSettings};
pub use table::{key_variables, open, provider_names};
