//! What the tools say, and in which form.

use serde_json::json;

use super::repository::{Repository, git};

fn two_commits() -> (Repository, String, String) {
    let repo = Repository::new();
    repo.write("a.txt", "one\ntwo\nthree\n");
    let first = repo.commit("first\n\nbody");
    repo.write("a.txt", "one\n2\nthree\n");
    repo.write("b/c.txt", "c\n");
    let second = repo.commit("second");
    (repo, first, second)
}

#[tokio::test]
async fn log_has_a_line_for_each_commit() {
    let (repo, first, second) = two_commits();
    let (one, two) = (&first[..7], &second[..7]);
    assert_eq!(
        repo.text("git_log", json!({})).await,
        format!("{two} 2023-11-14 Ann: second\n{one} 2023-11-14 Ann: first\n")
    );
    let more = repo.text("git_log", json!({"n": 1})).await;
    assert!(
        more.starts_with(&format!("{two} ")) && more.contains("(there are more: raise n"),
        "{more}"
    );
    assert_eq!(
        repo.text("git_log", json!({"path": "b"})).await,
        format!("{two} 2023-11-14 Ann: second\n")
    );
    assert_eq!(
        repo.text("git_log", json!({"ref": "HEAD~1..HEAD"}))
            .await
            .lines()
            .count(),
        1
    );
    assert_eq!(
        repo.text("git_log", json!({"since": "2024-01-01"})).await,
        "(no commits)\n"
    );
    let wrong = repo.error("git_log", json!({"path": "b/d.txt"})).await;
    assert!(
        wrong.contains("b/d.txt does not exist") && wrong.contains("b/c.txt"),
        "{wrong}"
    );
}

#[tokio::test]
async fn diff_is_the_working_tree_and_index_against_head() {
    let (repo, _, second) = two_commits();
    assert_eq!(repo.text("git_diff", json!({})).await, "(no diff)\n");
    repo.write("a.txt", "one\n2\nthree\nfour\n");
    repo.git(&["add", "a.txt"]);
    repo.write("b/c.txt", "see");
    assert_eq!(
        repo.text("git_diff", json!({})).await,
        repo.git(&["diff", "HEAD"])
    );
    assert_eq!(
        repo.text("git_diff", json!({"staged": true})).await,
        repo.git(&["diff", "--cached"])
    );
    assert_eq!(
        repo.text("git_diff", json!({"staged": false})).await,
        repo.git(&["diff"])
    );
    assert_eq!(
        repo.text("git_diff", json!({"ref_a": "HEAD~1"})).await,
        repo.git(&["diff", "HEAD~1"])
    );
    assert_eq!(
        repo.text(
            "git_diff",
            json!({"ref_a": "HEAD~1", "ref_b": "HEAD", "context": 0})
        )
        .await,
        repo.git(&["diff", "-U0", "HEAD~1", "HEAD"])
    );
    assert_eq!(
        repo.text("git_diff", json!({"ref_a": "HEAD~1..HEAD", "path": "b"}))
            .await,
        repo.git(&["diff", "HEAD~1..HEAD", "--", "b"])
    );
    assert_eq!(
        repo.text("git_diff", json!({"stat": true})).await,
        "a.txt | +1 -0\nb/c.txt | +1 -1\n2 files changed, 2 insertions(+), 1 deletion(-)\n"
    );
    assert_eq!(
        repo.text("git_diff", json!({"ref_a": second, "name_only": true}))
            .await,
        "M a.txt\nM b/c.txt\n"
    );
    let alone = repo.error("git_diff", json!({"ref_b": "HEAD"})).await;
    assert!(alone.contains("ref_b alone"), "{alone}");
}

#[tokio::test]
async fn show_is_a_commit_or_a_file_at_a_ref() {
    let (repo, first, second) = two_commits();
    assert_eq!(
        repo.text("git_show", json!({"ref": "HEAD"})).await,
        repo.git(&["show", "HEAD"])
    );
    assert_eq!(
        repo.text("git_show", json!({"ref": first})).await,
        repo.git(&["show", &first])
    );
    assert_eq!(
        repo.text("git_show", json!({"ref": "HEAD~1:a.txt"})).await,
        "one\ntwo\nthree\n"
    );
    assert_eq!(
        repo.text("git_show", json!({"ref": second, "path": "b/c.txt"}))
            .await,
        "c\n"
    );
    assert_eq!(
        repo.text("git_show", json!({"ref": "HEAD", "path": "."})).await,
        "a.txt\nb/\n"
    );
    let folder = repo.root.join("b");
    let inside = repo
        .tools
        .call("git_show", json!({"ref": "HEAD:./c.txt"}), &folder);
    assert_eq!(inside.await.unwrap().text, "c\n");
    repo.git(&["tag", "-a", "v1", "-m", "words", "HEAD~1"]);
    let tag = repo.text("git_show", json!({"ref": "v1"})).await;
    assert_eq!(tag, repo.git(&["show", "v1"]));
}

