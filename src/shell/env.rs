//! Which shell runs a line, and in which environment.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::inherited;

/// Shells whose grammar is the one that lines are judged by.
const KNOWN: [&str; 6] = ["bash", "sh", "dash", "ksh", "ksh93", "mksh"];

/// Folders that are searched when `PATH` does not say where a shell is.
const FALLBACK_FOLDERS: [&str; 4] = ["/bin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"];

/// The shell that runs lines, as `SHELL -c LINE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shell {
    program: PathBuf,
}

impl Shell {
    /// This program. It must read bash's or the POSIX shell's grammar: lines are judged by it.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
        }
    }

    /// The person's shell (`$SHELL`) when it is bash, sh, dash or ksh, else bash, else sh. The sentence, if
    /// there is one, tells the person that theirs is not used.
    pub fn of_person() -> (Self, Option<String>) {
        let path = std::env::var_os("PATH").unwrap_or_default();
        Self::choose(std::env::var_os("SHELL").as_deref(), &|name| find(name, &path))
    }

    /// As [`Shell::of_person`], with the environment given: `find` says where a program lies.
    pub fn choose(wanted: Option<&OsStr>, find: &dyn Fn(&str) -> Option<PathBuf>) -> (Self, Option<String>) {
        let wanted = wanted.map(Path::new).filter(|path| !path.as_os_str().is_empty());
        let name = wanted.and_then(Path::file_name).and_then(OsStr::to_str);
        if let (Some(path), Some(name)) = (wanted, name)
            && KNOWN.contains(&name)
            && path.is_file()
        {
            return (Self::new(path), None);
        }
        let program = find("bash")
            .or_else(|| find("sh"))
            .unwrap_or_else(|| PathBuf::from("/bin/sh"));
        let shell = Self::new(program);
        let notice = name.map(|name| {
            format!(
                "Commands run in {}: they cannot be judged in the grammar of {name}.",
                shell.name()
            )
        });
        (shell, notice)
    }

    /// The path of the program.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// Whether its grammar is the one that lines are judged by.
    pub fn is_understood(&self) -> bool {
        let name = self.program.file_name().and_then(OsStr::to_str);
        name.is_some_and(|name| KNOWN.contains(&name))
    }

    /// The program's name, for people.
    pub fn name(&self) -> String {
        self.program
            .file_name()
            .unwrap_or(self.program.as_os_str())
            .to_string_lossy()
            .into_owned()
    }
}

/// Where a program lies, by `PATH` (its absolute folders) and the usual folders.
pub fn find_program(name: &str) -> Option<PathBuf> {
    find(name, &std::env::var_os("PATH").unwrap_or_default())
}

fn find(name: &str, path: &OsStr) -> Option<PathBuf> {
    let fallback = FALLBACK_FOLDERS.iter().map(PathBuf::from);
    std::env::split_paths(path)
        .filter(|folder| folder.is_absolute())
        .chain(fallback)
        .map(|folder| folder.join(name))
        .find(|path| path.is_file())
}

/// Set for every child: no pager, no editor, no prompt can hang it, and its output is plain text.
const SET: [(&str, &str); 13] = [
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("MANPAGER", "cat"),
    ("TERM", "dumb"),
    ("NO_COLOR", "1"),
    ("EDITOR", "true"),
    ("VISUAL", "true"),
    ("GIT_EDITOR", "true"),
    ("GIT_SEQUENCE_EDITOR", "true"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_ASKPASS", "true"),
    ("SSH_ASKPASS_REQUIRE", "never"),
    ("DEBIAN_FRONTEND", "noninteractive"),
];

/// Given to git in every child, beside what the person gives it this way: a folder that only looks like a
/// repository is none, and no program watches files for it.
const GIT: [(&str, &str); 2] = [("safe.bareRepository", "explicit"), ("core.fsmonitor", "false")];

/// Whether programs behave because this variable is set: without it they may run others.
pub(super) fn guards(name: &str) -> bool {
    SET.iter().any(|(set, _)| *set == name) || name.starts_with("GIT_CONFIG_")
}

/// What differs from our own environment in a child's: `(name, value)`, `None` = removed.
pub(super) fn changes(secrets: &[String]) -> Vec<(OsString, Option<OsString>)> {
    let set = SET
        .iter()
        .map(|(name, value)| (OsString::from(name), Some(OsString::from(value))));
    let own = std::env::vars_os().map(|(name, _)| name);
    let removed = inherited::removed(own).into_iter().map(|name| (name, None));
    let given = std::env::var("GIT_CONFIG_COUNT")
        .ok()
        .and_then(|count| count.parse().ok());
    // Last, so that a secret is never set again.
    let secret = secrets.iter().map(|name| (OsString::from(name), None));
    set.chain(removed)
        .chain(git(given.unwrap_or(0)))
        .chain(secret)
        .collect()
}

/// [`GIT`] as the variables that git reads, behind `given` pairs of the person.
fn git(given: usize) -> impl Iterator<Item = (OsString, Option<OsString>)> {
    let pairs = GIT.iter().enumerate().flat_map(move |(at, (key, value))| {
        let at = given + at;
        [
            (format!("GIT_CONFIG_KEY_{at}"), (*key).to_owned()),
            (format!("GIT_CONFIG_VALUE_{at}"), (*value).to_owned()),
        ]
    });
    let count = ("GIT_CONFIG_COUNT".to_owned(), (given + GIT.len()).to_string());
    pairs
        .chain([count])
        .map(|(name, value)| (name.into(), Some(value.into())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choose(wanted: Option<&str>, present: &[&str]) -> (String, bool) {
        let find = |name: &str| present.contains(&name).then(|| PathBuf::from("/bin").join(name));
        let (shell, notice) = Shell::choose(wanted.map(OsStr::new), &find);
        (shell.program().display().to_string(), notice.is_some())
    }

    #[test]
    fn the_persons_shell_is_used_when_its_grammar_is_known() {
        assert_eq!(choose(Some("/bin/sh"), &["bash"]), ("/bin/sh".into(), false));
        assert_eq!(
            choose(Some("/usr/bin/fish"), &["bash", "sh"]),
            ("/bin/bash".into(), true)
        );
        assert_eq!(choose(Some("/usr/bin/zsh"), &["sh"]), ("/bin/sh".into(), true));
        assert_eq!(
            choose(Some("/nowhere/bash"), &["bash"]),
            ("/bin/bash".into(), true)
        );
        assert_eq!(choose(None, &["bash"]), ("/bin/bash".into(), false));
        assert_eq!(choose(None, &[]), ("/bin/sh".into(), false));
    }

    #[test]
    fn git_is_given_settings_behind_those_of_the_person() {
        let given: Vec<(String, String)> = git(2)
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value?.into_string().ok()?)))
            .collect();
        assert_eq!(
            given[0],
            ("GIT_CONFIG_KEY_2".into(), "safe.bareRepository".into())
        );
        assert_eq!(given[3], ("GIT_CONFIG_VALUE_3".into(), "false".into()));
        assert_eq!(given[4], ("GIT_CONFIG_COUNT".into(), "4".into()));
    }

    #[test]
    fn a_secret_is_removed_even_if_it_has_the_name_of_a_variable_we_set() {
        let changes = changes(&["KEY".into(), "PAGER".into()]);
        let last = |name: &str| {
            changes
                .iter()
                .rev()
                .find(|(key, _)| key == name)
                .map(|(_, value)| value.clone())
        };
        assert_eq!(last("KEY"), Some(None));
        assert_eq!(last("PAGER"), Some(None));
        assert_eq!(last("GIT_PAGER"), Some(Some("cat".into())));
    }
}
