//! Which messages go into a summary, and the history with it.

use crate::agent::compact::meter::Meter;
use crate::protocol::message::{Block, Message, Role};

/// Stands before a summary.
const HEAD: &str = "[The conversation up to here was compacted. What happened, in short:]";

/// Stands before words of the person that were not folded.
const WORDS: &str = "[The person's last words, which you are working on:]";

/// How many messages, from the first on, go into the summary. What stays is at most `room` tokens, but for
/// the last step, and begins with neither a result nor half a step.
pub fn cut(messages: &[Message], room: u64, meter: &Meter) -> usize {
    let mut kept = 0;
    let mut at = messages.len();
    let mut best = None;
    while at > 0 {
        at -= 1;
        kept += meter.estimate(messages.get(at..=at).unwrap_or_default());
        if kept > room && best.is_some() {
            break;
        }
        // Before anything but a result the pairs are whole.
        if messages.get(at).is_some_and(|message| message.role != Role::Tool) {
            best = Some(at);
        }
    }
    best.unwrap_or(0)
}

/// The history after the fold: one message of the person with the summary, and what stays.
///
/// The last words of the person are in it whole when they would be folded: the work at hand is theirs.
pub fn folded(messages: &[Message], cut: usize, summary: &str) -> Vec<Message> {
    let (old, kept) = messages.split_at(cut.min(messages.len()));
    let mut blocks = vec![Block::Text {
        text: format!("{HEAD}\n\n<summary>\n{}\n</summary>", summary.trim()),
    }];
    let mut kept = kept.to_vec();
    if kept.first().is_some_and(|first| first.role == Role::User) {
        // Two messages of the person in a row are refused by some servers.
        blocks.extend(kept.remove(0).blocks);
    } else if let Some(last) = old.iter().rev().find(|message| message.role == Role::User) {
        let own = last.blocks.iter().filter(|block| match block {
            Block::Text { text } => !text.starts_with(HEAD) && text != WORDS,
            _ => true,
        });
        blocks.push(Block::Text { text: WORDS.into() });
        blocks.extend(own.cloned());
    }
    let first = Message {
        role: Role::User,
        blocks,
    };
    std::iter::once(first).chain(kept).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::ids::CallId;
    use crate::protocol::message::{ToolCall, ToolResult};
    use proptest::prelude::*;

    fn says(role: Role, text: &str) -> Message {
        Message {
            role,
            blocks: vec![Block::Text { text: text.into() }],
        }
    }

    fn step(text: &str) -> [Message; 2] {
        let id = CallId("a".into());
        let call = Block::ToolCall(ToolCall {
            id: id.clone(),
            name: "ls".into(),
            arguments: "{}".into(),
        });
        let result = Block::ToolResult(ToolResult {
            id,
            text: text.into(),
            is_error: false,
            media: vec![],
        });
        [
            Message {
                role: Role::Assistant,
                blocks: vec![call],
            },
            Message {
                role: Role::Tool,
                blocks: vec![result],
            },
        ]
    }

    fn texts(messages: &[Message]) -> Vec<(Role, String)> {
        messages
            .iter()
            .map(|message| (message.role, message.text()))
            .collect()
    }

    #[test]
    fn the_last_words_of_the_person_stay_as_they_are() {
        let mut messages = vec![
            says(Role::User, "one"),
            says(Role::Assistant, "1"),
            says(Role::User, "two"),
        ];
        messages.extend(step("x"));
        messages.extend(step("y"));
        let meter = Meter::default();
        assert_eq!(
            cut(&messages, 1, &meter),
            5,
            "the last step stays, whatever its length"
        );
        let now = folded(&messages, 5, " S ");
        let text = "[The conversation up to here was compacted. What happened, in short:]\n\n<summary>\nS\n</summary>\
                    [The person's last words, which you are working on:]two";
        assert_eq!(texts(&now)[0], (Role::User, text.into()));
        assert_eq!(&now[1..], &messages[5..]);
        // Once more: the summary of the summary does not pile up.
        let again = folded(&now, 1, "T");
        assert!(!again[0].text().contains('S'), "{}", again[0].text());
        assert!(
            again[0]
                .text()
                .ends_with("</summary>[The person's last words, which you are working on:]two")
        );
        let now = folded(&messages, 2, "S");
        assert_eq!(now.len(), 5);
        assert!(now[0].text().ends_with("</summary>two"), "{}", now[0].text());
    }

    proptest! {
        #[test]
        fn pairs_are_never_split_and_the_person_never_speaks_twice(
            steps in prop::collection::vec((0..4_usize, 0..400_usize), 1..20),
            room in 0..300_u64,
        ) {
            let mut messages = Vec::new();
            for (kind, length) in steps {
                let text = "w".repeat(length);
                match kind {
                    0 => messages.extend([says(Role::User, "q"), says(Role::Assistant, &text)]),
                    _ => {
                        messages.push(says(Role::User, "q"));
                        for _ in 0..kind {
                            messages.extend(step(&text));
                        }
                        messages.push(says(Role::Assistant, "done"));
                    }
                }
            }
            let cut = cut(&messages, room, &Meter::default());
            let now = folded(&messages, cut, "S");
            prop_assert_eq!(now[0].role, Role::User);
            for pair in now.windows(2) {
                let calls = pair[0].calls().count();
                prop_assert_eq!(calls > 0, pair[1].role == Role::Tool);
                prop_assert!(pair[0].role != Role::User || pair[1].role != Role::User);
            }
        }
    }
}
