//! What the agent tells the editor.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::protocol::grant::Grant;
use crate::protocol::ids::{CallId, RequestId, SessionId, StepIx, TicketId, TurnId};
use crate::protocol::request::{Office, OpinionWord, Request};
use crate::protocol::tool::{CallResult, Outcome};

pub use crate::protocol::state::{BackgroundCommand, CompactionState, QueuedWords, Usage};
pub use crate::protocol::timeline::{Conflict, FileFate, TimelineFile, TimelineStep};

/// One thing that happened.
///
/// Laws: (1) events that *must* arrive keep the order of emission; (2) every `request` is followed by
/// exactly one `request_closed`, also when the turn is stopped; (3) every `turn_started` is followed by
/// exactly one `turn_finished`; (4) joining never crosses an event that must arrive; (5) every
/// `tool_started` is followed by exactly one `tool_finished`, also on cancel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Event {
    /// A session is ready.
    SessionStarted {
        /// Its name.
        session: SessionId,
        /// `provider:model`, when one is configured.
        model: Option<String>,
        /// The permission mode.
        mode: String,
        /// The working directory.
        cwd: PathBuf,
        /// Names of the tools on offer.
        tools: Vec<String>,
    },
    /// A turn began.
    TurnStarted {
        /// Which.
        turn: TurnId,
        /// The prompt.
        text: String,
    },
    /// A turn came to rest.
    TurnFinished {
        /// Which.
        turn: TurnId,
        /// Why.
        reason: TurnEnd,
        /// The last text of the model.
        text: String,
        /// Why it failed, and what to type; for `error` and the limits.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
    },
    /// The model speaks.
    TextDelta {
        /// In which turn.
        turn: TurnId,
        /// The next piece.
        text: String,
    },
    /// The model thinks aloud.
    ReasoningDelta {
        /// In which turn.
        turn: TurnId,
        /// The next piece.
        text: String,
    },
    /// A request failed and is sent again after a pause, which a stop of the turn ends.
    Waiting {
        /// In which turn.
        turn: TurnId,
        /// Milliseconds of the pause.
        ms: u64,
        /// Which of the further tries comes next, from 1.
        number: u32,
        /// How many there are at most.
        of: u32,
        /// One sentence: what failed.
        why: String,
    },
    /// A call begins (before it is asked).
    ToolStarted {
        /// Which call.
        call: CallId,
        /// In which step.
        step: StepIx,
        /// Canonical name, or what the model wrote when there is no such tool.
        tool: String,
        /// The argument that matters, one line.
        title: String,
    },
    /// What a call has printed last.
    ToolProgress {
        /// Which call.
        call: CallId,
        /// The tail of its output.
        tail: String,
    },
    /// A call ended.
    ToolFinished {
        /// Which call.
        call: CallId,
        /// Canonical name.
        tool: String,
        /// How.
        outcome: Outcome,
        /// A few words, for example `exit 101` or `3 hunks · +7 −4`.
        summary: String,
        /// What the model reads.
        text: String,
        /// Milliseconds, without the time that the person took.
        elapsed_ms: u64,
    },
    /// Files were changed by a call, once a call that changed some.
    FilesChanged {
        /// Absolute paths.
        paths: Vec<PathBuf>,
    },
    /// The plan changed.
    TodoUpdated {
        /// `{subject, status, active_form}` each.
        items: Vec<Value>,
    },
    /// A command in the background began or ended.
    BackgroundChanged {
        /// Those that run now.
        commands: Vec<BackgroundCommand>,
    },
    /// The agent waits for an answer.
    Request {
        /// Answer with this number.
        id: RequestId,
        /// The call from Lua that needs it; none when a turn does.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ticket: Option<TicketId>,
        /// What is needed.
        request: Request,
    },
    /// A request is answered or void.
    RequestClosed {
        /// Which.
        id: RequestId,
        /// How it ended.
        outcome: RequestEnd,
    },
    /// Hunks of files changed outside the main thread.
    HunksChanged {
        /// The files.
        paths: Vec<PathBuf>,
    },
    /// What the person said and that waits for its time, oldest first.
    WaitingChanged {
        /// All of it.
        items: Vec<QueuedWords>,
    },
    /// Words that waited went into the running turn.
    WordsTaken {
        /// Which turn.
        turn: TurnId,
        /// The words.
        text: String,
    },
    /// The conversation is made shorter, or was.
    Compaction {
        /// How far it is.
        state: CompactionState,
        /// One sentence; empty when it started.
        message: String,
        /// What stands in place of the messages, when it is a summary.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        summary: Option<String>,
    },
    /// Tokens and money so far.
    Usage(Usage),
    /// The mode changed.
    ModeChanged {
        /// The mode now.
        mode: String,
    },
    /// The model changed.
    ModelChanged {
        /// `provider:model`.
        model: String,
    },
    /// Another model begins to judge calls.
    Judging {
        /// In which office.
        by: Office,
        /// `provider:model`.
        model: String,
        /// How many calls.
        calls: usize,
    },
    /// Another model has judged, or has not.
    Judged {
        /// In which office.
        by: Office,
        /// `provider:model`.
        model: String,
        /// What it said of each call, in their order.
        words: Vec<Judgement>,
        /// How long it took.
        elapsed_ms: u64,
    },
    /// A sentence for the person.
    Notice(Notice),
    /// The answer to a call from Lua.
    CallFinished {
        /// Which.
        ticket: TicketId,
        /// The answer.
        result: CallResult,
    },
    /// The answer to an explain from Lua.
    Explained {
        /// Which.
        ticket: TicketId,
        /// `{decision, rule, layer, reason, pattern, commands, validator, reviewed}`, or `{error}`.
        explanation: Value,
    },
    /// The answer to [`crate::protocol::op::Op::Permissions`].
    Permissions {
        /// Which.
        ticket: TicketId,
        /// What the person has said beforehand.
        grants: Vec<Grant>,
        /// Why nothing was taken back, one sentence.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        problem: Option<String>,
    },
    /// The answer to a look at the repository, or to a blame.
    GitAnswered {
        /// Which.
        ticket: TicketId,
        /// `{root, git_dir, branch, head, ahead, behind, dirty}`, empty where there is no repository; or
        /// `{runs}`, or `{error}`.
        answer: Value,
    },
    /// The answer to a report that was asked for.
    Reported {
        /// Which.
        ticket: TicketId,
        /// Its shape depends on what was asked: see `agent::report`.
        report: Value,
    },
    /// Undo or redo is done, or refused.
    Restored {
        /// Whether files were put back.
        ok: bool,
        /// What happened, one sentence.
        message: String,
        /// The files put back.
        paths: Vec<PathBuf>,
        /// The files that an undo would have to overwrite.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        conflicts: Vec<Conflict>,
    },
    /// The steps that changed files.
    Timeline {
        /// Oldest first.
        steps: Vec<TimelineStep>,
    },
    /// What one step changed.
    StepDiff {
        /// Which.
        step: StepIx,
        /// A unified diff over all its files; of what is no text a line that says so.
        diff: String,
    },
    /// Something waits for review in an earlier session of this project.
    SessionOffered {
        /// The newest of them; [`crate::protocol::op::Op::Resume`] goes on with it.
        session: SessionId,
        /// Hunks in it.
        hunks: usize,
        /// Files of these.
        files: usize,
        /// Further sessions in which something waits.
        others: usize,
    },
    /// An earlier session goes on, or cannot.
    SessionResumed {
        /// Whether it goes on.
        ok: bool,
        /// What came back and what did not, in whole sentences; or why not.
        message: String,
        /// The files in which something waits again.
        paths: Vec<PathBuf>,
    },
    /// The agent ended.
    Stopped {
        /// Why.
        reason: String,
    },
}

