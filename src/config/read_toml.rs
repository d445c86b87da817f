//! A TOML file as JSON with the line of every key. Nothing is interpreted here.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::Path;

use serde_json::{Map, Number, Value};
use thiserror::Error;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A config of more than this is somebody's mistake.
const MAX_BYTES: u64 = 1024 * 1024;

/// What a file holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Document {
    /// Always an object.
    pub value: Value,
    /// Path (as [`child`] builds it) to line, counted from 1.
    pub lines: BTreeMap<String, usize>,
}

/// Why a file could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ReadError {
    /// It is not TOML. Line and column count from 1.
    #[error("line {line}, column {column}: {message}")]
    Syntax {
        /// Where.
        line: usize,
        /// Where, in characters.
        column: usize,
        /// What is wrong.
        message: String,
    },
    /// It cannot be opened, is no file, is too big, or is not UTF-8.
    #[error("{0}")]
    Unreadable(String),
}

/// The path of a child: `a.b`, and quotes around a name that holds a dot or a blank.
pub fn child(parent: &str, name: &str) -> String {
    let bare = !name.is_empty()
        && name
            .chars()
            .all(|c| c.is_alphanumeric() || c == '_' || c == '-' || c == '*');
    let name = if bare {
        name.to_owned()
    } else {
        format!("{name:?}")
    };
    if parent.is_empty() {
        name
    } else {
        format!("{parent}.{name}")
    }
}

/// The path of an element of a list.
pub fn element(parent: &str, index: usize) -> String {
    format!("{parent}[{index}]")
}

/// Reads a file; `None` when there is none.
pub fn read(path: &Path) -> Result<Option<Document>, ReadError> {
    let unreadable = |why: &str| ReadError::Unreadable(why.to_owned());
    match std::fs::metadata(path) {
        Ok(meta) if meta.is_file() => {}
        Ok(_) => return Err(unreadable("it is not a file")),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => return Ok(None),
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
            return Err(unreadable("you may not read it"));
        }
        Err(_) => return Err(unreadable("it cannot be opened")),
    }
    let mut bytes = Vec::new();
    std::fs::File::open(path)
        .and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes))
        .map_err(|error| match error.kind() {
            std::io::ErrorKind::PermissionDenied => unreadable("you may not read it"),
            _ => unreadable("it cannot be read"),
        })?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(unreadable("it is larger than 1 MiB"));
    }
    let text = String::from_utf8(bytes).map_err(|_| unreadable("it is not UTF-8"))?;
    parse(&text).map(Some)
}

/// Parses a text.
pub fn parse(text: &str) -> Result<Document, ReadError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let table = DeTable::parse(text).map_err(|error| {
        let offset = error.span().map_or(text.len(), |span| span.start);
        let (line, column) = position(text, offset);
        ReadError::Syntax {
            line,
            column,
            message: error.message().to_owned(),
        }
    })?;
    let mut lines = BTreeMap::new();
    let value = object("", table.get_ref(), text, &mut lines);
    Ok(Document { value, lines })
}

fn position(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().map_or(0, |last| last.chars().count()) + 1;
    (line, column)
}

fn object(at: &str, table: &DeTable<'_>, text: &str, lines: &mut BTreeMap<String, usize>) -> Value {
    let mut map = Map::new();
    for (name, value) in table {
        let path = child(at, name.get_ref());
        lines.insert(path.clone(), position(text, name.span().start).0);
        map.insert(name.get_ref().to_string(), json(&path, value, text, lines));
    }
    Value::Object(map)
}

fn json(at: &str, value: &Spanned<DeValue<'_>>, text: &str, lines: &mut BTreeMap<String, usize>) -> Value {
    match value.get_ref() {
        DeValue::String(text) => Value::String(text.to_string()),
        DeValue::Boolean(flag) => Value::Bool(*flag),
        DeValue::Integer(number) => {
            let digits = number.as_str().replace('_', "");
            i64::from_str_radix(&digits, number.radix()).map_or(Value::String(digits), Value::from)
        }
        DeValue::Float(number) => {
            let digits = number.as_str().replace('_', "");
            let parsed = digits.parse::<f64>().ok().and_then(Number::from_f64);
            parsed.map_or(Value::String(digits), Value::Number)
        }
        DeValue::Datetime(date) => Value::String(date.to_string()),
        DeValue::Array(items) => {
            let list = items.iter().enumerate().map(|(index, item)| {
                let path = element(at, index);
                lines.insert(path.clone(), position(text, item.span().start).0);
                json(&path, item, text, lines)
            });
            Value::Array(list.collect())
        }
        DeValue::Table(table) => object(at, table, text, lines),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_elements_know_their_line() {
        let text = "mode = 'plan'\n[permissions.bash]\ndeny = [\n  'rm *',\n  'dd *',\n]\n[providers.'a.b']\nwire='x'\n";
        let document = parse(text).unwrap();
        assert_eq!(document.lines["mode"], 1);
        assert_eq!(document.lines["permissions.bash.deny[1]"], 5);
        assert_eq!(document.lines["providers.\"a.b\".wire"], 8);
        assert_eq!(document.value["permissions"]["bash"]["deny"][0], "rm *");
    }

    #[test]
    fn a_syntax_error_names_line_and_column() {
        let error = parse("mode = 'plan'\nsave = \"on_edit\nmax_steps = 3\n").unwrap_err();
        assert!(matches!(error, ReadError::Syntax { line: 2, .. }), "{error:?}");
        let error = parse("[permissions\n").unwrap_err();
        assert!(
            matches!(error, ReadError::Syntax { line: 1, column, .. } if column > 1),
            "{error:?}"
        );
    }
}
