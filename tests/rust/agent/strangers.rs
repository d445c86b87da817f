//! The agent before servers that this project did not write: `make test-models` brings them and runs these.
//! aimock (npm) plays a model on every wire; llmock (PyPI) breaks replies in every way and grades how we take it.

use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::stage::Backdrop;
use super::*;

/// A server that ends with the test.
struct Stranger {
    child: Child,
    port: u16,
}

impl Drop for Stranger {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Stranger {
    /// Starts the program of this place in `DCODE_MODEL_SERVERS`, and waits until it listens.
    fn start(place: usize, args: &dyn Fn(&str) -> Vec<String>) -> Self {
        let paths = std::env::var("DCODE_MODEL_SERVERS").expect("make test-models sets DCODE_MODEL_SERVERS");
        let program = paths.split(':').nth(place).unwrap().to_owned();
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        let child = Command::new(program)
            .args(args(&port.to_string()))
            .env("AIMOCK_STRICT_TURN_INDEX", "1")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let stranger = Self { child, port };
        let deadline = Instant::now() + Duration::from_secs(30);
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(Instant::now() < deadline, "the server does not start");
            std::thread::sleep(Duration::from_millis(50));
        }
        stranger
    }

    fn at(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// Asks for something beside the model.
    fn control(&self, path: &str, body: Option<&Value>) -> String {
        let url = self.at(path);
        rustls::crypto::ring::default_provider().install_default().ok();
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(async {
            let client = reqwest::Client::builder().no_proxy().build().unwrap();
            let request = match body {
                Some(body) => client.post(url).json(body),
                None => client.get(url),
            };
            request.send().await.unwrap().text().await.unwrap()
        })
    }
}

fn aimock(dir: &std::path::Path) -> Stranger {
    let fixtures = json!({"fixtures": [
        {"match": {"userMessage": "tools", "hasToolResult": false}, "chunkSize": 7,
         "response": {"reasoning": "I should look.", "content": "Looking.",
            "toolCalls": [{"name": "read_file", "arguments": "{\"path\":\"a.rs\"}"}]}},
        {"match": {"hasToolResult": true}, "chunkSize": 5, "response": {"content": "All is well, é😀."}},
    ]});
    let file = dir.join("fixtures.json");
    std::fs::write(&file, fixtures.to_string()).unwrap();
    Stranger::start(0, &|port| {
        let words = [
            "-p",
            port,
            "-f",
            file.to_str().unwrap(),
            "--strict",
            "--log-level",
            "warn",
        ];
        words.map(ToOwned::to_owned).to_vec()
    })
}

/// A turn with a tool, and what the server must have seen.
fn turn_with_a_tool(stage: &mut Stage) {
    let ended = stage.turn("tools please", []);
    assert_eq!(
        (ended.reason, ended.text.as_str()),
        (TurnEnd::Done, "All is well, é😀."),
        "{:?}",
        ended.message
    );
    let done = stage.done();
    assert_eq!((done.len(), done[0].tool.as_str()), (1, "read_file"));
    assert!(done[0].text.contains("fn main"), "{}", done[0].text);
}

#[test]
#[ignore = "make test-models"]
fn strangers_aimock_on_three_wires_and_as_ollama() {
    let dir = tempfile::tempdir().unwrap();
    let server = aimock(dir.path());
    for (wire, base) in [("chat", "/v1"), ("responses", "/v1"), ("messages", "")] {
        let row = json!({"base_url": server.at(base), "wire": wire, "style": "effort"});
        let setup = json!({"model": "mock:m", "providers": {"mock": row}});
        let mut stage = Backdrop::new()
            .with(&setup)
            .file("a.rs", "fn main() {}\n")
            .start();
        turn_with_a_tool(&mut stage);
        let mut events = stage.events.iter();
        let thought = events.any(|event| matches!(event, Event::ReasoningDelta { .. }));
        assert!(thought, "{wire}: no reasoning was told");
    }

    // Nothing is configured but where Ollama is: its first model is taken.
    let mut backdrop = Backdrop::new().with(&json!({
        "providers": {"ollama": {"base_url": server.at("/v1")}},
    }));
    if ["DEEPSEEK_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_API_KEY"]
        .iter()
        .any(|key| std::env::var(key).is_ok())
    {
        backdrop.setup["model"] = json!("ollama:gpt-4");
    } else {
        backdrop.setup.as_object_mut().unwrap().remove("model");
    }
    let mut stage = backdrop.file("a.rs", "fn main() {}\n").start();
    turn_with_a_tool(&mut stage);
    assert_eq!(stage.agent.status().model.as_deref(), Some("ollama:gpt-4"));
}

#[test]
#[ignore = "make test-models"]
fn strangers_llmock_finds_no_fault() {
    for (wire, base) in [("chat", "/v1"), ("responses", "/v1"), ("messages", "/anthropic")] {
        let server = Stranger::start(1, &|port| {
            ["serve", "--port", port, "--log-level", "warning"]
                .map(ToOwned::to_owned)
                .to_vec()
        });
        let scenario = json!({"behaviors": [
            {"type": "fail", "status": 429, "retry_after": 1, "times": 2},
            {"type": "fail", "status": 500},
            {"type": "stream_fault", "kind": "truncate", "after_chunks": 3},
            {"type": "stream_fault", "kind": "malformed", "after_chunks": 2},
            {"type": "stream_fault", "kind": "stall", "after_chunks": 2, "stall_seconds": 5},
            // A reply and a fault of a tool are used up by a request whose stream breaks, too.
            {"type": "reply", "text": "this one breaks, so nobody should read it", "times": 3},
            {"type": "reply", "times": 2,
                "tool_calls": [{"name": "read_file", "arguments": {"path": "a.rs"}}]},
            {"type": "tool_fault", "kind": "malformed_arguments", "times": 4},
            {"type": "reply", "text": "all is well here"},
        ]});
        server.control("/_llmock/scenario", Some(&scenario));
        let row = json!({"base_url": server.at(base), "wire": wire, "chunk_stall_timeout_ms": 700});
        let setup = json!({"model": "mock:gpt-4o", "providers": {"mock": row}, "retries": 6});
        let mut stage = Backdrop::new()
            .with(&setup)
            .file("a.rs", "fn main() {}\n")
            .start();
        let ended = stage.turn("go", []);
        let verdict = server.control("/_llmock/verdict?format=text&strict=true", None);
        println!("{wire}\n{verdict}");
        assert_eq!(
            (ended.reason, ended.text.as_str()),
            (TurnEnd::Done, "all is well here"),
            "{wire}: {:?}\n{verdict}",
            ended.message
        );
        assert!(verdict.contains("PASS"), "{wire}: {verdict}");
        let reads = stage
            .done()
            .iter()
            .filter(|done| done.text.contains("fn main"))
            .count();
        assert_eq!(reads, 1, "{wire}: no call is made twice");
    }
}
