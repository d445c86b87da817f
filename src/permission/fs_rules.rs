//! The person's filesystem rules: the first that matches speaks, no match means nothing to say.
//!
//! A path is judged as it was written and as it resolves; the stricter word counts. Deleting a folder is
//! all or nothing: a rule that denies any place in it denies the whole.

use std::path::Path;

use globset::{GlobBuilder, GlobMatcher};

use crate::config::layer::{Source, Sourced};
use crate::config::rules::{FsRule, Operation, RuleMode};

/// Rules, compiled, in the order in which they are tried.
#[derive(Clone, Debug, Default)]
pub struct FsRules {
    rules: Vec<Rule>,
}

#[derive(Clone, Debug)]
struct Rule {
    operations: Vec<Operation>,
    paths: Vec<Pattern>,
    mode: RuleMode,
    source: Source,
}

#[derive(Clone, Debug)]
struct Pattern {
    text: String,
    glob: GlobMatcher,
    parts: Vec<Part>,
}

#[derive(Clone, Debug)]
enum Part {
    /// `**`, or a part that cannot be told apart: any number of names.
    Any,
    /// One name.
    One(GlobMatcher),
}

/// A rule that matched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// What it says.
    pub mode: RuleMode,
    /// The patterns that matched.
    pub patterns: Vec<String>,
    /// Where the rule stands.
    pub source: Source,
}

impl FsRules {
    /// Compiles rules. The error names the pattern that is none.
    pub fn new(rules: &[Sourced<FsRule>]) -> Result<Self, String> {
        let compile = |rule: &Sourced<FsRule>| {
            Ok(Rule {
                operations: rule.value.operations.clone(),
                paths: rule
                    .value
                    .paths
                    .iter()
                    .map(|path| Pattern::new(path))
                    .collect::<Result<_, String>>()?,
                mode: rule.value.mode,
                source: rule.source.clone(),
            })
        };
        Ok(Self {
            rules: rules.iter().map(compile).collect::<Result<_, String>>()?,
        })
    }

    /// The first rule about this operation that matches the path.
    pub fn first(&self, operation: Operation, path: &Path) -> Option<Hit> {
        self.of(operation).find_map(|rule| {
            let pattern = rule.paths.iter().find(|pattern| pattern.is_match(path))?;
            Some(rule.hit(vec![pattern.text.clone()]))
        })
    }

    /// For a tool that looks below `root`: the first interrupting rule about reading that covers some
    /// place below or above it, unless the root itself is settled by an earlier rule.
    pub fn interrupts_below(&self, root: &Path) -> Option<Hit> {
        self.of(Operation::Read)
            .filter(|rule| rule.mode == RuleMode::Interrupt)
            .find_map(|rule| {
                let meets = |pattern: &&Pattern| {
                    let anchor = anchor(&pattern.text);
                    Path::new(anchor).starts_with(root) || root.starts_with(anchor)
                };
                let pattern = rule.paths.iter().find(meets)?;
                Some(rule.hit(vec![pattern.text.clone()]))
            })
    }

    /// For deleting the folder `path`: every denying pattern about writing that could match it, something
    /// above it or something in it. An earlier allow does not help: the folder goes as a whole.
    pub fn denies_folder(&self, path: &Path) -> Option<Hit> {
        let names = names(path);
        let mut found: Option<Hit> = None;
        for rule in self
            .of(Operation::Write)
            .filter(|rule| rule.mode == RuleMode::Deny)
        {
            for pattern in rule
                .paths
                .iter()
                .filter(|pattern| overlaps(&pattern.parts, &names))
            {
                let hit = found.get_or_insert_with(|| rule.hit(Vec::new()));
                if !hit.patterns.contains(&pattern.text) {
                    hit.patterns.push(pattern.text.clone());
                }
            }
        }
        found
    }

    fn of(&self, operation: Operation) -> impl Iterator<Item = &Rule> {
        self.rules
            .iter()
            .filter(move |rule| rule.operations.contains(&operation))
    }
}

impl Rule {
    fn hit(&self, patterns: Vec<String>) -> Hit {
        Hit {
            mode: self.mode,
            patterns,
            source: self.source.clone(),
        }
    }
}

impl Pattern {
    fn new(text: &str) -> Result<Self, String> {
        // `/secrets/./k` means `/secrets/k`.
        let text = text.replace("/./", "/");
        let compile = |text: &str| {
            let glob = GlobBuilder::new(text)
                .literal_separator(true)
                .backslash_escape(true)
                .build();
            glob.map(|glob| glob.compile_matcher())
                .map_err(|error| format!("{text:?}: {}", error.kind()))
        };
        let parts = split(&text)
            .into_iter()
            .map(|part| match part {
                part if part == "**" || part.contains('/') => Ok(Part::Any),
                part => compile(&part).map(Part::One),
            })
            .collect::<Result<_, String>>()?;
        Ok(Self {
            glob: compile(&text)?,
            parts,
            text,
        })
    }

    fn is_match(&self, path: &Path) -> bool {
        self.glob.is_match(path) || (path == Path::new("/") && self.text == "/**")
    }
}

