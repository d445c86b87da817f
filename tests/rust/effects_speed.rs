//! What seeing the effects of commands costs on a large tree. Measured by hand:
//! `cargo test --release --no-default-features --test rust effects_speed -- --ignored --nocapture`.

use std::fs;
use std::time::{Duration, Instant};

use dcode::protocol::ids::{SessionId, StepIx, TurnId};
use dcode::snapshot::{SnapshotDirs, SnapshotStore, TreeWatch};

const FILES: usize = 50_000;

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

#[test]
#[ignore = "a measurement"]
fn two_looks_at_fifty_thousand_files() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap().join("project");
    let state = dir.path().join("state");
    for at in 0..FILES {
        let folder = root.join(format!("d{}/e{}", at / 1000, at % 1000 / 50));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(format!("file{at}.rs")), format!("line {at}\n")).unwrap();
    }
    let dirs = SnapshotDirs {
        project: root.clone(),
        state,
    };
    let store = SnapshotStore::new(dirs, SessionId("s".into()));
    let watch = TreeWatch::new(Some(root.clone()));
    let first = Instant::now();
    watch.prepare();
    let first = first.elapsed();
    let (mut nothing, mut one) = (Vec::new(), Vec::new());
    for round in 0..9 {
        let started = Instant::now();
        watch.before().unwrap();
        let seen = watch.after(&store, StepIx(1), TurnId(1)).unwrap();
        nothing.push(started.elapsed());
        assert_eq!(seen.len(), 0);
        let started = Instant::now();
        watch.before().unwrap();
        fs::write(root.join("d0/e0/file0.rs"), format!("changed {round}\n")).unwrap();
        let seen = watch.after(&store, StepIx(1), TurnId(1)).unwrap();
        one.push(started.elapsed());
        assert_eq!(seen.len(), 1);
    }
    println!(
        "{FILES} files: first look {first:?}; a command that changes nothing costs {:?}, one file {:?}",
        median(nothing),
        median(one)
    );
}