/// What another model said of one call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judgement {
    /// Canonical name of the tool.
    pub tool: String,
    /// The call, one line.
    pub title: String,
    /// What was said.
    pub word: OpinionWord,
    /// Why.
    pub reason: String,
}

/// Why a turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnEnd {
    /// The model has nothing more to do.
    Done,
    /// The person stopped it.
    Interrupted,
    /// The provider or the agent failed.
    Error,
    /// More steps than allowed.
    StepLimit,
    /// The same call again and again.
    Loop,
}

/// How a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RequestEnd {
    /// It was answered.
    Answered,
    /// The turn was stopped, or the agent ended.
    Cancelled,
}

/// A sentence for the person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notice {
    /// How loud.
    pub level: Level,
    /// One sentence: what happened.
    pub message: String,
    /// What to type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// How loud a notice is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Good to know.
    Info,
    /// Something to do.
    Warn,
    /// Something failed.
    Error,
}

/// How an event may be treated when the editor is slower than the agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// Arrives, in order.
    Must,
    /// May be joined with its neighbour of the same kind.
    Joinable,
    /// May be replaced by a later one of the same kind and subject.
    LastWins,
}

impl Event {
    /// How this event may be delivered.
    pub fn delivery(&self) -> Delivery {
        match self {
            Self::TextDelta { .. } | Self::ReasoningDelta { .. } => Delivery::Joinable,
            Self::ToolProgress { .. }
            | Self::TodoUpdated { .. }
            | Self::Usage(_)
            | Self::WaitingChanged { .. }
            | Self::HunksChanged { .. } => Delivery::LastWins,
            _ => Delivery::Must,
        }
    }
}
