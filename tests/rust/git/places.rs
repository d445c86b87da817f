//! What stands in the place of a file: a link on the way to it, a folder, nothing, something of another kind.

use std::os::unix::fs::{PermissionsExt, symlink};

use serde_json::json;

use super::repository::Repository;

/// What `git_diff` says, which must be what git says.
async fn as_git(repo: &Repository) -> String {
    let ours = repo.text("git_diff", json!({})).await;
    let gits = repo.git(&["diff", "HEAD"]);
    assert_eq!(
        ours,
        if gits.is_empty() {
            "(no diff)\n".to_owned()
        } else {
            gits
        }
    );
    ours
}

#[tokio::test]
async fn a_file_beyond_a_link_is_another_file() {
    let repo = Repository::new();
    repo.write("d/e/f", "f\n");
    repo.write("d/g", "g\n");
    repo.write("z", "z\n");
    repo.commit("a");
    assert_eq!(as_git(&repo).await, "(no diff)\n");
    // The very same files, and yet others.
    std::fs::rename(repo.root.join("d"), repo.root.join("moved")).unwrap();
    symlink("moved", repo.root.join("d")).unwrap();
    let diff = as_git(&repo).await;
    assert!(
        diff.contains("deleted file mode 100644") && diff.contains("d/e/f"),
        "{diff}"
    );
    // What lies outside of the repository is not shown.
    let outside = repo.root.with_extension("outside");
    std::fs::create_dir_all(outside.join("e")).unwrap();
    std::fs::write(outside.join("e/f"), "secret\n").unwrap();
    std::fs::remove_file(repo.root.join("d")).unwrap();
    symlink(&outside, repo.root.join("d")).unwrap();
    let diff = as_git(&repo).await;
    std::fs::remove_dir_all(&outside).unwrap();
    assert!(!diff.contains("secret"), "{diff}");
}

#[tokio::test]
async fn a_file_that_became_a_folder_and_a_folder_that_became_a_file() {
    let repo = Repository::new();
    repo.write("a/b", "b\n");
    repo.write("c", "c\n");
    repo.commit("a");
    std::fs::remove_dir_all(repo.root.join("a")).unwrap();
    std::fs::remove_file(repo.root.join("c")).unwrap();
    repo.write("a", "file\n");
    repo.write("c/d", "d\n");
    as_git(&repo).await;
}

#[tokio::test]
async fn a_file_outside_of_a_sparse_checkout_counts_where_it_is() {
    let repo = Repository::new();
    for name in ["d/f", "d/g"] {
        repo.write(name, "old\n");
    }
    repo.commit("a");
    repo.git(&["update-index", "--skip-worktree", "d/f", "d/g"]);
    repo.write("d/f", "new\n");
    std::fs::remove_file(repo.root.join("d/g")).unwrap();
    assert_eq!(as_git(&repo).await, "(no diff)\n");
    repo.git(&["config", "core.sparseCheckout", "true"]);
    assert!(as_git(&repo).await.contains("+new"));
}

#[tokio::test]
async fn a_conflict_keeps_the_mode_and_may_be_over_a_folder() {
    let repo = Repository::new();
    repo.write("run", "#!/bin/sh\n");
    let run = repo.root.join("run");
    let executable = || std::fs::set_permissions(&run, std::fs::Permissions::from_mode(0o755)).unwrap();
    executable();
    repo.write("kind", "k\n");
    repo.commit("a");
    repo.git(&["checkout", "-qb", "other"]);
    repo.write("run", "b\n");
    repo.write("kind", "b\n");
    repo.commit("b");
    repo.git(&["checkout", "-q", "main"]);
    repo.write("run", "c\n");
    repo.write("kind", "c\n");
    executable();
    repo.commit("c");
    repo.conflict_with("other");
    let diff = repo.text("git_diff", json!({})).await;
    assert!(!diff.contains("mode 100644"), "{diff}");
    std::fs::remove_file(repo.root.join("kind")).unwrap();
    repo.write("kind/inside", "x\n");
    let diff = repo.text("git_diff", json!({})).await;
    assert!(
        diff.contains("* Unmerged path kind\n") && diff.contains("diff --git a/run b/run"),
        "{diff}"
    );
}
