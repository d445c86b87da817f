//! The client before a judge: llmock (PyPI) breaks replies in every way and grades how we take it.
//!
//! `pip install llmock==0.2.2`, then `cargo test --no-default-features --test rust judged -- --ignored`.

use std::process::Stdio;
use std::time::Duration;

use dcode::protocol::message::Message;
use dcode::protocol::tool::ToolSpec;
use dcode::provider::{ChatRequest, Dial, HttpModel, Provider as _, RetryPolicy, StreamEvent, Timeouts};
use futures_util::StreamExt as _;
use serde_json::json;

use super::server::{Answer, Server};

/// What the agent does: a reply that broke is asked for again, a few times.
async fn reply(client: &HttpModel, text: &str) -> Result<Vec<StreamEvent>, String> {
    let request = ChatRequest {
        system: "You are a test.".into(),
        messages: vec![Message::user(text)],
        tools: vec![ToolSpec {
            name: "read_file".into(),
            description: "Reads a file.".into(),
            schema: json!({"type": "object", "properties": {"path": {"type": "string"}}}),
        }],
    };
    let policy = RetryPolicy::default();
    for tries in 1.. {
        let events: Vec<_> = match client.stream(request.clone()).await {
            Ok(stream) => stream.collect().await,
            Err(error) => vec![Err(error)],
        };
        match events.into_iter().collect::<Result<Vec<_>, _>>() {
            Ok(events) => return Ok(events),
            Err(error) if error.is_transient() => match policy.backoff(tries) {
                Some(wait) => tokio::time::sleep(wait).await,
                None => return Err(error.message),
            },
            Err(error) => return Err(error.message),
        }
    }
    unreachable!("the policy gives up")
}

#[tokio::test]
#[ignore = "needs llmock on PATH"]
async fn the_judge_finds_no_fault() {
    let port = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port()
        .to_string();
    let _judge = tokio::process::Command::new("llmock")
        .args(["serve", "--port", &port, "--log-level", "warning"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .expect("llmock is not on PATH");
    let client = HttpModel::new(Dial {
        base_url: format!("http://127.0.0.1:{port}/v1"),
        timeouts: Some(Timeouts {
            stall: Duration::from_millis(500),
            ..Timeouts::default()
        }),
        retry: RetryPolicy::default(),
        ..Server::start(vec![Answer::says("unused")]).await.dial()
    })
    .unwrap();
    let control = reqwest::Client::builder().no_proxy().build().unwrap();
    let at = |path: &str| format!("http://127.0.0.1:{port}/_llmock/{path}");
    let mut tries = 0;
    while control.get(at("verdict")).send().await.is_err() {
        tries += 1;
        assert!(tries < 100, "llmock does not start");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let scenario = json!({"behaviors": [
        {"type": "fail", "status": 429, "retry_after": 1, "times": 2},
        {"type": "fail", "status": 503},
        {"type": "stream_fault", "kind": "truncate", "after_chunks": 3},
        {"type": "stream_fault", "kind": "disconnect", "after_chunks": 2},
        {"type": "stream_fault", "kind": "stall", "after_chunks": 2, "stall_seconds": 5},
        {"type": "reply", "text": "all is well here", "times": 4},
        {"type": "reply", "tool_calls": [{"name": "read_file", "arguments": {"path": "a.rs"}}]},
    ]});
    let sent = control.post(at("scenario")).body(scenario.to_string());
    let sent = sent
        .header("content-type", "application/json")
        .send()
        .await
        .unwrap();
    assert!(sent.status().is_success(), "{}", sent.text().await.unwrap());

    let text: String = reply(&client, "first")
        .await
        .unwrap()
        .into_iter()
        .filter_map(|event| {
            if let StreamEvent::Text(text) = event {
                Some(text)
            } else {
                None
            }
        })
        .collect();
    assert_eq!(text, "all is well here");
    let call = reply(&client, "second").await.unwrap();
    assert!(
        call.iter().any(
            |event| matches!(event, StreamEvent::ToolCall { name, arguments, .. }
            if name == "read_file" && arguments.contains("a.rs"))
        ),
        "{call:?}"
    );
    let refused = json!({"behaviors": [{"type": "fail", "status": 400}]});
    let sent = control.post(at("scenario")).body(refused.to_string());
    sent.header("content-type", "application/json")
        .send()
        .await
        .unwrap();
    assert!(reply(&client, "third").await.is_err());

    let verdict = control
        .get(at("verdict?format=text"))
        .send()
        .await
        .unwrap()
        .text()
        .await
        .unwrap();
    assert!(verdict.contains("PASS"), "{verdict}");
    println!("{verdict}");
}
