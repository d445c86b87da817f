//! Change sets on loaded buffers and on disk.

use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;

use dcode::backend::{Backend, BackendError, EntryKind};
use dcode::protocol::change::{Content, ContentHash, Expect, FileChange, Origin, SavePolicy, TextSource};

use crate::fake_editor::Surprise;
use crate::project::Project;

fn write(path: &Path, text: &str, expect: Expect) -> FileChange {
    FileChange::Write {
        path: path.to_owned(),
        expect,
        content: Content::Text(text.to_owned()),
    }
}

fn delete(path: &Path) -> FileChange {
    FileChange::Delete {
        path: path.to_owned(),
        expect: Expect::Any,
    }
}

fn seen(text: &str) -> Expect {
    Expect::Text(ContentHash::of(text.as_bytes()))
}

#[tokio::test]
async fn the_buffer_is_the_truth_and_the_disk_where_there_is_none() {
    let project = Project::new();
    let open = project.file("open.txt", b"old on disk\n");
    project.editor.load(&open, "typed, not saved\n", true);
    let closed = project.file("closed.txt", b"\xEF\xBB\xBFon disk\r\n");
    let text = project.backend.read_text(&open).await.unwrap();
    assert_eq!(text.text, "typed, not saved\n");
    assert!(matches!(text.source, TextSource::Buffer { modified: true, .. }));
    let text = project.backend.read_text(&closed).await.unwrap();
    assert_eq!(
        (text.text.as_str(), text.source),
        ("on disk\r\n", TextSource::Disk)
    );
}

#[tokio::test]
async fn files_on_disk_keep_encoding_bom_and_mode() {
    let project = Project::new();
    let latin = project.file("s.txt", b"let n = 4;\n# na\xEFve r\xF4le\n");
    let bom = project.file("v.js", b"\xEF\xBB\xBFconst v = 1;\n");
    std::fs::set_permissions(&bom, std::fs::Permissions::from_mode(0o755)).unwrap();
    let applied = project
        .apply(vec![
            write(
                &latin,
                "let n = 5;\n# naïve rôle\n",
                seen("let n = 4;\n# naïve rôle\n"),
            ),
            write(&bom, "const v = 2;\n", seen("const v = 1;\n")),
        ])
        .await
        .unwrap();
    assert_eq!(project.bytes("s.txt"), b"let n = 5;\n# na\xEFve r\xF4le\n");
    assert_eq!(project.bytes("v.js"), b"\xEF\xBB\xBFconst v = 2;\n");
    assert_eq!(std::fs::metadata(&bom).unwrap().mode() & 0o777, 0o755);
    assert!(applied.iter().all(|file| file.saved && file.buf.is_none()));
    let heard = project.heard.lock().unwrap();
    assert_eq!(
        heard[1],
        (
            bom,
            Some("const v = 1;\n".to_owned()),
            Some("const v = 2;\n".to_owned())
        )
    );
}

#[tokio::test]
async fn what_the_encoding_lacks_is_refused_and_nothing_changes() {
    let project = Project::new();
    let latin = project.file("s.txt", b"# na\xEFve\n");
    let other = project.file("a.txt", b"a\n");
    let error = project
        .apply(vec![
            write(&other, "b\n", Expect::Any),
            write(&latin, "→\n", Expect::Any),
        ])
        .await
        .unwrap_err();
    assert!(matches!(error, BackendError::Encoding { .. }), "{error}");
    assert_eq!(project.bytes("a.txt"), b"a\n");
    assert_eq!(project.names(), ["a.txt", "s.txt"]);
}

#[tokio::test]
async fn another_content_than_expected_is_refused() {
    let project = Project::new();
    let path = project.file("n.md", b"north2\n");
    for expect in [
        seen("north\n"),
        Expect::Absent,
        Expect::Bytes(ContentHash::of(b"north\n")),
    ] {
        let error = project.apply(vec![write(&path, "x", expect)]).await.unwrap_err();
        assert!(error.to_string().contains("changed since it was read"), "{error}");
    }
    project
        .apply(vec![write(
            &path,
            "x",
            Expect::Bytes(ContentHash::of(b"north2\n")),
        )])
        .await
        .unwrap();
    project
        .apply(vec![write(&project.root.join("new/er"), "y", Expect::Absent)])
        .await
        .unwrap();
    assert_eq!(
        (project.bytes("n.md"), project.bytes("new/er")),
        (b"x".to_vec(), b"y".to_vec())
    );
}

