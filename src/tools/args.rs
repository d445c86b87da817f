//! From the arguments as the model wrote them to a tool's typed `Args`.
//!
//! Models send an empty string for "no arguments", wrap the object in a string, or write a list or a
//! number as a string. What is certain is mended here, once for all tools; the rest is answered with
//! what to change, and the tool does not run.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::tools::tool::ToolError;

/// The arguments as a JSON object.
///
/// # Errors
/// [`ToolError::Reply`] when `raw` is no JSON, or no object.
pub fn object(tool: &str, raw: &str) -> Result<Map<String, Value>, ToolError> {
    let raw = raw.trim();
    if raw.is_empty() || raw == "null" {
        return Ok(Map::new());
    }
    let value: Value = serde_json::from_str(raw).map_err(|error| {
        ToolError::Reply(format!(
            "The arguments of {tool} are not valid JSON ({error}). Nothing was run. Send the call again \
             with one complete JSON object."
        ))
    })?;
    match unwrap_string(value) {
        Value::Object(object) => Ok(object),
        other => Err(ToolError::Reply(format!(
            "The arguments of {tool} must be a JSON object, not {}. Nothing was run. Send the call again.",
            kind(&other)
        ))),
    }
}

/// Typed arguments out of `object`.
///
/// # Errors
/// [`ToolError::Reply`] that names the field and what is wrong with it.
pub fn typed<A: DeserializeOwned>(tool: &str, object: Map<String, Value>) -> Result<A, ToolError> {
    let first = match serde_json::from_value(Value::Object(object.clone())) {
        Ok(args) => return Ok(args),
        Err(error) => error,
    };
    let mended = object
        .into_iter()
        .map(|(key, value)| (key, unwrap_string(value)))
        .collect();
    serde_json::from_value(Value::Object(mended)).map_err(|_| {
        ToolError::Reply(format!(
            "The arguments of {tool} do not fit: {first}. Nothing was run. Send the call again with the \
             parameters of its schema."
        ))
    })
}

/// The value that a string holds, when it holds JSON that is not itself a string.
fn unwrap_string(value: Value) -> Value {
    let Value::String(text) = &value else { return value };
    match serde_json::from_str(text) {
        Ok(Value::String(_)) | Err(_) => value,
        Ok(inner) => inner,
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, serde::Deserialize)]
    struct Args {
        path: String,
        #[serde(default)]
        lines: Vec<u32>,
    }

    fn parse(raw: &str) -> Result<Args, String> {
        object("t", raw)
            .and_then(|object| typed("t", object))
            .map_err(|error| error.to_string())
    }

    fn args(path: &str, lines: &[u32]) -> Args {
        Args {
            path: path.into(),
            lines: lines.into(),
        }
    }

    #[test]
    fn what_is_certain_is_mended() {
        assert_eq!(parse(r#"{"path":"a"}"#), Ok(args("a", &[])));
        assert_eq!(parse(r#""{\"path\":\"a\"}""#), Ok(args("a", &[])));
        assert_eq!(parse(r#"{"path":"a","lines":"[1,2]"}"#), Ok(args("a", &[1, 2])));
        assert_eq!(object("t", " ").unwrap(), Map::new());
    }

    #[test]
    fn a_string_that_looks_like_json_stays_a_string_where_one_is_wanted() {
        assert_eq!(parse(r#"{"path":"[1]"}"#), Ok(args("[1]", &[])));
    }

    #[test]
    fn errors_say_what_to_send() {
        for (raw, has) in [
            (r#"{"path": "#, "not valid JSON"),
            (r"[1]", "must be a JSON object, not a list"),
            ("{}", "missing field `path`"),
            (r#"{"path":"a","lines":7}"#, "invalid type"),
        ] {
            let error = parse(raw).unwrap_err();
            assert!(
                error.contains(has) && error.contains("Nothing was run"),
                "{raw}: {error}"
            );
        }
    }
}
