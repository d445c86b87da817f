//! Where libgit2 cannot read a repository and the person allows it, the git program answers: in the same form, under
//! the same rules.

use serde_json::{Value, json};

use super::repository::{Repository, Tools, command, git};

/// A history with a merge, a rename, a tag, what may not be shown, and changes that are not committed.
fn repository() -> Repository {
    let repo = Repository::new();
    repo.write("a.txt", "one\ntwo\nthree\n");
    repo.write("dir/b.txt", "b\n".repeat(20));
    repo.write("bin", b"a\0b");
    repo.write(".env", "KEY=old\n");
    repo.write("denied", "secret one\n");
    repo.commit("first\n\nbody");
    repo.git(&["checkout", "-qb", "side"]);
    repo.write("side", "s\n");
    repo.commit("on the side");
    repo.git(&["checkout", "-q", "main"]);
    repo.write("a.txt", "one\n2\nthree\n");
    repo.git(&["mv", "dir/b.txt", "dir/c d.txt"]);
    repo.write(".env", "KEY=new\n");
    repo.write("denied", "secret two\n");
    repo.write(".mailmap", "Real Ann <ann@example.invalid>\n");
    repo.commit("second");
    repo.git(&["tag", "-a", "v1", "-m", "words"]);
    repo.git(&["merge", "-q", "--no-ff", "-m", "joined", "side"]);
    repo.write("a.txt", "zero\none\n2\nthree\n");
    repo.write("new", "n\n");
    repo.git(&["add", "new"]);
    repo.write("dir/c d.txt", "b\n".repeat(19));
    repo.write("bin", b"a\0c");
    repo.write(".env", "KEY=typed\n");
    repo.write("denied", "secret three\n");
    repo
}

fn questions() -> Vec<(&'static str, Value)> {
    vec![
        ("git_log", json!({})),
        ("git_log", json!({"n": 2})),
        ("git_log", json!({"path": "dir"})),
        ("git_log", json!({"path": "dir/c d.txt", "follow": true, "n": 1})),
        ("git_log", json!({"ref": "v1..HEAD"})),
        ("git_log", json!({"since": "2024-01-01"})),
        ("git_diff", json!({})),
        ("git_diff", json!({"staged": true})),
        ("git_diff", json!({"staged": false, "context": 0})),
        ("git_diff", json!({"name_only": true})),
        ("git_diff", json!({"ref_a": "v1~1", "ref_b": "v1"})),
        (
            "git_diff",
            json!({"ref_a": "v1~1", "ref_b": "v1", "name_only": true}),
        ),
        ("git_diff", json!({"ref_a": "v1...side"})),
        ("git_diff", json!({"ref_a": "v1~1", "path": "dir"})),
        ("git_diff", json!({"path": "side"})),
        ("git_show", json!({"ref": "HEAD"})),
        ("git_show", json!({"ref": "v1"})),
        ("git_show", json!({"ref": "v1~1", "stat": false})),
        ("git_show", json!({"ref": "HEAD:a.txt"})),
        ("git_show", json!({"ref": ":a.txt"})),
        ("git_show", json!({"ref": "HEAD:dir"})),
        ("git_show", json!({"ref": "HEAD", "path": "."})),
        ("git_show", json!({"ref": "HEAD:.env"})),
        ("git_show", json!({"ref": "HEAD~1:side"})),
        ("git_show", json!({"ref": "HEAD^{tree}"})),
        ("git_show", json!({"ref": "v1..HEAD"})),
        ("git_show", json!({"ref": "--output=x"})),
        ("git_blame", json!({"path": "a.txt"})),
        ("git_blame", json!({"path": "a.txt", "range": "2,3"})),
        ("git_blame", json!({"path": "dir/c d.txt", "ref": "HEAD"})),
    ]
}

/// What each question gets: the text, or the error.
async fn ask(tools: &Tools, repo: &Repository) -> Vec<String> {
    let mut said = Vec::new();
    for (tool, args) in questions() {
        let called = tools.call(tool, args, &repo.root).await;
        said.push(called.map_or_else(|error| format!("error: {error}"), |output| output.text));
    }
    said
}

#[tokio::test]
async fn the_program_answers_as_libgit2_does() {
    let repo = repository();
    let ours = ask(&repo.tools, &repo).await;
    // Repositories with reflogs are not moved.
    let _ = std::fs::remove_dir_all(repo.root.join(".git/logs"));
    let moved = command(&repo.root)
        .args(["refs", "migrate", "--ref-format=reftable"])
        .output()
        .unwrap();
    if !moved.status.success() {
        println!("skipped: this git cannot make a repository one that libgit2 cannot read");
        return;
    }
    let refused = ask(&repo.tools, &repo).await;
    assert!(
        refused[0].contains("refstorage") && refused[0].contains("git_program"),
        "{}",
        refused[0]
    );
    let theirs = ask(&Tools::new(true), &repo).await;
    let mut differ = Vec::new();
    for ((question, ours), theirs) in questions().iter().zip(&ours).zip(&theirs) {
        assert!(
            !theirs.contains("KEY") && !theirs.contains("secret"),
            "{question:?}: {theirs}"
        );
        // git ends a name that holds a blank with a tab.
        let theirs = &theirs.replace("d.txt\t\n", "d.txt\n");
        // Only libgit2's answer knows names that are near by, and the name before a rename.
        let ours = ours.split(" Near by").next().unwrap();
        let ours = ours.replace("(renamed: at first it was dir/b.txt)\n", "");
        if *theirs != ours {
            differ.push(format!("{question:?}\nlibgit2: {ours}\nprogram: {theirs}\n"));
        }
    }
    assert!(differ.is_empty(), "{}", differ.join("\n"));
    assert!(!repo.root.join("x").exists());
}

