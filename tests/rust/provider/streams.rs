//! `tests/fixtures/llm/*.json`: the pieces of a body as they arrive, and the events that follow.
//! A new case is a new file. `tests/fixtures/llm/README.md` has the format.

use std::time::Duration;

use dcode::protocol::message::Message;
use dcode::protocol::tool::ToolSpec;
use dcode::provider::{Dial, HttpModel, ProviderError, StopReason, StreamEvent, Timeouts, TokenCount, Wire};
use serde::Deserialize;
use serde_json::{Value, json};

use super::server::{Answer, Ending, Server};
use super::{ask_with, request, shown};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    about: String,
    #[serde(default)]
    wire: Option<String>,
    /// The names of tools on offer.
    #[serde(default)]
    tools: Vec<String>,
    #[serde(default)]
    content_type: Option<String>,
    chunks: Vec<Piece>,
    #[serde(default)]
    ending: Ending,
    events: Vec<Value>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Piece {
    Text(String),
    Json { data: Value },
    Bytes(Vec<u8>),
}

impl Piece {
    fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Text(text) => text.clone().into_bytes(),
            Self::Json { data } => format!("data: {data}\n\n").into_bytes(),
            Self::Bytes(bytes) => bytes.clone(),
        }
    }
}

fn cases() -> Vec<(String, Case)> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/llm");
    let files = std::fs::read_dir(&folder).unwrap();
    let files = files.map(|entry| entry.unwrap().path());
    let mut cases: Vec<(String, Case)> = files
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .map(|path| {
            let case = serde_json::from_str(&std::fs::read_to_string(&path).unwrap())
                .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            (path.file_stem().unwrap().to_string_lossy().into_owned(), case)
        })
        .collect();
    cases.sort_by(|a, b| a.0.cmp(&b.0));
    assert!(cases.len() >= 60, "only {} cases found", cases.len());
    cases
}

/// Says how a case went wrong, or nothing.
fn compared(name: &str, case: &Case, got: &[Value]) -> Option<String> {
    let list = |events: &[Value]| {
        events
            .iter()
            .map(|event| format!("\n    {event}"))
            .collect::<String>()
    };
    (got != case.events).then(|| {
        format!(
            "{name}: {}\n  expected{}\n  got{}",
            case.about,
            list(&case.events),
            list(got)
        )
    })
}

#[tokio::test]
async fn every_case_gives_its_events() {
    let mut wrong = Vec::new();
    for (name, case) in cases() {
        let pieces: Vec<Vec<u8>> = case.chunks.iter().map(Piece::bytes).collect();
        wrong.extend(compared(&name, &case, &play(&case, &pieces).await));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test]
async fn cuts_between_any_two_bytes_make_no_difference() {
    let mut wrong = Vec::new();
    for (name, case) in cases() {
        let bytes: Vec<u8> = case.chunks.iter().flat_map(Piece::bytes).collect();
        let pieces: Vec<Vec<u8>> = bytes.chunks(1).map(<[u8]>::to_vec).collect();
        wrong.extend(compared(&name, &case, &play(&case, &pieces).await));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

async fn play(case: &Case, pieces: &[Vec<u8>]) -> Vec<Value> {
    let mut answer = Answer::stream(pieces).ending(case.ending);
    if let Some(content_type) = &case.content_type {
        answer = answer.with("content-type", content_type);
    }
    let server = Server::start(vec![answer]).await;
    let wire = case
        .wire
        .as_deref()
        .map_or(Wire::Chat, |name| Wire::named(name).unwrap());
    // Byte for byte a reply takes its time; only one that never ends is to be given up.
    let after_finish = match case.ending {
        Ending::Silence => Duration::from_millis(50),
        Ending::Complete | Ending::Cut => Duration::from_secs(20),
    };
    let client = HttpModel::new(Dial {
        wire,
        timeouts: Some(Timeouts {
            after_finish,
            ..Timeouts::default()
        }),
        ..server.dial()
    })
    .unwrap();
    let mut request = request(vec![Message::user("hi")]);
    request.tools = case.tools.iter().map(|name| tool(name)).collect();
    let events = ask_with(&client, request).await;
    let list = events.iter().map(as_json);
    let url = format!("{}{}", server.base_url, path(wire)).replace(|c: char| c.is_ascii_digit(), "#");
    list.map(|event| match event.get("error").and_then(Value::as_str) {
        Some(error) => json!({ "error": error.replace(&url, "URL") }),
        None => event,
    })
    .collect()
}

fn path(wire: Wire) -> &'static str {
    match wire {
        Wire::Chat => "/chat/completions",
        Wire::Responses => "/responses",
        Wire::Messages => "/messages",
    }
}

fn tool(name: &str) -> ToolSpec {
    ToolSpec {
        name: name.into(),
        description: String::new(),
        schema: json!({"type": "object"}),
    }
}

/// `[input, cached, output]`, and where the provider says more, `[input, cached, output, written, reasoning]`.
fn tokens(count: &TokenCount) -> Value {
    let mut list = vec![count.input, count.cached, count.output];
    if count.written + count.reasoning > 0 {
        list.extend([count.written, count.reasoning]);
    }
    list.into()
}

fn as_json(event: &Result<StreamEvent, ProviderError>) -> Value {
    match event {
        Ok(StreamEvent::Text(text)) => json!({ "text": text }),
        Ok(StreamEvent::Reasoning(text)) => json!({ "reasoning": text }),
        Ok(StreamEvent::ToolCall { id, name, arguments }) => json!({ "call": [id, name, arguments] }),
        Ok(StreamEvent::Sealed { model, item }) => json!({ "sealed": [model, item] }),
        Ok(StreamEvent::Waiting(_)) => json!("waiting"),
        Ok(StreamEvent::Usage(usage)) => json!({ "usage": tokens(usage) }),
        Ok(StreamEvent::Done(stop)) => json!({ "done": match stop {
            StopReason::End => "end",
            StopReason::ToolCalls => "tool_calls",
            StopReason::Length => "length",
            StopReason::Filtered => "filtered",
        } }),
        Err(error) => json!({ "error": shown(error).replace(|c: char| c.is_ascii_digit(), "#") }),
    }
}
