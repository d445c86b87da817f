//! What the person has allowed, asked for or denied beforehand, as it is listed and taken back.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// One entry of the list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    /// Where it is kept.
    pub kind: GrantKind,
    /// `allow`, `ask` or `deny`.
    pub mode: String,
    /// What it is about: a pattern of commands, or operations and paths such as `write /etc/hosts`.
    pub text: String,
    /// Where it comes from, in words.
    pub source: String,
    /// The file, where it stands in one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<PathBuf>,
    /// The line in the file, counted from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// Whether it can be taken back: answers of this session, and what the person's own file allows.
    pub revocable: bool,
}

/// Where a grant is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GrantKind {
    /// An answer that holds until the session ends.
    Session,
    /// An entry of `permissions.bash`.
    Command,
    /// A filesystem rule of `permissions.rules`.
    Rule,
}
