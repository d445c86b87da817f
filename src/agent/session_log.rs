//! Writes the journal. A journal that cannot be written costs the resume, never the turn.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use crate::agent::queue::EventQueue;
use crate::journal::{Journal, JournalError, Record};
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
    /// What comes right after the first record.
    NotYet(Vec<Record>),
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
            journal: Mutex::new(State::NotYet(Vec::new())),
        }
    }

    /// The history grew.
    pub fn message(&self, message: Message) {
        self.write(&Record::MessageAppended { message });
    }

    /// The history was rewritten.
    pub fn compacted(&self, messages: &[Message], summary: Option<&str>) {
        self.write(&Record::Compacted {
            messages: messages.to_vec(),
            summary: summary.map(str::to_owned),
        });
    }

    /// The last rewriting was taken back.
    pub fn compaction_undone(&self) {
        self.write(&Record::CompactionUndone);
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

    /// The permission mode changed. It makes no journal by itself.
    pub fn mode_changed(&self, mode: &str) {
        self.aside(Record::ModeChanged { mode: mode.into() });
    }

    /// The model changed. It makes no journal by itself.
    pub fn model_changed(&self, model: &str) {
        self.aside(Record::ModelChanged { model: model.into() });
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
            if let State::NotYet(waiting) = &*state {
                *state = match self.open(waiting) {
                    Ok(journal) => State::Open(journal),
                    Err(error) => self.failed(&error.to_string()),
                };
            }
        }
        self.with(|journal| journal.append(record));
    }

    /// Writes a record, or keeps it until there is a journal.
    fn aside(&self, record: Record) {
        {
            let mut state = self.journal.lock().unwrap_or_else(PoisonError::into_inner);
            if let State::NotYet(waiting) = &mut *state {
                return waiting.push(record);
            }
        }
        self.with(|journal| journal.append(&record));
    }

    fn open(&self, waiting: &[Record]) -> Result<Journal, JournalError> {
        let journal = Journal::create(&self.state_dir, &self.session)?;
        journal.append(&self.first)?;
        waiting.iter().try_for_each(|record| journal.append(record))?;
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
