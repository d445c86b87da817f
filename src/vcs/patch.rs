//! Changes as a unified diff, as git prints it.

use std::fmt::Write as _;

use git2::{DiffLineType, DiffOptions, Oid, Patch};

use crate::vcs::attributes::Attributes;
use crate::vcs::changes::{Change, File};
use crate::vcs::error::VcsError;
use crate::vcs::quote::{path, prefixed};
use crate::vcs::similarity::is_binary;
use crate::vcs::store::Store;
use crate::vcs::tree::mode;

/// Larger contents are not compared line by line.
const MAX_BYTES: usize = 16 * 1024 * 1024;

/// Lines that a change adds and takes away.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Lines added.
    pub added: usize,
    /// Lines taken away.
    pub removed: usize,
    /// It is not text, or too large to be compared.
    pub binary: bool,
}

/// The bytes of one side.
enum Side {
    Bytes(Vec<u8>),
    TooLarge,
}

impl Side {
    fn of(store: &Store, file: Option<&File>) -> Result<Self, VcsError> {
        let Some(file) = file else {
            return Ok(Self::Bytes(Vec::new()));
        };
        if file.mode == mode::SUBMODULE {
            let dirty = if file.dirty { "-dirty" } else { "" };
            return Ok(Self::Bytes(
                format!("Subproject commit {}{dirty}\n", file.id).into_bytes(),
            ));
        }
        store.object(file.id, |_, data| {
            if data.len() > MAX_BYTES {
                Self::TooLarge
            } else {
                Self::Bytes(data.to_vec())
            }
        })
    }
}

/// What there is to say of a change below its header.
enum Body {
    Same,
    Binary,
    TooLarge,
    Lines(Vec<u8>, Vec<u8>),
}

fn body(store: &Store, attributes: &Attributes<'_>, change: &Change) -> Result<Body, VcsError> {
    let same = change
        .old
        .as_ref()
        .zip(change.new.as_ref())
        .is_some_and(|(old, new)| old.id == new.id && old.dirty == new.dirty);
    if same {
        return Ok(Body::Same);
    }
    let sides = (
        Side::of(store, change.old.as_ref())?,
        Side::of(store, change.new.as_ref())?,
    );
    let (Side::Bytes(old), Side::Bytes(new)) = sides else {
        return Ok(Body::TooLarge);
    };
    let binary = match attributes.is_binary(change.path()) {
        Some(binary) => binary,
        None => is_binary(&old) || is_binary(&new),
    };
    Ok(if binary {
        Body::Binary
    } else {
        Body::Lines(old, new)
    })
}

fn options(context: u32) -> DiffOptions {
    let mut options = DiffOptions::new();
    options
        .context_lines(context)
        .indent_heuristic(true)
        .force_text(true);
    options
}

/// How many lines a change adds and takes away.
///
/// # Errors
/// A missing object.
pub fn counts(store: &Store, attributes: &Attributes<'_>, change: &Change) -> Result<Counts, VcsError> {
    match body(store, attributes, change)? {
        Body::Same => Ok(Counts::default()),
        Body::Binary | Body::TooLarge => Ok(Counts {
            binary: true,
            ..Counts::default()
        }),
        Body::Lines(old, new) => {
            let patch = Patch::from_buffers(&old, None, &new, None, Some(&mut options(0)))?;
            let (_, added, removed) = patch.line_stats()?;
            Ok(Counts {
                added,
                removed,
                binary: false,
            })
        }
    }
}

