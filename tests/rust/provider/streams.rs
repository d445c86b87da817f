//! `tests/fixtures/llm/*.json`: the pieces of a body as they arrive, and the events that follow.
//! A new case is a new file. `tests/fixtures/llm/README.md` has the format.

use dcode::provider::{ProviderError, StopReason, StreamEvent};
use serde::Deserialize;
use serde_json::{Value, json};

use super::server::{Answer, Ending, Server};
use super::{ask, shown};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    about: String,
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

#[tokio::test]
async fn every_case_gives_its_events() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/llm");
    let mut wrong = Vec::new();
    let mut count = 0;
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        count += 1;
        let case: Case = serde_json::from_str(&std::fs::read_to_string(&path).unwrap())
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let got = play(&case).await;
        if got != case.events {
            let list = |events: &[Value]| {
                events
                    .iter()
                    .map(|event| format!("\n    {event}"))
                    .collect::<String>()
            };
            wrong.push(format!(
                "{}: {}\n  expected{}\n  got{}",
                path.display(),
                case.about,
                list(&case.events),
                list(&got)
            ));
        }
    }
    assert!(count >= 25, "only {count} cases found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

async fn play(case: &Case) -> Vec<Value> {
    let pieces: Vec<Vec<u8>> = case.chunks.iter().map(Piece::bytes).collect();
    let mut answer = Answer::stream(&pieces).ending(case.ending);
    if let Some(content_type) = &case.content_type {
        answer = answer.with("content-type", content_type);
    }
    let server = Server::start(vec![answer]).await;
    ask(&server.client()).await.iter().map(as_json).collect()
}

fn as_json(event: &Result<StreamEvent, ProviderError>) -> Value {
    match event {
        Ok(StreamEvent::Text(text)) => json!({ "text": text }),
        Ok(StreamEvent::Reasoning(text)) => json!({ "reasoning": text }),
        Ok(StreamEvent::ToolCall { id, name, arguments }) => json!({ "call": [id, name, arguments] }),
        Ok(StreamEvent::Usage(usage)) => json!({ "usage": [usage.input, usage.cached, usage.output] }),
        Ok(StreamEvent::Done(stop)) => json!({ "done": match stop {
            StopReason::End => "end",
            StopReason::ToolCalls => "tool_calls",
            StopReason::Length => "length",
            StopReason::Filtered => "filtered",
        } }),
        Err(error) => json!({ "error": shown(error).replace(|c: char| c.is_ascii_digit(), "#") }),
    }
}
