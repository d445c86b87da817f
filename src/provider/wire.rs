//! How a provider is spoken to: which path, which request, which reply.

use std::collections::VecDeque;

use super::model::{ChatRequest, StreamEvent};
use super::peer::Peer;
use super::retry::Failure;
use super::{chat, messages, responses};

/// A protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wire {
    /// OpenAI's chat completions, which most servers speak.
    Chat,
    /// OpenAI's responses.
    Responses,
    /// Anthropic's messages.
    Messages,
}

impl Wire {
    /// By the name in a configuration.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "chat" | "openai" => Some(Self::Chat),
            "responses" => Some(Self::Responses),
            "messages" | "anthropic" => Some(Self::Messages),
            _ => None,
        }
    }

    /// What stands after the base URL.
    pub(super) fn path(self) -> &'static str {
        match self {
            Self::Chat => "/chat/completions",
            Self::Responses => "/responses",
            Self::Messages => "/messages",
        }
    }

    /// The bytes of a request.
    pub(super) fn body(
        self,
        options: &WireOptions,
        request: &ChatRequest,
    ) -> Result<Vec<u8>, serde_json::Error> {
        match self {
            Self::Chat => chat::body(options, request),
            Self::Responses => responses::body(options, request),
            Self::Messages => messages::body(options, request),
        }
    }

    /// What reads a reply; `name` is `provider:model`.
    pub(super) fn reader(self, name: &str) -> Box<dyn Reader> {
        match self {
            Self::Chat => Box::new(chat::ChatReader::default()),
            Self::Responses => Box::new(responses::ResponsesReader::new(name)),
            Self::Messages => Box::new(messages::MessagesReader::new(name)),
        }
    }
}

/// From the data of server-sent events to [`StreamEvent`]s.
///
/// Text and reasoning pass through at once. Calls are held back until the reply has ended in order, so that
/// a reply that was cut never leaves half a call behind.
pub(super) trait Reader: Send {
    /// Takes the data of one event. What can be said at once is appended to `ready`.
    fn feed(&mut self, peer: &Peer, data: &str, ready: &mut VecDeque<StreamEvent>) -> Result<(), Failure>;

    /// Whether the server has said that the reply is complete. Usage may follow.
    fn is_finished(&self) -> bool;

    /// Whether nothing more is to be read.
    fn has_ended(&self) -> bool;

    /// The bytes are at their end, whether the server said so or the line broke.
    fn end(&mut self, peer: &Peer, ready: &mut VecDeque<StreamEvent>) -> Result<(), Failure>;
}

/// What a request depends on besides the conversation.
#[derive(Clone, Debug)]
pub(super) struct WireOptions {
    /// `provider:model`.
    pub(super) name: String,
    /// The model as the server names it.
    pub(super) model: String,
    /// Whether reasoning goes back as `reasoning_content`. All of it or none: DeepSeek wants it on
    /// every message of a conversation with tools, and dropping old reasoning later would change
    /// the beginning of the request.
    pub(super) replay_reasoning: bool,
    /// Whether images are sent.
    pub(super) images: bool,
    /// The longest reply in tokens, where a request has to say.
    pub(super) max_output: u64,
    /// How thinking is steered.
    pub(super) style: ThinkingStyle,
    /// What the person wants of it.
    pub(super) thinking: Option<bool>,
    /// How hard it thinks, in the provider's word.
    pub(super) effort: Option<String>,
    /// Only what every server understands: no hints, no summaries of reasoning.
    pub(super) lean: bool,
}

/// In which fields a request says whether and how hard a model thinks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThinkingStyle {
    /// In none: the model does as it does.
    #[default]
    None,
    /// `reasoning_effort`, or `reasoning.effort`; `none` turns it off.
    Effort,
    /// `thinking.type` is `enabled` or `disabled`, and `reasoning_effort`.
    Switch,
    /// `thinking.type` is `adaptive`, and `output_config.effort`.
    Adaptive,
    /// `thinking` has a budget of tokens; off unless asked for.
    Budget,
}
