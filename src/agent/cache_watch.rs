//! Finds out why a request was not found in the provider's cache.

use std::time::{Duration, Instant};

use serde::Serialize;

use crate::agent::prefix::Prints;
use crate::provider::TokenCount;

/// Shorter beginnings are not kept by any provider.
const SHORTEST: u64 = 1024;
/// Providers promise to keep a beginning for about this long.
const KEPT: Duration = Duration::from_secs(5 * 60);

/// What decides whether a request begins as the one before did.
#[derive(Clone, Debug)]
pub struct Shape {
    /// `provider:model`.
    pub model: String,
    /// System prompt and tools.
    pub prints: Prints,
    /// How often the history was rewritten, and why the last time.
    pub epoch: (u64, &'static str),
}

/// A request of which more than a little had to be read anew.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Miss {
    /// The number of the request in its session, from 1.
    pub request: u64,
    /// Tokens that stood in the request before and were charged in full again.
    pub tokens: u64,
    /// Why, as a clause.
    pub cause: String,
}

/// Compares each request with the one before.
#[derive(Debug, Default)]
pub struct CacheWatch {
    requests: u64,
    before: Option<(Shape, Instant)>,
    /// Tokens of the request before.
    length: u64,
    now: Option<(Shape, Instant)>,
    hit: bool,
    told_of_no_cache: bool,
}

impl CacheWatch {
    /// A request goes out.
    pub fn sent(&mut self, shape: Shape) {
        self.sent_at(shape, Instant::now());
    }

    fn sent_at(&mut self, shape: Shape, at: Instant) {
        self.requests += 1;
        self.now = Some((shape, at));
    }

    /// Its tokens were counted.
    pub fn counted(&mut self, count: TokenCount) -> Option<Miss> {
        let now = self.now.take()?;
        let before = self.before.replace(now.clone());
        let expected = std::mem::replace(&mut self.length, count.input).min(count.input);
        self.hit |= count.cached > 0;
        let missed = expected.saturating_sub(count.cached);
        if expected < SHORTEST || missed <= SHORTEST.max(expected / 8) {
            return None;
        }
        let cause = self.cause(&before?, &now)?;
        Some(Miss {
            request: self.requests,
            tokens: missed,
            cause,
        })
    }

    fn cause(&mut self, before: &(Shape, Instant), now: &(Shape, Instant)) -> Option<String> {
        let ((before, sent), (now, at)) = (before, now);
        if before.model != now.model {
            return Some(format!("another model: {} before", before.model));
        }
        if let Some(change) = now.prints.change_since(&before.prints) {
            return Some(change);
        }
        if before.epoch.0 != now.epoch.0 {
            return Some(now.epoch.1.to_owned());
        }
        if !self.hit {
            // Said once: a server without a cache misses every time.
            let first = !std::mem::replace(&mut self.told_of_no_cache, true);
            return first.then(|| "the provider has reported no cached tokens so far".to_owned());
        }
        let idle = at.saturating_duration_since(*sent);
        if idle > KEPT {
            let minutes = idle.as_secs() / 60;
            return Some(format!(
                "{minutes} min since the request before: the provider forgot it"
            ));
        }
        Some("the same bytes were sent, and the provider did not find them".into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::prefix::Prefix;

    fn shape(model: &str, system: &str, epoch: u64) -> Shape {
        Shape {
            model: model.into(),
            prints: Prefix::new(system.into(), vec![]).prints().clone(),
            epoch: (epoch, "the conversation was compacted"),
        }
    }

    fn count(input: u64, cached: u64) -> TokenCount {
        TokenCount {
            input,
            cached,
            ..TokenCount::default()
        }
    }

    /// Requests as (shape, minutes since the start, input, cached), and the causes.
    fn causes(requests: &[(Shape, u64, u64, u64)]) -> Vec<Option<String>> {
        let (mut watch, start) = (CacheWatch::default(), Instant::now());
        let one = |(shape, minute, input, cached): &(Shape, u64, u64, u64)| {
            watch.sent_at(shape.clone(), start + Duration::from_secs(minute * 60));
            watch.counted(count(*input, *cached)).map(|miss| miss.cause)
        };
        requests.iter().map(one).collect()
    }

    #[test]
    fn each_miss_has_its_cause() {
        let usual = || shape("a:x", "s", 0);
        let found = causes(&[
            (usual(), 0, 5_000, 0),
            (usual(), 1, 6_000, 4_992),
            (shape("a:y", "s", 0), 1, 7_000, 0),
            (shape("a:y", "t", 0), 1, 8_000, 0),
            (shape("a:y", "t", 1), 1, 9_000, 3_000),
            (shape("a:y", "t", 1), 9, 10_000, 0),
            (shape("a:y", "t", 1), 9, 11_000, 0),
            // Compaction made it short: only what is left can be missed.
            (shape("a:y", "t", 2), 9, 1_000, 0),
        ]);
        let some = |cause: &str| Some(cause.to_owned());
        assert_eq!(
            found,
            [
                None,
                None,
                some("another model: a:x before"),
                some("the system prompt changed"),
                some("the conversation was compacted"),
                some("8 min since the request before: the provider forgot it"),
                some("the same bytes were sent, and the provider did not find them"),
                None,
            ]
        );
    }

    #[test]
    fn a_server_without_a_cache_is_told_of_once() {
        let usual = || shape("a:x", "s", 0);
        let found = causes(&[
            (usual(), 0, 5_000, 0),
            (usual(), 0, 6_000, 0),
            (usual(), 0, 7_000, 0),
        ]);
        assert_eq!(found.iter().flatten().count(), 1);
    }
}
