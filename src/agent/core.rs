//! What a session's turns, calls and undos share.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio_util::sync::CancellationToken;

use crate::agent::compact::Meter;
use crate::agent::feedback::Feedback;
use crate::agent::history::History;
use crate::agent::ledger::Ledger;
use crate::agent::prefix::Prefix;
use crate::agent::queue::EventQueue;
use crate::agent::requests::Requests;
use crate::agent::session_log::SessionLog;
use crate::agent::status::StatusBoard;
use crate::agent::waiting::WaitingRoom;
use crate::backend::Backend;
use crate::config::model::Config;
use crate::host::clock::WorkClock;
use crate::host::scope::Scope;
use crate::judges::bench::Main;
use crate::permission::gate::Gate;
use crate::protocol::event::{Event, Level, Notice};
use crate::protocol::ids::{SessionId, StepIx, TurnId};
use crate::provider::{Provider, ProviderError};
use crate::review::SharedBook;
use crate::snapshot::SnapshotStore;
use crate::tools::bash_walls::Enclosure;
use crate::tools::dispatch::Dispatcher;
use crate::tools::registry::Registry;
use crate::tools::seen::SeenFiles;

/// The services and the state of one session.
pub struct Core {
    /// Its name.
    pub session: SessionId,
    /// The working directory.
    pub cwd: PathBuf,
    /// The person's home.
    pub home: PathBuf,
    /// The merged configuration.
    pub config: Arc<Config>,
    /// To the editor.
    pub events: Arc<EventQueue>,
    /// Open requests.
    pub requests: Arc<Requests>,
    /// Judges calls.
    pub gate: Arc<Gate>,
    /// The tools on offer.
    pub registry: Registry,
    /// The one way in for calls.
    pub dispatcher: Dispatcher,
    /// What stands around commands.
    pub enclosure: Enclosure,
    /// Files.
    pub backend: Arc<dyn Backend>,
    /// What was there before each step.
    pub snapshots: Arc<SnapshotStore>,
    /// What the person has not looked at yet; shared with the editor's main thread.
    pub review: SharedBook,
    /// The journal.
    pub log: SessionLog,
    /// The conversation. Only the running turn appends.
    pub history: Mutex<History>,
    /// The person's words, by turn.
    pub prompts: Mutex<BTreeMap<TurnId, String>>,
    /// What every request begins with; see [`Core::prefix`].
    pub prefix: Arc<Prefix>,
    /// The model, or why there is none.
    pub model: Main,
    /// How long the conversation is; see [`Core::meter`].
    pub meter: Mutex<Meter>,
    /// What the person said meanwhile.
    pub waiting: Arc<WaitingRoom>,
    /// Used so far; see [`Core::ledger`].
    pub ledger: Arc<Mutex<Ledger>>,
    /// What the model hears with the next prompt.
    pub notes: Mutex<Vec<String>>,
    /// What the model has not heard yet of what became of its work.
    pub feedback: Mutex<Feedback>,
    /// What this session's tools have read and written.
    pub seen: Arc<SeenFiles>,
    /// Numbers of steps.
    pub steps: AtomicU64,
    /// Numbers of turns; the front end takes them too.
    pub turns: Arc<AtomicU64>,
    /// Where the editor reads what we are doing.
    pub status: Arc<StatusBoard>,
    /// Whether a front end answers approvals of turns.
    pub human: bool,
    /// Cancelled when the agent ends.
    pub root: CancellationToken,
}

impl Core {
    /// The scope of work of a turn that ends with `cancel`.
    pub fn scope(&self, cancel: CancellationToken) -> Scope {
        Scope {
            cancel,
            root: self.root.clone(),
            clock: WorkClock::default(),
            ticket: None,
            human: self.human,
        }
    }

    /// The session is over: gives back what it holds on disk. `handed_over`: what waits for review is the
    /// next session's.
    pub fn end(&self, handed_over: bool) {
        self.log.close(handed_over);
        self.dispatcher.offload.clear();
    }

    /// A turn begins with these words.
    pub fn turn_begins(&self, turn: TurnId, text: &str) {
        let mut prompts = self.prompts.lock().unwrap_or_else(PoisonError::into_inner);
        prompts.insert(turn, text.to_owned());
        self.log.turn_started(turn, text);
    }

    /// The person's words, by turn.
    pub fn prompts(&self) -> BTreeMap<TurnId, String> {
        self.prompts
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// A step begins: from here on the conversation can go back to before it.
    pub fn step_begins(&self, step: StepIx, turn: TurnId) {
        self.history
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .mark_step(step);
        self.log.step(step, turn);
    }

    /// Forgets what was said from `step` on, its prompt too when it was the first step after it. Says how
    /// many messages that were. A compaction that folded the step is taken back first.
    pub fn forget_from(&self, step: StepIx) -> usize {
        let mut history = self.history.lock().unwrap_or_else(PoisonError::into_inner);
        while history.is_folded(step) && history.take_back() {
            self.log.compaction_undone();
        }
        let before = history.messages().len();
        history.forget_from(step);
        let left = history.messages().len();
        if left < before {
            self.log.forgotten(left);
        }
        before - left
    }

    /// The number of a new step.
    pub fn next_step(&self) -> StepIx {
        StepIx(self.steps.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// The number of a new turn.
    pub fn next_turn(&self) -> TurnId {
        TurnId(self.turns.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// What the requests of a turn begin with, taken at its prompt.
    pub fn prefix(&self) -> Arc<Prefix> {
        Arc::clone(&self.prefix)
    }

    /// The length of the conversation; not to be held over an await. Locked before the history.
    pub fn meter(&self) -> MutexGuard<'_, Meter> {
        self.meter.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The books; not to be held over an await.
    pub fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The model, or why there is none.
    pub fn provider(&self) -> Result<Arc<dyn Provider>, ProviderError> {
        self.model.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Takes another model, or says why it cannot be used; the old one stays then.
    ///
    /// # Errors
    /// Why it cannot be opened.
    pub fn set_model(
        &self,
        opened: Result<Arc<dyn Provider>, ProviderError>,
    ) -> Result<String, ProviderError> {
        let provider = opened?;
        let name = provider.name().to_owned();
        self.status.model(Some(name.clone()), provider.scripted());
        *self.model.lock().unwrap_or_else(PoisonError::into_inner) = Ok(provider);
        Ok(name)
    }

    /// A sentence for the person.
    pub fn notice(&self, level: Level, message: impl Into<String>, hint: Option<String>) {
        self.events.push(Event::Notice(Notice {
            level,
            message: message.into(),
            hint,
        }));
    }

    /// The notes for the model, taken.
    pub fn take_notes(&self) -> Vec<String> {
        let mut notes = std::mem::take(&mut *self.notes.lock().unwrap_or_else(PoisonError::into_inner));
        notes.extend(self.feedback().take(&self.cwd));
        notes
    }

    /// What the model has not heard yet. Not to be held across an `await`.
    pub fn feedback(&self) -> MutexGuard<'_, Feedback> {
        self.feedback.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells the model something with the next prompt.
    pub fn note(&self, note: String) {
        self.notes
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(note);
    }
}
