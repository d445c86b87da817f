//! What the person sees and picks.

use serde::{Deserialize, Serialize};

use crate::protocol::change::{LineEdit, Origin};
use crate::protocol::ids::HunkId;
use crate::review::whole::{Whole, WholeKind};

/// One difference that waits for the person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hunk {
    /// Stable as long as the hunk exists.
    pub id: HunkId,
    /// First line in the file now, 1-based. Where lines were only deleted: the line that stands in their
    /// place, or the last line when they stood at the end; always a line that an editor shows.
    pub start: usize,
    /// Lines in the file now; 0 where lines were only deleted.
    pub count: usize,
    /// The base's lines.
    pub removed: Vec<String>,
    /// The lines now.
    pub added: Vec<String>,
    /// The change gives (`true`) or takes (`false`) the final newline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub final_newline: Option<bool>,
    /// The change makes or removes the whole file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<Existence>,
    /// The deleted lines stood after line `start`, at the end of the file.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub at_end: bool,
    /// The change is one of the file as a whole, which no line shows; `start` is 1 and there are no lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whole: Option<WholeKind>,
}

/// What became of a file as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Existence {
    /// It was not there before.
    Created,
    /// It is not there any more.
    Deleted,
}

/// Who changes a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Author {
    /// The agent: its lines wait for review.
    Agent,
    /// The person, and what acts for them: native undo, `:e!`, the rejection of a hunk, `:DcodeUndo`.
    Person,
}

impl From<Origin> for Author {
    fn from(origin: Origin) -> Self {
        match origin {
            Origin::Agent => Self::Agent,
            Origin::Restore => Self::Person,
        }
    }
}

/// Which hunks of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Selector {
    /// One.
    Hunk(HunkId),
    /// What lies in these lines of the file now, 1-based and inclusive; of a hunk that reaches further,
    /// the part in them.
    Lines {
        /// First line.
        first: usize,
        /// Last line.
        last: usize,
    },
    /// All of them.
    All,
}

/// How to put the base back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rejection {
    /// The edits, ascending and disjoint, in the line numbers of the text now, as an editor counts them.
    pub edits: Vec<LineEdit>,
    /// The final newline to set.
    pub eol: Option<bool>,
    /// The whole text afterwards with its line endings, for a file that no buffer holds; `None` = the file
    /// does not exist afterwards.
    pub text: Option<String>,
    /// The agent made the file and the person did not touch it: it goes away altogether.
    pub remove_file: bool,
    /// How many hunks are rejected, wholly or in part.
    pub hunks: usize,
    /// The change of the file as a whole that is rejected too: the engine puts it back.
    pub whole: Option<Whole>,
}
