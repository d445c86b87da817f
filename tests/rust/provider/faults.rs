//! Every way in which a line breaks, on each wire.

use std::time::Duration;

use dcode::protocol::message::Message;
use dcode::provider::{Dial, HttpModel, ProviderErrorKind, RetryPolicy, StreamEvent, Timeouts, Wire};

use super::server::{Answer, Ending, Server};
use super::{ask, ask_with, request};

/// A short reply with a call of `tool`, as bytes; without a call when `tool` is empty.
pub fn reply(wire: Wire, tool: &str) -> Vec<u8> {
    let events: &[&str] = match wire {
        Wire::Chat => &[
            r#"{"choices":[{"index":0,"delta":{"content":"é"}}]}"#,
            r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"TOOL","arguments":"{}"}}]}}]}"#,
            r#"{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}"#,
            "[DONE]",
        ],
        Wire::Responses => &[
            r#"{"type":"response.created","response":{}}"#,
            r#"{"type":"response.output_text.delta","output_index":0,"delta":"é"}"#,
            r#"{"type":"response.output_item.done","output_index":1,"item":{"type":"function_call","call_id":"c","name":"TOOL","arguments":"{}"}}"#,
            r#"{"type":"response.completed","response":{"status":"completed"}}"#,
        ],
        Wire::Messages => &[
            r#"{"type":"message_start","message":{}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"é"}}"#,
            r#"{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"c","name":"TOOL","input":{}}}"#,
            r#"{"type":"content_block_stop","index":1}"#,
            r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"}}"#,
            r#"{"type":"message_stop"}"#,
        ],
    };
    let is_of_call = |event: &str| event.contains("TOOL") || event.contains("content_block_stop");
    let events = events
        .iter()
        .filter(|event| !tool.is_empty() || !is_of_call(event));
    let events = events.map(|event| format!("data: {}\n\n", event.replace("TOOL", tool)));
    events.collect::<String>().into_bytes()
}

const WIRES: [Wire; 3] = [Wire::Chat, Wire::Responses, Wire::Messages];

fn dial(server: &Server, wire: Wire) -> Dial {
    Dial {
        wire,
        ..server.dial()
    }
}

/// A cut anywhere gives the whole reply or a failure, and the call at most once, never without its end.
#[tokio::test]
async fn cut_after_any_byte() {
    for wire in WIRES {
        let whole = reply(wire, "rm");
        let mut complete = 0;
        for ending in [Ending::Cut, Ending::Complete] {
            let answers = (0..=whole.len()).map(|length| Answer::stream(&[&whole[..length]]).ending(ending));
            let server = Server::start(answers.collect()).await;
            let model = HttpModel::new(dial(&server, wire)).unwrap();
            for length in 0..=whole.len() {
                let events = ask(&model).await;
                let is_call = |event: &&Result<_, _>| matches!(event, Ok(StreamEvent::ToolCall { .. }));
                let calls = events.iter().filter(is_call).count();
                let what = format!("{wire:?} cut after {length}: {events:?}");
                match events.last() {
                    Some(Ok(StreamEvent::Done(_))) => {
                        complete += 1;
                        assert_eq!(calls, 1, "{what}");
                    }
                    Some(Err(error)) => {
                        assert_eq!(calls, 0, "{what}");
                        assert!(!error.message.is_empty() && !error.hint.is_empty(), "{what}");
                    }
                    other => panic!("{other:?} at the end of {what}"),
                }
            }
        }
        assert!(complete >= 2, "{wire:?}: no cut was late enough");
    }
}

#[tokio::test]
async fn junk_is_a_sentence() {
    let junk: &[&[u8]] = &[
        b"",
        b"\0\0\0\0",
        b"HTTP/1.1 200 OK\r\n\r\n",
        b"data: \xff\xfe\n\n",
        b"data: [1,2,3]\n\n",
        b"data: \"text\"\n\n",
        b"data: {\"choices\": 7}\n\n",
        b"data: {\"type\": 7}\n\n",
        b"data: {\"type\":\"message_delta\",\"usage\":{\"input_tokens\":-1},\"delta\":{\"stop_reason\":[]}}\n\n",
        b"data: {\"type\":\"response.completed\",\"response\":null}\n\n",
        b"data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":-1,\"function\":{\"arguments\":{\"a\":[]}}}]}}]}\n\n",
        b"event: x\nid: 1\nretry: 1\n\n",
    ];
    for wire in WIRES {
        for bytes in junk {
            let server = Server::start(vec![Answer::stream(&[bytes])]).await;
            let events = ask(&HttpModel::new(dial(&server, wire)).unwrap()).await;
            match events.last() {
                Some(Err(error)) => assert!(
                    error.message.ends_with('.') && !error.hint.is_empty(),
                    "{error:?}"
                ),
                // An empty end is an end.
                Some(Ok(StreamEvent::Done(_))) => {}
                other => panic!("{wire:?} {}: {other:?}", String::from_utf8_lossy(bytes)),
            }
        }
    }
}

