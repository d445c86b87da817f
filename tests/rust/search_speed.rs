//! grep and glob beside `rg` and `fd`, side by side in one run. Only an optimised build says something:
//! `cargo test --release --no-default-features --test rust search_speed -- --ignored --nocapture`, with the
//! programs on PATH or in `DCODE_RG` and `DCODE_FD`.

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use dcode::tools::glob::Glob;
use dcode::tools::grep::Grep;
use dcode::tools::tool::Tool;
use serde_json::{Value, json};

use crate::project::Project;

const FILES: usize = 12_000;
const ROUNDS: usize = 15;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "measures; needs rg and fd, and an optimised build"]
async fn as_fast_as_the_best_programs() {
    let project = Project::new();
    grow(&project);
    let grep = Grep::new(
        Arc::new(|| Box::pin(async { Vec::new() })),
        Arc::new(|_: &Path| true),
    );
    let glob = Glob::new(Arc::new(|_: &Path| true));
    let (rg, fd) = (program("DCODE_RG", "rg"), program("DCODE_FD", "fd"));
    let cases: [(&str, Value, &OsString, Vec<&str>); 4] = [
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
        ("glob", json!({"pattern": "**/*_7.rs"}), &fd, vec!["-g", "*_7.rs"]),
    ];
    for (name, args, program, flags) in cases {
        let (mut ours, mut theirs) = (Duration::MAX, Duration::MAX);
        for _ in 0..ROUNDS {
            let start = Instant::now();
            let text = if name == "glob" {
                run(&glob, &args, &project).await
            } else {
                run(&grep, &args, &project).await
            };
            ours = ours.min(start.elapsed());
            assert!(!text.is_empty());
            let start = Instant::now();
            let output = tokio::process::Command::new(program)
                .args(&flags)
                .current_dir(&project.root)
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
            "{name}: {ours:.1?}, {} {theirs:.1?}, ratio {ratio:.2}",
            program.display()
        );
    }
}

async fn run<T: Tool>(tool: &T, args: &Value, project: &Project) -> String {
    let args = serde_json::from_value(args.clone()).unwrap();
    tool.run(args, &project.ctx()).await.unwrap().text
}

fn program(variable: &str, name: &str) -> OsString {
    std::env::var_os(variable).unwrap_or_else(|| name.into())
}

/// Files of some 5 KB in folders of 40, a few of them ignored, a few with what is looked for.
fn grow(project: &Project) {
    let body: String = (0..120)
        .map(|n| format!("    let value_{n} = compute({n}, other);\n"))
        .collect();
    project.file(".gitignore", b"ignored_*\n");
    for n in 0..FILES {
        let extension = if n % 3 == 0 { "rs" } else { "txt" };
        let folder = project.root.join(format!("d{}/e{}", n / 1_600, n / 40));
        std::fs::create_dir_all(&folder).unwrap();
        let kind = if n % 50 == 49 { "ignored" } else { "file" };
        let found = if n % 400 == 7 {
            format!("needle_{n} = found\n")
        } else {
            String::new()
        };
        let file = std::fs::File::create(folder.join(format!("{kind}_{n}.{extension}"))).unwrap();
        std::io::Write::write_all(
            &mut std::io::BufWriter::new(file),
            (body.clone() + &found).as_bytes(),
        )
        .unwrap();
    }
}
