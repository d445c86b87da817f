//! What one layer says of one thing that a call touches, and how two of them are joined.

use crate::permission::decision::Decision;

/// A layer's word about one access or one simple command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The decision.
    pub decision: Decision,
    /// `hard`, `rule`, `tier`, `memory` or `mode`.
    pub layer: &'static str,
    /// The rule, where it stands, and how to change it.
    pub rule: String,
    /// One sentence.
    pub reason: String,
    /// What an answer is remembered as; none means that it is not.
    pub key: Option<Key>,
    /// Whether the answer may be kept for good.
    pub always: bool,
    /// Whether it stays asked in the mode `yolo`: something that would deny could not be ruled out.
    pub sticky: bool,
    /// Whether nobody but the person may answer, not a model that reviews in the mode `auto` either: a rule
    /// of the person's asks, or the harm could not be mended.
    pub personal: bool,
}

/// What an answer is remembered as.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Key {
    /// Commands of this pattern, such as `git push *`.
    Pattern(String),
    /// This very command.
    Command(String),
    /// Writing and deleting this file.
    Write(String),
    /// Reading this file or folder.
    Read(String),
    /// Every call of this tool.
    Tool(String),
}

impl Key {
    /// As the person sees it: `git push *`, `write /etc/hosts`.
    pub fn words(&self) -> String {
        match self {
            Self::Pattern(text) | Self::Command(text) | Self::Tool(text) => text.clone(),
            Self::Write(path) => format!("write {path}"),
            Self::Read(path) => format!("read {path}"),
        }
    }
}

impl Finding {
    fn new(
        decision: Decision,
        layer: &'static str,
        rule: impl Into<String>,
        reason: impl Into<String>,
    ) -> Self {
        let (rule, reason) = (rule.into(), reason.into());
        Self {
            decision,
            layer,
            rule,
            reason,
            key: None,
            always: false,
            sticky: false,
            personal: decision == Decision::Ask && layer != "tier",
        }
    }

    /// It may run.
    pub fn allow(layer: &'static str, rule: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::new(Decision::Allow, layer, rule, reason)
    }

    /// The person is asked, each time anew.
    pub fn ask(layer: &'static str, rule: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::new(Decision::Ask, layer, rule, reason)
    }

    /// It may not run.
    pub fn deny(layer: &'static str, rule: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::new(Decision::Deny, layer, rule, reason)
    }

    /// The answer may be kept until the session ends.
    pub fn for_session(mut self, key: Key) -> Self {
        self.key = Some(key);
        self.always = false;
        self
    }

    /// The answer may be kept for good.
    pub fn for_good(mut self, key: Key) -> Self {
        self.key = Some(key);
        self.always = true;
        self
    }

    /// The mode `yolo` does not cover it.
    pub fn sticking(mut self) -> Self {
        self.sticky = true;
        self.for_person()
    }

    /// Only the person may answer.
    pub fn for_person(mut self) -> Self {
        self.personal = true;
        self
    }

    /// The stricter of two about the same thing; of two that are as strict, the one that is remembered
    /// less.
    pub fn join(self, other: Self) -> Self {
        let asked_so = |flag: fn(&Self) -> bool| {
            [&self, &other]
                .into_iter()
                .any(|finding| finding.decision == Decision::Ask && flag(finding))
        };
        let (sticky, personal) = (asked_so(|f| f.sticky), asked_so(|f| f.personal));
        let weight = |finding: &Self| {
            let remembered = match (&finding.key, finding.always) {
                (None, _) => 2,
                (Some(_), false) => 1,
                (Some(_), true) => 0,
            };
            (finding.decision, remembered)
        };
        let mut strict = if weight(&other) > weight(&self) {
            other
        } else {
            self
        };
        strict.sticky = sticky && strict.decision == Decision::Ask;
        strict.personal = personal && strict.decision == Decision::Ask;
        strict
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(reason: &str) -> Finding {
        Finding::ask("tier", "a rule", reason)
    }

    fn kept(reason: &str) -> Finding {
        ask(reason).for_session(Key::Command(reason.to_owned()))
    }

    #[test]
    fn of_two_the_stricter_speaks_and_of_equals_the_first() {
        let allow = || Finding::allow("tier", "a rule", "fine");
        let deny = || Finding::deny("rule", "a rule", "no");
        for (one, other, speaks) in [
            (allow(), ask("asked"), "asked"),
            (ask("asked"), allow(), "asked"),
            (ask("asked"), deny(), "no"),
            (ask("first"), ask("second"), "first"),
            (kept("first"), ask("second"), "second"),
            (kept("first"), kept("second"), "first"),
            (
                kept("first").for_good(Key::Command("x".into())),
                kept("second"),
                "second",
            ),
        ] {
            assert_eq!(one.join(other).reason, speaks);
        }
    }

    #[test]
    fn what_only_the_person_may_answer_stays_so_while_it_is_asked() {
        assert!(!ask("one").join(ask("two")).personal);
        for joined in [
            ask("one").join(ask("two").for_person()),
            ask("one").for_person().join(ask("two")),
        ] {
            assert!(joined.personal && !joined.sticky);
        }
        let joined = kept("one").sticking().join(ask("two"));
        assert!(joined.sticky && joined.personal && joined.reason == "two");
        let denied = ask("one").sticking().join(Finding::deny("rule", "a rule", "no"));
        assert!(!denied.sticky && !denied.personal);
        let allowed = Finding::allow("tier", "a rule", "fine")
            .sticking()
            .join(ask("one"));
        assert!(!allowed.sticky, "only what asks sticks");
    }
}
