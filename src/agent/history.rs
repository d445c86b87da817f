//! The conversation as the providers see it: appended to, never changed.

use std::collections::BTreeMap;

use crate::protocol::ids::{CallId, StepIx};
use crate::protocol::message::{Block, Message, Role, ToolCall, ToolResult};

/// The messages of a session. Every call is followed by its result before anything else is said.
#[derive(Clone, Debug, Default)]
pub struct History {
    messages: Vec<Message>,
    /// How many messages there were before the reply that each step is.
    steps: BTreeMap<StepIx, usize>,
}

impl History {
    /// Appends a message of an earlier process, as its journal has it.
    pub fn append(&mut self, message: Message) {
        self.messages.push(message);
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

    /// Forgets everything from the reply that `step` is, and the prompt before it. What goes before it stays
    /// byte for byte. A step that is not known changes nothing.
    pub fn forget_from(&mut self, step: StepIx) {
        let Some(&at) = self.steps.get(&step) else { return };
        let prompt = at.checked_sub(1).and_then(|at| self.messages.get(at));
        let with_prompt = prompt.is_some_and(|message| message.role == Role::User);
        self.keep(at - usize::from(with_prompt));
    }

    /// Keeps the first `count` messages.
    pub fn keep(&mut self, count: usize) {
        self.messages.truncate(count);
        self.steps.retain(|_, at| *at < count);
    }

    /// All messages, oldest first.
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// Whether a call of this id was made.
    pub fn has_call(&self, id: &CallId) -> bool {
        let mut blocks = self.messages.iter().flat_map(|message| &message.blocks);
        blocks.any(|block| matches!(block, Block::ToolCall(call) if call.id == *id))
    }

    /// The person speaks.
    pub fn push_user(&mut self, text: String) -> &Message {
        self.push(Message::user(text))
    }

    /// The model has spoken. An empty reply is not kept: providers refuse an empty message.
    pub fn push_assistant(
        &mut self,
        text: String,
        reasoning: String,
        calls: &[ToolCall],
    ) -> Option<&Message> {
        let mut blocks = Vec::new();
        if !reasoning.is_empty() {
            blocks.push(Block::Reasoning { text: reasoning });
        }
        if !text.is_empty() {
            blocks.push(Block::Text { text });
        }
        blocks.extend(calls.iter().cloned().map(Block::ToolCall));
        let speaks = blocks
            .iter()
            .any(|block| !matches!(block, Block::Reasoning { .. }));
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

    fn push(&mut self, message: Message) -> &Message {
        let at = self.messages.len();
        self.messages.push(message);
        &self.messages[at]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::ids::CallId;

    #[test]
    fn open_calls_are_answered_once() {
        let mut history = History::default();
        history.push_user("hi".into());
        assert_eq!(history.answer_open_calls("fault"), None);
        let calls = ["a", "b"].map(|id| ToolCall {
            id: CallId(id.into()),
            name: "ls".into(),
            arguments: String::new(),
        });
        history.push_assistant(String::new(), String::new(), &calls);
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
}
