//! How a model is reached.

use std::collections::BTreeMap;
use std::fmt;

use super::http::Timeouts;
use super::prices::Prices;
use super::retry::RetryPolicy;
use super::wire::{ThinkingStyle, Wire};

/// How to reach a model; the table makes it from the settings.
#[derive(Clone)]
pub struct Dial {
    /// The name of the row.
    pub provider: String,
    /// The model as the server names it.
    pub model: String,
    /// How it is spoken to.
    pub wire: Wire,
    /// Where the API is; see [`ProviderRow::base_url`](super::ProviderRow::base_url).
    pub base_url: String,
    /// The variable that holds the key, for sentences.
    pub key_env: Option<String>,
    /// The key. None: none is sent.
    pub key: Option<String>,
    /// Headers to add.
    pub headers: BTreeMap<String, String>,
    /// 0 when unknown.
    pub context_window: u64,
    /// The longest reply in tokens, for the wire that has to say.
    pub max_output: u64,
    /// None when unknown.
    pub prices: Option<Prices>,
    /// Whether it is shown images.
    pub images: bool,
    /// See [`ProviderRow::replay_reasoning`](super::ProviderRow::replay_reasoning).
    pub replay_reasoning: bool,
    /// How thinking is steered.
    pub style: ThinkingStyle,
    /// Whether the model is to think; None: as it does by itself.
    pub thinking: Option<bool>,
    /// How hard; the provider's word.
    pub effort: Option<String>,
    /// None: by whether the server is on this machine.
    pub timeouts: Option<Timeouts>,
    /// When to try again.
    pub retry: RetryPolicy,
}

impl Dial {
    /// A model about which nothing is known but its name and where it is, spoken to by chat completions.
    pub fn plain(provider: &str, model: &str, base_url: &str) -> Self {
        Self {
            provider: provider.to_owned(),
            model: model.to_owned(),
            wire: Wire::Chat,
            base_url: base_url.to_owned(),
            key_env: None,
            key: None,
            headers: BTreeMap::new(),
            context_window: 0,
            max_output: 32_000,
            prices: None,
            images: false,
            replay_reasoning: false,
            style: ThinkingStyle::None,
            thinking: None,
            effort: None,
            timeouts: None,
            retry: RetryPolicy::default(),
        }
    }
}

/// Without the key and the values of headers: what is printed may end in a log.
impl fmt::Debug for Dial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dial")
            .field("provider", &self.provider)
            .field("model", &self.model)
            .field("wire", &self.wire)
            .field("base_url", &self.base_url)
            .field("key_env", &self.key_env)
            .field("has_key", &self.key.is_some())
            .field("headers", &self.headers.keys())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_holds_no_secret() {
        let dial = Dial {
            key: Some("sk-secret".into()),
            headers: [("x-team".to_owned(), "team-secret".to_owned())].into(),
            ..Dial::plain("acme", "m", "http://127.0.0.1:9/v1")
        };
        let printed = format!("{dial:?}");
        assert!(
            printed.contains("x-team") && !printed.contains("secret"),
            "{printed}"
        );
    }
}
