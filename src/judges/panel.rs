//! The judges of one session, and what they have heard of the person.

use std::path::Path;
use std::sync::Arc;

use crate::config::model::Config;
use crate::judges::auto::{Auto, Ruling};
use crate::judges::bench::Bench;
use crate::judges::case::Case;
use crate::judges::heard::Heard;
use crate::judges::validator::Validator;
use crate::protocol::request::Opinion;

/// The judges of one session.
pub struct Panel {
    auto: Auto,
    validator: Option<Validator>,
    heard: Heard,
    cwd: String,
}

impl Panel {
    /// The judges that the configuration names.
    pub fn new(config: &Config, bench: Bench, cwd: &Path) -> Self {
        let bench = Arc::new(bench);
        Self {
            auto: Auto::new(config.auto.clone(), Arc::clone(&bench)),
            validator: config.validator.clone().map(|judge| Validator::new(judge, bench)),
            heard: Heard::default(),
            cwd: cwd.display().to_string(),
        }
    }

    /// The person sent a prompt: its own words, without what the editor adds.
    pub fn hear(&self, prompt: &str) {
        self.heard.hear(prompt);
        self.auto.begin();
    }

    /// The validator's opinion; `None` where no validator is configured.
    pub async fn validate(&self, case: &Case) -> Option<Opinion> {
        let validator = self.validator.as_ref()?;
        Some(validator.judge(case, &self.heard, &self.cwd).await)
    }

    /// Whether there is a validator.
    pub fn validates(&self) -> bool {
        self.validator.is_some()
    }

    /// The reviewer's rulings on the calls of a step, one each.
    pub async fn review(&self, cases: &[Case], same_step: &[String]) -> Vec<Ruling> {
        self.auto.review(cases, same_step, &self.heard, &self.cwd).await
    }

    /// The person let a call run that the reviewer did not.
    pub fn person_allowed(&self) {
        self.auto.person_allowed();
    }
}
