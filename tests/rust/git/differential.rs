//! Histories that are generated, and three that are built of the releases of real packages, asked both ways.
//! `doc/git.md` lists where the answers may differ; here they do not.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use super::comparison::{Differences, blames, commits, diffs, files, logs};
use super::repository::{Repository, command, git};

/// A file of a generated history: its lines.
type Files = std::collections::BTreeMap<String, Vec<String>>;

/// A history with merges, criss-cross merges, octopus merges, renames, deletions, empty commits, equal and
/// turned-back times and odd encodings.
fn generate(seed: u64, count: usize) -> Repository {
    let repo = Repository::new();
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut stream: Vec<u8> = Vec::new();
    let mut made: Vec<(usize, Files)> = Vec::new();
    let mut time = 1_500_000_000;
    for mark in 1..=count {
        time += [0, 0, 60, 600, -300][rng.usize(0..5)];
        let (parent, mut files) = match made.len() {
            0 => (None, Files::new()),
            len => {
                let (mark, files) = made[len - 1 - rng.usize(0..len.min(4))].clone();
                (Some(mark), files)
            }
        };
        let mut merged: Vec<usize> = Vec::new();
        if made.len() > 4 && rng.u8(0..4) == 0 {
            for _ in 0..rng.usize(1..4) {
                let other = rng.usize(made.len().saturating_sub(8)..made.len());
                let (mark, theirs) = made[other].clone();
                if Some(mark) != parent && !merged.contains(&mark) {
                    merged.push(mark);
                    for (path, lines) in theirs {
                        if rng.bool() {
                            files.insert(path, lines);
                        }
                    }
                }
            }
        }
        if rng.u8(0..8) != 0 {
            (0..rng.usize(1..4)).for_each(|_| change(&mut rng, &mut files, mark));
        }
        write_commit(&mut stream, &mut rng, mark, time, parent, &merged, &files);
        made.push((mark, files));
    }
    // All ends in one, so that HEAD sees the most.
    let (last, files) = made[made.len() - 1].clone();
    write_commit(
        &mut stream,
        &mut rng,
        count + 1,
        time + 1,
        Some(last),
        &[last - 1, last - 2],
        &files,
    );
    stream.extend(b"reset refs/heads/main\nfrom :");
    stream.extend(format!("{}\n", count + 1).into_bytes());
    let mut child = command(&repo.root)
        .args(["fast-import", "--quiet"])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(&stream).unwrap();
    assert!(child.wait().unwrap().success());
    repo.git(&["reset", "-q", "--hard"]);
    repo
}

fn change(rng: &mut fastrand::Rng, files: &mut Files, mark: usize) {
    const NAMES: [&str; 8] = [
        "a.rs",
        "b.txt",
        "sub/c.rs",
        "sub/deep/d",
        "sub.e",
        "ü/ö.txt",
        "sp ace",
        "z",
    ];
    let line = |rng: &mut fastrand::Rng| ["{", "}", "", "same", "  return"][rng.usize(0..5)].to_owned();
    let picked = files.keys().nth(rng.usize(0..files.len().max(1))).cloned();
    match (rng.u8(0..10), picked) {
        (0, Some(path)) => {
            files.remove(&path);
        }
        (1 | 2, Some(path)) => {
            let lines = files.remove(&path).unwrap();
            files.insert(format!("moved{mark}/{}", path.rsplit('/').next().unwrap()), lines);
        }
        (3, _) | (_, None) => {
            let lines = (0..rng.usize(0..40)).map(|at| {
                if rng.bool() {
                    line(rng)
                } else {
                    format!("{mark} {at}")
                }
            });
            let lines = lines.collect();
            files.insert(NAMES[rng.usize(0..NAMES.len())].to_owned(), lines);
        }
        (_, Some(path)) => {
            let lines = files.get_mut(&path).unwrap();
            for _ in 0..rng.usize(1..4) {
                let at = rng.usize(0..=lines.len());
                match rng.u8(0..4) {
                    0 if at < lines.len() => {
                        lines.remove(at);
                    }
                    1 if at < lines.len() => lines[at] = format!("changed {mark}"),
                    2 => lines.insert(at, line(rng)),
                    _ => lines.insert(at, format!("new {mark}")),
                }
            }
        }
    }
}