/// Appends the change to `out` as git prints it, with that many lines of context.
///
/// # Errors
/// A missing object.
pub fn write(
    store: &Store,
    attributes: &Attributes<'_>,
    change: &Change,
    context: u32,
    out: &mut String,
) -> Result<Counts, VcsError> {
    let body = body(store, attributes, change)?;
    let (old, new) = (change.old.as_ref(), change.new.as_ref());
    let names = names(change);
    let _ = writeln!(out, "diff --git {} {}", names.git.0, names.git.1);
    modes(change, out);
    if let Some(similarity) = change.similarity
        && let (Some(old), Some(new)) = (old, new)
    {
        let (from, to) = (path(&old.path), path(&new.path));
        let _ = writeln!(
            out,
            "similarity index {similarity}%\nrename from {from}\nrename to {to}"
        );
    }
    if matches!(body, Body::Same) {
        return Ok(Counts::default());
    }
    let short = |file: Option<&File>| match file {
        Some(file) => store.short(file.id),
        None => zeros(store),
    };
    let mode = match (old, new) {
        (Some(old), Some(new)) if old.mode == new.mode => format!(" {:06o}", new.mode),
        _ => String::new(),
    };
    // A submodule with changes of its own may have the same commit.
    if old.map(|file| file.id) != new.map(|file| file.id) {
        let _ = writeln!(out, "index {}..{}{mode}", short(old), short(new));
    }
    let binary = Counts {
        binary: true,
        ..Counts::default()
    };
    match body {
        Body::Same => Ok(Counts::default()),
        Body::Binary => {
            let _ = writeln!(out, "Binary files {} and {} differ", names.old, names.new);
            Ok(binary)
        }
        Body::TooLarge => {
            let _ = writeln!(
                out,
                "Files {} and {} differ (over {} MiB: not compared line by line)",
                names.old,
                names.new,
                MAX_BYTES / 1024 / 1024
            );
            Ok(binary)
        }
        Body::Lines(before, after) => {
            let patch = Patch::from_buffers(&before, None, &after, None, Some(&mut options(context)))?;
            if patch.num_hunks() > 0 {
                let _ = writeln!(out, "--- {}\n+++ {}", names.old, names.new);
            }
            lines(&patch, out)
        }
    }
}

struct Names {
    git: (String, String),
    old: String,
    new: String,
}

fn names(change: &Change) -> Names {
    let (old, new) = (change.old.as_ref(), change.new.as_ref());
    let old = old.map_or(change.path(), |file| &file.path);
    let new = new.map_or(change.path(), |file| &file.path);
    let git = (prefixed("a/", old), prefixed("b/", new));
    let shown = |there: bool, name: &str| {
        if there {
            name.to_owned()
        } else {
            "/dev/null".into()
        }
    };
    Names {
        old: shown(change.old.is_some(), &git.0),
        new: shown(change.new.is_some(), &git.1),
        git,
    }
}

fn modes(change: &Change, out: &mut String) {
    let _ = match (&change.old, &change.new) {
        (None, Some(new)) => writeln!(out, "new file mode {:06o}", new.mode),
        (Some(old), None) => writeln!(out, "deleted file mode {:06o}", old.mode),
        (Some(old), Some(new)) if old.mode != new.mode => {
            writeln!(out, "old mode {:06o}\nnew mode {:06o}", old.mode, new.mode)
        }
        _ => Ok(()),
    };
}

fn zeros(store: &Store) -> String {
    store.short(Oid::ZERO_SHA1)
}

fn lines(patch: &Patch<'_>, out: &mut String) -> Result<Counts, VcsError> {
    let mut counts = Counts::default();
    for hunk in 0..patch.num_hunks() {
        let (header, size) = patch.hunk(hunk)?;
        // A title that was cut ends with its last word.
        push(header.header().trim_ascii_end(), out);
        for at in 0..size {
            let line = patch.line_in_hunk(hunk, at)?;
            match line.origin_value() {
                DiffLineType::Addition => {
                    counts.added += 1;
                    out.push('+');
                }
                DiffLineType::Deletion => {
                    counts.removed += 1;
                    out.push('-');
                }
                DiffLineType::Context => out.push(' '),
                _ => {
                    out.push_str("\\ No newline at end of file\n");
                    continue;
                }
            }
            push(line.content(), out);
        }
    }
    Ok(counts)
}

/// Adds a line. What is no UTF-8 is shown as the replacement character; a line without its end gets one.
fn push(line: &[u8], out: &mut String) {
    match std::str::from_utf8(line) {
        Ok(text) => out.push_str(text),
        Err(_) => out.push_str(&String::from_utf8_lossy(line)),
    }
    if !line.ends_with(b"\n") {
        out.push('\n');
    }
}
