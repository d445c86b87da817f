//! A streamed reply of messages.

use std::collections::VecDeque;

use serde_json::{Value, json};

use super::event::{Delta, Event};
use crate::provider::conclude::{PartialCall, conclude};
use crate::provider::error::said_in_stream;
use crate::provider::model::{StopReason, StreamEvent, TokenCount};
use crate::provider::peer::Peer;
use crate::provider::retry::Failure;
use crate::provider::sentences::{no_events, unreadable};
use crate::provider::transport::cut;
use crate::provider::wire::Reader;

/// Reads one reply.
pub(in crate::provider) struct MessagesReader {
    /// `provider:model`, the owner of its thoughts.
    name: String,
    /// Blocks that have begun and not ended, with their index.
    open: Vec<(u64, Open)>,
    calls: Vec<PartialCall>,
    usage: Option<TokenCount>,
    stop: Option<String>,
    any: bool,
    ended: bool,
}

/// A block that is being written.
enum Open {
    /// Its pieces are passed on.
    Text,
    Thinking {
        text: String,
        signature: String,
    },
    /// Thoughts that nobody may read.
    Redacted(Value),
    Call {
        call: PartialCall,
        /// The arguments as they stood at the beginning: some servers send them whole there.
        input: Option<Value>,
    },
}

impl MessagesReader {
    pub(in crate::provider) fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            open: Vec::new(),
            calls: Vec::new(),
            usage: None,
            stop: None,
            any: false,
            ended: false,
        }
    }

    fn take(&mut self, peer: &Peer, event: Event, ready: &mut VecDeque<StreamEvent>) -> Result<(), Failure> {
        if event.kind == "error" || (event.kind.is_empty() && !event.error.is_null()) {
            return Err(said_in_stream(peer, &event.error));
        }
        event.add_usage(&mut self.usage);
        let index = event.index.unwrap_or_default();
        match event.kind.as_str() {
            "message_start" => self.any = true,
            "content_block_start" => {
                self.any = true;
                let block = event.content_block.unwrap_or_default();
                self.begin(index, block, ready);
            }
            "content_block_delta" => {
                self.any = true;
                self.go_on(index, &event.delta.unwrap_or_default(), ready);
            }
            "content_block_stop" => self.close(index, ready),
            "message_delta" => {
                self.any = true;
                let reason = event.delta.and_then(|delta| delta.stop_reason);
                self.stop = reason.or(self.stop.take());
            }
            "message_stop" => self.complete(ready),
            // `ping`, and what is new.
            _ => {}
        }
        Ok(())
    }

    fn begin(&mut self, index: u64, block: Value, ready: &mut VecDeque<StreamEvent>) {
        let text = |name: &str| block.get(name).and_then(Value::as_str).unwrap_or_default();
        let kind = text("type").to_owned();
        let open = match kind.as_str() {
            "text" => {
                say(StreamEvent::Text, text("text"), ready);
                Open::Text
            }
            "thinking" => {
                say(StreamEvent::Reasoning, text("thinking"), ready);
                Open::Thinking {
                    text: text("thinking").to_owned(),
                    signature: text("signature").to_owned(),
                }
            }
            "redacted_thinking" => Open::Redacted(block),
            "tool_use" => Open::Call {
                call: PartialCall {
                    id: text("id").to_owned(),
                    name: text("name").to_owned(),
                    arguments: String::new(),
                },
                input: block.get("input").cloned(),
            },
            _ => return,
        };
        self.open.push((index, open));
    }

    fn go_on(&mut self, index: u64, delta: &Delta, ready: &mut VecDeque<StreamEvent>) {
        let open = self.open.iter_mut().rev().find(|(known, _)| *known == index);
        match open.map(|(_, open)| open) {
            Some(Open::Thinking { text, signature }) => {
                text.push_str(delta.thinking.as_deref().unwrap_or_default());
                signature.push_str(delta.signature.as_deref().unwrap_or_default());
            }
            Some(Open::Call { call, .. }) => {
                call.arguments
                    .push_str(delta.partial_json.as_deref().unwrap_or_default());
            }
            _ => {}
        }
        say(
            StreamEvent::Reasoning,
            delta.thinking.as_deref().unwrap_or_default(),
            ready,
        );
        say(
            StreamEvent::Text,
            delta.text.as_deref().unwrap_or_default(),
            ready,
        );
    }

    fn close(&mut self, index: u64, ready: &mut VecDeque<StreamEvent>) {
        let Some(at) = self.open.iter().position(|(known, _)| *known == index) else {
            return;
        };
        let (_, open) = self.open.remove(at);
        match open {
            Open::Text => {}
            // Without a signature the server would refuse it.
            Open::Thinking { signature, .. } if signature.is_empty() => {}
            Open::Thinking { text, signature } => ready.push_back(StreamEvent::Sealed {
                model: self.name.clone(),
                item: json!({ "type": "thinking", "thinking": text, "signature": signature }),
            }),
            Open::Redacted(item) => ready.push_back(StreamEvent::Sealed {
                model: self.name.clone(),
                item,
            }),
            Open::Call { mut call, input } => {
                if call.arguments.is_empty() {
                    let whole =
                        input.filter(|input| input.as_object().is_some_and(|input| !input.is_empty()));
                    call.arguments = whole.map(|input| input.to_string()).unwrap_or_default();
                }
                self.calls.push(call);
            }
        }
    }

    fn complete(&mut self, ready: &mut VecDeque<StreamEvent>) {
        self.ended = true;
        // A server that forgets to close its blocks has sent them whole all the same.
        while let Some((index, _)) = self.open.first() {
            self.close(*index, ready);
        }
        let stop = match self.stop.as_deref() {
            Some("max_tokens" | "model_context_window_exceeded") => StopReason::Length,
            Some("refusal") => StopReason::Filtered,
            _ => StopReason::End,
        };
        conclude(std::mem::take(&mut self.calls), stop, self.usage, ready);
    }
}

/// Passes a piece on, unless it is empty.
fn say(event: fn(String) -> StreamEvent, piece: &str, ready: &mut VecDeque<StreamEvent>) {
    if !piece.is_empty() {
        ready.push_back(event(piece.to_owned()));
    }
}

impl Reader for MessagesReader {
    fn is_finished(&self) -> bool {
        self.stop.is_some()
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
        if event.kind != "message" {
            return self.take(peer, event, ready);
        }
        let whole: Value = serde_json::from_str(data).map_err(unread)?;
        for event in Event::whole(&whole) {
            self.take(peer, event, ready)?;
        }
        Ok(())
    }

    fn end(&mut self, peer: &Peer, ready: &mut VecDeque<StreamEvent>) -> Result<(), Failure> {
        if self.is_finished() {
            self.complete(ready);
            Ok(())
        } else if self.any {
            Err(cut(peer))
        } else {
            Err(no_events(peer))
        }
    }
}
