//! Whole files in and out by a program, and what `/retrieved/…` means to the tools.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use dcode::backend::{Backend, TransferError, Upload};
use dcode::offload::OffloadDir;
use dcode::protocol::tool::Outcome;
use serde_json::json;

use crate::project::Project;
use crate::tool_cases::Session;

/// The table that every backend must pass; `root` is an empty folder of it.
async fn keeps_the_table(backend: &dyn Backend, root: &Path) {
    let every_byte: Vec<u8> = (0..=255).collect();
    let upload = |path: PathBuf| Upload {
        path,
        bytes: every_byte.clone(),
    };
    let uploads = vec![
        upload(root.join("subdir/file3.bin")),
        upload(root.join("../bad/path.txt")),
        upload(PathBuf::from("relative.txt")),
        upload(root.join("subdir")),
        upload(root.join("subdir/file3.bin/below")),
        upload(PathBuf::from("/")),
        upload(root.join("last.bin")),
    ];
    let given: Vec<PathBuf> = uploads.iter().map(|file| file.path.clone()).collect();
    let done = backend.upload_files(uploads).await;
    let paths: Vec<PathBuf> = done.iter().map(|file| file.path.clone()).collect();
    assert_eq!(paths, given, "one answer a file, in order");
    let errors: Vec<Option<TransferError>> = done.into_iter().map(|file| file.error).collect();
    let (invalid, folder) = (Some(TransferError::Invalid), Some(TransferError::Directory));
    assert_eq!(
        errors,
        [
            None,
            invalid.clone(),
            invalid.clone(),
            folder,
            invalid.clone(),
            invalid,
            None
        ]
    );
    assert!(root.join("subdir").is_dir());

    let paths = vec![
        root.join("subdir/file3.bin"),
        root.join("nonexistent.txt"),
        root.join("subdir"),
        root.join("../etc/passwd"),
        root.join("last.bin"),
    ];
    let contents: Vec<Result<Vec<u8>, TransferError>> = backend
        .download_files(paths)
        .await
        .into_iter()
        .map(|file| file.content)
        .collect();
    assert_eq!(
        contents,
        [
            Ok(every_byte.clone()),
            Err(TransferError::NotFound),
            Err(TransferError::Directory),
            Err(TransferError::Invalid),
            Ok(every_byte.clone()),
        ]
    );
    let codes = [
        TransferError::NotFound,
        TransferError::Denied,
        TransferError::Directory,
        TransferError::Invalid,
    ];
    assert_eq!(
        codes.map(|code| code.to_string()),
        [
            "file_not_found",
            "permission_denied",
            "is_directory",
            "invalid_path"
        ]
    );
}

#[tokio::test]
async fn the_local_backend_keeps_the_table() {
    let project = Project::new();
    keeps_the_table(&project.backend, &project.root).await;
    assert!(
        project.heard.lock().unwrap().is_empty(),
        "a program's files are not reviewed"
    );
}

#[tokio::test]
async fn an_upload_keeps_the_mode_and_leaves_nothing_beside() {
    let project = Project::new();
    let path = project.file("run.sh", b"old");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&path, mode).unwrap();
    let files = vec![Upload {
        path: path.clone(),
        bytes: b"new".to_vec(),
    }];
    assert_eq!(project.backend.upload_files(files).await[0].error, None);
    let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&path).unwrap().permissions());
    assert_eq!((project.bytes("run.sh"), mode & 0o777), (b"new".to_vec(), 0o755));
    assert_eq!(project.names(), ["run.sh"]);
}

