//! The provider against a real HTTP server on loopback.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod accepted;
mod bench;
mod bodies;
mod errors;
pub mod faults;
mod repair;
mod requests;
mod retries;
pub mod server;
mod streams;
mod table;
mod trust;

use dcode::protocol::message::Message;
use dcode::provider::{ChatRequest, Provider, ProviderError, StreamEvent};
use futures_util::StreamExt as _;

fn request(messages: Vec<Message>) -> ChatRequest {
    ChatRequest {
        system: "You are a test.".into(),
        messages,
        tools: vec![],
    }
}

/// All that one request gives, but for its waits; a failure of the request itself stands alone.
async fn ask(provider: &dyn Provider) -> Vec<Result<StreamEvent, ProviderError>> {
    let mut events = ask_with(provider, request(vec![Message::user("hi")])).await;
    events.retain(|event| !matches!(event, Ok(StreamEvent::Waiting(_))));
    events
}

/// All that a request gives.
async fn ask_with(provider: &dyn Provider, request: ChatRequest) -> Vec<Result<StreamEvent, ProviderError>> {
    match provider.stream(request).await {
        Ok(stream) => stream.collect().await,
        Err(error) => vec![Err(error)],
    }
}

/// The failure that a request ends with.
async fn failure(provider: &dyn Provider) -> ProviderError {
    ask(provider)
        .await
        .pop()
        .unwrap()
        .expect_err("the request succeeded")
}

/// An error as the tests show it.
fn shown(error: &ProviderError) -> String {
    format!("{:?}: {} [{}]", error.kind, error.message, error.hint)
}
