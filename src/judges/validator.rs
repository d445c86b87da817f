//! The second opinion on grave calls.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::{Value, json};

use crate::config::model::JudgeModel;
use crate::judges::bench::Bench;
use crate::judges::case::Case;
use crate::judges::heard::Heard;
use crate::judges::words::clean;
use crate::protocol::event::{Event, Judgement};
use crate::protocol::request::{Office, Opinion, OpinionWord};
use crate::protocol::tool::ToolSpec;

const POLICY: &str = include_str!("text/validator.md");
/// Bytes of the person's prompts that are shown.
const ROOM: usize = 4_000;

/// The validator of one session.
pub struct Validator {
    judge: JudgeModel,
    bench: Arc<Bench>,
}

#[derive(Deserialize)]
struct Verdict {
    approve: bool,
    #[serde(default)]
    reasoning: String,
}

impl Validator {
    /// A validator by the configured model.
    pub fn new(judge: JudgeModel, bench: Arc<Bench>) -> Self {
        Self { judge, bench }
    }

    /// Its opinion. What is no clear answer in time is [`OpinionWord::None`] with the reason.
    pub async fn judge(&self, case: &Case, heard: &Heard, cwd: &str) -> Opinion {
        (self.bench.tell)(Event::Judging {
            by: Office::Validator,
            model: self.judge.model.clone(),
            calls: 1,
        });
        let started = Instant::now();
        let (word, reason) = match self.verdict(case, heard, cwd).await {
            Ok(verdict) if verdict.approve => (OpinionWord::Approve, clean(&verdict.reasoning)),
            Ok(verdict) => (OpinionWord::Block, clean(&verdict.reasoning)),
            Err(why) => (OpinionWord::None, clean(&why)),
        };
        (self.bench.tell)(Event::Judged {
            by: Office::Validator,
            model: self.judge.model.clone(),
            words: vec![Judgement {
                tool: case.tool.clone(),
                title: case.title.clone(),
                word,
                reason: reason.clone(),
            }],
            elapsed_ms: u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
        });
        Opinion {
            by: Office::Validator,
            model: self.judge.model.clone(),
            word,
            reason,
        }
    }

    async fn verdict(&self, case: &Case, heard: &Heard, cwd: &str) -> Result<Verdict, String> {
        let model = self.bench.model(Some(&self.judge.model))?;
        let call = case.data().ok_or("The call is too long to be judged.")?;
        let data = json!({ "person_said": heard.last(ROOM), "working_directory": cwd, "call": call });
        let limit = Duration::from_millis(self.judge.timeout_ms);
        let answer = self.bench.ask(&model, POLICY, &data, form(), limit).await?;
        read(answer)
    }
}

fn read(answer: Value) -> Result<Verdict, String> {
    let verdict: Option<Verdict> = serde_json::from_value(answer).ok();
    // Who blocks has to say why.
    let clear = verdict.filter(|verdict| verdict.approve || !verdict.reasoning.trim().is_empty());
    clear.ok_or_else(|| "Its answer cannot be understood.".to_owned())
}

fn form() -> ToolSpec {
    ToolSpec {
        name: "verdict".into(),
        description: "Gives your opinion of the call.".into(),
        schema: json!({
            "type": "object",
            "properties": {
                "approve": { "type": "boolean" },
                "reasoning": { "type": "string", "description": "One or two sentences." },
            },
            "required": ["approve", "reasoning"],
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_clear_word_counts() {
        let word = |answer| read(answer).map(|verdict| verdict.approve).ok();
        assert_eq!(word(json!({"approve": true, "reasoning": "fine"})), Some(true));
        assert_eq!(word(json!({"approve": true})), Some(true));
        assert_eq!(word(json!({"approve": false, "reasoning": "no"})), Some(false));
        for unclear in [
            json!({}),
            json!({"approve": "true", "reasoning": "x"}),
            json!({"approve": 1}),
            json!({"approve": false, "reasoning": " "}),
            json!({"approve": false}),
            json!(true),
        ] {
            assert_eq!(word(unclear.clone()), None, "{unclear}");
        }
    }
}