/// A program lays chunks down; the file tools of the same session find them.
#[tokio::test(flavor = "multi_thread")]
async fn retrieved_chunks_are_found_by_the_file_tools() {
    let session = Session::new(&json!({}));
    let backend = session
        .project
        .backend
        .clone()
        .with_offload(Arc::clone(&session.offload));
    let chunk = |name: &str, text: &str| Upload {
        path: Path::new("/retrieved/b1").join(name),
        bytes: text.as_bytes().to_vec(),
    };
    let done = backend
        .upload_files(vec![
            chunk("0.md", "# Retries\nretry with backoff\n"),
            chunk("1.md", "nothing\n"),
        ])
        .await;
    assert!(done.iter().all(|file| file.error.is_none()), "{done:?}");
    assert!(!Path::new("/retrieved").exists(), "never the real root");
    assert!(session.project.names().is_empty(), "nothing in the project");

    let real = session.offload.path().join("retrieved/b1");
    for (tool, args, says) in [
        (
            "grep",
            json!({"pattern": "backoff", "path": "/retrieved/b1"}),
            format!("{}/0.md:2:retry with backoff\n", real.display()),
        ),
        (
            "read_file",
            json!({"path": "/retrieved/b1/0.md"}),
            "     2\tretry".into(),
        ),
        (
            "ls",
            json!({"path": "/retrieved/b1/"}),
            "[f] 1.md  8 bytes".into(),
        ),
        ("glob", json!({"pattern": "/retrieved/**/*.md"}), "0.md".into()),
        (
            "glob",
            json!({"pattern": "*.md", "path": "/retrieved"}),
            "b1/1.md".into(),
        ),
    ] {
        let (finished, asked) = session.call(tool, &args).await;
        assert_eq!(
            (finished.outcome, asked),
            (Outcome::Ok, false),
            "{tool}: {}",
            finished.text
        );
        assert!(finished.text.contains(&says), "{tool}: {}", finished.text);
    }
    // Writing there is outside the working directory, as everywhere: the person is asked.
    let write = json!({"path": "/retrieved/b1/n", "content": "x"});
    assert!(session.call("write_file", &write).await.1);
    // What leads out of it is judged by where it leads.
    std::os::unix::fs::symlink("/root/.ssh", real.join("out")).unwrap();
    let (finished, _) = session
        .call("read_file", &json!({"path": "/retrieved/b1/out/id_rsa"}))
        .await;
    assert_eq!(finished.outcome, Outcome::Denied, "{}", finished.text);

    let down = backend
        .download_files(vec![PathBuf::from("/retrieved/b1/1.md")])
        .await;
    assert_eq!(down[0].content, Ok(b"nothing\n".to_vec()));
    session.offload.clear();
    assert!(!real.exists(), "gone with the session");
}

/// Long results go to a private folder outside the project, or to the one that the person chose in it.
#[tokio::test(flavor = "multi_thread")]
async fn long_results_lie_outside_the_project_unless_a_folder_was_chosen() {
    let line = json!({"command": "yes 0123456789 | head -n 20000"});
    let session = Session::new(&json!({"permissions": {"bash": {"allow": ["yes *", "head *"]}}}));
    let (finished, _) = session.call("bash", &line).await;
    assert!(finished.text.contains("The whole is in"), "{}", finished.text);
    assert!(
        session.project.names().is_empty(),
        "{:?}",
        session.project.names()
    );

    let session = Session::new(&json!({
        "artifacts_dir": "{root}/build/artifacts",
        "permissions": {"bash": {"allow": ["yes *", "head *"]}},
    }));
    let (finished, _) = session.call("bash", &line).await;
    let path = session.project.root.join("build/artifacts/s/0001-bash.txt");
    assert!(
        finished.text.contains(path.to_str().unwrap()),
        "{}",
        finished.text
    );
    let (found, _) = session
        .call(
            "read_file",
            &json!({"path": path, "start_line": 19_999, "end_line": 19_999}),
        )
        .await;
    assert!(found.text.starts_with(" 19999\t0123456789\n"), "{}", found.text);
    session.offload.clear();
    assert!(path.exists(), "what was chosen stays");
}

/// What has a limit of its own is not put aside, however long it is.
#[tokio::test(flavor = "multi_thread")]
async fn lists_of_files_are_not_put_aside() {
    let session = Session::new(&json!({}));
    for n in 0..1_100 {
        let name = format!("{n:04}-{}", "n".repeat(60));
        std::fs::File::create(session.project.root.join(name)).unwrap();
    }
    for (tool, args, last) in [
        ("ls", json!({}), "[f] 0999-n"),
        ("glob", json!({"pattern": "*"}), "\n0999-n"),
    ] {
        let (finished, _) = session.call(tool, &args).await;
        let text = &finished.text;
        assert!(text.contains(last) && !text.contains("The whole is in"), "{tool}");
        assert!(text.len() > 50 * 1024, "{tool}: {} bytes", text.len());
    }
}

/// Their own limits.
#[tokio::test(flavor = "multi_thread")]
async fn lists_and_findings_end_at_their_limit_and_say_so() {
    let session = Session::new(&json!({}));
    for n in 0..2_002 {
        std::fs::File::create(session.project.root.join(format!("{n:04}"))).unwrap();
    }
    let (listed, _) = session.call("ls", &json!({})).await;
    let lines: Vec<&str> = listed.text.lines().collect();
    assert!(lines[1_999].starts_with("[f] 1999  "), "{}", lines[1_999]);
    assert_eq!(
        lines[2_000..],
        ["(2 more entries; use glob with a pattern to see them)"]
    );

    let long = "needle ".to_owned() + &"x".repeat(300) + "\n";
    session.project.file("long", long.repeat(200).as_bytes());
    let (found, _) = session.call("grep", &json!({"pattern": "needle"})).await;
    assert!(found.text.len() < 50 * 1024, "{} bytes", found.text.len());
    assert!(found.text.contains("not all are shown"), "{}", found.text);
}

/// Offloaded files are private.
#[test]
fn a_folder_is_made_private_for_uploads() {
    let tmp = tempfile::tempdir().unwrap();
    let dir = OffloadDir::new(tmp.path(), "s");
    let made = dir.make().unwrap();
    let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(made).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o700);
}
