//! The one HTTP client: what it trusts, how long it waits, where it goes.
//!
//! There is no limit on a whole reply, only on silence. A dead line shows sooner, by TCP and HTTP/2
//! keep-alive. Redirects are not followed: the key and the conversation go where the person said.

use std::net::IpAddr;
use std::sync::Once;
use std::time::Duration;

use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Client, Url};

use super::wire::Wire;

/// How long silence is borne.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// Until a connection stands, TLS included.
    pub connect: Duration,
    /// From the request to the first byte of the reply. A model reads the whole conversation in it.
    pub first_byte: Duration,
    /// Between two pieces of the reply; any byte counts, so that keep-alive comments do.
    pub stall: Duration,
    /// From the word that the reply is complete to the end of the stream.
    pub after_finish: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(15),
            first_byte: Duration::from_secs(180),
            stall: Duration::from_secs(120),
            after_finish: Duration::from_secs(5),
        }
    }
}

impl Timeouts {
    /// For a server on this machine, which may read the conversation on a slow processor.
    pub fn local() -> Self {
        Self {
            first_byte: Duration::from_secs(900),
            stall: Duration::from_secs(300),
            ..Self::default()
        }
    }
}

/// Builds the client for one endpoint. The error is a clause that says what is missing.
pub(super) fn client(timeouts: &Timeouts, endpoint: &Url) -> Result<Client, String> {
    static RING: Once = Once::new();
    // An error means that another library of this process has chosen already, which is as good.
    RING.call_once(|| drop(rustls::crypto::ring::default_provider().install_default()));
    let mut builder = Client::builder()
        .user_agent(concat!("dcode.nvim/", env!("CARGO_PKG_VERSION")))
        .redirect(Policy::none())
        .connect_timeout(timeouts.connect)
        .tcp_keepalive(Duration::from_secs(30))
        .http2_keep_alive_interval(Duration::from_secs(20))
        .http2_keep_alive_timeout(Duration::from_secs(20));
    if is_loopback(endpoint) {
        // A proxy of the network cannot reach this machine's own servers.
        builder = builder.no_proxy();
        if endpoint.scheme() == "http" {
            // No TLS, so the system's certificates need not be read (and may be absent).
            builder = builder.tls_certs_only([]);
        }
    }
    builder.build().map_err(|error| {
        let cause = std::error::Error::source(&error)
            .map(ToString::to_string)
            .unwrap_or_default();
        format!("the HTTP client cannot start ({})", cause.trim_end_matches('.'))
    })
}

/// Where the API of a base URL is. The error is a clause.
pub(super) fn endpoint(base_url: &str, wire: Wire) -> Result<Url, String> {
    let mut url = Url::parse(base_url.trim()).map_err(|error| format!("is not a URL ({error})"))?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err("must begin with http:// or https://".to_owned());
    }
    let base = url.path().trim_end_matches('/');
    let path = wire.path();
    if !base.ends_with(path) {
        // By the custom of this wire the version is no part of the base URL, but people write it.
        let version = if wire == Wire::Messages && !base.ends_with("/v1") {
            "/v1"
        } else {
            ""
        };
        let whole = format!("{base}{version}{path}");
        url.set_path(&whole);
    }
    Ok(url)
}

/// The URL without what may be secret: user name, password, query.
pub(super) fn shown(url: &Url) -> String {
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    format!(
        "{}://{}{port}{}",
        url.scheme(),
        url.host_str().unwrap_or_default(),
        url.path()
    )
}

/// Whether the URL leads to this machine.
pub(super) fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']');
    match address.parse::<IpAddr>() {
        Ok(address) => address.is_loopback(),
        Err(_) => host == "localhost" || host.ends_with(".localhost"),
    }
}

/// The headers of every request. The error names the variable or header, never its value.
pub(super) fn headers<'a>(
    wire: Wire,
    key: Option<(&str, &str)>,
    extra: impl IntoIterator<Item = (&'a String, &'a String)>,
) -> Result<HeaderMap, String> {
    let secret = |value: &str| {
        let mut value = HeaderValue::from_str(value).ok().filter(|_| value.is_ascii())?;
        value.set_sensitive(true);
        Some(value)
    };
    let mut headers = HeaderMap::new();
    if wire == Wire::Messages {
        headers.insert("anthropic-version", HeaderValue::from_static("2023-06-01"));
    }
    if let Some((variable, key)) = key {
        let (name, value) = match wire {
            Wire::Messages => (HeaderName::from_static("x-api-key"), key.to_owned()),
            Wire::Chat | Wire::Responses => (AUTHORIZATION, format!("Bearer {key}")),
        };
        let value = secret(&value);
        headers.insert(
            name,
            value.ok_or_else(|| format!("the value of {variable} holds a character that no key has"))?,
        );
    }
    for (name, value) in extra {
        let parsed = HeaderName::from_bytes(name.as_bytes());
        let (Ok(parsed), Some(value)) = (parsed, secret(value)) else {
            return Err(format!("the header \"{name}\" cannot be sent"));
        };
        headers.insert(parsed, value);
    }
    Ok(headers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_endpoint_follows_from_the_base_url() {
        let at = |base: &str| endpoint(base, Wire::Chat).map(|url| url.to_string());
        for base in [
            "https://a.test/v1",
            "https://a.test/v1/",
            " https://a.test/v1/chat/completions ",
        ] {
            assert_eq!(at(base).unwrap(), "https://a.test/v1/chat/completions");
        }
        assert_eq!(
            at("https://a.test/x?api-version=2").unwrap(),
            "https://a.test/x/chat/completions?api-version=2"
        );
        for base in [
            "https://a.test/x",
            "https://a.test/x/v1",
            "https://a.test/x/v1/messages",
        ] {
            let url = endpoint(base, Wire::Messages).unwrap();
            assert_eq!(url.as_str(), "https://a.test/x/v1/messages");
        }
        assert_eq!(
            at("api.a.test/v1").unwrap_err(),
            "is not a URL (relative URL without a base)"
        );
        assert_eq!(
            at("file:///x").unwrap_err(),
            "must begin with http:// or https://"
        );
    }

    #[test]
    fn what_is_shown_of_a_url_holds_no_secret() {
        let url = Url::parse("https://me:pw@a.test:8443/v1?key=s").unwrap();
        assert_eq!(shown(&url), "https://a.test:8443/v1");
    }

    #[test]
    fn loopback_is_this_machine_only() {
        for (url, expected) in [
            ("http://127.0.0.1:1/v1", true),
            ("http://127.8.8.8/", true),
            ("http://[::1]:8080/v1", true),
            ("http://localhost/", true),
            ("http://localhost.evil.test/", false),
            ("http://127.0.0.1.evil.test/", false),
            ("http://10.0.0.1/", false),
        ] {
            assert_eq!(is_loopback(&Url::parse(url).unwrap()), expected, "{url}");
        }
    }
}
