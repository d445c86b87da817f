//! The gate: runs the layers in order and says what may happen to a call.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::config::model::Config;
use crate::permission::access::Access;
use crate::permission::decision::{Decision, Verdict};
use crate::permission::explain;
use crate::permission::facts::Facts;
use crate::permission::finding::{Finding, Key};
use crate::permission::ground::Ground;
use crate::permission::judge::{Item, Judge, Shown};
use crate::permission::memory::{Memory, MemoryError};
use crate::permission::mode::{self, Mode};
use crate::protocol::request::{Choice, CommandVerdict};
use crate::protocol::tool::ToolClass;

/// What a gate is made from.
#[derive(Clone, Debug, Default)]
pub struct GateSetup {
    /// The working directory.
    pub cwd: PathBuf,
    /// The person's home.
    pub home: Option<PathBuf>,
    /// The configuration.
    pub config: Arc<Config>,
    /// Where `always` is written: `~/.deepseek/config.toml`.
    pub user_file: PathBuf,
    /// More files and folders that no call may write, such as the trust store.
    pub protected: Vec<PathBuf>,
    /// Folders outside that may always be read, such as the one for big results.
    pub readable: Vec<PathBuf>,
    /// Whether bash runs only what a list allows: the command line is so, where nobody watches.
    pub only_listed: bool,
    /// Whether commands run in a sandbox.
    pub sandboxed: bool,
    /// The name of the shell, where its grammar is not the one that lines are judged by.
    pub foreign_shell: Option<String>,
}

/// Says whether calls may run. One for each root session; shared by its children.
#[derive(Debug)]
pub struct Gate {
    judge: Arc<Judge>,
    mode: Mutex<Mode>,
    memory: Memory,
    user_file: PathBuf,
}

/// Says how much of a file a tool may show that came upon it. Cheap to clone.
#[derive(Clone, Debug)]
pub struct ReadFilter {
    judge: Arc<Judge>,
}

impl ReadFilter {
    /// Judges one path, absolute or relative to the working directory.
    pub fn shown(&self, path: &Path) -> Shown {
        self.judge.shown(path)
    }

    /// The same for an absolute path whose links are resolved; looks at nothing on disk.
    pub fn shown_real(&self, path: &Path) -> Shown {
        self.judge.shown_real(path)
    }
}

impl Gate {
    /// Compiles the rules. It never fails: a rule that does not compile makes everything asked.
    pub fn new(setup: GateSetup) -> Self {
        let mut protected = setup.protected;
        protected.push(setup.user_file.clone());
        let allowed = &setup.config.permissions.allowed_dirs;
        let ground = Ground::new(&setup.cwd, setup.home.as_deref(), allowed, &protected);
        let judge = Judge::new(
            ground,
            &setup.config,
            setup.readable,
            setup.only_listed,
            setup.sandboxed,
        );
        Self {
            mode: Mutex::new(setup.config.mode),
            judge: Arc::new(judge.for_shell(setup.foreign_shell)),
            memory: Memory::default(),
            user_file: setup.user_file,
        }
    }

    /// The verdict on a call. `human_present` is false where nobody can answer: an Ask becomes a Deny.
    pub fn decide(&self, facts: &Facts<'_>, human_present: bool) -> Verdict {
        let settle = |finding: Finding| {
            if human_present {
                finding
            } else {
                mode::without_human(finding)
            }
        };
        let mut findings = Vec::new();
        let mut commands = Vec::new();
        for item in self.settled(facts) {
            let finding = settle(item.finding);
            if let Some((text, class)) = item.command {
                let decision = finding.decision.as_str().to_owned();
                commands.push(CommandVerdict {
                    text,
                    class,
                    decision,
                });
            }
            findings.push(finding);
        }
        explain::verdict(&findings, (!commands.is_empty()).then_some(commands))
    }

    /// What [`Gate::decide`] would say with a person there. Asks nothing, keeps nothing.
    pub fn explain(&self, facts: &Facts<'_>) -> Verdict {
        self.decide(facts, true)
    }

    /// Keeps the answer to an Ask. `once` and `deny` keep nothing.
    ///
    /// The call is judged anew, so that a changed mode or a changed call cannot smuggle in more than was
    /// on offer.
    pub fn remember(&self, facts: &Facts<'_>, choice: Choice) -> Result<(), MemoryError> {
        if matches!(choice, Choice::Once | Choice::Deny) {
            return Ok(());
        }
        let asked: Vec<Finding> = self.settled(facts).into_iter().map(|item| item.finding).collect();
        if !explain::verdict(&asked, None).choices.contains(&choice) {
            return Err(MemoryError::NotOffered);
        }
        let asked = asked
            .into_iter()
            .filter(|finding| finding.decision == Decision::Ask);
        let keys: Vec<Key> = asked.filter_map(|finding| finding.key).collect();
        match choice {
            Choice::Always => self.memory.keep_for_good(&self.user_file, keys),
            _ => {
                self.memory.keep(keys);
                Ok(())
            }
        }
    }

    /// Whether a line runs although neither the person, nor an answer, a rule or a list allowed it: by what it is
    /// alone. In a sandbox such a line has no network.
    pub fn runs_unasked(&self, line: &str) -> bool {
        let access = [Access::Run(line.to_owned())];
        let facts = Facts {
            tool: "bash",
            class: ToolClass::Execute,
            access: &access,
        };
        let by_itself =
            |item: &Item| item.finding.decision == Decision::Allow && item.finding.layer == "tier";
        self.mode() != Mode::Yolo && self.settled(&facts).iter().all(by_itself)
    }

    /// The mode.
    pub fn mode(&self) -> Mode {
        *self.mode.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the mode; calls that are judged from now on are judged by it.
    pub fn set_mode(&self, mode: Mode) {
        *self.mode.lock().unwrap_or_else(PoisonError::into_inner) = mode;
    }

    /// For tools that look through many files.
    pub fn read_filter(&self) -> ReadFilter {
        ReadFilter {
            judge: Arc::clone(&self.judge),
        }
    }

    /// The items of a call after memory and mode.
    fn settled(&self, facts: &Facts<'_>) -> Vec<Item> {
        let mode = self.mode();
        let settle = |item: Item| {
            let finding = self.memory.apply(item.finding);
            Item {
                finding: mode::apply(mode, facts.class, item.changes, finding),
                ..item
            }
        };
        self.judge.judge(facts).into_iter().map(settle).collect()
    }
}
