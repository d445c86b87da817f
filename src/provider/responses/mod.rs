//! OpenAI's responses, without state on the server: every request carries the whole conversation.

mod body;
mod event;
mod stream;

pub(super) use body::body;
pub(super) use stream::ResponsesReader;
