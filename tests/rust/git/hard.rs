//! Repositories as people have them: other formats, worktrees, submodules, clones with holes, conflicts.

use std::path::Path;

use serde_json::json;

use super::repository::{Repository, command, git};

#[tokio::test]
async fn formats_that_libgit2_cannot_read_are_named() {
    for (options, word) in [
        (&["--object-format=sha256"][..], "sha256"),
        (&["--ref-format=reftable"][..], "refstorage"),
    ] {
        let outer = tempfile::tempdir().unwrap();
        let root = outer.path().canonicalize().unwrap();
        let made = command(&root)
            .args(["init", "-q"])
            .args(options)
            .arg("r")
            .output()
            .unwrap();
        if !made.status.success() {
            println!("skipped: this git does not know {options:?}");
            continue;
        }
        let tools = super::repository::Tools::default();
        let error = tools
            .call("git_log", json!({"path": "r"}), &root)
            .await
            .unwrap_err()
            .to_string();
        assert!(
            error.to_lowercase().contains(word) && error.contains("bash"),
            "{error}"
        );
        assert!(!error.contains("not in a git repository"), "{error}");
    }
}

#[tokio::test]
async fn a_partial_clone_is_read_as_far_as_it_goes() {
    let repo = Repository::new();
    repo.write("f", "one\n");
    repo.commit("a");
    repo.write("f", "two\n");
    repo.commit("b");
    repo.git(&["config", "uploadpack.allowFilter", "true"]);
    let clones = tempfile::tempdir().unwrap();
    let root = clones.path().canonicalize().unwrap();
    let url = format!("file://{}", repo.root.display());
    git(
        &root,
        &[
            "clone",
            "-q",
            "--filter=blob:none",
            "--no-checkout",
            &url,
            "partial",
        ],
    );
    let partial = root.join("partial");
    let log = repo
        .tools
        .call("git_log", json!({}), &partial)
        .await
        .unwrap()
        .text;
    assert_eq!(log.lines().count(), 2, "{log}");
    let names = json!({"ref_a": "HEAD~1", "ref_b": "HEAD", "name_only": true});
    assert_eq!(
        repo.tools.call("git_diff", names, &partial).await.unwrap().text,
        "M f\n"
    );
    let error = repo
        .tools
        .call("git_show", json!({"ref": "HEAD"}), &partial)
        .await
        .unwrap_err();
    assert!(error.to_string().contains("partial clone"), "{error}");
}

#[tokio::test]
async fn a_shallow_clone_says_where_it_ends() {
    let repo = Repository::new();
    for at in 0..5 {
        repo.write("f", format!("{at}\nsame\n"));
        repo.commit(&format!("c{at}"));
    }
    let clones = tempfile::tempdir().unwrap();
    let root = clones.path().canonicalize().unwrap();
    let url = format!("file://{}", repo.root.display());
    git(&root, &["clone", "-q", "--depth", "2", &url, "shallow"]);
    let shallow = root.join("shallow");
    let call = |tool: &'static str, args| repo.tools.call(tool, args, &shallow);
    let log = call("git_log", json!({})).await.unwrap().text;
    assert!(log.lines().count() == 3 && log.contains("shallow clone"), "{log}");
    let blame = call("git_blame", json!({"path": "f"})).await.unwrap().text;
    assert_eq!(blame.lines().count(), 2);
    let error = call("git_show", json!({"ref": "HEAD~3"}))
        .await
        .unwrap_err()
        .to_string();
    assert!(error.contains("shallow clone"), "{error}");
    let show = call("git_show", json!({"ref": "HEAD~1"})).await.unwrap().text;
    assert!(
        show.contains("shallow clone") && !show.contains("new file"),
        "{show}"
    );
}

#[tokio::test]
async fn unborn_and_detached_heads_and_bare_repositories() {
    let repo = Repository::new();
    for (tool, args) in [("git_log", json!({})), ("git_show", json!({"ref": "HEAD"}))] {
        let error = repo.error(tool, args).await;
        assert_eq!(error, "The repository has no commits yet.");
    }
    repo.write("f", "x\n");
    repo.git(&["add", "f"]);
    let diff = repo.text("git_diff", json!({})).await;
    assert!(
        diff.contains("new file mode 100644") && diff.contains("+x\n"),
        "{diff}"
    );
    let id = repo.commit("a");
    repo.git(&["checkout", "-q", "--detach"]);
    assert!(repo.text("git_log", json!({})).await.starts_with(&id[..7]));
    let bare = Repository::with(&["--bare"]);
    git(
        &repo.root,
        &["push", "-q", bare.root.to_str().unwrap(), "HEAD:refs/heads/main"],
    );
    assert!(
        bare.text("git_log", json!({"ref": "main"}))
            .await
            .starts_with(&id[..7])
    );
    assert_eq!(bare.text("git_show", json!({"ref": "main:f"})).await, "x\n");
    let error = bare.error("git_diff", json!({})).await;
    assert!(error.contains("bare repository"), "{error}");
    let outside = tempfile::tempdir().unwrap();
    let error = repo
        .tools
        .call("git_log", json!({}), outside.path())
        .await
        .unwrap_err();
    assert!(
        error.to_string().contains("is not in a git repository"),
        "{error}"
    );
}

