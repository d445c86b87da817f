//! Secret files that a line would show without naming them.
//!
//! `grep -r KEY .`, `cat $(ls -A)` and `find . | xargs cat` show what a folder holds. They run unasked where
//! it holds nothing that looks like a secret, and are asked where it does. A filter by name that no secret
//! file of the folder passes (`find -name '*.rs'`, `grep --include=*.c`) settles it.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use crate::permission::line_globs::name_matcher;
use crate::permission::named::Naming;
use crate::permission::secret::Secrets;
use crate::shell::command::{Analysis, SimpleCommand, Word, WordKind};

/// Programs that show what the files among their operands hold.
const READERS: &[&str] = &[
    "cat", "tac", "head", "tail", "less", "more", "nl", "od", "xxd", "hexdump", "strings", "base64",
    "base32", "cut", "paste", "sort", "uniq", "comm", "join", "diff", "cmp", "fold", "fmt", "expand",
    "unexpand", "pr", "rev", "column", "zcat", "tsort", "dd", "cp", "bat", "batcat",
];

/// Those whose first operand is an expression, unless an option brings it.
const SEARCHERS: &[&str] = &[
    "grep", "egrep", "fgrep", "zgrep", "rg", "sed", "gsed", "awk", "gawk", "mawk", "jq", "yq",
];

/// The secret file that a command may show, or the folder that is too big to be sure.
pub fn shown(
    naming: &Naming<'_>,
    secrets: &Secrets,
    analysis: &Analysis,
    command: &SimpleCommand,
) -> Option<PathBuf> {
    // `$(< file)` reads without a program.
    let alone = command.words.is_empty().then_some("cat");
    let program = command.program.as_deref().or(alone)?;
    let searches = SEARCHERS.contains(&program);
    let reads = searches || READERS.contains(&program);
    let (folders, reach) = if reads && has_computed_operand(naming, command, searches) {
        (naming.bases().to_vec(), Reach::All)
    } else if let Some(reach) = recurses(program, command) {
        (places(naming, command, program == "diff"), reach)
    } else {
        return None;
    };
    let filters = filters(analysis, command);
    let look = Look {
        naming,
        secrets,
        filters: &filters,
        reach,
    };
    folders.iter().find_map(|folder| look.below(folder))
}

/// Whether a file that it reads is named by what the line computes.
fn has_computed_operand(naming: &Naming<'_>, command: &SimpleCommand, searches: bool) -> bool {
    let brings_expression = command.words.iter().any(|word| {
        let text = word.text.as_str();
        text.starts_with("-e")
            || text.starts_with("-f")
            || text.starts_with("--regexp")
            || text.starts_with("--file")
    });
    let skipped = usize::from(searches && !brings_expression);
    let operands = command
        .words
        .iter()
        .skip(1)
        .filter(|word| !word.text.starts_with('-'));
    let redirects = command
        .redirects
        .iter()
        .filter(|redirect| !redirect.writes_file());
    let files = redirects
        .filter(|redirect| redirect.kind == crate::shell::command::RedirectKind::Read)
        .filter_map(|redirect| redirect.target.as_ref());
    operands
        .skip(skipped)
        .chain(files)
        .any(|word| is_computed(naming, word))
}

fn is_computed(naming: &Naming<'_>, word: &Word) -> bool {
    // What a process substitution runs is judged on its own.
    let is_process = word.text.starts_with("<(") || word.text.starts_with(">(");
    // The word that stands for what `xargs` adds, or for what `find` found.
    let is_fed = word.kind == WordKind::Dynamic && !word.text.contains(['$', '`']);
    !is_process && (is_fed || naming.fill(word).computed)
}

/// Which files a search looks at.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// Every one.
    All,
    /// Neither hidden nor ignored ones, as `rg` does.
    Visible,
    /// Hidden ones, but none that are ignored.
    NotIgnored,
}

/// Whether a command looks below folders by itself, and then at which files.
fn recurses(program: &str, command: &SimpleCommand) -> Option<Reach> {
    let has = |letters: &[char], long: &[&str]| {
        command.words.iter().skip(1).any(|word| {
            let text = word.text.as_str();
            match text.strip_prefix("--") {
                Some(name) => {
                    let name = name.split('=').next().unwrap_or_default();
                    name.len() > 1 && long.iter().any(|long| long.starts_with(name))
                }
                None => text.starts_with('-') && text.contains(letters),
            }
        })
    };
    let all = |looks: bool| looks.then_some(Reach::All);
    match program {
        "grep" | "egrep" | "fgrep" | "zgrep" => all(has(
            &['r', 'R', 'd'],
            &["recursive", "dereference-recursive", "directories"],
        )),
        "rgrep" => Some(Reach::All),
        "diff" => all(has(&['r'], &["recursive"])),
        "rg" if has(&[], &["files", "type-list"]) => None,
        "rg" if has(&['u'], &["unrestricted"]) => Some(Reach::All),
        "rg" if command.words.iter().any(|word| word.text.starts_with("--no-i")) => Some(Reach::All),
        "rg" if has(&['.'], &["hidden"]) => Some(Reach::NotIgnored),
        "rg" => Some(Reach::Visible),
        "git" => {
            let greps = command.normal.get(1).is_some_and(|sub| sub == "grep");
            all(greps && has(&[], &["no-index", "untracked", "no-exclude-standard"]))
        }
        _ => None,
    }
}

