//! What the editor may ask of the agent.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::protocol::grant::Grant;
use crate::protocol::ids::{HunkId, RequestId, SessionId, StepIx, TicketId, TurnId, WaitingId};
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
    /// List what the person has allowed, asked for and denied beforehand; first take one back.
    Permissions {
        /// Comes back in [`crate::protocol::event::Event::Permissions`].
        ticket: TicketId,
        /// The one to take back, as it was listed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        revoke: Option<Grant>,
    },
    /// Look at the repository of the working directory.
    LookAtGit {
        /// Comes back in [`crate::protocol::event::Event::GitAnswered`].
        ticket: TicketId,
    },
    /// Say which commit each line of a file comes from.
    Blame {
        /// Comes back in [`crate::protocol::event::Event::GitAnswered`].
        ticket: TicketId,
        /// The file, absolute.
        path: PathBuf,
        /// The unsaved text of its buffer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
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
    Undo(Undo),
    /// List the steps that changed files, as [`crate::protocol::event::Event::Timeline`].
    Timeline,
    /// Show what one step changed, as [`crate::protocol::event::Event::StepDiff`].
    StepDiff {
        /// Which.
        step: StepIx,
    },
    /// Go on with an earlier session of this project: its conversation, its steps, what waits for review.
    Resume {
        /// Which; `None` = the newest in which something waits, else the newest.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session: Option<SessionId>,
    },
    /// Take back the last undo.
    Redo,
    /// Hunks were accepted or rejected; the model hears of it with the next prompt.
    Reviewed {
        /// The file.
        path: PathBuf,
        /// What became of each.
        hunks: Vec<HunkOutcome>,
    },
    /// Reject hunks of a file that no buffer holds; a buffer's are rejected by the editor.
    Reject {
        /// The file.
        path: PathBuf,
        /// One hunk; none = all of the file.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        hunk: Option<HunkId>,
    },
    /// Bring back what was rejected last in a file that no buffer holds; a buffer's comes back in the editor.
    BringBack {
        /// The file.
        path: PathBuf,
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

impl Op {
    /// Take back the files of so many steps; `None` = of the whole last turn.
    pub fn undo(steps: Option<u32>) -> Self {
        Self::Undo(Undo {
            steps,
            ..Undo::default()
        })
    }
}

/// Which steps go back, and how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Undo {
    /// How many steps, at least 1; `None` = the whole last turn.
    #[serde(default)]
    pub steps: Option<u32>,
    /// This step and all after it, in place of a count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<StepIx>,
    /// What goes back.
    #[serde(default)]
    pub what: Restore,
    /// What becomes of files in which an undo would overwrite the person's lines.
    #[serde(default)]
    pub conflicts: OnConflict,
}

/// A hunk in a few words, and what the person decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HunkOutcome {
    /// Its first line when it was decided on, 1-based.
    pub line: usize,
    /// The first line that the agent wrote there, else the first that it removed.
    pub text: String,
    /// Whether it was accepted; else rejected.
    #[serde(default)]
    pub accepted: bool,
}

/// What an undo takes back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Restore {
    /// The files; the model hears of it with the next prompt.
    #[default]
    Files,
    /// What was said from there on.
    Conversation,
    /// Both.
    Both,
}

/// What an undo does with files whose lines of the person it cannot keep by itself. Lines apart from the
/// agent's are always kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnConflict {
    /// Nothing at all is put back, and the files are named.
    #[default]
    Refuse,
    /// These files stay as they are, the others are put back.
    Skip,
    /// The old lines come back with the person's beside them, between conflict markers.
    Mark,
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
