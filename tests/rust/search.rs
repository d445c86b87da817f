//! Walking and searching: what is found, what is left out and said, order, cancel.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use dcode::fs::atomic::write;
use dcode::search::glob::Glob;
use dcode::search::grep::{Findings, GrepError, Place, Query, grep};
use dcode::search::walk::{LeftOut, Walk, Wanted, list};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

fn tree(files: &[(&str, &str)]) -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    for (path, text) in files {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        write(&path, text.as_bytes(), None).unwrap();
    }
    (dir, root)
}

fn walk(root: &Path) -> Walk {
    Walk {
        root: root.into(),
        hidden: false,
        no_ignore: false,
    }
}

fn query(pattern: &str) -> Query {
    Query {
        pattern: pattern.into(),
        literal: false,
        case_insensitive: false,
        context: 0,
        max_lines: 100,
        count_all: true,
    }
}

fn search(query: &Query, root: &Path) -> Result<Findings, GrepError> {
    let buffers = HashMap::new();
    let place = Place {
        walk: walk(root),
        glob: None,
        buffers: &buffers,
        may_show: &|_| true,
    };
    grep(query, &place, &CancellationToken::new())
}

/// `path:number:text` of each kept line, context with `-`.
fn lines(findings: &Findings, root: &Path) -> Vec<String> {
    let mut lines = Vec::new();
    for file in &findings.files {
        let path = file.path.strip_prefix(root).unwrap().display();
        for line in &file.lines {
            let mark = if line.matched { ':' } else { '-' };
            lines.push(format!("{path}{mark}{}{mark}{}", line.number, line.text));
        }
    }
    lines
}

#[test]
fn ignored_and_hidden_entries_are_counted_and_listed_on_demand() {
    let (_dir, root) = tree(&[
        (".gitignore", "*.log\nbuild/\n"),
        ("a.rs", ""),
        ("x.log", ""),
        ("build/deep/a.rs", ""),
        ("build/b.rs", ""),
        ("node_modules/m/i.js", ""),
        (".github/w.yml", ""),
        (".git/config", ""),
        ("src/b.rs", ""),
    ]);
    let names = |walk: Walk| {
        let listing = list(&walk, Wanted::default(), &CancellationToken::new()).unwrap();
        let names: Vec<String> = listing
            .files
            .iter()
            .map(|file| file.strip_prefix(&root).unwrap().display().to_string())
            .collect();
        (names, listing.left_out)
    };
    let (found, left_out) = names(walk(&root));
    assert_eq!(found, ["a.rs", "src/b.rs"]);
    // .gitignore and .github; build, x.log and node_modules.
    assert_eq!(
        left_out,
        LeftOut {
            hidden: 2,
            ignored: 3,
            ..LeftOut::default()
        }
    );
    let (found, left_out) = names(Walk {
        hidden: true,
        ..walk(&root)
    });
    assert_eq!(found, [".github/w.yml", ".gitignore", "a.rs", "src/b.rs"]);
    assert_eq!(left_out.hidden, 0);
    let (found, left_out) = names(Walk {
        no_ignore: true,
        hidden: true,
        ..walk(&root)
    });
    assert_eq!(found.len(), 8);
    assert_eq!(left_out, LeftOut::default());
    // Whoever names a folder wants what is in it.
    assert_eq!(
        names(walk(&root.join("build"))).0,
        ["build/b.rs", "build/deep/a.rs"]
    );
    assert_eq!(names(walk(&root.join("build/deep"))).0, ["build/deep/a.rs"]);
    assert_eq!(names(walk(&root.join(".github"))).0, [".github/w.yml"]);
    assert_eq!(
        names(walk(&root.join("node_modules/m"))).0,
        ["node_modules/m/i.js"]
    );
}

#[test]
fn links_are_not_followed_and_a_cycle_ends() {
    let (_dir, root) = tree(&[("loop/a.txt", "x")]);
    std::os::unix::fs::symlink("..", root.join("loop/child")).unwrap();
    let found = search(&query("x"), &root.join("loop")).unwrap();
    assert_eq!(lines(&found, &root), ["loop/a.txt:1:x"]);
}

#[test]
fn lines_come_in_order_of_path_and_number_each_time() {
    let files: Vec<(String, String)> = (0..300)
        .map(|n| {
            (
                format!("d{}/f{n:03}.txt", n % 7),
                "one\nneedle\nthree\nneedle\n".repeat(3),
            )
        })
        .collect();
    let files: Vec<(&str, &str)> = files
        .iter()
        .map(|(path, text)| (path.as_str(), text.as_str()))
        .collect();
    let (_dir, root) = tree(&files);
    let wide = Query {
        max_lines: 10_000,
        ..query("needle")
    };
    let first = search(&wide, &root).unwrap();
    assert_eq!(first.matching_lines, 1800);
    assert!(!first.cut);
    let paths: Vec<_> = first.files.iter().map(|file| file.path.clone()).collect();
    let mut sorted = paths.clone();
    sorted.sort();
    assert_eq!(paths, sorted);
    assert_eq!(search(&wide, &root).unwrap(), first);
    // A limit shows the same lines, fewer, and counts the rest.
    let narrow = search(
        &Query {
            max_lines: 50,
            ..query("needle")
        },
        &root,
    )
    .unwrap();
    assert_eq!(lines(&narrow, &root)[..], lines(&first, &root)[..50]);
    assert_eq!((narrow.matching_lines, narrow.cut), (1800, true));
    let exact = search(
        &Query {
            max_lines: 1800,
            ..query("needle")
        },
        &root,
    )
    .unwrap();
    assert!(!exact.cut);
}

