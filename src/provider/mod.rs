//! Models behind one trait: a request goes out, a stream of events comes back.

mod model;

pub use model::{
    ChatRequest, Provider, ProviderError, ProviderErrorKind, StopReason, StreamEvent, TokenCount,
};
