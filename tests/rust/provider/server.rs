//! A loopback server that answers with given bytes, cut exactly where a test wants them cut.

use std::time::Duration;

use dcode::provider::{Dial, HttpModel, RetryPolicy, Timeouts};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

/// How a body ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// In order.
    #[default]
    Complete,
    /// The connection is closed in the middle.
    Cut,
    /// Nothing more comes, and the connection stays until the client leaves.
    Silence,
}

#[derive(Clone, Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub chunks: Vec<Vec<u8>>,
    pub ending: Ending,
    /// The pause before each chunk.
    pub drip: Duration,
}

impl Answer {
    pub fn stream<C: AsRef<[u8]>>(chunks: &[C]) -> Self {
        Self {
            status: 200,
            headers: vec![("content-type".into(), "text/event-stream".into())],
            chunks: chunks.iter().map(|chunk| chunk.as_ref().to_vec()).collect(),
            ending: Ending::Complete,
            drip: Duration::ZERO,
        }
    }

    /// A whole reply of one text.
    pub fn says(text: &str) -> Self {
        let chunk = serde_json::json!({"choices": [{"delta": {"content": text}, "finish_reason": "stop"}]});
        Self::stream(&[format!("data: {chunk}\n\n"), "data: [DONE]\n\n".to_owned()])
    }

    pub fn error(status: u16, body: &str) -> Self {
        Self {
            status,
            headers: vec![("content-type".into(), "application/json".into())],
            chunks: vec![body.as_bytes().to_vec()],
            ending: Ending::Complete,
            drip: Duration::ZERO,
        }
    }

    /// The connection is reset before a single byte of the answer.
    pub fn reset() -> Self {
        Self::error(0, "")
    }

    pub fn dripping(mut self, drip: Duration) -> Self {
        self.drip = drip;
        self
    }

    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.retain(|(known, _)| known != name);
        self.headers.push((name.into(), value.into()));
        self
    }

    pub fn ending(mut self, ending: Ending) -> Self {
        self.ending = ending;
        self
    }
}

/// What the server saw, in order.
#[derive(Debug)]
pub enum Seen {
    Request {
        head: String,
        body: Vec<u8>,
    },
    /// The client left a connection whose body was not at its end.
    Left,
}

pub struct Server {
    pub base_url: String,
    seen: mpsc::UnboundedReceiver<Seen>,
}

impl Server {
    /// Serves the answers in order, one a request; the last one again and again.
    pub async fn start(answers: Vec<Answer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
        let (tell, seen) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            for number in 0.. {
                let (socket, _) = listener.accept().await.unwrap();
                let answer = answers[number.min(answers.len() - 1)].clone();
                tokio::spawn(serve(socket, answer, tell.clone()));
            }
        });
        Self { base_url, seen }
    }

    pub async fn seen(&mut self) -> Seen {
        let next = tokio::time::timeout(Duration::from_secs(10), self.seen.recv()).await;
        next.expect("the server saw nothing more").unwrap()
    }

    /// The body of the next request.
    pub async fn body(&mut self) -> Vec<u8> {
        match self.seen().await {
            Seen::Request { body, .. } => body,
            Seen::Left => panic!("the client left"),
        }
    }

    /// How many requests came since the last look.
    pub fn count(&mut self) -> usize {
        let mut count = 0;
        while let Ok(seen) = self.seen.try_recv() {
            count += usize::from(matches!(seen, Seen::Request { .. }));
        }
        count
    }

    /// A client of this server that does not try again.
    pub fn dial(&self) -> Dial {
        Dial {
            key_env: Some("ACME_KEY".into()),
            key: Some(KEY.into()),
            headers: [("x-team".to_owned(), TEAM.to_owned())].into(),
            timeouts: Some(Timeouts {
                after_finish: Duration::from_millis(50),
                ..Timeouts::default()
            }),
            retry: RetryPolicy {
                retries: 0,
                ..RetryPolicy::default()
            },
            ..Dial::plain("acme", "m-1", &self.base_url)
        }
    }

    pub fn client(&self) -> HttpModel {
        HttpModel::new(self.dial()).unwrap()
    }
}

/// The key and the header value that must never be shown.
pub const KEY: &str = "sk-very-secret-0123456789";
pub const TEAM: &str = "team-token-98765";

async fn serve(mut socket: TcpStream, answer: Answer, tell: mpsc::UnboundedSender<Seen>) {
    let Some((head, body)) = read_request(&mut socket).await else {
        return;
    };
    let _ = tell.send(Seen::Request { head, body });
    if answer.status == 0 {
        // Dropped with linger zero, the socket sends a reset.
        socket.set_zero_linger().unwrap();
        return;
    }
    let mut reply = format!(
        "HTTP/1.1 {} X\r\nconnection: close\r\ntransfer-encoding: chunked\r\n",
        answer.status
    );
    for (name, value) in &answer.headers {
        reply.push_str(&format!("{name}: {value}\r\n"));
    }
    reply.push_str("\r\n");
    socket.write_all(reply.as_bytes()).await.unwrap();
    for chunk in answer.chunks.iter().filter(|chunk| !chunk.is_empty()) {
        if !answer.drip.is_zero() {
            tokio::time::sleep(answer.drip).await;
        }
        // The client gets each piece on its own, because it decodes one chunk at a time.
        let mut piece = format!("{:x}\r\n", chunk.len()).into_bytes();
        piece.extend_from_slice(chunk);
        piece.extend_from_slice(b"\r\n");
        if socket.write_all(&piece).await.is_err() {
            return;
        }
    }
    match answer.ending {
        Ending::Complete => drop(socket.write_all(b"0\r\n\r\n").await),
        Ending::Cut => {}
        Ending::Silence => {
            while !matches!(socket.read(&mut [0; 64]).await, Ok(0) | Err(_)) {}
            let _ = tell.send(Seen::Left);
        }
    }
}

async fn read_request(socket: &mut TcpStream) -> Option<(String, Vec<u8>)> {
    let mut bytes = Vec::new();
    let head = loop {
        if socket.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break end + 4;
        }
    };
    let body = bytes.split_off(head);
    let head = String::from_utf8(bytes).ok()?;
    let length = head.to_lowercase();
    let length = length
        .lines()
        .find_map(|line| line.strip_prefix("content-length: ")?.parse().ok())?;
    let mut body = body;
    while body.len() < length {
        socket.read_buf(&mut body).await.ok()?;
    }
    Some((head, body))
}
