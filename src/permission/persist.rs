//! Writing an answer into the person's `config.toml`: its comments and layout stay, and two Neovims that
//! write at once lose nothing.

use std::fs::{DirBuilder, File};
use std::io::ErrorKind;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use thiserror::Error;
use toml_edit::{Array, ArrayOfTables, DocumentMut, InlineTable, Item, Table, TableLike, Value, value};

use crate::fs::atomic;
use crate::fs::cause::cause;
use crate::permission::finding::Key;
use crate::permission::forget::without;
use crate::protocol::grant::Grant;

/// How often, and how far apart, the lock of the folder is tried.
const TRIES: u32 = 40;
const BETWEEN: std::time::Duration = std::time::Duration::from_millis(50);

/// Why an answer was not written. Ends of sentences.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PersistError {
    /// The file or its folder refused.
    #[error("{path} cannot be written ({reason})", path = path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The file is no TOML, or holds something else where the answer belongs; nothing was written.
    #[error("{path} cannot be understood ({reason}); mend it first", path = path.display())]
    Layout {
        /// Which.
        path: PathBuf,
        /// Why.
        reason: String,
    },
}

/// Adds answers: a pattern to `permissions.bash.allow`, a path to `permissions.rules`. What is there
/// already is not added twice. A key that is only for a session is left out.
pub fn remember(file: &Path, keys: &[Key]) -> Result<(), PersistError> {
    rewrite(file, |text| with_keys(text, keys))
}

/// Takes an entry out again.
pub fn forget(file: &Path, grant: &Grant) -> Result<(), PersistError> {
    rewrite(file, |text| {
        let rest = without(text, grant)?;
        rest.ok_or_else(|| format!("`{}` is not in it any more", grant.text))
    })
}

fn rewrite(file: &Path, change: impl FnOnce(&str) -> Result<String, String>) -> Result<(), PersistError> {
    let folder = file.parent().unwrap_or(Path::new("/"));
    let refused = |path: &Path, error: &std::io::Error| PersistError::File {
        path: path.to_owned(),
        reason: cause(error),
    };
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
        .map_err(|error| refused(folder, &error))?;
    // The folder is locked, not the file: the file is replaced by another one.
    let lock = File::open(folder).map_err(|error| refused(folder, &error))?;
    exclusive(&lock).map_err(|reason| PersistError::File {
        path: file.to_owned(),
        reason,
    })?;
    let (text, is_new) = match std::fs::read_to_string(file) {
        Ok(text) => (text, false),
        Err(error) if error.kind() == ErrorKind::NotFound => (String::new(), true),
        Err(error) => return Err(refused(file, &error)),
    };
    let changed = change(&text).map_err(|reason| PersistError::Layout {
        path: file.to_owned(),
        reason,
    })?;
    if changed == text {
        return Ok(());
    }
    let mode = is_new.then_some(0o600);
    atomic::write(file, changed.as_bytes(), mode).map_err(|error| PersistError::File {
        path: file.to_owned(),
        reason: error.to_string(),
    })?;
    Ok(())
}

/// Locks the folder. Another Neovim holds the lock for a moment only: one that holds it longer is stuck, and
/// an answer is not worth waiting for it.
fn exclusive(folder: &File) -> Result<(), String> {
    for _ in 0..TRIES {
        match flock(folder, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(()),
            Err(rustix::io::Errno::WOULDBLOCK) => std::thread::sleep(BETWEEN),
            Err(error) => return Err(cause(&error.into())),
        }
    }
    Err("another program holds its folder locked".to_owned())
}

/// The text with the keys added. The error is the end of a sentence.
pub fn with_keys(text: &str, keys: &[Key]) -> Result<String, String> {
    let (mark, body) = text
        .strip_prefix('\u{feff}')
        .map_or(("", text), |body| ("\u{feff}", body));
    let mut document: DocumentMut = body
        .parse()
        .map_err(|error: toml_edit::TomlError| first_line(&error.to_string()))?;
    for key in keys {
        match key {
            Key::Pattern(pattern) => allow_command(&mut document, pattern)?,
            Key::Write(path) => allow_path(&mut document, path)?,
            Key::Command(_) | Key::Read(_) | Key::Tool(_) => {}
        }
    }
    Ok(format!("{mark}{document}"))
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}

/// The table of a name, made where it is missing.
fn table<'a>(parent: &'a mut dyn TableLike, name: &str) -> Result<&'a mut dyn TableLike, String> {
    let item = parent.entry(name).or_insert_with(|| {
        let mut table = Table::new();
        table.set_implicit(true);
        Item::Table(table)
    });
    item.as_table_like_mut()
        .ok_or_else(|| format!("{name} is not a table"))
}

fn allow_command(document: &mut DocumentMut, pattern: &str) -> Result<(), String> {
    let permissions = table(document.as_table_mut(), "permissions")?;
    let bash = table(permissions, "bash")?;
    let list = bash.entry("allow").or_insert_with(|| value(Array::new()));
    let list = list
        .as_array_mut()
        .ok_or("permissions.bash.allow is not a list")?;
    if list.iter().any(|entry| entry.as_str() == Some(pattern)) {
        return Ok(());
    }
    push_on_own_line(list, pattern);
    Ok(())
}

