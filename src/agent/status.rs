//! What the agent is doing, readable from any thread at any time.

use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;

use crate::protocol::event::Usage;

/// A look at the agent.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Status {
    /// `idle`, `running` or `waiting` (for the person).
    pub state: &'static str,
    /// The permission mode.
    pub mode: String,
    /// `provider:model`, when there is one.
    pub model: Option<String>,
    /// Whether the model only plays a script.
    pub scripted: bool,
    /// The session's name.
    pub session: String,
    /// Used so far.
    pub usage: Usage,
}

#[derive(Default)]
struct Facts {
    running: bool,
    waiting: usize,
    mode: String,
    model: Option<String>,
    scripted: bool,
    session: String,
    usage: Usage,
}

/// Where the agent writes what it is doing.
#[derive(Default)]
pub struct StatusBoard(Mutex<Facts>);

impl StatusBoard {
    /// A board that says idle.
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    fn write(&self, change: impl FnOnce(&mut Facts)) {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// A turn or an undo began or ended.
    pub fn running(&self, running: bool) {
        self.write(|facts| facts.running = running);
    }

    /// So many questions and approvals wait for the person.
    pub fn waiting(&self, count: usize) {
        self.write(|facts| facts.waiting = count);
    }

    /// The mode is now this.
    pub fn mode(&self, mode: &str) {
        self.write(|facts| facts.mode = mode.into());
    }

    /// The model is now this.
    pub fn model(&self, model: Option<String>, scripted: bool) {
        self.write(|facts| {
            facts.model = model;
            facts.scripted = scripted;
        });
    }

    /// The session is now this.
    pub fn session(&self, session: &str) {
        self.write(|facts| facts.session = session.into());
    }

    /// So much was used.
    pub fn usage(&self, usage: Usage) {
        self.write(|facts| facts.usage = usage);
    }

    /// What the agent is doing.
    pub fn read(&self) -> Status {
        let facts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let state = match (facts.waiting, facts.running) {
            (0, false) => "idle",
            (0, true) => "running",
            _ => "waiting",
        };
        Status {
            state,
            mode: facts.mode.clone(),
            model: facts.model.clone(),
            scripted: facts.scripted,
            session: facts.session.clone(),
            usage: facts.usage,
        }
    }
}
