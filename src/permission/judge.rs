//! The layers that do not depend on what was answered before: hard rules, rules, tier.

use std::path::{Path, PathBuf};

use crate::config::model::{Config, ReadOutside};
use crate::config::rules::{Operation, RuleMode};
use crate::permission::access::Access;
use crate::permission::explain::rule_at;
use crate::permission::facts::Facts;
use crate::permission::finding::{Finding, Key};
use crate::permission::fs_rules::{FsRules, Hit};
use crate::permission::ground::{Ground, Target};
use crate::permission::named::Naming;
use crate::permission::secret::Secrets;
use crate::permission::shell_places::only_git;
use crate::permission::shell_rules::ShellRules;
use crate::permission::shell_tier::{Lines, not_followed, unparsable};
use crate::permission::{grave, hard, hard_shell, tier};
use crate::protocol::tool::ToolClass;
use crate::shell::command::Class;
use crate::shell::parse::analyze;

/// Tools that show names and not what files hold.
const NAMES_ONLY: &[&str] = &["ls", "glob"];

/// Tools that look at everything below the path they are given.
const BULK: &[&str] = &["ls", "glob", "grep", "git_diff", "git_show"];

/// One finding, with what it is about.
#[derive(Clone, Debug)]
pub struct Item {
    /// What the layers say.
    pub finding: Finding,
    /// Whether it writes, deletes or runs.
    pub changes: bool,
    /// For a simple command: its text and class.
    pub command: Option<(String, String)>,
    /// Why the validator is to look at it, whatever rules and answers say: one sentence.
    pub grave: Option<String>,
}

/// How much of a file may be shown by a tool that comes upon it; what shows less is greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Shown {
    /// What it holds.
    Content,
    /// Its name.
    Name,
    /// Nothing: it is left out, and only counted.
    Nothing,
}

/// The compiled rules of one gate.
#[derive(Debug)]
pub struct Judge {
    ground: Ground,
    secrets: Secrets,
    /// The person's, then the project's.
    fs_rules: [FsRules; 2],
    shell: ShellRules,
    read_outside: ReadOutside,
    readable: Vec<PathBuf>,
    broken: Vec<String>,
    only_listed: bool,
    /// Commands run within walls, and what cannot leave them runs unasked.
    walls_suffice: bool,
    foreign_shell: Option<String>,
}

impl Judge {
    /// Compiles the rules of a config. What does not compile is taken for a broken rule.
    pub fn new(
        ground: Ground,
        config: &Config,
        readable: Vec<PathBuf>,
        only_listed: bool,
        sandboxed: bool,
    ) -> Self {
        let permissions = &config.permissions;
        let mut broken = permissions.broken.clone();
        let mut rules = |rules: &[_]| {
            FsRules::new(rules).unwrap_or_else(|error| {
                broken.push(format!("permissions.rules: {error}"));
                FsRules::default()
            })
        };
        let fs_rules = [rules(&permissions.rules), rules(&permissions.project_rules)];
        let secrets = Secrets::new(permissions).unwrap_or_else(|error| {
            broken.push(format!("permissions.secrets: {error}"));
            Secrets::default()
        });
        let secrets = secrets.with_home(ground.home.as_deref());
        let shell = ShellRules::new(
            &permissions.bash_deny,
            &permissions.bash_ask,
            &permissions.bash_allow,
            config.shell_allow_list.clone(),
        );
        Self {
            ground,
            secrets,
            fs_rules,
            shell,
            read_outside: permissions.read_outside,
            readable,
            broken,
            only_listed,
            walls_suffice: sandboxed && config.sandbox_auto_allow,
            foreign_shell: None,
        }
    }

    /// The same for a shell of this name, whose grammar is another one: no line runs unasked.
    pub fn for_shell(self, foreign_shell: Option<String>) -> Self {
        Self {
            foreign_shell,
            ..self
        }
    }

