//! Models to choose from: those that are known, and those that servers on this machine have loaded.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use serde::Serialize;
use serde_json::Value;

use super::http::{self, Timeouts};
use super::model::{Provider, ProviderError, ProviderErrorKind};
use super::rows::{builtin, facts, provider_names, row};
use super::settings::{ProviderRow, ProviderSettings};
use super::table::{has_key, is_loopback, open, trimmed};
use super::wire::Wire;

/// How long a server may take to name its models: one that runs here answers at once.
const PATIENCE: Duration = Duration::from_millis(1_500);
/// No list of models is longer than this many bytes, and no more of them are shown.
const LIST_BYTES: usize = 4 * 1024 * 1024;
const LIST_MODELS: usize = 200;

/// A model to choose.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ModelRow {
    /// `provider:model`.
    pub name: String,
    /// Tokens that it can read, when known.
    pub context_window: Option<u64>,
    /// Whether it is shown images.
    pub images: bool,
    /// US dollars for a million tokens of request and reply, when known.
    pub price: Option<(f64, f64)>,
    /// What is missing before it can be used: the variable of its key. None: nothing is.
    pub missing: Option<String>,
}

/// As [`open`], and where nothing is configured the first model of an Ollama that runs here. Blocks.
///
/// # Errors
/// As [`open`].
pub fn open_any(
    settings: &ProviderSettings,
    env: &dyn Fn(&str) -> Option<String>,
) -> Result<Arc<dyn Provider>, ProviderError> {
    let opened = open(settings, env);
    let nothing_named = settings.model.is_none() && settings.script.is_none();
    let Err(error) = opened else { return opened };
    if !nothing_named || error.kind != ProviderErrorKind::Config {
        return Err(error);
    }
    let Some(model) = row(settings, "ollama").ok().and_then(first_loaded) else {
        return Err(error);
    };
    let settings = ProviderSettings {
        model: Some(format!("ollama:{model}")),
        ..settings.clone()
    };
    open(&settings, env)
}

/// The first model of a server. It is asked from a thread of its own, as we may be on one of a runtime's.
fn first_loaded(row: ProviderRow) -> Option<String> {
    let asked = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .ok()?;
        runtime.block_on(loaded(&row, None)).into_iter().next()
    });
    asked.join().ok().flatten()
}

/// Everything that can be chosen: what can be used at once first. Servers of the person's own rows and on
/// this machine are asked; one that does not answer has no models.
pub fn list(
    settings: &ProviderSettings,
    env: &dyn Fn(&str) -> Option<String>,
) -> impl Future<Output = Vec<ModelRow>> + Send + use<> {
    let set = trimmed(env);
    let mut names: Vec<String> = builtin().iter().map(|row| row.name.clone()).collect();
    let own = provider_names(settings);
    names.extend(
        own.into_iter()
            .filter(|name| builtin().iter().all(|row| row.name != *name)),
    );
    let servers = names
        .into_iter()
        .filter_map(|name| Some(Server::new(row(settings, &name).ok()?, name, &set)));
    let servers: Vec<Server> = servers.collect();
    async move {
        let answers = join_all(servers.iter().map(Server::loaded)).await;
        let both = servers.iter().zip(answers);
        let mut rows: Vec<ModelRow> = both.flat_map(|(server, loaded)| server.models(loaded)).collect();
        rows.sort_by_key(|row| row.missing.is_some());
        rows
    }
}

/// A provider that may be chosen.
struct Server {
    name: String,
    row: ProviderRow,
    key: Option<String>,
    /// The variable of a key that is not set.
    missing: Option<String>,
}

impl Server {
    fn new(row: ProviderRow, name: String, set: &dyn Fn(&str) -> Option<String>) -> Self {
        let here = row.base_url.as_deref().is_some_and(is_loopback);
        let missing = (!here && !has_key(&row, set))
            .then(|| row.api_key_env.clone())
            .flatten();
        Self {
            name,
            key: row.api_key_env.as_deref().and_then(set),
            row,
            missing,
        }
    }

    /// What it says it has, if it is worth asking: of the big ones we know what counts.
    async fn loaded(&self) -> Vec<String> {
        let ours = builtin().iter().any(|row| row.name == self.name);
        let here = self.row.base_url.as_deref().is_some_and(is_loopback);
        if here || !ours {
            loaded(&self.row, self.key.as_deref()).await
        } else {
            Vec::new()
        }
    }

    /// The known models and the loaded ones, each once.
    fn models(&self, loaded: Vec<String>) -> Vec<ModelRow> {
        let known = builtin().iter().find(|row| row.name == self.name);
        let known = known.map(|row| &row.models).into_iter().flatten();
        let listed = known.chain(&self.row.models);
        let listed = listed.filter(|(_, facts)| facts.listed != Some(false));
        let mut seen = BTreeSet::new();
        let models = listed.map(|(model, _)| model.clone()).chain(loaded);
        models
            .filter(|model| seen.insert(model.clone()))
            .map(|model| self.describe(&model))
            .collect()
    }

    fn describe(&self, model: &str) -> ModelRow {
        let facts = facts(&self.row, &self.name, model);
        ModelRow {
            name: format!("{}:{model}", self.name),
            context_window: facts.context_window,
            images: facts.images.unwrap_or(false),
            price: facts.prices.map(|prices| (prices.input, prices.output)),
            missing: self.missing.clone(),
        }
    }
}

/// The models that a server says it has; none when it does not answer.
async fn loaded(row: &ProviderRow, key: Option<&str>) -> Vec<String> {
    tokio::time::timeout(PATIENCE, ask(row, key))
        .await
        .ok()
        .flatten()
        .unwrap_or_default()
}

async fn ask(row: &ProviderRow, key: Option<&str>) -> Option<Vec<String>> {
    let wire = row.wire.as_deref().map_or(Some(Wire::Chat), Wire::named)?;
    let mut url = http::endpoint(row.base_url.as_deref()?, wire).ok()?;
    let path = format!("{}/models", url.path().strip_suffix(wire.path())?);
    url.set_path(&path);
    let headers = http::headers(wire, key.map(|key| ("the key", key)), &row.headers).ok()?;
    let client = http::client(&Timeouts::default(), &url).ok()?;
    let mut answer = client.get(url).headers(headers).send().await.ok()?;
    if !answer.status().is_success() {
        return None;
    }
    let mut bytes = Vec::new();
    while let Some(chunk) = answer.chunk().await.ok()? {
        bytes.extend_from_slice(&chunk);
        if bytes.len() > LIST_BYTES {
            return None;
        }
    }
    let list: Value = serde_json::from_slice(&bytes).ok()?;
    let models = list.get("data")?.as_array()?.iter();
    let names = models.filter_map(|model| model.get("id")?.as_str().map(ToOwned::to_owned));
    Some(names.take(LIST_MODELS).collect())
}
