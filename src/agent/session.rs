//! The actor: takes ops in order and never waits for work to end.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::{JoinError, JoinHandle};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::agent::call::{self, LuaCall};
use crate::agent::compact::{self, Why};
use crate::agent::core::Core;
use crate::agent::prompt;
use crate::agent::report;
use crate::agent::setup::Blueprint;
use crate::agent::turn::{self, Ended, Prompt};
use crate::agent::undo;
use crate::agent::waiting::{Next, Words};
use crate::config::mode::Mode;
use crate::host::scope;
use crate::protocol::event::{Event, Level, TurnEnd};
use crate::protocol::ids::{HunkId, TicketId, TurnId};
use crate::protocol::op::{Op, Report};
use crate::snapshot::Scope as UndoScope;

/// What the session does at the moment; one at a time.
struct Running {
    /// The turn, when it is one; else an undo or redo.
    turn: Option<TurnId>,
    cancel: CancellationToken,
    task: JoinHandle<Done>,
}

/// What a task has come to; told only when nothing runs any more, so that the answer may be followed by
/// the next wish at once.
enum Done {
    Turn(Ended),
    /// [`Event::Restored`].
    Restore(Event),
    /// Everything was told already.
    Compact,
}

/// A session at work.
pub struct Session {
    blueprint: Blueprint,
    core: Arc<Core>,
    root: CancellationToken,
    running: Option<Running>,
    calls: HashMap<TicketId, CancellationToken>,
    /// What runs beside the turn; each ends with its token, and we end after it.
    beside: TaskTracker,
    /// A new session is wanted as soon as nothing runs.
    renew: bool,
    /// The model that the person chose for this and later sessions.
    model: Option<String>,
}

impl Session {
    /// A session that has not taken an op yet. Everything it starts is cancelled with `root`.
    pub fn new(blueprint: Blueprint, root: CancellationToken) -> Self {
        let core = blueprint.build(None, &root);
        Self {
            blueprint,
            core,
            root,
            running: None,
            calls: HashMap::new(),
            beside: TaskTracker::new(),
            renew: false,
            model: None,
        }
    }

