//! `-S` and `shell_allow_list`: which commands run unasked.

use thiserror::Error;

/// Programs that only look, which the word `recommended` stands for.
pub const RECOMMENDED: &[&str] = &[
    "ls",
    "dir",
    "cat",
    "head",
    "tail",
    "grep",
    "wc",
    "strings",
    "cut",
    "tr",
    "diff",
    "md5sum",
    "sha256sum",
    "pwd",
    "which",
    "uname",
    "hostname",
    "whoami",
    "id",
    "groups",
    "uptime",
    "nproc",
    "lscpu",
    "lsmem",
    "ps",
];

/// Which commands the list lets run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ShellAllowList {
    /// There is no list.
    #[default]
    Off,
    /// Every command.
    All,
    /// Commands that begin with the words of an entry, in the order they were written, each once.
    Only(Vec<String>),
}

/// Why a list was not understood. On the command line it is exit 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ShellListError {
    /// `all` is not alone.
    #[error("shell-allow-list: all stands alone; write all, or the commands you want")]
    AllWithOthers,
}

/// Parses a text with commas. `recommended` and `all` are special in any case; a text without a name is
/// no list.
pub fn parse(text: &str) -> Result<ShellAllowList, ShellListError> {
    parse_list(text.split(','))
}

/// Parses a list of entries; an entry is one word or several.
pub fn parse_list<'a>(entries: impl IntoIterator<Item = &'a str>) -> Result<ShellAllowList, ShellListError> {
    let entries: Vec<String> = entries
        .into_iter()
        .map(|entry| entry.split_whitespace().collect::<Vec<_>>().join(" "))
        .filter(|entry| !entry.is_empty())
        .collect();
    if entries.iter().any(|entry| entry.eq_ignore_ascii_case("all")) {
        return match entries.len() {
            1 => Ok(ShellAllowList::All),
            _ => Err(ShellListError::AllWithOthers),
        };
    }
    let mut list: Vec<String> = Vec::new();
    for entry in entries {
        let words = if entry.eq_ignore_ascii_case("recommended") {
            RECOMMENDED.iter().map(|name| (*name).to_owned()).collect()
        } else {
            vec![entry]
        };
        for word in words {
            if !list.contains(&word) {
                list.push(word);
            }
        }
    }
    Ok(if list.is_empty() {
        ShellAllowList::Off
    } else {
        ShellAllowList::Only(list)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn only(text: &str) -> Vec<String> {
        match parse(text) {
            Ok(ShellAllowList::Only(list)) => list,
            other => panic!("{text:?} gave {other:?}"),
        }
    }

    #[test]
    fn recommended_expands_in_place() {
        for text in ["recommended", "RECOMMENDED", "ls,recommended,ls"] {
            assert_eq!(only(text).len(), 25, "{text}");
        }
        assert_eq!(only("git status,recommended")[..2], ["git status", "ls"]);
    }

    #[test]
    fn all_stands_alone() {
        for text in ["all", "ALL", " all "] {
            assert_eq!(parse(text), Ok(ShellAllowList::All), "{text}");
        }
        assert_eq!(parse("all,ls"), Err(ShellListError::AllWithOthers));
        assert_eq!(only("__ALL__"), ["__ALL__"]);
    }

    #[test]
    fn nothing_is_no_list() {
        for text in ["", " ", ","] {
            assert_eq!(parse(text), Ok(ShellAllowList::Off), "{text:?}");
        }
        assert_eq!(only("ls, cat ,"), ["ls", "cat"]);
        assert_eq!(only("git  status , make"), ["git status", "make"]);
    }
}
