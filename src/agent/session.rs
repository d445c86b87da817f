//! The actor: takes ops in order and never waits for work to end.

use std::collections::{HashMap, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::{JoinError, JoinHandle};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::agent::call::{self, LuaCall};
use crate::agent::core::Core;
use crate::agent::setup::Blueprint;
use crate::agent::turn::{self, Ended, Prompt};
use crate::agent::undo;
use crate::agent::{feedback, reject, reopen, timeline};
use crate::config::mode::Mode;
use crate::host::scope;
use crate::protocol::event::{Event, Level, TurnEnd};
use crate::protocol::ids::{HunkId, SessionId, TicketId, TurnId};
use crate::protocol::op::Op;

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
    Restore(Box<Event>),
}

/// A session at work.
pub struct Session {
    blueprint: Blueprint,
    core: Arc<Core>,
    root: CancellationToken,
    queue: VecDeque<Prompt>,
    running: Option<Running>,
    calls: HashMap<TicketId, CancellationToken>,
    /// What runs beside the turn; each ends with its token, and we end after it.
    beside: TaskTracker,
    /// Looks at the files that the model knows; the next turn waits for it.
    remembered: Option<JoinHandle<()>>,
    /// A new session is wanted as soon as nothing runs.
    renew: bool,
    /// The model that the person chose for this and later sessions.
    model: Option<String>,
}

impl Session {
    /// A session that has not taken an op yet. Everything it starts is cancelled with `root`.
    pub fn new(blueprint: Blueprint, root: CancellationToken) -> Self {
        let core = blueprint.build(None, &root, None);
        Self {
            blueprint,
            core,
            root,
            queue: VecDeque::new(),
            running: None,
            calls: HashMap::new(),
            beside: TaskTracker::new(),
            remembered: None,
            renew: false,
            model: None,
        }
    }

