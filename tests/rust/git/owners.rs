//! A repository that belongs to another person is not read before this one says that it may be.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::repository::{Repository, Tools};

/// Somebody else.
const OTHER: u32 = 54_321;

/// A repository of another person; `None` where only root could make one.
fn foreign() -> Option<Repository> {
    if !rustix::process::geteuid().is_root() {
        println!("skipped: only root can give a repository to another person");
        return None;
    }
    let repo = Repository::new();
    repo.write("f", "x\n");
    repo.commit("theirs");
    let mut open: Vec<PathBuf> = vec![repo.root.clone()];
    while let Some(path) = open.pop() {
        std::os::unix::fs::lchown(&path, Some(OTHER), Some(OTHER)).unwrap();
        if path.is_dir() && !path.is_symlink() {
            let entries = std::fs::read_dir(&path).unwrap();
            open.extend(entries.map(|entry| entry.unwrap().path()));
        }
    }
    Some(repo)
}

#[tokio::test]
async fn a_repository_of_another_person_is_refused_with_what_to_type() {
    let Some(repo) = foreign() else { return };
    for program in [false, true] {
        let tools = Tools::new(program);
        for (tool, args) in [
            ("git_log", json!({})),
            ("git_diff", json!({})),
            ("git_show", json!({"ref": "HEAD"})),
            ("git_show", json!({"ref": "HEAD:f"})),
            ("git_blame", json!({"path": "f"})),
        ] {
            let error = tools.call(tool, args, &repo.root).await.unwrap_err().to_string();
            let root = repo.root.display();
            assert!(
                error.contains("belongs to another user")
                    && error.contains(&format!("git config --global --add safe.directory {root}")),
                "{tool}: {error}"
            );
        }
    }
}

#[test]
fn a_repository_that_the_person_calls_safe_is_read() {
    let Some(repo) = foreign() else { return };
    let home = tempfile::tempdir().unwrap();
    let config = format!("[safe]\n\tdirectory = {}\n", repo.root.display());
    std::fs::write(home.path().join(".gitconfig"), config).unwrap();
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args([
            "git::owners::read_in_that_home",
            "--exact",
            "--nocapture",
            "--include-ignored",
        ])
        .env("HOME", home.path())
        .env_remove("XDG_CONFIG_HOME")
        .env("DCODE_TEST_REPOSITORY", &repo.root)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("Ann: theirs"), "{text}");
}

#[tokio::test]
#[ignore = "run by the test above, in a home of its own"]
async fn read_in_that_home() {
    let Some(root) = std::env::var_os("DCODE_TEST_REPOSITORY") else {
        return;
    };
    let log = Tools::default()
        .call("git_log", json!({}), Path::new(&root))
        .await;
    println!("{}", log.unwrap().text);
}
