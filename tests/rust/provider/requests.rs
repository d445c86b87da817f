//! The bytes of requests as a server gets them.

use dcode::protocol::ids::CallId;
use dcode::protocol::message::{Block, Message, Role, ToolCall, ToolResult};
use dcode::protocol::tool::ToolSpec;
use dcode::provider::{ChatRequest, Dial, HttpModel, Provider as _};
use futures_util::StreamExt as _;
use serde_json::json;

use super::server::{Answer, KEY, Seen, Server, TEAM};

fn tools() -> Vec<ToolSpec> {
    vec![ToolSpec {
        name: "ls".into(),
        description: "Lists a folder.".into(),
        schema: json!({"type": "object", "properties": {"path": {"type": "string"}, "all": {"type": "boolean"}}}),
    }]
}

/// A step whose call has an id that comes again in every step, as some servers make them.
fn step(number: usize, arguments: &str) -> [Message; 2] {
    let id = CallId("call_0".into());
    let call = ToolCall {
        id: id.clone(),
        name: "ls".into(),
        arguments: arguments.into(),
    };
    let result = ToolResult {
        id,
        text: format!("result {number}"),
        is_error: false,
        media: vec![],
    };
    [
        Message {
            role: Role::Assistant,
            blocks: vec![
                Block::Reasoning {
                    text: format!("thought {number}"),
                },
                Block::ToolCall(call),
            ],
        },
        Message {
            role: Role::Tool,
            blocks: vec![Block::ToolResult(result)],
        },
    ]
}

async fn sent(server: &mut Server, client: &HttpModel, messages: &[Message]) -> Vec<u8> {
    let request = ChatRequest {
        system: "You are a test.".into(),
        messages: messages.to_vec(),
        tools: tools(),
    };
    let stream = client.stream(request).await.unwrap();
    stream.collect::<Vec<_>>().await;
    server.body().await
}

#[tokio::test]
async fn successive_requests_share_every_byte_up_to_the_new_messages() {
    for replay_reasoning in [false, true] {
        let mut server = Server::start(vec![Answer::says("ok")]).await;
        let client = HttpModel::new(Dial {
            replay_reasoning,
            ..server.dial()
        })
        .unwrap();
        let mut messages = vec![Message::user("first")];
        let mut last = sent(&mut server, &client, &messages).await;
        for (number, arguments) in ["{}", "", "{\"path\": \"a", "{ \"path\" : \"b\" }"]
            .iter()
            .enumerate()
        {
            messages.extend(step(number, arguments));
            if number == 2 {
                messages.push(Message::user("second"));
            }
            let next = sent(&mut server, &client, &messages).await;
            let shared = last.strip_suffix(b"]}").expect("the messages stand last");
            assert!(
                next.starts_with(shared),
                "request {number} does not begin as the one before"
            );
            last = next;
        }
    }
}

#[tokio::test]
async fn a_request_as_it_goes_over_the_wire() {
    let mut server = Server::start(vec![Answer::says("ok")]).await;
    let client = server.client();
    let mut messages = vec![Message::user("first")];
    messages.extend(step(1, ""));
    messages.extend(step(2, "{}"));
    let body = String::from_utf8(sent(&mut server, &client, &messages).await).unwrap();
    insta::assert_snapshot!(body, @r#"{"model":"m-1","stream":true,"stream_options":{"include_usage":true},"tools":[{"type":"function","function":{"name":"ls","description":"Lists a folder.","parameters":{"type":"object","properties":{"path":{"type":"string"},"all":{"type":"boolean"}}}}}],"messages":[{"role":"system","content":"You are a test."},{"role":"user","content":"first"},{"role":"assistant","content":null,"tool_calls":[{"id":"call_0","type":"function","function":{"name":"ls","arguments":"{}"}}]},{"role":"tool","tool_call_id":"call_0","content":"result 1"},{"role":"assistant","content":null,"tool_calls":[{"id":"call_0-2","type":"function","function":{"name":"ls","arguments":"{}"}}]},{"role":"tool","tool_call_id":"call_0-2","content":"result 2"}]}"#);
}

#[tokio::test]
async fn the_head_of_a_request() {
    let mut server = Server::start(vec![Answer::says("ok")]).await;
    let _ = super::ask(&server.client()).await;
    let Seen::Request { head, .. } = server.seen().await else {
        panic!("no request");
    };
    assert!(
        head.starts_with("POST /v1/chat/completions HTTP/1.1\r\n"),
        "{head}"
    );
    let head = head.to_lowercase();
    for line in [
        format!("authorization: bearer {KEY}"),
        format!("x-team: {TEAM}"),
        "accept: text/event-stream".to_owned(),
        "content-type: application/json".to_owned(),
        concat!("user-agent: dcode.nvim/", env!("CARGO_PKG_VERSION")).to_owned(),
    ] {
        assert!(head.contains(&format!("{line}\r\n")), "{line} is not in {head}");
    }

    let client = HttpModel::new(Dial {
        key: None,
        ..server.dial()
    })
    .unwrap();
    let _ = super::ask(&client).await;
    let Seen::Request { head, .. } = server.seen().await else {
        panic!("no request");
    };
    assert!(!head.to_lowercase().contains("authorization"), "{head}");
}
