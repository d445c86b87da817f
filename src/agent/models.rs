//! Which model a session talks to.

use std::path::PathBuf;
use std::sync::Arc;

use crate::agent::setup::Blueprint;
use crate::config::provider_rows;
use crate::fs::atomic;
use crate::provider::{self, ModelRow, Provider, ProviderError, ProviderRow, ProviderSettings};
use crate::shell::inherited;

impl Blueprint {
    /// Opens the model `name`, else the configured one, else what the person chose last, else one whose key
    /// is there, else one of an Ollama that runs. May take seconds: a command may print the key.
    ///
    /// # Errors
    /// Why there is none, and what to type.
    pub fn open_model(&self, name: Option<&str>) -> Result<Arc<dyn Provider>, ProviderError> {
        let mut settings = self.provider_settings();
        if let Some(name) = name {
            settings.model = Some(name.to_owned());
        }
        provider::open_any(&settings, &variable)
    }

    /// Keeps the person's choice for the next Neovim. A choice that cannot be kept is made again then.
    pub fn remember_model(&self, name: &str) {
        let text = format!("{name}\n");
        let _ = atomic::write(&self.memory(), text.as_bytes(), Some(0o600));
    }

    /// Models to choose from. Servers on this machine are asked for theirs.
    pub fn models(&self) -> impl Future<Output = Vec<ModelRow>> + Send + use<> {
        provider::list(&self.provider_settings(), &variable)
    }

    /// Names of the variables that hold keys or look so; no child of ours sees them.
    pub(super) fn secret_variables(&self) -> Vec<String> {
        let mut names = inherited::keys(&self.loaded.config.bash.env_keep);
        names.extend(provider::key_variables(&self.provider_settings()));
        names
    }

    fn memory(&self) -> PathBuf {
        self.start.state_dir.join("model")
    }

    pub(super) fn provider_settings(&self) -> ProviderSettings {
        let config = &self.loaded.config;
        let rows = config.providers.iter();
        let remembered = std::fs::read_to_string(self.memory()).ok();
        ProviderSettings {
            model: config.model.clone(),
            remembered: remembered.map(|name| name.trim().to_owned()),
            providers: rows
                .map(|(name, row)| (name.clone(), provider_row(row)))
                .collect(),
            script: config.script.clone(),
            thinking: config.thinking,
            effort: config.effort.clone(),
            retries: config.retries,
        }
    }
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

fn provider_row(row: &provider_rows::ProviderRow) -> ProviderRow {
    let headers = row.headers.iter();
    let headers = headers.map(|(key, value)| (key.clone(), value.reveal().to_owned()));
    let models = row.models.clone().map(serde_json::from_value);
    let (models, broken) = match models.transpose() {
        Ok(models) => (models.unwrap_or_default(), None),
        Err(error) => (Default::default(), Some(error.to_string())),
    };
    ProviderRow {
        wire: row.wire.clone(),
        base_url: row.base_url.clone(),
        api_key_env: row.api_key_env.clone(),
        api_key_cmd: row.api_key_cmd.clone(),
        api_key_file: row.api_key_file.clone(),
        headers: headers.collect(),
        context_window: row.context_window,
        first_token_timeout_ms: row.first_token_timeout_ms,
        chunk_stall_timeout_ms: row.chunk_stall_timeout_ms,
        images: row.images,
        replay_reasoning: row.replay_reasoning,
        style: row
            .style
            .as_ref()
            .and_then(|style| serde_json::from_value(style.as_str().into()).ok()),
        models,
        broken,
        script: row.script.clone(),
    }
}