#[tokio::test]
async fn a_slow_drip_is_no_silence() {
    for wire in WIRES {
        let whole = reply(wire, "rm");
        let mut chunks: Vec<Vec<u8>> = Vec::new();
        for piece in whole.chunks(40) {
            chunks.push(piece.to_vec());
        }
        let answer = Answer::stream(&chunks).dripping(Duration::from_millis(15));
        let server = Server::start(vec![answer]).await;
        let slow = Dial {
            timeouts: Some(Timeouts {
                first_byte: Duration::from_secs(5),
                stall: Duration::from_secs(5),
                ..Timeouts::default()
            }),
            ..dial(&server, wire)
        };
        let events = ask(&HttpModel::new(slow).unwrap()).await;
        assert!(
            matches!(events.last(), Some(Ok(StreamEvent::Done(_)))),
            "{events:?}"
        );
    }
}

#[tokio::test]
async fn a_reset_is_tried_again() {
    for wire in WIRES {
        let mut server = Server::start(vec![Answer::reset(), Answer::stream(&[reply(wire, "rm")])]).await;
        let patient = Dial {
            retry: RetryPolicy {
                retries: 1,
                base: Duration::from_millis(1),
                ..RetryPolicy::default()
            },
            ..dial(&server, wire)
        };
        let events = ask(&HttpModel::new(patient).unwrap()).await;
        assert!(
            matches!(events.last(), Some(Ok(StreamEvent::Done(_)))),
            "{events:?}"
        );
        assert_eq!(server.count(), 2);
    }
}

#[tokio::test]
async fn waits_are_told_before_they_begin() {
    let mut server = Server::start(vec![
        Answer::error(429, "").with("retry-after-ms", "20"),
        Answer::error(503, ""),
        Answer::says("there"),
    ])
    .await;
    let patient = Dial {
        retry: RetryPolicy {
            retries: 3,
            base: Duration::from_millis(1),
            ..RetryPolicy::default()
        },
        ..server.dial()
    };
    let model = HttpModel::new(patient).unwrap();
    let events = ask_with(&model, request(vec![Message::user("hi")])).await;
    let waits: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            Ok(StreamEvent::Waiting(wait)) => Some((wait.number, wait.of, wait.why.as_str())),
            _ => None,
        })
        .collect();
    assert_eq!(
        waits,
        [
            (1, 3, "acme takes no more requests for now (HTTP 429)."),
            (2, 3, "acme failed (HTTP 503).")
        ]
    );
    let Ok(StreamEvent::Waiting(first)) = &events[0] else {
        panic!("{events:?}");
    };
    assert!(first.length >= Duration::from_millis(20) && first.length < Duration::from_millis(30));
    assert!(events.contains(&Ok(StreamEvent::Text("there".into()))));
    assert_eq!(server.count(), 3);
}

#[tokio::test]
async fn a_server_that_knows_no_extras_gets_none() {
    let refusal = r#"{"error":{"message":"Unrecognized request argument supplied: stream_options"}}"#;
    let mut server = Server::start(vec![Answer::error(400, refusal), Answer::says("ok")]).await;
    // It is no other try of the same request, so it needs no patience.
    let model = server.client();
    let events = ask(&model).await;
    assert_eq!(events[0], Ok(StreamEvent::Text("ok".into())));
    let with = |body: &[u8]| String::from_utf8_lossy(body).contains("stream_options");
    assert!(with(&server.body().await));
    assert!(!with(&server.body().await));
    ask(&model).await;
    assert!(!with(&server.body().await), "it is not tried every time");
}

#[tokio::test]
async fn what_the_person_wants_of_thinking_is_not_dropped() {
    let refusal = r#"{"error":{"message":"thinking: unknown effort"}}"#;
    let mut server = Server::start(vec![Answer::error(400, refusal)]).await;
    let model = HttpModel::new(Dial {
        effort: Some("ultra".into()),
        ..server.dial()
    })
    .unwrap();
    let error = ask(&model).await.pop().unwrap().unwrap_err();
    assert_eq!(error.kind, ProviderErrorKind::Protocol);
    assert_eq!(server.count(), 1);
}

#[tokio::test]
async fn extras_that_were_not_the_fault_are_not_lost() {
    let refusal = r#"{"error":{"message":"`thinking` blocks in the latest message cannot be modified"}}"#;
    let mut server = Server::start(vec![
        Answer::error(400, refusal),
        Answer::error(400, refusal),
        Answer::says("ok"),
    ])
    .await;
    let model = server.client();
    assert!(ask(&model).await[0].is_err());
    assert_eq!(ask(&model).await[0], Ok(StreamEvent::Text("ok".into())));
    let with = |body: &[u8]| String::from_utf8_lossy(body).contains("stream_options");
    let sent = [server.body().await, server.body().await, server.body().await];
    assert_eq!(sent.map(|body| with(&body)), [true, false, true]);
}
