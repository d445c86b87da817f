//! What a provider accepts: every history, however it was cut, compacted or undone, becomes a request that keeps
//! the rules of its wire, and a longer history begins as a shorter one did.

use std::sync::OnceLock;

use dcode::protocol::ids::CallId;
use dcode::protocol::message::{Block, Message, Role, ToolCall, ToolResult};
use dcode::provider::{ChatRequest, Dial, HttpModel, Provider as _, Wire};
use proptest::prelude::*;
use serde_json::{Value, json};

fn block() -> impl Strategy<Value = Block> {
    let id = prop_oneof!["", "a", "b", "functions[.]ls:0", "x{45}"].prop_map(CallId);
    let arguments = prop_oneof!["", r"\{\}", r#"\{"p"#, "7"];
    let sealed = json!({"type": "thinking", "thinking": "hm", "signature": "s"});
    prop_oneof![
        3 => "[a-z ]{0,3}".prop_map(|text| Block::Text { text }),
        1 => "[a-z]{1,3}".prop_map(|text| Block::Reasoning { text }),
        1 => Just(Block::Sealed { model: "acme:m".into(), item: sealed }),
        3 => (id.clone(), arguments).prop_map(|(id, arguments)| Block::ToolCall(ToolCall {
            id,
            name: "ls".into(),
            arguments,
        })),
        3 => (id, "[a-z]{0,3}", any::<bool>()).prop_map(|(id, text, is_error)| Block::ToolResult(ToolResult {
            id,
            text,
            is_error,
            media: vec![],
        })),
        1 => Just(Block::Media {
            kind: "image".into(),
            mime_type: "image/png".into(),
            base64: "AAAA".into(),
        }),
    ]
}

fn history() -> impl Strategy<Value = Vec<Message>> {
    let role = prop_oneof![Just(Role::User), Just(Role::Assistant), Just(Role::Tool)];
    let message = (role, prop::collection::vec(block(), 0..4));
    let message = message.prop_map(|(role, mut blocks)| {
        // Only the person shows images beside the results of calls.
        blocks.retain(|block| role == Role::User || !matches!(block, Block::Media { .. }));
        Message { role, blocks }
    });
    prop::collection::vec(message, 0..10)
}

/// One model a wire for all histories.
fn model(wire: Wire) -> &'static HttpModel {
    static MODELS: OnceLock<[HttpModel; 3]> = OnceLock::new();
    let models = MODELS.get_or_init(|| {
        [Wire::Chat, Wire::Responses, Wire::Messages].map(|wire| {
            HttpModel::new(Dial {
                wire,
                images: true,
                ..Dial::plain("acme", "m", "http://127.0.0.1:9/v1")
            })
            .unwrap()
        })
    });
    &models[wire as usize]
}

fn body(model: &HttpModel, messages: &[Message]) -> Value {
    let request = ChatRequest {
        system: "S".into(),
        messages: messages.to_vec(),
        tools: vec![],
    };
    serde_json::from_slice(&model.body(&request).unwrap()).unwrap()
}

fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value[name].as_array().map_or(&[], Vec::as_slice)
}

/// An id once used is not used again, and each fits the pattern of the wire.
fn claim<'a>(seen: &mut Vec<&'a str>, id: &'a Value, fits: impl Fn(char) -> bool) -> Result<(), String> {
    let id = id.as_str().unwrap_or_default();
    if id.is_empty() || id.len() > 64 || !id.chars().all(fits) || seen.contains(&id) {
        return Err(format!("the id {id:?}"));
    }
    seen.push(id);
    Ok(())
}

/// A result belongs to the first call that has none.
fn answers(open: &mut Vec<&Value>, id: &Value, at: usize) -> Result<(), String> {
    if open.is_empty() || open.remove(0) != id {
        return Err(format!("a result of nobody at {at}"));
    }
    Ok(())
}

/// Results follow the message that made the calls, all of them, in its order, before anything else.
fn chat(body: &Value) -> Result<(), String> {
    let (mut open, mut seen) = (Vec::new(), Vec::new());
    for (at, message) in list(body, "messages").iter().enumerate().skip(1) {
        let role = message["role"].as_str().unwrap_or_default();
        if at == 1 && role != "user" {
            return Err(format!("{role} begins"));
        }
        if role == "tool" {
            answers(&mut open, &message["tool_call_id"], at)?;
            continue;
        }
        if !open.is_empty() {
            return Err(format!("calls without results before {at}"));
        }
        for call in list(message, "tool_calls") {
            claim(&mut seen, &call["id"], |_| true)?;
            let arguments = call["function"]["arguments"].as_str().unwrap_or_default();
            if !serde_json::from_str::<Value>(arguments).is_ok_and(|value| value.is_object()) {
                return Err(format!("arguments {arguments:?}"));
            }
            open.push(&call["id"]);
        }
        let silent = message["content"].as_str().is_none_or(str::is_empty) && !message["content"].is_array();
        if silent && list(message, "tool_calls").is_empty() {
            return Err(format!("nothing is said at {at}"));
        }
    }
    if open.is_empty() {
        Ok(())
    } else {
        Err("calls without results".into())
    }
}

