//! A model for tests: an OpenAI-compatible server on the loopback interface that plays scripted replies
//! in order, streams them, and keeps every request. It runs on a thread of its own, so a test that
//! blocks its runtime does not stop it. `tests/rust` and `tests/e2e` both include this file.

#![allow(dead_code, reason = "each test binary uses a part")]

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Response, StatusCode, Uri};
use axum::serve::ListenerExt;
use futures_util::stream;
use serde_json::{Value, json};
use tokio::sync::{oneshot, watch};

/// How long [`ModelServer::request`] waits before it fails the test.
const PATIENCE: Duration = Duration::from_secs(10);

/// One scripted reply. Nothing is sent for what is not said: [`Reply::done`] ends an ordinary reply,
/// [`Reply::cut`] one whose connection breaks.
pub struct Reply {
    status: StatusCode,
    headers: Vec<(String, String)>,
    parts: VecDeque<Part>,
    calls: usize,
}

enum Part {
    Bytes(Bytes),
    Pause(oneshot::Receiver<()>),
    Wait(Duration),
    Cut,
}

/// Lets a reply go on that stopped at [`Reply::pause`]. Dropping it does the same.
pub struct Release(#[expect(dead_code, reason = "held only to be dropped")] oneshot::Sender<()>);

impl Release {
    /// The reply goes on.
    pub fn go(self) {
        drop(self);
    }
}

impl Reply {
    /// An empty streamed reply, to be filled.
    pub fn new() -> Self {
        let headers = vec![("content-type".to_owned(), "text/event-stream".to_owned())];
        Self {
            status: StatusCode::OK,
            headers,
            parts: VecDeque::new(),
            calls: 0,
        }
    }

    /// A complete reply that says `text` in one piece.
    pub fn say(text: &str) -> Self {
        Self::new().text(text).done()
    }

    /// A complete reply that makes one call.
    pub fn call(id: &str, tool: &str, arguments: &Value) -> Self {
        Self::new().tool_call(id, tool, arguments).done()
    }

    /// A refusal: `status`, and `body` as JSON.
    pub fn error(status: u16, body: &Value) -> Self {
        let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
        let parts = VecDeque::from([Part::Bytes(body.to_string().into())]);
        let status = StatusCode::from_u16(status).expect("a status code");
        Self {
            status,
            headers,
            parts,
            calls: 0,
        }
    }

    /// A header beside those that are always sent.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// One delta of text.
    pub fn text(self, text: &str) -> Self {
        self.delta(&json!({ "content": text }))
    }

    /// Each word of `text` as a delta of its own.
    pub fn words(self, text: &str) -> Self {
        text.split_inclusive(' ').fold(self, Self::text)
    }

    /// The same, `count` words every millisecond.
    pub fn words_per_millisecond(self, count: usize, text: &str) -> Self {
        let words: Vec<&str> = text.split_inclusive(' ').collect();
        words.chunks(count).fold(self, |mut reply, words| {
            reply.parts.push_back(Part::Wait(Duration::from_millis(1)));
            words.iter().copied().fold(reply, Self::text)
        })
    }

    /// One delta of reasoning, in the field that DeepSeek and vLLM use.
    pub fn reasoning(self, text: &str) -> Self {
        self.delta(&json!({ "reasoning_content": text }))
    }

    /// A call whose arguments are sent in pieces, as real servers do.
    pub fn tool_call(self, id: &str, tool: &str, arguments: &Value) -> Self {
        self.raw_tool_call(id, tool, &arguments.to_string())
    }

    /// The same with arguments that need not be JSON.
    pub fn raw_tool_call(mut self, id: &str, tool: &str, arguments: &str) -> Self {
        let index = self.calls;
        self.calls += 1;
        let head = json!({ "index": index, "id": id, "type": "function",
            "function": { "name": tool, "arguments": "" } });
        let letters: Vec<char> = arguments.chars().collect();
        letters
            .chunks(24)
            .fold(self.delta(&json!({ "tool_calls": [head] })), |reply, piece| {
                let piece: String = piece.iter().collect();
                reply
                    .delta(&json!({ "tool_calls": [{ "index": index, "function": { "arguments": piece } }] }))
            })
    }

    /// The chunk that counts tokens: of the request, of these cached, of the reply.
    pub fn usage(self, input: u64, cached: u64, output: u64) -> Self {
        self.event(&json!({ "choices": [], "usage": { "prompt_tokens": input,
            "completion_tokens": output, "prompt_tokens_details": { "cached_tokens": cached } } }))
    }

    /// The reply stops here until the [`Release`] lets it go on.
    pub fn pause(mut self) -> (Self, Release) {
        let (sender, receiver) = oneshot::channel();
        self.parts.push_back(Part::Pause(receiver));
        (self, Release(sender))
    }

    /// Ends the reply in order: `tool_calls` where it made calls, else `stop`.
    pub fn done(self) -> Self {
        let reason = if self.calls > 0 { "tool_calls" } else { "stop" };
        self.finish(reason)
    }

    /// Ends the reply with a reason of one's own, such as `length`.
    pub fn finish(self, reason: &str) -> Self {
        self.event(&json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": reason }] }))
            .raw("data: [DONE]\n\n")
    }

    /// Breaks the connection here.
    pub fn cut(mut self) -> Self {
        self.parts.push_back(Part::Cut);
        self
    }

    /// One server-sent event with `data` as it is.
    pub fn event(self, data: &Value) -> Self {
        self.raw(&format!("data: {data}\n\n"))
    }

    /// Bytes as they are.
    pub fn raw(mut self, bytes: &str) -> Self {
        self.parts
            .push_back(Part::Bytes(Bytes::copy_from_slice(bytes.as_bytes())));
        self
    }

    fn delta(self, delta: &Value) -> Self {
        self.event(
            &json!({ "id": "chatcmpl-test", "object": "chat.completion.chunk", "model": "any",
            "choices": [{ "index": 0, "delta": delta, "finish_reason": null }] }),
        )
    }

    fn into_response(self) -> Response<Body> {
        let body = Body::from_stream(stream::unfold(self.parts, |mut parts| async {
            loop {
                match parts.pop_front()? {
                    Part::Bytes(bytes) => return Some((Ok(bytes), parts)),
                    // An error only says that the Release was dropped, which is an answer too.
                    Part::Pause(released) => drop(released.await),
                    Part::Wait(time) => tokio::time::sleep(time).await,
                    Part::Cut => {
                        // The server flushes what it holds while the body has nothing for it.
                        tokio::task::yield_now().await;
                        return Some((Err(std::io::Error::other("cut by the script")), parts));
                    }
                }
            }
        }));
        let mut response = Response::builder().status(self.status);
        for (name, value) in self.headers {
            response = response.header(name, value);
        }
        response.body(body).expect("a response")
    }
}

/// A request as it came.
#[derive(Clone, Debug)]
pub struct Request {
    /// When it was here, whole.
    pub at: Instant,
    /// Path and query.
    pub path: String,
    /// All headers.
    pub headers: HeaderMap,
    /// The body as it was sent.
    pub text: String,
    /// The body as JSON; null when it is none.
    pub body: Value,
}

impl Request {
    /// The names of the tools on offer, in order.
    pub fn tools(&self) -> Vec<&str> {
        let tools = self.body["tools"]
            .as_array()
            .map(Vec::as_slice)
            .unwrap_or_default();
        tools
            .iter()
            .filter_map(|tool| tool["function"]["name"].as_str())
            .collect()
    }

    /// The messages, the system prompt first.
    pub fn messages(&self) -> &[Value] {
        self.body["messages"]
            .as_array()
            .map(Vec::as_slice)
            .unwrap_or_default()
    }

    /// The text that answered the call `id`.
    pub fn result_of(&self, id: &str) -> Option<&str> {
        self.messages()
            .iter()
            .find(|message| message["tool_call_id"] == id)?["content"]
            .as_str()
    }
}

struct Shared {
    script: Mutex<VecDeque<Reply>>,
    requests: watch::Sender<Vec<Request>>,
}

/// The server; it stops when dropped.
pub struct ModelServer {
    port: u16,
    shared: Arc<Shared>,
    stop: Option<oneshot::Sender<()>>,
}

impl ModelServer {
    /// Starts a server on a free port. It answers 400 until it has a reply to play.
    pub fn start() -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
        listener.set_nonblocking(true).expect("a non-blocking listener");
        let port = listener.local_addr().expect("an address").port();
        let shared = Arc::new(Shared {
            script: Mutex::default(),
            requests: watch::Sender::new(Vec::new()),
        });
        let (stop, stopped) = oneshot::channel();
        let state = Arc::clone(&shared);
        std::thread::spawn(move || serve(listener, state, stopped));
        Self {
            port,
            shared,
            stop: Some(stop),
        }
    }

    /// What a provider's `base_url` is to be.
    pub fn base_url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    /// The port on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Adds a reply behind those that wait.
    pub fn push(&self, reply: Reply) -> &Self {
        lock(&self.shared.script).push_back(reply);
        self
    }

    /// Forgets the replies that wait.
    pub fn clear(&self) {
        lock(&self.shared.script).clear();
    }

    /// The requests up to now, in order.
    pub fn requests(&self) -> Vec<Request> {
        self.shared.requests.borrow().clone()
    }

    /// The request number `index` (from 0), waited for.
    pub async fn request(&self, index: usize) -> Request {
        let mut requests = self.shared.requests.subscribe();
        let arrived = requests.wait_for(|requests| requests.len() > index);
        let Ok(arrived) = tokio::time::timeout(PATIENCE, arrived).await else {
            panic!(
                "request {index} did not come within {PATIENCE:?}; there were {}",
                self.requests().len()
            );
        };
        arrived.expect("the server lives")[index].clone()
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        drop(self.stop.take());
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn serve(listener: std::net::TcpListener, state: Arc<Shared>, stopped: oneshot::Receiver<()>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let app = axum::Router::new().fallback(answer).with_state(state);
        // Without it each small piece of a stream would wait for the acknowledgement of the last.
        let listener = tokio::net::TcpListener::from_std(listener)
            .expect("a listener")
            .tap_io(|stream| {
                stream.set_nodelay(true).ok();
            });
        tokio::select! {
            _ = axum::serve(listener, app) => {}
            _ = stopped => {}
        }
    });
}

async fn answer(
    State(shared): State<Arc<Shared>>,
    uri: Uri,
    headers: HeaderMap,
    text: String,
) -> Response<Body> {
    let body = serde_json::from_str(&text).unwrap_or(Value::Null);
    let request = Request {
        at: Instant::now(),
        path: uri.to_string(),
        headers,
        text,
        body,
    };
    shared.requests.send_modify(|requests| requests.push(request));
    let reply = lock(&shared.script).pop_front();
    reply
        // 400: no client should try it again.
        .unwrap_or_else(|| {
            Reply::error(
                400,
                &json!({ "error": { "message": "the test has no more replies" } }),
            )
        })
        .into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn post(server: &ModelServer) -> reqwest::Response {
        // Loopback HTTP needs no certificates, but the client wants a TLS provider to be named.
        rustls::crypto::ring::default_provider().install_default().ok();
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        let request = client.post(format!("{}/chat/completions", server.base_url()));
        request
            .json(&json!({ "messages": [{ "role": "user", "content": "hi" }] }))
            .send()
            .await
            .unwrap()
    }

    #[tokio::test]
    async fn streams_a_reply_and_keeps_the_request() {
        let server = ModelServer::start();
        let (reply, release) = Reply::new().text("one").pause();
        server.push(reply.tool_call("c1", "ls", &json!({ "path": "." })).done());
        let mut response = post(&server).await;
        let first = response.chunk().await.unwrap().unwrap();
        assert!(String::from_utf8_lossy(&first).contains(r#""content":"one""#));
        release.go();
        let rest = response.text().await.unwrap();
        assert!(
            rest.contains(r#""name":"ls""#) && rest.ends_with("data: [DONE]\n\n"),
            "{rest}"
        );
        assert!(rest.contains(r#""finish_reason":"tool_calls""#));
        assert_eq!(server.request(0).await.messages()[0]["content"], "hi");
        assert_eq!(server.requests()[0].path, "/v1/chat/completions");
    }

    #[tokio::test]
    async fn refuses_and_cuts_as_told() {
        let server = ModelServer::start();
        server.push(
            Reply::error(429, &json!({ "error": { "message": "slow down" } })).header("retry-after", "1"),
        );
        server.push(Reply::new().text("half").cut());
        let refused = post(&server).await;
        assert_eq!(
            (refused.status().as_u16(), &refused.headers()["retry-after"]),
            (429, &"1".parse().unwrap())
        );
        let mut cut = post(&server).await;
        let half = cut.chunk().await.unwrap().unwrap();
        assert!(String::from_utf8_lossy(&half).contains("half"));
        cut.chunk().await.unwrap_err();
        assert_eq!(post(&server).await.status(), 400);
    }
}
