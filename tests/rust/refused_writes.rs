//! Writes that the system refuses. The tests run as root in many places, and nothing is refused to
//! root, so each starts itself again as an ordinary user.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dcode::backend::{Backend, TransferError, Upload};
use dcode::fs::atomic;
use dcode::tools::apply_patch::{ApplyPatch, Args};
use dcode::tools::tool::Tool;

use crate::project::Project;

const AS_USER: &str = "DCODE_TEST_AS_USER";
const NOBODY: u32 = 65_534;

/// Whether this process is an ordinary user. Else the named test is run again as one, and its outcome
/// is the outcome of this one.
fn is_ordinary_user(test: &str) -> bool {
    if !rustix::process::getuid().is_root() || std::env::var_os(AS_USER).is_some() {
        return true;
    }
    #[expect(
        clippy::disallowed_methods,
        reason = "a test that starts itself needs no watchdog"
    )]
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", &format!("refused_writes::{test}"), "--nocapture"])
        .env(AS_USER, "1")
        .env("TMPDIR", "/tmp")
        .current_dir("/")
        .uid(NOBODY)
        .gid(NOBODY)
        .output();
    match output {
        Ok(output) => assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stdout)
        ),
        Err(error) => println!("skipped: cannot run as an ordinary user: {error}"),
    }
    false
}

fn file(folder: &Path, name: &str, mode: u32) -> PathBuf {
    let path = folder.join(name);
    atomic::write(&path, b"old", Some(mode)).unwrap();
    path
}

fn mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_read_only_file_is_the_persons_word() {
    if !is_ordinary_user("a_read_only_file_is_the_persons_word") {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let path = file(dir.path(), "a", 0o444);
    let error = atomic::write(&path, b"new", None).unwrap_err();
    assert!(error.to_string().contains("chmod u+w"), "{error}");
    assert_eq!(std::fs::read(&path).unwrap(), b"old");
}

#[test]
fn a_folder_that_takes_no_new_file_leaves_writing_in_place() {
    if !is_ordinary_user("a_folder_that_takes_no_new_file_leaves_writing_in_place") {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let path = file(dir.path(), "a", 0o644);
    let inode = std::fs::metadata(&path).unwrap().ino();
    mode(dir.path(), 0o555);
    let written = atomic::write(&path, b"longer than before", None);
    let refused = atomic::write(&dir.path().join("new"), b"x", None);
    mode(dir.path(), 0o755);
    written.unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"longer than before");
    assert_eq!(std::fs::metadata(&path).unwrap().ino(), inode);
    let error = refused.unwrap_err();
    assert!(error.to_string().contains("permission is denied"), "{error}");
}

#[tokio::test]
async fn what_is_not_permitted_is_not_transferred() {
    if !is_ordinary_user("what_is_not_permitted_is_not_transferred") {
        return;
    }
    let project = Project::new();
    let secret = project.file("secret", b"old");
    let mine = project.file("mine", b"old");
    let fine = project.file("fine", b"old");
    let closed = project.file("closed/x", b"x").parent().unwrap().to_owned();
    mode(&secret, 0o200);
    mode(&mine, 0o444);
    mode(&closed, 0o555);
    let upload = |path: &PathBuf| Upload {
        path: path.clone(),
        bytes: b"new".to_vec(),
    };
    let files = [&mine, &closed.join("new"), &fine].map(upload);
    let up = project.backend.upload_files(files.to_vec()).await;
    let down = project
        .backend
        .download_files(vec![secret.clone(), fine.clone()])
        .await;
    mode(&closed, 0o755);
    let errors: Vec<_> = up.into_iter().map(|file| file.error).collect();
    let denied = TransferError::Denied;
    assert_eq!(errors, [Some(denied.clone()), Some(denied.clone()), None]);
    let contents: Vec<_> = down.into_iter().map(|file| file.content).collect();
    assert_eq!(contents, [Err(denied), Ok(b"new".to_vec())]);
    assert_eq!(project.bytes("mine"), b"old");
}

/// Nine files of a patch can be written, the tenth cannot: none is.
#[tokio::test(flavor = "multi_thread")]
async fn one_file_that_is_refused_keeps_all_ten_as_they_are() {
    if !is_ordinary_user("one_file_that_is_refused_keeps_all_ten_as_they_are") {
        return;
    }
    for last in [
        "*** Add File: closed/new\n+x",
        "*** Delete File: closed/old",
        "*** Update File: mine\n@@\n-old\n+x",
    ] {
        let (project, intents) = (Project::new(), tempfile::tempdir().unwrap());
        let mut patch = "*** Begin Patch\n".to_owned();
        for n in 0..9 {
            project.file(&format!("f{n}"), b"old\n");
            patch += &match n % 3 {
                0 => format!("*** Update File: f{n}\n@@\n-old\n+new\n"),
                1 => format!("*** Update File: f{n}\n*** Move to: made/f{n}\n@@\n-old\n+new\n"),
                _ => format!("*** Delete File: f{n}\n"),
            };
        }
        project.file("closed/old", b"old\n");
        let mine = project.file("mine", b"old\n");
        mode(&mine, 0o444);
        mode(&project.root.join("closed"), 0o555);
        let before = project.names();
        let backend = project.backend.clone().with_intents(intents.path());
        let tool = ApplyPatch::new(Arc::new(backend), Arc::default(), true);
        let args = Args {
            patch_text: format!("{patch}{last}\n*** End Patch"),
        };
        let error = tool.run(args, &project.ctx()).await.unwrap_err().to_string();
        mode(&project.root.join("closed"), 0o755);
        assert!(
            error.contains("permission") && !error.contains("os error"),
            "{error}"
        );
        assert_eq!(project.names(), before, "{last}");
        assert_eq!(std::fs::read_dir(intents.path()).unwrap().count(), 0, "{last}");
        for n in 0..9 {
            assert_eq!(project.bytes(&format!("f{n}")), b"old\n", "{last}");
        }
    }
}

#[test]
fn a_full_disk_leaves_the_old_content() {
    if !rustix::process::getuid().is_root() {
        println!("skipped: only root can mount a small disk");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    #[expect(clippy::disallowed_methods, reason = "a test needs no watchdog")]
    let run = |program: &str, args: &[&str]| {
        let folder = dir.path().to_str().unwrap();
        let status = std::process::Command::new(program)
            .args(args)
            .arg(folder)
            .output();
        status.is_ok_and(|output| output.status.success())
    };
    if !run("mount", &["-t", "tmpfs", "-o", "size=1m", "tmpfs"]) {
        println!("skipped: this machine does not let a small disk be mounted");
        return;
    }
    let path = dir.path().join("a.txt");
    let old = vec![b'o'; 600_000];
    atomic::write(&path, &old, None).unwrap();
    let error = atomic::write(&path, &vec![b'n'; 900_000], None);
    let (now, names) = (
        std::fs::read(&path).unwrap(),
        std::fs::read_dir(dir.path()).unwrap().count(),
    );
    run("umount", &[]);
    let error = error.unwrap_err();
    assert!(error.to_string().contains("the disk is full"), "{error}");
    assert!(now == old && names == 1);
}
