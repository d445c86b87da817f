//! `:Dcode config`: every value with its place, secrets never.

use serde::Serialize;
use serde_json::Value;

use crate::config::check::Leaf;
use crate::config::keys::{KEYS, Kind};
use crate::config::layer::{Layer, Source};
use crate::config::load::Loaded;

/// One line of the list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Row {
    /// Dotted path.
    pub key: String,
    /// As a person would write it; `(set)` for a secret, `(not used)` for a key without effect here.
    pub value: String,
    /// Where it stands.
    pub source: String,
}

/// Every value in the order of the manual, then defaults of single keys, then keys without effect.
///
/// A list that several layers add to has a row for each of its elements.
pub fn describe(loaded: &Loaded) -> Vec<Row> {
    let mut rows = Vec::new();
    for key in KEYS {
        let before = rows.len();
        for (path, leaves) in loaded.values.iter() {
            for leaf in leaves.iter().filter(|leaf| leaf.key.path == key.path) {
                describe_leaf(path, leaf, &mut rows);
            }
        }
        if rows.len() == before
            && let Some(value) = default_of(key.path)
        {
            let source = Source::of(Layer::Default).to_string();
            rows.push(Row {
                key: key.path.to_owned(),
                value: value.to_owned(),
                source,
            });
        }
    }
    rows.extend(loaded.unused.iter().map(|(key, source)| Row {
        key: key.clone(),
        value: "(not used)".to_owned(),
        source: source.to_string(),
    }));
    rows
}

fn describe_leaf(path: &str, leaf: &Leaf, rows: &mut Vec<Row>) {
    let row = |value: String, source: &Source| Row {
        key: path.to_owned(),
        value,
        source: source.to_string(),
    };
    match (&leaf.value, leaf.key.kind) {
        (_, Kind::Tree) => rows.push(row("(set)".to_owned(), &leaf.source)),
        (Value::Array(items), _) => {
            let sources = leaf.items.iter().chain(std::iter::repeat(&leaf.source));
            rows.extend(
                items
                    .iter()
                    .zip(sources)
                    .map(|(item, source)| row(plain(item), source)),
            );
        }
        (Value::String(text), _) if path.ends_with(".base_url") => {
            rows.push(row(without_login(text), &leaf.source));
        }
        (value, _) => rows.push(row(plain(value), &leaf.source)),
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// A URL may carry a name and a password before the `@`, and a key in its query.
fn without_login(url: &str) -> String {
    let url = url.split_once('?').map_or(url, |(url, _)| url);
    match url.split_once("://") {
        Some((scheme, rest)) => {
            let end = rest.find('/').unwrap_or(rest.len());
            let (host, path) = rest.split_at(end);
            let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
            format!("{scheme}://{host}{path}")
        }
        None => url.to_owned(),
    }
}

fn default_of(key: &str) -> Option<&'static str> {
    match key {
        "mode" => Some("manual"),
        "save" => Some("on_edit"),
        "permissions.read_outside" => Some("allow"),
        "allow_fs_tools" => Some("all"),
        "sandbox" => Some("auto"),
        "mcp.trust_project" | "git_program" => Some("false"),
        "max_steps" => Some("200"),
        "bash.timeout_ms" => Some("120000"),
        _ => None,
    }
}
