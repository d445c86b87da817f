//! How a model is chosen and opened.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::client::HttpModel;
use super::dial::Dial;
use super::http::Timeouts;
use super::keys;
use super::model::{Provider, ProviderError, ProviderErrorKind};
use super::retry::RetryPolicy;
use super::rows::{builtin, facts, row};
use super::scripted::Scripted;
use super::sentences::config;
use super::settings::{ProviderRow, ProviderSettings};
use super::wire::Wire;

/// The longest reply where nothing is known of the model.
const MAX_OUTPUT: u64 = 32_000;

/// Opens the model that the settings name, or the script. Nothing is sent yet.
///
/// A script comes first (`settings.script`, then `DCODE_SCRIPT`), then `settings.model`, then the remembered
/// one if it can be opened, then the first built-in provider whose key is there. `env` reads one variable; a
/// value of blanks counts as none, and keys are trimmed. Commands that print keys are run: it may take seconds.
///
/// # Errors
/// Kind `Config` with the hint to choose one where there is nothing to choose from.
pub fn open(
    settings: &ProviderSettings,
    env: &dyn Fn(&str) -> Option<String>,
) -> Result<Arc<dyn Provider>, ProviderError> {
    let set = trimmed(env);
    if let Some(script) = settings
        .script
        .clone()
        .or_else(|| set("DCODE_SCRIPT").map(Into::into))
    {
        return open_script(&script);
    }
    if let Some(chosen) = named(settings.model.as_deref()) {
        return open_named(settings, chosen, &set);
    }
    if let Some(remembered) = named(settings.remembered.as_deref())
        && let Ok(provider) = open_named(settings, remembered, &set)
    {
        return Ok(provider);
    }
    match default_model(settings, &set) {
        Some(chosen) => open_named(settings, &chosen, &set),
        None => Err(config(
            "No model is configured.",
            "Set DEEPSEEK_API_KEY, ANTHROPIC_API_KEY or OPENAI_API_KEY, or choose one with :Dcode model.",
        )),
    }
}

fn named(model: Option<&str>) -> Option<&str> {
    model.map(str::trim).filter(|model| !model.is_empty())
}

/// Reads variables; blank ones count as not set.
pub(super) fn trimmed(env: &dyn Fn(&str) -> Option<String>) -> impl Fn(&str) -> Option<String> {
    move |name: &str| {
        env(name)
            .map(|value| value.trim().to_owned())
            .filter(|value| !value.is_empty())
    }
}

/// The default of the first provider, in our order, that has a default model and a place where its key is.
fn default_model(settings: &ProviderSettings, set: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    builtin().iter().find_map(|builtin| {
        let model = builtin.default_model.as_ref()?;
        let row = row(settings, &builtin.name).ok()?;
        has_key(&row, set).then(|| format!("{}:{model}", builtin.name))
    })
}

/// Whether there is a place for the key; a command is not run for it.
pub(super) fn has_key(row: &ProviderRow, set: &dyn Fn(&str) -> Option<String>) -> bool {
    row.api_key_env.as_deref().is_some_and(|name| set(name).is_some())
        || row.api_key_cmd.is_some()
        || row.api_key_file.is_some()
}

fn open_named(
    settings: &ProviderSettings,
    chosen: &str,
    set: &dyn Fn(&str) -> Option<String>,
) -> Result<Arc<dyn Provider>, ProviderError> {
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
    match row.wire.as_deref().unwrap_or("chat") {
        "scripted" => match &row.script {
            Some(script) => open_script(script),
            None => Err(config(
                format!("The provider {provider} plays a script, but names none."),
                format!("Set providers.{provider}.script to a file."),
            )),
        },
        name => match Wire::named(name) {
            Some(wire) => open_http(settings, provider, model, wire, row, set),
            None => Err(config(
                format!("The provider {provider} has the unknown wire \"{name}\"."),
                format!("Set providers.{provider}.wire to chat, responses, messages or scripted."),
            )),
        },
    }
}

fn open_http(
    settings: &ProviderSettings,
    provider: &str,
    model: &str,
    wire: Wire,
    row: ProviderRow,
    set: &dyn Fn(&str) -> Option<String>,
) -> Result<Arc<dyn Provider>, ProviderError> {
    if let Some(why) = &row.broken {
        return Err(config(
            format!("What is said of the models of {provider} cannot be understood: {why}."),
            format!("Correct providers.{provider}.models."),
        ));
    }
    let facts = facts(&row, provider, model);
    let Some(base_url) = row.base_url.clone() else {
        return Err(config(
            format!("The provider {provider} has no base_url."),
            format!("Set providers.{provider}.base_url, for example to http://127.0.0.1:8000/v1."),
        ));
    };
    let key = keys::find(provider, &row, set)?;
    let loopback = is_loopback(&base_url);
    if let (Some(variable), None, false) = (&row.api_key_env, &key, loopback) {
        return Err(ProviderError {
            kind: ProviderErrorKind::Auth,
            message: format!("There is no key for {provider}: {variable} is not set."),
            hint: format!(
                "Set {variable} and start Neovim anew, or choose another model with :Dcode model, \
                 for example :Dcode model ollama:qwen3-coder."
            ),
        });
    }
    let replay_reasoning = row
        .replay_reasoning
        .unwrap_or_else(|| wants_reasoning_back(provider, model));
    // What our table knows is of the provider's own servers, not of one here that bears its name.
    let configured = row.context_window.is_some() || !row.models.is_empty();
    let context_window = facts.context_window.filter(|_| configured || !loopback);
    let usual = if loopback {
        Timeouts::local()
    } else {
        Timeouts::default()
    };
    let milliseconds = |said: Option<u64>, usual| said.map_or(usual, Duration::from_millis);
    let timeouts = Timeouts {
        first_byte: milliseconds(row.first_token_timeout_ms, usual.first_byte),
        stall: milliseconds(row.chunk_stall_timeout_ms, usual.stall),
        ..usual
    };
    let opened = HttpModel::new(Dial {
        provider: provider.to_owned(),
        model: model.to_owned(),
        wire,
        base_url,
        key_env: row.api_key_env,
        key,
        headers: row.headers,
        context_window: context_window.unwrap_or(0),
        max_output: facts.max_output.unwrap_or(MAX_OUTPUT),
        prices: facts.prices,
        images: facts.images.unwrap_or(false),
        replay_reasoning,
        style: facts.style.unwrap_or_default(),
        thinking: settings.thinking,
        effort: settings.effort.clone(),
        timeouts: Some(timeouts),
        retry: RetryPolicy {
            retries: settings.retries.unwrap_or(RetryPolicy::default().retries),
            ..RetryPolicy::default()
        },
    })?;
    Ok(Arc::new(opened))
}

fn open_script(path: &Path) -> Result<Arc<dyn Provider>, ProviderError> {
    Ok(Arc::new(Scripted::load(path)?))
}

pub(super) fn is_loopback(base_url: &str) -> bool {
    super::http::endpoint(base_url, Wire::Chat).is_ok_and(|url| super::http::is_loopback(&url))
}

/// DeepSeek and Kimi refuse calls of theirs that come back without the reasoning behind them;
/// OpenAI does not know the field.
fn wants_reasoning_back(provider: &str, model: &str) -> bool {
    let model = model.to_lowercase();
    provider == "deepseek" || ["deepseek", "kimi"].iter().any(|name| model.contains(name))
}
