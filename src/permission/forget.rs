//! Taking an answer out of the person's `config.toml` again; comments and layout of the rest stay.

use toml_edit::{DocumentMut, Item, RawString, TableLike, Value};

use crate::config::rules::{FsRule, Operation, RuleMode};
use crate::permission::grants::rule_text;
use crate::protocol::grant::{Grant, GrantKind};

/// The text without what `grant` stands for; `None` when it is not there. The error is the end of a sentence.
pub fn without(text: &str, grant: &Grant) -> Result<Option<String>, String> {
    let (mark, body) = text
        .strip_prefix('\u{feff}')
        .map_or(("", text), |body| ("\u{feff}", body));
    let mut document: DocumentMut = body.parse().map_err(|error: toml_edit::TomlError| {
        error.to_string().lines().next().unwrap_or_default().to_owned()
    })?;
    let permissions = document.get_mut("permissions").and_then(Item::as_table_like_mut);
    let removed = permissions.is_some_and(|permissions| match grant.kind {
        GrantKind::Command => forget_command(permissions, &grant.text),
        GrantKind::Rule => forget_rule(permissions, &grant.text),
        GrantKind::Session => false,
    });
    Ok(removed.then(|| format!("{mark}{document}")))
}

fn forget_command(permissions: &mut dyn TableLike, pattern: &str) -> bool {
    let bash = permissions.get_mut("bash").and_then(Item::as_table_like_mut);
    let list = bash
        .and_then(|bash| bash.get_mut("allow"))
        .and_then(Item::as_array_mut);
    let Some(list) = list else { return false };
    let Some(at) = list.iter().position(|entry| entry.as_str() == Some(pattern)) else {
        return false;
    };
    let text = |raw: Option<&RawString>| raw.and_then(RawString::as_str).unwrap_or_default().to_owned();
    let gone = list.remove(at);
    let before = text(gone.decor().prefix());
    match list.get_mut(at) {
        Some(next) => {
            let joined = joined(&before, &text(next.decor().prefix()), at == 0);
            next.decor_mut().set_prefix(joined);
        }
        None => {
            let joined = joined(&before, &text(Some(list.trailing())), false);
            list.set_trailing(joined);
        }
    }
    true
}

/// What stands between two entries when the one between them is gone. A comment at the end of a line belongs
/// to the entry before it: of the first text its first line stays, of the second what follows its first.
fn joined(before: &str, after: &str, at_bracket: bool) -> String {
    match (before.split_once('\n'), after.split_once('\n')) {
        (Some((line, _)), Some((_, rest))) => format!("{line}\n{rest}"),
        _ if at_bracket => before.to_owned(),
        _ => after.to_owned(),
    }
}

fn forget_rule(permissions: &mut dyn TableLike, text: &str) -> bool {
    let is_it = |rule: &dyn TableLike| of_table(rule).is_some_and(|rule| rule_text(&rule) == text);
    match permissions.get_mut("rules") {
        Some(Item::ArrayOfTables(rules)) => {
            let at = rules.iter().position(|rule| is_it(rule));
            at.map(|at| rules.remove(at)).is_some()
        }
        Some(Item::Value(Value::Array(rules))) => {
            let at = rules
                .iter()
                .position(|rule| rule.as_inline_table().is_some_and(|rule| is_it(rule)));
            at.map(|at| rules.remove(at)).is_some()
        }
        _ => false,
    }
}

/// A rule that allows; others are not taken back by a key.
fn of_table(rule: &dyn TableLike) -> Option<FsRule> {
    let texts = |name: &str| -> Option<Vec<String>> {
        let list = rule.get(name)?.as_array()?;
        list.iter().map(|item| Some(item.as_str()?.to_owned())).collect()
    };
    let mode = rule.get("mode").map_or(Some("allow"), Item::as_str)?;
    let operations = texts("operations")?.into_iter().map(|name| match name.as_str() {
        "read" => Some(Operation::Read),
        "write" => Some(Operation::Write),
        _ => None,
    });
    (mode == "allow").then_some(FsRule {
        operations: operations.collect::<Option<_>>()?,
        paths: texts("paths")?,
        mode: RuleMode::Allow,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grant(kind: GrantKind, text: &str) -> Grant {
        Grant {
            kind,
            mode: "allow".into(),
            text: text.into(),
            source: String::new(),
            file: None,
            line: None,
            revocable: true,
        }
    }

    #[test]
    fn an_entry_goes_and_the_rest_stays() {
        let command = |text: &str| grant(GrantKind::Command, text);
        for (before, gone, after) in [
            (
                "# mine\n[permissions.bash]\nallow = [\n  \"ls *\", # look\n  \"git push *\",\n  \"pwd\"\n] # end\n",
                "git push *",
                "# mine\n[permissions.bash]\nallow = [\n  \"ls *\", # look\n  \"pwd\"\n] # end\n",
            ),
            (
                "permissions.bash.allow = ['a', 'b']\n",
                "a",
                "permissions.bash.allow = ['b']\n",
            ),
            (
                "permissions.bash.allow = ['a', 'b']\n",
                "b",
                "permissions.bash.allow = ['a']\n",
            ),
            (
                "permissions.bash.allow = ['a']\n",
                "a",
                "permissions.bash.allow = []\n",
            ),
            (
                "\u{feff}permissions = { bash = { allow = ['x'] } }\n",
                "x",
                "\u{feff}permissions = { bash = { allow = [] } }\n",
            ),
        ] {
            assert_eq!(
                without(before, &command(gone)).unwrap().as_deref(),
                Some(after),
                "{before}"
            );
        }
        for before in [
            "",
            "permissions = 1\n",
            "[permissions.bash]\ndeny = ['x']\n",
            "[permissions.bash]\nallow = 1\n",
        ] {
            assert_eq!(without(before, &command("x")), Ok(None), "{before}");
        }
        assert!(without("[", &command("x")).is_err());
    }

    #[test]
    fn a_rule_goes_only_where_it_allows() {
        let rule = |text: &str| grant(GrantKind::Rule, text);
        let before = "[[permissions.rules]]\noperations = ['write']\npaths = ['/a']\nmode = 'deny'\n\n# why\n[[permissions.rules]]\noperations = ['write']\npaths = ['/a']\n\n[[permissions.rules]]\noperations = ['read', 'write']\npaths = ['/b', '/c/**']\nmode = 'allow'\n";
        let after = without(before, &rule("write /a")).unwrap().unwrap();
        assert!(
            after.contains("mode = 'deny'") && after.contains("/c/**") && !after.contains("# why"),
            "{after}"
        );
        assert_eq!(without(&after, &rule("write /a")), Ok(None));
        let after = without(&after, &rule("read, write /b, /c/**")).unwrap().unwrap();
        assert!(!after.contains("/c/**"), "{after}");
        let inline = "permissions.rules = [{operations=['write'], paths=['/a']}, {operations=['read'], paths=['/a'], mode='deny'}]\n";
        let after = without(inline, &rule("write /a")).unwrap().unwrap();
        assert!(after.contains("deny") && !after.contains("write"), "{after}");
    }
}
