//! Layers and sources: who said a value, and where it stands.

use std::fmt;
use std::path::{Path, PathBuf};

/// Who said it. Ordered low to high: a later layer replaces an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Layer {
    /// Built in.
    Default,
    /// `~/.deepseek/config.toml`.
    User,
    /// `<project>/.deepseek/config.toml`; it may only tighten.
    Project,
    /// `vim.g.dcode` or `setup()`.
    Setup,
    /// The command line.
    Flags,
}

/// Where a value stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Who said it.
    pub layer: Layer,
    /// The file, for the two layers that are files.
    pub file: Option<PathBuf>,
    /// Counted from 1.
    pub line: Option<usize>,
}

impl Source {
    /// A layer that is no file.
    pub fn of(layer: Layer) -> Self {
        Self {
            layer,
            file: None,
            line: None,
        }
    }

    /// A place in a file.
    pub fn file(layer: Layer, file: &Path, line: Option<usize>) -> Self {
        Self {
            layer,
            file: Some(file.to_owned()),
            line,
        }
    }
}

impl fmt::Display for Source {
    /// `/home/me/.deepseek/config.toml line 4`, `setup()`, `the command line`, `default`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.layer, &self.file) {
            (_, Some(file)) => {
                write!(f, "{}", file.display())?;
                match self.line {
                    Some(line) => write!(f, " line {line}"),
                    None => Ok(()),
                }
            }
            (Layer::Setup, None) => f.write_str("vim.g.dcode or setup()"),
            (Layer::Flags, None) => f.write_str("the command line"),
            (Layer::User, None) => f.write_str("~/.deepseek/config.toml"),
            (Layer::Project, None) => f.write_str("the project's .deepseek/config.toml"),
            (Layer::Default, None) => f.write_str("default"),
        }
    }
}

/// A value with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sourced<T> {
    /// The value.
    pub value: T,
    /// Where it stands.
    pub source: Source,
}

impl<T> Sourced<T> {
    /// Puts the two together.
    pub fn new(value: T, source: Source) -> Self {
        Self { value, source }
    }
}
