//! Picking files by name.

use std::path::Path;

use globset::{GlobBuilder, GlobMatcher};
use thiserror::Error;

/// The most patterns that braces may stand for.
const MOST_ALTERNATIVES: usize = 1_000;

/// A pattern for paths relative to a root: `*` and `?` do not cross `/`, `**` does, `{a,b}` is either,
/// `[a-z]` and `[!a-z]` are one character. Without a `/` it is matched with names, at any depth; a leading
/// `/` binds it to the root. A leading `!` turns it round.
#[derive(Clone, Debug)]
pub struct Glob {
    matcher: GlobMatcher,
    negated: bool,
    by_name: bool,
    names_hidden: bool,
}

/// Why a pattern means nothing. The texts are for the model.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum GlobError {
    /// No characters.
    #[error("The glob is empty. Give a pattern such as `*.rs` or `src/**/*.ts`.")]
    Empty,
    /// It would leave the root.
    #[error("The glob {0} leaves its folder. Give the folder as `path` and a pattern below it.")]
    Outside(String),
    /// Its braces stand for too many patterns.
    #[error(
        "The braces of the glob {0} stand for more than 1,000 patterns. Use fewer, or `*` in their place."
    )]
    TooManyAlternatives(String),
    /// It is not well-formed.
    #[error(
        "The glob {pattern} is not valid: {reason}. Write a literal bracket as `[[]`, a brace as `[{{]`."
    )]
    Invalid {
        /// As written.
        pattern: String,
        /// In words.
        reason: String,
    },
}

impl Glob {
    /// Compiles a pattern.
    pub fn new(pattern: &str) -> Result<Self, GlobError> {
        let (negated, body) = match pattern.strip_prefix('!') {
            Some(rest) => (true, rest),
            None => (false, pattern),
        };
        let body = body.strip_prefix("./").unwrap_or(body);
        if body.split('/').any(|part| part == "..") {
            return Err(GlobError::Outside(pattern.to_owned()));
        }
        if alternatives(body) > MOST_ALTERNATIVES {
            return Err(GlobError::TooManyAlternatives(pattern.to_owned()));
        }
        let by_name = !body.contains('/');
        let body = body.trim_start_matches('/');
        if body.is_empty() {
            return Err(GlobError::Empty);
        }
        // `src/` means what is in it.
        let body = if body.ends_with('/') {
            format!("{body}**")
        } else {
            body.to_owned()
        };
        let matcher = GlobBuilder::new(&body)
            .literal_separator(true)
            .backslash_escape(true)
            .build()
            .map_err(|error| GlobError::Invalid {
                pattern: pattern.to_owned(),
                reason: error.kind().to_string(),
            })?
            .compile_matcher();
        let names_hidden = body
            .split('/')
            .any(|part| part.starts_with('.') || part.starts_with("{."));
        Ok(Self {
            matcher,
            negated,
            by_name,
            names_hidden,
        })
    }

    /// Whether a path, relative to the root, is picked.
    pub fn picks(&self, relative: &Path) -> bool {
        let matched = if self.by_name {
            relative
                .file_name()
                .is_some_and(|name| self.matcher.is_match(name))
        } else {
            self.matcher.is_match(relative)
        };
        matched != self.negated
    }

    /// Whether it asks for names that begin with a dot, so that a walk must list them.
    pub fn names_hidden(&self) -> bool {
        self.names_hidden && !self.negated
    }
}

/// How many patterns the braces stand for, nested ones included. Unbalanced ones are judged elsewhere.
fn alternatives(pattern: &str) -> usize {
    // One frame a brace: the sum of the alternatives before this one, and the product within it.
    let mut frames: Vec<(usize, usize)> = Vec::new();
    let mut product: usize = 1;
    let mut escaped = false;
    for c in pattern.chars() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '{' => {
                frames.push((0, product));
                product = 1;
            }
            ',' => {
                if let Some((sum, _)) = frames.last_mut() {
                    *sum = sum.saturating_add(product);
                    product = 1;
                }
            }
            '}' => {
                if let Some((sum, outer)) = frames.pop() {
                    product = outer.saturating_mul(sum.saturating_add(product));
                }
            }
            _ => {}
        }
    }
    product
}

