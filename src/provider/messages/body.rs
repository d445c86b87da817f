//! The body of a messages request.
//!
//! The server computes tools, system prompt and messages in this order and keeps what it computed up to each
//! mark. Three marks are set: after the system prompt, and at the last two messages that are not the model's,
//! so that the next request finds the end of this one.

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::protocol::message::{Block, Message, Role, ToolResult};
use crate::protocol::tool::ToolSpec;
use crate::provider::arguments::sendable_value;
use crate::provider::media::{Shown, shown};
use crate::provider::model::ChatRequest;
use crate::provider::repair::paired;
use crate::provider::wire::{ThinkingStyle, WireOptions};

/// How many of the last messages get a mark.
const MARKED: usize = 2;

/// The bytes to send.
pub(in crate::provider) fn body(
    options: &WireOptions,
    request: &ChatRequest,
) -> Result<Vec<u8>, serde_json::Error> {
    let history = paired(&request.messages);
    let mut messages: Vec<WireMessage> = history
        .iter()
        .map(|message| wire_message(options, message))
        .filter(|message| !message.content.is_empty())
        .collect();
    let (thinking, output_config) = thinking(options, &history);
    let mut system = Vec::new();
    if !request.system.trim().is_empty() {
        system.push(text_block(&request.system));
    }
    if !options.lean {
        system.last_mut().map(mark);
        let mut spoken = messages.iter_mut().rev().filter(|message| message.role == "user");
        spoken
            .by_ref()
            .take(MARKED)
            .filter_map(|message| message.content.last_mut())
            .for_each(mark);
    }
    serde_json::to_vec(&Body {
        model: &options.model,
        max_tokens: options.max_output,
        stream: true,
        thinking,
        output_config,
        tools: request.tools.iter().map(WireTool::from).collect(),
        system,
        messages,
    })
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    max_tokens: u64,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_config: Option<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<WireTool<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    system: Vec<Value>,
    messages: Vec<WireMessage>,
}

#[derive(Serialize)]
struct WireTool<'a> {
    name: &'a str,
    description: &'a str,
    input_schema: &'a Value,
}

impl<'a> From<&'a ToolSpec> for WireTool<'a> {
    fn from(spec: &'a ToolSpec) -> Self {
        Self {
            name: &spec.name,
            description: &spec.description,
            input_schema: &spec.schema,
        }
    }
}

#[derive(Serialize)]
struct WireMessage {
    role: &'static str,
    content: Vec<Value>,
}

fn mark(block: &mut Value) {
    block["cache_control"] = json!({ "type": "ephemeral" });
}

/// The fields that say whether and how hard the model thinks.
fn thinking(options: &WireOptions, history: &[Message]) -> (Option<Value>, Option<Value>) {
    let effort = || options.effort.as_ref().map(|effort| json!({ "effort": effort }));
    match (options.style, options.thinking) {
        _ if options.lean => (None, None),
        (ThinkingStyle::None | ThinkingStyle::Effort, _) => (None, effort()),
        (ThinkingStyle::Adaptive | ThinkingStyle::Switch, Some(false)) => {
            (Some(json!({ "type": "disabled" })), None)
        }
        (ThinkingStyle::Adaptive, _) => (
            Some(json!({ "type": "adaptive", "display": "summarized" })),
            effort(),
        ),
        (ThinkingStyle::Switch, on) => (on.map(|_| json!({ "type": "enabled" })), effort()),
        (ThinkingStyle::Budget, Some(true)) if may_begin_to_think(options, history) => {
            let tokens = match options.effort.as_deref() {
                Some("low" | "minimal") => 2_048,
                Some("high" | "xhigh" | "max") => 16_384,
                _ => 8_192,
            };
            let tokens = tokens.min(options.max_output / 2);
            (Some(json!({ "type": "enabled", "budget_tokens": tokens })), None)
        }
        (ThinkingStyle::Budget, _) => (None, None),
    }
}

/// A model with a budget refuses to think where a call of the turn that is going on was made without thought.
fn may_begin_to_think(options: &WireOptions, history: &[Message]) -> bool {
    history
        .iter()
        .rev()
        .take_while(|message| message.role != Role::User)
        .filter(|message| message.calls().next().is_some())
        .all(|message| message.blocks.iter().any(|block| is_ours(options, block)))
}

fn is_ours(options: &WireOptions, block: &Block) -> bool {
    matches!(block, Block::Sealed { model, .. } if *model == options.name)
}

fn wire_message(options: &WireOptions, message: &Message) -> WireMessage {
    let content = message.blocks.iter().filter_map(|block| match block {
        Block::Text { text } => (!text.trim().is_empty()).then(|| text_block(text)),
        Block::Media { .. } => media_block(options, block),
        Block::Sealed { item, .. } => is_ours(options, block).then(|| item.clone()),
        Block::ToolCall(call) => Some(json!({
            "type": "tool_use",
            "id": wire_id(&call.id.0),
            "name": call.name,
            "input": sendable_value(&call.arguments),
        })),
        Block::ToolResult(result) => Some(tool_result(options, result)),
        Block::Reasoning { .. } => None,
    });
    WireMessage {
        role: if message.role == Role::Assistant {
            "assistant"
        } else {
            "user"
        },
        content: content.collect(),
    }
}

fn text_block(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

fn media_block(options: &WireOptions, block: &Block) -> Option<Value> {
    Some(match shown(block, options.images)? {
        Shown::Notice(notice) => text_block(&notice),
        Shown::Picture { mime, base64 } => json!({
            "type": "image",
            "source": { "type": "base64", "media_type": mime, "data": base64 },
        }),
    })
}

fn tool_result(options: &WireOptions, result: &ToolResult) -> Value {
    let mut content = Vec::new();
    if !result.text.trim().is_empty() {
        content.push(text_block(&result.text));
    }
    content.extend(
        result
            .media
            .iter()
            .filter_map(|block| media_block(options, block)),
    );
    if content.is_empty() {
        content.push(text_block("(no output)"));
    }
    let mut block = Map::new();
    block.insert("type".into(), "tool_result".into());
    block.insert("tool_use_id".into(), wire_id(&result.id.0).into());
    block.insert("content".into(), content.into());
    if result.is_error {
        block.insert("is_error".into(), true.into());
    }
    block.into()
}

/// Only letters, digits, `_` and `-` may stand in an id; other models made theirs of more. Different ids stay
/// different.
fn wire_id(id: &str) -> String {
    let mut out = String::with_capacity(id.len());
    for letter in id.chars() {
        if letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-') {
            out.push(letter);
        } else {
            out.push_str(&format!("_x{:x}_", u32::from(letter)));
        }
    }
    out
}
