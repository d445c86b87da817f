//! Every failure as the person reads it, and no secret in any of them.

use std::time::Duration;

use dcode::provider::{Dial, HttpModel, Timeouts};
use tokio::io::AsyncWriteExt as _;

use super::server::{Answer, Ending, KEY, Server, TEAM};
use super::{failure, shown};

/// The sentences for a list of answers, one a line.
async fn sentences(answers: &[(u16, &str)]) -> String {
    let mut lines = Vec::new();
    for (status, body) in answers {
        let server = Server::start(vec![Answer::error(*status, body)]).await;
        let port = server.base_url.clone();
        lines.push(shown(&failure(&server.client()).await).replace(&port, "URL"));
    }
    lines.join("\n")
}

#[tokio::test]
async fn keys_and_accounts() {
    let answers = [
        (
            401,
            r#"{"error":{"message":"Incorrect API key provided","code":"invalid_api_key"}}"#,
        ),
        (
            400,
            r#"{"error":{"message":"API key not valid. Please pass a valid API key."}}"#,
        ),
        (403, r#"{"error":{"message":"Country not supported"}}"#),
        (402, r#"{"error":{"message":"Insufficient Balance"}}"#),
        (
            429,
            r#"{"error":{"message":"You exceeded your current quota.","code":"insufficient_quota"}}"#,
        ),
        (429, r#"{"error":{"message":"Rate limit reached for requests"}}"#),
    ];
    insta::assert_snapshot!(sentences(&answers).await, @r#"
    Auth: acme refused the key in ACME_KEY (HTTP 401). [Put the right key into ACME_KEY and start Neovim anew.]
    Auth: acme refused the key in ACME_KEY (HTTP 400). [Put the right key into ACME_KEY and start Neovim anew.]
    Auth: acme does not let this key in (HTTP 403): "Country not supported". [Check what the key in ACME_KEY may do, and whether a proxy stands between.]
    RateLimit: The account at acme has no credit left: "Insufficient Balance". [Top up the account, or choose another model with :Dcode model PROVIDER:MODEL (ACME_KEY is in use).]
    RateLimit: The account at acme has no credit left: "You exceeded your current quota". [Top up the account, or choose another model with :Dcode model PROVIDER:MODEL (ACME_KEY is in use).]
    RateLimit: acme takes no more requests for now (HTTP 429). [Try again in a minute.]
    "#);
}

#[tokio::test]
async fn models_and_contexts() {
    let answers = [
        (
            404,
            r#"{"error":{"message":"The model `m-1` does not exist or you do not have access to it.","code":"model_not_found"}}"#,
        ),
        (
            400,
            r#"{"error":{"message":"Model Not Exist","type":"invalid_request_error"}}"#,
        ),
        (
            404,
            r#"{"error":{"message":"model \"m-1\" not found, try pulling it first"}}"#,
        ),
        (
            400,
            r#"{"error":{"message":"This model's maximum context length is 8192 tokens.","code":"context_length_exceeded"}}"#,
        ),
        (413, "too large"),
    ];
    insta::assert_snapshot!(sentences(&answers).await, @r#"
    UnknownModel: acme has no model named "m-1". [Load it in the server first, or choose another with :Dcode model PROVIDER:MODEL.]
    UnknownModel: acme has no model named "m-1". [Load it in the server first, or choose another with :Dcode model PROVIDER:MODEL.]
    UnknownModel: acme has no model named "m-1". [Load it in the server first, or choose another with :Dcode model PROVIDER:MODEL.]
    ContextTooLong: The conversation is longer than m-1 can read. [Start a new session, or choose a model with a larger window with :Dcode model PROVIDER:MODEL.]
    ContextTooLong: The conversation is longer than m-1 can read. [Start a new session, or choose a model with a larger window with :Dcode model PROVIDER:MODEL.]
    "#);
}

#[tokio::test]
async fn servers_and_wrong_addresses() {
    let answers = [
        (500, r#"{"error":"boom"}"#),
        (503, ""),
        (502, "<html><body>Bad Gateway</body></html>"),
        (404, "<!doctype html><title>Not Found</title>"),
        (404, r#"{"detail":"Not Found"}"#),
        (405, "Method Not Allowed"),
        (
            422,
            r#"{"detail":[{"loc":["body","tools"],"msg":"field required"}]}"#,
        ),
        (400, "first line\nsecond \u{1b}[31mline"),
    ];
    insta::assert_snapshot!(sentences(&answers).await, @r#"
    Server: acme failed (HTTP 500): "boom". [The fault is the server's; try again in a minute.]
    Server: acme failed (HTTP 503). [The fault is the server's; try again in a minute.]
    Server: acme failed (HTTP 502). [The fault is the server's; try again in a minute.]
    Protocol: URL/chat/completions answered with a web page (HTTP 404), not as the API. [Check providers.acme.base_url; most end in /v1.]
    Protocol: There is no chat API at URL/chat/completions (HTTP 404). [Check providers.acme.base_url; most end in /v1.]
    Protocol: There is no chat API at URL/chat/completions (HTTP 405). [Check providers.acme.base_url; most end in /v1.]
    Protocol: acme did not accept the request (HTTP 422): "{"detail":[{"loc":["body","tools"],"msg":"field required"}]}". [Choose another model with :Dcode model PROVIDER:MODEL; if it happens with all, please report it.]
    Protocol: acme did not accept the request (HTTP 400): "first line second [31mline". [Choose another model with :Dcode model PROVIDER:MODEL; if it happens with all, please report it.]
    "#);
}

#[tokio::test]
async fn pages_and_redirects() {
    let page = Answer::error(200, "<html>Sign in</html>").with("content-type", "text/html; charset=utf-8");
    let away = Answer::error(307, "").with("location", "https://elsewhere.test/v1/chat/completions?token=1");
    let mut lines = Vec::new();
    for answer in [page, away] {
        let server = Server::start(vec![answer]).await;
        lines.push(shown(&failure(&server.client()).await).replace(&server.base_url, "URL"));
    }
    insta::assert_snapshot!(lines.join("\n"), @"
    Protocol: URL/chat/completions answered with a web page (HTTP 200), not as the API. [Check providers.acme.base_url; most end in /v1.]
    Config: URL/chat/completions sends us on to https://elsewhere.test/v1/chat/completions, and the key is not taken there. [If that is right, set providers.acme.base_url to it.]
    ");
}

#[tokio::test]
async fn no_server_and_no_tls() {
    let server = Server::start(vec![Answer::says("unused")]).await;
    let plain = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let tls = Dial {
        base_url: format!("https://{}/v1", plain.local_addr().unwrap()),
        ..server.dial()
    };
    tokio::spawn(async move {
        let (mut socket, _) = plain.accept().await.unwrap();
        socket
            .write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            .await
            .unwrap();
    });
    let free = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let nobody = Dial {
        base_url: format!("http://{free}/v1"),
        ..server.dial()
    };
    let nameless = Dial {
        base_url: "http://nowhere.invalid/v1".into(),
        ..server.dial()
    };
    let mut lines = Vec::new();
    for dial in [tls, nobody, nameless] {
        let line = shown(&failure(&HttpModel::new(dial).unwrap()).await);
        lines.push(line.replace(&free.to_string(), "HOST"));
    }
    insta::assert_snapshot!(lines.join("\n"), @"
    Network: 127.0.0.1 does not speak TLS. [If that is right, write http:// in providers.acme.base_url.]
    Network: No server listens at http://HOST/v1/chat/completions. [Start the server, or correct providers.acme.base_url.]
    Network: The host nowhere.invalid cannot be found. [Check the network, and providers.acme.base_url.]
    ");
}

#[tokio::test]
async fn silence_before_and_within_a_reply() {
    let begun = Answer::stream(&["data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n"]);
    let headers_only = Answer::stream::<&str>(&[]);
    let mut lines = Vec::new();
    for answer in [headers_only, begun] {
        let mut server = Server::start(vec![answer.ending(Ending::Silence)]).await;
        let dial = Dial {
            timeouts: Some(Timeouts {
                first_byte: Duration::from_millis(300),
                stall: Duration::from_millis(100),
                ..Timeouts::default()
            }),
            ..server.dial()
        };
        lines.push(shown(&failure(&HttpModel::new(dial).unwrap()).await));
        server.body().await;
        assert!(
            matches!(server.seen().await, super::server::Seen::Left),
            "the connection stays"
        );
    }
    insta::assert_snapshot!(lines.join("\n"), @"
    Network: acme sent nothing for 1 s. [Send the prompt again; if it stays silent, choose another model with :Dcode model PROVIDER:MODEL.]
    Network: acme sent nothing for 1 s. [Send the prompt again; if it stays silent, choose another model with :Dcode model PROVIDER:MODEL.]
    ");
}

#[tokio::test]
async fn a_bad_address_is_named_before_anything_is_sent() {
    let server = Server::start(vec![Answer::says("")]).await;
    let bad = |change: &dyn Fn(&mut Dial)| {
        let mut dial = server.dial();
        change(&mut dial);
        shown(&HttpModel::new(dial).err().expect("it opened"))
    };
    let lines = [
        bad(&|dial| dial.base_url = "api.acme.test/v1".into()),
        bad(&|dial| dial.base_url = "ftp://api.acme.test/v1".into()),
        bad(&|dial| dial.key = Some("sk-\u{1f600}".into())),
        bad(&|dial| drop(dial.headers.insert("bad name".into(), "x".into()))),
    ];
    insta::assert_snapshot!(lines.join("\n"), @r#"
    Config: The provider acme cannot be used: its base_url is not a URL (relative URL without a base). [Correct providers.acme, or choose another model with :Dcode model PROVIDER:MODEL.]
    Config: The provider acme cannot be used: its base_url must begin with http:// or https://. [Correct providers.acme, or choose another model with :Dcode model PROVIDER:MODEL.]
    Config: The provider acme cannot be used: the value of ACME_KEY holds a character that no key has. [Correct providers.acme, or choose another model with :Dcode model PROVIDER:MODEL.]
    Config: The provider acme cannot be used: the header "bad name" cannot be sent. [Correct providers.acme, or choose another model with :Dcode model PROVIDER:MODEL.]
    "#);
}

#[tokio::test]
async fn a_secret_that_a_server_echoes_is_not_shown() {
    let echo = format!("Your key {KEY} and header {TEAM} are odd");
    for status in [
        400, 401, 402, 403, 404, 405, 408, 409, 413, 418, 422, 429, 500, 503,
    ] {
        for body in [
            echo.clone(),
            serde_json::json!({"error": {"message": echo, "code": KEY, "type": TEAM}}).to_string(),
            format!("<html>{echo}</html>"),
        ] {
            let answer = Answer::error(status, &body).with("location", &format!("https://x.test/{KEY}"));
            let server = Server::start(vec![answer]).await;
            let shown = shown(&failure(&server.client()).await);
            assert!(!shown.contains(KEY) && !shown.contains(TEAM), "{status}: {shown}");
        }
    }
    let piece = serde_json::json!({"error": {"message": echo}});
    let server = Server::start(vec![Answer::stream(&[format!("data: {piece}\n\n")])]).await;
    let shown = shown(&failure(&server.client()).await);
    assert!(!shown.contains(KEY) && !shown.contains(TEAM), "{shown}");
    let redirect = Answer::error(302, "").with("location", &format!("https://x.test/{KEY}"));
    let server = Server::start(vec![redirect]).await;
    assert!(!super::shown(&failure(&server.client()).await).contains(KEY));
}
