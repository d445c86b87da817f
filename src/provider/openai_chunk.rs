//! One chunk of a streamed chat completion, read with patience: servers differ in what they leave
//! out, set to null, or write in another shape.

use serde::Deserialize;
use serde_json::Value;

use super::model::TokenCount;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Chunk {
    /// Empty or null in chunks that carry usage or the verdict of a filter.
    choices: Option<Vec<Choice>>,
    usage: Value,
    error: Value,
    /// vLLM marks an error object with `"object": "error"`.
    object: Value,
    message: Value,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Choice {
    index: Option<u64>,
    delta: Option<Delta>,
    /// In place of `delta` in a reply that is not streamed.
    message: Option<Delta>,
    pub(super) finish_reason: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Delta {
    content: Value,
    refusal: Value,
    reasoning_content: Value,
    reasoning: Value,
    pub(super) tool_calls: Option<Vec<CallDelta>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct CallDelta {
    pub(super) index: Option<u64>,
    pub(super) id: Option<String>,
    pub(super) function: Option<FunctionDelta>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct FunctionDelta {
    pub(super) name: Option<String>,
    arguments: Value,
}

impl Chunk {
    /// The error that the server reports in the middle of a reply.
    pub(super) fn error(&self) -> Option<Value> {
        if !self.error.is_null() {
            return Some(self.error.clone());
        }
        (self.object == "error").then(|| serde_json::json!({ "message": self.message }))
    }

    /// Whether it is a chunk of a chat at all, and not some other JSON.
    pub(super) fn is_of_a_chat(&self) -> bool {
        self.choices.is_some()
    }

    /// The first choice; others were not asked for.
    pub(super) fn choice(self) -> Option<Choice> {
        self.choices?
            .into_iter()
            .find(|choice| choice.index.unwrap_or(0) == 0)
    }

    /// The tokens used, when the chunk says.
    pub(super) fn usage(&self) -> Option<TokenCount> {
        let number = |at: &str| self.usage.pointer(at).and_then(Value::as_u64);
        Some(TokenCount {
            input: number("/prompt_tokens")?,
            cached: number("/prompt_tokens_details/cached_tokens")
                .or_else(|| number("/prompt_cache_hit_tokens"))
                .unwrap_or(0),
            written: 0,
            output: number("/completion_tokens").unwrap_or(0),
            reasoning: number("/completion_tokens_details/reasoning_tokens").unwrap_or(0),
        })
    }
}

impl Choice {
    pub(super) fn delta(&mut self) -> Delta {
        self.delta
            .take()
            .or_else(|| self.message.take())
            .unwrap_or_default()
    }
}

impl Delta {
    /// The text of this piece. A refusal is text too: it is what the model says.
    pub(super) fn text(&self) -> String {
        let mut text = flat(&self.content);
        text.push_str(&flat(&self.refusal));
        text
    }

    /// The reasoning of this piece; some servers write it in both fields.
    pub(super) fn reasoning(&self) -> String {
        let reasoning = flat(&self.reasoning_content);
        if reasoning.is_empty() {
            flat(&self.reasoning)
        } else {
            reasoning
        }
    }
}

impl FunctionDelta {
    /// The piece of the arguments; a server that sends an object sends it whole.
    pub(super) fn arguments(&self) -> String {
        match &self.arguments {
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            whole => whole.to_string(),
        }
    }
}

/// Text, or a list of parts with text.
fn flat(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts
            .iter()
            .filter_map(|part| part.get("text")?.as_str())
            .collect(),
        _ => String::new(),
    }
}