#[tokio::test]
async fn blame_has_a_line_for_each_line() {
    let (repo, first, second) = two_commits();
    let (one, two) = (&first[..8], &second[..8]);
    let name = "Ann                 ";
    assert_eq!(
        repo.text("git_blame", json!({"path": "a.txt"})).await,
        format!(
            "a.txt:1  {one}  {name}  2023-11-14  one\na.txt:2  {two}  {name}  2023-11-14  2\n\
             a.txt:3  {one}  {name}  2023-11-14  three\n"
        )
    );
    assert_eq!(
        repo.text(
            "git_blame",
            json!({"path": "a.txt", "range": "2,+1", "ref": "HEAD~1"})
        )
        .await,
        format!("a.txt:2  {one}  {name}  2023-11-14  two\n")
    );
    repo.git(&["mv", "a.txt", "moved.txt"]);
    let moved = repo.text("git_blame", json!({"path": "moved.txt"})).await;
    assert!(moved.contains(one) && moved.contains(two), "{moved}");
    let cwd = repo.root.join("b");
    for path in ["c.txt", "../b/c.txt", repo.root.join("b/c.txt").to_str().unwrap()] {
        let called = repo.tools.call("git_blame", json!({"path": path}), &cwd);
        assert!(called.await.unwrap().text.contains(two), "{path}");
    }
}

#[tokio::test]
async fn lines_that_are_not_committed_say_so_and_the_process_lives() {
    let (repo, first, _) = two_commits();
    repo.write("a.txt", "one\nX\n2\nthree\n");
    let blamed = repo.text("git_blame", json!({"path": "a.txt"})).await;
    let lines: Vec<&str> = blamed.lines().collect();
    assert!(
        lines[1].contains("00000000  Not Committed Yet     ") && lines[1].ends_with("  X"),
        "{blamed}"
    );
    assert!(
        lines[0].contains(&first[..8]) && lines[3].contains(&first[..8]),
        "{blamed}"
    );
    // The buffer is the truth, not the disk.
    repo.tools
        .type_into(repo.root.join("a.txt"), "one\ntyped\n2\nthree\n");
    let typed = repo.text("git_blame", json!({"path": "a.txt"})).await;
    assert!(typed.contains("  typed\n") && !typed.contains("  X\n"), "{typed}");
    let diff = repo.text("git_diff", json!({})).await;
    assert!(diff.contains("+typed\n") && !diff.contains("+X\n"), "{diff}");
}

#[tokio::test]
async fn buffers_are_compared_as_they_would_be_saved() {
    let repo = Repository::new();
    repo.write("dos.txt", "a\r\nb\r\n");
    repo.write("latin.txt", b"gr\xfc\xdfe\nzwei\n");
    repo.commit("first");
    repo.tools.type_into(repo.root.join("dos.txt"), "a\nb\n");
    repo.tools
        .type_into(repo.root.join("latin.txt"), "gr\u{fc}\u{df}e\nzwei\n");
    assert_eq!(repo.text("git_diff", json!({})).await, "(no diff)\n");
}

#[tokio::test]
async fn what_may_not_be_shown_is_not() {
    let repo = Repository::new();
    repo.write(".env", "KEY=old\n");
    repo.write("denied", "secret one\n");
    repo.write("a.txt", "a\n");
    repo.commit("first");
    repo.write(".env", "KEY=new\n");
    repo.write("denied", "secret two\n");
    repo.write("a.txt", "b\n");
    let diff = repo.text("git_diff", json!({})).await;
    assert!(
        diff.contains("+b\n") && diff.contains("may not be shown: .env") && diff.contains("(1 changed"),
        "{diff}"
    );
    assert!(!diff.contains("KEY") && !diff.contains("secret"), "{diff}");
    let id = repo.commit("second");
    let show = repo.text("git_show", json!({"ref": id})).await;
    assert!(
        !show.contains("KEY") && !show.contains("secret") && show.contains("+b\n"),
        "{show}"
    );
    let error = repo.error("git_show", json!({"ref": "HEAD:.env"})).await;
    assert!(error.contains("may not be shown"), "{error}");
    let blob = repo.git(&["rev-parse", "HEAD:.env"]);
    let error = repo.error("git_show", json!({"ref": blob.trim()})).await;
    assert!(error.contains("Give REF:PATH"), "{error}");
    let folder = repo.text("git_show", json!({"ref": "HEAD", "path": "."})).await;
    assert_eq!(folder, ".env\na.txt\n(1 withheld by a rule)\n");
    // A secret under a new name shows no old line.
    repo.git(&["mv", ".env", "plain"]);
    let moved = repo.text("git_diff", json!({"ref_a": "HEAD"})).await;
    assert!(!moved.contains("KEY"), "{moved}");
    // The name of a folder's content would hide the path from the rules.
    for args in [
        json!({"ref_a": "HEAD:", "ref_b": "HEAD~1:"}),
        json!({"ref_a": "HEAD^{tree}"}),
    ] {
        assert!(repo.error("git_diff", args).await.contains("Give"));
    }
}

