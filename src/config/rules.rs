//! Filesystem rules and command patterns as data, and the errors of writing one.

use serde_json::Value;

/// What a rule is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// ls, read_file, glob, grep and the git tools.
    Read,
    /// write_file, edit_file, apply_patch, delete.
    Write,
}

/// What a rule says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum RuleMode {
    /// It may.
    #[default]
    Allow,
    /// The person is asked.
    Interrupt,
    /// It may not.
    Deny,
}

impl RuleMode {
    /// As it is written in a config.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Interrupt => "interrupt",
            Self::Deny => "deny",
        }
    }
}

/// One filesystem rule. A call is judged by the first rule that matches it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FsRule {
    /// At least one.
    pub operations: Vec<Operation>,
    /// Absolute globs with `**`, `{a,b}` and `[ab]`; at least one. One `*` stays within a folder.
    pub paths: Vec<String>,
    /// What it says.
    pub mode: RuleMode,
}

/// Reads one rule `{operations, paths, mode}`; the error is a sentence for the person.
pub fn fs_rule(value: &Value) -> Result<FsRule, String> {
    let map = value
        .as_object()
        .ok_or("a rule is a table {operations, paths, mode}")?;
    for name in map.keys() {
        if !["operations", "paths", "mode"].contains(&name.as_str()) {
            return Err(format!(
                "a rule has no field {name}; it has operations, paths and mode"
            ));
        }
    }
    let texts = |name: &str| -> Result<Vec<String>, String> {
        let list = map
            .get(name)
            .and_then(Value::as_array)
            .filter(|list| !list.is_empty());
        let list = list.ok_or_else(|| format!("{name} must be a list with at least one text"))?;
        let texts = list.iter().map(|item| item.as_str().map(str::to_owned));
        texts
            .collect::<Option<_>>()
            .ok_or_else(|| format!("{name} must be a list of texts"))
    };
    let operations = texts("operations")?
        .iter()
        .map(|name| match name.as_str() {
            "read" => Ok(Operation::Read),
            "write" => Ok(Operation::Write),
            other => Err(format!("{other} is no operation; there are read and write")),
        })
        .collect::<Result<_, _>>()?;
    let paths = texts("paths")?;
    for path in &paths {
        rule_path(path)?;
    }
    let mode = match map.get("mode") {
        None | Some(Value::Null) => RuleMode::Allow,
        Some(Value::String(name)) => match name.as_str() {
            "allow" => RuleMode::Allow,
            "deny" => RuleMode::Deny,
            "interrupt" | "ask" => RuleMode::Interrupt,
            other => {
                return Err(format!(
                    "{other} is no mode of a rule; there are allow, deny and interrupt"
                ));
            }
        },
        Some(_) => return Err("mode must be allow, deny or interrupt".to_owned()),
    };
    Ok(FsRule {
        operations,
        paths,
        mode,
    })
}

/// Whether a rule may name this path: absolute, no `..`, no `~`, a glob that compiles.
pub fn rule_path(path: &str) -> Result<(), String> {
    if !path.starts_with('/') {
        return Err(format!("the path {path:?} must be absolute, starting with /"));
    }
    let mut parts = path.split(['/', '\\']);
    if parts.clone().any(|part| part == "..") {
        return Err(format!("the path {path:?} must not hold .."));
    }
    if parts.any(|part| part.starts_with('~')) {
        return Err(format!("the path {path:?} must not hold ~: write the folder out"));
    }
    match globset::Glob::new(path) {
        Ok(_) => Ok(()),
        Err(error) => Err(format!("the path {path:?} is no pattern: {}", error.kind())),
    }
}

/// Reads one command pattern: words with an optional ` *` at the end, single blanks between them.
/// `ls*` is read as `ls *`.
pub fn command_pattern(text: &str) -> Result<String, String> {
    let mut words: Vec<&str> = text.split_whitespace().collect();
    let Some(last) = words.pop() else {
        return Err("a command pattern needs at least one word".to_owned());
    };
    let (last, open) = match last.strip_suffix('*') {
        Some(rest) => (rest, true),
        None => (last, false),
    };
    if !last.is_empty() {
        words.push(last);
    }
    if let Some(word) = words.iter().find(|word| word.contains('*')) {
        return Err(format!(
            "{text:?}: a * may only stand at the end, not in {word:?}"
        ));
    }
    if open {
        words.push("*");
    }
    Ok(words.join(" "))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_rule_allows_unless_it_says_otherwise() {
        let rule = fs_rule(&json!({"operations": ["read"], "paths": ["/a/**"]})).unwrap();
        assert_eq!(rule.mode, RuleMode::Allow);
        assert_eq!(rule.operations, [Operation::Read]);
    }

    #[test]
    fn paths_are_absolute_and_plain() {
        for bad in ["x/**", "", "~/x", "/a/../b", "\\..\\", "/~/x", "/a/[", "/~bob/x"] {
            assert!(rule_path(bad).is_err(), "{bad}");
        }
        for good in ["/a~b", "/", "/**", "/a/{b,c}/[de].txt", "/a/..b", "/a.b/*"] {
            assert!(rule_path(good).is_ok(), "{good}");
        }
        let one_bad = json!({"operations": ["read"], "paths": ["/a", "b"], "mode": "deny"});
        assert!(fs_rule(&one_bad).is_err());
        assert!(fs_rule(&json!({"operations": [], "paths": ["/a"]})).is_err());
        assert!(fs_rule(&json!({"operations": ["read"], "paths": ["/a"], "mod": "deny"})).is_err());
    }

    #[test]
    fn a_star_stands_at_the_end() {
        assert_eq!(command_pattern(" git   status *").as_deref(), Ok("git status *"));
        assert_eq!(command_pattern("ls*").as_deref(), Ok("ls *"));
        assert_eq!(command_pattern("*").as_deref(), Ok("*"));
        assert!(command_pattern("git * push").is_err());
        assert!(command_pattern("  ").is_err());
    }
}
