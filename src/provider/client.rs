//! A model behind HTTP: requests go out, replies come back, failures are tried again.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::stream::{self, BoxStream, StreamExt as _};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, LOCATION};
use reqwest::{Client, Response, Url};

use super::error::{Answer, answered};
use super::halves::Joiner;
use super::http::{self, Timeouts};
use super::in_text::Scavenger;
use super::model::{ChatRequest, Provider, ProviderError, ProviderErrorKind, StreamEvent, Wait};
use super::peer::Peer;
use super::prices::Prices;
use super::reply::Reply;
use super::retry::{Again, Failure, RetryPolicy, retry_after};
use super::sentences::{failure, web_page};
use super::sse;
use super::transport::{not_reached, silent};
use super::wire::{ThinkingStyle, Wire, WireOptions};

/// How much of an answer that is no reply is read.
const ERROR_BODY: usize = 64 * 1024;
/// The longest reply of a server that does not stream.
const WHOLE_BODY: usize = 16 * 1024 * 1024;

/// Fields that a server may not know. One that names such a field in its refusal gets the request
/// without all of them.
const EXTRAS: &[&str] = &[
    "stream_options",
    "prompt_cache_key",
    "cache_control",
    "encrypted_content",
    "reasoning.summary",
    "reasoning summar",
    "output_config",
    "thinking",
];

/// How to reach a model; the table makes it from the settings.
#[derive(Clone, Debug)]
pub struct Dial {
    /// The name of the row.
    pub provider: String,
    /// The model as the server names it.
    pub model: String,
    /// How it is spoken to.
    pub wire: Wire,
    /// Where the API is; see [`ProviderRow::base_url`](super::ProviderRow::base_url).
    pub base_url: String,
    /// The variable that holds the key, for sentences.
    pub key_env: Option<String>,
    /// The key. None: none is sent.
    pub key: Option<String>,
    /// Headers to add.
    pub headers: BTreeMap<String, String>,
    /// 0 when unknown.
    pub context_window: u64,
    /// The longest reply in tokens, for the wire that has to say.
    pub max_output: u64,
    /// None when unknown.
    pub prices: Option<Prices>,
    /// Whether it is shown images.
    pub images: bool,
    /// See [`ProviderRow::replay_reasoning`](super::ProviderRow::replay_reasoning).
    pub replay_reasoning: bool,
    /// How thinking is steered.
    pub style: ThinkingStyle,
    /// Whether the model is to think; None: as it does by itself.
    pub thinking: Option<bool>,
    /// How hard; the provider's word.
    pub effort: Option<String>,
    /// None: by whether the server is on this machine.
    pub timeouts: Option<Timeouts>,
    /// When to try again.
    pub retry: RetryPolicy,
}

impl Dial {
    /// A model about which nothing is known but its name and where it is, spoken to by chat completions.
    pub fn plain(provider: &str, model: &str, base_url: &str) -> Self {
        Self {
            provider: provider.to_owned(),
            model: model.to_owned(),
            wire: Wire::Chat,
            base_url: base_url.to_owned(),
            key_env: None,
            key: None,
            headers: BTreeMap::new(),
            context_window: 0,
            max_output: 32_000,
            prices: None,
            images: false,
            replay_reasoning: false,
            style: ThinkingStyle::None,
            thinking: None,
            effort: None,
            timeouts: None,
            retry: RetryPolicy::default(),
        }
    }
}

/// A model behind a server.
pub struct HttpModel {
    line: Arc<Line>,
    context_window: u64,
    prices: Option<Prices>,
}

/// What the tries of one model share.
struct Line {
    peer: Arc<Peer>,
    client: Client,
    url: Url,
    headers: HeaderMap,
    wire: Wire,
    options: WireOptions,
    /// The server does not know some of the [`EXTRAS`].
    lean: AtomicBool,
    timeouts: Timeouts,
    retry: RetryPolicy,
}

