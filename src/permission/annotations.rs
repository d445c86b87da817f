//! What a server says of its tool, and whether it is believed.

use serde_json::Value;

use crate::protocol::tool::ToolClass;

/// The hints of the protocol. A tool that gives one of them another type than a truth value is not believed
/// in anything.
const HINTS: [&str; 4] = [
    "readOnlyHint",
    "destructiveHint",
    "idempotentHint",
    "openWorldHint",
];

/// The class of a server's tool by the `annotations` of its listing: [`ToolClass::Read`] when it says
/// coherently that it only looks, else [`ToolClass::Foreign`].
///
/// Coherent means: `readOnlyHint` is `true`, `destructiveHint` is not, and every hint that is there is a truth
/// value or null.
pub fn class(annotations: Option<&Value>) -> ToolClass {
    let hint = |name: &str| annotations.and_then(|all| all.get(name));
    let is_sound = |name: &&str| hint(name).is_none_or(|value| value.is_boolean() || value.is_null());
    let says = |name: &str| hint(name) == Some(&Value::Bool(true));
    if HINTS.iter().all(is_sound) && says("readOnlyHint") && !says("destructiveHint") {
        ToolClass::Read
    } else {
        ToolClass::Foreign
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_a_coherent_reader_is_believed() {
        let reads = [
            json!({"readOnlyHint": true}),
            json!({"readOnlyHint": true, "destructiveHint": false}),
            json!({"readOnlyHint": true, "destructiveHint": null}),
            json!({"readOnlyHint": true, "idempotentHint": false, "openWorldHint": true}),
            json!({"readOnlyHint": true, "title": "Looks", "idempotentHint": null}),
        ];
        for annotations in reads {
            assert_eq!(class(Some(&annotations)), ToolClass::Read, "{annotations}");
        }
        let foreign = [
            json!({}),
            json!(null),
            json!("readOnlyHint"),
            json!([true]),
            json!({"readOnlyHint": false}),
            json!({"readOnlyHint": null}),
            json!({"readOnlyHint": "true"}),
            json!({"readOnlyHint": 1}),
            json!({"destructiveHint": false}),
            json!({"readOnlyHint": true, "destructiveHint": true}),
            json!({"readOnlyHint": true, "destructiveHint": "false"}),
            json!({"readOnlyHint": true, "destructiveHint": 0}),
            json!({"readOnlyHint": true, "idempotentHint": "yes"}),
            json!({"readOnlyHint": true, "openWorldHint": []}),
        ];
        for annotations in foreign {
            assert_eq!(class(Some(&annotations)), ToolClass::Foreign, "{annotations}");
        }
        assert_eq!(class(None), ToolClass::Foreign);
    }
}
