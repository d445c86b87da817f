//! Languages and test commands of a project, by files that stand in its folder. All words are ours: nothing
//! that a stranger wrote gets into the prompt this way.

use std::path::Path;

use serde_json::Value;

use super::peek::{is_file, peek};

/// A file that says what a project is made of.
struct Marker {
    file: &'static str,
    language: &'static str,
    /// Runs the tests, as far as the file alone says.
    test: Option<&'static str>,
}

const fn marker(file: &'static str, language: &'static str, test: Option<&'static str>) -> Marker {
    Marker { file, language, test }
}

const MARKERS: &[Marker] = &[
    marker("Cargo.toml", "Rust", Some("cargo test")),
    marker("go.mod", "Go", Some("go test ./...")),
    marker("tsconfig.json", "TypeScript", None),
    marker("package.json", "JavaScript", None),
    marker("deno.json", "TypeScript", Some("deno test")),
    marker("pyproject.toml", "Python", None),
    marker("setup.py", "Python", None),
    marker("requirements.txt", "Python", None),
    marker("Gemfile", "Ruby", None),
    marker("composer.json", "PHP", None),
    marker("pom.xml", "Java", Some("mvn test")),
    marker("build.gradle", "Java", Some("./gradlew test")),
    marker("build.gradle.kts", "Kotlin", Some("./gradlew test")),
    marker("Package.swift", "Swift", Some("swift test")),
    marker("mix.exs", "Elixir", Some("mix test")),
    marker("rebar.config", "Erlang", Some("rebar3 eunit")),
    marker("build.zig", "Zig", Some("zig build test")),
    marker("CMakeLists.txt", "C or C++", None),
    marker("meson.build", "C or C++", Some("meson test -C build")),
    marker("dune-project", "OCaml", Some("dune test")),
    marker("stack.yaml", "Haskell", Some("stack test")),
    marker("cabal.project", "Haskell", Some("cabal test")),
    marker("stylua.toml", "Lua", None),
    marker(".luarc.json", "Lua", None),
    marker("pubspec.yaml", "Dart", Some("dart test")),
    marker("build.sbt", "Scala", Some("sbt test")),
];

/// How much of a file is looked at.
const ENOUGH: u64 = 64 * 1024;

/// What a project is made of.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// In the order of the table, each once.
    pub languages: Vec<&'static str>,
    /// Commands that run the tests, the project's own first.
    pub tests: Vec<String>,
}

/// Looks at the folder itself, not below.
pub fn facts(folder: &Path) -> Facts {
    let mut facts = Facts::default();
    facts.tests.extend(own_targets(folder));
    for marker in MARKERS.iter().filter(|marker| is_file(&folder.join(marker.file))) {
        if !facts.languages.contains(&marker.language) {
            facts.languages.push(marker.language);
        }
        facts.tests.extend(marker.test.map(str::to_owned));
    }
    facts.tests.extend(node(folder));
    if facts.languages.contains(&"Python") {
        facts.tests.extend(python(folder));
    }
    if facts.languages.contains(&"Ruby") && folder.join("spec").is_dir() {
        facts.tests.push("bundle exec rspec".into());
    }
    facts
}

fn text(folder: &Path, file: &str) -> Option<String> {
    Some(peek(&folder.join(file), folder, ENOUGH)?.text)
}

/// A target `test` of what the project is built with.
fn own_targets(folder: &Path) -> Vec<String> {
    let has = |file: &str| {
        text(folder, file).is_some_and(|text| {
            text.lines().any(|line| {
                line.strip_prefix("test")
                    .is_some_and(|rest| rest.trim_start().starts_with(':'))
            })
        })
    };
    let mut out = Vec::new();
    if has("Makefile") || has("makefile") || has("GNUmakefile") {
        out.push("make test".into());
    }
    if has("justfile") || has("Justfile") {
        out.push("just test".into());
    }
    out
}

fn node(folder: &Path) -> Option<String> {
    let package: Value = serde_json::from_str(&text(folder, "package.json")?).ok()?;
    let script = package.pointer("/scripts/test")?.as_str()?;
    if script.contains("no test specified") {
        return None;
    }
    let locks = [
        ("pnpm-lock.yaml", "pnpm test"),
        ("yarn.lock", "yarn test"),
        ("bun.lock", "bun run test"),
        ("bun.lockb", "bun run test"),
    ];
    let by_lock = locks.iter().find(|(lock, _)| is_file(&folder.join(lock)));
    Some(by_lock.map_or("npm test", |(_, command)| command).to_owned())
}

fn python(folder: &Path) -> Option<String> {
    let named = text(folder, "pyproject.toml").is_some_and(|text| text.contains("pytest"));
    let there = ["pytest.ini", "conftest.py", "tests/conftest.py"];
    if !named && !there.iter().any(|file| is_file(&folder.join(file))) {
        return is_file(&folder.join("tox.ini")).then(|| "tox".to_owned());
    }
    let runner = match () {
        () if is_file(&folder.join("uv.lock")) => "uv run ",
        () if is_file(&folder.join("poetry.lock")) => "poetry run ",
        () => "",
    };
    Some(format!("{runner}pytest"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(files: &[(&str, &str)]) -> Facts {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            crate::fs::atomic::write(&path, text.as_bytes(), None).unwrap();
        }
        facts(dir.path())
    }

    fn says(files: &[(&str, &str)], languages: &[&str], tests: &[&str]) {
        let found = of(files);
        assert_eq!(
            (found.languages.as_slice(), found.tests),
            (languages, tests.iter().map(|test| (*test).to_owned()).collect())
        );
    }

    #[test]
    fn the_files_of_a_project_say_what_it_is() {
        says(&[], &[], &[]);
        let makefile = ("Makefile", "testing: x\ntest : build\n\tcargo test\n");
        says(
            &[("Cargo.toml", ""), makefile],
            &["Rust"],
            &["make test", "cargo test"],
        );
        let package = r#"{"scripts": {"test": "vitest"}}"#;
        says(
            &[
                ("package.json", package),
                ("tsconfig.json", ""),
                ("pnpm-lock.yaml", ""),
            ],
            &["TypeScript", "JavaScript"],
            &["pnpm test"],
        );
        let none = r#"{"scripts": {"test": "echo \"Error: no test specified\" && exit 1"}}"#;
        says(&[("package.json", none)], &["JavaScript"], &[]);
        says(&[("package.json", "{")], &["JavaScript"], &[]);
        says(
            &[
                ("pyproject.toml", "[tool.pytest]"),
                ("setup.py", ""),
                ("uv.lock", ""),
            ],
            &["Python"],
            &["uv run pytest"],
        );
        says(
            &[("requirements.txt", ""), ("tests/conftest.py", "")],
            &["Python"],
            &["pytest"],
        );
    }
}
