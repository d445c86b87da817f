//! Requests: events that need exactly one answer. Field names are those of the public interface.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::protocol::change::{AppliedFile, BufferText, EditBatch};

/// What the agent needs from the editor or the person.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Request {
    /// May this call run?
    Approval(Box<Approval>),
    /// The model asks the person.
    Question {
        /// At least one.
        questions: Vec<Question>,
    },
    /// The text of the buffer that holds `path`, if one is loaded.
    ReadBuffer {
        /// Absolute, links resolved.
        path: PathBuf,
    },
    /// The texts of all loaded buffers that hold unsaved changes.
    Unsaved,
    /// Edit loaded buffers.
    ApplyEdits(EditBatch),
    /// What language servers and linters say of loaded buffers: errors and warnings. Of a buffer that is
    /// still being looked at nothing is told.
    Diagnostics {
        /// Of these files; `None` = of all.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        paths: Option<Vec<PathBuf>>,
    },
    /// Write loaded buffers.
    SaveBuffers {
        /// Their files.
        paths: Vec<PathBuf>,
    },
}

/// The text of a buffer that is not saved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnsavedBuffer {
    /// Absolute, links resolved.
    pub path: PathBuf,
    /// Lines joined by `\n`, with a final `\n` unless `noeol`.
    pub text: String,
}

/// A call that waits for the person's word.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Approval {
    /// Canonical name of the tool.
    pub tool: String,
    /// One line: what would happen.
    pub title: String,
    /// Why it is asked, one sentence.
    pub reason: String,
    /// The rule that asks, and where it comes from.
    pub rule: String,
    /// For bash: the simple commands of the line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commands: Option<Vec<CommandVerdict>>,
    /// The files that would change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paths: Option<Vec<PathBuf>>,
    /// The change as a unified diff, or the command's full text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// For commands, where there is a sandbox: on which side of its walls it would run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<Side>,
    /// What may be answered, in the order once, session, always, deny, once_all, deny_all.
    pub choices: Vec<Choice>,
    /// What a `session` or `always` answer would be remembered as.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// For commands: files whose buffers hold unsaved changes, which the command would not see.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unsaved: Vec<PathBuf>,
    /// What other models said of the call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub opinions: Vec<Opinion>,
    /// Later calls of the same step that would be asked as well. With them, `once_all` and `deny_all` are on
    /// offer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub more: Vec<Waiting>,
    /// The arguments, where the person may change them before the call runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args: Option<Value>,
}

/// A side of the sandbox's walls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// It writes in the project alone, and the home is hidden.
    Inside,
    /// It can do what the person can.
    Outside,
}

/// One error or warning.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnostic {
    /// The file.
    pub path: PathBuf,
    /// 1-based.
    pub line: usize,
    /// `error` or `warning`.
    pub severity: String,
    /// Who says so, for example `rustc`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The message, perhaps of several lines.
    pub message: String,
}

impl Diagnostic {
    /// All but the place, in one line.
    pub fn words(&self) -> String {
        let message = self.message.split_whitespace().collect::<Vec<_>>().join(" ");
        let source = self.source.as_ref().map(|source| format!(" ({source})"));
        format!("{}: {message}{}", self.severity, source.unwrap_or_default())
    }
}

/// A buffer that could not be written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotSaved {
    /// Its file.
    pub path: PathBuf,
    /// Why, as the end of a sentence.
    pub reason: String,
}

/// What a model said of a call before the person was asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opinion {
    /// In which office.
    pub by: Office,
    /// `provider:model`.
    pub model: String,
    /// What it said.
    pub word: OpinionWord,
    /// Why, in the model's words; or why it said nothing.
    pub reason: String,
}

/// The offices in which a model judges calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Office {
    /// Judges grave calls, in every mode.
    Validator,
    /// Answers in the person's place, in the mode `auto`.
    Auto,
}

/// What a model may say of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OpinionWord {
    /// It may run.
    Approve,
    /// It should not run.
    Block,
    /// No answer came, or none that can be understood.
    None,
}

/// A call that will be asked later in the same step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Waiting {
    /// Canonical name of the tool.
    pub tool: String,
    /// One line: what would happen.
    pub title: String,
    /// Why it is asked, one sentence.
    pub reason: String,
    /// For bash: the simple commands of the line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commands: Option<Vec<CommandVerdict>>,
    /// The change as a unified diff, or the command's full text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
}

/// An answer to an [`Approval`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Choice {
    /// This call only.
    Once,
    /// Calls like this one, until the session ends.
    Session,
    /// Calls like this one, from now on.
    Always,
    /// Not this call.
    Deny,
    /// This call and those of [`Approval::more`], each once.
    OnceAll,
    /// Neither this call nor those of [`Approval::more`].
    DenyAll,
}

/// One simple command of a shell line, judged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandVerdict {
    /// The command as written.
    pub text: String,
    /// `read`, `change`, `unknown`, `destructive` or `unparsable`.
    pub class: String,
    /// `allow`, `ask` or `deny`.
    pub decision: String,
}

/// One question of the model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// The question.
    pub question: String,
    /// A short label; what is longer than 30 characters is cut where it is shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub header: Option<String>,
    /// What may be chosen; empty means that the question can only be skipped.
    pub options: Vec<QuestionOption>,
    /// Whether several may be chosen.
    #[serde(default)]
    pub multiple: bool,
}

/// One answer on offer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuestionOption {
    /// What the model is told when it is chosen.
    pub label: String,
    /// More words for the person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// The one answer to a request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Reply {
    /// To [`Request::Approval`].
    Approval {
        /// The choice.
        decision: Choice,
        /// The person's words with a denial.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        feedback: Option<String>,
        /// Arguments that the person changed; they are judged anew.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        args: Option<Value>,
        /// Whether the unsaved buffers are written first.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        save: bool,
    },
    /// To [`Request::Question`]: the chosen labels of each question; `None` = no answer at all.
    Question {
        /// One list a question, in order.
        answers: Option<Vec<Vec<String>>>,
    },
    /// To [`Request::ReadBuffer`]: `None` when no buffer holds the file.
    Buffer {
        /// The text.
        buffer: Option<BufferText>,
    },
    /// To [`Request::Unsaved`].
    Unsaved {
        /// In no order.
        buffers: Vec<UnsavedBuffer>,
    },
    /// To [`Request::ApplyEdits`], when every buffer was edited.
    Applied {
        /// What became of each.
        files: Vec<AppliedFile>,
    },
    /// To [`Request::Diagnostics`].
    Diagnostics {
        /// In no order.
        #[serde(default)]
        found: Vec<Diagnostic>,
    },
    /// To [`Request::SaveBuffers`].
    Saved {
        /// Those that could not be written.
        #[serde(default)]
        failed: Vec<NotSaved>,
    },
    /// To [`Request::ReadBuffer`] or [`Request::ApplyEdits`], when nothing was changed.
    Refused {
        /// Whether the same thing may be tried again after a fresh read.
        stale: bool,
        /// Why, in one sentence.
        message: String,
    },
}
