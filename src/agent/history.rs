//! The conversation as the providers see it: appended to, and rewritten in one way only.
//!
//! Appending keeps the beginning of every request as it was, which is what a provider's cache lives on.
//! [`History::rewrite`] is the exception: compaction. It keeps what it replaces, so it can be taken back.

use std::collections::BTreeMap;

use crate::journal::Record;
use crate::protocol::ids::{CallId, StepIx};
use crate::protocol::message::{Block, Message, Role, ToolResult};

/// The messages of a session. Every call is followed by its result before anything else is said.
#[derive(Clone, Debug, Default)]
pub struct History {
    messages: Vec<Message>,
    steps: Steps,
    /// What compactions replaced, the latest last.
    replaced: Vec<Replaced>,
    rewrites: (u64, &'static str),
}

/// The message that holds the calls of each step, as its place among the messages.
type Steps = BTreeMap<StepIx, usize>;

/// A history before it was rewritten.
#[derive(Clone, Debug)]
struct Replaced {
    messages: Vec<Message>,
    steps: Steps,
    /// How many messages stood in their place.
    by: usize,
}

impl History {
    /// What a record of an earlier process' journal says of the conversation.
    pub fn replay(&mut self, record: &Record) {
        match record {
            Record::MessageAppended { message } => self.messages.push(message.clone()),
            Record::StepStarted { step, .. } => self.mark_step(*step),
            Record::HistoryCut { messages } => self.keep(*messages),
            Record::Compacted { messages, .. } => self.rewrite(messages.clone()),
            Record::CompactionUndone => drop(self.take_back()),
            _ => {}
        }
    }

    /// The last message holds the calls of `step`. Where it makes no calls the step is none of the model's.
    pub fn mark_step(&mut self, step: StepIx) {
        let calls = self
            .messages
            .last()
            .is_some_and(|message| message.calls().next().is_some());
        if calls {
            self.steps.insert(step, self.messages.len() - 1);
        }
    }

    /// Whether the messages of `step` were folded into a summary.
    pub fn is_folded(&self, step: StepIx) -> bool {
        let before = || {
            self.replaced
                .iter()
                .any(|replaced| replaced.steps.contains_key(&step))
        };
        !self.steps.contains_key(&step) && before()
    }

    /// Forgets everything from the reply that `step` is, and the prompt before it. What goes before it stays
    /// byte for byte. A step that is not known changes nothing.
    pub fn forget_from(&mut self, step: StepIx) {
        let Some(&at) = self.steps.get(&step) else { return };
        let prompt = at.checked_sub(1).and_then(|at| self.messages.get(at));
        let with_prompt = prompt.is_some_and(|message| message.role == Role::User);
        self.keep(at - usize::from(with_prompt));
    }

    /// Keeps the first `count` messages. A compaction that this reaches into cannot be taken back any more.
    fn keep(&mut self, count: usize) {
        self.messages.truncate(count);
        self.steps.retain(|_, at| *at < count);
        while self.replaced.pop_if(|replaced| replaced.by > count).is_some() {}
        self.rewrites = (self.rewrites.0 + 1, "a part of the conversation was taken back");
    }

    /// All messages, oldest first.
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// How often it was rewritten, and why the last time, as a clause.
    pub fn rewrites(&self) -> (u64, &'static str) {
        self.rewrites
    }

    /// Whether a call of this id was made.
    pub fn has_call(&self, id: &CallId) -> bool {
        let mut blocks = self.messages.iter().flat_map(|message| &message.blocks);
        blocks.any(|block| matches!(block, Block::ToolCall(call) if call.id == *id))
    }

    /// The person speaks: text, perhaps with media.
    pub fn push_user(&mut self, blocks: Vec<Block>) -> &Message {
        self.push(Message {
            role: Role::User,
            blocks,
        })
    }

