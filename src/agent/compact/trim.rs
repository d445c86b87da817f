//! Shortens what is long and old in a conversation, and nothing that the person said.

use serde_json::Value;

use crate::protocol::message::{Block, Message, ToolCall, ToolResult};

/// A result of more bytes than this is shortened.
const RESULT: usize = 1_500;
/// What is left of it.
const RESULT_HEAD: usize = 500;
/// The same for one text among the arguments of a call.
const ARGUMENT: usize = 1_000;
const ARGUMENT_HEAD: usize = 200;

/// `messages` with long results, long arguments and reasoning shortened in the first `old` of them, and
/// how many results and calls that are. Doing it twice changes nothing more.
pub fn trimmed(messages: &[Message], old: usize) -> (Vec<Message>, usize) {
    let mut count = 0;
    let shorter = messages.iter().enumerate().map(|(at, message)| {
        if at < old {
            older(message, &mut count)
        } else {
            message.clone()
        }
    });
    (shorter.collect(), count)
}

fn older(message: &Message, count: &mut usize) -> Message {
    let blocks = message.blocks.iter().filter_map(|block| match block {
        // It served the reply that followed it.
        Block::Reasoning { .. } => None,
        Block::ToolCall(call) => Some(Block::ToolCall(shorter_call(call, count))),
        Block::ToolResult(result) => Some(Block::ToolResult(shorter_result(result, count))),
        block => Some(block.clone()),
    });
    Message {
        role: message.role,
        blocks: blocks.collect(),
    }
}

fn shorter_result(result: &ToolResult, count: &mut usize) -> ToolResult {
    if result.text.len() <= RESULT && result.media.is_empty() {
        return result.clone();
    }
    *count += 1;
    let mut text = result.text.clone();
    if text.len() > RESULT {
        let head = whole_lines(&text, RESULT_HEAD).to_owned();
        text = format!(
            "{head}\n[Shortened: {} bytes are left out here. Make the call again if you need them.]",
            result.text.len() - head.len()
        );
    }
    if !result.media.is_empty() {
        text.push_str("\n[What was shown with it is left out here. Read it again if you need it.]");
    }
    ToolResult {
        text,
        media: Vec::new(),
        ..result.clone()
    }
}

fn shorter_call(call: &ToolCall, count: &mut usize) -> ToolCall {
    if call.arguments.len() <= ARGUMENT {
        return call.clone();
    }
    let Ok(mut arguments) = serde_json::from_str::<Value>(&call.arguments) else {
        return call.clone();
    };
    if !shorten(&mut arguments) {
        return call.clone();
    }
    *count += 1;
    ToolCall {
        arguments: arguments.to_string(),
        ..call.clone()
    }
}

fn shorten(value: &mut Value) -> bool {
    match value {
        Value::String(text) if text.len() > ARGUMENT => {
            let head = whole_lines(text, ARGUMENT_HEAD);
            *text = format!("{head}\n[{} bytes left out]", text.len() - head.len());
            true
        }
        Value::Array(items) => items.iter_mut().filter_map(shortened).count() > 0,
        Value::Object(fields) => fields.values_mut().filter_map(shortened).count() > 0,
        _ => false,
    }
}

/// All of them are shortened, not only the first: hence no `any`.
fn shortened(value: &mut Value) -> Option<()> {
    shorten(value).then_some(())
}

/// The beginning of `text`, at most `limit` bytes, without half a line where it has a whole one.
pub fn whole_lines(text: &str, limit: usize) -> &str {
    let mut end = limit.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let head = text.get(..end).unwrap_or_default();
    match head.rfind('\n') {
        Some(at) if end < text.len() && at > 0 => head.get(..at).unwrap_or_default(),
        _ => head,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::ids::CallId;
    use crate::protocol::message::Role;

    fn step(result: &str, arguments: &Value) -> [Message; 2] {
        let id = CallId("a".into());
        let call = ToolCall {
            id: id.clone(),
            name: "write_file".into(),
            arguments: arguments.to_string(),
        };
        let result = ToolResult {
            id,
            text: result.into(),
            is_error: false,
            media: vec![],
        };
        let thought = Block::Reasoning { text: "hm".into() };
        [
            Message {
                role: Role::Assistant,
                blocks: vec![thought, Block::ToolCall(call)],
            },
            Message {
                role: Role::Tool,
                blocks: vec![Block::ToolResult(result)],
            },
        ]
    }

    #[test]
    fn old_and_long_is_shortened_once_and_the_rest_stays() {
        let long = "line é\n".repeat(1_000);
        let mut messages = vec![Message::user(&long)];
        messages.extend(step(&long, &serde_json::json!({"path": "a", "content": long})));
        messages.extend(step(&long, &serde_json::json!({"path": "b"})));
        let (first, count) = trimmed(&messages, 3);
        assert_eq!(count, 2);
        assert_eq!((&first[0], &first[3..]), (&messages[0], &messages[3..]));
        let Block::ToolCall(call) = &first[1].blocks[0] else {
            panic!("the thought is gone and the call is there: {:?}", first[1])
        };
        let arguments: Value = serde_json::from_str(&call.arguments).unwrap();
        assert_eq!(arguments["path"], "a");
        assert!(
            arguments["content"]
                .as_str()
                .unwrap()
                .ends_with("bytes left out]")
        );
        let Block::ToolResult(result) = &first[2].blocks[0] else {
            panic!()
        };
        assert!(
            result.text.len() < 700 && result.text.contains("line é\n[Shortened: "),
            "{}",
            result.text
        );
        assert_eq!(trimmed(&first, 3), (first.clone(), 0));
    }
}
