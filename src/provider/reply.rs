//! A reply that is being read.

use std::collections::VecDeque;
use std::sync::Arc;

use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;

use super::halves::{Joiner, mended};
use super::http::Timeouts;
use super::in_text::Scavenger;
use super::model::StreamEvent;
use super::peer::Peer;
use super::retry::Failure;
use super::sentences::{endless_line, endless_reply};
use super::sse::SseFault;
use super::transport::{cut, silent};
use super::wire::Reader;

/// The bytes of a reply on their way to events.
pub(super) struct Reply {
    pub(super) peer: Arc<Peer>,
    pub(super) timeouts: Timeouts,
    pub(super) data: BoxStream<'static, Result<String, SseFault>>,
    pub(super) reader: Box<dyn Reader>,
    pub(super) scavenger: Scavenger,
    pub(super) text: Joiner,
    pub(super) reasoning: Joiner,
    pub(super) ready: VecDeque<StreamEvent>,
}

impl Reply {
    /// Reads until an event is ready or the reply has ended.
    pub(super) async fn fill(&mut self) -> Result<(), Failure> {
        while self.ready.is_empty() && !self.reader.has_ended() {
            let next = if self.reader.is_finished() {
                // Usage and [DONE] may follow; a server that keeps the line open must not hold us.
                tokio::time::timeout(self.timeouts.after_finish, self.data.next())
                    .await
                    .unwrap_or(None)
            } else {
                self.data.next().await
            };
            match next {
                Some(Ok(data)) => {
                    let data = mended(&data).unwrap_or(data);
                    self.reader.feed(&self.peer, &data, &mut self.ready)?;
                }
                Some(Err(_)) | None if self.reader.is_finished() => {
                    self.reader.end(&self.peer, &mut self.ready)?;
                }
                None => self.reader.end(&self.peer, &mut self.ready)?,
                Some(Err(SseFault::Broken)) => return Err(cut(&self.peer)),
                Some(Err(SseFault::Silent(waited))) => return Err(silent(&self.peer, waited)),
                Some(Err(SseFault::TooLong)) => return Err(endless_line(&self.peer)),
                Some(Err(SseFault::Endless)) => return Err(endless_reply(&self.peer)),
            }
        }
        Ok(())
    }

    /// The next event; None at the end.
    pub(super) async fn next(&mut self) -> Option<Result<StreamEvent, Failure>> {
        loop {
            if let Err(failure) = self.fill().await {
                return Some(Err(failure));
            }
            let event = match self.ready.pop_front()? {
                StreamEvent::Text(text) => StreamEvent::Text(self.text.join(text)),
                StreamEvent::Reasoning(text) => StreamEvent::Reasoning(self.reasoning.join(text)),
                StreamEvent::ToolCall { id, name, arguments } => StreamEvent::ToolCall {
                    id,
                    name,
                    arguments: Joiner::whole(arguments),
                },
                event => event,
            };
            match &event {
                StreamEvent::Text(text) | StreamEvent::Reasoning(text) if text.is_empty() => {}
                _ => return Some(Ok(self.scavenger.pass(event, &mut self.ready))),
            }
        }
    }
}
