//! How long the edit engine takes on large texts, and reading the end of a huge file. Only an optimised build
//! says something: `make bench`. Each line names the bar that it is held against.

use std::fmt::Write as _;
use std::io::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use dcode::edit::hint;
use dcode::edit::patch::FileAction;
use dcode::edit::patch_apply::apply;
use dcode::edit::patch_parse::parse;
use dcode::tools::apply_patch::{self, ApplyPatch};
use dcode::tools::edit_file::EditFile;
use dcode::tools::read_file::ReadFile;
use dcode::tools::tool::Tool;
use serde_json::json;

use crate::project::Project;

const ROUNDS: usize = 15;

/// The best of some rounds.
fn best(mut work: impl FnMut()) -> Duration {
    let round = |_| {
        let start = Instant::now();
        work();
        start.elapsed()
    };
    (0..ROUNDS).map(round).min().unwrap()
}

fn say(what: &str, took: Duration, bar: Duration) {
    let ratio = took.as_secs_f64() / bar.as_secs_f64();
    println!("{what}: {took:.2?} of {bar:.0?}, ratio {ratio:.2}");
}

/// Source-like lines, many of them alike.
fn source(lines: usize) -> String {
    let mut text = String::new();
    for n in 0..lines {
        match n % 5 {
            0 => writeln!(text, "fn function_{n}(argument: usize) -> usize {{"),
            1 => writeln!(text, "    let value = compute(argument, {});", n % 97),
            2 => writeln!(text, "    value + {n}"),
            3 => writeln!(text, "}}"),
            _ => writeln!(text),
        }
        .unwrap();
    }
    text
}

fn patch_of(hunks: usize, lines: usize) -> String {
    let mut patch = "*** Begin Patch\n*** Update File: f\n".to_owned();
    for nth in 0..hunks {
        let n = nth * (lines / hunks) / 5 * 5;
        write!(
            patch,
            "@@\n fn function_{n}(argument: usize) -> usize {{\n-    let value = compute(argument, {});\n+    let value = \
             other(argument);\n     value + {}\n",
            (n + 1) % 97,
            n + 2
        )
        .unwrap();
    }
    patch + "*** End Patch\n"
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "measures; needs an optimised build"]
async fn large_texts_speed() {
    let text = source(100_000);
    let patch = patch_of(200, 100_000);
    let parsed = parse(&patch).unwrap();
    let FileAction::Update { chunks, .. } = &parsed.files[0].action else {
        panic!("an update");
    };
    let took = best(|| {
        let again = parse(&patch).unwrap();
        assert_eq!(again.files.len(), 1);
        assert_eq!(apply(&text, chunks).unwrap().lines.len(), 200);
    });
    say(
        "apply_patch, 200 hunks in 100,000 lines, engine",
        took,
        Duration::from_millis(20),
    );

    let project = Project::new();
    let tool = ApplyPatch::new(Arc::new(project.backend.clone()), Arc::default(), true);
    let mut whole = Duration::MAX;
    for _ in 0..ROUNDS {
        project.file("f", text.as_bytes());
        let args = apply_patch::Args {
            patch_text: patch.clone(),
        };
        let start = Instant::now();
        tool.run(args, &project.ctx()).await.unwrap();
        whole = whole.min(start.elapsed());
    }
    println!("  the same with reading, diff, hashing and the disk: {whole:.2?}");

    let missing =
        "    let value = compute(argument, 3);\n    let nothing = of_this(kind);\n    value + 4\n}\n";
    let took = best(|| {
        assert!(!hint::miss("f", &text, missing, &|| false).is_empty());
    });
    say(
        "the nearest match in 100,000 lines",
        took,
        Duration::from_millis(100),
    );

    let path = project.file("b", b"");
    project.editor.load(&path, &source(10_000), false);
    let edit = EditFile::new(Arc::new(project.backend.clone()), Arc::default());
    let args = json!({"path": "b", "old_string": missing, "new_string": "x"});
    let mut took = Duration::MAX;
    for _ in 0..ROUNDS {
        let args = serde_json::from_value(args.clone()).unwrap();
        let start = Instant::now();
        edit.run(args, &project.ctx()).await.unwrap_err();
        took = took.min(start.elapsed());
    }
    say(
        "edit_file that misses in a buffer of 10,000 lines",
        took,
        Duration::from_millis(10),
    );
}

/// Resident memory at its highest, in bytes, where the system tells.
fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some(kib * 1024)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "measures; needs an optimised build and a gigabyte of disk"]
async fn a_range_at_the_end_of_a_gigabyte_speed() {
    let project = Project::new();
    let block = source(100_000);
    let mut file = std::fs::File::create(project.root.join("huge")).unwrap();
    let mut size = 0;
    let mut lines = 0;
    while size < 1 << 30 {
        file.write_all(block.as_bytes()).unwrap();
        size += block.len();
        lines += 100_000;
    }
    drop(file);
    // Reset what is counted as the highest, and warm the page cache.
    std::io::copy(
        &mut std::fs::File::open(project.root.join("huge")).unwrap(),
        &mut std::io::sink(),
    )
    .unwrap();
    reset_peak();
    let before = peak();
    let tool = ReadFile::new(Arc::new(project.backend.clone()), Arc::default());
    let mut took = Duration::MAX;
    for _ in 0..5 {
        let args = json!({"path": "huge", "start_line": lines - 999, "end_line": lines});
        let start = Instant::now();
        let output = tool
            .run(serde_json::from_value(args).unwrap(), &project.ctx())
            .await
            .unwrap();
        took = took.min(start.elapsed());
        assert_eq!(output.text.lines().count(), 1_001);
    }
    say("1,000 lines at the end of 1 GB", took, Duration::from_millis(300));
    if let (Some(before), Some(after)) = (before, peak()) {
        println!("  memory: {:.1} MB more, of 20", (after - before) as f64 / 1e6);
    }
}

/// Linux forgets the highest when told so.
fn reset_peak() {
    if let Ok(mut file) = std::fs::OpenOptions::new()
        .write(true)
        .open("/proc/self/clear_refs")
    {
        file.write_all(b"5").ok();
    }
}
