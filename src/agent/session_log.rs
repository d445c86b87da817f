//! Writes the journal. A journal that cannot be written costs the resume, never the turn.
//!
//! Nothing here touches the disk: a thread of its own does (`journal_thread.rs`), in the order of the
//! calls, so that neither the agent's threads nor the editor's ever wait for a disk.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use tokio::sync::oneshot;

use crate::agent::journal_thread::{Job, JournalThread};
use crate::agent::queue::EventQueue;
use crate::agent::review_keeper::Kept;
use crate::journal::{Journal, Record};
use crate::protocol::event::TurnEnd;
use crate::protocol::ids::{SessionId, StepIx, TurnId};
use crate::protocol::message::Message;
use crate::review::SharedBook;

/// How long the end of a session waits for its journal. Quitting has a shorter limit of its own.
const CLOSE: Duration = Duration::from_secs(5);

/// What a session's journal is about and where it lies.
pub struct LogSetup {
    /// `stdpath('state')/dcode`.
    pub state_dir: PathBuf,
    /// Whose sessions are told from others': the project's root, else the working directory.
    pub root: PathBuf,
    /// The session.
    pub session: SessionId,
    /// Becomes the next record.
    pub first: Record,
    /// The journal to go on with; `None` = a new one, made at the first record, so that an unused session
    /// leaves nothing.
    pub journal: Option<Journal>,
    /// What that journal says of each file that waits.
    pub kept: BTreeMap<PathBuf, Kept>,
    /// What waits for review is kept in the journal.
    pub review: SharedBook,
    /// Hears of a journal that cannot be written.
    pub events: Arc<EventQueue>,
}

/// The journal of a session. Its methods return at once, but [`SessionLog::close`].
pub struct SessionLog {
    jobs: Sender<Job>,
}

impl SessionLog {
    /// The log of a session. From here on it keeps what waits in the review.
    pub fn new(setup: LogSetup) -> Self {
        let (jobs, queue) = channel();
        let thread = JournalThread::new(setup, &jobs);
        let spawned = std::thread::Builder::new()
            .name("dcode-journal".into())
            .spawn(move || thread.run(&queue));
        // Without a thread the jobs have nobody to go to: the session works and is not recorded.
        drop(spawned);
        Self { jobs }
    }

    /// The history grew.
    pub fn message(&self, message: Message) {
        self.write(Record::MessageAppended { message });
    }

    /// The history was rewritten.
    pub fn compacted(&self, messages: &[Message], summary: Option<&str>) {
        self.write(Record::Compacted {
            messages: messages.to_vec(),
            summary: summary.map(str::to_owned),
        });
    }

    /// The last rewriting was taken back.
    pub fn compaction_undone(&self) {
        self.write(Record::CompactionUndone);
    }

    /// A step begins.
    pub fn step(&self, step: StepIx, turn: TurnId) {
        self.write(Record::StepStarted { step, turn });
    }

    /// A step has done what it does; what it left to review is recorded before.
    pub fn step_kept(&self, step: StepIx) {
        self.send(Job::KeepReview);
        self.write(Record::StepKept { step });
    }

    /// A turn begins.
    pub fn turn_started(&self, turn: TurnId, text: &str) {
        self.write(Record::TurnStarted {
            turn,
            text: text.to_owned(),
        });
    }

    /// A turn came to rest; the disk holds it soon.
    pub fn turn_finished(&self, turn: TurnId, reason: TurnEnd) {
        self.write(Record::TurnFinished { turn, reason });
        self.send(Job::Sync);
    }

    /// The permission mode changed. It makes no journal by itself.
    pub fn mode_changed(&self, mode: &str) {
        self.send(Job::Aside(Record::ModeChanged { mode: mode.into() }));
    }

    /// The model changed. It makes no journal by itself.
    pub fn model_changed(&self, model: &str) {
        self.send(Job::Aside(Record::ModelChanged { model: model.into() }));
    }

    /// Of the history only the first `count` messages are left.
    pub fn forgotten(&self, count: usize) {
        self.write(Record::HistoryCut { messages: count });
    }

    /// Steps were taken back.
    pub fn undone(&self, steps: &[StepIx]) {
        self.send(Job::KeepReview);
        for step in steps {
            self.write(Record::StepUndone { step: *step });
        }
    }

    /// Steps were put back.
    pub fn redone(&self, steps: &[StepIx]) {
        self.send(Job::KeepReview);
        for step in steps {
            self.write(Record::StepRedone { step: *step });
        }
    }

    /// Returns when everything so far has been handed to the system, the review included.
    pub async fn flushed(&self) {
        let (done, flushed) = oneshot::channel();
        self.send(Job::KeepReview);
        self.send(Job::Flush(done));
        // An error means that nobody records any more: there is nothing to wait for.
        let _ = flushed.await;
    }

    /// Ends the journal and gives its lock back. `handed_over`: what waits for review is another
    /// session's from now on.
    pub fn close(&self, handed_over: bool) {
        let (done, closed) = channel();
        self.send(Job::Close { handed_over, done });
        // After the limit the thread goes on by itself, as long as the process does.
        let _ = closed.recv_timeout(CLOSE);
    }

    fn write(&self, record: Record) {
        self.send(Job::Write(record));
    }

    fn send(&self, job: Job) {
        // Nobody listens after the end.
        let _ = self.jobs.send(job);
    }
}
