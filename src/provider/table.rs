//! The providers that need no configuration, and how a model is chosen and opened.

use std::path::Path;
use std::sync::Arc;

use super::model::{Provider, ProviderError, ProviderErrorKind};
use super::openai::{Dial, OpenAi};
use super::retry::RetryPolicy;
use super::scripted::Scripted;
use super::settings::{ProviderRow, ProviderSettings};

/// A provider that is known without configuration; all speak the `openai` wire.
struct Builtin {
    name: &'static str,
    base_url: &'static str,
    /// None: a server on this machine, which wants no key.
    key_env: Option<&'static str>,
    /// The model that is taken when nothing is configured and the key is there.
    default_model: Option<&'static str>,
}

/// Where nothing is configured, the first row whose key is set and which has a default model wins.
const BUILTIN: &[Builtin] = &[
    Builtin {
        name: "openai",
        base_url: "https://api.openai.com/v1",
        key_env: Some("OPENAI_API_KEY"),
        default_model: Some("gpt-5.4-mini"),
    },
    Builtin {
        name: "deepseek",
        base_url: "https://api.deepseek.com/v1",
        key_env: Some("DEEPSEEK_API_KEY"),
        default_model: Some("deepseek-flash"),
    },
    Builtin {
        name: "openrouter",
        base_url: "https://openrouter.ai/api/v1",
        key_env: Some("OPENROUTER_API_KEY"),
        default_model: None,
    },
    Builtin {
        name: "ollama",
        base_url: "http://127.0.0.1:11434/v1",
        key_env: None,
        default_model: None,
    },
    Builtin {
        name: "llamacpp",
        base_url: "http://127.0.0.1:8080/v1",
        key_env: None,
        default_model: None,
    },
    Builtin {
        name: "vllm",
        base_url: "http://127.0.0.1:8000/v1",
        key_env: None,
        default_model: None,
    },
];

/// Context windows in tokens by the beginning of the model's name; the first that fits counts.
/// Servers on this machine are not here: their window is what they were started with.
const WINDOWS: &[(&str, u64)] = &[
    ("deepseek-", 1_000_000),
    ("gpt-5.4-mini", 400_000),
    ("gpt-5.4-nano", 400_000),
    ("gpt-5.4", 1_050_000),
    ("gpt-5.5", 1_050_000),
    ("gpt-5", 400_000),
    ("gpt-4.1", 1_047_576),
    ("gpt-4o", 128_000),
    ("o3", 200_000),
    ("o4-mini", 200_000),
];

/// Opens the model that the settings name, or the script. Nothing is sent yet.
///
/// A script comes first (`settings.script`, then `DCODE_SCRIPT`), then `settings.model`, then the
/// first built-in provider whose key is in the environment. `env` reads one variable; a value of
/// blanks counts as none, and keys are trimmed.
pub fn open(
    settings: &ProviderSettings,
    env: &dyn Fn(&str) -> Option<String>,
) -> Result<Arc<dyn Provider>, ProviderError> {
    let set = |name: &str| {
        env(name)
            .map(|value| value.trim().to_owned())
            .filter(|value| !value.is_empty())
    };
    if let Some(script) = settings
        .script
        .clone()
        .or_else(|| set("DCODE_SCRIPT").map(Into::into))
    {
        return open_script(&script);
    }
    let chosen = settings
        .model
        .as_deref()
        .map(str::trim)
        .filter(|model| !model.is_empty());
    let chosen = match chosen {
        Some(model) => model.to_owned(),
        None => default_model(&set).ok_or_else(|| {
            config(
                "No model is configured.",
                "Set DEEPSEEK_API_KEY or OPENAI_API_KEY, or type :Dcode model PROVIDER:MODEL, \
                 for example :Dcode model openai:gpt-5.4-mini.",
            )
        })?,
    };
    let Some((provider, model)) = chosen
        .split_once(':')
        .filter(|(p, m)| !p.is_empty() && !m.is_empty())
    else {
        return Err(config(
            format!("\"{chosen}\" does not name provider and model."),
            "Write provider:model, for example deepseek:deepseek-flash.",
        ));
    };
    let row = row(settings, provider)?;
    match row.wire.as_deref().unwrap_or("openai") {
        "openai" => open_chat(provider, model, row, &set),
        "scripted" => match &row.script {
            Some(script) => open_script(script),
            None => Err(config(
                format!("The provider {provider} plays a script, but names none."),
                format!("Set providers.{provider}.script to a file."),
            )),
        },
        other => Err(config(
            format!("The provider {provider} has the unknown wire \"{other}\"."),
            format!("Set providers.{provider}.wire to 'openai' or 'scripted'."),
        )),
    }
}