/// Splits at `/`, but not within braces.
fn split(pattern: &str) -> Vec<String> {
    let (mut parts, mut part, mut depth) = (Vec::new(), String::new(), 0_usize);
    let mut chars = pattern.chars();
    while let Some(char) = chars.next() {
        match char {
            '/' if depth == 0 => parts.push(std::mem::take(&mut part)),
            '\\' => {
                part.push(char);
                part.extend(chars.next());
            }
            _ => {
                depth = match char {
                    '{' => depth + 1,
                    '}' => depth.saturating_sub(1),
                    _ => depth,
                };
                part.push(char);
            }
        }
    }
    parts.push(part);
    parts.retain(|part| !part.is_empty());
    parts
}

fn names(path: &Path) -> Vec<String> {
    path.components()
        .filter(|part| matches!(part, std::path::Component::Normal(_)))
        .map(|part| part.as_os_str().to_string_lossy().into_owned())
        .collect()
}

/// Whether some path that the pattern matches is the folder, lies in it, or holds it.
fn overlaps(parts: &[Part], names: &[String]) -> bool {
    match (parts, names) {
        ([], _) | (_, []) => true,
        ([Part::Any, rest @ ..], [_, below @ ..]) => overlaps(rest, names) || overlaps(parts, below),
        ([Part::One(glob), rest @ ..], [name, below @ ..]) => glob.is_match(name) && overlaps(rest, below),
    }
}

/// The part of a pattern before its first special character, cut to whole names; `/` at least.
fn anchor(pattern: &str) -> &str {
    let Some(special) = pattern.find(['*', '?', '[', '{', '\\']) else {
        return pattern;
    };
    let plain = pattern.get(..special).unwrap_or_default();
    match plain.rfind('/') {
        Some(0) | None => "/",
        Some(slash) => plain.get(..slash).unwrap_or("/"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_split_at_folders_but_not_within_braces() {
        for (pattern, parts) in [
            ("/a/b{c,d/e}/f", ["a", "b{c,d/e}", "f"]),
            (r"/a\{b/c/d", [r"a\{b", "c", "d"]),
            (r"/a/\}/d", ["a", r"\}", "d"]),
            ("a//b/c/", ["a", "b", "c"]),
        ] {
            assert_eq!(split(pattern), parts, "{pattern}");
        }
    }

    #[test]
    fn anchors() {
        for (pattern, expected) in [
            ("/secrets/**", "/secrets"),
            ("/a/*/b", "/a"),
            ("/secrets/key.pem", "/secrets/key.pem"),
            ("/*/foo", "/"),
            ("/**/secrets", "/"),
            ("/a/b{c,d}/e", "/a"),
        ] {
            assert_eq!(anchor(pattern), expected, "{pattern}");
        }
    }

    #[test]
    fn matching() {
        let cases = [
            ("/data/?", "/data/a", true),
            ("/data/?", "/data/ab", false),
            ("/data/{a,b}.txt", "/data/b.txt", true),
            ("/data/{a,b}.txt", "/data/c.txt", false),
            ("/vault/**", "/vault/a/b/c/deep.txt", true),
            ("/vault/**", "/vault", false),
            ("/a/*", "/a/b/c", false),
            ("/A", "/a", false),
            ("/a/**/*.log", "/a/x.log", true),
            ("/**/.env", "/.env", true),
            ("/**/.env", "/x/.env", true),
            ("/**", "/", true),
            ("/a/**", "/", false),
            ("/**/.env", "/", false),
            ("/a/**", "/a/.h", true),
            ("/a/**", "/a/.h/x", true),
            ("/secrets/./k", "/secrets/k", true),
        ];
        for (pattern, path, expected) in cases {
            assert_eq!(
                Pattern::new(pattern).unwrap().is_match(Path::new(path)),
                expected,
                "{pattern} ~ {path}"
            );
        }
    }

    #[test]
    fn deleting_a_folder_meets_every_rule_about_it() {
        let cases = [
            ("/w/*.log", "/w/notes.txt", false),
            ("/w/*.log", "/w/app.log", true),
            ("/w/*.log", "/w/app.log/child", true),
            ("/w/*", "/w/app/child", true),
            ("/w/*", "/w/app/deep/nested", true),
            ("/w/*/secrets", "/w/app", true),
            ("/w/**/secrets", "/w/app", true),
            ("/w/**/*.log", "/w/sub", true),
            ("/w/{secrets,keys}", "/w/secrets", true),
            ("/w/[ab].txt", "/w/a.txt", true),
            ("/w/f?le.txt", "/w/other.txt", false),
            ("/w/secrets/**", "/w", true),
            ("/w/secrets", "/w", true),
            ("/w/**", "/w/logs", true),
            ("/w/**", "/w/", true),
            ("/w", "/w/sub/deep", true),
            ("/wshop/**", "/w", false),
            ("/anything/**", "/", true),
            ("/**/secrets", "/w", true),
            ("/w/{a/b,c}", "/w/a", true),
        ];
        for (pattern, path, expected) in cases {
            let parts = Pattern::new(pattern).unwrap().parts;
            assert_eq!(
                overlaps(&parts, &names(Path::new(path))),
                expected,
                "{pattern} over {path}"
            );
        }
    }
}
