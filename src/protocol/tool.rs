//! Tools as data: what the model is told of one, and how one ended.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a tool may do to the world; permission starts from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolClass {
    /// Looks only. Never asks.
    Read,
    /// Changes files, at paths that are known beforehand.
    Mutate,
    /// Runs programs, whose effects are not known beforehand.
    Execute,
    /// A tool of a server that does not say credibly that it only looks. What it does is not known, and where
    /// nobody is there to be asked it runs in no mode.
    Foreign,
    /// Keeps our own books (plan, questions). Always runs unasked.
    Bookkeeping,
}

impl ToolClass {
    /// Whether it may do more than look.
    pub fn acts(self) -> bool {
        matches!(self, Self::Mutate | Self::Execute | Self::Foreign)
    }
}

/// What the model is told of a tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// The canonical name.
    pub name: String,
    /// The description, in Markdown.
    pub description: String,
    /// The JSON schema of the arguments; its root is an object.
    pub schema: Value,
}

/// How a call ended, in a word for the person.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It ran.
    Ok,
    /// It ran and failed, or its arguments were wrong.
    Failed,
    /// A rule or the person refused it.
    Denied,
    /// The turn was stopped while it ran or before.
    Cancelled,
}

/// The answer to a call that came from Lua.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CallResult {
    /// Whether the tool ran and succeeded.
    pub ok: bool,
    /// What a model would have read.
    pub text: String,
    /// Media blocks, when there are some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocks: Option<Vec<Value>>,
    /// What the gate said: `allow`, `ask` or `deny`.
    pub decision: String,
}
