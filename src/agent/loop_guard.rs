//! Notices a model that makes the same call again and again.

use std::collections::VecDeque;

use crate::protocol::message::ToolCall;

/// How many steps are looked back.
const WINDOW: usize = 5;
/// How often one call may come in the window.
const LIMIT: usize = 3;

/// What to do about a step's calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Run them.
    Fine,
    /// Answer the repeated call with a warning instead of running it.
    Warn,
    /// It was warned before: end the turn.
    Stop,
}

/// The calls of a turn's last steps.
#[derive(Default)]
pub struct LoopGuard {
    steps: VecDeque<Vec<(String, String)>>,
    warned: bool,
}

impl LoopGuard {
    /// Judges the calls of the next step, and remembers them.
    pub fn judge(&mut self, calls: &[ToolCall]) -> Verdict {
        if self.steps.len() == WINDOW {
            self.steps.pop_front();
        }
        let keys = calls
            .iter()
            .map(|call| (call.name.clone(), canonical(&call.arguments)));
        self.steps.push_back(keys.collect());
        if !calls.iter().any(|call| self.repeated(call)) {
            return Verdict::Fine;
        }
        if std::mem::replace(&mut self.warned, true) {
            Verdict::Stop
        } else {
            Verdict::Warn
        }
    }

    /// Whether `call` came too often in the last steps, this one included.
    pub fn repeated(&self, call: &ToolCall) -> bool {
        let key = (call.name.clone(), canonical(&call.arguments));
        self.steps.iter().filter(|step| step.contains(&key)).count() >= LIMIT
    }
}

/// The arguments without differences of spacing.
fn canonical(arguments: &str) -> String {
    serde_json::from_str::<serde_json::Value>(arguments)
        .map_or_else(|_| arguments.trim().to_owned(), |value| value.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::ids::CallId;

    fn call(arguments: &str) -> ToolCall {
        ToolCall {
            id: CallId("c".into()),
            name: "grep".into(),
            arguments: arguments.into(),
        }
    }

    #[test]
    fn the_third_same_call_is_warned_and_the_next_stops() {
        let mut guard = LoopGuard::default();
        assert_eq!(guard.judge(&[call(r#"{"a":1}"#)]), Verdict::Fine);
        assert_eq!(guard.judge(&[call(r#"{"a":2}"#)]), Verdict::Fine);
        assert_eq!(guard.judge(&[call(r#"{ "a": 1 }"#)]), Verdict::Fine);
        assert_eq!(
            guard.judge(&[call(r#"{"a":1}"#), call(r#"{"a":3}"#)]),
            Verdict::Warn
        );
        assert_eq!(guard.judge(&[call(r#"{"a":1}"#)]), Verdict::Stop);
    }

    #[test]
    fn calls_far_apart_are_no_loop() {
        let mut guard = LoopGuard::default();
        for round in 0..12 {
            let arguments = if round % 3 == 0 {
                "{}".to_owned()
            } else {
                format!("[{round}]")
            };
            assert_eq!(guard.judge(&[call(&arguments)]), Verdict::Fine, "round {round}");
        }
    }
}
