//! What streaming and the writing of requests cost: `make bench`. Nothing is asserted.

use std::time::{Duration, Instant};

use dcode::protocol::ids::CallId;
use dcode::protocol::message::{Block, Message, Role, ToolCall, ToolResult};
use dcode::protocol::tool::ToolSpec;
use dcode::provider::{ChatRequest, Dial, HttpModel, Provider as _, Wire};
use futures_util::StreamExt as _;
use serde_json::json;

use super::request;
use super::server::{Answer, Server};

const WIRES: [Wire; 3] = [Wire::Chat, Wire::Responses, Wire::Messages];

/// Nanoseconds that this thread has computed.
fn cpu() -> Duration {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanos = stat.split(' ').next().and_then(|nanos| nanos.parse().ok());
    Duration::from_nanos(nanos.unwrap_or(0))
}

/// A reply of so many tokens, one an event, in pieces as a network brings them.
fn long(wire: Wire, tokens: usize) -> Answer {
    let event = |text: &str| match wire {
        Wire::Chat => format!(
            "data: {{\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\
             \"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{text}\"}},\"finish_reason\":null}}]}}\n\n"
        ),
        Wire::Responses => format!(
            "event: response.output_text.delta\ndata: {{\"type\":\"response.output_text.delta\",\
             \"sequence_number\":4,\"item_id\":\"msg_1\",\"output_index\":0,\"content_index\":0,\
             \"delta\":\"{text}\"}}\n\n"
        ),
        Wire::Messages => format!(
            "event: content_block_delta\ndata: {{\"type\":\"content_block_delta\",\"index\":0,\
             \"delta\":{{\"type\":\"text_delta\",\"text\":\"{text}\"}}}}\n\n"
        ),
    };
    let end = match wire {
        Wire::Chat => "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
        Wire::Responses => {
            "data: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\"}}\n\n"
        }
        Wire::Messages => {
            "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}\n\n\
             data: {\"type\":\"message_stop\"}\n\n"
        }
    };
    let mut text: String = (0..tokens)
        .map(|at| event(if at % 12 == 0 { "word.\\n" } else { " word" }))
        .collect();
    text.push_str(end);
    let pieces: Vec<&[u8]> = text.as_bytes().chunks(1400).collect();
    Answer::stream(&pieces)
}

/// CPU of the client and time for one reply.
async fn read(server: &Server, wire: Wire) -> (Duration, Duration, usize) {
    let model = HttpModel::new(Dial {
        wire,
        ..server.dial()
    })
    .unwrap();
    let (cpu_before, before) = (cpu(), Instant::now());
    let mut stream = model.stream(request(vec![Message::user("hi")])).await.unwrap();
    let mut events = 0;
    while let Some(event) = stream.next().await {
        event.unwrap();
        events += 1;
    }
    (cpu() - cpu_before, before.elapsed(), events)
}

#[test]
#[ignore = "a measurement: make bench"]
fn bench_streams() {
    // The server computes on threads of its own; the client on this one.
    let others = tokio::runtime::Runtime::new().unwrap();
    let own = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    for wire in WIRES {
        let mut each = Vec::new();
        for tokens in [10_000_usize, 100_000] {
            let answer = long(wire, tokens);
            let server = others.block_on(Server::start(vec![answer]));
            let (cpu, time, events) = own.block_on(read(&server, wire));
            assert_eq!(events, tokens + 1);
            let thousands = tokens as f64 / 1000.0;
            let milliseconds = cpu.as_secs_f64() * 1000.0 / thousands;
            each.push(milliseconds);
            println!(
                "{wire:?}: {tokens} tokens: {milliseconds:.3} ms CPU per 1,000 tokens (budget 5), \
                 {:.0} tokens/s (at least 2,000)",
                tokens as f64 / time.as_secs_f64()
            );
        }
        println!(
            "{wire:?}: a token of the long reply costs {:.2} of one of the short",
            each[1] / each[0]
        );
    }
}

#[test]
#[ignore = "a measurement: make bench"]
fn bench_request_bodies() {
    let text = "A line of a file as it is, with \"quotes\" and\ttabs.\n".repeat(40);
    let messages = (0..100).flat_map(|number| {
        let id = CallId(format!("call_{number}"));
        let call = ToolCall {
            id: id.clone(),
            name: "read_file".into(),
            arguments: json!({"path": "src/lib.rs", "start_line": number}).to_string(),
        };
        let result = ToolResult {
            id,
            text: text.clone(),
            is_error: false,
            media: vec![],
        };
        let message = |role, block| Message {
            role,
            blocks: vec![block],
        };
        [
            message(Role::Assistant, Block::ToolCall(call)),
            message(Role::Tool, Block::ToolResult(result)),
        ]
    });
    let messages: Vec<Message> = std::iter::once(Message::user("go")).chain(messages).collect();
    let tools = (0..14).map(|number| ToolSpec {
        name: format!("tool_{number}"),
        description: "What it does, in a few sentences. ".repeat(12),
        schema: json!({"type": "object", "properties": {"path": {"type": "string", "description": "A path."}}}),
    });
    let request = ChatRequest {
        system: "You are a coding agent. ".repeat(200),
        messages,
        tools: tools.collect(),
    };
    for wire in WIRES {
        let model = HttpModel::new(Dial {
            wire,
            ..Dial::plain("acme", "m", "http://127.0.0.1:9/v1")
        })
        .unwrap();
        let mut times: Vec<Duration> = (0..51)
            .map(|_| {
                let before = Instant::now();
                std::hint::black_box(model.body(&request).unwrap());
                before.elapsed()
            })
            .collect();
        times.sort();
        println!(
            "{wire:?}: a request of {} messages, {} KiB: {:.2} ms (budget 3)",
            request.messages.len(),
            model.body(&request).unwrap().len() / 1024,
            times[25].as_secs_f64() * 1000.0
        );
    }
}
