//! What runs beside a turn: calls of programs, decisions on hunks, answers to questions.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::json;

use super::actor::Session;
use crate::agent::call::{self, LuaCall};
use crate::agent::core::Core;
use crate::agent::reject;
use crate::host::scope;
use crate::protocol::event::{Event, Level};
use crate::protocol::grant::Grant;
use crate::protocol::ids::{HunkId, TicketId};

impl Session {
    pub(super) fn start_call(&mut self, made: LuaCall) {
        let cancel = self.root.child_token();
        self.calls.retain(|_, cancel| !cancel.is_cancelled());
        self.calls.insert(made.ticket, cancel.clone());
        let core = Arc::clone(&self.core);
        self.beside.spawn(async move {
            let ticket = made.ticket;
            let work = tokio::spawn(call::run(Arc::clone(&core), made, cancel.clone()));
            let answer = work.await.unwrap_or_else(|_| call::fault(ticket));
            // Over before it is told: who hears of it may take it back at once.
            cancel.cancel();
            core.events.push(answer);
        });
    }

    pub(super) fn reject(&self, path: PathBuf, hunk: Option<HunkId>) {
        let core = Arc::clone(&self.core);
        let scope = self.core.scope(self.root.child_token());
        self.beside.spawn(scope::within(scope, async move {
            if let Err(message) = reject::reject(&core, &path, hunk).await {
                core.notice(Level::Error, message, None);
            }
        }));
    }

    pub(super) fn bring_back(&self, path: PathBuf) {
        let core = Arc::clone(&self.core);
        let scope = self.core.scope(self.root.child_token());
        self.beside.spawn(scope::within(scope, async move {
            if let Err(message) = reject::bring_back(&core, &path).await {
                core.notice(Level::Warn, message, None);
            }
        }));
    }

    pub(super) fn permissions(&mut self, ticket: TicketId, revoke: Option<&Grant>) {
        let gate = Arc::clone(&self.core.gate);
        let problem = tokio::task::block_in_place(|| {
            let problem = revoke.and_then(|grant| gate.revoke(grant).err());
            // The file may have been changed by hand, or by another Neovim.
            self.blueprint.reload();
            gate.reload(self.blueprint.config());
            problem
        });
        self.core.events.push(Event::Permissions {
            ticket,
            grants: gate.grants(),
            problem,
        });
    }

    /// Answers with [`Event::Reported`]: `{models: [ModelRow], model}`.
    pub(super) fn list_models(&self, ticket: TicketId) {
        let (core, models) = (Arc::clone(&self.core), self.blueprint.models());
        self.beside.spawn(async move {
            let models = models.await;
            let model = core.provider().ok().map(|provider| provider.name().to_owned());
            let report = json!({ "models": models, "model": model });
            core.events.push(Event::Reported { ticket, report });
        });
    }

    /// Answers with an event that is worked out beside everything else.
    pub(super) fn tell(&self, work: impl FnOnce(&Core) -> Event + Send + 'static) {
        let core = Arc::clone(&self.core);
        self.beside.spawn(async move {
            let events = Arc::clone(&core.events);
            if let Ok(event) = tokio::task::spawn_blocking(move || work(&core)).await {
                events.push(event);
            }
        });
    }
}
