//! apply_patch beside the `apply_patch` of another agent: the same patch on the same file, many times over.
//! Where the outcomes differ, it must be a difference that doc/apply-patch.md lists.
//!
//! The other program comes with `scripts/get-patch-peer.sh`; where it is not, there is nothing to compare, but
//! in CI that is a failure.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use dcode::tools::apply_patch::{ApplyPatch, Args};
use dcode::tools::tool::Tool;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use crate::project::Project;

/// Patches that are compared.
const PATCHES: u32 = 600;

fn peer() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let deps = std::env::var_os("DCODE_DEPS").map_or_else(|| root.join(".deps"), PathBuf::from);
    let packages = std::fs::read_dir(deps.join("patch-peer/node_modules/@openai")).ok()?;
    packages
        .filter_map(|package| std::fs::read_dir(package.ok()?.path().join("vendor")).ok())
        .flatten()
        .filter_map(|target| Some(target.ok()?.path().join("bin/codex")))
        .find(|program| program.is_file())
}

/// A file and a change of it.
#[derive(Clone, Debug)]
struct Change {
    lines: Vec<String>,
    /// Whether the last line has a line break.
    ends: bool,
    dos: bool,
    /// Where, how many lines go, and what comes; ascending and apart.
    hunks: Vec<(usize, usize, Vec<String>)>,
    context: usize,
    /// Whether the context is written with other indentation.
    sloppy: bool,
}

impl Change {
    fn before(&self) -> String {
        join(&self.lines, self.ends, self.dos)
    }

    fn after(&self) -> String {
        let mut lines = self.lines.clone();
        for (at, gone, new) in self.hunks.iter().rev() {
            lines.splice(*at..at + gone, new.iter().cloned());
        }
        join(&lines, self.ends, self.dos)
    }

    fn patch(&self) -> String {
        let mut text = "*** Begin Patch\n*** Update File: f\n".to_owned();
        let context = |line: &String| {
            if self.sloppy {
                format!(" {}\n", line.trim_end())
            } else {
                format!(" {line}\n")
            }
        };
        for (nth, (at, gone, new)) in self.hunks.iter().enumerate() {
            let before = nth.checked_sub(1).map_or(0, |last| {
                let (at, gone, _) = &self.hunks[last];
                at + gone
            });
            let after = self.hunks.get(nth + 1).map_or(self.lines.len(), |(at, ..)| *at);
            text += "@@\n";
            let first = at.saturating_sub(self.context).max(before);
            text.extend(self.lines[first..*at].iter().map(context));
            text.extend(self.lines[*at..at + gone].iter().map(|line| format!("-{line}\n")));
            text.extend(new.iter().map(|line| format!("+{line}\n")));
            let last = (at + gone + self.context).min(after);
            text.extend(self.lines[at + gone..last].iter().map(context));
        }
        text + "*** End Patch\n"
    }
}

fn join(lines: &[String], ends: bool, dos: bool) -> String {
    let eol = if dos { "\r\n" } else { "\n" };
    let text = lines.join(eol);
    if ends && !lines.is_empty() {
        text + eol
    } else {
        text
    }
}

fn changes() -> impl Strategy<Value = Change> {
    let word = prop_oneof![
        3 => "[a-e]{1,3}",
        1 => Just(String::new()),
        1 => "  [a-c] = [a-c];",
        1 => "\tif [a-c] \\{",
        1 => Just("}".to_owned()),
        1 => "é [a-c]—[a-c]",
        1 => "[a-c]  ",
    ];
    let lines = prop::collection::vec(word.clone(), 1..24);
    let hunk = (0usize..24, 0usize..3, prop::collection::vec(word, 0..3));
    let hunks = prop::collection::vec(hunk, 1..4);
    let flags = (
        prop::bool::weighted(0.8),
        prop::bool::weighted(0.2),
        prop::bool::weighted(0.15),
    );
    (lines, hunks, 0usize..4, flags).prop_map(|(lines, raw, context, (ends, dos, sloppy))| {
        let mut hunks: Vec<(usize, usize, Vec<String>)> = Vec::new();
        let mut raw = raw;
        raw.sort_by_key(|(at, ..)| *at);
        for (at, gone, new) in raw {
            let free = hunks.last().map_or(0, |(at, gone, _)| at + gone + 1);
            let at = at.max(free);
            if at < lines.len() {
                let gone = gone.min(lines.len() - at);
                if lines[at..at + gone] != new[..] {
                    hunks.push((at, gone, new));
                }
            }
        }
        // A last line that is empty is one only with its line break.
        let ends = ends || lines.last().is_some_and(String::is_empty);
        Change {
            lines,
            ends,
            dos,
            hunks,
            context,
            sloppy,
        }
    })
}

