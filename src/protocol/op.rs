//! What the editor may ask of the agent.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::protocol::ids::{HunkId, RequestId, TicketId, TurnId, WaitingId};
use crate::protocol::request::Reply;

/// One wish. Ops are handled in order; none waits for the one before to finish its work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Op {
    /// Start a turn, or queue one behind the running turn.
    Prompt {
        /// The turn's number, taken from [`crate::agent::AgentHandle::next_turn`].
        turn: TurnId,
        /// The person's words.
        text: String,
        /// Where the person is.
        #[serde(default)]
        context: PromptContext,
    },
    /// Say something to the running turn; it goes in at the next step. Without one it begins a turn.
    Steer {
        /// The person's words.
        text: String,
        /// Where the person is.
        #[serde(default)]
        context: PromptContext,
    },
    /// Take something out that waits.
    Unqueue {
        /// Which.
        id: WaitingId,
    },
    /// Make the conversation shorter, or take that back.
    Compact {
        /// Take the last one back.
        #[serde(default)]
        undo: bool,
    },
    /// Stop the running turn and all calls from Lua, and drop the queued prompts.
    Interrupt,
    /// Run one tool exactly as a model's call would run.
    Call {
        /// Comes back in [`crate::protocol::event::Event::CallFinished`].
        ticket: TicketId,
        /// Name or alias.
        tool: String,
        /// The arguments, a JSON object.
        args: Value,
        /// Limit of the tool's own time in milliseconds; asking the person does not count.
        timeout_ms: u64,
        /// Whether somebody answers approvals of this call; without, Ask becomes Deny.
        human: bool,
    },
    /// Cancel a [`Op::Call`].
    CancelCall {
        /// Which.
        ticket: TicketId,
    },
    /// Say what the gate would say; nothing runs and nobody is asked.
    Explain {
        /// Comes back in [`crate::protocol::event::Event::Explained`].
        ticket: TicketId,
        /// Name or alias.
        tool: String,
        /// The arguments, a JSON object.
        args: Value,
    },
    /// Say something of the session as data; comes back in [`crate::protocol::event::Event::Reported`].
    Report {
        /// Which.
        ticket: TicketId,
        /// Of what.
        what: Report,
    },
    /// Answer a request. A second answer is ignored.
    Reply {
        /// Which request.
        request: RequestId,
        /// The answer.
        reply: Reply,
    },
    /// Take back steps.
    Undo {
        /// How many steps, at least 1; `None` = the whole last turn.
        steps: Option<u32>,
    },
    /// Take back the last undo.
    Redo,
    /// Hunks were accepted or rejected; the model hears of it with the next request.
    Reviewed {
        /// The file.
        path: PathBuf,
        /// Accepted hunks.
        accepted: u32,
        /// Rejected hunks.
        rejected: u32,
    },
    /// Reject hunks of a file that no buffer holds; a buffer's are rejected by the editor.
    Reject {
        /// The file.
        path: PathBuf,
        /// One hunk; none = all of the file.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        hunk: Option<HunkId>,
    },
    /// Change the permission mode.
    SetMode {
        /// `manual`, `ask-all`, `read-only` (or `plan`), `auto`, `yolo`.
        mode: String,
    },
    /// Change the model.
    SetModel {
        /// `provider:model`.
        model: String,
    },
    /// Begin a new session; the old one stays in its journal.
    NewSession,
    /// End everything.
    Shutdown,
}

/// What can be reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Report {
    /// Tokens, money and what the cache missed.
    Usage,
    /// Models to choose from. Servers on this machine are asked for theirs.
    Models,
    /// Everything that the next request would hold.
    Context,
}

/// Where the person is when a prompt is sent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptContext {
    /// The file in the current window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<PathBuf>,
    /// 1-based line of the cursor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Selected lines, 1-based and inclusive, and their text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selection: Option<Selection>,
}

/// Selected lines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Selection {
    /// First line, 1-based.
    pub first: u32,
    /// Last line, inclusive.
    pub last: u32,
    /// The text of the lines.
    pub text: String,
}
