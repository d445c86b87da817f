//! What the person may configure of models and providers.
//!
//! The configuration embeds [`ProviderSettings`]; unknown keys are its business, not ours. Nothing
//! here is checked while it is read: [`open`](super::open) checks the one row that is used, so that
//! a mistake in another row costs nothing.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::rows::ModelFacts;
use super::wire::ThinkingStyle;

/// The part of the configuration that names a model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProviderSettings {
    /// `provider:model`. None: the remembered one, else one whose key is there.
    pub model: Option<String>,
    /// What the person chose last, when `model` is not set. One that cannot be opened is passed over.
    pub remembered: Option<String>,
    /// Rows by provider name. A row with the name of a built-in one changes only what it sets.
    pub providers: BTreeMap<String, ProviderRow>,
    /// A script to play in place of any model.
    pub script: Option<PathBuf>,
    /// Whether the model is to think; None: as it does by itself.
    pub thinking: Option<bool>,
    /// How hard it thinks; the provider's word, for example `low`, `high`, `max`.
    pub effort: Option<String>,
    /// How often a request that failed is made again; 3 unless said.
    pub retries: Option<u32>,
}

/// One provider. Keys are never written here, only where to find one: in the environment, else by a
/// command, else in a file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProviderRow {
    /// `chat` (the default; also `openai`), `responses`, `messages` (also `anthropic`) or `scripted`.
    pub wire: Option<String>,
    /// Where the API lives, without `/chat/completions` and the like; for example
    /// `http://127.0.0.1:8000/v1`.
    pub base_url: Option<String>,
    /// The environment variable that holds the key.
    pub api_key_env: Option<String>,
    /// A shell command that prints the key.
    pub api_key_cmd: Option<String>,
    /// A file that holds the key and that only the person may read.
    pub api_key_file: Option<PathBuf>,
    /// Headers to add to every request. Their values are taken for secrets and never shown.
    pub headers: BTreeMap<String, String>,
    /// Tokens that the model can read; needed where the built-in table does not know the model.
    pub context_window: Option<u64>,
    /// Milliseconds until the first byte of a reply; see [`Timeouts`](super::Timeouts) for the default.
    pub first_token_timeout_ms: Option<u64>,
    /// Milliseconds of silence within a reply.
    pub chunk_stall_timeout_ms: Option<u64>,
    /// Whether the models see images.
    pub images: Option<bool>,
    /// Whether past reasoning is sent back as `reasoning_content`. DeepSeek demands it, OpenAI has
    /// no such field. None: by the names of provider and model.
    pub replay_reasoning: Option<bool>,
    /// How thinking is steered.
    pub style: Option<ThinkingStyle>,
    /// What is known of single models, by the beginning of their names.
    pub models: BTreeMap<String, ModelFacts>,
    /// What of `models` cannot be understood, a clause; the row cannot be used then.
    pub broken: Option<String>,
    /// The file to play, when `wire` is `scripted`.
    pub script: Option<PathBuf>,
}