    /// The model has spoken. An empty reply is not kept: providers refuse an empty message.
    pub fn push_assistant(&mut self, blocks: Vec<Block>) -> Option<&Message> {
        let speaks = blocks.iter().any(|block| match block {
            Block::Text { text } => !text.trim().is_empty(),
            block => matches!(block, Block::ToolCall(_)),
        });
        speaks.then(|| {
            self.push(Message {
                role: Role::Assistant,
                blocks,
            })
        })
    }

    /// The results of all calls of the message before, in the order of the calls.
    pub fn push_results(&mut self, results: Vec<ToolResult>) -> &Message {
        self.push(Message {
            role: Role::Tool,
            blocks: results.into_iter().map(Block::ToolResult).collect(),
        })
    }

    /// Answers the calls of the last message with `text`, if it made some: after a fault nobody else does.
    pub fn answer_open_calls(&mut self, text: &str) -> Option<&Message> {
        let open = self.messages.last()?.calls().map(|call| ToolResult {
            id: call.id.clone(),
            text: text.to_owned(),
            is_error: true,
            media: Vec::new(),
        });
        let open: Vec<_> = open.collect();
        (!open.is_empty()).then(|| self.push_results(open))
    }

    /// Ends a turn. The model has the last word, because some servers refuse a conversation in which the
    /// person speaks twice in a row, or after results: where it said nothing, `text` stands in its place.
    pub fn close(&mut self, text: &str) -> Option<&Message> {
        let open = self.messages.last()?.role != Role::Assistant;
        open.then(|| {
            self.push(Message {
                role: Role::Assistant,
                blocks: vec![Block::Text {
                    text: text.to_owned(),
                }],
            })
        })
    }

    /// Puts `messages` in the place of all that was said. Sealed reasoning goes: its maker refuses it where what
    /// stood before it has changed.
    pub fn rewrite(&mut self, mut messages: Vec<Message>) {
        unseal(&mut messages);
        let by = messages.len();
        let kept = self.steps.iter().filter_map(|(step, at)| {
            let call = self.messages.get(*at)?.calls().next()?;
            let makes_it = |message: &Message| message.calls().any(|other| other.id == call.id);
            Some((*step, messages.iter().position(makes_it)?))
        });
        let kept = kept.collect();
        self.replaced.push(Replaced {
            messages: std::mem::replace(&mut self.messages, messages),
            steps: std::mem::replace(&mut self.steps, kept),
            by,
        });
        self.rewrites = (self.rewrites.0 + 1, "the conversation was compacted");
    }

    /// Takes the last rewriting back; what was said since stays. False when there is none.
    pub fn take_back(&mut self) -> bool {
        let Some(Replaced { messages, steps, by }) = self.replaced.pop() else {
            return false;
        };
        let mut since = self.messages.split_off(by.min(self.messages.len()));
        unseal(&mut since);
        let later = std::mem::replace(&mut self.steps, steps);
        let later = later.into_iter().filter(|(_, at)| *at >= by);
        self.steps
            .extend(later.map(|(step, at)| (step, at - by + messages.len())));
        self.messages = messages;
        self.messages.extend(since);
        self.rewrites = (self.rewrites.0 + 1, "a compaction was taken back");
        true
    }

