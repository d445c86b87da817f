//! The conversation in provider-neutral form.

use serde::{Deserialize, Serialize};

use crate::protocol::ids::CallId;

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The person, or a note of ours on the person's behalf.
    User,
    /// The model.
    Assistant,
    /// The results of the calls in the assistant message before it.
    Tool,
}

/// One message of the history. Messages are appended and never changed (prefix-stable requests).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// What is said, in order.
    pub blocks: Vec<Block>,
}

impl Message {
    /// A message of the person that holds `text` alone.
    pub fn user(text: impl Into<String>) -> Self {
        Self {
            role: Role::User,
            blocks: vec![Block::Text { text: text.into() }],
        }
    }

    /// The text blocks, joined.
    pub fn text(&self) -> String {
        self.blocks
            .iter()
            .filter_map(|block| {
                if let Block::Text { text } = block {
                    Some(text.as_str())
                } else {
                    None
                }
            })
            .collect()
    }

    /// The tool calls, in order.
    pub fn calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.blocks.iter().filter_map(|block| {
            if let Block::ToolCall(call) = block {
                Some(call)
            } else {
                None
            }
        })
    }
}

/// A part of a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Block {
    /// Plain text or Markdown.
    Text {
        /// The text.
        text: String,
    },
    /// What a reasoning model thought aloud.
    Reasoning {
        /// The text.
        text: String,
    },
    /// Reasoning that only its own model can read, signed or encrypted. That model wants it back as it
    /// is; nobody else gets it, and whoever rewrites what stands before it has to drop it.
    Sealed {
        /// `provider:model` of its maker.
        model: String,
        /// As the provider wrote it.
        item: serde_json::Value,
    },
    /// A call that the model wants run.
    ToolCall(ToolCall),
    /// What a call gave.
    ToolResult(ToolResult),
    /// An image, sound, video or document.
    Media {
        /// `image`, `audio`, `video` or `file`.
        kind: String,
        /// For example `image/png`.
        mime_type: String,
        /// The bytes in base64.
        base64: String,
    },
}

/// A call as the model wrote it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Pairs the call with its result.
    pub id: CallId,
    /// The name as the model wrote it; it may be an alias or unknown.
    pub name: String,
    /// The arguments as the model wrote them: usually a JSON object, not yet checked.
    pub arguments: String,
}

/// The result of one call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolResult {
    /// The call that it answers.
    pub id: CallId,
    /// What the model reads.
    pub text: String,
    /// Whether the call failed, was refused or was interrupted.
    pub is_error: bool,
    /// Media that go with the text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub media: Vec<Block>,
}
