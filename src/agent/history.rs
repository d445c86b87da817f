//! The conversation as the providers see it: appended to, never changed.

use crate::protocol::ids::CallId;
use crate::protocol::message::{Block, Message, Role, ToolCall, ToolResult};

/// The messages of a session. Every call is followed by its result before anything else is said.
#[derive(Clone, Debug, Default)]
pub struct History {
    messages: Vec<Message>,
}

impl History {
    /// A history that goes on from `messages`, for example out of a journal.
    pub fn from_messages(messages: Vec<Message>) -> Self {
        Self { messages }
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

    fn push(&mut self, message: Message) -> &Message {
        let at = self.messages.len();
        self.messages.push(message);
        &self.messages[at]
    }
}