#[test]
fn context_literal_text_case_and_line_ends() {
    let (_dir, root) = tree(&[
        ("a.txt", "one\r\nfoo(x)\r\nthree\r\nfour\r\nFOO\r\n"),
        ("b.txt", "use --flag here\n"),
    ]);
    let found = search(
        &Query {
            literal: true,
            context: 1,
            ..query("foo(")
        },
        &root,
    )
    .unwrap();
    assert_eq!(
        lines(&found, &root),
        ["a.txt-1-one", "a.txt:2:foo(x)", "a.txt-3-three"]
    );
    assert_eq!(search(&query("^foo.x.$"), &root).unwrap().matching_lines, 1);
    let found = search(
        &Query {
            case_insensitive: true,
            ..query("foo")
        },
        &root,
    )
    .unwrap();
    assert_eq!(found.matching_lines, 2);
    assert_eq!(
        lines(&search(&query("--flag"), &root).unwrap(), &root),
        ["b.txt:1:use --flag here"]
    );
}

#[test]
fn a_buffer_counts_instead_of_the_disk_and_binary_files_do_not() {
    let (_dir, root) = tree(&[
        ("a.txt", "old\n"),
        ("b.bin", "old\0old\n"),
        ("c.txt", "old\n"),
        ("key.pem", "old\n"),
    ]);
    let buffers = HashMap::from([
        (root.join("a.txt"), "new\n".to_owned()),
        (root.join("unsaved.txt"), "old\n".to_owned()),
    ]);
    let may_show = |path: &Path| path.extension().is_none_or(|extension| extension != "pem");
    let place = Place {
        walk: walk(&root),
        glob: None,
        buffers: &buffers,
        may_show: &may_show,
    };
    let found = grep(&query("old"), &place, &CancellationToken::new()).unwrap();
    assert_eq!(lines(&found, &root), ["c.txt:1:old", "unsaved.txt:1:old"]);
    assert_eq!(found.binary, 1);
    assert_eq!(found.withheld, [root.join("key.pem")]);
    let place = Place {
        glob: Some(Glob::new("a.*").unwrap()),
        ..place
    };
    let found = grep(&query("new"), &place, &CancellationToken::new()).unwrap();
    assert_eq!(lines(&found, &root), ["a.txt:1:new"]);
}

#[test]
fn utf_16_and_very_long_lines_are_read() {
    let (_dir, root) = tree(&[]);
    let utf16: Vec<u8> = "\u{feff}needle\n"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    write(&root.join("w.txt"), &utf16, None).unwrap();
    let long = format!("{}needle{}", "x".repeat(1_000_000), "y".repeat(1_000_000));
    write(&root.join("m.js"), long.as_bytes(), None).unwrap();
    let found = search(&query("needle"), &root).unwrap();
    let lines = lines(&found, &root);
    assert_eq!(lines[1], "w.txt:1:needle");
    assert!(
        lines[0].len() < 1000
            && lines[0].contains("xxneedleyy")
            && lines[0].contains("line of 2000006 bytes")
    );
}

#[test]
fn what_cannot_be_searched_is_an_instruction() {
    let (_dir, root) = tree(&[("a.txt", "")]);
    let error = |pattern: &str, path: &str| search(&query(pattern), &root.join(path)).unwrap_err();
    let GrepError::Pattern(text) = error("foo(", "") else {
        panic!("not a pattern error")
    };
    assert!(
        text.contains("foo(") && text.contains('^') && text.contains("unclosed group"),
        "{text}"
    );
    assert_eq!(error("a\nb", ""), GrepError::Newline);
    assert_eq!(error("a\\nb", ""), GrepError::Newline);
    assert_eq!(error("", ""), GrepError::Empty);
    assert_eq!(error("x", "none"), GrepError::NotFound(root.join("none")));
    assert_eq!(
        search(&query("x"), Path::new("/dev/null")).unwrap_err(),
        GrepError::NotAFile("/dev/null".into())
    );
}

#[test]
fn a_stopped_turn_ends_a_search_within_milliseconds() {
    let (_dir, root) = tree(&[]);
    for n in 0..40 {
        write(
            &root.join(format!("{n}.txt")),
            "line\n".repeat(400_000).as_bytes(),
            None,
        )
        .unwrap();
    }
    let cancel = CancellationToken::new();
    let stopped = OnceLock::new();
    // Asked when the walk is over: the search of the files has just begun when the turn is stopped.
    let may_show = |_: &Path| {
        stopped.get_or_init(|| {
            let cancel = cancel.clone();
            std::thread::spawn(move || cancel.cancel());
            Instant::now()
        });
        true
    };
    let buffers = HashMap::new();
    let place = Place {
        walk: walk(&root),
        glob: None,
        buffers: &buffers,
        may_show: &may_show,
    };
    let result = grep(&query("never there"), &place, &cancel);
    assert_eq!(result.unwrap_err(), GrepError::Cancelled);
    // All of it takes seconds in a debug build.
    assert!(stopped.get().unwrap().elapsed() < Duration::from_millis(500));
}
