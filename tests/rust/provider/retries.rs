//! What is sent again, and what is not.

use std::time::{Duration, Instant};

use dcode::provider::{Dial, HttpModel, Provider as _, ProviderErrorKind, RetryPolicy, StreamEvent};
use futures_util::StreamExt as _;

use super::server::{Answer, Ending, Seen, Server};
use super::{ask, request};

fn patient(server: &Server) -> HttpModel {
    HttpModel::new(Dial {
        retry: RetryPolicy {
            retries: 3,
            base: Duration::from_millis(1),
            ..RetryPolicy::default()
        },
        ..server.dial()
    })
    .unwrap()
}

const PIECE: &str = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n";

#[tokio::test]
async fn each_status_is_tried_as_often_as_it_makes_sense() {
    for (status, body, tries) in [
        (400, "", 1),
        (401, "", 1),
        (402, "", 1),
        (403, "", 1),
        (404, "", 1),
        (408, "", 4),
        (409, "", 4),
        (413, "", 1),
        (422, "", 1),
        (429, "", 4),
        (429, r#"{"error":{"code":"insufficient_quota"}}"#, 1),
        (500, "", 4),
        (503, "", 4),
        (529, "", 4),
        (307, "", 1),
    ] {
        let mut server = Server::start(vec![Answer::error(status, body)]).await;
        assert!(ask(&patient(&server)).await[0].is_err());
        assert_eq!(server.count(), tries, "{status} {body}");
    }
}

#[tokio::test]
async fn a_reply_after_failures_is_whole() {
    let cut = Answer::stream(&[": nothing yet\n\n"]).ending(Ending::Cut);
    let mut server = Server::start(vec![Answer::error(503, ""), cut, Answer::says("there")]).await;
    let events = ask(&patient(&server)).await;
    assert_eq!(events[0], Ok(StreamEvent::Text("there".into())));
    let bodies = [server.body().await, server.body().await, server.body().await];
    assert!(
        bodies.iter().all(|body| *body == bodies[0]),
        "a retry differs from the first try"
    );
}

#[tokio::test]
async fn nothing_is_sent_again_once_the_reply_began() {
    let cut = Answer::stream(&[PIECE]).ending(Ending::Cut);
    let mut server = Server::start(vec![cut, Answer::says("again")]).await;
    let events = ask(&patient(&server)).await;
    assert_eq!(events[0], Ok(StreamEvent::Text("a".into())));
    let error = events[1].clone().unwrap_err();
    assert!(error.is_transient());
    assert_eq!(server.count(), 1);
}

#[tokio::test]
async fn the_server_says_how_long_to_wait() {
    let busy = Answer::error(429, "").with("retry-after", "1");
    let server = Server::start(vec![busy, Answer::says("now")]).await;
    let start = Instant::now();
    assert!(ask(&patient(&server)).await[0].is_ok());
    assert!(start.elapsed() >= Duration::from_secs(1), "{:?}", start.elapsed());

    let mut server = Server::start(vec![Answer::error(429, "").with("retry-after", "3600")]).await;
    let error = ask(&patient(&server)).await.remove(0).unwrap_err();
    assert_eq!(error.kind, ProviderErrorKind::RateLimit);
    assert_eq!(error.hint, "Try again in 3600 s.");
    assert_eq!(server.count(), 1);
}

#[tokio::test]
async fn dropping_the_stream_ends_the_request() {
    let mut server = Server::start(vec![Answer::stream(&[PIECE]).ending(Ending::Silence)]).await;
    let mut stream = server.client().stream(request(vec![])).await.unwrap();
    assert!(stream.next().await.unwrap().is_ok());
    server.body().await;
    drop(stream);
    assert!(matches!(server.seen().await, Seen::Left));
}

#[tokio::test]
async fn dropping_the_request_ends_it_before_it_is_answered() {
    let mut server = Server::start(vec![Answer::stream::<&str>(&[]).ending(Ending::Silence)]).await;
    let client = server.client();
    let waiting = tokio::spawn(async move {
        let mut stream = client.stream(request(vec![])).await.unwrap();
        stream.next().await.is_some()
    });
    server.body().await;
    waiting.abort();
    assert!(matches!(server.seen().await, Seen::Left));
}
