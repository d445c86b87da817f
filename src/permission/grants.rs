//! The list of what the person has allowed, asked for and denied beforehand.

use crate::config::layer::{Layer, Source, Sourced};
use crate::config::model::Config;
use crate::config::rules::{FsRule, Operation, RuleMode};
use crate::permission::finding::Key;
use crate::protocol::grant::{Grant, GrantKind};

/// Every grant: the answers of the session first, then the configuration in the order in which it is judged.
pub fn list(config: &Config, session: &[Key]) -> Vec<Grant> {
    let permissions = &config.permissions;
    let answers = session.iter().map(|key| Grant {
        kind: GrantKind::Session,
        mode: "allow".to_owned(),
        text: key.words(),
        source: "this session".to_owned(),
        file: None,
        line: None,
        revocable: true,
    });
    let lists = [
        ("deny", &permissions.bash_deny),
        ("ask", &permissions.bash_ask),
        ("allow", &permissions.bash_allow),
    ];
    let commands = lists.into_iter().flat_map(|(mode, entries)| {
        let one = move |entry: &Sourced<String>| {
            grant(GrantKind::Command, mode, entry.value.clone(), &entry.source)
        };
        entries.iter().map(one)
    });
    let rules = permissions
        .rules
        .iter()
        .chain(&permissions.project_rules)
        .map(|rule| {
            let mode = match rule.value.mode {
                RuleMode::Allow => "allow",
                RuleMode::Interrupt => "ask",
                RuleMode::Deny => "deny",
            };
            grant(GrantKind::Rule, mode, rule_text(&rule.value), &rule.source)
        });
    answers.chain(commands).chain(rules).collect()
}

/// A rule's operations and paths in words: `read, write /a/**, /b`.
pub fn rule_text(rule: &FsRule) -> String {
    let operations: Vec<&str> = rule
        .operations
        .iter()
        .map(|operation| match operation {
            Operation::Read => "read",
            Operation::Write => "write",
        })
        .collect();
    format!("{} {}", operations.join(", "), rule.paths.join(", "))
}

fn grant(kind: GrantKind, mode: &str, text: String, source: &Source) -> Grant {
    Grant {
        kind,
        mode: mode.to_owned(),
        text,
        source: source.to_string(),
        file: source.file.clone(),
        line: source.line,
        revocable: mode == "allow" && source.layer == Layer::User,
    }
}