#[tokio::test]
async fn sha256_unborn_heads_and_buffers() {
    let made = std::panic::catch_unwind(|| Repository::with(&["-b", "main", "--object-format=sha256"]));
    let Ok(repo) = made else {
        println!("skipped: this git does not know SHA-256");
        return;
    };
    let tools = Tools::new(true);
    let call = |tool: &'static str, args| tools.call(tool, args, &repo.root);
    repo.write("f", "x\n");
    repo.git(&["add", "f"]);
    let diff = call("git_diff", json!({})).await.unwrap().text;
    assert!(
        diff.contains("new file mode 100644") && diff.contains("+x\n"),
        "{diff}"
    );
    let error = call("git_log", json!({})).await.unwrap_err().to_string();
    assert!(error.starts_with("git says: "), "{error}");
    let id = repo.commit("a");
    assert_eq!(id.len(), 64);
    let log = call("git_log", json!({})).await.unwrap().text;
    assert_eq!(log, format!("{} 2023-11-14 Ann: a\n", &id[..7]));
    tools.type_into(repo.root.join("f"), "x\ntyped\n");
    let blame = call("git_blame", json!({"path": "f"})).await.unwrap().text;
    let lines: Vec<&str> = blame.lines().collect();
    assert!(
        lines[0].starts_with(&format!("f:1  {}  Ann  ", &id[..8])),
        "{blame}"
    );
    assert!(
        lines[1].starts_with("f:2  00000000  Not Committed Yet  ") && lines[1].ends_with("  typed"),
        "{blame}"
    );
    let diff = call("git_diff", json!({})).await.unwrap().text;
    assert!(diff.contains("not unsaved buffers"), "{diff}");
}

#[tokio::test]
async fn a_split_index_is_explained_or_left_to_the_program() {
    let repo = Repository::new();
    repo.write("f", "x\n");
    repo.commit("a");
    repo.git(&["update-index", "--split-index"]);
    repo.write("f", "y\n");
    let error = repo.error("git_diff", json!({})).await;
    assert!(
        error.contains("--no-split-index") && error.contains("git_program"),
        "{error}"
    );
    // What needs no index goes on.
    assert_eq!(repo.text("git_log", json!({})).await.lines().count(), 1);
    assert_eq!(repo.text("git_show", json!({"ref": "HEAD:f"})).await, "x\n");
    let diff = Tools::new(true).call("git_diff", json!({}), &repo.root).await;
    assert_eq!(diff.unwrap().text, repo.git(&["diff", "HEAD"]));
}

#[tokio::test]
async fn no_program_of_the_repository_is_run() {
    let repo = Repository::new();
    repo.write(".gitattributes", "*.x diff=conv\n");
    repo.write("f.x", "old\n");
    repo.commit("a");
    repo.write("f.x", "new\n");
    let mark = repo.root.join("ran");
    let script = format!("touch '{}'; cat", mark.display());
    for key in [
        "diff.conv.textconv",
        "diff.conv.command",
        "diff.external",
        "core.fsmonitor",
        "core.pager",
        "pager.diff",
        "gpg.program",
    ] {
        repo.git(&["config", key, &script]);
    }
    repo.git(&["config", "log.showSignature", "true"]);
    let hook = repo.root.join(".git/hooks/post-index-change");
    std::fs::create_dir_all(hook.parent().unwrap()).unwrap();
    std::fs::write(&hook, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let raw = git(
        &repo.root,
        &[
            "-c",
            "core.fsmonitor=false",
            "diff",
            "--no-ext-diff",
            "--no-textconv",
            "HEAD",
        ],
    );
    let _ = std::fs::remove_file(&mark);
    assert!(raw.contains("+new\n"), "{raw}");
    let both = [Tools::default(), Tools::new(true)];
    for (tools, split) in both.iter().zip([false, true]) {
        if split {
            git(
                &repo.root,
                &[
                    "-c",
                    "core.fsmonitor=false",
                    "-c",
                    "core.hooksPath=/dev/null",
                    "update-index",
                    "--split-index",
                ],
            );
            let _ = std::fs::remove_file(&mark);
        }
        let diff = tools.call("git_diff", json!({}), &repo.root).await.unwrap();
        assert_eq!(diff.text, raw);
        tools
            .call("git_show", json!({"ref": "HEAD"}), &repo.root)
            .await
            .unwrap();
        tools.call("git_log", json!({}), &repo.root).await.unwrap();
        assert!(!mark.exists(), "a program ran");
    }
}

#[tokio::test]
async fn no_file_that_a_setting_names_is_told() {
    let repo = Repository::new();
    repo.write("f", "a\n");
    repo.commit("a");
    let secret = repo.root.with_extension("key");
    std::fs::write(&secret, "not a revision\n").unwrap();
    repo.git(&["config", "blame.ignoreRevsFile", secret.to_str().unwrap()]);
    repo.git(&["update-index", "--split-index"]);
    let blame = Tools::new(true)
        .call("git_blame", json!({"path": "f"}), &repo.root)
        .await
        .unwrap();
    std::fs::remove_file(&secret).unwrap();
    assert!(blame.text.ends_with("  a\n"), "{}", blame.text);
}
