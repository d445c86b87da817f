//! One event of a responses stream, read with patience.

use serde::Deserialize;
use serde_json::Value;

use crate::provider::model::TokenCount;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Event {
    #[serde(rename = "type")]
    pub(super) kind: String,
    output_index: Option<u64>,
    item_id: Option<String>,
    pub(super) summary_index: Option<u64>,
    /// A text; null where a server has nothing to say.
    pub(super) delta: Option<String>,
    pub(super) arguments: Option<String>,
    pub(super) item: Option<Item>,
    pub(super) response: Option<Response>,
    pub(super) error: Value,
}

/// Which item an event is of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Key {
    Index(u64),
    Id(String),
}

/// A piece of the output, as far as we understand it; `raw` is all of it.
#[derive(Clone, Debug, Default)]
pub(super) struct Item {
    pub(super) raw: Value,
}

impl<'de> Deserialize<'de> for Item {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Value::deserialize(deserializer).map(|raw| Self { raw })
    }
}

/// The response as a whole.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Response {
    pub(super) status: Option<String>,
    pub(super) output: Option<Vec<Item>>,
    pub(super) error: Value,
    incomplete_details: Value,
    usage: Value,
}

impl Event {
    /// Servers leave out the one or the other.
    pub(super) fn key(&self) -> Option<Key> {
        let id = || {
            self.item_id
                .clone()
                .or_else(|| Some(self.item.as_ref()?.text("id")))
        };
        self.output_index
            .map(Key::Index)
            .or_else(|| id().filter(|id| !id.is_empty()).map(Key::Id))
    }
}

impl Item {
    /// A field that is a text; empty when it is not.
    pub(super) fn text(&self, name: &str) -> String {
        let field = self.raw.get(name).and_then(Value::as_str);
        field.unwrap_or_default().to_owned()
    }

    /// What a message says, refusals included.
    pub(super) fn said(&self) -> String {
        let parts = self.raw.get("content").and_then(Value::as_array);
        let text = |part: &Value| {
            let field = part.get("text").or_else(|| part.get("refusal"))?;
            field.as_str().map(ToOwned::to_owned)
        };
        parts.into_iter().flatten().filter_map(text).collect()
    }

    /// The arguments of a call: a text, or an object where a server sends one.
    pub(super) fn arguments(&self) -> String {
        match self.raw.get("arguments") {
            Some(Value::String(text)) => text.clone(),
            Some(whole @ Value::Object(_)) => whole.to_string(),
            _ => String::new(),
        }
    }
}

impl Response {
    /// Why it is not whole, when it is not.
    pub(super) fn incomplete(&self) -> Option<&str> {
        self.incomplete_details.get("reason").and_then(Value::as_str)
    }

    pub(super) fn usage(&self) -> Option<TokenCount> {
        let number = |at: &str| self.usage.pointer(at).and_then(Value::as_u64);
        Some(TokenCount {
            input: number("/input_tokens")?,
            cached: number("/input_tokens_details/cached_tokens").unwrap_or(0),
            written: number("/input_tokens_details/cache_write_tokens").unwrap_or(0),
            output: number("/output_tokens").unwrap_or(0),
            reasoning: number("/output_tokens_details/reasoning_tokens").unwrap_or(0),
        })
    }
}
