//! What tokens cost. Prices are data (`providers.toml`, `providers.NAME.models` of the configuration); where
//! there are none nothing is guessed.

use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::model::TokenCount;

/// US dollars for a million tokens of each sort.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prices {
    /// Of a request.
    pub input: f64,
    /// Of a request, found in the cache. Not given: as `input`.
    #[serde(default)]
    pub cached: Option<f64>,
    /// Of a request, written to the cache. Not given: as `input`.
    #[serde(default)]
    pub written: Option<f64>,
    /// Of a reply.
    pub output: f64,
    /// Requests of more tokens than this cost more.
    #[serde(default)]
    pub long: Option<Long>,
    /// On weekdays from 1 to 4 and from 6 to 10 o'clock UTC everything costs so many times as much.
    #[serde(default)]
    pub peak: Option<f64>,
}

/// What a long request costs, all of it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Long {
    /// From how many tokens on.
    pub above: u64,
    /// So many times as much for the request,
    pub input: f64,
    /// and so many times as much for the reply.
    pub output: f64,
}

impl Prices {
    /// What one request cost, in US dollars, when it was made at `at`. Right up to taxes, discounts and
    /// holidays.
    pub fn cost(&self, count: TokenCount, at: SystemTime) -> f64 {
        let long = self.long.filter(|long| count.input > long.above);
        let (input, output) = long.map_or((1.0, 1.0), |long| (long.input, long.output));
        let times = self.peak.filter(|_| is_peak(at)).unwrap_or(1.0);
        let fresh = count
            .input
            .saturating_sub(count.cached)
            .saturating_sub(count.written);
        let request = million(fresh) * self.input
            + million(count.cached) * self.cached.unwrap_or(self.input)
            + million(count.written) * self.written.unwrap_or(self.input);
        (request * input + million(count.output) * self.output * output) * times
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a request of 2^53 tokens is not to be paid for"
)]
fn million(tokens: u64) -> f64 {
    tokens as f64 / 1_000_000.0
}

fn is_peak(at: SystemTime) -> bool {
    let seconds = at.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    // The first of January 1970 was a Thursday; 0 is Monday.
    let weekday = (seconds / 86_400 + 3) % 7;
    let hour = seconds / 3_600 % 24;
    weekday < 5 && matches!(hour, 1..=3 | 6..=9)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// Seconds since 1970 of Monday, 2 November 2026, at this hour.
    fn monday(hour: u64) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(1_793_577_600 + hour * 3_600)
    }

    fn count(input: u64, cached: u64, written: u64, output: u64) -> TokenCount {
        TokenCount {
            input,
            cached,
            written,
            output,
            reasoning: 0,
        }
    }

    fn close(left: f64, right: f64) {
        assert!((left - right).abs() < 1e-9, "{left} is not {right}");
    }

    #[test]
    fn each_sort_of_token_has_its_price() {
        let prices = Prices {
            input: 4.0,
            cached: Some(0.2),
            written: Some(5.0),
            output: 20.0,
            long: None,
            peak: None,
        };
        let m = 1_000_000;
        close(prices.cost(count(m, 0, 0, 0), monday(2)), 4.0);
        close(
            prices.cost(count(10 * m, 5 * m, 2 * m, m), monday(2)),
            12.0 + 1.0 + 10.0 + 20.0,
        );
    }

    #[test]
    fn long_requests_and_busy_hours_cost_more() {
        let long = Long {
            above: 100,
            input: 5.0,
            output: 2.0,
        };
        let prices = Prices {
            input: 1_000_000.0,
            cached: None,
            written: None,
            output: 1_000_000.0,
            long: Some(long),
            peak: Some(2.0),
        };
        close(prices.cost(count(100, 0, 0, 10), monday(0)), 110.0);
        close(prices.cost(count(101, 50, 0, 10), monday(0)), 525.0);
        close(prices.cost(count(100, 0, 0, 10), monday(9)), 220.0);
        let sunday = monday(9) - Duration::from_secs(86_400);
        close(prices.cost(count(100, 0, 0, 10), sunday), 110.0);
    }
}
