//! How a call ended, and the words for it.

use std::path::PathBuf;
use std::time::Duration;

use crate::permission::decision::{Decision, Verdict};
use crate::protocol::message::Block;
use crate::protocol::request::{Office, Opinion, OpinionWord};
use crate::protocol::tool::Outcome;
use crate::tools::tool::ToolError;

/// How a call ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Finished {
    /// In a word.
    pub outcome: Outcome,
    /// What the model reads.
    pub text: String,
    /// Media that go with it.
    pub media: Vec<Block>,
    /// A few words for the person.
    pub summary: String,
    /// Files that were changed.
    pub changed: Vec<PathBuf>,
    /// What the gate said.
    pub decision: Decision,
    /// The tool's own time.
    pub elapsed: Duration,
    /// A sentence for the person, beside the result.
    pub notice: Option<String>,
}

impl Finished {
    /// A call that did not run because its arguments did not fit or there is no such tool.
    pub fn unfit(error: &ToolError) -> Self {
        Self::without_run(Outcome::Failed, error.to_string(), "not run", Decision::Allow)
    }

    /// A call that the turn's stop overtook.
    pub fn cancelled() -> Self {
        let text = "Interrupted by the person before it was done.".to_owned();
        Self::without_run(Outcome::Cancelled, text, "interrupted", Decision::Allow)
    }

    /// A call that did not run, or gave nothing but words.
    pub(super) fn without_run(outcome: Outcome, text: String, summary: &str, decision: Decision) -> Self {
        Self {
            outcome,
            text,
            media: Vec::new(),
            summary: summary.into(),
            changed: Vec::new(),
            decision,
            elapsed: Duration::ZERO,
            notice: None,
        }
    }

    /// A rule refuses.
    pub(super) fn denied_by_rule(verdict: &Verdict) -> Self {
        let text = format!(
            "Not allowed: {} ({}). Do not try the same another way; go on without it, or ask the person.",
            verdict.reason, verdict.rule
        );
        Self::without_run(Outcome::Denied, text, "not allowed", Decision::Deny)
    }

    /// A judging model refuses.
    pub(super) fn denied_by_model(opinion: &Opinion) -> Self {
        let text = match (opinion.by, opinion.word) {
            (_, OpinionWord::None) => format!(
                "Not run: {} is to judge such calls, and gave no answer: {} Nobody is there to be asked instead. \
                 Go on without it.",
                opinion.model, opinion.reason
            ),
            (office, _) => format!(
                "Not run: {}, which {}, denied it: {} Do not try the same another way; go on without it, or ask \
                 the person.",
                opinion.model,
                match office {
                    Office::Validator => "judges grave calls",
                    Office::Auto => "reviews calls for the person",
                },
                opinion.reason
            ),
        };
        Self::without_run(Outcome::Denied, text, "denied", Decision::Deny)
    }

    /// The person refuses.
    pub(super) fn denied_by_person(feedback: Option<&str>) -> Self {
        let text = match feedback.map(str::trim).filter(|words| !words.is_empty()) {
            Some(words) => format!("The person denied this call and says: {words}"),
            None => {
                "The person denied this call. Do not try it again; go another way, or ask what is wanted."
                    .into()
            }
        };
        Self::without_run(Outcome::Denied, text, "denied", Decision::Ask)
    }
}
