//! The agent's own thread pool, and the handle by which a front end speaks to it.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use nix::sys::signal::SigSet;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc::{self, UnboundedSender};
use tokio_util::sync::CancellationToken;

use crate::agent::queue::EventQueue;
use crate::agent::session::Session;
use crate::agent::setup::{Blueprint, Start, StartError, Started};
use crate::agent::status::{Status, StatusBoard};
use crate::config::show::Row;
use crate::protocol::event::Event;
use crate::protocol::ids::{TicketId, TurnId};
use crate::protocol::op::Op;
use crate::review::SharedBook;
use crate::snapshot::TreeWatch;

/// The front end's end of the agent. Every method returns at once, but [`AgentHandle::shutdown`].
pub struct AgentHandle {
    ops: UnboundedSender<Op>,
    events: Arc<EventQueue>,
    review: SharedBook,
    watch: Arc<TreeWatch>,
    status: Arc<StatusBoard>,
    turns: Arc<AtomicU64>,
    tickets: AtomicU64,
    config: Vec<Row>,
    root: CancellationToken,
    runtime: Mutex<Option<Runtime>>,
    ended: Mutex<std::sync::mpsc::Receiver<()>>,
}

/// Starts the agent. Reads the configuration; the model is opened on the agent's thread.
///
/// # Errors
/// When the threads cannot be made.
pub fn spawn(start: Start, events: Arc<EventQueue>) -> Result<(AgentHandle, Started), StartError> {
    let runtime = Builder::new_multi_thread()
        .worker_threads(2)
        .thread_name("dcode")
        .on_thread_start(|| {
            // Signals are Neovim's. Nothing can be done where the mask cannot be set.
            let _ = SigSet::all().thread_block();
        })
        .enable_all()
        .build()
        .map_err(|error| StartError(format!("The agent's threads cannot be started: {error}.")))?;
    let blueprint = Blueprint::new(start, Arc::clone(&events));
    let (started, config) = (blueprint.started(), blueprint.config_rows());
    let (review, status, turns) = (blueprint.review(), blueprint.status(), blueprint.turns());
    let watch = blueprint.watch();
    let (ops, receiver) = mpsc::unbounded_channel();
    let root = CancellationToken::new();
    let (done, ended) = std::sync::mpsc::channel();
    let (token, stop) = (root.clone(), root.clone());
    let queue = Arc::clone(&events);
    runtime.spawn(async move {
        let work = async {
            let session = tokio::task::spawn_blocking(move || Session::new(blueprint, token)).await?;
            tokio::spawn(session.run(receiver)).await
        };
        let faulty = work.await.is_err();
        if faulty {
            stop.cancel();
            let reason = "a fault of dcode itself, which is in the log (:Dcode log)".into();
            queue.push(Event::Stopped { reason });
        }
        // Nobody listens when the front end gave up waiting.
        let _ = done.send(());
    });
    let handle = AgentHandle {
        ops,
        events,
        review,
        watch,
        status,
        turns,
        tickets: AtomicU64::new(0),
        config,
        root,
        runtime: Mutex::new(Some(runtime)),
        ended: Mutex::new(ended),
    };
    Ok((handle, started))
}

impl AgentHandle {
    /// Sends an op; false when the agent has ended.
    pub fn submit(&self, op: Op) -> bool {
        self.ops.send(op).is_ok()
    }

    /// The number for the next prompt.
    pub fn next_turn(&self) -> TurnId {
        TurnId(self.turns.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// The number for the next call or explanation.
    pub fn next_ticket(&self) -> TicketId {
        TicketId(self.tickets.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// Takes up to `max` events; the flag says whether more wait.
    pub fn poll(&self, max: usize) -> (Vec<Event>, bool) {
        self.events.drain(max)
    }

    /// What the person has not looked at yet.
    pub fn review(&self) -> &SharedBook {
        &self.review
    }

    /// The editor wrote a file: that is no command's doing.
    pub fn written(&self, path: &Path) {
        self.watch.written(path);
    }

    /// The configuration as it was read at the start: key, value, source.
    pub fn config(&self) -> &[Row] {
        &self.config
    }

    /// What the agent is doing.
    pub fn status(&self) -> Status {
        self.status.read()
    }

    /// Ends the agent within `limit`: cancels everything, lets the journal be closed, leaves the threads.
    ///
    /// Children that are still there are killed by the watchdog, so quitting need not wait for them. The
    /// runtime is never dropped: that would wait for blocking work for ever.
    pub fn shutdown(&self, limit: Duration) {
        let started = Instant::now();
        self.root.cancel();
        self.submit(Op::Shutdown);
        let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        // Past the limit we leave all the same.
        let _ = ended.recv_timeout(limit);
        if let Some(runtime) = self.runtime.lock().unwrap_or_else(PoisonError::into_inner).take() {
            runtime.shutdown_timeout(
                limit
                    .saturating_sub(started.elapsed())
                    .min(Duration::from_millis(20)),
            );
        }
    }
}

impl Drop for AgentHandle {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.lock().unwrap_or_else(PoisonError::into_inner).take() {
            self.root.cancel();
            runtime.shutdown_background();
        }
    }
}
