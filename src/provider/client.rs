//! A model behind HTTP: requests go out, replies come back, failures are tried again.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::stream::{self, BoxStream, StreamExt as _};

use super::dial::Dial;
use super::line::Line;
use super::model::{ChatRequest, Provider, ProviderError, StreamEvent, Wait};
use super::prices::Prices;
use super::reply::Reply;
use super::retry::{Again, Failure, RetryPolicy};

/// A model behind a server.
pub struct HttpModel {
    line: Arc<Line>,
    context_window: u64,
    prices: Option<Prices>,
}

impl HttpModel {
    /// Prepares the client; nothing is sent. Errors are of kind `Config`.
    pub fn new(dial: Dial) -> Result<Self, ProviderError> {
        let (context_window, prices) = (dial.context_window, dial.prices);
        Ok(Self {
            line: Arc::new(Line::new(dial)?),
            context_window,
            prices,
        })
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
        self.line.body(request, self.line.is_lean()).ok()
    }

    async fn stream(
        &self,
        request: ChatRequest,
    ) -> Result<BoxStream<'static, Result<StreamEvent, ProviderError>>, ProviderError> {
        let talk = Talk {
            line: Arc::clone(&self.line),
            lean: self.line.is_lean(),
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
    lean: bool,
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
                    match self.line.attempt(&self.request, self.lean).await {
                        Ok(reply) => self.state = State::Reading(Box::new(reply)),
                        Err(failure) if failure.again == Again::AtOnce => {
                            self.lean = true;
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
