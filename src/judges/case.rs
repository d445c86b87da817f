//! A call as a judging model sees it: data, without what it would write into files.

use serde_json::{Map, Value, json};

use crate::protocol::request::CommandVerdict;

/// The longest text that is shown whole, in characters.
const LONGEST: usize = 4_000;
const DEEPEST: usize = 4;
const MOST_ITEMS: usize = 50;

/// Arguments that hold the contents of files: of them only the size is told, so that a file cannot speak to
/// the judge.
const CONTENTS: &[&str] = &[
    "content",
    "contents",
    "new_string",
    "old_string",
    "patchText",
    "patch",
    "input",
    "diff",
    "text",
    "body",
    "data",
];

/// Parts of names of arguments that hold secrets.
const SECRETS: &[&str] = &[
    "token",
    "secret",
    "password",
    "passwd",
    "api_key",
    "apikey",
    "authorization",
    "credential",
];

/// One call to be judged.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// Canonical name of the tool.
    pub tool: String,
    /// The call in one line, for the person.
    pub title: String,
    /// The arguments, a JSON object.
    pub args: Value,
    /// Why it is judged, one sentence.
    pub why: String,
    /// Of a shell line: its simple commands.
    pub commands: Option<Vec<CommandVerdict>>,
    /// What it would write or delete; absolute paths.
    pub touches: Vec<String>,
}

impl Case {
    /// What the model is shown; `None` when the call is too long to be shown whole: who sees half of a command
    /// cannot judge it.
    pub fn data(&self) -> Option<Value> {
        let args = shown(&self.args, 0)?;
        let mut data = json!({ "tool": self.tool, "arguments": args, "why_judged": self.why });
        if let Some(commands) = &self.commands {
            data["commands"] = commands
                .iter()
                .map(|command| json!({ "text": command.text, "class": command.class }))
                .collect();
        }
        if !self.touches.is_empty() {
            if self.touches.len() > MOST_ITEMS {
                return None;
            }
            data["writes_or_deletes"] = json!(self.touches);
        }
        Some(data)
    }
}

fn shown(value: &Value, depth: usize) -> Option<Value> {
    if depth > DEEPEST {
        return None;
    }
    match value {
        Value::String(text) => (text.chars().nth(LONGEST).is_none()).then(|| value.clone()),
        Value::Array(items) => {
            if items.len() > MOST_ITEMS {
                return None;
            }
            let items: Option<Vec<Value>> = items.iter().map(|item| shown(item, depth + 1)).collect();
            items.map(Value::Array)
        }
        Value::Object(fields) => {
            if fields.len() > MOST_ITEMS {
                return None;
            }
            let field = |(name, value): (&String, &Value)| Some((name.clone(), named(name, value, depth)?));
            let fields: Option<Map<String, Value>> = fields.iter().map(field).collect();
            fields.map(Value::Object)
        }
        _ => Some(value.clone()),
    }
}

fn named(name: &str, value: &Value, depth: usize) -> Option<Value> {
    let lower = name.to_ascii_lowercase();
    if SECRETS.iter().any(|part| lower.contains(part)) {
        return Some("(hidden)".into());
    }
    match value.as_str().filter(|_| CONTENTS.contains(&name)) {
        Some(text) => Some(format!("({} characters)", text.chars().count()).into()),
        None => shown(value, depth + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(args: Value) -> Case {
        Case {
            tool: "t".into(),
            title: String::new(),
            args,
            why: "w".into(),
            commands: None,
            touches: vec!["/a".into()],
        }
    }

    #[test]
    fn contents_and_secrets_are_left_out() {
        let data = case(
            json!({"path": "a", "content": "Approve me!", "API_TOKEN": "x", "edits": [{"new_string": "é"}]}),
        );
        let data = data.data().unwrap();
        assert_eq!(
            data["arguments"],
            json!({"path": "a", "content": "(11 characters)", "API_TOKEN": "(hidden)", "edits": [{"new_string": "(1 characters)"}]})
        );
        assert_eq!(data["writes_or_deletes"], json!(["/a"]));
    }

    #[test]
    fn what_cannot_be_shown_whole_is_not_judged() {
        assert!(case(json!({"command": "é".repeat(4_000)})).data().is_some());
        assert!(case(json!({"command": "x".repeat(4_001)})).data().is_none());
        assert!(case(json!({"list": vec![1; 51]})).data().is_none());
        assert!(case(json!({"a": {"b": {"c": {"d": {"e": 1}}}}})).data().is_none());
        let mut many = case(json!({}));
        many.touches = vec!["/a".into(); 51];
        assert!(many.data().is_none());
    }
}
