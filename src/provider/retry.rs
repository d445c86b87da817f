//! When a failed request is sent again, and after how long.
//!
//! Only failures that another try may mend. `client` does it before the first event of a reply came; a
//! reply that broke half-way is the agent's to judge.

use std::time::Duration;

use super::model::ProviderError;

/// How often and how patiently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Tries after the first.
    pub retries: u32,
    /// The wait before the second try; it doubles with each.
    pub base: Duration,
    /// The longest wait of our own choice.
    pub cap: Duration,
    /// The longest wait that a server may ask for; one that asks for more is not waited for.
    pub patience: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            retries: 3,
            base: Duration::from_millis(500),
            cap: Duration::from_secs(30),
            patience: Duration::from_secs(60),
        }
    }
}

/// Whether another try may help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Again {
    Never,
    /// The next request will be another one; it is not counted.
    AtOnce,
    Backoff,
    /// The server said how long to wait.
    After(Duration),
}

/// A failed try.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Failure {
    pub(super) error: ProviderError,
    pub(super) again: Again,
}

impl RetryPolicy {
    /// The wait after try number `tries` (from 1); None: give up. `dice` in 0..1 spreads the waits
    /// of clients that failed together.
    fn wait(&self, tries: u32, again: Again, dice: f64) -> Option<Duration> {
        if tries > self.retries {
            return None;
        }
        match again {
            Again::Never | Again::AtOnce => None,
            Again::Backoff => {
                let doubled = self
                    .base
                    .saturating_mul(2_u32.saturating_pow(tries.saturating_sub(1)));
                Some(doubled.min(self.cap).mul_f64(1.0 + dice / 2.0))
            }
            Again::After(asked) if asked <= self.patience => Some(asked.mul_f64(1.0 + dice / 10.0)),
            Again::After(_) => None,
        }
    }

    /// The wait after try number `tries` (from 1), spread by chance; None: give up.
    pub(super) fn after(&self, tries: u32, again: Again) -> Option<Duration> {
        self.wait(tries, again, fastrand::f64())
    }

    /// The wait before asking again for a reply that broke half-way, after `tries` tries (from 1);
    /// None: give up. For the agent, which alone can judge what was said already.
    pub fn backoff(&self, tries: u32) -> Option<Duration> {
        self.after(tries, Again::Backoff)
    }
}

/// What a server asks to wait: `retry-after-ms`, or `Retry-After` in seconds or as a date.
pub(super) fn retry_after(headers: &reqwest::header::HeaderMap) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    let seconds = |text: &str| {
        text.parse::<f64>()
            .ok()
            .and_then(|n| Duration::try_from_secs_f64(n).ok())
    };
    if let Some(millis) = text("retry-after-ms").and_then(seconds) {
        return Some(millis / 1000);
    }
    let asked = text("retry-after")?;
    seconds(asked).or_else(|| {
        let until = httpdate::parse_http_date(asked).ok()?;
        Some(
            until
                .duration_since(std::time::SystemTime::now())
                .unwrap_or_default(),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_the_cap_and_obey_the_server_up_to_a_point() {
        let policy = RetryPolicy {
            retries: 3,
            base: Duration::from_secs(1),
            cap: Duration::from_secs(3),
            patience: Duration::from_secs(60),
        };
        let s = |n: f64| Some(Duration::from_secs_f64(n));
        let asks = |n| Again::After(Duration::from_secs(n));
        for (tries, again, dice, expected) in [
            (1, Again::Backoff, 0.0, s(1.0)),
            (2, Again::Backoff, 0.0, s(2.0)),
            (3, Again::Backoff, 0.0, s(3.0)),
            (1, Again::Backoff, 1.0, s(1.5)),
            (4, Again::Backoff, 0.0, None),
            (1, Again::Never, 0.0, None),
            (1, asks(0), 1.0, s(0.0)),
            (1, asks(7), 0.0, s(7.0)),
            (1, asks(60), 1.0, s(66.0)),
            (1, asks(61), 0.0, None),
            (4, asks(1), 0.0, None),
        ] {
            assert_eq!(
                policy.wait(tries, again, dice),
                expected,
                "{tries} {again:?} {dice}"
            );
        }
    }

    #[test]
    fn retry_after_is_read_in_its_three_spellings() {
        let read = |name: &'static str, value: &str| {
            let mut headers = reqwest::header::HeaderMap::new();
            headers.insert(name, value.parse().unwrap());
            retry_after(&headers)
        };
        assert_eq!(read("retry-after", "2"), Some(Duration::from_secs(2)));
        assert_eq!(read("retry-after", "0.5"), Some(Duration::from_millis(500)));
        assert_eq!(read("retry-after-ms", "250"), Some(Duration::from_millis(250)));
        assert_eq!(
            read("retry-after", "Wed, 21 Oct 2015 07:28:00 GMT"),
            Some(Duration::ZERO)
        );
        let soon = std::time::SystemTime::now() + Duration::from_secs(30);
        let wait = read("retry-after", &httpdate::fmt_http_date(soon)).unwrap();
        // The date has whole seconds.
        assert!(
            wait > Duration::from_secs(27) && wait <= Duration::from_secs(30),
            "{wait:?}"
        );
        assert_eq!(read("retry-after", "-3"), None);
        assert_eq!(read("retry-after", "soon"), None);
    }
}
