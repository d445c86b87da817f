//! What a project file may hold. It came with the code, perhaps from a stranger: it may make the agent
//! more careful, never less.

use serde_json::Value;

use crate::config::check::Leaf;
use crate::config::keys::InProject;
use crate::config::mode::Mode;
use crate::config::values::Values;

/// Splits the leaves of a project file into those that count and the paths of those that do not.
///
/// `person` holds the lower layers; `providers` are the names of providers that a model may be of.
pub fn tighten(leaves: Vec<Leaf>, person: &Values, providers: &[String]) -> (Vec<Leaf>, Vec<String>) {
    let mut kept = Vec::new();
    let mut ignored = Vec::new();
    for mut leaf in leaves {
        let path = leaf.path.join(".");
        let takes = match leaf.key.project {
            InProject::Ignored => false,
            InProject::Taken => true,
            InProject::KnownModel => names_provider(&leaf.value, providers),
            InProject::Stricter => match path.as_str() {
                "permissions.rules" => {
                    if drop_allow_rules(&mut leaf) {
                        ignored.push(format!("{path} (mode allow)"));
                    }
                    true
                }
                _ => is_stricter(&path, &leaf.value, person),
            },
        };
        if takes {
            kept.push(leaf);
        } else {
            ignored.push(path);
        }
    }
    (kept, ignored)
}

fn names_provider(model: &Value, providers: &[String]) -> bool {
    let name = model
        .as_str()
        .and_then(|model| model.split_once(':'))
        .map(|(provider, _)| provider);
    name.is_some_and(|name| providers.iter().any(|known| known == name))
}

/// Removes rules that allow; says whether there were some.
fn drop_allow_rules(leaf: &mut Leaf) -> bool {
    let Value::Array(rules) = std::mem::take(&mut leaf.value) else {
        return false;
    };
    let before = rules.len();
    let denies = |rule: &Value| {
        rule.get("mode")
            .and_then(Value::as_str)
            .is_some_and(|mode| mode != "allow")
    };
    let mut sources = std::mem::take(&mut leaf.items).into_iter();
    let mut kept = Vec::new();
    for rule in rules {
        let source = sources.next();
        if denies(&rule) {
            kept.push(rule);
            leaf.items.extend(source);
        }
    }
    let dropped = kept.len() < before;
    leaf.value = Value::Array(kept);
    dropped
}

fn is_stricter(path: &str, value: &Value, person: &Values) -> bool {
    let Some(new) = value.as_str() else { return false };
    let old = person.text(path);
    match path {
        "mode" => {
            let old = old.and_then(|name| name.parse::<Mode>().ok()).unwrap_or_default();
            new.parse::<Mode>()
                .is_ok_and(|new| new.is_stricter_than(old) || new == old)
        }
        "permissions.read_outside" => {
            let rank = |word: &str| ["allow", "ask", "deny"].iter().position(|known| *known == word);
            rank(new) >= rank(old.as_deref().unwrap_or("allow"))
        }
        _ => false,
    }
}
