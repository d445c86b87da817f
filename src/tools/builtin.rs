//! The list of built-in tools, in prompt order, and what they are made of.

use std::sync::Arc;

use serde_json::Value;

use crate::backend::Backend;
use crate::host::{Editor, Human};
use crate::permission::gate::ReadFilter;
use crate::permission::judge::Shown;
use crate::shell::env::Shell;
use crate::shell::watchdog::Watchdog;
use crate::tools::edit_file::EditFile;
use crate::tools::ls::Ls;
use crate::tools::read_file::ReadFile;
use crate::tools::registry::Registry;
use crate::tools::seen::SeenFiles;
use crate::tools::write_file::WriteFile;

/// Takes the items of the plan whenever it changes.
pub type TodoHook = Arc<dyn Fn(Vec<Value>) + Send + Sync>;

/// What the tools work with.
pub struct Services {
    /// Files.
    pub backend: Arc<dyn Backend>,
    /// Unsaved buffers.
    pub editor: Arc<dyn Editor>,
    /// Answers questions.
    pub human: Arc<dyn Human>,
    /// Runs commands.
    pub shell: Shell,
    /// Why it is not the person's own shell.
    pub shell_notice: Option<String>,
    /// Kills what a dead Neovim left.
    pub watchdog: Arc<Watchdog>,
    /// Limit of a command that names none, in milliseconds.
    pub bash_timeout_ms: u64,
    /// Environment variables that no child may see.
    pub secrets: Vec<String>,
    /// Hears of the plan.
    pub todo: TodoHook,
    /// Says how much of a file may be shown.
    pub reads: ReadFilter,
}

/// All built-in tools.
pub fn registry(services: Services) -> Registry {
    let Services { backend, reads, .. } = services;
    let seen = Arc::new(SeenFiles::default());
    let mut registry = Registry::default();
    registry.add(ReadFile::new(Arc::clone(&backend), Arc::clone(&seen)));
    registry.add(WriteFile::new(Arc::clone(&backend), Arc::clone(&seen)));
    registry.add(EditFile::new(Arc::clone(&backend), seen));
    registry.add(Ls::new(backend, Arc::new(move |path| reads.shown(path) != Shown::Nothing)));
    registry
}
