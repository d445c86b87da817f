//! What a session begins with: nothing, or what an earlier process left of it; its journal, and what its
//! commands are watched by.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::agent::effects;
use crate::agent::history::History;
use crate::agent::reopen::Place;
use crate::agent::resume::Resumed;
use crate::agent::review_keeper::Kept;
use crate::agent::session_log::{LogSetup, SessionLog};
use crate::agent::setup::Blueprint;
use crate::agent::system::{self, Parts, SystemPrompt};
use crate::fs::safe_path;
use crate::journal::{Journal, Record};
use crate::offload::OffloadDir;
use crate::permission::gate::Gate;
use crate::protocol::event::{Event, Level, Notice};
use crate::protocol::ids::{SessionId, TurnId};
use crate::snapshot::{SnapshotDirs, SnapshotStore, TreeWatch};
use crate::tools::registry::Registry;
use crate::tools::shell_effects::EffectHook;

/// What a session begins with.
pub(super) struct Began {
    pub(super) session: SessionId,
    pub(super) snapshots: SnapshotStore,
    pub(super) journal: Option<Journal>,
    pub(super) kept: BTreeMap<PathBuf, Kept>,
    pub(super) history: History,
    pub(super) prompts: BTreeMap<TurnId, String>,
    pub(super) last_step: u64,
}

impl Blueprint {
    /// The journal of a session: a new one, or the one that it goes on with and what that says of files that wait.
    pub(super) fn log(
        &self,
        session: &SessionId,
        model: Option<String>,
        mode: &str,
        (journal, kept): (Option<Journal>, BTreeMap<PathBuf, Kept>),
    ) -> SessionLog {
        SessionLog::new(LogSetup {
            state_dir: self.start.state_dir.clone(),
            root: self.place().root,
            session: session.clone(),
            first: Record::SessionStarted {
                session: session.clone(),
                cwd: self.start.cwd.clone(),
                model,
                mode: mode.into(),
                version: env!("CARGO_PKG_VERSION").into(),
            },
            journal,
            kept,
            review: Arc::clone(&self.review),
            events: Arc::clone(&self.events),
        })
    }

    /// What a session begins with: nothing, or what an earlier process left of it.
    pub(super) fn begin(&self, resumed: Option<(Resumed, SnapshotStore)>) -> Began {
        let Some((resumed, snapshots)) = resumed else {
            let session = SessionId(ulid::Ulid::new().to_string());
            return Began {
                snapshots: SnapshotStore::new(self.snapshot_dirs(), session.clone()),
                session,
                journal: None,
                kept: BTreeMap::new(),
                history: History::default(),
                prompts: BTreeMap::new(),
                last_step: 0,
            };
        };
        self.turns.fetch_max(resumed.last_turn, Ordering::Relaxed);
        Began {
            session: resumed.session,
            snapshots,
            journal: Some(resumed.journal),
            kept: resumed.kept,
            history: resumed.history,
            prompts: resumed.prompts,
            last_step: resumed.last_step,
        }
    }

    /// The system prompt, and to the person what is to be said of the files in it.
    pub(super) fn system_prompt(&self, gate: &Gate, shell: &str, registry: &Registry) -> String {
        let SystemPrompt { text, notices } = system::system_prompt(&Parts {
            cwd: &self.start.cwd,
            root: self.project.as_deref(),
            home: &self.start.home,
            shell,
            tools: &registry.names(),
            reads: &gate.read_filter(),
        });
        for message in notices {
            self.events.push(Event::Notice(Notice {
                level: Level::Warn,
                message,
                hint: None,
            }));
        }
        text
    }

    /// The folder of long results, its links resolved: what tools are permitted to read is real paths.
    pub(super) fn offload(&self, session: &SessionId) -> OffloadDir {
        let real = |path: &Path| match safe_path::resolve(&self.start.cwd, &path.display().to_string()) {
            Ok(resolved) => resolved.path,
            Err(_) => path.to_owned(),
        };
        match &self.loaded.config.artifacts_dir {
            Some(chosen) => OffloadDir::chosen(&real(chosen), &session.0),
            None => OffloadDir::new(&real(&std::env::temp_dir()), &session.0),
        }
    }

    /// Where the sessions of this project are found.
    pub fn place(&self) -> Place {
        Place {
            state_dir: self.start.state_dir.clone(),
            root: self.project.clone().unwrap_or_else(|| self.start.cwd.clone()),
            home: self.start.home.clone(),
        }
    }

    /// Where snapshots lie. Outside any project they lie with our state, never in the home folder itself.
    pub fn snapshot_dirs(&self) -> SnapshotDirs {
        let nowhere = self.start.state_dir.join("no-project");
        SnapshotDirs {
            project: self.project.clone().unwrap_or(nowhere),
            state: self.start.state_dir.clone(),
        }
    }

    /// Tells the review of files that a command changed.
    pub(super) fn effect_hook(&self) -> EffectHook {
        let review = Arc::clone(&self.review);
        Arc::new(move |store, effects| effects::review(&review, store, effects))
    }

    /// The watch over the project's files; a buffer that is written is no command's doing.
    pub fn watch(&self) -> Arc<TreeWatch> {
        Arc::clone(&self.watch)
    }
}
