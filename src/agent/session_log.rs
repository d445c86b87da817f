//! Writes the journal. A journal that cannot be written costs the resume, never the turn.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use crate::agent::queue::EventQueue;
use crate::journal::{Journal, Record};
use crate::protocol::event::{Event, Level, Notice, TurnEnd};
use crate::protocol::ids::{SessionId, StepIx, TurnId};
use crate::protocol::message::Message;

/// The journal of a session; made at the first record, so that an unused session leaves nothing.
pub struct SessionLog {
    state_dir: PathBuf,
    first: Record,
    events: Arc<EventQueue>,
    session: SessionId,
    journal: Mutex<State>,
}

enum State {
    NotYet,
    Open(Journal),
    /// It failed, and the person was told; or it was closed.
    Off,
}

impl SessionLog {
    /// The log of `session` below `state_dir`; `first` becomes its first record.
    pub fn new(state_dir: PathBuf, session: SessionId, first: Record, events: Arc<EventQueue>) -> Self {
        Self {
            state_dir,
            first,
            events,
            session,
            journal: Mutex::new(State::NotYet),
        }
    }

    /// The history grew.
    pub fn message(&self, message: Message) {
        self.write(&Record::MessageAppended { message });
    }

    /// A step begins.
    pub fn step(&self, step: StepIx, turn: TurnId) {
        self.write(&Record::StepStarted { step, turn });
    }

    /// A turn begins.
    pub fn turn_started(&self, turn: TurnId) {
        self.write(&Record::TurnStarted { turn });
    }

    /// A turn came to rest; the disk holds it when this returns.
    pub fn turn_finished(&self, turn: TurnId, reason: TurnEnd) {
        self.write(&Record::TurnFinished { turn, reason });
        self.with(Journal::sync);
    }

    /// Steps were taken back.
    pub fn undone(&self, steps: &[StepIx]) {
        for step in steps {
            self.write(&Record::StepUndone { step: *step });
        }
    }

    /// Steps were put back.
    pub fn redone(&self, steps: &[StepIx]) {
        for step in steps {
            self.write(&Record::StepRedone { step: *step });
        }
    }

    /// Ends the journal and gives its lock back.
    pub fn close(&self) {
        self.with(Journal::sync);
        *self.journal.lock().unwrap_or_else(PoisonError::into_inner) = State::Off;
    }

    fn write(&self, record: &Record) {
        {
            let mut state = self.journal.lock().unwrap_or_else(PoisonError::into_inner);
            if matches!(*state, State::NotYet) {
                *state = match self.open() {
                    Ok(journal) => State::Open(journal),
                    Err(error) => self.failed(&error.to_string()),
                };
            }
        }
        self.with(|journal| journal.append(record));
    }

    fn open(&self) -> Result<Journal, crate::journal::JournalError> {
        let journal = Journal::create(&self.state_dir, &self.session)?;
        journal.append(&self.first)?;
        Ok(journal)
    }

    fn with<E: std::fmt::Display>(&self, work: impl FnOnce(&Journal) -> Result<(), E>) {
        let mut state = self.journal.lock().unwrap_or_else(PoisonError::into_inner);
        if let State::Open(journal) = &*state
            && let Err(error) = work(journal)
        {
            *state = self.failed(&error.to_string());
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
