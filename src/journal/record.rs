//! What a journal says.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::journal::path_text;
use crate::protocol::change::ContentHash;
use crate::protocol::event::TurnEnd;
use crate::protocol::ids::{SessionId, StepIx, TurnId};
use crate::protocol::message::Message;

/// One line of a journal. The order of lines is the order of events.
///
/// Within one major version kinds and fields are only added, and an added field has a default; see
/// `doc/adr/0005-journal-format.md`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Record {
    /// The session began, or was resumed by another process.
    SessionStarted {
        /// Its name.
        session: SessionId,
        /// The working directory.
        #[serde(with = "path_text")]
        cwd: PathBuf,
        /// `provider:model`, when one is configured.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
        /// The permission mode.
        mode: String,
        /// The version of dcode.
        version: String,
    },
    /// The history grew by a message. The history is exactly these, in order, but for what a
    /// [`Record::HistoryCut`] took away.
    MessageAppended {
        /// The message.
        message: Message,
    },
    /// The person took a part of the conversation back.
    HistoryCut {
        /// How many messages are left of those before this record.
        messages: usize,
    },
    /// The history was rewritten: it is these messages now, and goes on behind them.
    Compacted {
        /// The new history.
        messages: Vec<Message>,
        /// The summary in it, when there is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        summary: Option<String>,
    },
    /// The last rewriting that was not taken back yet was taken back; what was said since stays.
    CompactionUndone,
    /// A turn began.
    TurnStarted {
        /// Which.
        turn: TurnId,
        /// The person's words; empty in a journal of version 1.0.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        text: String,
    },
    /// A turn came to rest.
    TurnFinished {
        /// Which.
        turn: TurnId,
        /// Why.
        reason: TurnEnd,
    },
    /// A step began.
    StepStarted {
        /// Which.
        step: StepIx,
        /// Of which turn.
        turn: TurnId,
    },
    /// What a step left to review stands in the records before this one. A step without it was cut off.
    StepKept {
        /// Which.
        step: StepIx,
    },
    /// A step was taken back.
    StepUndone {
        /// Which.
        step: StepIx,
    },
    /// A step was put back.
    StepRedone {
        /// Which.
        step: StepIx,
    },
    /// A file waits for review, or its base moved. The last one of a path counts.
    ReviewBase {
        /// The file.
        #[serde(with = "path_text")]
        path: PathBuf,
        /// What the person has agreed to; `None` = the file did not exist.
        base: Option<ContentHash>,
        /// What the file held when this was written; `None` = it does not exist.
        current: Option<ContentHash>,
        /// More about the file.
        #[serde(default)]
        flags: ReviewFlags,
    },
    /// Nothing of a file waits for review any more.
    ReviewClosed {
        /// The file.
        #[serde(with = "path_text")]
        path: PathBuf,
    },
    /// The permission mode changed.
    ModeChanged {
        /// The mode now.
        mode: String,
    },
    /// The model changed.
    ModelChanged {
        /// `provider:model`.
        model: String,
    },
    /// A record of a later minor version, as it was written. It is kept in the file and never written.
    #[serde(skip)]
    Unknown(Value),
}

/// What a review must know of a file beside its text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewFlags {
    /// The agent made the file.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub created: bool,
    /// The agent removed the file.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deleted: bool,
    /// The file is not text: it is accepted or rejected as a whole.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub binary: bool,
}

impl Record {
    /// Reads the JSON of a line whose checksum fits. An object that this version does not know is
    /// [`Record::Unknown`]; `None` when it is no object with a `type`.
    pub fn parse(json: &str) -> Option<Self> {
        if let Ok(record) = serde_json::from_str(json) {
            return Some(record);
        }
        let value: Value = serde_json::from_str(json).ok()?;
        value.get("type")?.as_str()?;
        Some(Self::Unknown(value))
    }
}
