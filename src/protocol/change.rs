//! Changes of files: the only way anything writes one.
//!
//! A tool says what a file shall be; it does not know whether the file is a loaded buffer or lies on
//! disk. The backend turns a [`ChangeSet`] into an [`EditBatch`] for the editor and atomic writes for
//! the disk: all files of a set change, or none.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Who makes a change; review treats the two differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// The agent: what it changes waits for review.
    Agent,
    /// Undo, or the rejection of a hunk: puts back what was there, and is not reviewed.
    Restore,
}

/// When an edited buffer is written. One that held the person's unsaved changes never is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SavePolicy {
    /// After each edit.
    #[default]
    OnEdit,
    /// When its last hunk is accepted.
    OnAccept,
    /// Only by the person.
    Never,
}

/// What the one who makes a change has seen of the file. Another content is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expect {
    /// Nothing lies at the path.
    Absent,
    /// The text (see [`FileText::hash`]) is this.
    Text(ContentHash),
    /// The bytes on disk are these.
    Bytes(ContentHash),
    /// Whatever is there may be replaced.
    Any,
}

/// What a file shall hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// Text with its line endings as they shall be; encoding and BOM of the file are kept.
    Text(String),
    /// Bytes as they are, and the mode bits if they shall change.
    Bytes {
        /// The whole content.
        bytes: Vec<u8>,
        /// Permission bits, for example `0o755`.
        mode: Option<u32>,
    },
    /// Another file as it lies on disk, with its permission bits; its deletion is a change of its own.
    Moved {
        /// The other file: absolute, links resolved.
        from: PathBuf,
        /// The text that it shall hold, in the other file's encoding; `None` = its bytes.
        text: Option<String>,
    },
}

/// One file of a [`ChangeSet`]. A move is a deletion and a write in one set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileChange {
    /// Make or replace a file.
    Write {
        /// Absolute, links resolved.
        path: PathBuf,
        /// What was seen before.
        expect: Expect,
        /// What it shall hold.
        content: Content,
    },
    /// Remove a file.
    Delete {
        /// Absolute, links resolved.
        path: PathBuf,
        /// What was seen before.
        expect: Expect,
    },
}

impl FileChange {
    /// The path that changes.
    pub fn path(&self) -> &std::path::Path {
        match self {
            Self::Write { path, .. } | Self::Delete { path, .. } => path,
        }
    }
}

/// Changes that happen together or not at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeSet {
    /// Who makes it.
    pub origin: Origin,
    /// A few words for the person, for example `edit_file src/a.rs`.
    pub label: String,
    /// One change a path.
    pub changes: Vec<FileChange>,
}

/// The SHA-256 of a text or of bytes, in lower-case hex.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ContentHash(pub String);

impl ContentHash {
    /// The hash of `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        use sha2::{Digest, Sha256};
        Self(
            Sha256::digest(bytes)
                .iter()
                .map(|byte| format!("{byte:02x}"))
                .collect(),
        )
    }
}

/// Where the text of a file came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TextSource {
    /// A loaded buffer, which is the truth even when it is not saved.
    Buffer {
        /// Buffer number.
        buf: i64,
        /// `changedtick` at the time of reading.
        tick: u64,
        /// Whether it held unsaved changes.
        modified: bool,
    },
    /// The disk.
    Disk,
}

/// The text of a file as tools see it.
///
/// From disk it is the decoded text without BOM, line endings as they are. From a buffer it is the
/// lines joined by `\n`, with a final `\n` unless `noeol`; `fileformat` supplies the `\r`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileText {
    /// The text.
    pub text: String,
    /// Where it came from.
    pub source: TextSource,
    /// How it lies on disk, in words, where that is not plain UTF-8: `windows-1252, CRLF line endings`.
    pub laid_down: Option<String>,
}

impl FileText {
    /// The hash that [`Expect::Text`] is compared with.
    pub fn hash(&self) -> ContentHash {
        ContentHash::of(self.text.as_bytes())
    }
}

/// Replaces lines `start..end` (0-based, `end` exclusive) by `lines`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineEdit {
    /// First line replaced.
    pub start: usize,
    /// The line after the last one replaced.
    pub end: usize,
    /// What stands there afterwards; no line holds a newline.
    pub lines: Vec<String>,
}

/// The edits of one buffer, in line numbers of the text before the batch, ascending.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BufferEdits {
    /// The path.
    pub path: PathBuf,
    /// Buffer number.
    pub buf: i64,
    /// `changedtick` for which the edits were computed; another one refuses the batch.
    pub tick: u64,
    /// The edits, ascending and disjoint.
    pub edits: Vec<LineEdit>,
    /// `endofline` afterwards, where it changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub eol: Option<bool>,
    /// Whether the buffer is written afterwards. It never is when it held unsaved changes.
    pub save: bool,
    /// The file does not exist any more afterwards: the text is emptied and the buffer is left unsaved.
    pub deleted: bool,
}

/// Edits for the editor to make in one go: every buffer in one undo block, all buffers or none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EditBatch {
    /// Who makes them.
    pub origin: Origin,
    /// A few words for the person.
    pub label: String,
    /// The buffers.
    pub files: Vec<BufferEdits>,
    /// Paths that are written on disk in the same set: a buffer loaded meanwhile refuses the batch.
    pub unloaded: Vec<PathBuf>,
}

/// The text of a loaded buffer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BufferText {
    /// Buffer number.
    pub buf: i64,
    /// `changedtick`.
    pub tick: u64,
    /// Lines joined by `\n`, with a final `\n` unless `noeol`.
    pub text: String,
    /// Whether it holds unsaved changes.
    pub modified: bool,
}

/// What became of one file of a change set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppliedFile {
    /// The path.
    pub path: PathBuf,
    /// The buffer that was edited, if one was.
    pub buf: Option<i64>,
    /// Whether the disk holds the new content now.
    pub saved: bool,
    /// Why it was not saved, in words for the model and the person.
    pub note: Option<String>,
    /// The text afterwards, formatters included; `None` for a removed or binary file.
    pub text: Option<String>,
}
