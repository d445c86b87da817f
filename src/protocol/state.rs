//! What the front end shows all the time: usage, words that wait, compaction, commands in the background.

use serde::{Deserialize, Serialize};

use crate::protocol::ids::{TurnId, WaitingId};

/// How much was used; counts are of the whole session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens of requests.
    pub input_tokens: u64,
    /// Of these, tokens that the provider had in its cache.
    pub cached_tokens: u64,
    /// Tokens of replies.
    pub output_tokens: u64,
    /// Reasoning tokens of the last reply; 0 where the provider does not say.
    #[serde(default)]
    pub reasoning_tokens: u64,
    /// Tokens of the last request and reply together: the size of the context now.
    pub context_tokens: u64,
    /// The context window of the model in tokens; 0 when unknown.
    pub context_window: u64,
    /// Requests made.
    pub requests: u64,
    /// US dollars of the requests whose price is known.
    #[serde(default)]
    pub cost: f64,
    /// Requests whose price is not known.
    #[serde(default)]
    pub unpriced_requests: u64,
}

/// Something that waits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueuedWords {
    /// Its name.
    pub id: WaitingId,
    /// The words.
    pub text: String,
    /// The turn that it will be; none for words that go into the running one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<TurnId>,
}

/// How far a compaction is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CompactionState {
    /// The model writes the summary.
    Started,
    /// The conversation is shorter.
    Done,
    /// Nothing was changed.
    Failed,
    /// The conversation is as it was.
    Undone,
}

/// A command that runs on while the model does other things.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackgroundCommand {
    /// By which the model looks at it.
    pub handle: String,
    /// Its line.
    pub command: String,
}
