//! Verdicts and their order.

use serde::{Deserialize, Serialize};

use crate::protocol::request::{Choice, CommandVerdict};

/// What may happen to a call. Ordered: joining several is the maximum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// It runs.
    Allow,
    /// The person is asked.
    Ask,
    /// It does not run.
    Deny,
}

impl Decision {
    /// `allow`, `ask` or `deny`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

/// What the gate says of a call, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// The decision.
    pub decision: Decision,
    /// The layer that spoke last: `hard`, `rule`, `tier`, `memory`, `mode`.
    pub layer: String,
    /// The rule in words with the place it comes from, and what to type to change it.
    pub rule: String,
    /// One sentence for the person or the model.
    pub reason: String,
    /// What a remembered answer would be remembered as.
    pub pattern: Option<String>,
    /// For a shell line: its simple commands.
    pub commands: Option<Vec<CommandVerdict>>,
    /// The answers on offer when the person is asked.
    pub choices: Vec<Choice>,
    /// Whether a model may answer in the person's place, in the mode `auto`.
    pub reviewable: bool,
    /// Why the call is grave enough for the validator, whatever the decision is; one sentence.
    pub grave: Option<String>,
}
