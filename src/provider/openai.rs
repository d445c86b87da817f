//! Any server that speaks OpenAI's chat completions: OpenAI, DeepSeek, Ollama, llama.cpp, vLLM …

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use async_trait::async_trait;
use futures_util::stream::{self, BoxStream, StreamExt as _};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, LOCATION};
use reqwest::{Client, Response, Url};

use super::error::{Answer, answered, failure, web_page};
use super::http::{self, Timeouts};
use super::model::{ChatRequest, Provider, ProviderError, ProviderErrorKind, StreamEvent};
use super::openai_stream::{Assembler, endless_line};
use super::openai_wire::{self, WireOptions};
use super::peer::Peer;
use super::retry::{Again, Failure, RetryPolicy, retry_after};
use super::sse::{self, SseFault};
use super::transport::{cut, not_reached, silent};

/// How much of an answer that is no reply is read.
const ERROR_BODY: usize = 64 * 1024;
/// The longest reply of a server that does not stream.
const WHOLE_BODY: usize = 16 * 1024 * 1024;

/// How to reach a model; the table makes it from the settings.
#[derive(Clone)]
pub struct Dial {
    /// The name of the row.
    pub provider: String,
    /// The model as the server names it.
    pub model: String,
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
    /// See [`ProviderRow::replay_reasoning`](super::ProviderRow::replay_reasoning).
    pub replay_reasoning: bool,
    /// None: by whether the server is on this machine.
    pub timeouts: Option<Timeouts>,
    /// When to try again.
    pub retry: RetryPolicy,
}

/// A model behind a chat-completions server.
pub struct OpenAi {
    name: String,
    peer: Arc<Peer>,
    client: Client,
    url: Url,
    headers: HeaderMap,
    wire: WireOptions,
    context_window: u64,
    timeouts: Timeouts,
    retry: RetryPolicy,
}

impl OpenAi {
    /// Prepares the client; nothing is sent. Errors are of kind `Config`.
    pub fn new(dial: Dial) -> Result<Self, ProviderError> {
        let row = format!("providers.{}", dial.provider);
        let config = |clause: String| ProviderError {
            kind: ProviderErrorKind::Config,
            message: format!("The provider {} cannot be used: {clause}.", dial.provider),
            hint: format!("Correct {row}, or choose another model with :Dcode model PROVIDER:MODEL."),
        };
        let url = http::endpoint(&dial.base_url).map_err(|why| config(format!("its base_url {why}")))?;
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
        let headers = http::headers(key, &dial.headers).map_err(config)?;
        let client = http::client(&timeouts, &url).map_err(config)?;
        let secrets = dial.key.iter().chain(dial.headers.values()).cloned().collect();
        Ok(Self {
            name: format!("{}:{}", dial.provider, dial.model),
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
            wire: WireOptions {
                model: dial.model,
                replay_reasoning: dial.replay_reasoning,
            },
            context_window: dial.context_window,
            timeouts,
            retry: dial.retry,
        })
    }

    /// One try, up to the first event of the reply.
    async fn attempt(&self, body: Vec<u8>) -> Result<Reply, Failure> {
        let peer = &self.peer;
        let request = self
            .client
            .post(self.url.clone())
            .headers(self.headers.clone())
            .header(ACCEPT, "text/event-stream")
            .header(CONTENT_TYPE, "application/json")
            .body(body);
        let limit = self.timeouts.first_byte;
        let response = match tokio::time::timeout(limit, request.send()).await {
            Err(_) => return Err(silent(peer, limit)),
            Ok(Err(error)) => return Err(not_reached(peer, &error)),
            Ok(Ok(response)) => response,
        };
        let status = response.status();
        if !status.is_success() {
            let wait = retry_after(response.headers());
            let location = response.headers().get(LOCATION).cloned();
            let body = self.beginning(response, ERROR_BODY).await;
            return Err(answered(
                peer,
                &Answer {
                    status,
                    retry_after: wait,
                    location: location.as_ref().and_then(|location| location.to_str().ok()),
                    body: &body,
                },
            ));
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
        let mut reply = Reply {
            peer: Arc::clone(peer),
            timeouts: self.timeouts,
            data,
            assembler: Assembler::default(),
            ready: VecDeque::new(),
        };
        reply.fill().await?;
        Ok(reply)
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
impl Provider for OpenAi {
    fn name(&self) -> &str {
        &self.name
    }

    fn context_window(&self) -> u64 {
        self.context_window
    }

    fn body(&self, request: &ChatRequest) -> Option<Vec<u8>> {
        openai_wire::body(&self.wire, request).ok()
    }

    async fn stream(
        &self,
        request: ChatRequest,
    ) -> Result<BoxStream<'static, Result<StreamEvent, ProviderError>>, ProviderError> {
        let body = openai_wire::body(&self.wire, &request).map_err(|error| {
            let kind = ProviderErrorKind::Protocol;
            failure(
                kind,
                Again::Never,
                format!("The request cannot be written ({error})."),
                "Please report it.",
            )
            .error
        })?;
        let reply = self.retry.run(|| self.attempt(body.clone())).await?;
        Ok(reply.into_stream())
    }
}

/// A reply that is being read.
struct Reply {
    peer: Arc<Peer>,
    timeouts: Timeouts,
    data: BoxStream<'static, Result<String, SseFault>>,
    assembler: Assembler,
    ready: VecDeque<StreamEvent>,
}

impl Reply {
    /// Reads until an event is ready or the reply has ended.
    async fn fill(&mut self) -> Result<(), Failure> {
        while self.ready.is_empty() && !self.assembler.has_ended() {
            let next = if self.assembler.is_finished() {
                // Usage and [DONE] may follow; a server that keeps the line open must not hold us.
                tokio::time::timeout(self.timeouts.after_finish, self.data.next())
                    .await
                    .unwrap_or(None)
            } else {
                self.data.next().await
            };
            match next {
                Some(Ok(data)) => self.assembler.feed(&self.peer, &data, &mut self.ready)?,
                Some(Err(_)) | None if self.assembler.is_finished() => {
                    self.assembler.end(&self.peer, &mut self.ready)?;
                }
                None => self.assembler.end(&self.peer, &mut self.ready)?,
                Some(Err(SseFault::Broken)) => return Err(cut(&self.peer)),
                Some(Err(SseFault::Silent(waited))) => return Err(silent(&self.peer, waited)),
                Some(Err(SseFault::TooLong)) => return Err(endless_line(&self.peer)),
            }
        }
        Ok(())
    }

    fn into_stream(self) -> BoxStream<'static, Result<StreamEvent, ProviderError>> {
        stream::unfold(Some(self), |reply| async {
            let mut reply = reply?;
            if let Err(failure) = reply.fill().await {
                return Some((Err(failure.error), None));
            }
            let event = reply.ready.pop_front()?;
            Some((Ok(event), Some(reply)))
        })
        .boxed()
    }
}
