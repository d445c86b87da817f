//! Models behind one trait: a request goes out, a stream of events comes back.
//!
//! | file | what it is for |
//! |---|---|
//! | `model`, `prices` | the trait and its words |
//! | `settings`, `rows`, `providers.toml` | what may be configured, and what is known without |
//! | `table`, `keys`, `catalogue` | choosing and opening a model |
//! | `scripted` | a provider that plays a file |
//! | `dial`, `client`, `retry` | how a model is reached; requests to it, and trying again |
//! | `line`, `http`, `sse`, `reply` | one try over HTTP: trust, patience, the reply as it comes |
//! | `wire` | what the wires have in common |
//! | `chat`, `responses`, `messages` | the three: `body` writes requests, the rest reads replies |
//! | `repair`, `arguments`, `media`, `in_text`, `halves`, `conclude` | what every wire needs of them |
//! | `error`, `sentences`, `transport`, `peer` | every failure as one sentence with a hint, and without a key |
//!
//! A new quirk of a server belongs into the folder of its wire, and its bytes into `tests/fixtures/llm/`.

mod arguments;
mod catalogue;
mod chat;
mod client;
mod conclude;
mod dial;
mod error;
mod halves;
mod http;
mod in_text;
mod keys;
mod line;
mod media;
mod messages;
mod model;
mod peer;
mod prices;
mod repair;
mod reply;
mod responses;
mod retry;
mod rows;
mod scripted;
mod sentences;
mod settings;
mod sse;
mod table;
mod transport;
mod wire;

pub use catalogue::{ModelRow, list, open_any};
pub use client::HttpModel;
pub use dial::Dial;
pub use http::Timeouts;
pub use model::{
    ChatRequest, Provider, ProviderError, ProviderErrorKind, StopReason, StreamEvent, TokenCount, Wait,
};
pub use prices::{Long, Prices};
pub use repair::{INTERRUPTED, paired};
pub use retry::RetryPolicy;
pub use rows::{ModelFacts, key_variables, provider_names};
pub use scripted::Scripted;
pub use settings::{ProviderRow, ProviderSettings};
pub use table::open;
pub use wire::{ThinkingStyle, Wire};
