//! The engine's wishes to the editor and the person, each answered exactly once.
//!
//! Implements the ports [`Editor`] and [`Human`] over the event queue. A request ends by its reply, by
//! the cancellation of the work that made it, or by being dropped with that work; whichever comes first
//! closes it, and later replies find nothing.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use tokio::sync::oneshot;

use crate::agent::queue::EventQueue;
use crate::agent::status::StatusBoard;
use crate::host::scope::current;
use crate::host::{Answer, Editor, EditorError, Human, HumanError};
use crate::protocol::change::{AppliedFile, BufferText, EditBatch};
use crate::protocol::event::{Event, RequestEnd};
use crate::protocol::ids::RequestId;
use crate::protocol::request::{Approval, Diagnostic, NotSaved, Question, Reply, Request, UnsavedBuffer};

/// All open requests.
pub struct Requests {
    events: Arc<EventQueue>,
    status: Arc<StatusBoard>,
    next: AtomicU64,
    open: Mutex<HashMap<RequestId, Open>>,
}

struct Open {
    /// Whether the person answers; else the editor does by itself.
    person: bool,
    reply: oneshot::Sender<Reply>,
}

impl Requests {
    /// No requests yet.
    pub fn new(events: Arc<EventQueue>, status: Arc<StatusBoard>) -> Self {
        Self {
            events,
            status,
            next: AtomicU64::new(1),
            open: Mutex::new(HashMap::new()),
        }
    }

    /// Hands a reply to whoever waits; false when nobody does (any more).
    pub fn resolve(&self, id: RequestId, reply: Reply) -> bool {
        let open = self.change_open(|open| open.remove(&id));
        open.is_some_and(|open| open.reply.send(reply).is_ok())
    }

    fn change_open<R>(&self, change: impl FnOnce(&mut HashMap<RequestId, Open>) -> R) -> R {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let result = change(&mut open);
        self.status
            .waiting(open.values().filter(|open| open.person).count());
        result
    }

    /// Asks and waits; `None` when the work was cancelled.
    async fn ask(&self, request: Request) -> Option<Reply> {
        let scope = current();
        if scope.as_ref().is_some_and(|scope| scope.cancel.is_cancelled()) {
            return None;
        }
        let _paused = scope.as_ref().map(|scope| scope.clock.pause());
        let id = RequestId(self.next.fetch_add(1, Ordering::Relaxed));
        let (sender, receiver) = oneshot::channel();
        let person = matches!(request, Request::Approval(_) | Request::Question { .. });
        self.change_open(|open| {
            open.insert(
                id,
                Open {
                    person,
                    reply: sender,
                },
            )
        });
        let mut closing = Closing {
            requests: self,
            id,
            outcome: RequestEnd::Cancelled,
        };
        let ticket = scope.as_ref().and_then(|scope| scope.ticket);
        self.events.push(Event::Request { id, ticket, request });
        let cancelled = async {
            match &scope {
                Some(scope) => scope.cancel.cancelled().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            // What was done in answer counts, also when the stop came at the same time.
            biased;
            reply = receiver => {
                closing.outcome = RequestEnd::Answered;
                reply.ok()
            }
            () = cancelled => None,
        }
    }
}

/// Closes a request when the wait for it ends, however it ends.
struct Closing<'a> {
    requests: &'a Requests,
    id: RequestId,
    outcome: RequestEnd,
}

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.requests.change_open(|open| open.remove(&self.id));
        self.requests.events.push(Event::RequestClosed {
            id: self.id,
            outcome: self.outcome,
        });
    }
}

#[async_trait]
impl Editor for Requests {
    async fn read_buffer(&self, path: &Path) -> Result<Option<BufferText>, EditorError> {
        match self
            .ask(Request::ReadBuffer {
                path: path.to_owned(),
            })
            .await
        {
            Some(Reply::Buffer { buffer }) => Ok(buffer),
            other => Err(editor_error(other)),
        }
    }

    async fn unsaved(&self) -> Result<Vec<UnsavedBuffer>, EditorError> {
        match self.ask(Request::Unsaved).await {
            Some(Reply::Unsaved { buffers }) => Ok(buffers),
            other => Err(editor_error(other)),
        }
    }

    async fn apply(&self, batch: EditBatch) -> Result<Vec<AppliedFile>, EditorError> {
        match self.ask(Request::ApplyEdits(batch)).await {
            Some(Reply::Applied { files }) => Ok(files),
            other => Err(editor_error(other)),
        }
    }

    async fn diagnostics(&self, paths: Option<Vec<PathBuf>>) -> Result<Vec<Diagnostic>, EditorError> {
        match self.ask(Request::Diagnostics { paths }).await {
            Some(Reply::Diagnostics { found }) => Ok(found),
            other => Err(editor_error(other)),
        }
    }

    async fn save(&self, paths: Vec<PathBuf>) -> Result<Vec<NotSaved>, EditorError> {
        match self.ask(Request::SaveBuffers { paths }).await {
            Some(Reply::Saved { failed }) => Ok(failed),
            other => Err(editor_error(other)),
        }
    }
}

fn editor_error(reply: Option<Reply>) -> EditorError {
    match reply {
        None => EditorError::Cancelled,
        Some(Reply::Refused { stale: true, message }) => EditorError::Stale(message),
        Some(Reply::Refused {
            stale: false,
            message,
        }) => EditorError::Refused(message),
        Some(_) => EditorError::Refused("The editor answered something else than was asked.".into()),
    }
}

#[async_trait]
impl Human for Requests {
    fn present(&self) -> bool {
        current().is_some_and(|scope| scope.human)
    }

    async fn approve(&self, approval: Approval) -> Result<Answer, HumanError> {
        if !self.present() {
            return Err(HumanError::Absent);
        }
        match self.ask(Request::Approval(approval)).await {
            Some(Reply::Approval {
                decision,
                feedback,
                args,
                save,
            }) => Ok(Answer {
                decision,
                feedback,
                args,
                save,
            }),
            None => Err(HumanError::Cancelled),
            Some(_) => Err(HumanError::Absent),
        }
    }

    async fn ask(&self, questions: Vec<Question>) -> Result<Option<Vec<Vec<String>>>, HumanError> {
        match Self::ask(self, Request::Question { questions }).await {
            Some(Reply::Question { answers }) => Ok(answers),
            None => Err(HumanError::Cancelled),
            Some(_) => Ok(None),
        }
    }
}
