//! From the front end's start to a session: configuration, services, tools, model.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::Serialize;
use serde_json::Value;
use thiserror::Error;
use tokio_util::sync::CancellationToken;

use crate::agent::core::Core;
use crate::agent::history::History;
use crate::agent::prefix::Prefix;
use crate::agent::queue::EventQueue;
use crate::agent::requests::Requests;
use crate::agent::session_log::SessionLog;
use crate::agent::status::StatusBoard;
use crate::agent::system::{self, Parts, SystemPrompt};
use crate::agent::waiting::WaitingRoom;
use crate::backend::local::LocalBackend;
use crate::config::load::{self, LoadInput, Loaded};
use crate::config::shell_list::ShellAllowList;
use crate::config::show;
use crate::fs::safe_path;
use crate::host::{Editor, Human};
use crate::journal::Record;
use crate::offload::OffloadDir;
use crate::permission::gate::{Gate, GateSetup};
use crate::protocol::change::SavePolicy;
use crate::protocol::event::{Event, Level, Notice, Usage};
use crate::protocol::ids::SessionId;
use crate::provider::{self, ProviderSettings};
use crate::review::{ReviewBook, SharedBook};
use crate::shell::env::Shell;
use crate::shell::watchdog::Watchdog;
use crate::snapshot::{SnapshotDirs, SnapshotStore};
use crate::tools::bash::Bash;
use crate::tools::builtin::{self, Services};
use crate::tools::dispatch::Dispatcher;
use crate::tools::locks::PathLocks;
use crate::tools::registry::Registry;
use crate::tools::todo_write::PlanSink;

/// What the front end says when it starts the agent.
#[derive(Clone, Debug)]
pub struct Start {
    /// The working directory.
    pub cwd: PathBuf,
    /// The person's home.
    pub home: PathBuf,
    /// `stdpath('state')/dcode`.
    pub state_dir: PathBuf,
    /// `vim.g.dcode` and `setup()`.
    pub setup: Value,
    /// The flags of the command line, in the same shape.
    pub flags: Value,
    /// Whether somebody answers approvals.
    pub human: bool,
    /// Whether it is the command line: bash is offered only where the person allowed commands.
    pub headless: bool,
}

/// What the front end hears at once.
#[derive(Clone, Debug, Serialize)]
pub struct Started {
    /// The permission mode.
    pub mode: String,
    /// What is wrong with the configuration.
    pub notices: Vec<Notice>,
}

/// Why the agent cannot start.
#[derive(Debug, Error)]
#[error("{0}")]
pub struct StartError(pub String);

/// Everything that the sessions of one Neovim share, and how one is built.
pub struct Blueprint {
    pub(super) start: Start,
    project: Option<PathBuf>,
    pub(super) loaded: Loaded,
    events: Arc<EventQueue>,
    review: SharedBook,
    status: Arc<StatusBoard>,
    turns: Arc<AtomicU64>,
    watchdog: Arc<Watchdog>,
    waiting: Arc<WaitingRoom>,
    /// One for all sessions: a late answer must not meet the request of a later session.
    requests: Arc<Requests>,
}

impl Blueprint {
    /// Reads the configuration. It never fails: what is wrong becomes a notice.
    pub fn new(mut start: Start, events: Arc<EventQueue>) -> Self {
        if let Ok(real) = start.cwd.canonicalize() {
            start.cwd = real;
        }
        let project = safe_path::project_root_with_home(&start.cwd, Some(&start.home));
        let loaded = read_config(&start, project.as_deref());
        let status = StatusBoard::new();
        status.mode(loaded.config.mode.as_str());
        let requests = Arc::new(Requests::new(Arc::clone(&events), Arc::clone(&status)));
        let waiting = Arc::new(WaitingRoom::new(Arc::clone(&events)));
        Self {
            start,
            project,
            waiting,
            loaded,
            events,
            review: ReviewBook::shared(),
            status,
            turns: Arc::default(),
            watchdog: Arc::new(Watchdog::new()),
            requests,
        }
    }

    /// No session will be built any more: what their commands left running is ended.
    pub fn end(&self) {
        self.watchdog.shutdown();
    }

    /// Reads the configuration again, for the next session: an `always` answer was written since.
    pub fn reload(&mut self) {
        self.loaded = read_config(&self.start, self.project.as_deref());
    }

    /// What the front end hears at once.
    pub fn started(&self) -> Started {
        Started {
            mode: self.loaded.config.mode.as_str().into(),
            notices: self.loaded.notices.clone(),
        }
    }

    /// The configuration as the person may read it: key, value, source.
    pub fn config_rows(&self) -> Vec<show::Row> {
        show::describe(&self.loaded)
    }

    /// The review that all sessions share with the main thread.
    pub fn review(&self) -> SharedBook {
        Arc::clone(&self.review)
    }

    /// Where the main thread reads what the agent does.
    pub fn status(&self) -> Arc<StatusBoard> {
        Arc::clone(&self.status)
    }