#[tokio::test]
async fn wrong_refs_are_told_from_wrong_paths() {
    let repo = Repository::new();
    repo.commit("a");
    repo.write("f", "x\n");
    repo.commit("b");
    for (tool, args) in [
        ("git_show", json!({"ref": "HEAD~1:f"})),
        ("git_show", json!({"ref": "HEAD~1", "path": "f"})),
        ("git_blame", json!({"path": "f", "ref": "HEAD~1"})),
    ] {
        let error = repo.error(tool, args).await;
        assert!(error.starts_with("f does not exist in HEAD~1."), "{error}");
    }
    let error = repo.error("git_show", json!({"ref": "mian"})).await;
    assert_eq!(
        error,
        "There is no commit, branch or tag called `mian`. Did you mean main?"
    );
    let error = repo.error("git_show", json!({"ref": "HEAD~9"})).await;
    assert!(error.contains("HEAD is there"), "{error}");
    let error = repo.error("git_log", json!({"ref": "main@{u}"})).await;
    assert!(error.contains("no upstream"), "{error}");
    for tool in ["git_show", "git_log", "git_blame"] {
        let error = repo.error(tool, json!({"ref": "--output=x", "path": "f"})).await;
        assert!(error.contains("begins with `-`"), "{tool}: {error}");
    }
    let error = repo.error("git_diff", json!({"ref_a": "-p"})).await;
    assert!(error.contains("begins with `-`"), "{error}");
    assert!(!repo.root.join("x").exists());
}

#[tokio::test]
async fn names_are_plain_and_no_rename_is_made_up() {
    let repo = Repository::new();
    repo.write("отчёт.txt", "one\n");
    repo.write("a b.txt", "1\n");
    repo.commit("a");
    repo.write("отчёт.txt", "two\n");
    repo.write("a b.txt", "2\n");
    let diff = repo.text("git_diff", json!({})).await;
    assert!(
        diff.contains("+++ b/отчёт.txt\n") && diff.contains("diff --git a/a b.txt b/a b.txt\n"),
        "{diff}"
    );
    assert!(!diff.contains("rename"), "{diff}");
}

#[tokio::test]
async fn line_endings_that_git_converts_are_no_difference() {
    let repo = Repository::new();
    repo.git(&["config", "core.autocrlf", "true"]);
    repo.write("f", "a\r\nb\r\n");
    repo.commit("a");
    // Its time is new, so that the content must be compared.
    repo.write("f", "a\r\nb\r\n");
    assert_eq!(repo.text("git_diff", json!({})).await, "(no diff)\n");
    let blamed = repo.text("git_blame", json!({"path": "f"})).await;
    assert!(!blamed.contains("Not Committed"), "{blamed}");
    repo.write("f", "a\r\nB\r\n");
    assert_eq!(repo.text("git_diff", json!({})).await, git(&repo.root, &["diff"]));
}

#[tokio::test]
async fn attributes_say_what_is_binary_as_they_do_to_git() {
    let repo = Repository::new();
    let names = ["a.lock", "b.dat", "c.txt", "sub/d.dat", "sub/e.bin"];
    for name in names {
        repo.write(name, "one\n");
    }
    repo.write("f.raw", "one\0\n");
    let attributes = "*.lock -diff\n*.dat binary\n*.raw diff\n";
    repo.write(".gitattributes", attributes);
    repo.write("sub/.gitattributes", "*.dat diff\n*.bin !diff -text\n");
    repo.commit("all");
    let check = async |repo: &Repository| {
        let theirs = repo.git(&["diff", "--no-textconv", "HEAD"]);
        assert_eq!(repo.text("git_diff", json!({})).await, theirs);
        theirs
    };
    for name in names {
        repo.write(name, "two\n");
    }
    repo.write("f.raw", "two\0\n");
    let told = check(&repo).await;
    assert!(
        told.contains("Binary files a/a.lock and b/a.lock differ"),
        "{told}"
    );
    assert_eq!(told.matches("Binary files").count(), 2, "{told}");
    // Those of the repository alone, and of the index where the working tree has none.
    repo.write(".git/info/attributes", "c.txt -diff\n");
    assert_eq!(check(&repo).await.matches("Binary files").count(), 3);
    std::fs::remove_file(repo.root.join("sub/.gitattributes")).unwrap();
    check(&repo).await;
    std::fs::remove_file(repo.root.join(".gitattributes")).unwrap();
    std::fs::remove_file(repo.root.join(".git/info/attributes")).unwrap();
    check(&repo).await;
    let stat = repo.text("git_diff", json!({"stat": true})).await;
    assert!(stat.contains("a.lock | not text\n"), "{stat}");
}
