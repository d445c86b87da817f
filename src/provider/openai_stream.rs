//! From the data of server-sent events to [`StreamEvent`]s.
//!
//! Text and reasoning pass through at once. Calls are held back until the reply has ended in order,
//! so that a reply that was cut never leaves half a call behind.

use std::collections::VecDeque;

use super::error::{base_url_hint, failure, said_in_stream};
use super::model::{ProviderErrorKind, StopReason, StreamEvent, TokenCount};
use super::openai_chunk::Chunk;
use super::peer::Peer;
use super::repair::is_object;
use super::retry::{Again, Failure};
use super::tool_calls::ToolCalls;
use super::transport::cut;

/// Reads one reply.
#[derive(Default)]
pub(super) struct Assembler {
    calls: ToolCalls,
    usage: Option<TokenCount>,
    finish: Option<String>,
    any: bool,
    ended: bool,
}

impl Assembler {
    /// Whether the server has said that the reply is complete. Usage may follow.
    pub(super) fn is_finished(&self) -> bool {
        self.finish.is_some()
    }

    /// Whether nothing more is to be read.
    pub(super) fn has_ended(&self) -> bool {
        self.ended
    }

    /// Takes the data of one event. What can be said at once is appended to `ready`.
    pub(super) fn feed(
        &mut self,
        peer: &Peer,
        data: &str,
        ready: &mut VecDeque<StreamEvent>,
    ) -> Result<(), Failure> {
        let data = data.trim();
        if data.is_empty() {
            return Ok(());
        }
        if data == "[DONE]" {
            self.any = true;
            return self.complete(peer, StopReason::End, ready);
        }
        let chunk: Chunk = serde_json::from_str(data).map_err(|error| {
            if error.is_eof() {
                cut(peer)
            } else {
                unreadable(peer, &error)
            }
        })?;
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

    /// The bytes are at their end, whether the server said so or the line broke.
    pub(super) fn end(&mut self, peer: &Peer, ready: &mut VecDeque<StreamEvent>) -> Result<(), Failure> {
        if self.is_finished() {
            self.complete(peer, StopReason::End, ready)
        } else if self.any {
            Err(cut(peer))
        } else {
            Err(failure(
                ProviderErrorKind::Protocol,
                Again::Never,
                format!("{} answered without a single event of a chat.", peer.url),
                base_url_hint(peer),
            ))
        }
    }

    fn complete(
        &mut self,
        peer: &Peer,
        unsaid: StopReason,
        ready: &mut VecDeque<StreamEvent>,
    ) -> Result<(), Failure> {
        self.ended = true;
        let mut stop = match self.finish.as_deref() {
            None => unsaid,
            Some("length" | "max_tokens") => StopReason::Length,
            Some("content_filter") => StopReason::Filtered,
            Some(reason @ ("error" | "insufficient_system_resource" | "network_error")) => {
                return Err(failure(
                    ProviderErrorKind::Server,
                    Again::Backoff,
                    format!("{} broke the reply off ({reason}).", peer.provider),
                    "The fault is the server's; try again in a minute.",
                ));
            }
            Some(_) => StopReason::End,
        };
        let mut calls = self.calls.take();
        if stop == StopReason::Length {
            // The limit fell into the last call; what its arguments would have been is not known.
            calls.retain(|call| is_object(&call.arguments) && !call.arguments.is_empty());
        }
        if stop == StopReason::End && !calls.is_empty() {
            // Some servers say "stop" all the same.
            stop = StopReason::ToolCalls;
        }
        ready.extend(
            calls
                .into_iter()
                .filter(|call| !call.name.is_empty())
                .map(|call| StreamEvent::ToolCall {
                    id: call.id,
                    name: call.name,
                    arguments: call.arguments,
                }),
        );
        ready.extend(self.usage.map(StreamEvent::Usage));
        ready.push_back(StreamEvent::Done(stop));
        Ok(())
    }
}

fn unreadable(peer: &Peer, error: &serde_json::Error) -> Failure {
    failure(
        ProviderErrorKind::Protocol,
        Again::Never,
        format!(
            "A piece of the reply of {} cannot be read ({error}).",
            peer.provider
        ),
        "Send the prompt again; if it happens often, the server or a proxy garbles its replies.",
    )
}

/// A line that no reply has.
pub(super) fn endless_line(peer: &Peer) -> Failure {
    failure(
        ProviderErrorKind::Protocol,
        Again::Never,
        format!("{} sent a line of more than 4 MiB.", peer.provider),
        base_url_hint(peer),
    )
}
