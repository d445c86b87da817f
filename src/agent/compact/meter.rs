//! How long a conversation is. The provider's count where there is one, else an estimate that learns from
//! the last count.

use crate::agent::prefix::Prefix;
use crate::protocol::message::{Block, Message};
use crate::provider::TokenCount;

/// Taken for the window of a model that does not say.
const UNKNOWN_WINDOW: u64 = 160_000;
/// Bytes of a token before the first count.
const BYTES: f64 = 3.5;
/// What an image costs, about.
const IMAGE: u64 = 1_200;
/// What a message costs beside its words.
const FRAME: u64 = 8;

/// The length of a session's conversation.
#[derive(Debug)]
pub struct Meter {
    bytes_a_token: f64,
    counted: Option<Counted>,
    /// The length after the last compaction: it must have grown before another one is worth it.
    floor: u64,
}

/// What the provider counted last.
#[derive(Clone, Copy, Debug)]
struct Counted {
    tokens: u64,
    /// The first so many messages, the reply included.
    messages: usize,
    rewrites: u64,
}

impl Default for Meter {
    fn default() -> Self {
        Self {
            bytes_a_token: BYTES,
            counted: None,
            floor: 0,
        }
    }
}

impl Meter {
    /// The provider counted a request of all of `messages` and its reply.
    pub fn counted(&mut self, prefix: &Prefix, messages: &[Message], rewrites: u64, count: TokenCount) {
        let bytes: u64 = messages.iter().map(bytes_of).sum::<u64>() + prefix_bytes(prefix);
        if count.input > 100 {
            #[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
            let ratio = bytes as f64 / count.input as f64;
            self.bytes_a_token = ratio.clamp(1.5, 8.0);
        }
        self.counted = Some(Counted {
            tokens: count.input + count.output,
            messages: messages.len() + 1,
            rewrites,
        });
    }

    /// How many tokens the next request will have, about.
    pub fn length(&self, prefix: &Prefix, messages: &[Message], rewrites: u64) -> u64 {
        let known = self
            .counted
            .filter(|counted| counted.rewrites == rewrites && counted.messages <= messages.len());
        match known {
            Some(counted) => {
                let since = messages.get(counted.messages..).unwrap_or_default();
                counted.tokens + self.estimate(since)
            }
            None => self.tokens(prefix_bytes(prefix)) + self.estimate(messages),
        }
    }

    /// The tokens of some messages, about.
    pub fn estimate(&self, messages: &[Message]) -> u64 {
        let bytes = messages.iter().map(bytes_of).sum();
        let images: usize = messages.iter().map(images_in).sum();
        let beside = FRAME * messages.len() as u64 + IMAGE * images as u64;
        self.tokens(bytes) + beside
    }

    fn tokens(&self, bytes: u64) -> u64 {
        #[expect(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "an estimate of a positive number far below 2^52"
        )]
        let tokens = (bytes as f64 / self.bytes_a_token) as u64;
        tokens
    }

    /// Whether a conversation of `length` tokens is to be compacted now.
    pub fn is_due(&self, length: u64, limit: u64) -> bool {
        length > limit.max(self.floor + self.floor / 4)
    }

    /// It was compacted and has this length now.
    pub fn compacted(&mut self, length: u64) {
        self.counted = None;
        self.floor = length;
    }
}

/// The length at which a conversation is compacted: `percent` of the window.
pub fn limit(window: u64, percent: u64) -> u64 {
    let window = if window == 0 { UNKNOWN_WINDOW } else { window };
    window / 100 * percent.min(100)
}

fn prefix_bytes(prefix: &Prefix) -> u64 {
    let tools = prefix.tools().iter().map(|tool| {
        let schema = tool.schema.to_string().len();
        tool.name.len() + tool.description.len() + schema
    });
    (prefix.system().len() + tools.sum::<usize>()) as u64
}

/// The bytes of the words of a message, without media.
fn bytes_of(message: &Message) -> u64 {
    let bytes = message.blocks.iter().map(|block| match block {
        Block::Text { text } | Block::Reasoning { text } => text.len(),
        Block::ToolCall(call) => call.name.len() + call.arguments.len(),
        Block::ToolResult(result) => result.text.len(),
        _ => 0,
    });
    bytes.sum::<usize>() as u64
}

fn images_in(message: &Message) -> usize {
    let images = message.blocks.iter().map(|block| match block {
        Block::Media { .. } => 1,
        Block::ToolResult(result) => result.media.len(),
        _ => 0,
    });
    images.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prefix() -> Prefix {
        Prefix::new("s".repeat(350), vec![])
    }

    fn count(input: u64, output: u64) -> TokenCount {
        TokenCount {
            input,
            output,
            ..TokenCount::default()
        }
    }

    #[test]
    fn an_estimate_until_the_provider_counts_and_then_only_for_what_came_since() {
        let (mut meter, prefix) = (Meter::default(), prefix());
        let mut messages = vec![Message::user("x".repeat(700))];
        assert_eq!(meter.length(&prefix, &messages, 0), 100 + 200 + FRAME);
        // Two bytes a token, as it turns out.
        meter.counted(&prefix, &messages, 0, count(525, 75));
        messages.push(Message::user("the reply, counted as output"));
        assert_eq!(meter.length(&prefix, &messages, 0), 600);
        messages.push(Message::user("y".repeat(100)));
        assert_eq!(meter.length(&prefix, &messages, 0), 600 + 50 + FRAME);
        assert_eq!(
            meter.length(&prefix, &messages[2..], 1),
            175 + 50 + FRAME,
            "after a rewriting the count says nothing"
        );
    }

    #[test]
    fn what_could_not_be_made_shorter_is_not_tried_again_at_once() {
        let mut meter = Meter::default();
        assert!(!meter.is_due(100, 100) && meter.is_due(101, 100));
        meter.compacted(120);
        assert!(!meter.is_due(150, 100) && meter.is_due(151, 100));
        assert_eq!((limit(1_000_000, 80), limit(0, 50)), (800_000, 80_000));
    }
}
