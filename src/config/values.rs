//! Leaves of all layers, joined; typed reading of them.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::config::check::Leaf;
use crate::config::keys::Join;
use crate::config::layer::{Source, Sourced};
use crate::config::read_toml::child;

/// What every layer said, by dotted path.
#[derive(Clone, Debug, Default)]
pub struct Values {
    leaves: BTreeMap<String, Vec<Leaf>>,
}

impl Values {
    /// Lays a layer on top.
    pub fn lay(&mut self, leaves: Vec<Leaf>) {
        for leaf in leaves {
            let path = leaf
                .path
                .iter()
                .fold(String::new(), |path, name| child(&path, name));
            let stack = self.leaves.entry(path).or_default();
            if leaf.key.join == Join::Replace {
                stack.clear();
            }
            stack.push(leaf);
        }
    }

    /// Every path with the leaves that count there, lowest layer first.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[Leaf])> {
        self.leaves
            .iter()
            .map(|(path, leaves)| (path.as_str(), leaves.as_slice()))
    }

    /// The leaf of a path whose layers replace each other.
    pub fn get(&self, path: &str) -> Option<&Leaf> {
        self.leaves.get(path).and_then(|leaves| leaves.last())
    }

    /// A text.
    pub fn text(&self, path: &str) -> Option<String> {
        self.get(path)?.value.as_str().map(str::to_owned)
    }

    /// A flag.
    pub fn flag(&self, path: &str) -> Option<bool> {
        self.get(path)?.value.as_bool()
    }

    /// A number, which the table of keys has kept in range.
    pub fn number(&self, path: &str) -> Option<u64> {
        self.get(path)?.value.as_u64()
    }

    /// The elements of a list with their places, lowest layer first.
    pub fn items(&self, path: &str) -> Vec<Sourced<Value>> {
        let leaves = self.leaves.get(path).map(Vec::as_slice).unwrap_or_default();
        leaves.iter().flat_map(list).collect()
    }

    /// The texts of a list with their places.
    pub fn texts(&self, path: &str) -> Vec<Sourced<String>> {
        let items = self.items(path).into_iter();
        let texts = items.filter_map(|item| match item.value {
            Value::String(text) => Some(Sourced::new(text, item.source)),
            _ => None,
        });
        texts.collect()
    }

    /// The names that stand directly below a path, with the first leaf of each.
    pub fn below(&self, path: &str) -> BTreeMap<String, &Leaf> {
        let depth = path.split('.').count();
        let mut names = BTreeMap::new();
        for leaf in self.leaves.values().filter_map(|leaves| leaves.last()) {
            let parent = leaf.path.get(..depth).map(|names| names.join("."));
            if let (Some(parent), Some(name)) = (parent, leaf.path.get(depth))
                && parent == path
            {
                names.entry(name.clone()).or_insert(leaf);
            }
        }
        names
    }
}

fn list(leaf: &Leaf) -> Vec<Sourced<Value>> {
    let source = |index: usize| -> Source { leaf.items.get(index).unwrap_or(&leaf.source).clone() };
    match &leaf.value {
        Value::Array(items) => items
            .iter()
            .enumerate()
            .map(|(index, item)| Sourced::new(item.clone(), source(index)))
            .collect(),
        Value::String(text) => text
            .split(',')
            .map(|part| Sourced::new(Value::String(part.trim().to_owned()), leaf.source.clone()))
            .collect(),
        _ => Vec::new(),
    }
}
