//! The gate: runs the layers in order and says what may happen to a call.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::config::model::Config;
use crate::permission::access::Access;
use crate::permission::decision::{Decision, Verdict};
use crate::permission::explain;
use crate::permission::facts::Facts;
use crate::permission::finding::{Finding, Key};
use crate::permission::grants;
use crate::permission::ground::Ground;
use crate::permission::judge::{Item, Judge, Shown};
use crate::permission::memory::{Memory, MemoryError};
use crate::permission::mode::{self, Mode};
use crate::permission::persist;
use crate::protocol::grant::{Grant, GrantKind};
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
    setup: GateSetup,
    rules: Arc<Mutex<Rules>>,
    mode: Mutex<Mode>,
    memory: Memory,
}

/// The rules as they are at the moment, and the configuration that they come from.
#[derive(Debug)]
struct Rules {
    judge: Arc<Judge>,
    config: Arc<Config>,
}

/// Says how much of a file a tool may show that came upon it. Cheap to clone.
#[derive(Clone, Debug)]
pub struct ReadFilter {
    rules: Arc<Mutex<Rules>>,
}

impl ReadFilter {
    /// Judges one path, absolute or relative to the working directory.
    pub fn shown(&self, path: &Path) -> Shown {
        judge(&self.rules).shown(path)
    }

    /// The same for an absolute path whose links are resolved; looks at nothing on disk.
    pub fn shown_real(&self, path: &Path) -> Shown {
        judge(&self.rules).shown_real(path)
    }

    /// Whether the name of such a path may be given: it is not [`Shown::Nothing`].
    pub fn named_real(&self, path: &Path) -> bool {
        judge(&self.rules).named_real(path)
    }
}

impl Gate {
    /// Compiles the rules. It never fails: a rule that does not compile makes everything asked.
    pub fn new(setup: GateSetup) -> Self {
        let config = Arc::clone(&setup.config);
        Self {
            mode: Mutex::new(config.mode),
            rules: Arc::new(Mutex::new(Rules {
                judge: Arc::new(compile(&setup, &config)),
                config,
            })),
            memory: Memory::default(),
            setup,
        }
    }

    /// Takes the rules of another configuration, such as the one that was just written. Mode and answers of
    /// the session stay.
    pub fn reload(&self, config: Arc<Config>) {
        let judge = Arc::new(compile(&self.setup, &config));
        *self.rules.lock().unwrap_or_else(PoisonError::into_inner) = Rules { judge, config };
    }

    /// What the person has allowed, asked for and denied beforehand.
    pub fn grants(&self) -> Vec<Grant> {
        let config = Arc::clone(&self.rules.lock().unwrap_or_else(PoisonError::into_inner).config);
        grants::list(&config, &self.memory.kept())
    }

    /// Takes a grant back, out of the memory of the session and out of the person's file. The rules still hold
    /// it until [`Gate::reload`].
    ///
    /// # Errors
    /// One sentence for the person.
    pub fn revoke(&self, grant: &Grant) -> Result<(), String> {
        // An answer `always` is in both places; the path of a rule is written as a pattern.
        let remembered = self.memory.forget(&grant.text) || self.memory.forget(&grant.text.replace('\\', ""));
        if grant.kind == GrantKind::Session {
            return match remembered {
                true => Ok(()),
                false => Err(format!("`{}` is not remembered any more.", grant.text)),
            };
        }
        if !grant.revocable {
            return Err(format!(
                "`{}` stands in {}; change it there.",
                grant.text, grant.source
            ));
        }
        persist::forget(&self.setup.user_file, grant)
            .map_err(|error| format!("Nothing was taken back: {error}."))
    }

    /// The verdict on a call. `human_present` is false where nobody can answer: an Ask becomes a Deny.
    pub fn decide(&self, facts: &Facts<'_>, human_present: bool) -> Verdict {
        let mut grave = None;
        let settle = |finding: Finding| {
            if human_present {
                finding
            } else {
                mode::without_human(finding)
            }
        };
        let mut findings = Vec::new();
        let mut commands = Vec::new();
        for item in self.settled(facts, human_present) {
            let finding = settle(item.finding);
            grave = grave.or(item.grave);
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
        Verdict {
            grave,
            ..explain::verdict(&findings, (!commands.is_empty()).then_some(commands))
        }
    }

    /// What [`Gate::decide`] would say with a person there. Asks nothing, keeps nothing.
    pub fn explain(&self, facts: &Facts<'_>) -> Verdict {
        self.decide(facts, true)
    }

    /// Keeps the answer to an Ask. The others than `session` and `always` keep nothing.
    ///
    /// The call is judged anew, so that a changed mode or a changed call cannot smuggle in more than was
    /// on offer.
    pub fn remember(&self, facts: &Facts<'_>, choice: Choice) -> Result<(), MemoryError> {
        if !matches!(choice, Choice::Session | Choice::Always) {
            return Ok(());
        }
        let settled = self.settled(facts, true);
        let asked: Vec<Finding> = settled.into_iter().map(|item| item.finding).collect();
        if !explain::verdict(&asked, None).choices.contains(&choice) {
            return Err(MemoryError::NotOffered);
        }
        let asked = asked
            .into_iter()
            .filter(|finding| finding.decision == Decision::Ask);
        let keys: Vec<Key> = asked.filter_map(|finding| finding.key).collect();
        match choice {
            Choice::Always => self.memory.keep_for_good(&self.setup.user_file, keys),
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
        self.mode() != Mode::Yolo && self.settled(&facts, true).iter().all(by_itself)
    }

    /// Whether a line runs git, and beside it nothing that could write in a git folder.
    pub fn runs_only_git(&self, line: &str) -> bool {
        judge(&self.rules).runs_only_git(line)
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
            rules: Arc::clone(&self.rules),
        }
    }

    /// The items of a call after memory and mode.
    fn settled(&self, facts: &Facts<'_>, human_present: bool) -> Vec<Item> {
        // What a server's tool does is not known: unwatched, yolo does not speak for it.
        let mode = match self.mode() {
            Mode::Yolo if facts.class == ToolClass::Foreign && !human_present => Mode::Manual,
            mode => mode,
        };
        let settle = |item: Item| {
            let finding = self.memory.apply(item.finding);
            Item {
                finding: mode::apply(mode, facts.class, item.changes, finding),
                ..item
            }
        };
        judge(&self.rules).judge(facts).into_iter().map(settle).collect()
    }
}

fn judge(rules: &Mutex<Rules>) -> Arc<Judge> {
    Arc::clone(&rules.lock().unwrap_or_else(PoisonError::into_inner).judge)
}

fn compile(setup: &GateSetup, config: &Config) -> Judge {
    let mut protected = setup.protected.clone();
    protected.push(setup.user_file.clone());
    let allowed = &config.permissions.allowed_dirs;
    let ground = Ground::new(&setup.cwd, setup.home.as_deref(), allowed, &protected);
    let readable = setup.readable.clone();
    Judge::new(ground, config, readable, setup.only_listed, setup.sandboxed)
        .for_shell(setup.foreign_shell.clone())
}