impl HttpModel {
    /// Prepares the client; nothing is sent. Errors are of kind `Config`.
    pub fn new(dial: Dial) -> Result<Self, ProviderError> {
        let row = format!("providers.{}", dial.provider);
        let config = |clause: String| ProviderError {
            kind: ProviderErrorKind::Config,
            message: format!("The provider {} cannot be used: {clause}.", dial.provider),
            hint: format!("Correct {row}, or choose another model with :Dcode model PROVIDER:MODEL."),
        };
        let url =
            http::endpoint(&dial.base_url, dial.wire).map_err(|why| config(format!("its base_url {why}")))?;
        let loopback = http::is_loopback(&url);
        let timeouts = dial.timeouts.unwrap_or_else(|| {
            if loopback {
                Timeouts::local()
            } else {
                Timeouts::default()
            }
        });
        let variable = dial.key_env.as_deref().unwrap_or("the key");
        let key = dial.key.as_deref().map(|key| (variable, key));
        let headers = http::headers(dial.wire, key, &dial.headers).map_err(config)?;
        let client = http::client(&timeouts, &url).map_err(config)?;
        let secrets = dial.key.iter().chain(dial.headers.values()).cloned().collect();
        let name = format!("{}:{}", dial.provider, dial.model);
        let line = Line {
            peer: Arc::new(Peer {
                provider: dial.provider,
                model: dial.model.clone(),
                url: http::shown(&url),
                host: url.host_str().unwrap_or_default().to_owned(),
                key_env: dial.key_env,
                loopback,
                secrets,
            }),
            client,
            url,
            headers,
            wire: dial.wire,
            options: WireOptions {
                name,
                model: dial.model,
                replay_reasoning: dial.replay_reasoning,
                images: dial.images,
                max_output: dial.max_output,
                style: dial.style,
                thinking: dial.thinking,
                effort: dial.effort,
                lean: false,
            },
            lean: AtomicBool::new(false),
            timeouts,
            retry: dial.retry,
        };
        Ok(Self {
            line: Arc::new(line),
            context_window: dial.context_window,
            prices: dial.prices,
        })
    }
}

impl Line {
    fn body(&self, request: &ChatRequest) -> Result<Vec<u8>, Failure> {
        let lean = self.lean.load(Ordering::Relaxed);
        let written = if lean {
            let options = WireOptions {
                lean,
                ..self.options.clone()
            };
            self.wire.body(&options, request)
        } else {
            self.wire.body(&self.options, request)
        };
        written.map_err(|error| {
            failure(
                ProviderErrorKind::Protocol,
                Again::Never,
                format!("The request cannot be written ({error})."),
                "Please report it.",
            )
        })
    }

    /// One try, up to the first event of the reply.
    async fn attempt(&self, request: &ChatRequest) -> Result<Reply, Failure> {
        let peer = &self.peer;
        let request_body = self.body(request)?;
        let sent = self
            .client
            .post(self.url.clone())
            .headers(self.headers.clone())
            .header(ACCEPT, "text/event-stream")
            .header(CONTENT_TYPE, "application/json")
            .body(request_body);
        let limit = self.timeouts.first_byte;
        let response = match tokio::time::timeout(limit, sent.send()).await {
            Err(_) => return Err(silent(peer, limit)),
            Ok(Err(error)) => return Err(not_reached(peer, &error)),
            Ok(Ok(response)) => response,
        };
        let status = response.status();
        if !status.is_success() {
            return Err(self.refused(response).await);
        }
        let content_type = response
            .headers()
            .get(CONTENT_TYPE)
            .and_then(|value| value.to_str().ok());
        let content_type = content_type.unwrap_or_default().to_ascii_lowercase();
        if content_type.starts_with("text/html") {
            return Err(web_page(peer, status));
        }
        let data = if content_type.starts_with("application/json") {
            let whole = self.beginning(response, WHOLE_BODY).await;
            stream::iter([Ok(whole)]).boxed()
        } else {
            sse::data(response.bytes_stream(), self.timeouts)
        };
        let tools = request.tools.iter().map(|tool| tool.name.clone());
        let mut reply = Reply {
            peer: Arc::clone(peer),
            timeouts: self.timeouts,
            data,
            reader: self.wire.reader(&self.options.name),
            scavenger: Scavenger::new(tools.collect()),
            text: Joiner::default(),
            reasoning: Joiner::default(),
            ready: VecDeque::new(),
        };
        reply.fill().await?;
        Ok(reply)
    }

