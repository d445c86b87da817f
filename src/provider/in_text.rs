//! Calls that a model wrote as text, because its server or its training knows no better.
//!
//! Only where a reply ends without a call, only for names of tools on offer, and only where the text can hardly
//! be meant otherwise: between the marks that models are trained on, or as one JSON object that is the whole
//! reply or its last lines.

use std::collections::VecDeque;

use serde_json::Value;

use super::model::{StopReason, StreamEvent};

/// How much of a reply is kept for it.
const TEXT_LIMIT: usize = 100 * 1024;
/// How many calls one reply may hide.
const CALL_LIMIT: usize = 4;

/// Marks around calls, as `(begin, end)`.
const MARKS: &[(&str, &str)] = &[
    ("<tool_call>", "</tool_call>"),
    ("<function_call>", "</function_call>"),
    ("<|tool_call|>", "<|/tool_call|>"),
    ("[TOOL_CALLS]", "\u{0}"),
];

/// Watches a reply go by and finds the calls in it.
#[derive(Default)]
pub(super) struct Scavenger {
    tools: Vec<String>,
    text: String,
    called: bool,
}

impl Scavenger {
    /// For a request that offers these tools.
    pub(super) fn new(tools: Vec<String>) -> Self {
        Self {
            tools,
            ..Self::default()
        }
    }

    /// Looks at the next event. At the end of a reply without calls, found ones are put before the end.
    pub(super) fn pass(&mut self, event: StreamEvent, ready: &mut VecDeque<StreamEvent>) -> StreamEvent {
        match &event {
            StreamEvent::Text(text)
                if !self.tools.is_empty() && self.text.len() + text.len() <= TEXT_LIMIT =>
            {
                self.text.push_str(text);
            }
            StreamEvent::ToolCall { .. } => self.called = true,
            StreamEvent::Done(StopReason::End) if !self.called => {
                ready.extend(self.found());
                if ready.is_empty() {
                    return event;
                }
                ready.push_back(StreamEvent::Done(StopReason::ToolCalls));
                return ready.pop_front().unwrap_or(event);
            }
            _ => {}
        }
        event
    }

    fn found(&self) -> Vec<StreamEvent> {
        let text = self.text.trim();
        if text.is_empty() || self.tools.is_empty() {
            return Vec::new();
        }
        let mut calls = self.in_deepseek_marks(text);
        if calls.is_empty() {
            calls = self.in_marks(text);
        }
        if calls.is_empty() {
            calls = self.at_the_end(text).into_iter().collect();
        }
        calls.truncate(CALL_LIMIT);
        calls.dedup();
        let calls = calls.into_iter().map(|(name, arguments)| StreamEvent::ToolCall {
            id: String::new(),
            name,
            arguments,
        });
        calls.collect()
    }

    fn in_marks(&self, text: &str) -> Vec<(String, String)> {
        let mut calls = Vec::new();
        for (begin, end) in MARKS {
            for piece in text.split(begin).skip(1) {
                let piece = piece.split(end).next().unwrap_or_default().trim();
                match serde_json::from_str(piece) {
                    Ok(Value::Array(list)) => calls.extend(list.iter().filter_map(|value| self.call(value))),
                    Ok(value) => calls.extend(self.call(&value)),
                    Err(_) => {}
                }
            }
        }
        calls
    }

    /// DeepSeek's own envelope: `<｜DSML｜invoke name="…"><｜DSML｜parameter name="…" string="true">…`.
    fn in_deepseek_marks(&self, text: &str) -> Vec<(String, String)> {
        let mut calls = Vec::new();
        for invoke in text.split("<｜DSML｜invoke name=\"").skip(1) {
            let Some((name, rest)) = invoke.split_once("\">") else {
                continue;
            };
            let Some((rest, _)) = rest.split_once("</｜DSML｜invoke>") else {
                continue;
            };
            let mut arguments = serde_json::Map::new();
            for parameter in rest.split("<｜DSML｜parameter name=\"").skip(1) {
                let Some((head, value)) = parameter.split_once('>') else {
                    continue;
                };
                let value = value.split("</｜DSML｜parameter>").next().unwrap_or_default();
                let Some((key, flags)) = head.split_once('"') else {
                    continue;
                };
                let parsed = (!flags.contains("string=\"true\""))
                    .then(|| serde_json::from_str(value).ok())
                    .flatten();
                arguments.insert(key.to_owned(), parsed.unwrap_or_else(|| value.into()));
            }
            if self.offers(name) {
                calls.push((name.to_owned(), Value::Object(arguments).to_string()));
            }
        }
        calls
    }

