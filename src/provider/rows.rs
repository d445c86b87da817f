//! The providers and models that need no configuration, as data, and the person's rows laid over them.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use super::model::ProviderError;
use super::prices::Prices;
use super::sentences::config;
use super::settings::{ProviderRow, ProviderSettings};
use super::wire::ThinkingStyle;

/// What is known of a model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ModelFacts {
    /// Tokens that it can read.
    pub context_window: Option<u64>,
    /// The longest reply in tokens.
    pub max_output: Option<u64>,
    /// Whether it sees images.
    pub images: Option<bool>,
    /// What it costs.
    pub prices: Option<Prices>,
    /// How its thinking is steered, when not as that of its provider's other models.
    pub style: Option<ThinkingStyle>,
    /// Whether it is offered to choose from; true unless said.
    pub listed: Option<bool>,
}

/// A built-in provider.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Builtin {
    pub(super) name: String,
    wire: Option<String>,
    base_url: String,
    /// None: a server on this machine, which wants no key.
    pub(super) api_key_env: Option<String>,
    /// The model that is taken when nothing is configured and the key is there.
    pub(super) default_model: Option<String>,
    #[serde(default)]
    style: ThinkingStyle,
    #[serde(default)]
    pub(super) models: BTreeMap<String, ModelFacts>,
}

#[derive(Deserialize)]
struct File {
    provider: Vec<Builtin>,
}

static BUILTIN: LazyLock<Vec<Builtin>> = LazyLock::new(|| {
    // A test reads the file; nothing of the person's can make it fail.
    toml::from_str::<File>(include_str!("providers.toml"))
        .map(|file| file.provider)
        .unwrap_or_default()
});

/// The built-in providers, in the order in which they are tried.
pub(super) fn builtin() -> &'static [Builtin] {
    &BUILTIN
}

/// The names that may stand before the colon of a model, sorted.
pub fn provider_names(settings: &ProviderSettings) -> Vec<String> {
    let builtin = builtin().iter().map(|row| row.name.clone());
    let mut names: Vec<String> = builtin.chain(settings.providers.keys().cloned()).collect();
    names.sort();
    names.dedup();
    names
}

/// The environment variables that hold a key of any provider, sorted.
pub fn key_variables(settings: &ProviderSettings) -> Vec<String> {
    let builtin = builtin().iter().filter_map(|row| row.api_key_env.clone());
    let configured = settings
        .providers
        .values()
        .filter_map(|row| row.api_key_env.clone());
    let mut names: Vec<String> = builtin.chain(configured).collect();
    names.sort();
    names.dedup();
    names
}

/// The configured row over the built-in one.
pub(super) fn row(settings: &ProviderSettings, provider: &str) -> Result<ProviderRow, ProviderError> {
    let configured = settings.providers.get(provider);
    let builtin = builtin().iter().find(|row| row.name == provider);
    if configured.is_none() && builtin.is_none() {
        return Err(unknown(settings, provider));
    }
    let mut row = configured.cloned().unwrap_or_default();
    if let Some(builtin) = builtin {
        let elsewhere = row.base_url.is_some();
        row.base_url.get_or_insert_with(|| builtin.base_url.clone());
        row.api_key_env = row.api_key_env.or_else(|| builtin.api_key_env.clone());
        row.style = row.style.or(Some(builtin.style));
        // What stands at another address in place of OpenAI speaks chat completions more often than not.
        if !(elsewhere && builtin.wire.as_deref() == Some("responses")) {
            row.wire = row.wire.or_else(|| builtin.wire.clone());
        }
    }
    Ok(row)
}

fn unknown(settings: &ProviderSettings, provider: &str) -> ProviderError {
    let names = provider_names(settings);
    let likeness = |name: &&String| strsim::jaro_winkler(provider, name);
    let nearest = names.iter().max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
    config(
        format!("There is no provider named \"{provider}\"."),
        match nearest {
            Some(near) if likeness(&near) > 0.8 => format!("Did you mean {near}?"),
            _ => format!("Known are {}; others go into providers.", names.join(", ")),
        },
    )
}

/// What is known of a model: the person's word first, then ours of this provider. A router names the maker in
/// front (`deepseek/deepseek-v4-pro`): the maker's window and eyes count, not its prices.
pub(super) fn facts(row: &ProviderRow, provider: &str, model: &str) -> ModelFacts {
    let of_row = longest(&row.models, model).cloned().unwrap_or_default();
    let of = |name: &str, model: &str| {
        let builtin = builtin().iter().find(|row| row.name == name)?;
        longest(&builtin.models, model).cloned()
    };
    let known = of(provider, model).or_else(|| {
        let (maker, model) = model.split_once('/')?;
        // Routers write the version of Anthropic's models with a dot.
        of(maker, &model.replace('.', "-"))
            .or_else(|| of(maker, model))
            .map(|facts| ModelFacts {
                prices: None,
                style: None,
                ..facts
            })
    });
    let known = known.unwrap_or_default();
    ModelFacts {
        context_window: of_row
            .context_window
            .or(row.context_window)
            .or(known.context_window),
        max_output: of_row.max_output.or(known.max_output),
        images: of_row.images.or(row.images).or(known.images),
        prices: of_row.prices.or(known.prices),
        style: of_row.style.or(known.style).or(row.style),
        listed: of_row.listed.or(known.listed),
    }
}

fn longest<'a>(models: &'a BTreeMap<String, ModelFacts>, model: &str) -> Option<&'a ModelFacts> {
    let fitting = models.iter().filter(|(name, _)| model.starts_with(name.as_str()));
    fitting.max_by_key(|(name, _)| name.len()).map(|(_, facts)| facts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_right() {
        toml::from_str::<File>(include_str!("providers.toml")).unwrap();
        for row in builtin() {
            if let Some(model) = &row.default_model {
                assert!(row.models.contains_key(model), "{model}");
            }
        }
    }

    #[test]
    fn the_longest_name_counts_and_the_person_counts_more() {
        let none = ProviderRow::default();
        let window = |provider: &str, model: &str| facts(&none, provider, model).context_window;
        assert_eq!(window("openai", "gpt-5.4-mini-2026-01-01"), Some(400_000));
        assert_eq!(window("openai", "gpt-5.4"), Some(1_050_000));
        assert_eq!(window("openai", "davinci"), None);
        assert_eq!(window("openrouter", "deepseek/deepseek-v4-pro"), Some(1_000_000));
        assert_eq!(window("openrouter", "anthropic/claude-haiku-4.5"), Some(200_000));
        assert_eq!(
            facts(&none, "openrouter", "deepseek/deepseek-v4-pro").prices,
            None
        );
        let mut row = none;
        row.context_window = Some(1);
        assert_eq!(facts(&row, "deepseek", "deepseek-flash").context_window, Some(1));
        let own = ModelFacts {
            context_window: Some(2),
            ..ModelFacts::default()
        };
        row.models.insert("deepseek-f".into(), own);
        let found = facts(&row, "deepseek", "deepseek-flash");
        assert_eq!((found.context_window, found.images), (Some(2), Some(true)));
    }
}
