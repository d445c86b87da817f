//! What the models of a session used, what it cost, and which requests found nothing in the cache.

use std::time::SystemTime;

use serde::Serialize;

use crate::agent::cache_watch::{CacheWatch, Miss, Shape};
use crate::protocol::event::Usage;
use crate::provider::{Prices, TokenCount};

/// One model's part.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Row {
    /// `provider:model`.
    pub model: String,
    /// Requests that were answered and counted.
    pub requests: u64,
    /// Tokens of requests.
    pub input: u64,
    /// Of these, found in the cache.
    pub cached: u64,
    /// Tokens of replies.
    pub output: u64,
    /// Of these, reasoning, where the provider says so.
    pub reasoning: u64,
    /// US dollars of the requests whose price is known.
    pub cost: f64,
    /// Requests whose price is not known.
    pub unpriced: u64,
}

impl Row {
    fn add(&mut self, count: TokenCount, cost: Option<f64>) {
        self.requests += 1;
        self.input += count.input;
        self.cached += count.cached;
        self.output += count.output;
        self.reasoning += count.reasoning;
        match cost {
            Some(cost) => self.cost += cost,
            None => self.unpriced += 1,
        }
    }
}

/// How many misses are kept, the latest.
const MISSES: usize = 100;

/// The books of one session.
#[derive(Debug, Default)]
pub struct Ledger {
    rows: Vec<Row>,
    watch: CacheWatch,
    misses: Vec<Miss>,
    last: TokenCount,
    window: u64,
}

impl Ledger {
    /// A request of this shape goes out.
    pub fn sent(&mut self, shape: Shape) {
        self.watch.sent(shape);
    }

    /// The provider counted the tokens of the request that was sent last.
    pub fn counted(&mut self, model: &str, count: TokenCount, prices: Option<Prices>, window: u64) -> Usage {
        self.add(model, count, prices);
        self.misses.extend(self.watch.counted(count));
        let surplus = self.misses.len().saturating_sub(MISSES);
        self.misses.drain(..surplus);
        (self.last, self.window) = (count, window);
        self.usage()
    }

    /// The same for a request beside the conversation: it says nothing of its length or its cache.
    pub fn counted_beside(&mut self, model: &str, count: TokenCount, prices: Option<Prices>) -> Usage {
        self.add(model, count, prices);
        self.usage()
    }

    fn add(&mut self, model: &str, count: TokenCount, prices: Option<Prices>) {
        let cost = prices.map(|prices| prices.cost(count, SystemTime::now()));
        let at = self.rows.iter().position(|row| row.model == model);
        let at = at.unwrap_or_else(|| {
            self.rows.push(Row {
                model: model.to_owned(),
                ..Row::default()
            });
            self.rows.len() - 1
        });
        if let Some(row) = self.rows.get_mut(at) {
            row.add(count, cost);
        }
    }

    /// The context was rewritten and has this size now; what was counted before says nothing any more.
    pub fn resized(&mut self, tokens: u64, window: u64) -> Usage {
        self.window = window;
        self.last = TokenCount {
            input: tokens,
            ..TokenCount::default()
        };
        self.usage()
    }

    /// One row a model, in the order of their first use.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The latest requests that had to be read anew, oldest first.
    pub fn misses(&self) -> &[Miss] {
        &self.misses
    }

    /// All models together.
    pub fn total(&self) -> Row {
        let mut total = Row::default();
        for row in &self.rows {
            total.requests += row.requests;
            total.input += row.input;
            total.cached += row.cached;
            total.output += row.output;
            total.reasoning += row.reasoning;
            total.cost += row.cost;
            total.unpriced += row.unpriced;
        }
        total
    }

    /// What the front end shows all the time.
    pub fn usage(&self) -> Usage {
        let total = self.total();
        Usage {
            input_tokens: total.input,
            cached_tokens: total.cached,
            output_tokens: total.output,
            reasoning_tokens: self.last.reasoning,
            context_tokens: self.last.input + self.last.output,
            context_window: self.window,
            requests: total.requests,
            cost: total.cost,
            unpriced_requests: total.unpriced,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(input: u64, cached: u64, output: u64) -> TokenCount {
        TokenCount {
            input,
            cached,
            output,
            reasoning: 2,
            ..TokenCount::default()
        }
    }

    fn dollar_a_token() -> Option<Prices> {
        serde_json::from_value(serde_json::json!({"input": 1e6, "cached": 0.0, "output": 1e6})).ok()
    }

    #[test]
    fn each_model_has_its_row_and_unknown_prices_are_counted_not_guessed() {
        let mut ledger = Ledger::default();
        ledger.counted("a:x", count(10, 4, 1), dollar_a_token(), 100);
        ledger.counted("b:y", count(5, 0, 3), None, 0);
        let usage = ledger.counted("a:x", count(20, 10, 2), dollar_a_token(), 100);
        let rows: Vec<_> = ledger
            .rows()
            .iter()
            .map(|row| (row.model.as_str(), row.requests, row.cost, row.unpriced))
            .collect();
        assert_eq!(rows, [("a:x", 2, 7.0 + 12.0, 0), ("b:y", 1, 0.0, 1)]);
        let expected = Usage {
            input_tokens: 35,
            cached_tokens: 14,
            output_tokens: 6,
            reasoning_tokens: 2,
            context_tokens: 22,
            context_window: 100,
            requests: 3,
            cost: 19.0,
            unpriced_requests: 1,
        };
        assert_eq!(usage, expected);
    }
}