/// Adds an entry; a list with an entry a line stays so, and a comment stays beside its own entry.
fn push_on_own_line(list: &mut Array, pattern: &str) {
    let text =
        |raw: Option<&toml_edit::RawString>| raw.and_then(|raw| raw.as_str()).unwrap_or_default().to_owned();
    let trailing = text(Some(list.trailing()));
    let comma = list.trailing_comma();
    let Some(last) = list.iter_mut().last() else {
        list.push(pattern);
        return;
    };
    let (before, after) = (text(last.decor().prefix()), text(last.decor().suffix()));
    // What follows the last entry, up to the bracket, stands behind its comma if there is one.
    let (rest, end) = if comma {
        (trailing, after)
    } else {
        (after, String::new())
    };
    if !before.contains('\n') {
        list.push(pattern);
        return;
    }
    last.decor_mut().set_suffix(end);
    let indent = before.rsplit('\n').next().unwrap_or_default();
    let comment = rest.trim_end();
    let bracket = if rest.contains('\n') { "\n" } else { "" };
    let entry = Value::from(pattern);
    let after_entry = if comma { "" } else { bracket };
    list.push_formatted(entry.decorated(format!("{comment}\n{indent}"), after_entry));
    if comma {
        list.set_trailing(bracket);
    }
}

fn allow_path(document: &mut DocumentMut, path: &str) -> Result<(), String> {
    let path = escape(path);
    let one = |text: &str| Array::from_iter([text]);
    let permissions = table(document.as_table_mut(), "permissions")?;
    let rules = permissions
        .entry("rules")
        .or_insert_with(|| Item::ArrayOfTables(ArrayOfTables::new()));
    match rules {
        Item::ArrayOfTables(tables) => {
            let mut rule = Table::new();
            rule.insert("operations", value(one("write")));
            rule.insert("paths", value(one(&path)));
            rule.insert("mode", value("allow"));
            tables.push(rule);
        }
        Item::Value(Value::Array(list)) => {
            let mut rule = InlineTable::new();
            rule.insert("operations", one("write").into());
            rule.insert("paths", one(&path).into());
            rule.insert("mode", "allow".into());
            list.push(rule);
        }
        _ => return Err("permissions.rules is not a list".to_owned()),
    }
    Ok(())
}

/// The path as a pattern that matches nothing else.
fn escape(path: &str) -> String {
    path.chars().fold(String::new(), |mut text, char| {
        if "*?[]{}\\".contains(char) {
            text.push('\\');
        }
        text.push(char);
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(text: &str) -> Key {
        Key::Pattern(text.to_owned())
    }

    #[test]
    fn comments_and_layout_stay() {
        let before = "# mine\nmode = 'manual' # why\n\n[permissions.bash]\nallow = [\n  \"ls *\", # look\n  \"pwd\"\n]\n# end\n";
        let after = with_keys(before, &[pattern("git push *"), pattern("ls *")]).unwrap();
        assert_eq!(
            after,
            "# mine\nmode = 'manual' # why\n\n[permissions.bash]\nallow = [\n  \"ls *\", # look\n  \"pwd\",\n  \"git push *\"\n]\n# end\n"
        );
        assert_eq!(with_keys(&after, &[pattern("git push *")]).unwrap(), after);
        for (before, expected) in [
            ("a = [\n  'x', # one\n]\n", "a = [\n  'x', # one\n  \"n\",\n]\n"),
            ("a = [\n  'x' # one\n]\n", "a = [\n  'x', # one\n  \"n\"\n]\n"),
            ("a = ['x']\n", "a = ['x', \"n\"]\n"),
        ] {
            let mut document: DocumentMut = before.parse().unwrap();
            push_on_own_line(document["a"].as_array_mut().unwrap(), "n");
            assert_eq!(document.to_string(), expected);
        }
    }

    #[test]
    fn every_shape_of_the_table_takes_an_answer() {
        for before in [
            "",
            "permissions.bash.allow = []\n",
            "permissions = { bash = { allow = ['x'] } }\n",
            "[permissions]\nread_outside = 'ask'\n",
            "\u{feff}mode = 'manual'\n",
            "[permissions.bash]\nallow = [\n  'a',\n]\n",
        ] {
            let after = with_keys(before, &[pattern("git push *")]).unwrap();
            let document = crate::config::read_toml::parse(&after).unwrap();
            let allow = document.value["permissions"]["bash"]["allow"].as_array().unwrap();
            assert_eq!(allow.last().unwrap(), "git push *", "{before:?}");
        }
        for bad in [
            "permissions = 3\n",
            "[permissions.bash]\nallow = 'x'\n",
            "[permissions\n",
        ] {
            assert!(with_keys(bad, &[pattern("a")]).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_path_becomes_a_rule_for_itself_alone() {
        let key = Key::Write("/etc/app [1]/x*.conf".to_owned());
        for before in [
            "",
            "[[permissions.rules]]\noperations=['read']\npaths=['/a']\n",
            "permissions.rules = []\n",
        ] {
            let after = with_keys(before, std::slice::from_ref(&key)).unwrap();
            let document = crate::config::read_toml::parse(&after).unwrap();
            let rule = document.value["permissions"]["rules"]
                .as_array()
                .unwrap()
                .last()
                .unwrap()
                .clone();
            let rule = crate::config::rules::fs_rule(&rule).unwrap();
            let glob = globset::Glob::new(&rule.paths[0]).unwrap().compile_matcher();
            assert!(
                glob.is_match("/etc/app [1]/x*.conf") && !glob.is_match("/etc/app [1]/xy.conf"),
                "{before:?}"
            );
        }
    }
}