/// The folder that a pattern begins with, and the pattern below it with a leading `/`: `src/**/*.rs` is
/// `**/*.rs` in `src`. `None` where it begins with a special character or names no folder.
pub fn fixed_folder(pattern: &str) -> Option<(&str, &str)> {
    if pattern.starts_with('!') {
        return None;
    }
    let special = pattern
        .find(['*', '?', '[', ']', '{', '}', '\\'])
        .unwrap_or(pattern.len());
    let slash = pattern.get(..special)?.rfind('/')?;
    let folder = pattern.get(..slash.max(1))?;
    let plain = folder.split('/').all(|part| part != "..");
    plain.then_some((folder, pattern.get(slash..)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TREE: [&str; 7] = [
        "a.py",
        "sub/b.py",
        "sub/nested/c.py",
        "readme.md",
        ".hidden.py",
        ".hidden/x.py",
        ".github/workflows/ci.yml",
    ];

    fn picked(pattern: &str) -> Vec<&'static str> {
        let glob = Glob::new(pattern).unwrap();
        TREE.into_iter()
            .filter(|path| glob.picks(Path::new(path)))
            .collect()
    }

    #[test]
    fn patterns_pick_what_their_form_says() {
        assert_eq!(picked("sub/*.py"), ["sub/b.py"]);
        assert_eq!(picked("sub/**/*.py"), ["sub/b.py", "sub/nested/c.py"]);
        assert_eq!(picked("/*.py"), ["a.py", ".hidden.py"]);
        assert_eq!(picked("[ab].py"), ["a.py", "sub/b.py"]);
        assert_eq!(picked("*.{yml,md}"), ["readme.md", ".github/workflows/ci.yml"]);
        assert_eq!(picked(".github/**"), [".github/workflows/ci.yml"]);
        assert_eq!(picked("sub/"), ["sub/b.py", "sub/nested/c.py"]);
        assert_eq!(picked("a.py/**"), Vec::<&str>::new());
        assert_eq!(picked("!*.py"), ["readme.md", ".github/workflows/ci.yml"]);
        assert_eq!(picked("?.py").len(), 4);
    }

    #[test]
    fn what_is_wrong_is_said() {
        assert_eq!(Glob::new("").unwrap_err(), GlobError::Empty);
        assert_eq!(
            Glob::new("../*.py").unwrap_err(),
            GlobError::Outside("../*.py".into())
        );
        assert!(
            Glob::new("a[")
                .unwrap_err()
                .to_string()
                .contains("unclosed character class")
        );
    }

    #[test]
    fn braces_are_counted_as_they_multiply() {
        for (pattern, count) in [
            ("a", 1),
            ("{a,b}", 2),
            ("{a,b}{c,d,e}", 6),
            ("{a,{b,c}x}", 3),
            ("\\{a,b}", 1),
            ("{a,b", 1),
        ] {
            assert_eq!(alternatives(pattern), count, "{pattern}");
        }
        let many = "{a,b}".repeat(10);
        assert!(matches!(Glob::new(&many), Err(GlobError::TooManyAlternatives(_))));
        assert!(Glob::new(&"{a,b}".repeat(9)).is_ok());
        let deep = format!("{}{}", "{a,".repeat(90), "}".repeat(90));
        assert!(alternatives(&deep) < 100);
    }

    #[test]
    fn the_folder_in_front_is_told_apart() {
        for (pattern, expected) in [
            ("src/**/*.rs", Some(("src", "/**/*.rs"))),
            ("a/b/c.rs", Some(("a/b", "/c.rs"))),
            ("a/b*/c", Some(("a", "/b*/c"))),
            ("src/", Some(("src", "/"))),
            ("/etc/*.conf", Some(("/etc", "/*.conf"))),
            ("/*.rs", Some(("/", "/*.rs"))),
            ("app/\\[id\\]/x", Some(("app", "/\\[id\\]/x"))),
            ("*.rs", None),
            ("main.rs", None),
            ("**/x/y", None),
            ("!src/*", None),
            ("../*.rs", None),
        ] {
            assert_eq!(fixed_folder(pattern), expected, "{pattern}");
        }
    }

    #[test]
    fn a_pattern_that_names_hidden_files_says_so() {
        assert!(Glob::new(".github/**").unwrap().names_hidden());
        assert!(Glob::new(".*.py").unwrap().names_hidden());
        assert!(!Glob::new("*.py").unwrap().names_hidden());
    }
}
