//! The two ports.

use std::path::{Path, PathBuf};

use async_trait::async_trait;
use thiserror::Error;

use crate::protocol::change::{AppliedFile, BufferText, EditBatch};
use crate::protocol::request::{Approval, Choice, Diagnostic, NotSaved, Question, UnsavedBuffer};

/// The editor's buffers.
#[async_trait]
pub trait Editor: Send + Sync {
    /// The text of the loaded buffer that holds `path` (absolute, links resolved); `None` when none does.
    async fn read_buffer(&self, path: &Path) -> Result<Option<BufferText>, EditorError>;

    /// The texts of all loaded buffers that hold unsaved changes.
    async fn unsaved(&self) -> Result<Vec<UnsavedBuffer>, EditorError>;

    /// Edits loaded buffers: all of them or none. Waits until the editor can be edited.
    async fn apply(&self, batch: EditBatch) -> Result<Vec<AppliedFile>, EditorError>;

    /// What language servers say of the loaded buffers of `paths`, or of all.
    async fn diagnostics(&self, paths: Option<Vec<PathBuf>>) -> Result<Vec<Diagnostic>, EditorError>;

    /// Writes the loaded buffers that hold `paths`. The answer names those that could not be written.
    async fn save(&self, paths: Vec<PathBuf>) -> Result<Vec<NotSaved>, EditorError>;
}

/// Why the editor did not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum EditorError {
    /// The buffer changed since it was read, or was loaded or unloaded: read again and retry.
    #[error("{0}")]
    Stale(String),
    /// The editor refuses, and will again.
    #[error("{0}")]
    Refused(String),
    /// The turn was stopped while waiting.
    #[error("the turn was stopped")]
    Cancelled,
}

/// The person in front of the editor.
#[async_trait]
pub trait Human: Send + Sync {
    /// Whether there is one. Without, `Ask` becomes `Deny`.
    fn present(&self) -> bool;

    /// Asks whether a call may run.
    async fn approve(&self, approval: Approval) -> Result<Answer, HumanError>;

    /// Asks questions; `None` = no answer at all.
    async fn ask(&self, questions: Vec<Question>) -> Result<Option<Vec<Vec<String>>>, HumanError>;
}

/// The person's word on a call.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The choice.
    pub decision: Choice,
    /// Words with a denial.
    pub feedback: Option<String>,
    /// Changed arguments; judged anew.
    pub args: Option<serde_json::Value>,
    /// Whether unsaved buffers are written first.
    pub save: bool,
}

/// Why the person gave no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum HumanError {
    /// The turn was stopped.
    #[error("the turn was stopped")]
    Cancelled,
    /// Nobody is there to ask.
    #[error("nobody is there to answer")]
    Absent,
}
