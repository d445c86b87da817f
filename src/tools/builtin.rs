//! The list of built-in tools, in the order in which the model sees them, and what they are made of.

use std::path::PathBuf;
use std::sync::Arc;

use futures_util::future::BoxFuture;

use crate::backend::Backend;
use crate::host::{Editor, Human};
use crate::offload::OffloadDir;
use crate::permission::gate::ReadFilter;
use crate::permission::judge::Shown;
use crate::tools::apply_patch::ApplyPatch;
use crate::tools::bash::Bash;
use crate::tools::delete::Delete;
use crate::tools::edit_file::EditFile;
use crate::tools::git::GitService;
use crate::tools::git_blame::GitBlame;
use crate::tools::git_diff::GitDiff;
use crate::tools::git_log::GitLog;
use crate::tools::git_show::GitShow;
use crate::tools::glob::Glob;
use crate::tools::grep::{Buffers, Grep, MayShow};
use crate::tools::ls::{Ls, Visible};
use crate::tools::question::Question;
use crate::tools::read_file::ReadFile;
use crate::tools::registry::{Registry, erased};
use crate::tools::routed::Routed;
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
    /// Where `/retrieved/…` leads.
    pub offload: Arc<OffloadDir>,
    /// Whether the tool `delete` is offered; without it no patch deletes or moves.
    pub may_delete: bool,
    /// Whether the git program may answer where libgit2 cannot read a repository.
    pub git_program: bool,
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
        offload,
        may_delete,
        git_program,
    } = services;
    let (named, searched, shown) = (reads.clone(), reads.clone(), reads);
    let may_show: MayShow = Arc::new(move |path| shown.shown(path) == Shown::Content);
    let unsaved: Buffers = Arc::new(move || -> BoxFuture<'static, Vec<(PathBuf, String)>> {
        let editor = Arc::clone(&editor);
        Box::pin(async move {
            // Without the editor's word the disk is searched, which is never wrong for a saved file.
            let buffers = editor.unsaved().await.unwrap_or_default();
            buffers
                .into_iter()
                .map(|buffer| (buffer.path, buffer.text))
                .collect()
        })
    });
    let compared = named.clone();
    let git = GitService::new(
        Arc::clone(&unsaved),
        Arc::new(move |path| compared.shown_real(path)),
    )
    .with_program(git_program);
    // Links are listed by ls; a walk gives none, so it need not look for them again.
    let (listed, walked) = (named.clone(), named);
    let listed: Visible = Arc::new(move |path| listed.shown(path) != Shown::Nothing);
    let walked: Visible = Arc::new(move |path| walked.named_real(path));
    let mut registry = Registry::default();
    let patch = ApplyPatch::new(Arc::clone(&backend), Arc::clone(&seen), may_delete);
    let edit = EditFile::new(Arc::clone(&backend), Arc::clone(&seen));
    for tool in [
        erased(ReadFile::new(Arc::clone(&backend), Arc::clone(&seen))),
        erased(WriteFile::new(Arc::clone(&backend), Arc::clone(&seen))),
        erased(edit.hiding(Arc::clone(&may_show))),
        erased(patch.hiding(may_show)),
        erased(Delete::new(Arc::clone(&backend), seen)),
        erased(Ls::new(backend, listed)),
        erased(Glob::new(walked)),
        erased(Grep::new(
            unsaved,
            Arc::new(move |path| searched.shown_real(path) == Shown::Content),
        )),
    ] {
        registry.add_dyn(Arc::new(Routed::new(tool, Arc::clone(&offload))));
    }
    registry.add(bash);
    registry.add(GitDiff::new(git.clone()));
    registry.add(GitShow::new(git.clone()));
    registry.add(GitBlame::new(git.clone()));
    registry.add(GitLog::new(git));
    registry.add(TodoWrite::new(plan));
    registry.add(Question::new(human));
    registry
}
