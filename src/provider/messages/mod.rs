//! Anthropic's messages.

mod body;
mod event;
mod stream;

pub(super) use body::body;
pub(super) use stream::MessagesReader;
