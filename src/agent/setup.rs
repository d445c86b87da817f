//! From the front end's start to a session: configuration, services, tools, model.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;
use serde_json::Value;
use thiserror::Error;
use tokio_util::sync::CancellationToken;

use crate::agent::beginning::Began;
use crate::agent::core::Core;
use crate::agent::ledger::Ledger;
use crate::agent::prefix::Prefix;
use crate::agent::queue::EventQueue;
use crate::agent::recovered;
use crate::agent::requests::Requests;
use crate::agent::resume::Resumed;
use crate::agent::status::StatusBoard;
use crate::agent::waiting::WaitingRoom;
use crate::backend::Backend;
use crate::backend::local::LocalBackend;
use crate::config::load::{self, LoadInput, Loaded};
use crate::config::mode::Mode;
use crate::config::model::Config;
use crate::config::shell_list::ShellAllowList;
use crate::config::show;
use crate::fs::safe_path;
use crate::host::{Editor, Human};
use crate::judges::bench::Main;
use crate::judges::panel::Panel;
use crate::protocol::event::{Event, Level, Notice, Usage};
use crate::provider::{self, ProviderSettings};
use crate::review::{ReviewBook, SharedBook};
use crate::shell::watchdog::Watchdog;
use crate::snapshot::{SnapshotStore, TreeWatch};
use crate::tools::builtin::{self, Services};
use crate::tools::dispatch::Dispatcher;
use crate::tools::locks::PathLocks;
use crate::tools::seen::SeenFiles;
use crate::tools::shell_effects::ShellEffects;
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
    pub(super) project: Option<PathBuf>,
    pub(super) loaded: Loaded,
    pub(super) events: Arc<EventQueue>,
    pub(super) review: SharedBook,
    pub(super) status: Arc<StatusBoard>,
    pub(super) turns: Arc<AtomicU64>,
    pub(super) watchdog: Arc<Watchdog>,
    /// Sees what commands do to the project's files.
    pub(super) watch: Arc<TreeWatch>,
    waiting: Arc<WaitingRoom>,
    /// One for all sessions: a late answer must not meet the request of a later session.
    pub(super) requests: Arc<Requests>,
    /// The files of the newest session, for a program's transfers.
    plane: Plane,
}

/// Where the front end finds the files of the newest session; `None` until there is one.
pub type Plane = tokio::sync::watch::Sender<Option<Arc<dyn Backend>>>;

impl Blueprint {
    /// Reads the configuration. It never fails: what is wrong becomes a notice.
    pub fn new(mut start: Start, events: Arc<EventQueue>) -> Self {
        if let Ok(real) = start.cwd.canonicalize() {
            start.cwd = real;
        }
        let project = safe_path::project_root_with_home(&start.cwd, Some(&start.home));
        let loaded = read_config(&start, project.as_deref());
        // A whole home is nobody's project.
        let outside = || Some(start.cwd.clone()).filter(|cwd| !start.home.starts_with(cwd));
        let watched = project.clone().or_else(outside);
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
            watch: Arc::new(TreeWatch::new(watched)),
            requests,
            plane: Plane::default(),
        }
    }

    /// Where the front end finds the files of the newest session.
    pub fn plane(&self) -> Plane {
        self.plane.clone()
    }

    /// No session will be built any more: what their commands left running is ended.
    pub fn end(&self) {
        self.watchdog.shutdown();
    }

    /// Reads the configuration again, for the next session: an `always` answer was written since.
    pub fn reload(&mut self) {
        self.loaded = read_config(&self.start, self.project.as_deref());
    }

    /// The configuration that a next session would have.
    pub fn config(&self) -> Arc<Config> {
        Arc::clone(&self.loaded.config)
    }

    /// What the front end hears at once.
    pub fn started(&self) -> Started {
        let mode = self.loaded.config.mode;
        let mut notices = self.loaded.notices.clone();
        if mode == Mode::Auto && !self.start.human {
            notices.push(Notice {
                level: Level::Warn,
                message: "The mode auto needs somebody to turn to; here it is as manual.".into(),
                hint: Some("Name what may run with -S and permissions.bash.allow.".into()),
            });
        }
        Started {
            mode: mode.as_str().into(),
            notices,
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
    /// Its work ends with `root`. `resumed`: it goes on with an earlier one.
    pub fn build(
        &self,
        model: Option<&str>,
        root: &CancellationToken,
        resumed: Option<(Resumed, SnapshotStore)>,
    ) -> Arc<Core> {
        recovered::take_back(&self.intents(), &self.events);
        let Began {
            session,
            snapshots,
            journal,
            kept,
            history,
            prompts,
            last_step,
        } = self.begin(resumed);
        let config = Arc::clone(&self.loaded.config);
        let requests = Arc::clone(&self.requests);
        let editor: Arc<dyn Editor> = requests.clone();
        let human: Arc<dyn Human> = requests.clone();
        let offload = Arc::new(self.offload(&session));
        let (gate, enclosure) = self.gate(&config, offload.path());
        let snapshots = Arc::new(snapshots);
        let backend = LocalBackend::new(Arc::clone(&editor), config.save, self.disk_hook());
        let backend = backend
            .with_offload(Arc::clone(&offload))
            .with_intents(&self.intents());
        let backend = Arc::new(backend);
        self.plane.send_replace(Some(backend.clone()));
        let shell = self.shell();
        let shell_name = shell.name();
        let bash = self.bash(shell, enclosure.clone(), root);
        let seen = Arc::new(SeenFiles::default());
        let mut registry = builtin::registry(Services {
            backend: backend.clone(),
            editor: Arc::clone(&editor),
            human: Arc::clone(&human),
            bash,
            plan: self.plan_sink(),
            reads: gate.read_filter(),
            seen: Arc::clone(&seen),
            offload: Arc::clone(&offload),
            may_delete: config.allow_fs_tools.offers("delete"),
            git_program: config.git_program,
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
        let model: Main = Arc::new(Mutex::new(model));
        let ledger: Arc<Mutex<Ledger>> = Arc::default();
        let bench = self.bench(&model, &ledger);
        let panel = Arc::new(Panel::new(&config, bench, &self.start.cwd));
        self.status.model(name.clone(), scripted);
        self.status.session(&session.0);
        self.status.usage(Usage::default());
        let log = self.log(&session, name, gate.mode().as_str(), (journal, kept));
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
                effects: ShellEffects::new(Arc::clone(&self.watch), self.effect_hook()),
                panel,
            },
            gate,
            enclosure,
            backend,
            snapshots,
            review: Arc::clone(&self.review),
            log,
            history: Mutex::new(history),
            prompts: Mutex::new(prompts),
            home: self.start.home.clone(),
            prefix,
            meter: Mutex::default(),
            waiting: Arc::clone(&self.waiting),
            model,
            ledger,
            notes: Mutex::default(),
            feedback: Mutex::default(),
            seen,
            steps: AtomicU64::new(last_step),
            turns: Arc::clone(&self.turns),
            status: Arc::clone(&self.status),
            human: self.start.human,
            root: root.clone(),
        })
    }

    /// Where change sets are noted before they happen.
    fn intents(&self) -> PathBuf {
        self.start.state_dir.join("intents")
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
