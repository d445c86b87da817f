//! Failures of the line, in words for the person: no route, no name, no trust, no answer.

use std::error::Error;
use std::io;
use std::time::Duration;

use super::model::ProviderErrorKind;
use super::peer::Peer;
use super::retry::{Again, Failure};
use super::sentences::{base_url_hint, failure};

/// No connection, or one that broke before the answer.
pub(super) fn not_reached(peer: &Peer, error: &reqwest::Error) -> Failure {
    let network =
        |again, message: String, hint: String| failure(ProviderErrorKind::Network, again, message, hint);
    let check = "Check the network, and the proxy in HTTPS_PROXY if there is one.".to_owned();
    if let Some(error) = find::<rustls::Error>(error) {
        return untrusted(peer, error);
    }
    if error.is_dns() {
        let hint = format!("Check the network, and providers.{}.base_url.", peer.provider);
        return network(
            Again::Backoff,
            format!("The host {} cannot be found.", peer.host),
            hint,
        );
    }
    match find::<io::Error>(error).map(io::Error::kind) {
        Some(io::ErrorKind::ConnectionRefused) if peer.loopback => {
            // A server on this machine either runs or does not: waiting would only hide that.
            let hint = format!(
                "Start the server, or correct providers.{}.base_url.",
                peer.provider
            );
            return network(Again::Never, format!("No server listens at {}.", peer.url), hint);
        }
        Some(io::ErrorKind::ConnectionRefused) => {
            return network(
                Again::Backoff,
                format!("{} refused the connection.", peer.host),
                base_url_hint(peer),
            );
        }
        Some(io::ErrorKind::NetworkUnreachable | io::ErrorKind::HostUnreachable) => {
            return network(
                Again::Backoff,
                format!("There is no route to {}.", peer.host),
                check,
            );
        }
        _ => {}
    }
    let message = if error.is_timeout() {
        format!("{} could not be reached in time.", peer.host)
    } else if error.is_connect() {
        format!("No connection to {} could be made.", peer.host)
    } else {
        format!("{} hung up before it answered.", peer.host)
    };
    network(Again::Backoff, message, check)
}

/// The server took the request and was silent.
pub(super) fn silent(peer: &Peer, waited: Duration) -> Failure {
    failure(
        ProviderErrorKind::Network,
        Again::Backoff,
        format!(
            "{} sent nothing for {} s.",
            peer.provider,
            waited.as_secs_f32().ceil()
        ),
        "Send the prompt again; if it stays silent, choose another model with :Dcode model PROVIDER:MODEL.",
    )
}

/// The reply ended before its end.
pub(super) fn cut(peer: &Peer) -> Failure {
    failure(
        ProviderErrorKind::Network,
        Again::Backoff,
        format!(
            "The connection to {} broke in the middle of the reply.",
            peer.provider
        ),
        "Send the prompt again; what was said so far is kept.",
    )
}

fn untrusted(peer: &Peer, error: &rustls::Error) -> Failure {
    let (message, hint) = match error {
        rustls::Error::InvalidCertificate(reason) => (
            format!(
                "The certificate of {} is not trusted: {}.",
                peer.host,
                peer.quote(&reason.to_string())
            ),
            "Check the clock, and name your own authority in SSL_CERT_FILE if there is one.".to_owned(),
        ),
        rustls::Error::InvalidMessage(_) => (
            format!("{} does not speak TLS.", peer.host),
            format!(
                "If that is right, write http:// in providers.{}.base_url.",
                peer.provider
            ),
        ),
        other => (
            format!(
                "No safe connection to {} could be made: {}.",
                peer.host,
                peer.quote(&other.to_string())
            ),
            base_url_hint(peer),
        ),
    };
    failure(ProviderErrorKind::Network, Again::Never, message, hint)
}

/// The first cause of the given type. An `io::Error` hides the error that it wraps from `source`.
fn find<'a, T: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a T> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref() {
            return Some(found);
        }
        next = match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
            Some(wrapped) => Some(wrapped),
            None => error.source(),
        };
    }
    None
}
