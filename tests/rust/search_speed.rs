//! grep and glob beside `rg` and `fd`, side by side in one run, all files in the page cache: the whole
//! call, with what judges it and picks what may be shown. Only an optimised
//! build says something: `make bench`, with the programs on PATH or in `DCODE_RG` and `DCODE_FD`.

use std::ffi::OsString;
use std::io::Write;
use std::time::{Duration, Instant};

use dcode::protocol::tool::Outcome;
use serde_json::{Value, json};

use crate::project::Project;
use crate::tool_cases::Session;

/// Files of the big tree, 500 MB of them, and of the repository.
const TREE: (usize, usize) = (50_000, 10_000);
const REPOSITORY: (usize, usize) = (10_000, 4_000);
const ROUNDS: usize = 9;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "measures; needs rg and fd, and an optimised build"]
async fn as_fast_as_the_best_programs() {
    let tree = Session::new(&json!({}));
    grow(&tree.project, TREE);
    compare("50,000 files, 500 MB", &tree).await;
    drop(tree);
    let repository = Session::new(&json!({}));
    grow(&repository.project, REPOSITORY);
    let git = |args: &[&str]| {
        let status = std::process::Command::new("git")
            .args(["-c", "user.name=t", "-c", "user.email=t@t"])
            .args(args)
            .current_dir(&repository.project.root)
            .output();
        status.is_ok_and(|output| output.status.success())
    };
    if git(&["init", "-q"]) && git(&["add", "-A"]) && git(&["commit", "-qm", "all"]) {
        compare("a git repository of 10,000 files", &repository).await;
    } else {
        println!("skipped: git cannot be run");
    }
}

async fn compare(about: &str, session: &Session) {
    let (rg, fd) = (
        program("DCODE_RG", &["rg"]),
        program("DCODE_FD", &["fd", "fdfind"]),
    );
    let cases: [(&str, Value, &OsString, Vec<&str>); 5] = [
        (
            "grep, few matches",
            json!({"pattern": "needle_[0-9]+ = found"}),
            &rg,
            vec!["-n", "--no-heading", "needle_[0-9]+ = found"],
        ),
        (
            "grep, none",
            json!({"pattern": "no such words here"}),
            &rg,
            vec!["-n", "no such words here"],
        ),
        (
            "grep, count in *.rs",
            json!({"pattern": "compute", "output_mode": "count", "glob_filter": "*.rs"}),
            &rg,
            vec!["-c", "-g", "*.rs", "compute"],
        ),
        (
            "glob, few",
            json!({"pattern": "**/*_7.rs"}),
            &fd,
            vec!["-g", "*_7.rs"],
        ),
        ("glob, all", json!({"pattern": "*"}), &fd, vec!["-t", "f"]),
    ];
    for (name, args, program, flags) in cases {
        let (mut ours, mut theirs) = (Duration::MAX, Duration::MAX);
        let before = processor();
        for _ in 0..ROUNDS {
            let start = Instant::now();
            let tool = name.split(',').next().unwrap_or_default();
            let (finished, _) = session.call(tool, &args).await;
            ours = ours.min(start.elapsed());
            assert_eq!(finished.outcome, Outcome::Ok, "{}", finished.text);
            let start = Instant::now();
            let output = tokio::process::Command::new(program)
                .args(&flags)
                .current_dir(&session.project.root)
                .output()
                .await;
            let Ok(_) = output else {
                println!("skipped: {} cannot be run", program.display());
                return;
            };
            theirs = theirs.min(start.elapsed());
        }
        let ratio = ours.as_secs_f64() / theirs.as_secs_f64();
        println!(
            "{about}: {name}: {ours:.1?}, {} {theirs:.1?}, ratio {ratio:.2}",
            program.display()
        );
        if let (Some(before), Some(after)) = (before, processor()) {
            let (ours, theirs) = (after.0 - before.0, after.1 - before.1);
            println!("  processor, all rounds: {ours} beside {theirs}, in hundredths of a second");
        }
    }
}

/// What the processor did for this process and for those that it waited for, in ticks, where the system tells:
/// on a busy machine that says more than the clock.
fn processor() -> Option<(u64, u64)> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let (_, after_name) = stat.rsplit_once(')')?;
    let ticks: Vec<u64> = after_name
        .split_whitespace()
        .skip(11)
        .take(4)
        .filter_map(|field| field.parse().ok())
        .collect();
    let [user, system, user_below, system_below] = ticks[..] else {
        return None;
    };
    Some((user + system, user_below + system_below))
}

/// What the variable names, else the first of the names that can be run.
fn program(variable: &str, names: &[&str]) -> OsString {
    if let Some(program) = std::env::var_os(variable) {
        return program;
    }
    let runs = |name: &&&str| std::process::Command::new(name).arg("--version").output().is_ok();
    names.iter().find(runs).unwrap_or(&names[0]).into()
}

/// Files of the given size in folders of 40, a few of them ignored, a few with what is looked for.
fn grow(project: &Project, (files, bytes): (usize, usize)) {
    let mut body = String::new();
    for n in 0.. {
        body += &format!("    let value_{n} = compute({n}, other);\n");
        if body.len() >= bytes {
            break;
        }
    }
    project.file(".gitignore", b"ignored_*\n");
    for n in 0..files {
        let extension = if n % 3 == 0 { "rs" } else { "txt" };
        let folder = project.root.join(format!("d{}/e{}", n / 1_600, n / 40));
        std::fs::create_dir_all(&folder).unwrap();
        let kind = if n % 50 == 49 { "ignored" } else { "file" };
        let found = if n % 400 == 7 {
            format!("needle_{n} = found\n")
        } else {
            String::new()
        };
        let mut file = std::fs::File::create(folder.join(format!("{kind}_{n}.{extension}"))).unwrap();
        file.write_all((body.clone() + &found).as_bytes()).unwrap();
    }
}
