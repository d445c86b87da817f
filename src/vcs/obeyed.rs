//! Whether git would run a program of its own accord in a repository that anybody can have made.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use git2::Config;

use crate::vcs::open::prepare;

/// Settings that run nothing, with `*` for the name of a remote, a branch or a submodule. All others count as
/// running something.
const HARMLESS: &[&str] = &[
    "branch.*.merge",
    "branch.*.rebase",
    "branch.*.remote",
    "core.autocrlf",
    "core.bare",
    "core.eol",
    "core.filemode",
    "core.ignorecase",
    "core.logallrefupdates",
    "core.precomposeunicode",
    "core.quotepath",
    "core.repositoryformatversion",
    "core.symlinks",
    "core.worktree",
    "extensions.objectformat",
    "extensions.refstorage",
    "init.defaultbranch",
    "remote.*.fetch",
    "remote.*.tagopt",
    "remote.*.url",
    "submodule.*.active",
    "submodule.*.url",
    "submodule.active",
    "user.email",
    "user.name",
];
/// Settings files longer than this are not read.
const MAX_SETTINGS: u64 = 1024 * 1024;
/// How deep submodules lie within each other.
const MAX_DEPTH: usize = 8;

/// What git would run or obey beyond plain settings, in words, because of a `.git`, folder or file. What cannot be
/// read counts.
pub fn of(git: &Path) -> Option<String> {
    let Ok(kind) = git.symlink_metadata() else {
        return None;
    };
    if kind.is_dir() {
        return of_folder(git, MAX_DEPTH);
    }
    let named = pointed(git);
    match named {
        Some(folder) if folder.is_dir() => of_folder(&folder, MAX_DEPTH),
        _ => Some("a `.git` that leads nowhere".to_owned()),
    }
}

/// The folder that a `.git` file or link means.
fn pointed(git: &Path) -> Option<PathBuf> {
    if git.is_dir() {
        return git.canonicalize().ok();
    }
    let text = small(git)?;
    let folder = text
        .strip_prefix("gitdir:")?
        .trim_end_matches(['\n', '\r'])
        .trim_start();
    git.parent()?.join(folder).canonicalize().ok()
}

fn of_folder(git: &Path, depth: usize) -> Option<String> {
    // A linked worktree has the settings and hooks of its repository.
    if git.join("commondir").symlink_metadata().is_ok() {
        let common = small(&git.join("commondir")).map(|text| git.join(text.trim_end()));
        let is_parent = || {
            let parent = git
                .parent()
                .filter(|folder| folder.ends_with("worktrees"))?
                .parent()?;
            Some(common?.canonicalize().ok()? == parent.canonicalize().ok()?)
        };
        if is_parent() != Some(true) {
            return Some("`commondir`, which has settings and hooks taken from elsewhere".to_owned());
        }
    }
    ["config", "config.worktree"]
        .iter()
        .find_map(|name| of_settings(&git.join(name)))
        .or_else(|| of_hooks(&git.join("hooks")))
        .or_else(|| of_modules(&git.join("modules"), depth))
}

fn of_settings(file: &Path) -> Option<String> {
    if file.symlink_metadata().is_err() {
        return None;
    }
    let unread = || Some(format!("settings that cannot be read ({})", name(file)));
    // No other file is opened for them, which may be a pipe that nobody writes.
    let Some(text) = small(file) else { return unread() };
    if text.to_ascii_lowercase().contains("include") {
        return Some("settings that include others".to_owned());
    }
    prepare();
    let Ok(settings) = Config::open(file) else {
        return unread();
    };
    let Ok(entries) = settings.entries(None) else {
        return unread();
    };
    let mut risky = None;
    let looked = entries.for_each(|entry| {
        let key = String::from_utf8_lossy(entry.name_bytes()).into_owned();
        if !is_harmless(&key) {
            risky.get_or_insert(key);
        }
    });
    match looked {
        Ok(()) => risky.map(|key| format!("the setting `{key}`")),
        Err(_) => unread(),
    }
}

/// A name as libgit2 gives it: section and variable in small letters, what is between as it is written.
fn is_harmless(key: &str) -> bool {
    let general = match (key.split_once('.'), key.rsplit_once('.')) {
        (Some((section, rest)), Some((_, variable))) if rest.contains('.') => {
            format!("{section}.*.{variable}")
        }
        _ => key.to_owned(),
    };
    HARMLESS.contains(&general.as_str())
}

fn of_hooks(folder: &Path) -> Option<String> {
    let Ok(metadata) = folder.symlink_metadata() else {
        return None;
    };
    if !metadata.is_dir() {
        return Some("hooks that lie elsewhere".to_owned());
    }
    let mut hooks: Vec<PathBuf> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_none_or(|end| end != "sample"))
        .filter(|path| {
            path.metadata()
                .is_ok_and(|data| data.permissions().mode() & 0o111 != 0)
        })
        .collect();
    hooks.sort();
    hooks.first().map(|hook| format!("the hook `{}`", name(hook)))
}

/// Repositories of submodules: each folder with a `HEAD` below.
fn of_modules(folder: &Path, depth: usize) -> Option<String> {
    let entries = fs::read_dir(folder).ok()?;
    let Some(depth) = depth.checked_sub(1) else {
        return Some("submodules that lie too deep".to_owned());
    };
    entries.flatten().map(|entry| entry.path()).find_map(|path| {
        let is_repository = path.join("HEAD").symlink_metadata().is_ok();
        if is_repository {
            of_folder(&path, depth)
        } else {
            of_modules(&path, depth)
        }
    })
}

/// The text of a small regular file.
fn small(file: &Path) -> Option<String> {
    let metadata = file.symlink_metadata().ok()?;
    (metadata.is_file() && metadata.len() <= MAX_SETTINGS).then_some(())?;
    String::from_utf8(fs::read(file).ok()?).ok()
}

fn name(path: &Path) -> String {
    path.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}
