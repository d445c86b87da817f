//! The reviewer of the mode `auto`: one question for all calls of a step that the tiers would ask.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::{Value, json};

use crate::config::model::JudgeModel;
use crate::judges::bench::Bench;
use crate::judges::case::Case;
use crate::judges::heard::Heard;
use crate::judges::tally::Tally;
use crate::judges::words::clean;
use crate::protocol::event::{Event, Judgement};
use crate::protocol::request::{Office, Opinion, OpinionWord};
use crate::protocol::tool::ToolSpec;

const POLICY: &str = include_str!("text/auto.md");
const FORM: &str = "verdicts";
/// The time for a batch where the configuration names none.
const LIMIT: Duration = Duration::from_secs(20);
/// Bytes of the person's prompts that are shown.
const ROOM: usize = 80_000;

const CATEGORIES: [&str; 9] = [
    "scope_escalation",
    "destructive_action",
    "credential_access",
    "external_sharing",
    "security_bypass",
    "persistence",
    "protected_resource",
    "trust_boundary",
    "other_policy",
];

/// What becomes of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ruling {
    /// It runs.
    Allow,
    /// It does not run; the model is told why.
    Deny(Opinion),
    /// The person is asked, and shown this.
    Person(Opinion),
}

/// The reviewer of one session.
pub struct Auto {
    configured: Option<JudgeModel>,
    bench: Arc<Bench>,
    tally: Mutex<Tally>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Verdicts {
    decisions: Vec<Decision>,
}

#[derive(Deserialize)]
struct Decision {
    action_index: usize,
    decision: Word,
    #[serde(default)]
    category: Option<String>,
    #[serde(default)]
    reason: Option<String>,
}

#[derive(Clone, Copy, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
enum Word {
    Allow,
    Deny,
}

impl Auto {
    /// A reviewer by the configured model, else by the model of the conversation.
    pub fn new(configured: Option<JudgeModel>, bench: Arc<Bench>) -> Self {
        Self {
            configured,
            bench,
            tally: Mutex::default(),
        }
    }

    /// The person said something new: what was denied before is no reason any more.
    pub fn begin(&self) {
        self.tally().begin();
    }

    /// The person let a call run that the reviewer did not.
    pub fn person_allowed(&self) {
        self.tally().person_allowed();
    }

    /// Rules on the calls of a batch, one ruling each. `same_step` names what runs beside them.
    pub async fn review(
        &self,
        cases: &[Case],
        same_step: &[String],
        heard: &Heard,
        cwd: &str,
    ) -> Vec<Ruling> {
        let configured = self.configured.as_ref();
        let mut name = configured.map_or_else(String::new, |judge| judge.model.clone());
        let model = self.bench.model(configured.map(|judge| judge.model.as_str()));
        let to_person = |name: &str, why: &str| {
            let opinion = Opinion {
                by: Office::Auto,
                model: name.to_owned(),
                word: OpinionWord::None,
                reason: why.to_owned(),
            };
            vec![Ruling::Person(opinion); cases.len()]
        };
        let model = match model {
            Ok(model) => model,
            Err(why) => return to_person(&name, &why),
        };
        model.name().clone_into(&mut name);
        let Some(calls) = cases.iter().map(Case::data).collect::<Option<Vec<Value>>>() else {
            return to_person(&name, "A call is too long to be reviewed.");
        };
        let numbered: Vec<Value> = (0..)
            .zip(&calls)
            .map(|(index, call)| numbered(index, call))
            .collect();
        let print = Value::Array(calls).to_string();
        if let Some(why) = self.tally().gives_up(&print) {
            return to_person(&name, why);
        }
        let data = json!({
            "person_said": heard.last(ROOM),
            "working_directory": cwd,
            "calls": numbered,
            "same_step": same_step,
        });
        let limit = configured.map_or(LIMIT, |judge| Duration::from_millis(judge.timeout_ms));
        (self.bench.tell)(Event::Judging {
            by: Office::Auto,
            model: name.clone(),
            calls: cases.len(),
        });
        let started = Instant::now();
        let answer = self.bench.ask(&model, POLICY, &data, form(), limit).await;
        let rulings = match answer.and_then(|answer| read(answer, cases.len(), &name)) {
            Ok(rulings) => {
                let allowed = rulings.iter().map(|ruling| *ruling == Ruling::Allow);
                self.tally().ruled(&print, allowed);
                rulings
            }
            Err(why) => {
                self.tally().failed();
                to_person(&name, &why)
            }
        };
        (self.bench.tell)(Event::Judged {
            by: Office::Auto,
            model: name,
            words: cases.iter().zip(&rulings).map(judgement).collect(),
            elapsed_ms: u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
        });
        rulings
    }