#[tokio::test]
async fn worktrees_submodules_and_repositories_inside() {
    let repo = Repository::new();
    repo.write("f", "x\n");
    let first = repo.commit("a");
    let other = tempfile::tempdir().unwrap();
    let tree = other.path().canonicalize().unwrap().join("tree");
    repo.git(&["worktree", "add", "-q", "-b", "side", tree.to_str().unwrap()]);
    std::fs::write(tree.join("f"), "y\n").unwrap();
    let diff = repo.tools.call("git_diff", json!({}), &tree).await.unwrap().text;
    assert_eq!(diff, git(&tree, &["diff", "HEAD"]));
    assert_eq!(repo.text("git_diff", json!({})).await, "(no diff)\n");

    let lib = Repository::new();
    lib.write("inner", "1\n");
    let inner = lib.commit("inner");
    repo.git(&["submodule", "add", "-q", lib.root.to_str().unwrap(), "lib"]);
    let added = repo.commit("lib");
    // The folder is an entry of the repository around it, what lies in it belongs to the submodule.
    assert!(
        repo.text("git_log", json!({"path": "lib"}))
            .await
            .starts_with(&added[..7])
    );
    assert!(
        repo.text("git_log", json!({"path": "lib/inner"}))
            .await
            .starts_with(&inner[..7])
    );
    repo.write("lib/inner", "2\n");
    assert_eq!(
        repo.text("git_diff", json!({})).await,
        repo.git(&["diff", "HEAD"])
    );
    git(&repo.root.join("lib"), &["commit", "-qam", "more"]);
    assert_eq!(
        repo.text("git_diff", json!({})).await,
        repo.git(&["diff", "HEAD"])
    );

    git(&repo.root, &["init", "-q", "nested"]);
    repo.write("nested/n", "n\n");
    git(&repo.root.join("nested"), &["add", "n"]);
    git(&repo.root.join("nested"), &["commit", "-qm", "nested one"]);
    let nested = repo.text("git_log", json!({"path": "nested"})).await;
    assert!(
        nested.contains("nested one") && !nested.contains(&first[..7]),
        "{nested}"
    );
}

#[tokio::test]
async fn replaced_commits_and_names_of_the_mailmap() {
    let repo = Repository::new();
    repo.write("f", "x\n");
    repo.commit("wrong words");
    repo.write(
        ".mailmap",
        "Real Ann <real@example.invalid> <ann@example.invalid>\n",
    );
    repo.commit("b");
    let edited = command(&repo.root)
        .env("GIT_EDITOR", "sed -i s/wrong/right/")
        .args(["replace", "--edit", "HEAD~1"])
        .output()
        .unwrap();
    assert!(edited.status.success());
    let log = repo.text("git_log", json!({})).await;
    assert!(log.contains("Real Ann: right words"), "{log}");
    let blame = repo.text("git_blame", json!({"path": "f"})).await;
    assert!(blame.contains("  Real Ann  "), "{blame}");
}

#[tokio::test]
async fn conflicts_kinds_and_modes() {
    let repo = Repository::new();
    repo.write("f", "a\n");
    repo.write("run", "#!/bin/sh\n");
    repo.write("kind", "text\n");
    repo.write("bin", b"a\0b");
    repo.commit("a");
    repo.git(&["checkout", "-qb", "other"]);
    repo.write("f", "b\n");
    repo.commit("b");
    repo.git(&["checkout", "-q", "main"]);
    repo.write("f", "c\n");
    repo.commit("c");
    repo.conflict_with("other");
    let diff = repo.text("git_diff", json!({})).await;
    assert!(
        diff.starts_with("* Unmerged path f\n") && diff.contains("+<<<<<<< HEAD\n"),
        "{diff}"
    );
    let blame = repo.text("git_blame", json!({"path": "f"})).await;
    assert_eq!(blame.matches("Not Committed Yet").count(), 3, "{blame}");
    repo.git(&["checkout", "-q", "-f", "main"]);
    std::fs::remove_file(repo.root.join("kind")).unwrap();
    std::os::unix::fs::symlink("f", repo.root.join("kind")).unwrap();
    repo.git(&["update-index", "--chmod=+x", "run"]);
    std::process::Command::new("chmod")
        .arg("+x")
        .arg(repo.root.join("run"))
        .status()
        .unwrap();
    repo.write("bin", b"a\0c");
    assert_eq!(
        repo.text("git_diff", json!({})).await,
        repo.git(&["diff", "HEAD"])
    );
}

