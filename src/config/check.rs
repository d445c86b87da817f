//! One layer against the table of keys: leaves that are right, and sentences about what is not.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use crate::config::keys::{self, KEYS, Key, Kind, UNUSED};
use crate::config::layer::{Layer, Source};
use crate::config::read_toml::{child, element};
use crate::config::rules;

/// Where the values of a layer stand.
#[derive(Clone, Copy, Debug)]
pub struct Places<'a> {
    /// Whose values they are.
    pub layer: Layer,
    /// The file, if it is one.
    pub file: Option<&'a Path>,
    /// Path to line; empty for a layer that is no file.
    pub lines: &'a BTreeMap<String, usize>,
}

impl Places<'_> {
    fn source(&self, path: &str) -> Source {
        match self.file {
            Some(file) => Source::file(self.layer, file, self.lines.get(path).copied()),
            None => Source::of(self.layer),
        }
    }
}

/// A value of the right type at a known key.
#[derive(Clone, Debug)]
pub struct Leaf {
    /// The names down to it.
    pub path: Vec<String>,
    /// Its row.
    pub key: &'static Key,
    /// The value. Lists hold only elements that are right.
    pub value: Value,
    /// Where it stands.
    pub source: Source,
    /// Where each element of a list stands.
    pub items: Vec<Source>,
}

/// Something the person should mend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where.
    pub source: Source,
    /// Dotted path; empty for a whole file.
    pub key: String,
    /// What is wrong, without the place.
    pub message: String,
    /// Whether what was lost could have denied or asked something.
    pub guards: bool,
}

/// What a layer gave.
#[derive(Clone, Debug, Default)]
pub struct Checked {
    /// Values to use.
    pub leaves: Vec<Leaf>,
    /// Known keys of the original program that have no effect here.
    pub unused: Vec<(String, Source)>,
    /// What is wrong.
    pub problems: Vec<Problem>,
}

/// Checks a layer. `null` counts as absent; an empty Lua table as an empty list or table.
pub fn check(value: &Value, places: Places<'_>) -> Checked {
    let mut walk = Walk {
        places,
        out: Checked::default(),
    };
    match value {
        Value::Object(map) => walk.children(&mut Vec::new(), "", map),
        Value::Null => {}
        Value::Array(list) if list.is_empty() => {}
        other => walk.problem("", format!("expected a table, found {}", kind_of(other)), true),
    }
    walk.out
}

struct Walk<'a> {
    places: Places<'a>,
    out: Checked,
}

impl Walk<'_> {
    fn problem(&mut self, path: &str, message: String, guards: bool) {
        let source = self.places.source(path);
        self.out.problems.push(Problem {
            source,
            key: path.to_owned(),
            message,
            guards,
        });
    }

    fn children(&mut self, at: &mut Vec<String>, path: &str, map: &serde_json::Map<String, Value>) {
        for (name, value) in map {
            at.push(name.clone());
            self.visit(at, &child(path, name), value);
            at.pop();
        }
    }

    fn visit(&mut self, at: &mut Vec<String>, path: &str, value: &Value) {
        if value.is_null() {
            return;
        }
        if UNUSED.iter().any(|unused| keys::matches(unused, at)) {
            self.out.unused.push((path.to_owned(), self.places.source(path)));
            return;
        }
        let key = keys::find(at);
        let goes_on = KEYS.iter().map(|key| key.path).chain(UNUSED.iter().copied());
        let goes_on = goes_on.into_iter().any(|pattern| keys::is_below(pattern, at));
        match (key, value) {
            (Some(key), Value::Object(map)) if goes_on && !map.is_empty() => {
                if map
                    .keys()
                    .any(|name| !UNUSED.contains(&child(path, name).as_str()))
                {
                    self.problem(path, wrong_type(key, value), key.guards);
                }
                self.children(at, path, map);
            }
            (Some(key), value) => self.leaf(at, path, key, value),
            (None, Value::Object(map)) if goes_on => self.children(at, path, map),
            (None, Value::Array(list)) if goes_on && list.is_empty() => {}
            (None, value) if goes_on => {
                let guards = KEYS.iter().any(|key| key.guards && keys::is_below(key.path, at));
                self.problem(
                    path,
                    format!("expected a table, found {}", kind_of(value)),
                    guards,
                );
            }
            (None, _) => self.unknown(at, path),
        }
    }

    fn leaf(&mut self, at: &[String], path: &str, key: &'static Key, value: &Value) {
        let source = self.places.source(path);
        let mut leaf = Leaf {
            path: at.to_owned(),
            key,
            value: value.clone(),
            source,
            items: Vec::new(),
        };
        let is_list = matches!(
            key.kind,
            Kind::Texts | Kind::Paths | Kind::Names | Kind::Commands | Kind::Rules
        );
        match value {
            Value::Array(list) if is_list => {
                let mut kept = Vec::new();
                for (index, item) in list.iter().enumerate() {
                    let here = element(path, index);
                    match list_item(key.kind, item) {
                        Ok(item) => {
                            kept.push(item);
                            leaf.items.push(self.places.source(&here));
                        }
                        Err(message) => self.problem(&here, message, key.guards),
                    }
                }
                leaf.value = Value::Array(kept);
            }
            Value::Object(map) if is_list && map.is_empty() => leaf.value = Value::Array(Vec::new()),
            Value::Array(list) if list.is_empty() && key.kind == Kind::Tree => {
                leaf.value = Value::Object(serde_json::Map::new());
            }
            value => match scalar(key, value) {
                Ok(value) => leaf.value = value,
                Err(message) => return self.problem(path, message, key.guards),
            },
        }
        self.out.leaves.push(leaf);
    }

    fn unknown(&mut self, at: &[String], path: &str) {
        let nearest = nearest(at);
        let guards = path.starts_with("permissions.")
            || nearest.as_ref().is_some_and(|near| {
                KEYS.iter()
                    .any(|key| key.guards && (key.path == near || key.path.starts_with(&format!("{near}."))))
            });
        let message = match nearest {
            Some(near) => format!("there is no such key; did you mean {near}?"),
            None => "there is no such key; :help dcode-config lists them".to_owned(),
        };
        self.problem(path, message, guards);
    }
}

