//! What the person said: the only evidence of consent.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

/// How many prompts are kept.
const MOST: usize = 20;
/// The longest prompt that is kept whole, in characters.
const LONGEST: usize = 4_000;

/// The person's last prompts, word for word and without what the editor adds to them.
#[derive(Debug, Default)]
pub struct Heard(Mutex<VecDeque<String>>);

impl Heard {
    /// Keeps a prompt.
    pub fn hear(&self, prompt: &str) {
        let mut text: String = prompt.chars().take(LONGEST).collect();
        if prompt.chars().nth(LONGEST).is_some() {
            text.push('…');
        }
        let mut prompts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if prompts.len() == MOST {
            prompts.pop_front();
        }
        prompts.push_back(text);
    }

    /// The prompts, the oldest first; of them the last ones that fit into `room` bytes, and the last in any
    /// case.
    pub fn last(&self, room: usize) -> Vec<String> {
        let prompts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut left = room;
        let mut last: Vec<String> = Vec::new();
        for prompt in prompts.iter().rev() {
            if !last.is_empty() && prompt.len() > left {
                break;
            }
            left = left.saturating_sub(prompt.len());
            last.push(prompt.clone());
        }
        last.reverse();
        last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_prompts_are_kept_and_a_long_one_is_cut() {
        let heard = Heard::default();
        assert_eq!(heard.last(100), Vec::<String>::new());
        (0..25).for_each(|n| heard.hear(&format!("prompt {n}")));
        let all = heard.last(usize::MAX);
        assert_eq!(
            (all.len(), all[0].as_str(), all[19].as_str()),
            (20, "prompt 5", "prompt 24")
        );
        assert_eq!(heard.last(18), ["prompt 23", "prompt 24"]);
        assert_eq!(heard.last(0), ["prompt 24"]);
        heard.hear(&"é".repeat(5_000));
        assert_eq!(heard.last(0)[0].chars().count(), 4_001);
    }
}