    /// The JSON object that the reply ends with, alone on its lines, perhaps fenced where it is all there is.
    fn at_the_end(&self, text: &str) -> Option<(String, String)> {
        if let Some(fenced) = text.strip_prefix("```").and_then(|text| text.strip_suffix("```")) {
            let (_, inner) = fenced.split_once('\n')?;
            return self.call(&serde_json::from_str(inner).ok()?);
        }
        let starts = text.match_indices('{').map(|(at, _)| at);
        let mut starts = starts.filter(|at| *at == 0 || text[..*at].ends_with('\n'));
        starts.find_map(|at| self.call(&serde_json::from_str(&text[at..]).ok()?))
    }

    /// `{"name": …, "arguments": {…}}` or one of its cousins.
    fn call(&self, value: &Value) -> Option<(String, String)> {
        let value = value
            .get("function")
            .filter(|function| function.is_object())
            .unwrap_or(value);
        let name = value.get("name")?.as_str()?;
        let arguments = ["arguments", "parameters", "args", "input"]
            .iter()
            .find_map(|key| value.get(key))?;
        let arguments = match arguments {
            Value::Object(_) => arguments.to_string(),
            Value::String(text) if text.trim_start().starts_with('{') => text.clone(),
            _ => return None,
        };
        self.offers(name).then(|| (name.to_owned(), arguments))
    }

    fn offers(&self, name: &str) -> bool {
        self.tools.iter().any(|tool| tool == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let mut scavenger = Scavenger::new(vec!["read_file".into(), "ls".into()]);
        let mut ready = VecDeque::new();
        scavenger.pass(StreamEvent::Text(text.into()), &mut ready);
        let first = scavenger.pass(StreamEvent::Done(StopReason::End), &mut ready);
        let events = std::iter::once(first).chain(ready);
        let calls = events.filter_map(|event| match event {
            StreamEvent::ToolCall { name, arguments, .. } => Some(format!("{name} {arguments}")),
            _ => None,
        });
        calls.collect()
    }

    const CALL: &str = r#"{"name": "read_file", "arguments": {"path": "a"}}"#;
    const READ: &str = r#"read_file {"path":"a"}"#;

    #[test]
    fn calls_in_their_usual_disguises() {
        for text in [
            CALL.to_owned(),
            format!("I look at it.\n{CALL}"),
            format!("```json\n{CALL}\n```"),
            format!("<tool_call>\n{CALL}\n</tool_call>"),
            format!("So.\n<tool_call>{CALL}</tool_call> Done."),
            format!("[TOOL_CALLS][{CALL}]"),
            format!(r#"{{"function": {CALL}}}"#),
            r#"{"name":"read_file","parameters":"{\"path\":\"a\"}"}"#.to_owned(),
            "<｜DSML｜function_calls><｜DSML｜invoke name=\"read_file\"><｜DSML｜parameter name=\"path\" \
             string=\"true\">a</｜DSML｜parameter></｜DSML｜invoke></｜DSML｜function_calls>"
                .to_owned(),
        ] {
            assert_eq!(found(&text), [READ], "{text}");
        }
    }

    #[test]
    fn what_is_only_talked_about_is_no_call() {
        for text in [
            "Nothing of the kind.".to_owned(),
            format!("A call looks like {CALL}."),
            format!("Like this:\n```json\n{CALL}\n```"),
            format!("{CALL}\nwould read it."),
            CALL.replace("read_file", "rm_rf"),
            r#"{"name": "ls"}"#.to_owned(),
            r#"{"name": "ls", "arguments": "all"}"#.to_owned(),
        ] {
            assert_eq!(found(&text), [""; 0], "{text}");
        }
    }

    #[test]
    fn a_reply_with_calls_or_cut_short_is_left_alone() {
        for before in [
            StreamEvent::ToolCall {
                id: "a".into(),
                name: "ls".into(),
                arguments: String::new(),
            },
            StreamEvent::Text(String::new()),
        ] {
            let mut scavenger = Scavenger::new(vec!["read_file".into()]);
            let mut ready = VecDeque::new();
            scavenger.pass(StreamEvent::Text(CALL.into()), &mut ready);
            let called = matches!(before, StreamEvent::ToolCall { .. });
            scavenger.pass(before, &mut ready);
            let stop = if called {
                StopReason::End
            } else {
                StopReason::Length
            };
            let last = scavenger.pass(StreamEvent::Done(stop), &mut ready);
            assert_eq!((last, ready.len()), (StreamEvent::Done(stop), 0));
        }
    }
}