#[tokio::test]
async fn names_and_contents_that_are_no_text() {
    use std::os::unix::ffi::OsStrExt;
    let repo = Repository::new();
    let odd = std::ffi::OsStr::from_bytes(b"odd\xff\tname");
    std::fs::write(repo.root.join(odd), "x\n").unwrap();
    repo.write("latin", b"gr\xfc\xdfe\n");
    repo.write("none", "");
    repo.commit("a");
    let show = repo.text("git_show", json!({"ref": "HEAD"})).await;
    assert!(
        show.contains("+++ \"b/odd\\377\\tname\"") && show.contains("+gr\u{fffd}\u{fffd}e\n"),
        "{show}"
    );
    assert!(
        show.contains("diff --git a/none b/none\nnew file mode 100644\nindex 0000000..e69de29\n"),
        "{show}"
    );
    let blame = repo.text("git_blame", json!({"path": "latin"})).await;
    assert!(blame.ends_with("gr\u{fffd}\u{fffd}e\n"), "{blame}");
}

#[tokio::test]
async fn a_huge_diff_is_bounded_and_says_what_is_left_out() {
    let repo = Repository::new();
    let line = "x".repeat(99) + "\n";
    for at in 0..30 {
        repo.write(&format!("f{at:02}"), format!("{at}\n{}", line.repeat(1_000)));
    }
    repo.commit("a");
    let show = repo.text("git_show", json!({"ref": "HEAD"})).await;
    assert!(show.len() < 1_300_000, "{}", show.len());
    assert!(
        show.contains("more files differ and are not shown: f1") && show.contains("Narrow with path"),
        "left out"
    );
    let stat = repo.text("git_show", json!({"ref": "HEAD", "stat": true})).await;
    assert!(stat.contains("30 files changed, 30030 insertions(+)"), "{stat}");
}

#[tokio::test]
async fn the_environment_does_not_choose_the_repository() {
    let repo = Repository::new();
    repo.write("f", "x\n");
    let id = repo.commit("mine");
    let binary = std::env::current_exe().unwrap();
    let output = std::process::Command::new(binary)
        .args([
            "git::hard::in_a_foreign_environment",
            "--exact",
            "--nocapture",
            "--include-ignored",
        ])
        .env("GIT_DIR", "/nowhere/.git")
        .env("GIT_WORK_TREE", "/nowhere")
        .env("DCODE_TEST_REPOSITORY", &repo.root)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains(&id[..7]), "{text}");
}

#[tokio::test]
#[ignore = "run by the test above, with variables of its own"]
async fn in_a_foreign_environment() {
    let Some(root) = std::env::var_os("DCODE_TEST_REPOSITORY") else {
        return;
    };
    let tools = super::repository::Tools::default();
    let log = tools.call("git_log", json!({}), Path::new(&root)).await.unwrap();
    println!("{}", log.text);
}

#[tokio::test]
async fn files_outside_of_a_sparse_checkout_are_not_deleted() {
    let repo = Repository::new();
    repo.write("d1/x", "1\n");
    repo.write("d2/y", "2\n");
    repo.commit("a");
    repo.git(&["sparse-checkout", "set", "--cone", "--no-sparse-index", "d1"]);
    assert!(!repo.root.join("d2").exists());
    assert_eq!(repo.text("git_diff", json!({})).await, "(no diff)\n");
    repo.write("d1/x", "one\n");
    assert_eq!(
        repo.text("git_diff", json!({})).await,
        repo.git(&["diff", "HEAD"])
    );
    assert_eq!(repo.text("git_show", json!({"ref": "HEAD:d2/y"})).await, "2\n");
}

#[tokio::test]
async fn indexes_that_libgit2_cannot_read_are_explained() {
    let repo = Repository::new();
    repo.write("d1/x", "1\n");
    repo.write("d2/y", "2\n");
    repo.commit("a");
    repo.git(&["sparse-checkout", "init", "--cone", "--sparse-index"]);
    repo.git(&["sparse-checkout", "set", "d1"]);
    let called = repo.tools.call("git_diff", json!({}), &repo.root).await;
    match called {
        Ok(output) => assert_eq!(output.text, "(no diff)\n"),
        Err(error) => assert!(error.to_string().contains("sparse-checkout"), "{error}"),
    }
    assert_eq!(repo.text("git_log", json!({})).await.lines().count(), 1);
}
