//! The body of a responses request. What does not grow stands first, the conversation last.

use serde::Serialize;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::protocol::message::{Block, Message, Role, ToolResult};
use crate::protocol::tool::ToolSpec;
use crate::provider::arguments::sendable;
use crate::provider::media::{Shown, data_url, shown};
use crate::provider::model::ChatRequest;
use crate::provider::repair::paired;
use crate::provider::wire::{ThinkingStyle, WireOptions};

/// The bytes to send.
pub(in crate::provider) fn body(
    options: &WireOptions,
    request: &ChatRequest,
) -> Result<Vec<u8>, serde_json::Error> {
    let mut input = Vec::with_capacity(request.messages.len());
    for message in paired(&request.messages) {
        push(options, &message, &mut input);
    }
    let reasons = options.style != ThinkingStyle::None && !options.lean;
    serde_json::to_vec(&Body {
        model: &options.model,
        stream: true,
        store: false,
        include: reasons.then_some(["reasoning.encrypted_content"]),
        reasoning: reasons.then(|| reasoning(options)),
        prompt_cache_key: (!options.lean).then(|| cache_key(&request.system)),
        tools: request.tools.iter().map(WireTool::from).collect(),
        instructions: &request.system,
        input,
    })
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    stream: bool,
    store: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    include: Option<[&'static str; 1]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_cache_key: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<WireTool<'a>>,
    #[serde(skip_serializing_if = "str::is_empty")]
    instructions: &'a str,
    input: Vec<Value>,
}

#[derive(Serialize)]
struct WireTool<'a> {
    r#type: &'static str,
    name: &'a str,
    description: &'a str,
    parameters: &'a Value,
    /// Strict schemas allow no optional parameters.
    strict: bool,
}

impl<'a> From<&'a ToolSpec> for WireTool<'a> {
    fn from(spec: &'a ToolSpec) -> Self {
        Self {
            r#type: "function",
            name: &spec.name,
            description: &spec.description,
            parameters: &spec.schema,
            strict: false,
        }
    }
}

fn reasoning(options: &WireOptions) -> Value {
    match (options.thinking, &options.effort) {
        (Some(false), _) => json!({ "effort": "none" }),
        (_, Some(effort)) => json!({ "effort": effort, "summary": "auto" }),
        (_, None) => json!({ "summary": "auto" }),
    }
}

/// Requests with one key are sent to the machine that has their beginning in its cache.
fn cache_key(system: &str) -> String {
    let digest = Sha256::digest(system.as_bytes());
    let hex: String = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    format!("dcode-{hex}")
}

fn push(options: &WireOptions, message: &Message, out: &mut Vec<Value>) {
    match message.role {
        Role::User => out.push(json!({ "role": "user", "content": user_content(options, message) })),
        Role::Assistant => assistant(options, message, out),
        Role::Tool => out.extend(message.blocks.iter().filter_map(|block| {
            if let Block::ToolResult(result) = block {
                Some(output(options, result))
            } else {
                None
            }
        })),
    }
}

/// What was said, in its order; pieces of text between two other items are one message.
fn assistant(options: &WireOptions, message: &Message, out: &mut Vec<Value>) {
    let mut text = String::new();
    let say = |text: &mut String, out: &mut Vec<Value>| {
        if !text.trim().is_empty() {
            out.push(json!({ "role": "assistant", "content": text.as_str() }));
        }
        text.clear();
    };
    for block in &message.blocks {
        match block {
            Block::Text { text: more } => text.push_str(more),
            Block::Sealed { model, item } if *model == options.name => {
                say(&mut text, out);
                out.push(item.clone());
            }
            Block::ToolCall(call) => {
                say(&mut text, out);
                out.push(json!({
                    "type": "function_call",
                    "call_id": call.id.0,
                    "name": call.name,
                    "arguments": sendable(&call.arguments),
                }));
            }
            _ => {}
        }
    }
    say(&mut text, out);
}

fn user_content(options: &WireOptions, message: &Message) -> Value {
    content(
        message.blocks.iter().filter_map(|block| match block {
            Block::Text { text } => Some(Shown::Notice(text.clone())),
            other => shown(other, options.images),
        }),
        "\n\n",
    )
}

fn output(options: &WireOptions, result: &ToolResult) -> Value {
    let text = (!result.text.is_empty()).then(|| Shown::Notice(result.text.clone()));
    let media = result
        .media
        .iter()
        .filter_map(|block| shown(block, options.images));
    json!({
        "type": "function_call_output",
        "call_id": result.id.0,
        "output": content(text.into_iter().chain(media), "\n"),
    })
}

/// A text, or a list of parts where an image is among them.
fn content<'a>(pieces: impl Iterator<Item = Shown<'a>>, between: &str) -> Value {
    let pieces: Vec<Shown<'a>> = pieces.collect();
    if pieces.iter().any(|piece| matches!(piece, Shown::Picture { .. })) {
        let part = |piece: &Shown<'a>| match piece {
            Shown::Notice(text) => json!({ "type": "input_text", "text": text }),
            Shown::Picture { mime, base64 } => {
                json!({ "type": "input_image", "image_url": data_url(mime, base64) })
            }
        };
        return pieces.iter().map(part).collect();
    }
    let texts: Vec<&str> = pieces
        .iter()
        .filter_map(|piece| match piece {
            Shown::Notice(text) => Some(text.as_str()),
            Shown::Picture { .. } => None,
        })
        .collect();
    if texts.is_empty() {
        "(no output)".into()
    } else {
        texts.join(between).into()
    }
}