fn responses(body: &Value) -> Result<(), String> {
    let (mut open, mut seen) = (Vec::new(), Vec::new());
    for (at, item) in list(body, "input").iter().enumerate() {
        match item["type"].as_str() {
            Some("function_call") => {
                claim(&mut seen, &item["call_id"], |_| true)?;
                open.push(&item["call_id"]);
            }
            Some("function_call_output") => {
                answers(&mut open, &item["call_id"], at)?;
            }
            Some("reasoning" | "thinking") => {}
            _ if item["role"] == "user" && !open.is_empty() => {
                return Err(format!("calls without results before {at}"));
            }
            _ if at == 0 && item["role"] != "user" => return Err("the model begins".into()),
            _ => {}
        }
    }
    if open.is_empty() {
        Ok(())
    } else {
        Err("calls without results".into())
    }
}

fn messages(body: &Value) -> Result<(), String> {
    let (mut open, mut seen): (Vec<&Value>, _) = (Vec::new(), Vec::new());
    for (at, message) in list(body, "messages").iter().enumerate() {
        let blocks = list(message, "content");
        if (at == 0 && message["role"] != "user") || blocks.is_empty() {
            return Err(format!("message {at}"));
        }
        for block in blocks {
            match block["type"].as_str() {
                Some("tool_result") => {
                    answers(&mut open, &block["tool_use_id"], at)?;
                }
                _ if message["role"] == "user" && !open.is_empty() => {
                    return Err(format!("something before a result at {at}"));
                }
                Some("tool_use") => {
                    claim(&mut seen, &block["id"], |c| {
                        c.is_ascii_alphanumeric() || "_-".contains(c)
                    })?;
                    if !block["input"].is_object() {
                        return Err(format!("input {}", block["input"]));
                    }
                    open.push(&block["id"]);
                }
                Some("text") if block["text"].as_str().is_none_or(|text| text.trim().is_empty()) => {
                    return Err(format!("an empty text at {at}"));
                }
                _ => {}
            }
        }
        if message["role"] == "user" && !open.is_empty() {
            return Err(format!("calls without results at {at}"));
        }
        let last = blocks.last().and_then(|block| block["type"].as_str());
        if matches!(last, Some("thinking")) {
            return Err(format!("a thought is the last of message {at}"));
        }
    }
    if open.is_empty() {
        Ok(())
    } else {
        Err("calls without results".into())
    }
}

/// Marks of what is to be cached move to the end; they are no content.
fn without_marks(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.shift_remove("cache_control");
            fields.values_mut().for_each(without_marks);
        }
        Value::Array(items) => items.iter_mut().for_each(without_marks),
        _ => {}
    }
}

proptest! {
    #[test]
    fn every_history_is_accepted_by_every_wire(history in history()) {
        prop_assert_eq!(chat(&body(model(Wire::Chat), &history)), Ok(()));
        prop_assert_eq!(responses(&body(model(Wire::Responses), &history)), Ok(()));
        prop_assert_eq!(messages(&body(model(Wire::Messages), &history)), Ok(()));
    }

    #[test]
    fn more_turns_leave_the_beginning_of_every_wire_as_it_was(
        turns in prop::collection::vec(prop::collection::vec(block(), 1..4), 1..6),
    ) {
        // Turns as they are: each call is answered before the person speaks again.
        let mut history = Vec::new();
        let mut ends = Vec::new();
        for (number, blocks) in turns.into_iter().enumerate() {
            history.push(Message::user(format!("turn {number}")));
            ends.push(history.len());
            let blocks: Vec<Block> = blocks
                .into_iter()
                .filter(|block| !matches!(block, Block::ToolResult(_) | Block::Media { .. }))
                .collect();
            let results = blocks.iter().filter_map(|block| match block {
                Block::ToolCall(call) => Some(Block::ToolResult(ToolResult {
                    id: call.id.clone(),
                    text: "done".into(),
                    is_error: false,
                    media: vec![],
                })),
                _ => None,
            });
            let results: Vec<Block> = results.collect();
            history.push(Message { role: Role::Assistant, blocks });
            if !results.is_empty() {
                history.push(Message { role: Role::Tool, blocks: results });
                ends.push(history.len());
                history.push(Message {
                    role: Role::Assistant,
                    blocks: vec![Block::Text { text: "so".into() }],
                });
            }
        }
        for (wire, name) in [(Wire::Chat, "messages"), (Wire::Responses, "input"), (Wire::Messages, "messages")] {
            let model = model(wire);
            let sent = |count: usize| {
                let mut body = body(model, &history[..count]);
                without_marks(&mut body);
                let turns = list(&body, name).to_vec();
                body[name] = Value::Null;
                (body, turns)
            };
            for pair in ends.windows(2) {
                let ((head, before), (same, after)) = (sent(pair[0]), sent(pair[1]));
                prop_assert_eq!(head.to_string(), same.to_string());
                prop_assert!(after.starts_with(&before), "{:?}: {:?} {:?}", wire, before, after);
            }
        }
    }
}
