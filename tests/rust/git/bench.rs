//! The tools beside the git program, in one run, on 20,000 commits and 5,000 files: `make bench-git`. What is
//! printed are ratios: below 1 the tool is faster than git with the start of its process, as a person pays it.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::repository::{Tools, command, git};

const COMMITS: usize = 20_000;
const FILES: usize = 5_000;
const LINES: usize = 5_000;
const BIG_COMMITS: usize = 500;
const LARGE: usize = 1_000;
/// How often each is asked; `DCODE_BENCH_ROUNDS` says otherwise.
const ROUNDS: usize = 15;

fn path(file: usize) -> String {
    format!("d{:02}/s{}/f{file}.rs", file % 40, file / 40 % 5)
}

fn put(stream: &mut impl std::io::Write, path: &str, text: &str) {
    write!(stream, "M 100644 inline {path}\ndata {}\n{text}\n", text.len()).unwrap();
}

/// The repository; made once.
fn repository() -> PathBuf {
    let root = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("git-bench");
    if root.join("made").exists() {
        return root;
    }
    std::fs::create_dir_all(&root).unwrap();
    git(&root, &["init", "-q", "-b", "main"]);
    let mut child = command(&root)
        .args(["fast-import", "--quiet"])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stream = std::io::BufWriter::new(child.stdin.take().unwrap());
    let mut rng = fastrand::Rng::with_seed(7);
    let mut files: Vec<Vec<String>> = (0..FILES)
        .map(|file| (0..60).map(|line| format!("line {line} of {file}")).collect())
        .collect();
    let mut big: Vec<String> = (0..LINES)
        .map(|line| format!("line {line} of the long file, as it was"))
        .collect();
    for mark in 1..=COMMITS {
        let time = 1_500_000_000 + mark * 600;
        let message = format!("commit {mark}");
        write!(
            stream,
            "commit refs/heads/main\nmark :{mark}\nauthor Ann <ann@x> {time} +0100\ncommitter Ann <ann@x> {time} \
             +0000\ndata {}\n{message}\n",
            message.len()
        )
        .unwrap();
        if mark > 50 && mark % 97 == 0 {
            write!(stream, "from :{}\nmerge :{}\n", mark - 1, mark - 40).unwrap();
        }
        let changed: Vec<usize> = match mark {
            1 => (0..FILES).collect(),
            // The large commit.
            _ if mark == COMMITS - 10 => (0..LARGE).collect(),
            // The first file changes but once.
            _ => (0..rng.usize(1..4)).map(|_| rng.usize(LARGE..FILES)).collect(),
        };
        for file in changed {
            if mark > 1 {
                let line = rng.usize(0..60);
                files[file][line] = format!("changed in {mark}");
            }
            put(&mut stream, &path(file), &(files[file].join("\n") + "\n"));
        }
        if mark == 1 || mark % (COMMITS / BIG_COMMITS) == 0 {
            for _ in 0..5 {
                let line = rng.usize(0..LINES);
                big[line] = format!("changed in {mark} {}", rng.u32(..));
            }
            put(&mut stream, "src/long.rs", &(big.join("\n") + "\n"));
        }
    }
    stream.flush().unwrap();
    drop(stream);
    assert!(child.wait().unwrap().success());
    git(&root, &["repack", "-adq"]);
    git(&root, &["reset", "-q", "--hard"]);
    std::fs::write(root.join("made"), "").unwrap();
    std::fs::write(root.join(".git/info/exclude"), "made\n").unwrap();
    root
}

struct Case {
    name: &'static str,
    tool: &'static str,
    args: Value,
    git: Vec<&'static str>,
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn program(root: &Path, args: &[&str]) -> Duration {
    let start = Instant::now();
    let output = command(root)
        .args(args)
        .stderr(Stdio::inherit())
        .output()
        .unwrap();
    assert!(output.status.success());
    start.elapsed()
}

async fn measure(root: &Path, title: &str, cases: &[Case]) {
    for case in cases {
        let tools = Tools::default();
        let start = Instant::now();
        let text = tools.call(case.tool, case.args.clone(), root).await.unwrap().text;
        let first = start.elapsed();
        let (mut ours, mut theirs, mut starts) = (Vec::new(), Vec::new(), Vec::new());
        let rounds = std::env::var("DCODE_BENCH_ROUNDS")
            .ok()
            .and_then(|rounds| rounds.parse().ok());
        for _ in 0..rounds.unwrap_or(ROUNDS) {
            let start = Instant::now();
            tools.call(case.tool, case.args.clone(), root).await.unwrap();
            ours.push(start.elapsed());
            theirs.push(program(root, &case.git));
            starts.push(program(root, &["version"]));
        }
        let (ours, theirs, start) = (median(&mut ours), median(&mut theirs), median(&mut starts));
        let ratio = |one: Duration, other: Duration| one.as_secs_f64() / other.as_secs_f64();
        println!(
            "{:<34} {:>8.2} {:>8.2} {:>8.2}   {:>7.1} ms {:>7.1} ms  {} bytes",
            format!("{}{title}", case.name),
            ratio(ours, theirs),
            ratio(ours, theirs.saturating_sub(start).max(Duration::from_micros(100))),
            ratio(first, theirs),
            ours.as_secs_f64() * 1e3,
            theirs.as_secs_f64() * 1e3,
            text.len()
        );
    }
}

fn log_cases() -> Vec<Case> {
    vec![
        Case {
            name: "git_log, 20",
            tool: "git_log",
            args: json!({}),
            git: vec!["log", "--format=%h %ad %an: %s", "--date=short", "-n20"],
        },
        Case {
            name: "git_log of a path",
            tool: "git_log",
            args: json!({"path": "d00/s0/f0.rs"}),
            git: vec![
                "log",
                "--format=%h %ad %an: %s",
                "--date=short",
                "-n20",
                "--",
                "d00/s0/f0.rs",
            ],
        },
        Case {
            name: "git_blame, 5,000 lines",
            tool: "git_blame",
            args: json!({"path": "src/long.rs", "ref": "HEAD"}),
            git: vec!["blame", "HEAD", "--", "src/long.rs"],
        },
    ]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "measures; needs an optimised build: make bench-git"]
async fn beside_the_git_program() {
    let root = repository().canonicalize().unwrap();
    let info = root.join(".git/objects/info");
    let _ = std::fs::remove_file(info.join("commit-graph"));
    let _ = std::fs::remove_dir_all(info.join("commit-graphs"));
    git(&root, &["reset", "-q", "--hard"]);
    println!(
        "{:<34} {:>8} {:>8} {:>8}   {:>10} {:>10}",
        "ours / git's", "warm", "no start", "first", "ours", "git's"
    );
    let mut cases = log_cases();
    let large: &'static str = Box::leak(format!("HEAD~{}", 10).into_boxed_str());
    cases.push(Case {
        name: "git_show of 1,000 files",
        tool: "git_show",
        args: json!({"ref": large}),
        git: vec!["show", large],
    });
    measure(&root, "", &cases).await;
    for file in (0..FILES).step_by(250) {
        let path = root.join(path(file));
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, text + "more\n").unwrap();
    }
    let diff = Case {
        name: "git_diff, 20 files of 5,000",
        tool: "git_diff",
        args: json!({}),
        git: vec!["diff", "HEAD"],
    };
    measure(&root, "", &[diff]).await;
    git(
        &root,
        &["commit-graph", "write", "--reachable", "--changed-paths"],
    );
    measure(&root, " (filters)", &log_cases()).await;
}
