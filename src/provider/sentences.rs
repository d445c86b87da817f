//! Every failure that a server answers with, as one sentence with a hint. Those of the line are in `transport`.

use std::time::Duration;

use reqwest::StatusCode;

use super::error::{Answer, Said};
use super::model::{ProviderError, ProviderErrorKind};
use super::peer::Peer;
use super::retry::{Again, Failure};
use super::transport::cut;

/// A failure with its three parts. `message` is one sentence, `hint` says what to do.
pub(super) fn failure(
    kind: ProviderErrorKind,
    again: Again,
    message: impl Into<String>,
    hint: impl Into<String>,
) -> Failure {
    Failure {
        error: ProviderError {
            kind,
            message: message.into(),
            hint: hint.into(),
        },
        again,
    }
}

/// A page instead of an answer of the API.
pub(super) fn web_page(peer: &Peer, status: StatusCode) -> Failure {
    failure(
        ProviderErrorKind::Protocol,
        Again::Never,
        format!(
            "{} answered with a web page (HTTP {}), not as the API.",
            peer.url,
            status.as_u16()
        ),
        base_url_hint(peer),
    )
}

pub(super) fn base_url_hint(peer: &Peer) -> String {
    format!("Check providers.{}.base_url; most end in /v1.", peer.provider)
}

pub(super) fn redirected(peer: &Peer, answer: &Answer<'_>) -> Failure {
    let target = answer.location.map_or("elsewhere".to_owned(), |location| {
        peer.quote(location.split(['?', '#']).next().unwrap_or_default())
    });
    failure(
        ProviderErrorKind::Config,
        Again::Never,
        format!(
            "{} sends us on to {target}, and the key is not taken there.",
            peer.url
        ),
        format!(
            "If that is right, set providers.{}.base_url to it.",
            peer.provider
        ),
    )
}

fn number(status: Option<StatusCode>) -> String {
    status
        .map(|status| format!(" (HTTP {})", status.as_u16()))
        .unwrap_or_default()
}

/// `: "words"`, or nothing.
fn words(peer: &Peer, said: &Said) -> String {
    let quoted = peer.quote(&said.message);
    if said.page || quoted.is_empty() {
        String::new()
    } else {
        format!(": \"{quoted}\"")
    }
}

pub(super) fn too_long(peer: &Peer) -> Failure {
    failure(
        ProviderErrorKind::ContextTooLong,
        Again::Never,
        format!("The conversation is longer than {} can read.", peer.model),
        "Start a new session, or choose a model with a larger window with :Dcode model PROVIDER:MODEL.",
    )
}

pub(super) fn unknown_model(peer: &Peer) -> Failure {
    failure(
        ProviderErrorKind::UnknownModel,
        Again::Never,
        format!("{} has no model named \"{}\".", peer.provider, peer.model),
        if peer.loopback {
            "Load it in the server first, or choose another with :Dcode model PROVIDER:MODEL."
        } else {
            "Choose another with :Dcode model PROVIDER:MODEL."
        },
    )
}

pub(super) fn no_credit(peer: &Peer, said: &Said) -> Failure {
    failure(
        ProviderErrorKind::RateLimit,
        Again::Never,
        format!(
            "The account at {} has no credit left{}.",
            peer.provider,
            words(peer, said)
        ),
        format!(
            "Top up the account, or choose another model with :Dcode model PROVIDER:MODEL ({} is in use).",
            peer.key_source()
        ),
    )
}

pub(super) fn too_fast(peer: &Peer, wait: Option<Duration>) -> Failure {
    failure(
        ProviderErrorKind::RateLimit,
        wait.map_or(Again::Backoff, Again::After),
        format!("{} takes no more requests for now (HTTP 429).", peer.provider),
        match wait {
            Some(wait) => format!("Try again in {} s.", wait.as_secs().max(1)),
            None => "Try again in a minute.".to_owned(),
        },
    )
}

