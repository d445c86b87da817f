//! The line to one model: one request over it, up to the first event of the reply.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::stream::{self, StreamExt as _};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, LOCATION};
use reqwest::{Client, Response, Url};

use super::dial::Dial;
use super::error::{Answer, answered};
use super::halves::Joiner;
use super::http::{self, Timeouts};
use super::in_text::Scavenger;
use super::model::{ChatRequest, ProviderError, ProviderErrorKind};
use super::peer::Peer;
use super::reply::Reply;
use super::retry::{Again, Failure, RetryPolicy, retry_after};
use super::sentences::{failure, web_page};
use super::sse;
use super::transport::{not_reached, silent};
use super::wire::{Wire, WireOptions};

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

/// What the tries of one model share.
pub(super) struct Line {
    peer: Arc<Peer>,
    client: Client,
    url: Url,
    headers: HeaderMap,
    wire: Wire,
    pub(super) options: WireOptions,
    /// The server refused some of the [`EXTRAS`] and took the request without them.
    lean: AtomicBool,
    timeouts: Timeouts,
    pub(super) retry: RetryPolicy,
}

impl Line {
    /// Prepares the client; nothing is sent. Errors are of kind `Config`.
    pub(super) fn new(dial: Dial) -> Result<Self, ProviderError> {
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
        Ok(Self {
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
        })
    }

    /// Whether requests go without the [`EXTRAS`].
    pub(super) fn is_lean(&self) -> bool {
        self.lean.load(Ordering::Relaxed)
    }

    /// The bytes of a request; `lean`: without the [`EXTRAS`].
    pub(super) fn body(&self, request: &ChatRequest, lean: bool) -> Result<Vec<u8>, Failure> {
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

    /// One try, up to the first event of the reply. One that is not `lean` may fail with [`Again::AtOnce`]: then
    /// a lean one may do.
    pub(super) async fn attempt(&self, request: &ChatRequest, lean: bool) -> Result<Reply, Failure> {
        let peer = &self.peer;
        let request_body = self.body(request, lean)?;
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
            return Err(self.refused(response, lean).await);
        }
        if lean {
            self.lean.store(true, Ordering::Relaxed);
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
    async fn refused(&self, response: Response, lean: bool) -> Failure {
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
        let about_fields =
            failure.error.kind == ProviderErrorKind::Protocol && matches!(status.as_u16(), 400 | 422);
        if about_fields && !lean && self.is_about_extras(&body) {
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