    /// Takes ops until [`Op::Shutdown`] or until nobody can send any more.
    pub async fn run(mut self, mut ops: UnboundedReceiver<Op>) {
        self.started();
        loop {
            let ended = async {
                match &mut self.running {
                    Some(running) => (&mut running.task).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                op = ops.recv() => match op {
                    None | Some(Op::Shutdown) => break,
                    Some(op) => self.handle(op),
                },
                ended = ended => self.ended(ended),
            }
        }
        self.root.cancel();
        if let Some(mut running) = self.running.take() {
            // Bounded by the caller's limit on the whole shutdown.
            let ended = (&mut running.task).await;
            self.running = Some(running);
            self.ended(ended);
        }
        self.beside.close();
        self.beside.wait().await;
        self.blueprint.end();
        self.core.end();
        self.core.events.push(Event::Stopped {
            reason: "shutdown".into(),
        });
    }

    fn started(&self) {
        let provider = self.core.provider();
        self.core.events.push(Event::SessionStarted {
            session: self.core.session.clone(),
            model: provider.ok().map(|provider| provider.name().to_owned()),
            mode: self.core.gate.mode().as_str().into(),
            cwd: self.core.cwd.clone(),
            tools: self.core.registry.names(),
        });
    }

    fn handle(&mut self, op: Op) {
        match op {
            Op::Prompt { turn, text, context } => {
                let prompt = Prompt { turn, text, context };
                if self.running.is_none() {
                    self.begin(prompt);
                } else {
                    self.core.waiting.push_turn(prompt);
                }
            }
            Op::Steer { text, context } => {
                let words = Words { text, context };
                if self.running.is_none() {
                    let prompt = self.turn_of(words);
                    self.begin(prompt);
                } else {
                    self.core.waiting.push_words(words);
                }
            }
            Op::Unqueue { id } => {
                let removed = self.core.waiting.remove(id);
                removed.into_iter().for_each(|next| self.never_begins(next));
            }
            Op::Compact { undo } => self.compact(undo),
            Op::Interrupt => self.interrupt(),
            Op::Call {
                ticket,
                tool,
                args,
                timeout_ms,
                human,
            } => {
                let limit = Duration::from_millis(timeout_ms);
                self.start_call(LuaCall {
                    ticket,
                    tool,
                    args,
                    limit,
                    human,
                });
            }
            Op::CancelCall { ticket } => {
                if let Some(cancel) = self.calls.remove(&ticket) {
                    cancel.cancel();
                }
            }
            Op::Explain { ticket, tool, args } => {
                let core = Arc::clone(&self.core);
                self.beside.spawn(call::explain(core, ticket, tool, args));
            }
            Op::Report {
                ticket,
                what: Report::Models,
            } => self.list_models(ticket),
            Op::Report { ticket, what } => {
                let core = Arc::clone(&self.core);
                self.beside
                    .spawn(async move { report::answer(&core, ticket, what) });
            }
            // A second answer, or one that comes too late, has nobody to go to.
            Op::Reply { request, reply } => drop(self.core.requests.resolve(request, reply)),
            Op::Undo { steps } => {
                let scope = steps.map_or(UndoScope::Turn, UndoScope::Steps);
                self.start_restore(move |core| async move { undo::undo(&core, scope).await });
            }
            Op::Redo => self.start_restore(|core| async move { undo::redo(&core).await }),
            Op::Reviewed {
                path,
                accepted,
                rejected,
            } => {
                let notes = prompt::review_notes(&path, accepted, rejected, &self.core.cwd);
                notes.into_iter().for_each(|note| self.core.note(note));
            }
            Op::Reject { path, hunk } => self.reject(path, hunk),
            Op::SetMode { mode } => self.set_mode(&mode),
            Op::SetModel { model } => self.set_model(&model),
            Op::NewSession => {
                self.interrupt();
                self.renew = true;
                self.start_next();
            }
            Op::Shutdown => {}
        }
    }

    fn start_next(&mut self) {
        if self.running.is_some() || self.root.is_cancelled() {
            return;
        }
        if std::mem::take(&mut self.renew) {
            self.new_session();
        }
        let Some(next) = self.core.waiting.next() else {
            return;
        };
        let prompt = match next {
            Next::Turn(prompt) => prompt,
            Next::Words(words) => self.turn_of(words),
        };
        self.begin(prompt);
    }

    fn begin(&mut self, prompt: Prompt) {
        if self.root.is_cancelled() {
            return;
        }
        let turn = prompt.turn;
        self.core.events.push(Event::TurnStarted {
            turn,
            text: prompt.text.clone(),
        });
        self.core.log.turn_started(turn);
        let cancel = self.root.child_token();
        let (core, token) = (Arc::clone(&self.core), cancel.clone());
        let task = tokio::spawn(async move { Done::Turn(turn::run_turn(&core, prompt, &token).await) });
        self.running = Some(Running {
            turn: Some(turn),
            cancel,
            task,
        });
        self.core.status.running(true);
    }

    fn ended(&mut self, ended: Result<Done, JoinError>) {
        let Some(running) = self.running.take() else {
            return;
        };
        self.core.status.running(false);
        match (ended, running.turn) {
            (Ok(Done::Turn(ended)), Some(turn)) => self.finish_turn(turn, ended),
            (Ok(Done::Restore(restored)), _) => self.core.events.push(restored),
            (Ok(Done::Compact), _) => {}
            (_, Some(turn)) => {
                turn::mend(&self.core);
                self.finish_turn(turn, Ended::fault());
            }
            (_, None) => self.restored_nothing("The undo failed by a fault of its own; see :Dcode log."),
        }
        self.start_next();
    }

    fn finish_turn(&self, turn: TurnId, ended: Ended) {
        self.core.log.turn_finished(turn, ended.reason);
        let Ended {
            reason,
            text,
            message,
        } = ended;
        self.core.events.push(Event::TurnFinished {
            turn,
            reason,
            text,
            message,
        });
    }

    fn interrupt(&mut self) {
        if let Some(running) = &self.running {
            running.cancel.cancel();
        }
        for cancel in self.calls.values() {
            cancel.cancel();
        }
        for next in self.core.waiting.clear() {
            self.never_begins(next);
        }
    }

    /// What waited is taken out: a turn that was promised ends all the same.
    fn never_begins(&self, next: Next) {
        let Next::Turn(prompt) = next else {
            return;
        };
        self.core.events.push(Event::TurnStarted {
            turn: prompt.turn,
            text: prompt.text,
        });
        let ended = Ended {
            reason: TurnEnd::Interrupted,
            text: String::new(),
            message: None,
        };
        self.finish_turn(prompt.turn, ended);
    }

    /// Words that came too late for their turn are one of their own, with those behind them.
    fn turn_of(&self, words: Words) -> Prompt {
        let Words { mut text, context } = words;
        for more in self.core.waiting.take_words() {
            text.push_str("\n\n");
            text.push_str(&more.text);
        }
        Prompt {
            turn: self.core.next_turn(),
            text,
            context,
        }
    }

    fn compact(&mut self, undo: bool) {
        if self.running.is_some() {
            let why = "Something is running. Stop it first with :Dcode stop.";
            return self.core.notice(Level::Warn, why, None);
        }
        if undo {
            return compact::take_back(&self.core);
        }
        let cancel = self.root.child_token();
        let (core, token) = (Arc::clone(&self.core), cancel.clone());
        let task = tokio::spawn(async move {
            let prefix = core.prefix();
            compact::compact(&core, &prefix, Why::Asked, &token).await;
            Done::Compact
        });
        self.running = Some(Running {
            turn: None,
            cancel,
            task,
        });
        self.core.status.running(true);
    }

    fn start_call(&mut self, made: LuaCall) {
        let cancel = self.root.child_token();
        self.calls.retain(|_, cancel| !cancel.is_cancelled());
        self.calls.insert(made.ticket, cancel.clone());
        let core = Arc::clone(&self.core);
        self.beside.spawn(async move {
            let ticket = made.ticket;
            let work = tokio::spawn(call::run(Arc::clone(&core), made, cancel.clone()));
            if work.await.is_err() {
                core.events.push(call::fault(ticket));
            }
            cancel.cancel();
        });
    }

    fn start_restore<F>(&mut self, work: impl FnOnce(Arc<Core>) -> F)
    where
        F: Future<Output = Event> + Send + 'static,
    {
        if let Some(running) = &self.running {
            let undoing = "An undo is not done yet.";
            let working = "A turn is running. Stop it first with :Dcode stop.";
            self.restored_nothing(running.turn.map_or(undoing, |_| working));
            return;
        }
        let cancel = self.root.child_token();
        let scope = self.core.scope(cancel.clone());
        let work = scope::within(scope, work(Arc::clone(&self.core)));
        let task = tokio::spawn(async move { Done::Restore(work.await) });
        self.running = Some(Running {
            turn: None,
            cancel,
            task,
        });
        self.core.status.running(true);
    }

    fn restored_nothing(&self, why: &str) {
        self.core.events.push(Event::Restored {
            ok: false,
            message: why.to_owned(),
            paths: Vec::new(),
        });
    }

    fn reject(&self, path: PathBuf, hunk: Option<HunkId>) {
        let core = Arc::clone(&self.core);
        let scope = self.core.scope(self.root.child_token());
        self.beside.spawn(scope::within(scope, async move {
            if let Err(message) = undo::reject(&core, &path, hunk).await {
                core.notice(Level::Error, message, None);
            }
        }));
    }

    fn set_mode(&self, name: &str) {
        match name.parse::<Mode>() {
            Ok(mode) => {
                self.core.gate.set_mode(mode);
                self.core.log.mode_changed(mode.as_str());
                self.core.status.mode(mode.as_str());
                self.core.events.push(Event::ModeChanged {
                    mode: mode.as_str().into(),
                });
            }
            Err(error) => self.core.notice(Level::Error, error, None),
        }
    }

    /// Answers with [`Event::Reported`]: `{models: [ModelRow], model}`.
    fn list_models(&self, ticket: TicketId) {
        let (core, models) = (Arc::clone(&self.core), self.blueprint.models());
        self.beside.spawn(async move {
            let models = models.await;
            let model = core.provider().ok().map(|provider| provider.name().to_owned());
            let report = json!({ "models": models, "model": model });
            core.events.push(Event::Reported { ticket, report });
        });
    }

    fn set_model(&mut self, model: &str) {
        // A command may print the key, and take its time.
        let opened = tokio::task::block_in_place(|| self.blueprint.open_model(Some(model)));
        match self.core.set_model(opened) {
            Ok(name) => {
                self.blueprint.remember_model(model);
                self.model = Some(model.to_owned());
                self.core.log.model_changed(&name);
                self.core.events.push(Event::ModelChanged { model: name });
            }
            Err(error) => self.core.notice(Level::Error, error.message, Some(error.hint)),
        }
    }

    /// Mode and model are the person's choice and stay.
    fn new_session(&mut self) {
        self.core.end();
        let mode = self.core.gate.mode();
        self.core = tokio::task::block_in_place(|| {
            self.blueprint.reload();
            self.blueprint.build(self.model.as_deref(), &self.root)
        });
        if mode != self.core.gate.mode() {
            self.core.gate.set_mode(mode);
            self.core.log.mode_changed(mode.as_str());
        }
        self.started();
    }
}