    /// What an answer means that is no reply.
    async fn refused(&self, response: Response) -> Failure {
        let status = response.status();
        let wait = retry_after(response.headers());
        let location = response.headers().get(LOCATION).cloned();
        let body = self.beginning(response, ERROR_BODY).await;
        let failure = answered(
            &self.peer,
            &Answer {
                status,
                retry_after: wait,
                location: location.as_ref().and_then(|location| location.to_str().ok()),
                body: &body,
            },
        );
        if failure.error.kind == ProviderErrorKind::Protocol
            && matches!(status.as_u16(), 400 | 422)
            && self.is_about_extras(&body)
            && !self.lean.swap(true, Ordering::Relaxed)
        {
            return Failure {
                again: Again::AtOnce,
                ..failure
            };
        }
        failure
    }

    /// Whether a refusal is about a field that we send unasked. What the person wants is not dropped.
    fn is_about_extras(&self, body: &str) -> bool {
        let wanted = self.options.thinking.is_some() || self.options.effort.is_some();
        EXTRAS.iter().any(|extra| {
            let by_person = wanted && matches!(*extra, "thinking" | "output_config");
            !by_person && body.contains(extra)
        })
    }

    /// The first bytes of a body as text; what cannot be read is left out.
    async fn beginning(&self, mut response: Response, limit: usize) -> String {
        let mut bytes = Vec::new();
        while let Ok(Ok(Some(chunk))) = tokio::time::timeout(self.timeouts.stall, response.chunk()).await {
            bytes.extend_from_slice(&chunk);
            if bytes.len() >= limit {
                bytes.truncate(limit);
                break;
            }
        }
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

#[async_trait]
impl Provider for HttpModel {
    fn name(&self) -> &str {
        &self.line.options.name
    }

    fn context_window(&self) -> u64 {
        self.context_window
    }

    fn prices(&self) -> Option<Prices> {
        self.prices
    }

    fn sees_images(&self) -> bool {
        self.line.options.images
    }

    fn patience(&self) -> RetryPolicy {
        self.line.retry
    }

    fn body(&self, request: &ChatRequest) -> Option<Vec<u8>> {
        self.line.body(request).ok()
    }

    async fn stream(
        &self,
        request: ChatRequest,
    ) -> Result<BoxStream<'static, Result<StreamEvent, ProviderError>>, ProviderError> {
        let talk = Talk {
            line: Arc::clone(&self.line),
            request,
            tries: 0,
            state: State::Trying(Duration::ZERO),
        };
        Ok(stream::unfold(Some(talk), |talk| async { talk?.next().await }).boxed())
    }
}

/// A request and what becomes of it.
struct Talk {
    line: Arc<Line>,
    request: ChatRequest,
    tries: u32,
    state: State,
}

enum State {
    /// The next try begins after a wait.
    Trying(Duration),
    Reading(Box<Reply>),
}

impl Talk {
    /// The next event, and what follows it.
    async fn next(mut self) -> Option<(Result<StreamEvent, ProviderError>, Option<Self>)> {
        loop {
            match &mut self.state {
                State::Reading(reply) => {
                    return Some(match reply.next().await? {
                        Ok(event) => (Ok(event), Some(self)),
                        Err(failure) => (Err(failure.error), None),
                    });
                }
                State::Trying(wait) => {
                    if !wait.is_zero() {
                        tokio::time::sleep(*wait).await;
                    }
                    match self.line.attempt(&self.request).await {
                        Ok(reply) => self.state = State::Reading(Box::new(reply)),
                        Err(failure) if failure.again == Again::AtOnce => {
                            self.state = State::Trying(Duration::ZERO);
                        }
                        Err(failure) => match self.wait_after(&failure) {
                            None => return Some((Err(failure.error), None)),
                            Some(wait) => {
                                self.state = State::Trying(wait.length);
                                if !wait.length.is_zero() {
                                    return Some((Ok(StreamEvent::Waiting(wait)), Some(self)));
                                }
                            }
                        },
                    }
                }
            }
        }
    }

    fn wait_after(&mut self, failure: &Failure) -> Option<Wait> {
        self.tries += 1;
        let policy = &self.line.retry;
        Some(Wait {
            length: policy.after(self.tries, failure.again)?,
            number: self.tries,
            of: policy.retries,
            why: failure.error.message.clone(),
        })
    }
}
