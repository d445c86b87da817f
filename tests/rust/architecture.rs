//! The rules of the house that no compiler holds: which way modules may look, what a `mod.rs` is for, where
//! the glue and unsafe code may be, and that no test is forgotten.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A module and its layer. It may use lower layers freely, and of its own only what [`SIDE_STEPS`] lists.
const LAYERS: &[(&str, u8)] = &[
    ("fs", 0),
    ("protocol", 0),
    ("words", 0),
    ("edit", 1),
    ("host", 1),
    ("media", 1),
    ("offload", 1),
    ("review", 1),
    ("search", 1),
    ("shell", 1),
    ("vcs", 1),
    ("backend", 2),
    ("config", 2),
    ("journal", 2),
    ("permission", 2),
    ("provider", 2),
    ("snapshot", 2),
    ("judges", 3),
    ("tools", 3),
    ("agent", 4),
    ("nvim", 5),
];

/// Uses within a layer: the left one may use the right one.
const SIDE_STEPS: &[(&str, &str)] = &[
    ("backend", "journal"),
    ("permission", "config"),
    ("provider", "config"),
    ("snapshot", "journal"),
    ("tools", "judges"),
];

/// A file longer than this has more than one reason to change.
const MAX_LINES: usize = 500;

/// Flat lists, which are easy to read at any length.
const FLAT_TABLES: &[&str] = &[];

/// The packages that the product is ordered to be made of.
const PACKAGES: &[&str] = &[
    "mlua",
    "nvim-oxi",
    "tokio",
    "serde",
    "serde_json",
    "reqwest",
    "similar",
    "globset",
    "grep-searcher",
    "git2",
];

/// What a visitor sees first, and nothing else: the ordered entries, then the small files a repository needs.
const TOP_LEVEL: &[&str] = &[
    "Cargo.toml",
    "README.md",
    "doc",
    "lua",
    "plugin",
    "src",
    "tests",
    // beside them
    "CHANGELOG.md",
    "Cargo.lock",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "Makefile",
    "build.rs",
    "scripts",
];

/// The only files that may hold unsafe code: the library's entry, the freeing of what Neovim hands out, and
/// `setsid` between fork and exec, for which there is no safe way.
const UNSAFE: &[&str] = &[
    "src/nvim/entry.rs",
    "src/nvim/buffers.rs",
    "src/shell/run.rs",
    "src/vcs/open.rs",
];

/// The only files that start a program. Searching, reading and editing do without one, so their answers are
/// the same whatever is installed.
const PROGRAMS: &[&str] = &[
    "src/provider/keys.rs",
    "src/shell/run.rs",
    "src/shell/sandbox.rs",
    "src/shell/watchdog.rs",
    "src/tools/git_program.rs",
];

#[test]
fn programs_are_started_where_it_is_known() {
    let starting: Vec<String> = files("src", "rs")
        .iter()
        .filter(|file| {
            let code = file.code();
            code.contains("process::Command") || code.contains("Command::new(")
        })
        .map(|file| file.path.clone())
        .collect();
    assert_eq!(starting, PROGRAMS);
}