#[tokio::test]
async fn a_clean_buffer_is_edited_and_saved() {
    let project = Project::new();
    let path = project.buffer("a.rs", "one\ntwo\nthree\n", false);
    let applied = project
        .apply(vec![write(&path, "one\r\nTWO\r\nthree\r\n", Expect::Any)])
        .await
        .unwrap();
    assert!(applied[0].saved && applied[0].note.is_none() && applied[0].buf.is_some());
    assert_eq!(project.bytes("a.rs"), b"one\nTWO\nthree\n");
    let batch = &project.editor.batches()[0];
    assert_eq!(
        (batch.files[0].edits.len(), batch.files[0].edits[0].start),
        (1, 1)
    );
    assert!(project.heard.lock().unwrap().is_empty());
}

#[tokio::test]
async fn unsaved_typing_never_reaches_the_disk_through_us() {
    let project = Project::new();
    let path = project.file("a.rs", b"saved\n");
    project.editor.load(&path, "typed\n", true);
    let applied = project
        .apply(vec![write(&path, "typed\nmore\n", seen("typed\n"))])
        .await
        .unwrap();
    assert!(!applied[0].saved);
    assert!(applied[0].note.as_ref().unwrap().contains("unsaved changes"));
    assert_eq!(
        (project.bytes("a.rs"), project.editor.text(&path)),
        (b"saved\n".to_vec(), "typed\nmore\n".to_owned())
    );
}

#[tokio::test]
async fn the_save_policy_holds() {
    for (save, words) in [
        (SavePolicy::OnAccept, "accepts"),
        (SavePolicy::Never, "by the person"),
    ] {
        let project = Project::saving(save);
        let path = project.buffer("a.rs", "old\n", false);
        let applied = project
            .apply(vec![write(&path, "new\n", Expect::Any)])
            .await
            .unwrap();
        assert!(applied[0].note.as_ref().unwrap().contains(words));
        assert_eq!(project.bytes("a.rs"), b"old\n");
    }
}

#[tokio::test]
async fn a_key_pressed_in_between_is_given_way_to() {
    let project = Project::new();
    let path = project.buffer("a.rs", "old\n", false);
    project.editor.surprise(Surprise::Typing(path.clone(), "typed\n"));
    let error = project
        .apply(vec![write(&path, "new\n", seen("old\n"))])
        .await
        .unwrap_err();
    assert!(matches!(error, BackendError::Stale(_)), "{error}");
    assert_eq!(project.editor.text(&path), "old\ntyped\n");

    project.editor.surprise(Surprise::Typing(path.clone(), "again\n"));
    project
        .apply(vec![write(&path, "new\n", Expect::Any)])
        .await
        .unwrap();
    assert_eq!(project.editor.text(&path), "new\n");
}

#[tokio::test]
async fn a_refusal_of_the_editor_leaves_the_disk_alone() {
    let project = Project::new();
    let open = project.buffer("open.rs", "old\n", false);
    let closed = project.file("closed.rs", b"old\n");
    project
        .editor
        .surprise(Surprise::Refusal("the buffer is not modifiable"));
    let deep = project.root.join("x/y/new.rs");
    let changes = vec![
        write(&closed, "new\n", Expect::Any),
        write(&open, "new\n", Expect::Any),
        write(&deep, "", Expect::Absent),
    ];
    let error = project.apply(changes).await.unwrap_err();
    assert_eq!(error.to_string(), "the buffer is not modifiable");
    assert_eq!(project.bytes("closed.rs"), b"old\n");
    assert_eq!(project.names(), ["closed.rs", "open.rs"]);
}

#[tokio::test]
async fn a_failure_half_way_puts_files_and_buffers_back() {
    let project = Project::new();
    let open = project.buffer("open.rs", "old\n", false);
    let closed = project.file("closed.rs", b"old\n");
    let full = project.file("full/child", b"x").parent().unwrap().to_owned();
    // The folder is not empty, so its removal, the last step, fails.
    let changes = vec![
        write(&open, "new\n", Expect::Any),
        write(&closed, "new\n", Expect::Any),
        write(&project.root.join("x/y/new.rs"), "new\n", Expect::Absent),
        delete(&full),
    ];
    let error = project.apply(changes).await.unwrap_err().to_string();
    assert!(
        error.contains("not empty") && error.contains("All files are as they were before"),
        "{error}"
    );
    assert_eq!(
        (project.bytes("open.rs"), project.bytes("closed.rs")),
        (b"old\n".to_vec(), b"old\n".to_vec())
    );
    assert_eq!(project.editor.text(&open), "old\n");
    assert_eq!(project.editor.batches().last().unwrap().origin, Origin::Restore);
    assert_eq!(project.names(), ["closed.rs", "full", "open.rs"]);
    assert!(project.heard.lock().unwrap().is_empty());
}

