//! The hard rules: what no mode, answer, rule or list overrides.

use crate::permission::access::Access;
use crate::permission::finding::Finding;
use crate::permission::ground::{Ground, Target};

/// The name of the layer.
pub const LAYER: &str = "hard";

/// What a refusal adds: a hard rule has no switch.
const FIXED: &str = "a hard rule, which no mode, answer or rule overrides";

/// A refusal.
pub fn refuse(what: &str, reason: String) -> Finding {
    Finding::deny(LAYER, format!("{what}; {FIXED}"), reason)
}

/// Judges one path of a file tool.
pub fn path(ground: &Ground, tool: &str, access: &Access, target: &Target) -> Option<Finding> {
    access.changed_path()?;
    let words = target.words();
    if tool == "apply_patch" && !ground.is_inside(&target.real) {
        return Some(refuse(
            "a patch stays in the working directory",
            format!("{words} lies outside the working directory. A patch may only name files in it."),
        ));
    }
    let removes = matches!(access, Access::Delete(_));
    let is_protected = |path| {
        if removes {
            ground.is_protected_name(path)
        } else {
            ground.is_protected(path)
        }
    };
    if target.paths().any(is_protected) {
        return Some(refuse(
            "the agent's own rules, tokens and trust are written by the person alone",
            format!("{words} holds rules or tokens of the agent. Ask the person to change it."),
        ));
    }
    if removes && target.paths().any(|path| ground.holds_protected(path)) {
        return Some(refuse(
            "the agent's own rules, tokens and trust are not removed",
            format!("{words} holds rules or tokens of the agent."),
        ));
    }
    let vital = target.paths().find_map(|path| ground.vital(path))?;
    let act = if removes { "removed" } else { "overwritten" };
    Some(refuse(
        &format!("{vital} is not {act}"),
        format!("{words} is {vital}: it is not {act}."),
    ))
}
