//! The models that judge calls: how they are opened, and whom they report to.

use std::sync::{Arc, Mutex, PoisonError};

use crate::agent::ledger::Ledger;
use crate::agent::setup::Blueprint;
use crate::judges::bench::{Bench, Main};
use crate::protocol::event::Event;
use crate::provider::{self, ProviderSettings};

impl Blueprint {
    /// What the judging models are opened with, and whom they report to.
    pub(super) fn bench(&self, main: &Main, ledger: &Arc<Mutex<Ledger>>) -> Bench {
        let settings = self.provider_settings();
        let (events, counted) = (Arc::clone(&self.events), Arc::clone(&self.events));
        let (ledger, status) = (Arc::clone(ledger), Arc::clone(&self.status));
        Bench {
            open: Arc::new(move |name| {
                let settings = ProviderSettings {
                    model: Some(name.to_owned()),
                    // A script takes the place of the conversation's model, not of those that judge it.
                    script: None,
                    ..settings.clone()
                };
                provider::open(&settings, &|name| {
                    std::env::var(name).ok().filter(|_| name != "DCODE_SCRIPT")
                })
            }),
            main: Arc::clone(main),
            tell: Arc::new(move |event| events.push(event)),
            spent: Arc::new(move |model, count| {
                let mut ledger = ledger.lock().unwrap_or_else(PoisonError::into_inner);
                let usage = ledger.counted_beside(model.name(), count, model.prices());
                drop(ledger);
                status.usage(usage);
                counted.push(Event::Usage(usage));
            }),
            opened: Mutex::default(),
        }
    }
}