fn write_commit(
    stream: &mut Vec<u8>,
    rng: &mut fastrand::Rng,
    mark: usize,
    time: i64,
    parent: Option<usize>,
    merged: &[usize],
    files: &Files,
) {
    let mut put = |text: String| stream.extend(text.into_bytes());
    put(format!("commit refs/heads/made{}\nmark :{mark}\n", mark % 5));
    let who = ["Ann <ann@x>", "Bob <bob@x>", "Zo\u{eb} <zoe@x>"][rng.usize(0..3)];
    let encoding = if mark.is_multiple_of(11) {
        "encoding ISO-8859-1\n"
    } else {
        ""
    };
    put(format!(
        "author {who} {time} +0130\ncommitter {who} {time} -0800\n{encoding}"
    ));
    let message = format!("commit {mark}\n\nwords\n");
    put(format!("data {}\n{message}\n", message.len()));
    if let Some(parent) = parent {
        put(format!("from :{parent}\n"));
    }
    for other in merged {
        put(format!("merge :{other}\n"));
    }
    put("deleteall\n".into());
    for (path, lines) in files {
        let mut text = lines.join("\n");
        if !text.is_empty() && !mark.is_multiple_of(7) {
            text.push('\n');
        }
        put(format!(
            "M 100644 inline \"{path}\"\ndata {}\n{text}\n",
            text.len()
        ));
    }
    put("\n".into());
}

fn ranges(root: &Path) -> Vec<String> {
    let all = commits(root, 7);
    let pairs = all.windows(2).take(6);
    let two = pairs.flat_map(|pair| {
        let (one, other) = (&pair[0], &pair[1]);
        [
            format!("{one}..{other}"),
            format!("{other}..{one}"),
            format!("{one}...{other}"),
        ]
    });
    two.collect()
}

async fn compare(root: &Path, step: usize, name: &str) -> Differences {
    let mut found = Differences::default();
    let paths = files(root, step);
    logs(root, &paths, &ranges(root), &mut found);
    blames(root, &paths, &mut found);
    diffs(root, &commits(root, 2), &mut found).await;
    found.print(name);
    found
}

#[tokio::test]
async fn generated_histories() {
    for seed in 1..=4 {
        let repo = generate(seed, 90);
        let found = compare(&repo.root, 1, &format!("seed {seed}")).await;
        assert!(found.found.is_empty());
    }
}

#[tokio::test]
async fn a_commit_graph_with_filters_changes_no_answer() {
    let repo = generate(11, 90);
    repo.git(&["commit-graph", "write", "--reachable", "--changed-paths"]);
    let found = compare(&repo.root, 1, "with a commit-graph").await;
    assert!(found.found.is_empty());
}

/// Built by scripts/get-histories.sh.
#[tokio::test]
async fn releases_of_real_packages() {
    let deps = std::env::var_os("DCODE_DEPS").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(".deps"),
        Into::into,
    );
    let mut compared = 0;
    for (name, step) in [("express", 1), ("requests", 7), ("eslint", 40)] {
        let root = deps.join("histories").join(name);
        if !root.join(".complete").exists() {
            println!(
                "skipped: {} is not there (scripts/get-histories.sh)",
                root.display()
            );
            continue;
        }
        let root = root.canonicalize().unwrap();
        assert!(
            git(&root, &["rev-list", "--count", "HEAD"])
                .trim()
                .parse::<usize>()
                .unwrap()
                > 20
        );
        let found = compare(&root, step, name).await;
        assert!(found.found.is_empty());
        compared += 1;
    }
    assert!(
        compared == 3 || std::env::var_os("CI").is_none(),
        "the histories are not there"
    );
}