    fn tally(&self) -> std::sync::MutexGuard<'_, Tally> {
        self.tally.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn numbered(index: usize, call: &Value) -> Value {
    let mut call = call.clone();
    call["action_index"] = index.into();
    call
}

fn judgement((case, ruling): (&Case, &Ruling)) -> Judgement {
    let (word, reason) = match ruling {
        Ruling::Allow => (OpinionWord::Approve, String::new()),
        Ruling::Deny(opinion) | Ruling::Person(opinion) => (opinion.word, opinion.reason.clone()),
    };
    Judgement {
        tool: case.tool.clone(),
        title: case.title.clone(),
        word,
        reason,
    }
}

fn form() -> ToolSpec {
    ToolSpec {
        name: FORM.into(),
        description: "Gives one decision for each call.".into(),
        schema: json!({
            "type": "object",
            "properties": { "decisions": { "type": "array", "items": {
                "type": "object",
                "properties": {
                    "action_index": { "type": "integer", "minimum": 0 },
                    "decision": { "type": "string", "enum": ["allow", "deny"] },
                    "category": { "type": "string", "enum": CATEGORIES },
                    "reason": { "type": "string" },
                },
                "required": ["action_index", "decision"],
            } } },
            "required": ["decisions"],
        }),
    }
}

/// The rulings of a filled-in form: exactly one for each call, and a reason for each denial.
fn read(answer: Value, calls: usize, model: &str) -> Result<Vec<Ruling>, String> {
    let unclear = || "Its answer cannot be understood.".to_owned();
    let verdicts: Verdicts = serde_json::from_value(answer).map_err(|_| unclear())?;
    let mut rulings: Vec<Option<Ruling>> = vec![None; calls];
    for decision in verdicts.decisions {
        let known = |category: &String| CATEGORIES.contains(&category.as_str());
        let place = rulings.get_mut(decision.action_index).ok_or_else(unclear)?;
        let ruling = match decision.decision {
            Word::Allow => Ruling::Allow,
            Word::Deny => {
                let reason = clean(&decision.reason.unwrap_or_default());
                let category = decision.category.unwrap_or_else(|| "other_policy".to_owned());
                if reason.is_empty() || !known(&category) {
                    return Err(unclear());
                }
                Ruling::Deny(Opinion {
                    by: Office::Auto,
                    model: model.to_owned(),
                    word: OpinionWord::Block,
                    reason: format!("{reason} ({})", category.replace('_', " ")),
                })
            }
        };
        if place.replace(ruling).is_some() {
            return Err(unclear());
        }
    }
    rulings
        .into_iter()
        .collect::<Option<Vec<_>>>()
        .ok_or_else(unclear)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(decisions: &Value, calls: usize) -> Result<Vec<bool>, String> {
        let rulings = read(json!({ "decisions": decisions }), calls, "p:m")?;
        Ok(rulings.iter().map(|ruling| *ruling == Ruling::Allow).collect())
    }

    #[test]
    fn one_decision_a_call_or_none_counts() {
        let allow = |index: usize| json!({"action_index": index, "decision": "allow"});
        let deny =
            json!({"action_index": 1, "decision": "deny", "category": "persistence", "reason": "It stays."});
        assert_eq!(words(&json!([allow(0)]), 1), Ok(vec![true]));
        assert_eq!(words(&json!([deny, allow(0)]), 2), Ok(vec![true, false]));
        for (decisions, calls) in [
            (json!([]), 1),
            (json!([allow(0)]), 2),
            (json!([allow(0), allow(0)]), 1),
            (json!([allow(0), allow(1)]), 1),
            (json!([{"action_index": 0, "decision": "maybe"}]), 1),
            (json!([{"action_index": -1, "decision": "allow"}]), 1),
            (json!([{"action_index": 0, "decision": "deny"}]), 1),
            (
                json!([{"action_index": 0, "decision": "deny", "reason": " \n"}]),
                1,
            ),
            (
                json!([{"action_index": 0, "decision": "deny", "reason": "r", "category": "mood"}]),
                1,
            ),
            (json!("allow"), 1),
        ] {
            assert!(words(&decisions, calls).is_err(), "{decisions}");
        }
        let more = json!({"decisions": [allow(0)], "note": "x"});
        assert!(read(more, 1, "p:m").is_err());
    }
}
