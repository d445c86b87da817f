//! One event of a messages stream, read with patience.

use serde::Deserialize;
use serde_json::Value;

use crate::provider::model::TokenCount;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Event {
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) index: Option<u64>,
    pub(super) content_block: Option<Value>,
    pub(super) delta: Option<Delta>,
    message: Value,
    usage: Value,
    pub(super) error: Value,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Delta {
    pub(super) text: Option<String>,
    pub(super) thinking: Option<String>,
    pub(super) signature: Option<String>,
    pub(super) partial_json: Option<String>,
    pub(super) stop_reason: Option<String>,
}

impl Event {
    /// A reply that is not streamed, as the events that would have told of it.
    pub(super) fn whole(message: &Value) -> Vec<Self> {
        let mut events = vec![Self {
            kind: "message_start".into(),
            message: message.clone(),
            ..Self::default()
        }];
        let blocks = message.get("content").and_then(Value::as_array);
        for (index, block) in (0..).zip(blocks.into_iter().flatten()) {
            for kind in ["content_block_start", "content_block_stop"] {
                events.push(Self {
                    kind: kind.into(),
                    index: Some(index),
                    content_block: Some(block.clone()),
                    ..Self::default()
                });
            }
        }
        let reason = message.get("stop_reason").and_then(Value::as_str);
        events.push(Self {
            kind: "message_delta".into(),
            delta: Some(Delta {
                stop_reason: Some(reason.unwrap_or("end_turn").to_owned()),
                ..Delta::default()
            }),
            ..Self::default()
        });
        events.push(Self {
            kind: "message_stop".into(),
            ..Self::default()
        });
        events
    }

    /// Adds what the event says of tokens. The beginning tells of the request, the end of the reply; some
    /// servers tell everything at the end, some write zeros there.
    pub(super) fn add_usage(&self, count: &mut Option<TokenCount>) {
        for usage in [self.message.get("usage").unwrap_or(&Value::Null), &self.usage] {
            let number = |name: &str| usage.get(name).and_then(Value::as_u64);
            let Some(fresh) = number("input_tokens").or(number("output_tokens").map(|_| 0)) else {
                continue;
            };
            let count = count.get_or_insert_default();
            let cached = number("cache_read_input_tokens").unwrap_or(0);
            let written = number("cache_creation_input_tokens").unwrap_or(0);
            let input = fresh + cached + written;
            if input >= count.input && input > 0 {
                (count.input, count.cached, count.written) = (input, cached, written);
            }
            count.output = number("output_tokens").unwrap_or(0).max(count.output);
        }
    }
}