/// One element of a list, made canonical.
fn list_item(kind: Kind, item: &Value) -> Result<Value, String> {
    if kind == Kind::Rules {
        return rules::fs_rule(item).map(|_| item.clone());
    }
    let text = item
        .as_str()
        .ok_or_else(|| format!("expected a text, found {}", kind_of(item)))?;
    match kind {
        Kind::Commands => rules::command_pattern(text).map(Value::String),
        Kind::Paths => absolute(text).map(|()| item.clone()),
        Kind::Texts => match globset::Glob::new(text) {
            Ok(_) if !text.trim().is_empty() => Ok(item.clone()),
            Ok(_) => Err("expected a name or a glob, found an empty text".to_owned()),
            Err(error) => Err(format!("{text:?} is no pattern: {}", error.kind())),
        },
        _ => Ok(item.clone()),
    }
}

fn scalar(key: &Key, value: &Value) -> Result<Value, String> {
    let wrong = || wrong_type(key, value);
    match (key.kind, value) {
        (Kind::Text | Kind::Names, Value::String(_)) | (Kind::Flag, Value::Bool(_)) => Ok(value.clone()),
        (Kind::Tree, Value::Object(_) | Value::Bool(_)) => Ok(value.clone()),
        (Kind::Path, Value::String(text)) => absolute(text).map(|()| value.clone()),
        (Kind::OneOf(words), Value::String(text)) => {
            let text = text.replace('-', "_");
            let word = words.iter().find(|word| word.replace('-', "_") == text);
            word.map(|word| Value::String((*word).to_owned()))
                .ok_or_else(wrong)
        }
        (Kind::Number(low, high), Value::Number(number)) => {
            // Lua has no integers of its own: 10 may come as 10.0.
            let whole = number.as_i64().or_else(|| {
                let float = number
                    .as_f64()
                    .filter(|float| float.fract() == 0.0 && float.abs() < 1e15)?;
                Some(float as i64)
            });
            whole
                .filter(|whole| (low..=high).contains(whole))
                .map(Value::from)
                .ok_or_else(wrong)
        }
        _ => Err(wrong()),
    }
}

fn absolute(text: &str) -> Result<(), String> {
    if text.starts_with('~') {
        return Err(format!("{text:?}: ~ is not expanded; write the whole path"));
    }
    if !text.starts_with('/') {
        return Err(format!("{text:?} must be an absolute path"));
    }
    Ok(())
}

fn wrong_type(key: &Key, value: &Value) -> String {
    let expected = match key.kind {
        Kind::Text => "a text".to_owned(),
        Kind::Path => "an absolute path".to_owned(),
        Kind::Flag => "true or false".to_owned(),
        Kind::Number(low, high) => format!("a whole number from {low} to {high}"),
        Kind::OneOf(words) => format!("one of {}", words.join(", ")),
        Kind::Texts => "a list of texts".to_owned(),
        Kind::Paths => "a list of absolute paths".to_owned(),
        Kind::Names => "a list of texts, or one text with commas".to_owned(),
        Kind::Commands => "a list of commands".to_owned(),
        Kind::Rules => "a list of rules {operations, paths, mode}".to_owned(),
        Kind::Tree => "a table".to_owned(),
    };
    match (key.kind, value) {
        (Kind::OneOf(_) | Kind::Number(..), Value::String(_) | Value::Number(_)) => {
            format!("expected {expected}, found {value}")
        }
        _ => format!("expected {expected}, found {}", kind_of(value)),
    }
}

/// The kind alone: a value may be a key that nobody should read in a message.
fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "nothing",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "a table",
    }
}

/// The nearest right path: the same last name elsewhere, or a sibling that is spelled almost so.
fn nearest(at: &[String]) -> Option<String> {
    let (name, parents) = at.split_last()?;
    let moved = KEYS.iter().filter(|key| !key.path.contains('*'));
    let moved = moved
        .map(|key| key.path)
        .find(|path| path.rsplit('.').next() == Some(name));
    let siblings = KEYS.iter().filter_map(|key| {
        let parts: Vec<&str> = key.path.split('.').collect();
        let fits = parents
            .iter()
            .zip(&parts)
            .all(|(name, part)| *part == "*" || part == name);
        parts
            .get(parents.len())
            .filter(|part| fits && **part != "*")
            .copied()
    });
    // Of two that are as near, the one of the same length: a transposition is the commoner slip.
    let scored = siblings.map(|part| {
        (
            strsim::damerau_levenshtein(name, part),
            part.chars().count().abs_diff(name.chars().count()),
            part,
        )
    });
    let near = scored.filter(|(distance, ..)| *distance <= 2.max(name.chars().count() / 3));
    let best = near.min().map(|(.., part)| {
        let names: Vec<&str> = parents.iter().map(String::as_str).chain([part]).collect();
        names.join(".")
    });
    best.or_else(|| moved.map(str::to_owned))
}
