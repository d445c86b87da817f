//! The arguments of calls, as text that came from a model.

use serde_json::Value;

/// Whether arguments are a JSON object; blank ones stand for `{}`.
pub(super) fn is_object(arguments: &str) -> bool {
    let arguments = arguments.trim();
    arguments.is_empty()
        || arguments.starts_with('{') && serde_json::from_str::<serde::de::IgnoredAny>(arguments).is_ok()
}

/// Arguments as they may be sent again. Servers parse those of past calls, so these must be an object
/// even where the model's were none; where they were one, its bytes stay.
pub(super) fn sendable(arguments: &str) -> String {
    if arguments.trim().is_empty() {
        "{}".to_owned()
    } else if is_object(arguments) {
        arguments.to_owned()
    } else if let Some(inner) = wrapped(arguments) {
        inner
    } else {
        serde_json::json!({ "not_json": arguments }).to_string()
    }
}

/// The same as a value.
pub(super) fn sendable_value(arguments: &str) -> Value {
    serde_json::from_str(&sendable(arguments)).unwrap_or_else(|_| Value::Object(serde_json::Map::new()))
}

/// The object in a string that holds it: some models encode twice.
fn wrapped(arguments: &str) -> Option<String> {
    let inner: String = serde_json::from_str(arguments.trim()).ok()?;
    (!inner.trim().is_empty() && is_object(&inner)).then_some(inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sent_is_an_object() {
        for (arguments, sent) in [
            ("", "{}"),
            (" ", "{}"),
            (r#"{ "a" : 1 }"#, r#"{ "a" : 1 }"#),
            (r#""{\"a\":1}""#, r#"{"a":1}"#),
            (r#"{"a": "rm -rf x"#, r#"{"not_json":"{\"a\": \"rm -rf x"}"#),
            ("7", r#"{"not_json":"7"}"#),
            (r#""""#, r#"{"not_json":"\"\""}"#),
        ] {
            assert_eq!(sendable(arguments), sent, "{arguments}");
            assert!(sendable_value(arguments).is_object());
        }
    }
}