    /// Takes ops until [`Op::Shutdown`] or until nobody can send any more.
    pub async fn run(mut self, mut ops: UnboundedReceiver<Op>) {
        self.started();
        self.offer();
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
        self.core.end(false);
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
                self.queue.push_back(Prompt { turn, text, context });
                self.start_next();
            }
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
            // A second answer, or one that comes too late, has nobody to go to.
            Op::Reply { request, reply } => drop(self.core.requests.resolve(request, reply)),
            Op::Undo(wish) => self.start_restore(move |core| async move { undo::undo(&core, wish).await }),
            Op::Timeline => self.tell(timeline::timeline),
            Op::StepDiff { step } => self.tell(move |core| timeline::step_diff(core, step)),
            Op::Resume { session } => self.resume(session),
            Op::Redo => self.start_restore(|core| async move { undo::redo(&core).await }),
            Op::Reviewed { path, hunks } => self.core.feedback().decided(path, hunks),
            Op::Reject { path, hunk } => self.reject(path, hunk),
            Op::BringBack { path } => self.bring_back(path),
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
        let Some(prompt) = self.queue.pop_front() else {
            return;
        };
        let turn = prompt.turn;
        self.core.events.push(Event::TurnStarted {
            turn,
            text: prompt.text.clone(),
        });
        self.core.turn_begins(turn, &prompt.text);
        let cancel = self.root.child_token();
        let (core, token) = (Arc::clone(&self.core), cancel.clone());
        let remembered = self.remembered.take();
        let task = tokio::spawn(async move {
            if let Some(remembered) = remembered {
                tokio::select! {
                    _ = remembered => {}
                    () = token.cancelled() => {}
                }
            }
            let ended = turn::run_turn(&core, prompt, &token).await;
            core.log.turn_finished(turn, ended.reason);
            // Who hears of the end of a turn finds it in the journal.
            core.log.flushed().await;
            Done::Turn(ended)
        });
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
            (Ok(Done::Turn(ended)), Some(turn)) => {
                self.finish_turn(turn, ended);
                self.remember();
            }
            (Ok(Done::Restore(restored)), _) => self.core.events.push(*restored),
            (_, Some(turn)) => {
                turn::mend(&self.core);
                let ended = Ended::fault();
                self.core.log.turn_finished(turn, ended.reason);
                self.finish_turn(turn, ended);
            }
            (_, None) => self.restored_nothing("The undo failed by a fault of its own; see :Dcode log."),
        }
        self.start_next();
    }

    /// Remembers what the files hold that the model knows, beside everything else.
    fn remember(&mut self) {
        let core = Arc::clone(&self.core);
        let scope = self.core.scope(self.root.child_token());
        let work = scope::within(scope, async move { feedback::remember(&core).await });
        self.remembered = Some(self.beside.spawn(work));
    }

    fn finish_turn(&self, turn: TurnId, ended: Ended) {
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
        for prompt in std::mem::take(&mut self.queue) {
            self.core.events.push(Event::TurnStarted {
                turn: prompt.turn,
                text: prompt.text,
            });
            let ended = Ended {
                reason: TurnEnd::Interrupted,
                text: String::new(),
                message: None,
            };
            self.core.log.turn_finished(prompt.turn, ended.reason);
            self.finish_turn(prompt.turn, ended);
        }
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
        let task = tokio::spawn(async move { Done::Restore(Box::new(work.await)) });
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
            conflicts: Vec::new(),
        });
    }

    fn reject(&self, path: PathBuf, hunk: Option<HunkId>) {
        let core = Arc::clone(&self.core);
        let scope = self.core.scope(self.root.child_token());
        self.beside.spawn(scope::within(scope, async move {
            if let Err(message) = reject::reject(&core, &path, hunk).await {
                core.notice(Level::Error, message, None);
            }
        }));
    }

    fn bring_back(&self, path: PathBuf) {
        let core = Arc::clone(&self.core);
        let scope = self.core.scope(self.root.child_token());
        self.beside.spawn(scope::within(scope, async move {
            if let Err(message) = reject::bring_back(&core, &path).await {
                core.notice(Level::Warn, message, None);
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

    fn set_model(&mut self, model: &str) {
        match self.core.set_model(self.blueprint.open_model(Some(model))) {
            Ok(name) => {
                self.model = Some(model.to_owned());
                self.core.log.model_changed(&name);
                self.core.events.push(Event::ModelChanged { model: name });
            }
            Err(error) => self.core.notice(Level::Error, error.message, Some(error.hint)),
        }
    }

    /// Answers with an event that is worked out beside everything else.
    fn tell(&self, work: impl FnOnce(&Core) -> Event + Send + 'static) {
        let core = Arc::clone(&self.core);
        self.beside.spawn(async move {
            let events = Arc::clone(&core.events);
            if let Ok(event) = tokio::task::spawn_blocking(move || work(&core)).await {
                events.push(event);
            }
        });
    }

    /// Says what waits in earlier sessions of this project.
    fn offer(&self) {
        if !self.core.human {
            return;
        }
        let (place, events) = (self.blueprint.place(), Arc::clone(&self.core.events));
        self.beside.spawn(async move {
            if let Ok(Some(offer)) = tokio::task::spawn_blocking(move || reopen::offer(&place)).await {
                events.push(offer);
            }
        });
    }

    /// Goes on with an earlier session in place of this one.
    fn resume(&mut self, session: Option<SessionId>) {
        if self.running.is_some() || !self.calls.values().all(CancellationToken::is_cancelled) {
            let why = "Something runs. Stop it first with :Dcode stop.";
            return self.core.events.push(reopen::refused(why));
        }
        let mode = self.core.gate.mode();
        let resumed = tokio::task::block_in_place(|| {
            reopen::resume(&self.blueprint, session, self.model.as_deref(), &self.root)
        });
        match resumed {
            Ok((core, told)) => {
                let old = std::mem::replace(&mut self.core, core);
                tokio::task::block_in_place(|| old.end(true));
                self.keep_mode(mode);
                self.started();
                self.core.events.push(Event::HunksChanged {
                    paths: told.paths.clone(),
                });
                self.core.events.push(Event::SessionResumed {
                    ok: true,
                    message: told.message,
                    paths: told.paths,
                });
            }
            Err(why) => self.core.events.push(reopen::refused(&why)),
        }
    }

    /// Mode and model are the person's choice and stay; what waits for review is kept in the new journal
    /// before the old one lets it go.
    fn new_session(&mut self) {
        let mode = self.core.gate.mode();
        tokio::task::block_in_place(|| {
            self.blueprint.reload();
            let core = self.blueprint.build(self.model.as_deref(), &self.root, None);
            let old = std::mem::replace(&mut self.core, core);
            old.end(true);
        });
        self.keep_mode(mode);
        self.started();
    }

    fn keep_mode(&self, mode: Mode) {
        if mode != self.core.gate.mode() {
            self.core.gate.set_mode(mode);
            self.core.log.mode_changed(mode.as_str());
        }
    }
}
