//! The list of built-in tools, in the order in which the model sees them, and what they are made of.

use std::path::PathBuf;
use std::sync::Arc;

use futures_util::future::BoxFuture;

use crate::backend::Backend;
use crate::host::{Editor, Human};
use crate::permission::gate::ReadFilter;
use crate::permission::judge::Shown;
use crate::tools::apply_patch::ApplyPatch;
use crate::tools::bash::Bash;
use crate::tools::delete::Delete;
use crate::tools::edit_file::EditFile;
use crate::tools::glob::Glob;
use crate::tools::grep::{Grep, MayShow};
use crate::tools::ls::{Ls, Visible};
use crate::tools::question::Question;
use crate::tools::read_file::ReadFile;
use crate::tools::registry::Registry;
use crate::tools::seen::SeenFiles;
use crate::tools::todo_write::{PlanSink, TodoWrite};
use crate::tools::write_file::WriteFile;

/// What the tools work with.
pub struct Services {
    /// Files.
    pub backend: Arc<dyn Backend>,
    /// Unsaved buffers.
    pub editor: Arc<dyn Editor>,
    /// Answers questions.
    pub human: Arc<dyn Human>,
    /// Runs commands.
    pub bash: Bash,
    /// Hears of the plan.
    pub plan: PlanSink,
    /// Says how much of a file may be shown.
    pub reads: ReadFilter,
    /// What the file tools have read and written.
    pub seen: Arc<SeenFiles>,
    /// Whether the tool `delete` is offered; without it no patch deletes or moves.
    pub may_delete: bool,
}

/// All built-in tools.
pub fn registry(services: Services) -> Registry {
    let Services {
        backend,
        editor,
        human,
        bash,
        plan,
        reads,
        seen,
        may_delete,
    } = services;
    let (named, searched, shown) = (reads.clone(), reads.clone(), reads);
    let may_show: MayShow = Arc::new(move |path| shown.shown(path) == Shown::Content);
    let unsaved = move || -> BoxFuture<'static, Vec<(PathBuf, String)>> {
        let editor = Arc::clone(&editor);
        Box::pin(async move {
            // Without the editor's word the disk is searched, which is never wrong for a saved file.
            let buffers = editor.unsaved().await.unwrap_or_default();
            buffers
                .into_iter()
                .map(|buffer| (buffer.path, buffer.text))
                .collect()
        })
    };
    // Links are listed by ls; a walk gives none, so it need not look for them again.
    let (listed, walked) = (named.clone(), named);
    let listed: Visible = Arc::new(move |path| listed.shown(path) != Shown::Nothing);
    let walked: Visible = Arc::new(move |path| walked.shown_real(path) != Shown::Nothing);
    let mut registry = Registry::default();
    registry.add(ReadFile::new(Arc::clone(&backend), Arc::clone(&seen)));
    registry.add(WriteFile::new(Arc::clone(&backend), Arc::clone(&seen)));
    registry.add(EditFile::new(Arc::clone(&backend), Arc::clone(&seen)).hiding(Arc::clone(&may_show)));
    let patch = ApplyPatch::new(Arc::clone(&backend), Arc::clone(&seen), may_delete);
    registry.add(patch.hiding(may_show));
    registry.add(Delete::new(Arc::clone(&backend), seen));
    registry.add(Ls::new(backend, listed));
    registry.add(Glob::new(walked));
    registry.add(Grep::new(
        Arc::new(unsaved),
        Arc::new(move |path| searched.shown_real(path) == Shown::Content),
    ));
    registry.add(bash);
    registry.add(TodoWrite::new(plan));
    registry.add(Question::new(human));
    registry
}