fn theirs(program: &Path, change: &Change) -> Result<String, String> {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("f");
    dcode::fs::atomic::write(&file, change.before().as_bytes(), None).unwrap();
    let output = Command::new(program)
        .arg(change.patch())
        .current_dir(dir.path())
        .output()
        .unwrap();
    if output.status.success() {
        Ok(String::from_utf8(std::fs::read(file).unwrap()).unwrap())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

async fn ours(change: &Change) -> Result<String, String> {
    let project = Project::new();
    project.file("f", change.before().as_bytes());
    let tool = ApplyPatch::new(Arc::new(project.backend.clone()), Arc::default(), true);
    let args = Args {
        patch_text: change.patch(),
    };
    match tool.run(args, &project.ctx()).await {
        Ok(_) => Ok(String::from_utf8(project.bytes("f")).unwrap()),
        Err(error) => Err(error.to_string()),
    }
}

/// Why two outcomes may differ; the words of doc/apply-patch.md. `None` when they may not.
fn listed(
    change: &Change,
    ours: &Result<String, String>,
    theirs: &Result<String, String>,
) -> Option<&'static str> {
    let endless = |text: &str| text.trim_end_matches(['\r', '\n']).to_owned();
    match (ours, theirs) {
        (Err(_), Err(_)) => Some("the same"),
        (Ok(a), Ok(b)) if a == b => Some("the same"),
        (Ok(a), Ok(b)) if !change.ends && endless(a) == endless(b) => Some("a last line without line break"),
        (Err(error), Ok(_)) if error.contains("fits ") || error.contains("places") => Some("several places"),
        (Err(error), _) if error.contains("leaves f as it is") => Some("nothing would change"),
        // They took the first place, ours the one that the order leaves.
        (Ok(a), Ok(_)) if *a == change.after() => Some("the right place"),
        (Ok(a), Err(_)) if *a == change.after() => Some("the right place"),
        _ => None,
    }
}

#[test]
fn the_same_as_another_program_but_where_the_list_says_so() {
    let Some(program) = peer() else {
        assert!(
            std::env::var_os("CI").is_none(),
            "scripts/get-patch-peer.sh has not been run"
        );
        println!("skipped: scripts/get-patch-peer.sh has not been run");
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let apply = dir.path().join("apply_patch");
    symlink(&program, &apply).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let config = Config {
        cases: PATCHES,
        failure_persistence: None,
        ..Config::default()
    };
    // Always the same patches: what fails here fails for everybody.
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let mut counts = std::collections::BTreeMap::new();
    let count = std::cell::RefCell::new(&mut counts);
    let unlisted = std::cell::RefCell::new(Vec::new());
    runner
        .run(&changes(), |change| {
            if change.hunks.is_empty() {
                return Ok(());
            }
            let (ours, theirs) = (runtime.block_on(ours(&change)), theirs(&apply, &change));
            let why = listed(&change, &ours, &theirs);
            let Some(why) = why else {
                unlisted.borrow_mut().push(format!(
                    "{}--- the file\n{}\n--- ours\n{ours:?}\n--- theirs\n{theirs:?}",
                    change.patch(),
                    change.before().escape_debug()
                ));
                return Ok(());
            };
            *count.borrow_mut().entry(why).or_insert(0) += 1;
            Ok(())
        })
        .unwrap();
    println!("{counts:?}");
    let mut unlisted = unlisted.into_inner();
    unlisted.sort_by_key(String::len);
    assert!(
        unlisted.is_empty(),
        "{} differ, among them\n{}",
        unlisted.len(),
        unlisted[..unlisted.len().min(8)].join("\n\n")
    );
    assert!(counts["the same"] > PATCHES / 3, "{counts:?}");
}
