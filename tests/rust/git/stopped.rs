//! Work that is stopped half-way ends there, with nothing to show.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use dcode::tools::tool::ToolError;
use dcode::vcs::blame::{From, blame};
use dcode::vcs::changes::between_trees;
use dcode::vcs::error::{Stop, VcsError};
use dcode::vcs::log::{Wanted, list};
use dcode::vcs::open::{discover, open};
use dcode::vcs::refs;
use dcode::vcs::renames;
use dcode::vcs::report::{Form, Visible, report};
use dcode::vcs::store::Store;
use dcode::vcs::worktree::{Differences, States, differences};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::repository::Repository;

/// Stops when it was looked at so many times.
struct After {
    most: usize,
    looks: AtomicUsize,
}

impl Stop for After {
    fn stopped(&self) -> bool {
        self.looks.fetch_add(1, Ordering::Relaxed) >= self.most
    }
}

type Work<'a> = &'a dyn Fn(&Store, &dyn Stop) -> Result<(), VcsError>;

/// Stops `work` at its first look, in the middle, and at its last; it must look often.
fn stopped(repo: &Repository, name: &str, work: Work<'_>) {
    // Each time anew: what is known already is not asked for again.
    let run = |most: usize| {
        let store = open(&discover(&repo.root).unwrap()).unwrap();
        let stop = After {
            most,
            looks: AtomicUsize::new(0),
        };
        (work(&store, &stop), stop.looks.into_inner())
    };
    let (whole, looks) = run(usize::MAX);
    whole.unwrap();
    assert!(looks >= 20, "{name} looks {looks} times");
    for most in [0, looks / 2, looks - 1] {
        let (result, seen) = run(most);
        assert!(
            matches!(result, Err(VcsError::Cancelled)),
            "{name}, after {most} of {looks}"
        );
        assert_eq!(seen, most + 1, "{name} goes on");
    }
}

fn history() -> Repository {
    let repo = Repository::new();
    for at in 0..30 {
        let lines: Vec<String> = (0..40).map(|line| format!("{}", line.max(at))).collect();
        repo.write("long", lines.join("\n") + "\n");
        repo.write(&format!("d{at}/f"), format!("{at}\n").repeat(at + 1));
        repo.commit(&format!("c{at}"));
    }
    repo
}

#[test]
fn log_blame_and_diffs_end_where_they_are_stopped() {
    let repo = history();
    let head = |store: &Store| refs::commit(store, "HEAD").unwrap();
    for (name, path, follow) in [
        ("log", "", false),
        ("log of a path", "long", false),
        ("followed", "long", true),
    ] {
        stopped(&repo, name, &|store, stop| {
            let wanted = Wanted {
                range: None,
                path: path.as_bytes(),
                follow,
                since: None,
                limit: usize::MAX,
            };
            list(store, &wanted, stop).map(drop)
        });
    }
    stopped(&repo, "log of a range", &|store, stop| {
        let wanted = Wanted {
            range: Some("HEAD~28..HEAD"),
            path: b"",
            follow: false,
            since: None,
            limit: usize::MAX,
        };
        list(store, &wanted, stop).map(drop)
    });
    stopped(&repo, "blame", &|store, stop| {
        blame(store, From::Commit(head(store)), b"long", 0..usize::MAX, stop).map(drop)
    });
    let trees = |store: &Store| {
        let tree = |name| refs::tree(store, name).unwrap();
        (Some(tree("HEAD~29")), Some(tree("HEAD")))
    };
    stopped(&repo, "diff of trees", &|store, stop| {
        let (old, new) = trees(store);
        between_trees(store, old, new, b"", stop).map(drop)
    });
    stopped(&repo, "report", &|store, stop| {
        let (old, new) = trees(store);
        let found = Differences {
            changes: between_trees(store, old, new, b"", &CancellationToken::new())?,
            ..Differences::default()
        };
        report(store, &found, Form::Patch(3), &|_| Visible::Content, stop).map(drop)
    });
    for at in 0..30 {
        repo.write(&format!("d{at}/f"), "other\n");
        repo.git(&["mv", &format!("d{at}/f"), &format!("d{at}/g")]);
    }
    stopped(&repo, "diff of the working tree", &|store, stop| {
        let tree = Some(refs::tree(store, "HEAD")?);
        differences(store, States::TreeWork(tree), b"", &HashMap::new(), stop).map(drop)
    });
    repo.git(&["add", "-A"]);
    stopped(&repo, "renames", &|store, stop| {
        let tree = Some(refs::tree(store, "HEAD")?);
        let never = CancellationToken::new();
        let found = differences(store, States::TreeIndex(tree), b"", &HashMap::new(), &never)?;
        renames::join(store, found.changes, None, stop).map(drop)
    });
}

#[tokio::test]
async fn a_stopped_call_is_cancelled_and_the_next_one_answers() {
    let repo = history();
    for program in [false, true] {
        let tools = super::repository::Tools::new(program);
        for (tool, args) in [
            ("git_log", json!({})),
            ("git_diff", json!({"ref_a": "HEAD~5"})),
            ("git_show", json!({"ref": "HEAD"})),
            ("git_blame", json!({"path": "long"})),
        ] {
            let stop = CancellationToken::new();
            stop.cancel();
            let called = tools.call_until(tool, args.clone(), &repo.root, stop).await;
            assert!(matches!(called, Err(ToolError::Cancelled)), "{tool}: {called:?}");
            assert!(tools.call(tool, args, &repo.root).await.is_ok(), "{tool}");
        }
    }
}
