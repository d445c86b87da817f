//! The actor: takes ops in order and never waits for work to end.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::turns::Running;
use crate::agent::call::{self, LuaCall};
use crate::agent::core::Core;
use crate::agent::git;
use crate::agent::report;
use crate::agent::setup::Blueprint;
use crate::agent::timeline;
use crate::agent::turn::Prompt;
use crate::agent::undo;
use crate::agent::waiting::Words;
use crate::config::mode::Mode;
use crate::protocol::event::{Event, Level};
use crate::protocol::ids::TicketId;
use crate::protocol::op::{Op, Report};

/// A session at work.
pub struct Session {
    pub(super) blueprint: Blueprint,
    pub(super) core: Arc<Core>,
    pub(super) root: CancellationToken,
    pub(super) running: Option<Running>,
    pub(super) calls: HashMap<TicketId, CancellationToken>,
    /// What runs beside the turn; each ends with its token, and we end after it.
    pub(super) beside: TaskTracker,
    /// Looks at the files that the model knows; the next turn waits for it.
    pub(super) remembered: Option<JoinHandle<()>>,
    /// A new session is wanted as soon as nothing runs.
    pub(super) renew: bool,
    /// The model that the person chose for this and later sessions.
    pub(super) model: Option<String>,
}

impl Session {
    /// A session that has not taken an op yet. Everything it starts is cancelled with `root`.
    pub fn new(blueprint: Blueprint, root: CancellationToken) -> Self {
        let core = blueprint.build(None, &root, None);
        Self {
            blueprint,
            core,
            root,
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
        self.core.enclosure.close();
        self.core.events.push(Event::Stopped {
            reason: "shutdown".into(),
        });
    }

    pub(super) fn started(&self) {
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
            Op::Permissions { ticket, revoke } => self.permissions(ticket, revoke.as_ref()),
            Op::LookAtGit { ticket } => {
                let (core, stop) = (Arc::clone(&self.core), self.root.child_token());
                self.beside.spawn(git::look(core, ticket, stop));
            }
            Op::Blame { ticket, path, text } => {
                let (core, stop) = (Arc::clone(&self.core), self.root.child_token());
                self.beside.spawn(git::blame_file(core, ticket, path, text, stop));
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
}