    /// Numbers of turns, shared with the main thread.
    pub fn turns(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.turns)
    }

    /// A new session with everything it needs; `model` is what the person chose, if not in the configuration.
    /// Its work ends with `root`.
    pub fn build(&self, model: Option<&str>, root: &CancellationToken) -> Arc<Core> {
        let session = SessionId(ulid::Ulid::new().to_string());
        let config = Arc::clone(&self.loaded.config);
        let requests = Arc::clone(&self.requests);
        let editor: Arc<dyn Editor> = requests.clone();
        let human: Arc<dyn Human> = requests.clone();
        let tmp = config.artifacts_dir.clone().unwrap_or_else(std::env::temp_dir);
        let offload = Arc::new(OffloadDir::new(&tmp, &session.0));
        let gate = Arc::new(Gate::new(GateSetup {
            cwd: self.start.cwd.clone(),
            home: Some(self.start.home.clone()),
            config: Arc::clone(&config),
            user_file: load::user_file(&self.start.home),
            protected: vec![self.start.home.join(".deepagents/.state")],
            readable: vec![offload.path()],
            only_listed: self.start.headless,
        }));
        let snapshots = Arc::new(SnapshotStore::new(self.snapshot_dirs(), session.clone()));
        let backend = Arc::new(LocalBackend::new(
            Arc::clone(&editor),
            save_policy(config.save),
            self.disk_hook(),
        ));
        let shell = self.shell();
        let shell_name = shell.name();
        let timeout = Duration::from_millis(config.bash.timeout_ms);
        let bash = Bash::new(
            shell,
            Arc::clone(&self.watchdog),
            self.secret_variables(),
            timeout,
        );
        let mut registry = builtin::registry(Services {
            backend: backend.clone(),
            editor: Arc::clone(&editor),
            human: Arc::clone(&human),
            bash,
            plan: self.plan_sink(),
            reads: gate.read_filter(),
            may_delete: config.allow_fs_tools.offers("delete"),
        });
        let bash = !self.start.headless || self.shell_is_allowed();
        registry.retain(|name| config.allow_fs_tools.offers(name) && (name != "bash" || bash));
        let prefix = Arc::new(Prefix::new(
            self.system_prompt(&gate, &shell_name, &registry),
            registry.specs(),
        ));
        let model = self.open_model(model);
        let (name, scripted) = match &model {
            Ok(provider) => (Some(provider.name().to_owned()), provider.scripted()),
            Err(_) => (config.model.clone(), false),
        };
        self.status.model(name.clone(), scripted);
        self.status.session(&session.0);
        self.status.usage(Usage::default());
        let first = Record::SessionStarted {
            session: session.clone(),
            cwd: self.start.cwd.clone(),
            model: name,
            mode: gate.mode().as_str().into(),
            version: env!("CARGO_PKG_VERSION").into(),
        };
        let events = Arc::clone(&self.events);
        let log = SessionLog::new(self.start.state_dir.clone(), session.clone(), first, events);
        Arc::new(Core {
            session,
            cwd: self.start.cwd.clone(),
            config,
            events: Arc::clone(&self.events),
            requests,
            registry,
            dispatcher: Dispatcher {
                gate: Arc::clone(&gate),
                human,
                editor,
                snapshots: Arc::clone(&snapshots),
                offload,
                locks: PathLocks::default(),
            },
            gate,
            backend,
            snapshots,
            review: Arc::clone(&self.review),
            log,
            history: Mutex::new(History::default()),
            home: self.start.home.clone(),
            prefix,
            meter: Mutex::default(),
            waiting: Arc::clone(&self.waiting),
            model: Mutex::new(model),
            ledger: Mutex::default(),
            notes: Mutex::default(),
            steps: AtomicU64::new(0),
            turns: Arc::clone(&self.turns),
            status: Arc::clone(&self.status),
            human: self.start.human,
            root: root.clone(),
        })
    }

    /// The system prompt, and to the person what is to be said of the files in it.
    fn system_prompt(&self, gate: &Gate, shell: &str, registry: &Registry) -> String {
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

    /// Outside any project the snapshots lie with our state, never in the home folder itself.
    fn snapshot_dirs(&self) -> SnapshotDirs {
        let nowhere = self.start.state_dir.join("no-project");
        SnapshotDirs {
            project: self.project.clone().unwrap_or(nowhere),
            state: self.start.state_dir.clone(),
        }
    }

    /// Tells review and editor of files that changed on disk while no buffer held them.
    fn disk_hook(&self) -> crate::backend::local::DiskHook {
        let (review, events) = (Arc::clone(&self.review), Arc::clone(&self.events));
        Arc::new(move |change| {
            review.lock().unwrap_or_else(PoisonError::into_inner).write(
                change.path,
                change.before,
                change.after,
                change.origin.into(),
            );
            events.push(Event::HunksChanged {
                paths: vec![change.path.to_owned()],
            });
        })
    }

    fn plan_sink(&self) -> PlanSink {
        let events = Arc::clone(&self.events);
        Arc::new(move |items| {
            let items = items
                .iter()
                .filter_map(|item| serde_json::to_value(item).ok())
                .collect();
            events.push(Event::TodoUpdated { items });
        })
    }

    /// The configured shell, else the person's; where that is another one, bash with a notice.
    fn shell(&self) -> Shell {
        if let Some(program) = &self.loaded.config.bash.shell {
            return Shell::new(program);
        }
        let (shell, notice) = Shell::of_person();
        if let Some(message) = notice {
            self.events.push(Event::Notice(Notice {
                level: Level::Info,
                message,
                hint: None,
            }));
        }
        shell
    }

    /// On the command line, commands run only where the person's own configuration allows some.
    fn shell_is_allowed(&self) -> bool {
        let config = &self.loaded.config;
        config.shell_allow_list != ShellAllowList::Off || !config.permissions.bash_allow.is_empty()
    }
}

fn read_config(start: &Start, project: Option<&Path>) -> Loaded {
    load::load(&LoadInput {
        home: Some(start.home.clone()),
        project_root: project.unwrap_or(&start.cwd).to_owned(),
        setup: start.setup.clone(),
        flags: start.flags.clone(),
        builtin_providers: provider::provider_names(&ProviderSettings::default()),
    })
}

fn save_policy(save: crate::config::model::Save) -> SavePolicy {
    match save {
        crate::config::model::Save::OnEdit => SavePolicy::OnEdit,
        crate::config::model::Save::OnAccept => SavePolicy::OnAccept,
        crate::config::model::Save::Never => SavePolicy::Never,
    }
}
