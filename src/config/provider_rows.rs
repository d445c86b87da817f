//! What the person says of providers.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use serde_json::Value;

use crate::config::read_toml::child;
use crate::config::values::Values;

/// One provider, as far as the person says something of it. Keys are never written in a config, only where
/// one is found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProviderRow {
    /// `chat`, `responses`, `messages` or `scripted`.
    pub wire: Option<String>,
    /// With the version part, for example `http://127.0.0.1:8080/v1`.
    pub base_url: Option<String>,
    /// The environment variable that holds the key.
    pub api_key_env: Option<String>,
    /// The shell command that prints the key.
    pub api_key_cmd: Option<String>,
    /// The file that holds the key.
    pub api_key_file: Option<PathBuf>,
    /// More headers. A value may be a secret.
    pub headers: BTreeMap<String, Secret>,
    /// Tokens that the model can read.
    pub context_window: Option<u64>,
    /// Milliseconds until the first byte of a reply.
    pub first_token_timeout_ms: Option<u64>,
    /// Milliseconds of silence within a reply.
    pub chunk_stall_timeout_ms: Option<u64>,
    /// Whether the models see images.
    pub images: Option<bool>,
    /// Whether past reasoning is sent back; none means by the name of provider and model.
    pub replay_reasoning: Option<bool>,
    /// In which fields thinking is steered.
    pub style: Option<String>,
    /// Facts of single models, as the person wrote them; `provider` reads them.
    pub models: Option<Value>,
    /// The file that a scripted provider plays.
    pub script: Option<PathBuf>,
}

/// A text that no log and no message shows.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a text.
    pub fn new(text: String) -> Self {
        Self(text)
    }

    /// The text, for the one place that sends it.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(set)")
    }
}

/// All rows, by the name of the provider.
pub fn from_values(values: &Values) -> BTreeMap<String, ProviderRow> {
    let names = values.below("providers").into_keys();
    names.map(|name| (name.clone(), row(values, &name))).collect()
}

fn row(values: &Values, name: &str) -> ProviderRow {
    let provider = child("providers", name);
    let key = |field: &str| child(&provider, field);
    let text = |field: &str| values.text(&key(field));
    let headers = values
        .get(&key("headers"))
        .and_then(|leaf| leaf.value.as_object());
    let headers = headers.into_iter().flatten();
    ProviderRow {
        wire: text("wire"),
        base_url: text("base_url"),
        api_key_env: text("api_key_env"),
        api_key_cmd: text("api_key_cmd"),
        api_key_file: text("api_key_file").map(PathBuf::from),
        headers: headers
            .filter_map(|(name, value)| Some((name.clone(), Secret::new(value.as_str()?.to_owned()))))
            .collect(),
        context_window: values.number(&key("context_window")),
        first_token_timeout_ms: values.number(&key("first_token_timeout_ms")),
        chunk_stall_timeout_ms: values.number(&key("chunk_stall_timeout_ms")),
        images: values.flag(&key("images")),
        replay_reasoning: values.flag(&key("replay_reasoning")),
        style: text("style"),
        models: values.get(&key("models")).map(|leaf| leaf.value.clone()),
        script: text("script").map(PathBuf::from),
    }
}
