//! What the person may configure of models and providers.
//!
//! The configuration embeds [`ProviderSettings`]; unknown keys are its business, not ours. Nothing
//! here is checked while it is read: [`open`](super::open) checks the one row that is used, so that
//! a mistake in another row costs nothing.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The part of the configuration that names a model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProviderSettings {
    /// `provider:model`. None: chosen by the keys in the environment.
    pub model: Option<String>,
    /// Rows by provider name. A row with the name of a built-in one changes only what it sets.
    pub providers: BTreeMap<String, ProviderRow>,
    /// A script to play in place of any model.
    pub script: Option<PathBuf>,
}

/// One provider. Keys are never written here, only the name of the variable that holds one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProviderRow {
    /// `openai` (the default) or `scripted`.
    pub wire: Option<String>,
    /// Where the API lives, without `/chat/completions`; for example `http://127.0.0.1:8000/v1`.
    pub base_url: Option<String>,
    /// The environment variable that holds the key.
    pub api_key_env: Option<String>,
    /// Headers to add to every request. Their values are taken for secrets and never shown.
    pub headers: BTreeMap<String, String>,
    /// Tokens that the model can read; needed where the built-in table does not know the model.
    pub context_window: Option<u64>,
    /// Whether past reasoning is sent back as `reasoning_content`. DeepSeek demands it, OpenAI has
    /// no such field. None: by the names of provider and model.
    pub replay_reasoning: Option<bool>,
    /// The file to play, when `wire` is `scripted`.
    pub script: Option<PathBuf>,
}
