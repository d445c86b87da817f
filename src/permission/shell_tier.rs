//! Shell lines: each simple command by the person's rules, then by its class, then by the paths it names.

use crate::config::layer::Sourced;
use crate::config::rules::{Operation, RuleMode};
use crate::permission::decision::Decision;
use crate::permission::explain::rule_at;
use crate::permission::finding::{Finding, Key};
use crate::permission::fs_rules::FsRules;
use crate::permission::named::Naming;
use crate::permission::named_path::Named;
use crate::permission::secret::Secrets;
use crate::permission::shell_places::{beyond, may_remove_anything, names_git, repository};
use crate::permission::shell_rules::{Say, ShellRules};
use crate::permission::unnamed;
use crate::shell::command::{Analysis, Class, RedirectKind, SimpleCommand, Unparsable, Word};

const TIER: &str = "tier";
const RULE: &str = "rule";

/// What lines are judged with.
#[derive(Clone, Copy)]
pub struct Lines<'a> {
    /// The person's rules for commands.
    pub rules: &'a ShellRules,
    /// Lists of secrets.
    pub secrets: &'a Secrets,
    /// Filesystem rules, each list on its own.
    pub fs_rules: &'a [FsRules],
    /// Whether only what a list allows runs, as on the command line.
    pub only_listed: bool,
    /// Whether what does not destroy runs unasked, because it cannot leave the sandbox.
    pub walls_suffice: bool,
}

