//! The models that judge calls: how they are opened, and whom they report to.

use std::sync::{Arc, Mutex, PoisonError};

use crate::agent::setup::Blueprint;
use crate::judges::bench::{Bench, Main};
use crate::protocol::event::{Event, Usage};
use crate::provider::{self, ProviderSettings};

impl Blueprint {
    /// What the judging models are opened with, and whom they report to.
    pub(super) fn bench(&self, main: &Main, usage: &Arc<Mutex<Usage>>) -> Bench {
        let settings = self.provider_settings();
        let (events, counted) = (Arc::clone(&self.events), Arc::clone(&self.events));
        let (usage, status) = (Arc::clone(usage), Arc::clone(&self.status));
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
            spent: Arc::new(move |count| {
                let mut usage = usage.lock().unwrap_or_else(PoisonError::into_inner);
                usage.input_tokens += count.input;
                usage.cached_tokens += count.cached;
                usage.output_tokens += count.output;
                usage.requests += 1;
                status.usage(*usage);
                counted.push(Event::Usage(*usage));
            }),
            opened: Mutex::default(),
        }
    }
}