#[tokio::test]
async fn deletions_take_file_link_buffer_and_empty_folder() {
    let project = Project::new();
    let open = project.buffer("open.rs", "text\n", false);
    let file = project.file("dir/file", b"x\n");
    let target = project.file("target", b"kept\n");
    let link = project.root.join("link");
    symlink(&target, &link).unwrap();
    let folder = file.parent().unwrap().to_owned();
    let applied = project
        .apply(vec![delete(&open), delete(&folder), delete(&file), delete(&link)])
        .await
        .unwrap();
    assert_eq!(project.names(), ["target"]);
    assert_eq!(project.editor.text(&open), "");
    assert!(project.editor.batches()[0].files[0].deleted);
    assert!(applied.iter().all(|file| file.text.is_none()));
    let error = project.apply(vec![delete(&file)]).await.unwrap_err();
    assert!(matches!(error, BackendError::NotFound { .. }), "{error}");
}

#[tokio::test]
async fn a_file_too_large_for_memory_can_be_removed_and_checked() {
    let project = Project::new();
    let path = project.file("huge", b"");
    let file = std::fs::File::options().write(true).open(&path).unwrap();
    file.set_len(33 * 1024 * 1024).unwrap();
    let error = project.backend.read_text(&path).await.unwrap_err();
    assert!(matches!(error, BackendError::TooLarge { .. }), "{error}");
    let removal = |bytes: &[u8]| FileChange::Delete {
        path: path.clone(),
        expect: Expect::Bytes(ContentHash::of(bytes)),
    };
    assert!(project.apply(vec![removal(b"other")]).await.is_err());
    project.apply(vec![delete(&path)]).await.unwrap();
    assert_eq!(project.names(), Vec::<String>::new());
}

#[tokio::test]
async fn a_link_that_appeared_since_the_path_was_resolved_is_not_followed() {
    let project = Project::new();
    let outside = tempfile::tempdir().unwrap();
    symlink(outside.path(), project.root.join("dir")).unwrap();
    symlink(outside.path().join("f"), project.root.join("f")).unwrap();
    for name in ["dir/f", "f"] {
        let error = project
            .apply(vec![write(&project.root.join(name), "x", Expect::Any)])
            .await
            .unwrap_err();
        assert!(matches!(error, BackendError::Stale(_)), "{error}");
    }
    assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 0);
}

#[tokio::test]
async fn bytes_are_written_as_they_are_with_their_mode() {
    let project = Project::new();
    let path = project.file("bin", b"\0\x01");
    let content = Content::Bytes {
        bytes: b"\xff\0".to_vec(),
        mode: Some(0o700),
    };
    let change = FileChange::Write {
        path: path.clone(),
        expect: Expect::Any,
        content,
    };
    let applied = project.apply(vec![change]).await.unwrap();
    assert_eq!(
        (project.bytes("bin"), applied[0].text.clone()),
        (b"\xff\0".to_vec(), None)
    );
    assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o777, 0o700);
}

#[tokio::test]
async fn reads_say_what_is_there() {
    let project = Project::new();
    project.file("main.rs", b"12345");
    project.file("b", b"\0");
    let backend = &project.backend;
    let read = |name: &str| {
        let path = project.root.join(name);
        async move { backend.read_text(&path).await.unwrap_err().to_string() }
    };
    assert!(
        read("mian.rs").await.contains("Did you mean"),
        "{}",
        read("mian.rs").await
    );
    assert!(read("").await.contains("list it with ls"));
    assert!(read("b").await.contains("NUL byte at offset 0"));
    let part = project
        .backend
        .read_bytes(&project.root.join("main.rs"), 1, 2)
        .await
        .unwrap();
    assert_eq!((part.bytes.as_slice(), part.total), (b"23".as_slice(), 5));

    std::fs::create_dir(project.root.join("Z")).unwrap();
    symlink("nowhere", project.root.join("a")).unwrap();
    let entries = project.backend.list(&project.root).await.unwrap();
    let shown: Vec<_> = entries
        .iter()
        .map(|entry| (entry.name.as_str(), entry.kind, entry.size))
        .collect();
    assert_eq!(
        shown,
        [
            ("Z", EntryKind::Dir, 0),
            ("a", EntryKind::Link, 0),
            ("b", EntryKind::File, 1),
            ("main.rs", EntryKind::File, 5)
        ]
    );
}

#[tokio::test]
async fn one_path_cannot_be_changed_twice_in_a_set() {
    let project = Project::new();
    let path = project.file("a", b"x");
    let error = project
        .apply(vec![write(&path, "1", Expect::Any), delete(&path)])
        .await
        .unwrap_err();
    assert!(error.to_string().contains("changed twice"), "{error}");
}