pub(super) fn bad_key(peer: &Peer, status: Option<StatusCode>) -> Failure {
    let had_key = !peer.secrets.is_empty();
    let message = match &peer.key_env {
        Some(key_env) if had_key => format!(
            "{} refused the key in {key_env}{}.",
            peer.provider,
            number(status)
        ),
        _ => format!("{} wants a key{}.", peer.provider, number(status)),
    };
    let hint = match &peer.key_env {
        Some(key_env) => format!("Put the right key into {key_env} and start Neovim anew."),
        None => format!(
            "Name the variable that holds it in providers.{}.api_key_env.",
            peer.provider
        ),
    };
    failure(ProviderErrorKind::Auth, Again::Never, message, hint)
}

pub(super) fn forbidden(peer: &Peer, status: Option<StatusCode>, said: &Said) -> Failure {
    failure(
        ProviderErrorKind::Auth,
        Again::Never,
        format!(
            "{} does not let this key in{}{}.",
            peer.provider,
            number(status),
            words(peer, said)
        ),
        format!(
            "Check what the key in {} may do, and whether a proxy stands between.",
            peer.key_source()
        ),
    )
}

pub(super) fn server_failed(
    peer: &Peer,
    status: Option<StatusCode>,
    wait: Option<Duration>,
    said: &Said,
) -> Failure {
    failure(
        ProviderErrorKind::Server,
        wait.map_or(Again::Backoff, Again::After),
        format!("{} failed{}{}.", peer.provider, number(status), words(peer, said)),
        "The fault is the server's; try again in a minute.",
    )
}

pub(super) fn no_endpoint(peer: &Peer, status: Option<StatusCode>, said: &Said) -> Failure {
    match status {
        Some(status) if said.page => web_page(peer, status),
        _ => failure(
            ProviderErrorKind::Protocol,
            Again::Never,
            format!("There is no chat API at {}{}.", peer.url, number(status)),
            base_url_hint(peer),
        ),
    }
}

pub(super) fn refused_request(peer: &Peer, status: Option<StatusCode>, said: &Said) -> Failure {
    failure(
        ProviderErrorKind::Protocol,
        Again::Never,
        format!(
            "{} did not accept the request{}{}.",
            peer.provider,
            number(status),
            words(peer, said)
        ),
        "Choose another model with :Dcode model PROVIDER:MODEL; if it happens with all, please report it.",
    )
}

/// Not one event of a reply.
pub(super) fn no_events(peer: &Peer) -> Failure {
    failure(
        ProviderErrorKind::Protocol,
        Again::Never,
        format!("{} answered without a single event of a chat.", peer.url),
        base_url_hint(peer),
    )
}

/// The server says in order that it cannot go on.
pub(super) fn broken_off(peer: &Peer, reason: &str) -> Failure {
    failure(
        ProviderErrorKind::Server,
        Again::Backoff,
        format!("{} broke the reply off ({}).", peer.provider, peer.quote(reason)),
        "The fault is the server's; try again in a minute.",
    )
}

/// A piece that is no JSON: its end is missing, or it is garbled.
pub(super) fn unreadable(peer: &Peer, error: &serde_json::Error) -> Failure {
    if error.is_eof() {
        return cut(peer);
    }
    failure(
        ProviderErrorKind::Network,
        Again::Backoff,
        format!(
            "A piece of the reply of {} cannot be read ({error}).",
            peer.provider
        ),
        "Send the prompt again; if it happens often, the server or a proxy garbles its replies.",
    )
}

/// A line that no reply has.
pub(super) fn endless_line(peer: &Peer) -> Failure {
    failure(
        ProviderErrorKind::Protocol,
        Again::Never,
        format!("{} sent a line of more than 4 MiB.", peer.provider),
        base_url_hint(peer),
    )
}

/// A reply that does not end. What came of it is kept.
pub(super) fn endless_reply(peer: &Peer) -> Failure {
    failure(
        ProviderErrorKind::Protocol,
        Again::Never,
        format!("{} sent more than 128 MiB without an end.", peer.provider),
        "Choose another model with :Dcode model PROVIDER:MODEL; this one does not stop.",
    )
}

/// The configuration is at fault.
pub(super) fn config(message: impl Into<String>, hint: impl Into<String>) -> ProviderError {
    ProviderError {
        kind: ProviderErrorKind::Config,
        message: message.into(),
        hint: hint.into(),
    }
}
