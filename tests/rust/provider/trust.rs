//! Servers that cannot be trusted: nothing is sent to them, and nothing is tried again.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::Arc;

use dcode::provider::{Dial, HttpModel, RetryPolicy};
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use super::server::{Answer, Server};
use super::{failure, shown};

/// Answers every TLS connection, and says what it could read of each: nothing, as nobody trusts it.
fn self_signed() -> (u16, std::sync::mpsc::Receiver<Vec<u8>>) {
    // Made for this test and trusted by nobody.
    let cert = CertificateDer::from_slice(include_bytes!("../../fixtures/tls/self-signed.cert.der"));
    let key = PrivatePkcs8KeyDer::from(&include_bytes!("../../fixtures/tls/self-signed.key.der")[..]);
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![cert], key.into())
        .unwrap();
    let (config, listener) = (Arc::new(config), TcpListener::bind("127.0.0.1:0").unwrap());
    let port = listener.local_addr().unwrap().port();
    let (tell, told) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for socket in listener.incoming() {
            let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
            let mut stream = StreamOwned::new(connection, socket.unwrap());
            let mut bytes = vec![0; 1024];
            let count = stream.read(&mut bytes).unwrap_or(0);
            bytes.truncate(count);
            let _ = stream.write_all(b"HTTP/1.1 500 X\r\ncontent-length: 0\r\n\r\n");
            if tell.send(bytes).is_err() {
                return;
            }
        }
    });
    (port, told)
}

#[tokio::test]
async fn a_certificate_of_nobody_is_a_sentence_and_gets_no_request() {
    let (port, told) = self_signed();
    let server = Server::start(vec![Answer::says("unused")]).await;
    let model = HttpModel::new(Dial {
        base_url: format!("https://127.0.0.1:{port}/v1"),
        retry: RetryPolicy::default(),
        ..server.dial()
    });
    let sentence = shown(&failure(&model.unwrap()).await);
    assert!(
        sentence.starts_with("Network: The certificate of 127.0.0.1 is not trusted: "),
        "{sentence}"
    );
    assert!(sentence.contains("SSL_CERT_FILE"), "{sentence}");
    assert!(told.recv().unwrap().is_empty(), "the key stays here");
    assert!(told.try_recv().is_err(), "it is not tried again");
}
