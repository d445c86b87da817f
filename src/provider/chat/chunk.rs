//! One chunk of a streamed chat completion, read with patience: servers differ in what they leave
//! out, set to null, or write in another shape.

use serde::Deserialize;
use serde_json::Value;

use crate::provider::model::TokenCount;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(in crate::provider) struct Chunk {
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
pub(in crate::provider) struct Choice {
    index: Option<u64>,
    delta: Option<Delta>,
    /// In place of `delta` in a reply that is not streamed.
    message: Option<Delta>,
    pub(in crate::provider) finish_reason: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(in crate::provider) struct Delta {
    content: Value,
    refusal: Value,
    reasoning_content: Value,
    reasoning: Value,
    pub(in crate::provider) tool_calls: Option<Vec<CallDelta>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(in crate::provider) struct CallDelta {
    pub(in crate::provider) index: Option<u64>,
    pub(in crate::provider) id: Option<String>,
    pub(in crate::provider) function: Option<FunctionDelta>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(in crate::provider) struct FunctionDelta {
    pub(in crate::provider) name: Option<String>,
    arguments: Value,
}

impl Chunk {
    /// The error that the server reports in the middle of a reply.
    pub(in crate::provider) fn error(&self) -> Option<Value> {
        if !self.error.is_null() {
            return Some(self.error.clone());
        }
        (self.object == "error").then(|| serde_json::json!({ "message": self.message }))
    }

    /// Whether it is a chunk of a chat at all, and not some other JSON.
    pub(in crate::provider) fn is_of_a_chat(&self) -> bool {
        self.choices.is_some()
    }

    /// The first choice; others were not asked for.
    pub(in crate::provider) fn choice(self) -> Option<Choice> {
        self.choices?
            .into_iter()
            .find(|choice| choice.index.unwrap_or(0) == 0)
    }

    /// The tokens used, when the chunk says.
    pub(in crate::provider) fn usage(&self) -> Option<TokenCount> {
        let number = |at: &str| self.usage.pointer(at).and_then(Value::as_u64);
        Some(TokenCount {
            input: number("/prompt_tokens")?,
            cached: number("/prompt_tokens_details/cached_tokens")
                .or_else(|| number("/prompt_cache_hit_tokens"))
                .unwrap_or(0),
            output: number("/completion_tokens").unwrap_or(0),
            reasoning: number("/completion_tokens_details/reasoning_tokens").unwrap_or(0),
            written: number("/prompt_tokens_details/cache_write_tokens").unwrap_or(0),
        })
    }
}

impl Choice {
    pub(in crate::provider) fn delta(&mut self) -> Delta {
        self.delta
            .take()
            .or_else(|| self.message.take())
            .unwrap_or_default()
    }
}

impl Delta {
    /// The text of this piece. A refusal is text too: it is what the model says.
    pub(in crate::provider) fn text(&self) -> String {
        let mut text = flat(&self.content);
        text.push_str(&flat(&self.refusal));
        text
    }

    /// The reasoning of this piece; some servers write it in both fields.
    pub(in crate::provider) fn reasoning(&self) -> String {
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
    pub(in crate::provider) fn arguments(&self) -> String {
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
