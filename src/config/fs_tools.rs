//! `--allow-fs-tools` and `allow_fs_tools`: which file tools exist.

use std::collections::BTreeSet;

use thiserror::Error;

/// The names that may be listed, sorted. `bash` and `apply_patch` are accepted too.
pub const VALID: &[&str] = &[
    "delete",
    "edit_file",
    "execute",
    "glob",
    "grep",
    "ls",
    "read_file",
    "write_file",
];

/// Which file tools exist.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum FsTools {
    /// Every one.
    #[default]
    All,
    /// These, by canonical name; `read_file` is always among them.
    Only(BTreeSet<String>),
}

/// A list that was understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parsed {
    /// What it says.
    pub tools: FsTools,
    /// One sentence, when something was added to it.
    pub notice: Option<String>,
}

/// Why a list was not understood. On the command line each is exit 2.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum FsToolsError {
    /// Nothing is listed.
    #[error("allow-fs-tools needs at least one name; the names are {}, or all", VALID.join(", "))]
    Empty,
    /// `all` is not alone.
    #[error("allow-fs-tools: all stands alone; write all, or the names you want")]
    AllWithOthers,
    /// Some names are no file tools.
    #[error("allow-fs-tools does not know {}; the names are {}", .0.join(", "), VALID.join(", "))]
    Unknown(Vec<String>),
}

/// Parses a text with commas.
pub fn parse(text: &str) -> Result<Parsed, FsToolsError> {
    parse_list(text.split(','))
}

/// Parses a list; blanks around names, empty names, case and repeats do not matter.
pub fn parse_list<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<Parsed, FsToolsError> {
    let names: BTreeSet<String> = names
        .into_iter()
        .map(|name| name.trim().to_lowercase())
        .filter(|name| !name.is_empty())
        .collect();
    if names.is_empty() {
        return Err(FsToolsError::Empty);
    }
    if names.contains("all") {
        return match names.len() {
            1 => Ok(Parsed {
                tools: FsTools::All,
                notice: None,
            }),
            _ => Err(FsToolsError::AllWithOthers),
        };
    }
    let known = |name: &str| VALID.contains(&name) || name == "bash" || name == "apply_patch";
    let unknown: Vec<String> = names.iter().filter(|name| !known(name)).cloned().collect();
    if !unknown.is_empty() {
        return Err(FsToolsError::Unknown(unknown));
    }
    let mut tools: BTreeSet<String> = names
        .into_iter()
        .map(|name| canonical(&name).to_owned())
        .collect();
    let added = tools.insert("read_file".to_owned());
    let notice =
        added.then(|| "read_file was added to the allowed file tools: the others need it.".to_owned());
    Ok(Parsed {
        tools: FsTools::Only(tools),
        notice,
    })
}

fn canonical(name: &str) -> &str {
    if name == "execute" { "bash" } else { name }
}

impl FsTools {
    /// Whether a tool, by canonical name or alias, may be offered. A tool that is no file tool always may.
    ///
    /// `apply_patch` is offered where both `write_file` and `edit_file` are.
    pub fn offers(&self, tool: &str) -> bool {
        let Self::Only(names) = self else { return true };
        match canonical(tool) {
            "apply_patch" => names.contains("write_file") && names.contains("edit_file"),
            tool if tool == "bash" || VALID.contains(&tool) => names.contains(tool),
            _ => true,
        }
    }

    /// Nothing but reading one file: what a list that cannot be understood is taken for.
    pub fn least() -> Self {
        Self::Only(BTreeSet::from(["read_file".to_owned()]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offered(text: &str) -> Vec<&'static str> {
        let tools = parse(text).unwrap().tools;
        let all = [
            "ls",
            "read_file",
            "write_file",
            "edit_file",
            "apply_patch",
            "delete",
            "glob",
            "grep",
            "bash",
        ];
        all.into_iter().filter(|name| tools.offers(name)).collect()
    }

    #[test]
    fn a_list_exposes_its_subset() {
        assert_eq!(offered("READ_FILE,Ls"), ["ls", "read_file"]);
        assert_eq!(offered(" ls , ,read_file,ls"), ["ls", "read_file"]);
        assert_eq!(offered("execute"), ["read_file", "bash"]);
        assert_eq!(
            offered("ls,read_file,glob,grep"),
            ["ls", "read_file", "glob", "grep"]
        );
        assert_eq!(
            offered("write_file,edit_file"),
            ["read_file", "write_file", "edit_file", "apply_patch"]
        );
        assert_eq!(offered("apply_patch,write_file"), ["read_file", "write_file"]);
        assert_eq!(offered(" ALL ").len(), 9);
    }

    #[test]
    fn other_tools_are_no_concern_of_the_list() {
        let tools = parse("ls").unwrap().tools;
        for name in [
            "question",
            "todo_write",
            "git_log",
            "web_fetch",
            "task",
            "fs_read",
        ] {
            assert!(tools.offers(name), "{name}");
        }
        assert!(!tools.offers("execute"));
    }

    #[test]
    fn read_file_is_added_with_a_notice() {
        assert!(parse("execute").unwrap().notice.is_some());
        assert!(parse("execute,read_file").unwrap().notice.is_none());
        assert!(parse("all").unwrap().notice.is_none());
    }

    #[test]
    fn wrong_lists_say_what_is_right() {
        for empty in ["", " , ,", ","] {
            assert_eq!(parse(empty), Err(FsToolsError::Empty), "{empty:?}");
        }
        assert_eq!(parse("all,ls"), Err(FsToolsError::AllWithOthers));
        let message = parse("ls,bogus,read_file").unwrap_err().to_string();
        assert!(message.contains("bogus"));
        assert!(
            message.contains("delete, edit_file, execute, glob, grep, ls, read_file, write_file"),
            "{message}"
        );
    }
}