/// The folders among the operands of a search; the working folder when there are none.
fn places(naming: &Naming<'_>, command: &SimpleCommand, all: bool) -> Vec<PathBuf> {
    let operands = command
        .words
        .iter()
        .skip(1)
        .filter(|word| !word.text.starts_with('-'));
    let named = operands
        .flat_map(|word| naming.word(word))
        .map(|named| named.real);
    let folders: Vec<PathBuf> = named.filter(|path| path.is_dir()).collect();
    if folders.is_empty() && !all {
        let files = command
            .words
            .iter()
            .skip(1)
            .filter(|word| !word.text.starts_with('-'));
        // `rg x src/main.rs` looks at that file alone.
        let only_files = files
            .skip(1)
            .any(|word| naming.word(word).iter().any(|named| named.real.is_file()));
        return if only_files {
            Vec::new()
        } else {
            naming.bases().to_vec()
        };
    }
    folders
}

/// Patterns of names that every file must match: of the `find` that feeds the command, of its own options.
fn filters(analysis: &Analysis, command: &SimpleCommand) -> Vec<String> {
    let fed = |wrapper: &String| matches!(wrapper.as_str(), "find" | "gfind" | "xargs" | "gxargs");
    let mut patterns = Vec::new();
    if command.wrapped_by.iter().any(fed) {
        let finds = analysis
            .commands
            .iter()
            .filter(|command| matches!(command.program.as_deref(), Some("find" | "gfind")));
        for find in finds {
            let texts: Vec<&str> = find.words.iter().map(|word| word.text.as_str()).collect();
            let alternatives = texts
                .iter()
                .any(|text| matches!(*text, "-o" | "-or" | "!" | "-not" | ","));
            let names: Vec<String> = texts
                .windows(2)
                .filter(|pair| matches!(pair.first(), Some(&("-name" | "-iname"))))
                .filter_map(|pair| pair.get(1).map(|name| (*name).to_owned()))
                .collect();
            let excludes = texts.iter().any(|text| matches!(*text, "!" | "-not" | ","));
            if names.is_empty() || excludes {
                return Vec::new();
            }
            let every_one =
                !alternatives || names.len() > texts.iter().filter(|text| text.starts_with("-o")).count();
            if every_one {
                patterns.extend(names);
            }
        }
        return patterns;
    }
    let options = command.words.iter().enumerate().filter_map(|(at, word)| {
        let text = word.text.as_str();
        match text {
            "--include" | "-g" | "--glob" => command.words.get(at + 1).map(|word| word.text.clone()),
            _ => text
                .strip_prefix("--include=")
                .or_else(|| text.strip_prefix("--glob="))
                .map(str::to_owned),
        }
    });
    let patterns: Vec<String> = options.collect();
    // `-g '!x'` excludes.
    if patterns.iter().any(|pattern| pattern.starts_with('!')) {
        return Vec::new();
    }
    patterns
}

struct Look<'a> {
    naming: &'a Naming<'a>,
    secrets: &'a Secrets,
    filters: &'a [String],
    reach: Reach,
}

impl Look<'_> {
    /// A secret file below a folder that passes the filters; the folder itself when it is too big.
    fn below(&self, root: &Path) -> Option<PathBuf> {
        if self.reach == Reach::All {
            return self.everywhere(root);
        }
        let walk = ignore::WalkBuilder::new(root)
            .hidden(self.reach == Reach::Visible)
            .build();
        for entry in walk.flatten() {
            if !self.naming.spend_on_search() {
                return Some(root.to_owned());
            }
            let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
            let name = entry.file_name().to_string_lossy();
            if !is_folder && self.secrets.refuses_reading(entry.path()).is_some() && self.passes(&name) {
                return Some(entry.into_path());
            }
        }
        None
    }

    /// Level by level: what lies near is found first.
    fn everywhere(&self, root: &Path) -> Option<PathBuf> {
        let mut folders = VecDeque::from([root.to_owned()]);
        while let Some(folder) = folders.pop_front() {
            for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
                if !self.naming.spend_on_search() {
                    return Some(root.to_owned());
                }
                let name = entry.file_name().to_string_lossy().into_owned();
                if name == ".git" {
                    continue;
                }
                let path = entry.path();
                let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
                match self.secrets.refuses_reading(&path) {
                    Some(_) if is_folder || self.passes(&name) => return Some(path),
                    None if is_folder => folders.push_back(path),
                    _ => {}
                }
            }
        }
        None
    }

    fn passes(&self, name: &str) -> bool {
        let matches = |pattern: &String| {
            let last = pattern.rsplit('/').next().unwrap_or_default();
            name_matcher(last).is_none_or(|matches| matches(name) || matches(name.trim_start_matches('.')))
        };
        self.filters.is_empty() || self.filters.iter().any(matches)
    }
}
