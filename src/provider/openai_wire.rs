//! The body of a chat-completions request.
//!
//! Providers keep what they computed for the beginning of a request and charge less when the next
//! one begins with the same bytes. So everything that does not grow stands first (model, options,
//! tools), the messages stand last, and a message is written the same way each time.

use serde::Serialize;
use serde_json::Value;

use super::model::ChatRequest;
use super::repair::{is_object, paired};
use crate::protocol::message::{Block, Message, Role, ToolCall, ToolResult};
use crate::protocol::tool::ToolSpec;

/// Sent where a reasoning model's call has no reasoning (another model made it): DeepSeek refuses
/// a call without the field.
const NO_REASONING: &str = "(not kept)";

/// What a request depends on besides the conversation.
#[derive(Clone, Debug)]
pub(super) struct WireOptions {
    pub(super) model: String,
    /// Whether reasoning goes back as `reasoning_content`. All of it or none: DeepSeek wants it on
    /// every message of a conversation with tools, and dropping old reasoning later would change
    /// the beginning of the request.
    pub(super) replay_reasoning: bool,
}

/// The bytes to send.
pub(super) fn body(options: &WireOptions, request: &ChatRequest) -> Result<Vec<u8>, serde_json::Error> {
    let mut messages = Vec::with_capacity(request.messages.len() + 1);
    if !request.system.is_empty() {
        messages.push(WireMessage::said("system", request.system.clone()));
    }
    for message in paired(&request.messages) {
        push(options, &message, &mut messages);
    }
    serde_json::to_vec(&Body {
        model: &options.model,
        stream: true,
        stream_options: StreamOptions { include_usage: true },
        tools: request.tools.iter().map(WireTool::from).collect(),
        messages,
    })
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    stream: bool,
    stream_options: StreamOptions,
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
    content: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_content: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<WireCall>,
}

impl WireMessage {
    fn said(role: &'static str, content: String) -> Self {
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

/// Servers parse the arguments of past calls, so these must be an object even where the model's were none.
fn sendable(arguments: &str) -> String {
    if arguments.trim().is_empty() {
        "{}".to_owned()
    } else if is_object(arguments) {
        arguments.to_owned()
    } else {
        serde_json::json!({ "not_json": arguments }).to_string()
    }
}

fn push(options: &WireOptions, message: &Message, out: &mut Vec<WireMessage>) {
    match message.role {
        Role::User => out.push(WireMessage::said("user", user_text(message))),
        Role::Assistant => out.push(assistant(options, message)),
        Role::Tool => out.extend(message.blocks.iter().filter_map(|block| {
            if let Block::ToolResult(result) = block {
                Some(tool_result(result))
            } else {
                None
            }
        })),
    }
}

fn user_text(message: &Message) -> String {
    let parts: Vec<String> = message
        .blocks
        .iter()
        .filter_map(|block| match block {
            Block::Text { text } => Some(text.clone()),
            Block::Media { .. } => media_notice(block),
            Block::Reasoning { .. } | Block::ToolCall(_) | Block::ToolResult(_) => None,
        })
        .collect();
    parts.join("\n\n")
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
            Some(text)
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

fn tool_result(result: &ToolResult) -> WireMessage {
    let mut parts = Vec::with_capacity(result.media.len() + 1);
    if !result.text.is_empty() {
        parts.push(result.text.clone());
    }
    parts.extend(result.media.iter().filter_map(media_notice));
    if parts.is_empty() {
        parts.push("(no output)".to_owned());
    }
    WireMessage {
        tool_call_id: Some(result.id.0.clone()),
        ..WireMessage::said("tool", parts.join("\n"))
    }
}

/// What the model reads in place of media, which this wire does not carry yet.
fn media_notice(block: &Block) -> Option<String> {
    let Block::Media {
        kind,
        mime_type,
        base64,
    } = block
    else {
        return None;
    };
    let kib = (base64.len() / 4 * 3).div_ceil(1024);
    Some(format!(
        "[{kind}, {mime_type}, {kib} KiB: not shown, this model is given text only]"
    ))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::protocol::ids::CallId;

    fn options(replay_reasoning: bool) -> WireOptions {
        WireOptions {
            model: "m".into(),
            replay_reasoning,
        }
    }

    fn sent(replay_reasoning: bool, messages: Vec<Message>) -> Value {
        let request = ChatRequest {
            system: "S".into(),
            messages,
            tools: vec![],
        };
        let body: Value =
            serde_json::from_slice(&body(&options(replay_reasoning), &request).unwrap()).unwrap();
        body["messages"].clone()
    }

    fn history(arguments: &str, media: Vec<Block>) -> Vec<Message> {
        let id = CallId("a".into());
        let call = ToolCall {
            id: id.clone(),
            name: "ls".into(),
            arguments: arguments.into(),
        };
        let result = ToolResult {
            id,
            text: "done".into(),
            is_error: false,
            media,
        };
        vec![
            Message::user("go"),
            Message {
                role: Role::Assistant,
                blocks: vec![Block::Reasoning { text: "hm".into() }, Block::ToolCall(call)],
            },
            Message {
                role: Role::Tool,
                blocks: vec![Block::ToolResult(result)],
            },
        ]
    }

    #[test]
    fn a_call_and_its_result() {
        assert_eq!(
            sent(true, history("", vec![])),
            json!([
                {"role": "system", "content": "S"},
                {"role": "user", "content": "go"},
                {"role": "assistant", "content": null, "reasoning_content": "hm", "tool_calls": [
                    {"id": "a", "type": "function", "function": {"name": "ls", "arguments": "{}"}}]},
                {"role": "tool", "tool_call_id": "a", "content": "done"},
            ])
        );
    }

    #[test]
    fn reasoning_stays_here_unless_the_provider_wants_it() {
        assert_eq!(
            sent(false, history("{}", vec![]))[2].get("reasoning_content"),
            None
        );
        let mut without = history("{}", vec![]);
        without[1].blocks.remove(0);
        assert_eq!(sent(true, without)[2]["reasoning_content"], NO_REASONING);
    }

    #[test]
    fn arguments_that_are_no_json_are_sent_inside_json() {
        let arguments =
            &sent(false, history("{\"command\": \"rm -rf x", vec![]))[2]["tool_calls"][0]["function"];
        assert_eq!(
            arguments["arguments"],
            r#"{"not_json":"{\"command\": \"rm -rf x"}"#
        );
    }

    #[test]
    fn media_become_a_notice() {
        let media = Block::Media {
            kind: "image".into(),
            mime_type: "image/png".into(),
            base64: "AAAA".repeat(1000),
        };
        assert_eq!(
            sent(false, history("{}", vec![media]))[3]["content"],
            "done\n[image, image/png, 3 KiB: not shown, this model is given text only]"
        );
    }
}
