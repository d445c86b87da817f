//! What a server answers in place of a reply, in words for the person.

use std::time::Duration;

use reqwest::StatusCode;
use serde_json::Value;

use super::model::{ProviderError, ProviderErrorKind};
use super::peer::Peer;
use super::retry::Failure;
use super::sentences::{
    bad_key, forbidden, no_credit, no_endpoint, redirected, refused_request, server_failed, too_fast,
    too_long, unknown_model,
};

impl ProviderError {
    /// Whether the same request may succeed a moment later: the line broke, or the server failed.
    /// Other failures need the person first.
    pub fn is_transient(&self) -> bool {
        matches!(self.kind, ProviderErrorKind::Network | ProviderErrorKind::Server)
    }
}

/// An answer that is no reply.
pub(super) struct Answer<'a> {
    pub(super) status: StatusCode,
    /// What the server asks to wait.
    pub(super) retry_after: Option<Duration>,
    /// The header `Location`, for redirects.
    pub(super) location: Option<&'a str>,
    /// The beginning of the body.
    pub(super) body: &'a str,
}

/// Turns an HTTP answer other than 2xx into a failure.
pub(super) fn answered(peer: &Peer, answer: &Answer<'_>) -> Failure {
    if answer.status.is_redirection() {
        return redirected(peer, answer);
    }
    let said = Said::in_body(answer.body);
    judge(peer, Some(answer.status), answer.retry_after, &said)
}

/// Turns an error object inside a stream that began well into a failure.
pub(super) fn said_in_stream(peer: &Peer, error: &Value) -> Failure {
    let said = Said::in_json(error);
    let number = said
        .code
        .split_whitespace()
        .next()
        .and_then(|code| code.parse().ok());
    let status = number.and_then(|number| StatusCode::from_u16(number).ok());
    judge(peer, status.filter(|status| !status.is_success()), None, &said)
}

/// What the body says.
#[derive(Default)]
pub(super) struct Said {
    pub(super) page: bool,
    /// `code` and `type`, lower case, joined by a blank.
    pub(super) code: String,
    pub(super) message: String,
}

impl Said {
    fn in_body(body: &str) -> Self {
        let trimmed = body.trim_start();
        if trimmed.starts_with('<') {
            return Self {
                page: true,
                ..Self::default()
            };
        }
        match serde_json::from_str::<Value>(trimmed) {
            Ok(json) => Self::in_json(
                json.get("error")
                    .filter(|error| !error.is_null())
                    .unwrap_or(&json),
            ),
            Err(_) => Self {
                message: trimmed.to_owned(),
                ..Self::default()
            },
        }
    }

    fn in_json(error: &Value) -> Self {
        let text = |value: &Value| match value {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        };
        let field = |name: &str| error.get(name).and_then(text);
        let message = ["message", "detail", "error", "msg"].into_iter().find_map(field);
        let codes: Vec<String> = ["code", "type"].into_iter().filter_map(field).collect();
        Self {
            page: false,
            code: codes.join(" ").to_lowercase(),
            message: message.or_else(|| text(error)).unwrap_or_else(|| whole(error)),
        }
    }

    fn mentions(&self, words: &[&str]) -> bool {
        let message = self.message.to_lowercase();
        words
            .iter()
            .any(|word| message.contains(word) || self.code.contains(word))
    }
}

/// What is said where no field is known; nothing, where nothing is.
fn whole(error: &Value) -> String {
    match error {
        Value::Null => String::new(),
        Value::Object(fields) if fields.is_empty() => String::new(),
        error => error.to_string(),
    }
}

const TOO_LONG: &[&str] = &[
    "context_length_exceeded",
    "context length",
    "context window",
    "context size",
    "maximum context",
    "maximum length",
    "too many tokens",
    "prompt is too long",
    "reduce the length",
];
const NO_MODEL: &[&str] = &[
    "model_not_found",
    "model not exist",
    "model does not exist",
    "model not found",
    "not a valid model",
    "invalid model",
    "unknown model",
    "no such model",
];
const NO_CREDIT: &[&str] = &[
    "insufficient_quota",
    "insufficient balance",
    "insufficient credit",
    "exceeded your current quota",
    "credit balance is too low",
];
const BAD_KEY: &[&str] = &[
    "invalid_api_key",
    "incorrect api key",
    "invalid api key",
    "api key not valid",
];

/// The first sort that fits; what the body says counts more than the number, because servers
/// agree less on numbers.
fn judge(peer: &Peer, status: Option<StatusCode>, wait: Option<Duration>, said: &Said) -> Failure {
    let number = status.map_or(0, |status| status.as_u16());
    let refused = (400..500).contains(&number) || number == 0;
    match number {
        _ if refused && said.mentions(TOO_LONG) => too_long(peer),
        413 => too_long(peer),
        402 => no_credit(peer, said),
        400 | 429 if said.mentions(NO_CREDIT) => no_credit(peer, said),
        429 => too_fast(peer, wait),
        _ if refused && said.mentions(NO_MODEL) => unknown_model(peer),
        404 if says_model_is_missing(said) => unknown_model(peer),
        401 => bad_key(peer, status),
        _ if refused && said.mentions(BAD_KEY) => bad_key(peer, status),
        403 => forbidden(peer, status, said),
        408 | 409 | 500..=599 => server_failed(peer, status, wait, said),
        404 | 405 if said.page || said.message.len() < 200 => no_endpoint(peer, status, said),
        0 if said.mentions(&["rate limit", "rate_limit", "too many requests"]) => too_fast(peer, wait),
        0 if !said.mentions(&["invalid_request"]) => server_failed(peer, status, wait, said),
        _ => refused_request(peer, status, said),
    }
}

/// Ollama: `model "x" not found, try pulling it first`; vLLM: ``The model `x` does not exist.``
fn says_model_is_missing(said: &Said) -> bool {
    said.mentions(&["model"])
        && said.mentions(&[
            "not found",
            "not_found",
            "does not exist",
            "not exist",
            "not support",
        ])
}
