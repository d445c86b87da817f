//! A streamed response.

use std::collections::VecDeque;

use serde_json::Value;

use super::event::{Event, Item, Key, Response};
use crate::provider::conclude::{PartialCall, conclude};
use crate::provider::error::said_in_stream;
use crate::provider::model::{StopReason, StreamEvent};
use crate::provider::peer::Peer;
use crate::provider::retry::Failure;
use crate::provider::sentences::{broken_off, no_events, unreadable};
use crate::provider::transport::cut;
use crate::provider::wire::Reader;

/// Reads one reply.
pub(in crate::provider) struct ResponsesReader {
    /// `provider:model`, the owner of its thoughts.
    name: String,
    /// Calls in the order in which they began.
    calls: Vec<(Option<Key>, PartialCall)>,
    /// The item whose text was passed on piece by piece, so that it is not said again as a whole.
    spoken: Option<Key>,
    any: bool,
    ended: bool,
}

impl ResponsesReader {
    pub(in crate::provider) fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            calls: Vec::new(),
            spoken: None,
            any: false,
            ended: false,
        }
    }

    fn take(&mut self, peer: &Peer, event: Event, ready: &mut VecDeque<StreamEvent>) -> Result<(), Failure> {
        self.any |= event.kind.starts_with("response.");
        let key = event.key();
        let piece = event.delta.unwrap_or_default();
        match event.kind.as_str() {
            "response.output_text.delta" | "response.refusal.delta" => {
                self.spoken = key;
                say(StreamEvent::Text, piece, ready);
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                say(StreamEvent::Reasoning, piece, ready);
            }
            "response.reasoning_summary_part.added" if event.summary_index.unwrap_or_default() > 0 => {
                say(StreamEvent::Reasoning, "\n\n".to_owned(), ready);
            }
            "response.output_item.added" => {
                if let Some(item) = event.item.filter(|item| item.text("type") == "function_call") {
                    let call = partial(&item);
                    self.calls.push((key, call));
                }
            }
            "response.function_call_arguments.delta" => self.call(key).arguments.push_str(&piece),
            "response.function_call_arguments.done" => {
                if let Some(arguments) = event.arguments {
                    self.call(key).arguments = arguments;
                }
            }
            "response.output_item.done" => self.done(key, event.item.unwrap_or_default(), ready),
            "response.completed" | "response.incomplete" | "response.failed" | "response.cancelled" => {
                return self.complete(peer, &event.response.unwrap_or_default(), ready);
            }
            _ => {}
        }
        Ok(())
    }

    /// The call that a piece belongs to.
    fn call(&mut self, key: Option<Key>) -> &mut PartialCall {
        let known = match key {
            Some(_) => self.calls.iter().rposition(|(known, _)| *known == key),
            None => self.calls.len().checked_sub(1),
        };
        let at = known.unwrap_or_else(|| {
            self.calls.push((key, PartialCall::default()));
            self.calls.len() - 1
        });
        &mut self.calls[at].1
    }

    /// An item as a whole: what it says counts more than its pieces.
    fn done(&mut self, key: Option<Key>, item: Item, ready: &mut VecDeque<StreamEvent>) {
        match item.text("type").as_str() {
            "function_call" => {
                let whole = partial(&item);
                let call = self.call(key);
                let pieces = std::mem::take(&mut call.arguments);
                *call = whole;
                if call.arguments.is_empty() {
                    call.arguments = pieces;
                }
            }
            "message" if self.spoken.is_none() || self.spoken != key => {
                say(StreamEvent::Text, item.said(), ready);
            }
            "reasoning" if !item.text("encrypted_content").is_empty() => {
                ready.push_back(StreamEvent::Sealed {
                    model: self.name.clone(),
                    item: item.raw,
                });
            }
            _ => {}
        }
    }

    fn complete(
        &mut self,
        peer: &Peer,
        response: &Response,
        ready: &mut VecDeque<StreamEvent>,
    ) -> Result<(), Failure> {
        if !response.error.is_null() {
            return Err(said_in_stream(peer, &response.error));
        }
        let stop = match (response.status.as_deref(), response.incomplete()) {
            (Some(status @ ("failed" | "cancelled")), _) => return Err(broken_off(peer, status)),
            (_, Some("content_filter")) => StopReason::Filtered,
            (Some("incomplete"), _) | (_, Some(_)) => StopReason::Length,
            _ => StopReason::End,
        };
        self.ended = true;
        let calls = std::mem::take(&mut self.calls).into_iter();
        conclude(
            calls.map(|(_, call)| call).collect(),
            stop,
            response.usage(),
            ready,
        );
        Ok(())
    }
}

fn partial(item: &Item) -> PartialCall {
    PartialCall {
        id: item.text("call_id"),
        name: item.text("name"),
        arguments: item.arguments(),
    }
}

/// Passes a piece on, unless it is empty.
fn say(event: fn(String) -> StreamEvent, piece: String, ready: &mut VecDeque<StreamEvent>) {
    if !piece.is_empty() {
        ready.push_back(event(piece));
    }
}

impl Reader for ResponsesReader {
    /// Nothing follows the event that completes a reply.
    fn is_finished(&self) -> bool {
        self.ended
    }

    fn has_ended(&self) -> bool {
        self.ended
    }

    fn feed(&mut self, peer: &Peer, data: &str, ready: &mut VecDeque<StreamEvent>) -> Result<(), Failure> {
        let data = data.trim();
        if data.is_empty() || data == "[DONE]" {
            return Ok(());
        }
        let unread = |error: serde_json::Error| unreadable(peer, &error);
        let event: Event = serde_json::from_str(data).map_err(unread)?;
        if event.kind == "error" || (event.kind.is_empty() && !event.error.is_null()) {
            let value: Value = serde_json::from_str(data).map_err(unread)?;
            let nested = value.get("error").filter(|error| !error.is_null());
            return Err(said_in_stream(peer, nested.unwrap_or(&value)));
        }
        if !event.kind.is_empty() {
            return self.take(peer, event, ready);
        }
        // A reply that is not streamed.
        let whole: Response = serde_json::from_str(data).map_err(unread)?;
        let Some(output) = &whole.output else {
            return Ok(());
        };
        for (index, item) in (0..).zip(output.clone()) {
            self.done(Some(Key::Index(index)), item, ready);
        }
        self.complete(peer, &whole, ready)
    }

    fn end(&mut self, peer: &Peer, _ready: &mut VecDeque<StreamEvent>) -> Result<(), Failure> {
        if self.any {
            Err(cut(peer))
        } else {
            Err(no_events(peer))
        }
    }
}