    fn push(&mut self, message: Message) -> &Message {
        let at = self.messages.len();
        self.messages.push(message);
        &self.messages[at]
    }
}

fn unseal(messages: &mut [Message]) {
    for message in messages {
        message
            .blocks
            .retain(|block| !matches!(block, Block::Sealed { .. }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::message::ToolCall;

    fn user(text: &str) -> Vec<Block> {
        vec![Block::Text { text: text.into() }]
    }

    fn call(id: &str) -> Block {
        Block::ToolCall(ToolCall {
            id: CallId(id.into()),
            name: "ls".into(),
            arguments: String::new(),
        })
    }

    fn texts(history: &History) -> Vec<String> {
        history.messages().iter().map(Message::text).collect()
    }

    #[test]
    fn open_calls_are_answered_once() {
        let mut history = History::default();
        history.push_user(user("hi"));
        assert_eq!(history.answer_open_calls("fault"), None);
        history.push_assistant(vec![call("a"), call("b")]);
        history.answer_open_calls("fault");
        assert_eq!(history.answer_open_calls("fault"), None);
        let [.., results] = history.messages() else {
            panic!()
        };
        let ids: Vec<&str> = results
            .blocks
            .iter()
            .map(|block| match block {
                Block::ToolResult(result) => result.id.0.as_str(),
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!((results.role, ids), (Role::Tool, vec!["a", "b"]));
    }

    #[test]
    fn the_model_has_the_last_word_of_a_turn() {
        let mut history = History::default();
        assert_eq!(history.close("stopped"), None);
        history.push_user(user("hi"));
        let thought = vec![Block::Reasoning { text: "hm".into() }];
        assert_eq!(history.push_assistant(thought), None);
        history.close("stopped");
        assert_eq!(history.close("stopped"), None);
        assert_eq!(texts(&history), ["hi", "stopped"]);
    }

    #[test]
    fn a_rewriting_is_taken_back_and_what_was_said_since_stays() {
        let mut history = History::default();
        for text in ["one", "two"] {
            history.push_user(user(text));
        }
        history.rewrite(vec![Message::user("both")]);
        history.push_user(user("three"));
        history.rewrite(vec![Message::user("all")]);
        history.push_user(user("four"));
        assert_eq!(texts(&history), ["all", "four"]);
        assert!(history.take_back());
        assert_eq!(texts(&history), ["both", "three", "four"]);
        assert!(history.take_back());
        assert_eq!(texts(&history), ["one", "two", "three", "four"]);
        assert!(!history.take_back());
        assert_eq!(history.rewrites().0, 4);
    }

    #[test]
    fn steps_are_found_through_a_compaction() {
        let mut history = History::default();
        let step = |history: &mut History, number: u64| {
            let name = format!("c{number}");
            history.push_user(user(&name));
            history.push_assistant(vec![call(&name)]);
            history.mark_step(StepIx(number));
            history.answer_open_calls("done");
            history.close("so");
        };
        step(&mut history, 1);
        step(&mut history, 2);
        let mut now = vec![Message::user("one, in short")];
        now.extend_from_slice(&history.messages()[5..]);
        history.rewrite(now);
        step(&mut history, 3);
        assert!(history.is_folded(StepIx(1)) && !history.is_folded(StepIx(2)));
        let (mut third, mut second, mut whole) = (history.clone(), history.clone(), history);
        third.forget_from(StepIx(3));
        assert_eq!(texts(&third), ["one, in short", "", "", "so"]);
        assert!(third.take_back(), "what was folded is untouched");
        second.forget_from(StepIx(2));
        assert_eq!(texts(&second), Vec::<String>::new());
        assert!(!second.take_back(), "a part of what was folded is forgotten");
        assert!(whole.take_back());
        whole.forget_from(StepIx(3));
        assert_eq!(texts(&whole), ["c1", "", "", "so", "c2", "", "", "so"]);
        whole.forget_from(StepIx(1));
        assert_eq!(texts(&whole), Vec::<String>::new());
    }

    #[test]
    fn sealed_reasoning_does_not_outlive_what_stood_before_it() {
        let sealed = || Block::Sealed {
            model: "a:b".into(),
            item: serde_json::Value::Null,
        };
        let said = || vec![sealed(), Block::Text { text: "so".into() }];
        let mut history = History::default();
        history.push_user(user("one"));
        history.push_assistant(said());
        let kept = history.messages().to_vec();
        history.rewrite(kept);
        history.push_assistant(said());
        let count = |history: &History| {
            let blocks = history.messages().iter().flat_map(|message| &message.blocks);
            blocks.filter(|block| **block == sealed()).count()
        };
        assert_eq!(count(&history), 1);
        history.take_back();
        assert_eq!(
            count(&history),
            1,
            "the old one is in its place again, the new one is not"
        );
    }
}