#[test]
fn modules_look_downward_only() {
    let mut wrong = Vec::new();
    for file in files("src", "rs") {
        let Some(module) = module_of(&file.path) else {
            continue;
        };
        for used in crate_paths(&file.code()) {
            if !may_use(&module, &used) {
                wrong.push(format!("{}: {module} may not use {used}", file.path));
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn every_module_has_a_layer() {
    let modules: BTreeSet<String> = files("src", "rs")
        .iter()
        .filter_map(|file| module_of(&file.path))
        .collect();
    let unknown: Vec<String> = modules
        .into_iter()
        .filter(|module| layer(module).is_none())
        .collect();
    assert_eq!(unknown, Vec::<String>::new());
}

#[test]
fn a_mod_rs_is_a_table_of_contents() {
    let wrong: Vec<String> = files("src", "rs")
        .iter()
        .filter(|file| file.path.ends_with("/mod.rs"))
        .filter(|file| {
            !statements(&file.code())
                .iter()
                .all(|statement| is_mod_or_use(statement))
        })
        .map(|file| file.path.clone())
        .collect();
    assert_eq!(
        wrong,
        Vec::<String>::new(),
        "only docs, attributes, `mod` and `use` belong there"
    );
}

/// Of tests, the line above their `mod` does.
#[test]
fn every_file_says_what_it_is_for() {
    let silent: Vec<String> = files("src", "rs")
        .iter()
        .filter(|file| !file.text.starts_with("//! "))
        .map(|file| file.path.clone())
        .collect();
    assert_eq!(silent, Vec::<String>::new());
}

#[test]
fn files_stay_short() {
    let long: Vec<String> = [files("src", "rs"), files("lua", "lua"), files("plugin", "lua")]
        .iter()
        .flatten()
        .filter(|file| !FLAT_TABLES.contains(&file.path.as_str()))
        .filter(|file| file.text.lines().count() > MAX_LINES)
        .map(|file| format!("{} has {} lines", file.path, file.text.lines().count()))
        .collect();
    assert_eq!(long, Vec::<String>::new());
}

#[test]
fn only_the_glue_names_neovims_bindings() {
    let strange: Vec<String> = files("src", "rs")
        .iter()
        .filter(|file| !file.path.starts_with("src/nvim/"))
        .filter(|file| has_word(&file.code(), "mlua") || has_word(&file.code(), "nvim_oxi"))
        .map(|file| file.path.clone())
        .collect();
    assert_eq!(strange, Vec::<String>::new());
}

#[test]
fn unsafe_code_is_where_it_is_known() {
    let strange: Vec<String> = files("src", "rs")
        .iter()
        .filter(|file| !UNSAFE.contains(&file.path.as_str()))
        .filter(|file| has_word(&file.code(), "unsafe"))
        .map(|file| file.path.clone())
        .collect();
    assert_eq!(strange, Vec::<String>::new());
}

#[test]
fn no_test_file_is_forgotten() {
    let mut forgotten = Vec::new();
    for binary in ["tests/rust", "tests/e2e"] {
        for file in files(binary, "rs")
            .iter()
            .filter(|file| !file.path.ends_with("/main.rs"))
        {
            let (folder, name) = file.path.trim_end_matches(".rs").rsplit_once('/').unwrap();
            // `a/b/mod.rs` is the module `b` of `a`.
            let (folder, name) = if name == "mod" {
                folder.rsplit_once('/').unwrap()
            } else {
                (folder, name)
            };
            let parents = [
                format!("{folder}/main.rs"),
                format!("{folder}/mod.rs"),
                format!("{folder}.rs"),
            ];
            let listed = parents.iter().any(|parent| {
                std::fs::read_to_string(root().join(parent))
                    .is_ok_and(|text| text.lines().any(|line| line.ends_with(&format!("mod {name};"))))
            });
            if !listed {
                forgotten.push(file.path.clone());
            }
        }
    }
    assert_eq!(
        forgotten,
        Vec::<String>::new(),
        "a file is run only when its folder's main.rs or mod.rs lists it"
    );
}

#[test]
fn every_test_module_is_introduced() {
    for binary in ["tests/rust/main.rs", "tests/e2e/main.rs"] {
        let text = std::fs::read_to_string(root().join(binary)).unwrap();
        let mut introduced = false;
        for line in text.lines() {
            assert!(
                introduced || !line.starts_with("mod "),
                "{binary}: no comment above `{line}`"
            );
            introduced = line.starts_with("//") || (introduced && line.starts_with("#["));
        }
    }
}

#[test]
fn the_top_level_is_what_was_ordered() {
    let repository = git2::Repository::open(root()).unwrap();
    let index = repository.index().unwrap();
    let tracked: BTreeSet<String> = index
        .iter()
        .map(|entry| String::from_utf8(entry.path).unwrap())
        .map(|path| path.split('/').next().unwrap().to_owned())
        .filter(|name| !name.starts_with('.'))
        .collect();
    let ordered = TOP_LEVEL.iter().map(|&name| name.to_owned()).collect();
    assert_eq!(tracked, ordered);
}

#[test]
fn the_ordered_packages_are_used_as_decided() {
    let manifest: toml::Value =
        toml::from_str(&std::fs::read_to_string(root().join("Cargo.toml")).unwrap()).unwrap();
    let dependencies = &manifest["dependencies"];
    let missing: Vec<&&str> = PACKAGES
        .iter()
        .filter(|name| dependencies.get(name).is_none())
        .collect();
    assert_eq!(missing, Vec::<&&str>::new());
    // Its layouts are those of one release, and its own mlua would be a second one.
    let oxi = &dependencies["nvim-oxi"];
    assert!(oxi["version"].as_str().unwrap().starts_with('='), "{oxi}");
    assert!(
        oxi["features"]
            .as_array()
            .unwrap()
            .iter()
            .all(|feature| feature.as_str() != Some("mlua")),
        "{oxi}"
    );
    // A panic has to unwind: the glue catches it, and an abort would take Neovim with it.
    let profiles = manifest["profile"].as_table().unwrap();
    assert!(
        profiles.values().all(|profile| profile.get("panic").is_none()),
        "{profiles:?}"
    );
}

#[test]
fn the_checks_read_code_as_meant() {
    let code = "use crate::agent::Session;\nuse crate::{fs, protocol::{ids::CallId, op::Op}};\nlet x = crate::edit::f();";
    let used: Vec<String> = crate_paths(code).into_iter().collect();
    assert_eq!(used, ["agent", "edit", "fs", "protocol"]);
    assert_eq!(
        strip_comments("//! [`crate::agent`]\nlet a = 1; // crate::nvim\n"),
        "\nlet a = 1; \n"
    );
    assert!(may_use("snapshot", "journal") && !may_use("journal", "snapshot"));
    assert!(may_use("tools", "fs") && may_use("tools", "tools") && !may_use("tools", "agent"));
    let contents = statements("#[cfg(feature = \"x\")]\npub mod a;\npub use b::{C, D};\nmod e;");
    assert!(
        contents.len() == 3 && contents.iter().all(|statement| is_mod_or_use(statement)),
        "{contents:?}"
    );
    assert!(
        !statements("pub fn f() {}")
            .iter()
            .all(|statement| is_mod_or_use(statement))
    );
    assert!(
        !statements("mod tests { fn f() {} }")
            .iter()
            .all(|statement| is_mod_or_use(statement))
    );
    assert!(has_word("an unsafe block", "unsafe") && !has_word("deny(unsafe_code)", "unsafe"));
}

struct Source {
    /// From the checkout's root, with `/`.
    path: String,
    text: String,
}

impl Source {
    fn code(&self) -> String {
        strip_comments(&self.text)
    }
}

fn root() -> PathBuf {
    // At run time: the checkout may have moved since the build.
    std::env::var_os("CARGO_MANIFEST_DIR")
        .expect("cargo runs the tests")
        .into()
}

/// All files under `folder` with the extension, by path. A folder that is not there has none.
fn files(folder: &str, extension: &str) -> Vec<Source> {
    let mut found = Vec::new();
    collect(&root().join(folder), extension, &mut found);
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

fn collect(folder: &Path, extension: &str, found: &mut Vec<Source>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            // Data of tests may be Rust, but is not ours.
            if path.file_name().is_none_or(|name| name != "fixtures") {
                collect(&path, extension, found);
            }
        } else if path.extension().is_some_and(|found| found == extension) {
            let text = std::fs::read_to_string(&path).unwrap();
            let path = path.strip_prefix(root()).unwrap().to_string_lossy().into_owned();
            found.push(Source { path, text });
        }
    }
}

/// The top module that a file belongs to: `src/fs/text.rs` and `src/fs.rs` to `fs`. None for `src/lib.rs`.
fn module_of(path: &str) -> Option<String> {
    let first = path.strip_prefix("src/")?.split('/').next()?;
    let module = first.trim_end_matches(".rs");
    (module != "lib").then(|| module.to_owned())
}

fn layer(module: &str) -> Option<u8> {
    LAYERS
        .iter()
        .find(|(name, _)| *name == module)
        .map(|(_, layer)| *layer)
}

fn may_use(module: &str, used: &str) -> bool {
    let (Some(own), Some(other)) = (layer(module), layer(used)) else {
        return false;
    };
    other < own || module == used || SIDE_STEPS.contains(&(module, used))
}

/// The text without what follows `//` in each line.
fn strip_comments(text: &str) -> String {
    let code = |line: &str| format!("{}\n", line.split_once("//").map_or(line, |(code, _)| code));
    text.lines().map(code).collect()
}

/// The top modules named by `crate::x` or `crate::{x, y::z}`.
fn crate_paths(code: &str) -> BTreeSet<String> {
    let identifier = |text: &str| -> String {
        text.trim_start()
            .chars()
            .take_while(|letter| letter.is_alphanumeric() || *letter == '_')
            .collect()
    };
    let mut found = BTreeSet::new();
    for (_, path) in code
        .match_indices("crate::")
        .map(|(at, found)| (at, &code[at + found.len()..]))
    {
        if let Some(group) = path.strip_prefix('{') {
            let mut depth = 0;
            let top_level = |letter: char| {
                depth += i32::from(letter == '{') - i32::from(letter == '}');
                depth == 0 && letter == ','
            };
            let end = closing_brace(group);
            found.extend(group[..end].split(top_level).map(identifier));
        } else {
            found.insert(identifier(path));
        }
    }
    found.remove("");
    found
}

fn closing_brace(group: &str) -> usize {
    let mut depth = 1;
    group
        .char_indices()
        .find(|(_, letter)| {
            depth += i32::from(*letter == '{') - i32::from(*letter == '}');
            depth == 0
        })
        .map_or(group.len(), |(at, _)| at)
}

/// What stands between semicolons, without attributes. What is left after the last one is a statement too.
fn statements(code: &str) -> Vec<String> {
    let without_attributes: String = code
        .lines()
        .filter(|line| !line.trim_start().starts_with("#["))
        .map(|line| format!("{line}\n"))
        .collect();
    let parts = without_attributes.split(';').map(str::trim);
    parts.filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

fn is_mod_or_use(statement: &str) -> bool {
    let words: Vec<&str> = statement
        .split_whitespace()
        .filter(|word| !word.starts_with("pub"))
        .collect();
    match words.first() {
        Some(&"mod") => words.len() == 2,
        Some(&"use") => true,
        _ => false,
    }
}

fn has_word(code: &str, word: &str) -> bool {
    code.split(|letter: char| !letter.is_alphanumeric() && letter != '_')
        .any(|found| found == word)
}