/// The names that may stand before the colon of a model, sorted.
pub fn provider_names(settings: &ProviderSettings) -> Vec<String> {
    let builtin = BUILTIN.iter().map(|row| row.name.to_owned());
    let mut names: Vec<String> = builtin.chain(settings.providers.keys().cloned()).collect();
    names.sort();
    names.dedup();
    names
}

/// The environment variables that hold a key of any provider, sorted.
pub fn key_variables(settings: &ProviderSettings) -> Vec<String> {
    let builtin = BUILTIN.iter().filter_map(|row| row.key_env.map(str::to_owned));
    let configured = settings
        .providers
        .values()
        .filter_map(|row| row.api_key_env.clone());
    let mut names: Vec<String> = builtin.chain(configured).collect();
    names.sort();
    names.dedup();
    names
}

fn default_model(set: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    BUILTIN.iter().find_map(|row| {
        set(row.key_env?)?;
        Some(format!("{}:{}", row.name, row.default_model?))
    })
}

/// The configured row over the built-in one.
fn row(settings: &ProviderSettings, provider: &str) -> Result<ProviderRow, ProviderError> {
    let configured = settings.providers.get(provider);
    let builtin = BUILTIN.iter().find(|row| row.name == provider);
    if configured.is_none() && builtin.is_none() {
        let names = provider_names(settings);
        let nearest = names
            .iter()
            .max_by(|a, b| strsim::jaro_winkler(provider, a).total_cmp(&strsim::jaro_winkler(provider, b)));
        return Err(config(
            format!("There is no provider named \"{provider}\"."),
            match nearest {
                Some(near) if strsim::jaro_winkler(provider, near) > 0.8 => format!("Did you mean {near}?"),
                _ => format!("Known are {}; others go into providers.", names.join(", ")),
            },
        ));
    }
    let mut row = configured.cloned().unwrap_or_default();
    if let Some(builtin) = builtin {
        row.base_url.get_or_insert_with(|| builtin.base_url.to_owned());
        if row.api_key_env.is_none() {
            row.api_key_env = builtin.key_env.map(ToOwned::to_owned);
        }
    }
    Ok(row)
}

fn open_chat(
    provider: &str,
    model: &str,
    row: ProviderRow,
    set: &dyn Fn(&str) -> Option<String>,
) -> Result<Arc<dyn Provider>, ProviderError> {
    let Some(base_url) = row.base_url else {
        return Err(config(
            format!("The provider {provider} has no base_url."),
            format!("Set providers.{provider}.base_url, for example to http://127.0.0.1:8000/v1."),
        ));
    };
    let key = row.api_key_env.as_deref().and_then(set);
    if let (Some(variable), None, false) = (&row.api_key_env, &key, is_loopback(&base_url)) {
        return Err(ProviderError {
            kind: ProviderErrorKind::Auth,
            message: format!("There is no key for {provider}: {variable} is not set."),
            hint: format!(
                "Set {variable} and start Neovim anew, or type :Dcode model PROVIDER:MODEL, \
                 for example :Dcode model ollama:qwen3-coder."
            ),
        });
    }
    let replay_reasoning = row
        .replay_reasoning
        .unwrap_or_else(|| wants_reasoning_back(provider, model));
    let known = || {
        WINDOWS
            .iter()
            .find(|(name, _)| model.starts_with(name))
            .map(|(_, window)| *window)
    };
    let context_window = row
        .context_window
        .or_else(|| known().filter(|_| !is_loopback(&base_url)));
    let provider = OpenAi::new(Dial {
        provider: provider.to_owned(),
        model: model.to_owned(),
        base_url,
        key_env: row.api_key_env,
        key,
        headers: row.headers,
        context_window: context_window.unwrap_or(0),
        replay_reasoning,
        timeouts: None,
        retry: RetryPolicy::default(),
    })?;
    Ok(Arc::new(provider))
}

fn open_script(path: &Path) -> Result<Arc<dyn Provider>, ProviderError> {
    Ok(Arc::new(Scripted::load(path)?))
}

fn is_loopback(base_url: &str) -> bool {
    super::http::endpoint(base_url).is_ok_and(|url| super::http::is_loopback(&url))
}

/// DeepSeek and Kimi refuse calls of theirs that come back without the reasoning behind them;
/// OpenAI does not know the field.
fn wants_reasoning_back(provider: &str, model: &str) -> bool {
    let model = model.to_lowercase();
    provider == "deepseek" || ["deepseek", "kimi"].iter().any(|name| model.contains(name))
}

fn config(message: impl Into<String>, hint: impl Into<String>) -> ProviderError {
    ProviderError {
        kind: ProviderErrorKind::Config,
        message: message.into(),
        hint: hint.into(),
    }
}
