//! A streamed chat completion.

use std::collections::VecDeque;

use super::chunk::Chunk;
use super::tool_calls::ToolCalls;
use crate::provider::conclude::conclude;
use crate::provider::error::said_in_stream;
use crate::provider::model::{StopReason, StreamEvent, TokenCount};
use crate::provider::peer::Peer;
use crate::provider::retry::Failure;
use crate::provider::sentences::{broken_off, no_events, unreadable};
use crate::provider::transport::cut;
use crate::provider::wire::Reader;

/// Reads one reply.
#[derive(Default)]
pub(in crate::provider) struct ChatReader {
    calls: ToolCalls,
    usage: Option<TokenCount>,
    finish: Option<String>,
    any: bool,
    ended: bool,
}

impl Reader for ChatReader {
    fn is_finished(&self) -> bool {
        self.finish.is_some()
    }

    fn has_ended(&self) -> bool {
        self.ended
    }

    fn feed(&mut self, peer: &Peer, data: &str, ready: &mut VecDeque<StreamEvent>) -> Result<(), Failure> {
        let data = data.trim();
        if data.is_empty() {
            return Ok(());
        }
        if data == "[DONE]" {
            self.any = true;
            return self.complete(peer, StopReason::End, ready);
        }
        let chunk: Chunk = serde_json::from_str(data).map_err(|error| unreadable(peer, &error))?;
        if let Some(error) = chunk.error() {
            return Err(said_in_stream(peer, &error));
        }
        self.any |= chunk.is_of_a_chat();
        self.usage = chunk.usage().or(self.usage);
        let Some(mut choice) = chunk.choice() else {
            return Ok(());
        };
        let delta = choice.delta();
        for (piece, event) in [
            (
                delta.reasoning(),
                StreamEvent::Reasoning as fn(String) -> StreamEvent,
            ),
            (delta.text(), StreamEvent::Text),
        ] {
            if !piece.is_empty() {
                ready.push_back(event(piece));
            }
        }
        for call in delta.tool_calls.iter().flatten() {
            self.calls.add(call);
        }
        if let Some(reason) = choice.finish_reason.filter(|reason| !reason.is_empty()) {
            self.finish = Some(reason);
        }
        Ok(())
    }

    fn end(&mut self, peer: &Peer, ready: &mut VecDeque<StreamEvent>) -> Result<(), Failure> {
        if self.is_finished() {
            self.complete(peer, StopReason::End, ready)
        } else if self.any {
            Err(cut(peer))
        } else {
            Err(no_events(peer))
        }
    }
}

impl ChatReader {
    fn complete(
        &mut self,
        peer: &Peer,
        unsaid: StopReason,
        ready: &mut VecDeque<StreamEvent>,
    ) -> Result<(), Failure> {
        self.ended = true;
        let stop = match self.finish.as_deref() {
            None => unsaid,
            Some("length" | "max_tokens") => StopReason::Length,
            Some("content_filter") => StopReason::Filtered,
            Some(reason @ ("error" | "insufficient_system_resource" | "network_error")) => {
                return Err(broken_off(peer, reason));
            }
            Some(_) => StopReason::End,
        };
        conclude(self.calls.take(), stop, self.usage, ready);
        Ok(())
    }
}