    /// What the layers say of each thing that the call touches.
    pub fn judge(&self, facts: &Facts<'_>) -> Vec<Item> {
        let mut items = Vec::new();
        let inside = !facts.access.contains(&Access::OutsideSandbox);
        for access in facts.access {
            match access {
                Access::Run(line) => items.extend(self.line(line, inside && self.walls_suffice)),
                Access::OutsideSandbox => items.push(Item::of(tier::outside_sandbox(), true)),
                Access::Read(path) => items.push(Item::of(self.read(facts.tool, path), false)),
                Access::Write(path) | Access::Delete(path) => {
                    let target = self.ground.locate(path).ok();
                    items.push(Item {
                        grave: target.and_then(|target| grave::path(&self.ground, &self.secrets, &target)),
                        ..Item::of(self.write(facts.tool, access, path), true)
                    });
                }
            }
        }
        if facts.access.is_empty() {
            let foreign = facts.class == ToolClass::Foreign;
            items.push(Item {
                grave: foreign.then(|| grave::foreign(facts.tool)),
                ..Item::of(tier::without_access(facts.tool, facts.class), facts.class.acts())
            });
        }
        if facts.class != ToolClass::Bookkeeping {
            for item in &mut items {
                self.while_broken(item);
            }
        }
        items
    }

    /// How much of a file a tool may show that came upon it while it looked below a folder.
    pub fn shown(&self, path: &Path) -> Shown {
        match self.ground.locate(path) {
            Ok(target) => target.paths().map(|path| self.shown_real(path)).max(),
            Err(_) => None,
        }
        .unwrap_or(Shown::Nothing)
    }

    /// [`Judge::shown`] of an absolute path whose links are resolved: a walk that follows none gives such.
    /// Looks at nothing on disk.
    pub fn shown_real(&self, path: &Path) -> Shown {
        if !self.named_real(path) {
            Shown::Nothing
        } else if self.secrets.refuses_reading(path).is_some() {
            Shown::Name
        } else {
            Shown::Content
        }
    }

    /// Whether the name may be given, whatever of the content may be shown: [`Judge::shown_real`] is not
    /// [`Shown::Nothing`].
    pub fn named_real(&self, path: &Path) -> bool {
        let mut hits = self
            .fs_rules
            .iter()
            .filter_map(|rules| rules.first(Operation::Read, path));
        hits.all(|hit| hit.mode != RuleMode::Deny)
    }

    /// A rule that was lost might have denied this.
    fn while_broken(&self, item: &mut Item) {
        if let Some(problem) = self.broken.first() {
            let asked = Finding::ask(
                "rule",
                format!("while a rule cannot be read, everything is asked: {problem}"),
                format!("A rule cannot be read, and it might deny this. {problem}"),
            );
            item.finding = item.finding.clone().join(asked.sticking());
        }
    }

    fn read(&self, tool: &str, path: &Path) -> Finding {
        let target = match self.ground.locate(path) {
            Ok(target) => target,
            Err(reason) => return Finding::deny("tier", "a path must be clear", reason),
        };
        let names_only = NAMES_ONLY.contains(&tool);
        let outside = if self.readable.iter().any(|folder| target.real.starts_with(folder)) {
            ReadOutside::Allow
        } else {
            self.read_outside
        };
        let mut finding = tier::read(&self.ground, &self.secrets, outside, &target, names_only);
        for rules in &self.fs_rules {
            let first = strictest(
                target
                    .paths()
                    .filter_map(|path| rules.first(Operation::Read, path)),
            );
            let below = BULK
                .contains(&tool)
                .then(|| rules.interrupts_below(&target.real))
                .flatten();
            for hit in first.into_iter().chain(below) {
                finding = match of_hit(&hit, "reading", &target, || {
                    Key::Read(target.real.display().to_string())
                }) {
                    Some(ruled) => ruled.join(finding),
                    None => finding,
                };
            }
        }
        finding
    }

    fn write(&self, tool: &str, access: &Access, path: &Path) -> Finding {
        let target = match self.ground.locate(path) {
            Ok(target) => target,
            Err(reason) => return Finding::deny("tier", "a path must be clear", reason),
        };
        if let Some(refused) = hard::path(&self.ground, tool, access, &target) {
            return refused;
        }
        let [person, _] = &self.fs_rules;
        let allows = |hit: Hit| hit.mode == RuleMode::Allow;
        let allowed = person.first(Operation::Write, &target.real).is_some_and(allows);
        let mut finding = tier::write(&self.ground, &self.secrets, &target, allowed);
        // Deleting a folder deletes all that is in it.
        let folder =
            matches!(access, Access::Delete(_)) && target.given.is_dir() && !target.given.is_symlink();
        for rules in &self.fs_rules {
            let first = strictest(
                target
                    .paths()
                    .filter_map(|path| rules.first(Operation::Write, path)),
            );
            let below = folder.then(|| rules.denies_folder(&target.real)).flatten();
            for hit in first.into_iter().chain(below) {
                finding = match of_hit(&hit, "writing", &target, || {
                    Key::Write(target.real.display().to_string())
                }) {
                    Some(ruled) => ruled.join(finding),
                    None => finding,
                };
            }
        }
        finding
    }

