//! Another session in the place of this one: a new one, or an earlier one.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::actor::Session;
use super::turns::BUSY;
use crate::agent::compact;
use crate::agent::reopen;
use crate::config::mode::Mode;
use crate::protocol::event::Event;
use crate::protocol::ids::SessionId;

impl Session {
    /// Says what waits in earlier sessions of this project.
    pub(super) fn offer(&self) {
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
    pub(super) fn resume(&mut self, session: Option<SessionId>) {
        if self.running.is_some() || !self.calls.values().all(CancellationToken::is_cancelled) {
            return self.core.events.push(reopen::refused(BUSY));
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
                compact::tell_length(&self.core);
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
    pub(super) fn new_session(&mut self) {
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

    pub(super) fn keep_mode(&self, mode: Mode) {
        if mode != self.core.gate.mode() {
            self.core.gate.set_mode(mode);
            self.core.log.mode_changed(mode.as_str());
        }
    }
}
