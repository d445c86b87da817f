//! Models behind one trait: a request goes out, a stream of events comes back.

mod model;
mod scripted;
mod settings;

pub use model::{
    ChatRequest, Provider, ProviderError, ProviderErrorKind, StopReason, StreamEvent, TokenCount,
};
pub use scripted::Scripted;
pub use settings::{ProviderRow, ProviderSettings};
