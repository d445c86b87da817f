//! The thread that writes a session's journal: records as they come, the review in batches.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use crate::agent::queue::EventQueue;
use crate::agent::review_keeper::ReviewKeeper;
use crate::agent::session_log::LogSetup;
use crate::journal::{Journal, JournalError, Record};
use crate::protocol::event::{Event, Level, Notice};
use crate::protocol::ids::SessionId;
use crate::review::Urgency;

/// How long decisions and the agent's edits are gathered.
const SOON: Duration = Duration::from_millis(50);
/// How long typing is gathered.
const LATER: Duration = Duration::from_secs(3);

/// What the thread is to do.
pub enum Job {
    /// Append it.
    Write(Record),
    /// Append it, or keep it until there is a journal.
    Aside(Record),
    /// The review changed: record it in a while.
    Changed(Urgency),
    /// Record what waits for review now.
    KeepReview,
    /// Let the disk hold what was appended.
    Sync,
    /// Say that all before is done.
    Flush(oneshot::Sender<()>),
    /// End the journal.
    Close {
        /// What waits for review is another session's from now on.
        handed_over: bool,
        /// Told at the end.
        done: Sender<()>,
    },
}

enum State {
    /// What comes right after the first record.
    NotYet(Vec<Record>),
    Open(Journal),
    /// It failed, and the person was told.
    Off,
}

/// All that the thread owns.
pub struct JournalThread {
    state_dir: PathBuf,
    session: SessionId,
    first: Record,
    events: Arc<EventQueue>,
    state: State,
    review: ReviewKeeper,
    /// When the review is recorded next.
    due: Option<Instant>,
}

impl JournalThread {
    /// What the thread will own; `jobs` is where the review announces its changes.
    pub fn new(setup: LogSetup, jobs: &Sender<Job>) -> Self {
        let review = ReviewKeeper::new(&setup, jobs.clone());
        let LogSetup {
            state_dir,
            session,
            first,
            journal,
            events,
            ..
        } = setup;
        let state = match journal {
            Some(journal) => State::Open(journal),
            None => State::NotYet(Vec::new()),
        };
        let resumed = matches!(state, State::Open(_));
        let mut this = Self {
            review,
            state_dir,
            session,
            first,
            events,
            state,
            due: None,
        };
        if resumed {
            let first = this.first.clone();
            this.append(&first);
        }
        this
    }

    /// Works until the session is closed or nobody can send any more.
    pub fn run(mut self, jobs: &Receiver<Job>) {
        loop {
            let job = match self.due {
                None => jobs.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(due) => jobs.recv_timeout(due.saturating_duration_since(Instant::now())),
            };
            match job {
                Ok(Job::Write(record)) => self.write(&record),
                Ok(Job::Aside(record)) => match &mut self.state {
                    State::NotYet(waiting) => waiting.push(record),
                    _ => self.append(&record),
                },
                Ok(Job::Changed(urgency)) => self.plan(urgency),
                Ok(Job::KeepReview) | Err(RecvTimeoutError::Timeout) => self.keep_review(),
                Ok(Job::Sync) => self.with(Journal::sync),
                // Who asked may have gone.
                Ok(Job::Flush(done)) => drop(done.send(())),
                Ok(Job::Close { handed_over, done }) => {
                    self.end(handed_over);
                    drop(self);
                    let _ = done.send(());
                    return;
                }
                Err(RecvTimeoutError::Disconnected) => return self.end(false),
            }
        }
    }

    fn end(&mut self, handed_over: bool) {
        if handed_over {
            for record in self.review.hand_over() {
                self.append(&record);
            }
        } else {
            self.keep_review();
        }
        self.with(Journal::sync);
        self.review.clean_up();
    }

    fn plan(&mut self, urgency: Urgency) {
        let wait = match urgency {
            Urgency::Soon => SOON,
            Urgency::Later => LATER,
        };
        let due = Instant::now() + wait;
        self.due = Some(self.due.map_or(due, |known| known.min(due)));
    }

    /// Records what changed in the review. The bytes are on the disk before the record speaks of them.
    fn keep_review(&mut self) {
        self.due = None;
        if matches!(self.state, State::Off) {
            return;
        }
        match self.review.records() {
            Ok(records) => {
                for record in &records {
                    self.write(record);
                }
                self.review.clean_up();
            }
            Err(error) => self.state = self.failed(&error.to_string()),
        }
    }

    fn write(&mut self, record: &Record) {
        if let State::NotYet(waiting) = &self.state {
            self.state = match self.open(waiting) {
                Ok(journal) => State::Open(journal),
                Err(error) => self.failed(&error.to_string()),
            };
        }
        self.append(record);
    }

    fn append(&mut self, record: &Record) {
        self.with(|journal| journal.append(record));
    }

    fn open(&self, waiting: &[Record]) -> Result<Journal, JournalError> {
        let journal = Journal::create(&self.state_dir, &self.session)?;
        journal.append(&self.first)?;
        waiting.iter().try_for_each(|record| journal.append(record))?;
        Ok(journal)
    }

    fn with(&mut self, work: impl FnOnce(&Journal) -> Result<(), JournalError>) {
        if let State::Open(journal) = &self.state
            && let Err(error) = work(journal)
        {
            self.state = self.failed(&error.to_string());
        }
    }

    fn failed(&self, error: &str) -> State {
        self.events.push(Event::Notice(Notice {
            level: Level::Warn,
            message: format!("This session is not recorded: {error}."),
            hint: Some("Everything else works; it cannot be resumed later.".into()),
        }));
        State::Off
    }
}