impl Lines<'_> {
    /// Judges one simple command of a line.
    pub fn command(&self, naming: &Naming<'_>, analysis: &Analysis, command: &SimpleCommand) -> Finding {
        let say = self.rules.judge(command);
        let beyond = match &say {
            Say::Allow(entry) if command.class > Class::Read => beyond(naming, command, entry),
            _ => None,
        };
        let finding = self
            .by_rule(say, command)
            .unwrap_or_else(|| self.by_class(naming, command));
        let more = [
            beyond,
            repository(naming, command),
            self.named(naming, command),
            self.unnamed(naming, analysis, command),
        ];
        let finding = more.into_iter().flatten().fold(finding, Finding::join);
        let is_open = finding.decision == Decision::Ask && may_remove_anything(naming, command);
        if is_open {
            finding.sticking()
        } else if finding.decision == Decision::Ask && command.class == Class::Destructive {
            finding.for_person()
        } else {
            finding
        }
    }

    fn by_rule(&self, say: Say, command: &SimpleCommand) -> Option<Finding> {
        let text = &command.text;
        match say {
            Say::Deny(entry) => Some(Finding::deny(
                RULE,
                bash_rule("deny", &entry),
                format!(
                    "`{text}` is denied by the rule `{}`. Do it another way, or ask the person.",
                    entry.value
                ),
            )),
            Say::MayDeny(entry) => Some(
                Finding::ask(
                    RULE,
                    bash_rule("deny", &entry),
                    format!(
                        "`{text}` may become what the rule `{}` denies, once the shell has filled it in.",
                        entry.value
                    ),
                )
                .sticking(),
            ),
            Say::Ask(entry) => {
                let asked = Finding::ask(
                    RULE,
                    bash_rule("ask", &entry),
                    format!("The rule `{}` asks for `{text}`.", entry.value),
                );
                Some(remember_exactly(asked, command))
            }
            Say::Allow(entry) => Some(Finding::allow(
                RULE,
                bash_rule("allow", &entry),
                format!("The rule `{}` allows `{text}`.", entry.value),
            )),
            Say::Nothing => None,
        }
    }

    fn by_class(&self, naming: &Naming<'_>, command: &SimpleCommand) -> Finding {
        let text = &command.text;
        if self.only_listed {
            return self.not_listed(command);
        }
        let why = command
            .reason
            .as_deref()
            .map(|reason| format!(": {reason}"))
            .unwrap_or_default();
        let finding = match command.class {
            Class::Read => {
                return Finding::allow(
                    TIER,
                    "commands that only look run unasked",
                    format!("`{text}` only looks."),
                );
            }
            Class::Change | Class::Unknown if self.walls_suffice && !names_git(naming, command) => {
                return Finding::allow(
                    TIER,
                    "sandbox_auto_allow: commands run unasked that can neither write outside nor reach the network",
                    format!("`{text}` stays within the sandbox."),
                );
            }
            Class::Change => Finding::ask(
                TIER,
                asked_by_class(command),
                format!("`{text}` changes something{why}."),
            ),
            Class::Unknown => Finding::ask(
                TIER,
                asked_by_class(command),
                format!("It is not known what `{text}` does{why}."),
            ),
            Class::Destructive => {
                return Finding::ask(
                    TIER,
                    "destructive commands are asked each time; a rule in permissions.bash.allow that names one runs it",
                    format!("`{text}` may destroy something{why}."),
                );
            }
        };
        match &command.pattern {
            Some(pattern) => finding.for_good(Key::Pattern(pattern.clone())),
            None => finding,
        }
    }

    fn not_listed(&self, command: &SimpleCommand) -> Finding {
        let names = self.rules.listed_names();
        let allowed = if names.is_empty() {
            "nothing".to_owned()
        } else {
            names.join(", ")
        };
        Finding::deny(
            RULE,
            "only listed commands run here; -S and permissions.bash.allow list them",
            format!(
                "`{}` is not in the allow-list ({allowed}). Use another approach.",
                command.text
            ),
        )
    }

    /// The first path in the command that makes it asked, whatever its class.
    fn named(&self, naming: &Naming<'_>, command: &SimpleCommand) -> Option<Finding> {
        let named = match filter_of_jq(command) {
            Some(at) => {
                let mut files = command.clone();
                files.words.remove(at);
                naming.command(&files)
            }
            None => naming.command(command),
        };
        let found = named
            .iter()
            .find_map(|named| self.secret(command, named).or_else(|| self.ruled(command, named)));
        // `.e${X}nv`: what the line does not set may be nothing.
        let emptied = || {
            naming
                .emptied(command)
                .iter()
                .find_map(|named| self.secret(command, named))
        };
        found.or_else(emptied).or_else(|| {
            let in_proc = |word: &&Word| {
                let filled = naming.fill(word);
                let texts = filled.texts.iter().chain(&filled.emptied);
                let bases = naming.bases();
                let open = |path: std::path::PathBuf| {
                    path.starts_with("/proc") && path.to_string_lossy().contains(['$', '`', '*', '?', '['])
                };
                texts
                    .into_iter()
                    .any(|text| bases.iter().any(|base| open(base.join(text))))
            };
            let targets = command
                .redirects
                .iter()
                .filter_map(|redirect| redirect.target.as_ref());
            let word = command.words.iter().skip(1).chain(targets).find(in_proc)?;
            Some(Finding::ask(
                TIER,
                "a command that names files of processes by a pattern or a variable is asked",
                format!(
                    "`{}` may be the environment of a process, which holds keys.",
                    word.text
                ),
            ))
        })
    }

    /// A secret file that it shows without naming it.
    fn unnamed(&self, naming: &Naming<'_>, analysis: &Analysis, command: &SimpleCommand) -> Option<Finding> {
        let path = unnamed::shown(naming, self.secrets, analysis, command)?;
        let asked = Finding::ask(
            TIER,
            "a command that shows files it does not name is asked where one of them looks like a secret",
            format!("`{}` may show what {} holds.", command.text, path.display()),
        );
        Some(remember_exactly(asked, command))
    }

    fn secret(&self, command: &SimpleCommand, named: &Named) -> Option<Finding> {
        let looks = |path: &&std::path::Path| {
            let read = self.secrets.refuses_reading(path);
            // Writing is what the wider list is about.
            read.or_else(|| {
                (command.class != Class::Read)
                    .then(|| self.secrets.asks_writing(path))
                    .flatten()
            })
            .is_some()
        };
        let path = named.paths().into_iter().find(looks)?;
        let asked = Finding::ask(
            TIER,
            "a command that names a file that looks like a secret is asked, whatever it does",
            format!(
                "`{}` names {}, which looks like a secret.",
                command.text,
                path.display()
            ),
        );
        Some(remember_exactly(asked, command))
    }

    fn ruled(&self, command: &SimpleCommand, named: &Named) -> Option<Finding> {
        let denied = |path: &std::path::Path| {
            let operations = [Operation::Read, Operation::Write];
            let hits = self
                .fs_rules
                .iter()
                .flat_map(|rules| operations.map(|operation| rules.first(operation, path)));
            hits.flatten().find(|hit| hit.mode == RuleMode::Deny)
        };
        let hit = named.paths().into_iter().find_map(denied)?;
        let asked = Finding::ask(
            RULE,
            rule_at(
                &format!("permissions.rules denies {}", hit.patterns.join(", ")),
                &hit.source,
            ),
            format!(
                "`{}` names {}, which a rule denies to the file tools.",
                command.text,
                named.real.display()
            ),
        );
        Some(remember_exactly(asked, command))
    }
}

