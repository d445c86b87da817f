//! What every request of a session begins with: the system prompt and the tools, as data and as a
//! fingerprint.
//!
//! Providers keep what they computed for the beginning of a request and charge a tenth for it when the
//! next one begins with the same bytes. So a prefix is made once, in one order and one spelling, and taken
//! anew only at a prompt of the person; what changes more often stands at the end of the conversation.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::protocol::tool::ToolSpec;

/// The unchanging beginning of requests.
#[derive(Clone, Debug)]
pub struct Prefix {
    system: String,
    tools: Vec<ToolSpec>,
    prints: Prints,
}

/// What a prefix is compared by.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prints {
    system: u64,
    tools: BTreeMap<String, u64>,
}

impl Prefix {
    /// The prefix of `system` and `tools`, in their order.
    pub fn new(system: String, tools: Vec<ToolSpec>) -> Self {
        let tools: Vec<ToolSpec> = tools
            .into_iter()
            .map(|tool| ToolSpec {
                schema: canonical(tool.schema),
                ..tool
            })
            .collect();
        let prints = Prints {
            system: print_of(&system),
            tools: tools
                .iter()
                .map(|tool| {
                    let words = (tool.description.as_str(), tool.schema.to_string());
                    (tool.name.clone(), print_of(&words))
                })
                .collect(),
        };
        Self {
            system,
            tools,
            prints,
        }
    }

    /// The system prompt.
    pub fn system(&self) -> &str {
        &self.system
    }

    /// The tools on offer, in order.
    pub fn tools(&self) -> &[ToolSpec] {
        &self.tools
    }

    /// What it is compared by.
    pub fn prints(&self) -> &Prints {
        &self.prints
    }
}

impl Prints {
    /// What is another than in `before`, in a few words; `None` when nothing is.
    pub fn change_since(&self, before: &Self) -> Option<String> {
        if self.system != before.system {
            return Some("the system prompt changed".into());
        }
        let mut changed = Vec::new();
        for (name, print) in &self.tools {
            match before.tools.get(name) {
                None => changed.push(format!("+{name}")),
                Some(old) if old != print => changed.push(format!("~{name}")),
                Some(_) => {}
            }
        }
        let gone = before.tools.keys().filter(|name| !self.tools.contains_key(*name));
        changed.extend(gone.map(|name| format!("-{name}")));
        (!changed.is_empty()).then(|| format!("the tools changed: {}", changed.join(" ")))
    }
}

fn print_of(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// A schema in one spelling, whatever order a server of others writes its keys in: keys are sorted, and
/// arguments stand with the required ones first, in the order in which they are required.
pub fn canonical(schema: serde_json::Value) -> serde_json::Value {
    use serde_json::{Map, Value};
    match schema {
        Value::Object(object) => {
            let required: Vec<String> = object
                .get("required")
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
                .filter_map(|name| name.as_str().map(str::to_owned))
                .collect();
            let mut entries: Vec<(String, Value)> = object.into_iter().collect();
            entries.sort_by(|(one, _), (other, _)| one.cmp(other));
            let entries = entries.into_iter().map(|(key, value)| {
                let value = match value {
                    Value::Object(properties) if key == "properties" => arguments(properties, &required),
                    // Data, not a schema: it stays as it is written.
                    value if matches!(key.as_str(), "default" | "enum" | "const" | "examples") => value,
                    value => canonical(value),
                };
                (key, value)
            });
            Value::Object(entries.collect::<Map<_, _>>())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(canonical).collect()),
        other => other,
    }
}

fn arguments(
    properties: serde_json::Map<String, serde_json::Value>,
    required: &[String],
) -> serde_json::Value {
    let place = |name: &str| {
        required
            .iter()
            .position(|other| other == name)
            .unwrap_or(usize::MAX)
    };
    let mut entries: Vec<_> = properties.into_iter().collect();
    entries.sort_by(|(one, _), (other, _)| (place(one), one).cmp(&(place(other), other)));
    entries
        .into_iter()
        .map(|(name, schema)| (name, canonical(schema)))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tool(name: &str, description: &str) -> ToolSpec {
        ToolSpec {
            name: name.into(),
            description: description.into(),
            schema: json!({"type": "object", "properties": {}}),
        }
    }

    fn prints(system: &str, tools: &[(&str, &str)]) -> Prints {
        let tools = tools.iter().map(|(name, words)| tool(name, words)).collect();
        Prefix::new(system.into(), tools).prints().clone()
    }

    #[test]
    fn a_change_is_named() {
        let before = prints("s", &[("a", "1"), ("b", "1"), ("c", "1")]);
        assert_eq!(before.change_since(&before.clone()), None);
        let after = prints("s", &[("a", "1"), ("b", "2"), ("d", "1")]);
        assert_eq!(
            after.change_since(&before).as_deref(),
            Some("the tools changed: ~b +d -c")
        );
        let after = prints("t", &[("a", "1")]);
        assert_eq!(
            after.change_since(&before).as_deref(),
            Some("the system prompt changed")
        );
    }

    #[test]
    fn a_schema_has_one_spelling() {
        let one: serde_json::Value = serde_json::from_str(
            r#"{"type":"object","required":["text","at"],"properties":{"z":{"type":"string","default":{"b":1,"a":2}},
                "at":{"type":"integer","minimum":0},"a":{},"text":{"anyOf":[{"type":"string","maxLength":3}]}}}"#,
        )
        .unwrap();
        let other: serde_json::Value = serde_json::from_str(
            r#"{"properties":{"a":{},"text":{"anyOf":[{"maxLength":3,"type":"string"}]},"at":{"minimum":0,
                "type":"integer"},"z":{"default":{"b":1,"a":2},"type":"string"}},"required":["text","at"],"type":"object"}"#,
        )
        .unwrap();
        let spelled = r#"{"properties":{"text":{"anyOf":[{"maxLength":3,"type":"string"}]},"at":{"minimum":0,"type":"integer"},"a":{},"z":{"default":{"b":1,"a":2},"type":"string"}},"required":["text","at"],"type":"object"}"#;
        assert_eq!(canonical(one).to_string(), spelled);
        assert_eq!(canonical(other).to_string(), spelled);
    }
}
