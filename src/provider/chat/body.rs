//! The body of a chat-completions request.
//!
//! Providers keep what they computed for the beginning of a request and charge less when the next
//! one begins with the same bytes. So everything that does not grow stands first (model, options,
//! tools), the messages stand last, and a message is written the same way each time.

use serde::Serialize;
use serde_json::{Value, json};

use crate::protocol::message::{Block, Message, Role, ToolCall, ToolResult};
use crate::protocol::tool::ToolSpec;
use crate::provider::arguments::sendable;
use crate::provider::media::{Shown, data_url, shown};
use crate::provider::model::ChatRequest;
use crate::provider::repair::paired;
use crate::provider::wire::{ThinkingStyle, WireOptions};

/// Sent where a reasoning model's call has no reasoning (another model made it): DeepSeek refuses
/// a call without the field.
const NO_REASONING: &str = "(not kept)";

/// The bytes to send.
pub(in crate::provider) fn body(
    options: &WireOptions,
    request: &ChatRequest,
) -> Result<Vec<u8>, serde_json::Error> {
    let mut messages = Vec::with_capacity(request.messages.len() + 1);
    if !request.system.is_empty() {
        messages.push(WireMessage::said("system", request.system.clone()));
    }
    for message in paired(&request.messages) {
        push(options, &message, &mut messages);
    }
    let (thinking, reasoning_effort) = thinking(options);
    serde_json::to_vec(&Body {
        model: &options.model,
        stream: true,
        stream_options: (!options.lean).then_some(StreamOptions { include_usage: true }),
        thinking,
        reasoning_effort,
        tools: request.tools.iter().map(WireTool::from).collect(),
        messages,
    })
}

/// The fields that say whether and how hard the model thinks.
fn thinking(options: &WireOptions) -> (Option<Value>, Option<&str>) {
    let effort = options.effort.as_deref();
    match options.style {
        _ if options.lean => (None, None),
        ThinkingStyle::Switch => {
            let word = options.thinking.map(|on| if on { "enabled" } else { "disabled" });
            let thinks = options.thinking != Some(false);
            (
                word.map(|word| json!({ "type": word })),
                effort.filter(|_| thinks),
            )
        }
        ThinkingStyle::Effort if options.thinking == Some(false) => (None, Some("none")),
        _ => (None, effort),
    }
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<StreamOptions>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_effort: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<WireTool<'a>>,
    messages: Vec<WireMessage>,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

#[derive(Serialize)]
struct WireTool<'a> {
    r#type: &'static str,
    function: Function<'a>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: &'a str,
    description: &'a str,
    parameters: &'a Value,
}

impl<'a> From<&'a ToolSpec> for WireTool<'a> {
    fn from(spec: &'a ToolSpec) -> Self {
        Self {
            r#type: "function",
            function: Function {
                name: &spec.name,
                description: &spec.description,
                parameters: &spec.schema,
            },
        }
    }
}

#[derive(Serialize)]
struct WireMessage {
    role: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<String>,
    /// Null for a message that only calls tools.
    content: Option<Content>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_content: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<WireCall>,
}

/// A text, or parts where an image is among them.
#[derive(Serialize)]
#[serde(untagged)]
enum Content {
    Text(String),
    Parts(Vec<Value>),
}

impl WireMessage {
    fn said(role: &'static str, content: String) -> Self {
        Self::with(role, Content::Text(content))
    }

    fn with(role: &'static str, content: Content) -> Self {
        Self {
            role,
            tool_call_id: None,
            content: Some(content),
            reasoning_content: None,
            tool_calls: Vec::new(),
        }
    }
}

#[derive(Serialize)]
struct WireCall {
    id: String,
    r#type: &'static str,
    function: CallFunction,
}

#[derive(Serialize)]
struct CallFunction {
    name: String,
    arguments: String,
}

impl From<&ToolCall> for WireCall {
    fn from(call: &ToolCall) -> Self {
        Self {
            id: call.id.0.clone(),
            r#type: "function",
            function: CallFunction {
                name: call.name.clone(),
                arguments: sendable(&call.arguments),
            },
        }
    }
}

fn push(options: &WireOptions, message: &Message, out: &mut Vec<WireMessage>) {
    match message.role {
        Role::User => out.push(WireMessage::with("user", user_content(options, message))),
        Role::Assistant => out.push(assistant(options, message)),
        Role::Tool => {
            // The results stand together; pictures of theirs follow, as a result can hold text only.
            let mut pictures = Vec::new();
            for block in &message.blocks {
                if let Block::ToolResult(result) = block {
                    out.push(tool_result(options, result, &mut pictures));
                }
            }
            if !pictures.is_empty() {
                out.push(WireMessage::with("user", Content::Parts(pictures)));
            }
        }
    }
}

fn text_part(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

fn picture_part(mime: &str, base64: &str) -> Value {
    json!({ "type": "image_url", "image_url": { "url": data_url(mime, base64) } })
}

fn user_content(options: &WireOptions, message: &Message) -> Content {
    let mut texts = Vec::new();
    let mut parts = Vec::new();
    let mut seen = false;
    for block in &message.blocks {
        let text = match (block, shown(block, options.images)) {
            (_, Some(Shown::Picture { mime, base64 })) => {
                seen = true;
                parts.push(picture_part(mime, base64));
                continue;
            }
            (_, Some(Shown::Notice(notice))) => notice,
            (Block::Text { text }, None) => text.clone(),
            _ => continue,
        };
        parts.push(text_part(&text));
        texts.push(text);
    }
    if seen {
        Content::Parts(parts)
    } else {
        Content::Text(texts.join("\n\n"))
    }
}

fn assistant(options: &WireOptions, message: &Message) -> WireMessage {
    let text = message.text();
    let tool_calls: Vec<WireCall> = message.calls().map(WireCall::from).collect();
    let reasoning_content =
        options
            .replay_reasoning
            .then(|| reasoning(message))
            .and_then(|reasoning| match (reasoning.is_empty(), tool_calls.is_empty()) {
                (false, _) => Some(reasoning),
                (true, false) => Some(NO_REASONING.to_owned()),
                (true, true) => None,
            });
    WireMessage {
        role: "assistant",
        tool_call_id: None,
        content: if text.is_empty() && !tool_calls.is_empty() {
            None
        } else {
            Some(Content::Text(text))
        },
        reasoning_content,
        tool_calls,
    }
}

fn reasoning(message: &Message) -> String {
    message
        .blocks
        .iter()
        .filter_map(|block| {
            if let Block::Reasoning { text } = block {
                Some(text.as_str())
            } else {
                None
            }
        })
        .collect()
}

fn tool_result(options: &WireOptions, result: &ToolResult, pictures: &mut Vec<Value>) -> WireMessage {
    let mut parts = Vec::with_capacity(result.media.len() + 1);
    if !result.text.is_empty() {
        parts.push(result.text.clone());
    }
    for media in &result.media {
        match shown(media, options.images) {
            Some(Shown::Picture { mime, base64 }) => {
                pictures.push(text_part(&format!("The image that call {} gave:", result.id.0)));
                pictures.push(picture_part(mime, base64));
            }
            Some(Shown::Notice(notice)) => parts.push(notice),
            None => {}
        }
    }
    if parts.is_empty() {
        parts.push("(no output)".to_owned());
    }
    WireMessage {
        tool_call_id: Some(result.id.0.clone()),
        ..WireMessage::said("tool", parts.join("\n"))
    }
}