/// Where the filter of `jq` stands, which is no file: `.user.key`. `None` where an option may bring it.
fn filter_of_jq(command: &SimpleCommand) -> Option<usize> {
    if command.program.as_deref() != Some("jq") {
        return None;
    }
    let mut words = command.words.iter().enumerate().skip(1);
    while let Some((at, word)) = words.next() {
        match word.text.as_str() {
            "--arg" | "--argjson" => {
                words.nth(1)?;
            }
            "--indent" => {
                words.next()?;
            }
            text if text.starts_with("--") => {
                const FLAGS: [&str; 8] = [
                    "--raw-output",
                    "--null-input",
                    "--slurp",
                    "--compact-output",
                    "--exit-status",
                    "--raw-input",
                    "--sort-keys",
                    "--tab",
                ];
                FLAGS.contains(&text).then_some(())?;
            }
            text if text.starts_with('-') => {
                text.chars()
                    .skip(1)
                    .all(|letter| "rnscejSRaMC".contains(letter))
                    .then_some(())?;
            }
            _ => return word.is_literal().then_some(at),
        }
    }
    None
}

/// A line that may name more than was looked at: its patterns meet too many files, or its values are put together as
/// it runs.
pub fn not_followed() -> Finding {
    Finding::ask(
        TIER,
        "a line whose patterns or variables are more than can be followed is asked each time",
        "What the line names is not known: its patterns or variables stand for more than can be followed.",
    )
    .sticking()
}

/// A line that cannot be judged: whatever its commands, it is asked, and the answer is not kept.
pub fn unparsable(why: &Unparsable) -> Finding {
    Finding::ask(
        TIER,
        "a line that cannot be judged is asked each time, in every mode",
        format!("The line is asked each time: {why}."),
    )
    .sticking()
}

fn asked_by_class(command: &SimpleCommand) -> String {
    match &command.pattern {
        Some(pattern) => format!(
            "commands that do more than look are asked; to let it run: `{pattern}` in permissions.bash.allow of \
             ~/.deepseek/config.toml"
        ),
        None => "commands that do more than look are asked".to_owned(),
    }
}

/// An answer to a rule that asks covers the very same command, and only until the session ends. What has no
/// pattern is never the same twice, and neither is a command with a here-document: its text is not in the
/// key.
fn remember_exactly(finding: Finding, command: &SimpleCommand) -> Finding {
    let literal = command.words.iter().all(Word::is_literal);
    let fed = command.redirects.iter().any(|redirect| {
        matches!(
            redirect.kind,
            RedirectKind::HereDoc | RedirectKind::ExpandedHereDoc
        )
    });
    let known = literal && !fed && command.pattern.is_some();
    if known {
        finding.for_session(Key::Command(command.text.clone()))
    } else {
        finding
    }
}

fn bash_rule(list: &str, entry: &Sourced<String>) -> String {
    if entry.value.starts_with("shell_allow_list") {
        return format!("{}; -S or setup() changes it", entry.value);
    }
    rule_at(
        &format!("permissions.bash.{list} has `{}`", entry.value),
        &entry.source,
    )
}