    /// Whether a line runs git, and beside it nothing that could write in a git folder.
    pub fn runs_only_git(&self, line: &str) -> bool {
        let analysis = analyze(line);
        let naming = Naming::new(&self.ground, &analysis);
        self.foreign_shell.is_none() && !naming.is_exhausted() && only_git(&naming, &analysis)
    }

    fn line(&self, line: &str, walls_suffice: bool) -> Vec<Item> {
        let analysis = analyze(line);
        let naming = Naming::new(&self.ground, &analysis);
        let lines = Lines {
            rules: &self.shell,
            secrets: &self.secrets,
            fs_rules: &self.fs_rules,
            only_listed: self.only_listed,
            walls_suffice: walls_suffice && analysis.unparsable.is_none(),
        };
        let mut items: Vec<Item> = analysis
            .commands
            .iter()
            .map(|command| Item {
                finding: lines.command(&naming, &analysis, command),
                changes: true,
                command: Some((command.text.clone(), command.class.as_str().to_owned())),
                grave: grave::command(&naming, &self.secrets, command),
            })
            .collect();
        if let Some(why) = &analysis.unparsable {
            let command = Some((line.to_owned(), "unparsable".to_owned()));
            items.push(Item {
                finding: unparsable(why),
                changes: true,
                command,
                grave: None,
            });
        }
        let refused = hard_shell::line(&self.ground, &naming, &analysis);
        if naming.is_exhausted() {
            items.push(Item {
                finding: not_followed(),
                changes: true,
                command: Some((line.to_owned(), Class::Unknown.as_str().to_owned())),
                grave: None,
            });
        }
        if let Some(shell) = &self.foreign_shell {
            items.push(Item {
                finding: tier::foreign_shell(shell),
                changes: true,
                command: Some((line.to_owned(), Class::Unknown.as_str().to_owned())),
                grave: None,
            });
        }
        if let Some(refused) = refused {
            items.insert(0, Item::of(refused, true));
        }
        if items.is_empty() {
            let nothing = Finding::allow(
                "tier",
                "a line without a command runs unasked",
                "The line runs nothing.",
            );
            items.push(Item {
                finding: nothing,
                changes: true,
                command: Some((line.to_owned(), Class::Read.as_str().to_owned())),
                grave: None,
            });
        }
        items
    }
}

impl Item {
    fn of(finding: Finding, changes: bool) -> Self {
        Self {
            finding,
            changes,
            command: None,
            grave: None,
        }
    }
}

fn strictest(hits: impl Iterator<Item = Hit>) -> Option<Hit> {
    hits.max_by_key(|hit| match hit.mode {
        RuleMode::Allow => 0,
        RuleMode::Interrupt => 1,
        RuleMode::Deny => 2,
    })
}

/// What a rule that matched adds; nothing when it allows, because that loosens only where the tier says so.
fn of_hit(hit: &Hit, act: &str, target: &Target, key: impl Fn() -> Key) -> Option<Finding> {
    let patterns = hit.patterns.join(", ");
    let rule = || {
        rule_at(
            &format!("permissions.rules: {} {act} {patterns}", hit.mode.as_str()),
            &hit.source,
        )
    };
    match hit.mode {
        RuleMode::Allow => None,
        RuleMode::Interrupt => Some(
            Finding::ask(
                "rule",
                rule(),
                format!("A rule asks for {act} {}.", target.words()),
            )
            .for_session(key()),
        ),
        RuleMode::Deny => Some(Finding::deny(
            "rule",
            rule(),
            format!(
                "A rule denies {act} {} ({patterns}). Go on without it, or ask the person.",
                target.words()
            ),
        )),
    }
}
