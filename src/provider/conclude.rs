//! The end of a reply, the same on every wire.

use std::collections::VecDeque;

use super::arguments::is_object;
use super::model::{StopReason, StreamEvent, TokenCount};

/// A call as far as it came.
#[derive(Debug, Default)]
pub(super) struct PartialCall {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) arguments: String,
}

/// Gives out the calls that were held back, the usage, and the end.
pub(super) fn conclude(
    mut calls: Vec<PartialCall>,
    mut stop: StopReason,
    usage: Option<TokenCount>,
    ready: &mut VecDeque<StreamEvent>,
) {
    if stop == StopReason::Length {
        // The limit fell into the last call; what its arguments would have been is not known.
        calls.retain(|call| is_object(&call.arguments) && !call.arguments.trim().is_empty());
    }
    calls.retain(|call| !call.name.is_empty());
    if stop == StopReason::End && !calls.is_empty() {
        // Some servers say "stop" all the same.
        stop = StopReason::ToolCalls;
    }
    ready.extend(calls.into_iter().map(|call| StreamEvent::ToolCall {
        id: call.id,
        name: call.name,
        arguments: call.arguments,
    }));
    ready.extend(usage.map(StreamEvent::Usage));
    ready.push_back(StreamEvent::Done(stop));
}
