//! What runs one at a time: turns, undos and compactions, and what waits behind them.

use std::sync::Arc;

use tokio::task::{JoinError, JoinHandle};
use tokio_util::sync::CancellationToken;

use super::actor::Session;
use crate::agent::compact;
use crate::agent::core::Core;
use crate::agent::feedback;
use crate::agent::turn::{self, Ended, Prompt};
use crate::agent::waiting::{Next, Words};
use crate::host::scope;
use crate::protocol::event::{Event, Level, TurnEnd};
use crate::protocol::ids::TurnId;

/// Said where something has to wait for anything that runs.
pub(super) const BUSY: &str = "Something is running. Stop it first with :Dcode stop.";

/// What can run, one at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    Turn(TurnId),
    /// An undo or redo.
    Restore,
    Compaction,
}

/// What the session does at the moment.
pub(super) struct Running {
    pub(super) work: Work,
    pub(super) cancel: CancellationToken,
    pub(super) task: JoinHandle<Done>,
}

/// What a task has come to; told only when nothing runs any more, so that the answer may be followed by
/// the next wish at once.
pub(super) enum Done {
    Turn(Ended),
    /// An undo, a redo or a compaction, and what is to be told of it.
    Told(Box<Event>),
}

impl Session {
    pub(super) fn start_next(&mut self) {
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

    pub(super) fn begin(&mut self, prompt: Prompt) {
        if self.root.is_cancelled() {
            return;
        }
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
        self.runs(Work::Turn(turn), cancel, task);
    }

    fn runs(&mut self, work: Work, cancel: CancellationToken, task: JoinHandle<Done>) {
        self.running = Some(Running { work, cancel, task });
        self.core.status.running(true);
    }

    pub(super) fn ended(&mut self, ended: Result<Done, JoinError>) {
        let Some(running) = self.running.take() else {
            return;
        };
        self.core.status.running(false);
        match (ended, running.work) {
            (Ok(Done::Turn(ended)), Work::Turn(turn)) => {
                self.finish_turn(turn, ended);
                self.remember();
            }
            (Ok(Done::Told(event)), _) => self.core.events.push(*event),
            (_, Work::Turn(turn)) => {
                turn::mend(&self.core);
                let ended = Ended::fault();
                self.core.log.turn_finished(turn, ended.reason);
                self.finish_turn(turn, ended);
            }
            (_, Work::Restore) => {
                self.restored_nothing("The undo failed by a fault of its own; see :Dcode log.");
            }
            (_, Work::Compaction) => self.core.events.push(compact::fault()),
        }
        self.start_next();
    }

    /// Remembers what the files hold that the model knows, beside everything else.
    pub(super) fn remember(&mut self) {
        let core = Arc::clone(&self.core);
        let scope = self.core.scope(self.root.child_token());
        let work = scope::within(scope, async move { feedback::remember(&core).await });
        self.remembered = Some(self.beside.spawn(work));
    }

    pub(super) fn finish_turn(&self, turn: TurnId, ended: Ended) {
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

    pub(super) fn interrupt(&mut self) {
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
    pub(super) fn never_begins(&self, next: Next) {
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
        self.core.log.turn_finished(prompt.turn, ended.reason);
        self.finish_turn(prompt.turn, ended);
    }

    /// Words that came too late for their turn are one of their own, with those behind them.
    pub(super) fn turn_of(&self, words: Words) -> Prompt {
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

    pub(super) fn compact(&mut self, undo: bool) {
        if self.running.is_some() {
            return self.core.notice(Level::Warn, BUSY, None);
        }
        if undo {
            return compact::take_back(&self.core);
        }
        let cancel = self.root.child_token();
        let (core, token) = (Arc::clone(&self.core), cancel.clone());
        let task = tokio::spawn(async move { Done::Told(Box::new(compact::asked(&core, &token).await)) });
        self.runs(Work::Compaction, cancel, task);
    }

    pub(super) fn start_restore<F>(&mut self, work: impl FnOnce(Arc<Core>) -> F)
    where
        F: Future<Output = Event> + Send + 'static,
    {
        if let Some(running) = &self.running {
            return self.restored_nothing(match running.work {
                Work::Turn(_) => "A turn is running. Stop it first with :Dcode stop.",
                Work::Restore => "An undo is not done yet.",
                Work::Compaction => {
                    "The conversation is being compacted. Wait for it, or stop it with :Dcode stop."
                }
            });
        }
        if self.calls.values().any(|cancel| !cancel.is_cancelled()) {
            return self
                .restored_nothing("A call from Lua is running. Wait for it, or stop it with :Dcode stop.");
        }
        let cancel = self.root.child_token();
        let scope = self.core.scope(cancel.clone());
        let work = scope::within(scope, work(Arc::clone(&self.core)));
        let task = tokio::spawn(async move { Done::Told(Box::new(work.await)) });
        self.runs(Work::Restore, cancel, task);
    }

    pub(super) fn restored_nothing(&self, why: &str) {
        self.core.events.push(Event::Restored {
            ok: false,
            message: why.to_owned(),
            paths: Vec::new(),
            conflicts: Vec::new(),
        });
    }
}
