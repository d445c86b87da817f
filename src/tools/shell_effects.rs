//! The look at the tree around a command, and what is told of it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::snapshot::{Effect, SnapshotStore, TreeWatch, Unwatched};
use crate::tools::dispatch::Place;

/// How many files a sentence names.
const NAMED: usize = 3;

/// Hears of the files that a command changed, so that review learns of them. Called where blocking is
/// allowed.
pub type EffectHook = Arc<dyn Fn(&SnapshotStore, &[Effect]) + Send + Sync>;

/// Sees what commands do to the project's files.
pub struct ShellEffects {
    watch: Arc<TreeWatch>,
    hook: EffectHook,
    told: AtomicBool,
}

/// What a command did.
#[derive(Debug, Default)]
pub struct Seen {
    /// The files that it changed.
    pub changed: Vec<PathBuf>,
    /// What the person should know.
    pub notice: Option<String>,
}

impl ShellEffects {
    /// Sees what `watch` sees, and tells `hook`.
    pub fn new(watch: Arc<TreeWatch>, hook: EffectHook) -> Self {
        Self {
            watch,
            hook,
            told: AtomicBool::new(false),
        }
    }

    /// Sees nothing.
    pub fn unseen() -> Self {
        Self::new(Arc::new(TreeWatch::new(None)), Arc::new(|_, _| {}))
    }

    /// Looks at the tree for the first time, beside everything else.
    pub fn prepare(&self) {
        let watch = Arc::clone(&self.watch);
        tokio::task::spawn_blocking(move || watch.prepare());
    }

    /// Files were written by a tool of ours: no command did that.
    pub fn written(&self, paths: &[PathBuf]) {
        paths.iter().for_each(|path| self.watch.written(path));
    }

    /// Looks at the tree before a command.
    ///
    /// # Errors
    /// Its effects will not be seen; a sentence for the person, once a session.
    pub async fn before(&self) -> Result<(), Option<String>> {
        let watch = Arc::clone(&self.watch);
        let looked = tokio::task::spawn_blocking(move || watch.before()).await;
        match looked {
            Ok(Ok(())) => Ok(()),
            Ok(Err(Unwatched::TooLarge)) if !self.told.swap(true, Ordering::Relaxed) => Err(Some(
                "This project has too many files to watch: what commands change in it is not seen and not \
                 undone."
                    .to_owned(),
            )),
            _ => Err(None),
        }
    }

    /// Looks at the tree after a command. Call it exactly once for each [`ShellEffects::before`] that went
    /// well.
    pub async fn after(&self, store: &Arc<SnapshotStore>, place: Place, cwd: &Path) -> Seen {
        let (watch, store, hook) = (Arc::clone(&self.watch), Arc::clone(store), Arc::clone(&self.hook));
        let looked = tokio::task::spawn_blocking(move || {
            let effects = watch
                .after(&store, place.step, place.turn)
                .map_err(|error| error.to_string())?;
            if !effects.is_empty() {
                hook(&store, &effects);
            }
            Ok::<_, String>(effects)
        });
        match looked.await.unwrap_or_else(|error| Err(error.to_string())) {
            Ok(effects) => Seen {
                notice: not_undoable(&effects, cwd),
                changed: effects.into_iter().map(|effect| effect.path).collect(),
            },
            Err(error) => Seen {
                changed: Vec::new(),
                notice: Some(format!("What the command changed cannot be undone: {error}")),
            },
        }
    }
}

/// The files that cannot be undone, in words.
fn not_undoable(effects: &[Effect], cwd: &Path) -> Option<String> {
    let lost: Vec<&Path> = effects
        .iter()
        .filter(|effect| effect.before.is_none())
        .map(|effect| effect.path.as_path())
        .collect();
    let names: Vec<String> = lost
        .iter()
        .take(NAMED)
        .map(|path| path.strip_prefix(cwd).unwrap_or(path).display().to_string())
        .collect();
    let more = match lost.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let verb = if lost.len() == 1 { "was" } else { "were" };
    (!lost.is_empty()).then(|| {
        format!(
            "{}{more} {verb} changed by a command and cannot be undone.",
            names.join(", ")
        )
    })
}
