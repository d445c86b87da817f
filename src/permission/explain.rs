//! The words of a verdict: which rule, where it stands, how to change it.

use crate::config::layer::{Layer, Source};
use crate::permission::decision::{Decision, Verdict};
use crate::permission::finding::{Finding, Key};
use crate::protocol::request::{Choice, CommandVerdict};

/// A rule with its place and what to type to change it.
pub fn rule_at(rule: &str, source: &Source) -> String {
    let change = match (source.layer, &source.file) {
        (_, Some(file)) => {
            let line = source.line.map(|line| format!("+{line} ")).unwrap_or_default();
            format!(":edit {line}{} changes it", file.display())
        }
        (Layer::Setup, None) => "your Neovim config changes it".to_owned(),
        (Layer::Flags, None) => "start without the flag to change it".to_owned(),
        (Layer::Default | Layer::User | Layer::Project, None) => ":Dcode config shows it".to_owned(),
    };
    format!("{rule} ({source}); {change}")
}

/// The verdict of findings about one call: the strictest speaks.
pub fn verdict(findings: &[Finding], commands: Option<Vec<CommandVerdict>>) -> Verdict {
    // Of those that are asked, the one that is remembered least is what matters to the person.
    let weight = |finding: &&Finding| (finding.decision, finding.key.is_none(), !finding.always);
    let first = findings.iter().rev().max_by_key(weight);
    let Some(finding) = first else {
        return Verdict {
            decision: Decision::Allow,
            layer: "tier".to_owned(),
            rule: "nothing is touched".to_owned(),
            reason: "The call touches nothing.".to_owned(),
            pattern: None,
            commands,
            choices: Vec::new(),
            reviewable: false,
            grave: None,
        };
    };
    let asked: Vec<&Finding> = findings
        .iter()
        .filter(|finding| finding.decision == Decision::Ask)
        .collect();
    let choices = if finding.decision == Decision::Ask {
        choices(&asked)
    } else {
        Vec::new()
    };
    let pattern = pattern(&asked, &choices);
    Verdict {
        decision: finding.decision,
        layer: finding.layer.to_owned(),
        rule: finding.rule.clone(),
        reason: finding.reason.clone(),
        pattern,
        commands,
        choices,
        reviewable: finding.decision == Decision::Ask && asked.iter().all(|finding| !finding.personal),
        grave: None,
    }
}

/// What may be answered: no more than every asking finding can keep.
fn choices(asked: &[&Finding]) -> Vec<Choice> {
    let mut choices = vec![Choice::Once];
    if asked.iter().all(|finding| finding.key.is_some()) {
        choices.push(Choice::Session);
        if asked.iter().all(|finding| finding.always) {
            choices.push(Choice::Always);
        }
    }
    choices.push(Choice::Deny);
    choices
}

fn pattern(asked: &[&Finding], choices: &[Choice]) -> Option<String> {
    if !choices.contains(&Choice::Session) {
        return None;
    }
    let mut words: Vec<String> = Vec::new();
    for key in asked
        .iter()
        .filter_map(|finding| finding.key.as_ref())
        .map(Key::words)
    {
        if !words.contains(&key) {
            words.push(key);
        }
    }
    (!words.is_empty()).then(|| words.join(", "))
}
