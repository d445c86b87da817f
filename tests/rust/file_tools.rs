//! The tools read_file, write_file, edit_file and ls on a project.

use std::os::unix::fs::{MetadataExt, symlink};
use std::path::Path;
use std::sync::Arc;

use dcode::permission::access::Access;
use dcode::protocol::message::Block;
use dcode::tools::edit_file::EditFile;
use dcode::tools::ls::Ls;
use dcode::tools::read_file::ReadFile;
use dcode::tools::seen::SeenFiles;
use dcode::tools::tool::{Tool, ToolError, ToolOutput};
use dcode::tools::write_file::WriteFile;
use serde_json::{Value, json};

use crate::project::Project;

struct Tools {
    project: Project,
    read: ReadFile,
    write: WriteFile,
    edit: EditFile,
    ls: Ls,
}

impl Tools {
    fn new() -> Self {
        let project = Project::new();
        let backend = Arc::new(project.backend.clone());
        let seen = Arc::new(SeenFiles::default());
        let visible = |path: &Path| !path.ends_with("hidden-by-rule");
        Self {
            read: ReadFile::new(backend.clone(), seen.clone()),
            write: WriteFile::new(backend.clone(), seen.clone()),
            edit: EditFile::new(backend.clone(), seen),
            ls: Ls::new(backend, Arc::new(visible)),
            project,
        }
    }

    async fn run<T: Tool>(&self, tool: &T, args: Value) -> Result<ToolOutput, String> {
        let args = serde_json::from_value(args).unwrap();
        tool.run(args, &self.project.ctx())
            .await
            .map_err(|error| match error {
                ToolError::Reply(text) => text,
                other => panic!("{other}"),
            })
    }

    async fn read(&self, args: Value) -> Result<String, String> {
        self.run(&self.read, args).await.map(|output| output.text)
    }

    async fn write(&self, path: &str, content: &str) -> Result<ToolOutput, String> {
        self.run(&self.write, json!({"path": path, "content": content}))
            .await
    }

    async fn edit(&self, path: &str, old: &str, new: &str) -> Result<ToolOutput, String> {
        self.run(
            &self.edit,
            json!({"path": path, "old_string": old, "new_string": new}),
        )
        .await
    }

    async fn ls(&self, args: Value) -> Result<String, String> {
        self.run(&self.ls, args).await.map(|output| output.text)
    }
}

#[tokio::test]
async fn reads_ranges_under_either_spelling() {
    let tools = Tools::new();
    tools.project.file("a.txt", b"1\r\n2\r\n3\r\n4\r\n");
    let two = "     2\t2\n     3\t3\n(The file has 4 lines.)\n";
    assert_eq!(
        tools
            .read(json!({"path": "a.txt", "start_line": 2, "end_line": 3}))
            .await
            .unwrap(),
        two
    );
    assert_eq!(
        tools
            .read(json!({"file_path": "a.txt", "offset": 1, "limit": 2}))
            .await
            .unwrap(),
        two
    );
    let all = "     1\t1\n     2\t2\n     3\t3\n     4\t4\n";
    assert_eq!(tools.read(json!({"path": "a.txt"})).await.unwrap(), all);
    assert_eq!(
        tools
            .read(json!({"path": "a.txt", "end_line": 99}))
            .await
            .unwrap(),
        all
    );
}

#[tokio::test]
async fn reading_says_what_is_wrong() {
    let tools = Tools::new();
    tools.project.file("a.txt", b"1\n2\n");
    tools.project.file("empty", b"");
    tools.project.file("bin", b"text\0binary");
    let say = |args: Value| async { tools.read(args).await.unwrap_err() };
    let past = say(json!({"path": "a.txt", "start_line": 3})).await;
    assert_eq!(past, "start_line=3 is past the end: a.txt has 2 lines.");
    for args in [
        json!({"path": "a.txt", "start_line": 0}),
        json!({"path": "a.txt", "start_line": -1}),
        json!({"path": "a.txt", "start_line": 3, "end_line": 2}),
        json!({"path": "a.txt", "limit": 0}),
    ] {
        assert!(say(args).await.starts_with("Invalid line range"));
    }
    assert!(say(json!({"path": "b.txt"})).await.contains("Did you mean"));
    assert!(say(json!({"path": "."})).await.contains("list it with ls"));
    let binary = say(json!({"path": "bin"})).await;
    assert!(
        binary.contains("NUL byte at offset 4") && binary.contains("Consider"),
        "{binary}"
    );
    assert!(say(json!({"path": "~/x"})).await.contains("not expanded"));
    assert_eq!(
        tools.read(json!({"path": "empty"})).await.unwrap(),
        "(empty file: empty)"
    );
}

#[tokio::test]
async fn media_are_given_as_blocks() {
    let tools = Tools::new();
    let kinds = [
        ("image", "png jpg jpeg gif webp heic heif"),
        ("video", "mp4 mpeg mov avi flv mpg webm wmv 3gpp"),
        ("audio", "wav mp3 aiff aac ogg flac"),
        ("file", "pdf ppt pptx"),
    ];
    let mut count = 0;
    for (expected, extensions) in kinds {
        for extension in extensions.split(' ') {
            for name in [
                format!("a.{extension}"),
                format!("b.{}", extension.to_uppercase()),
            ] {
                tools.project.file(&name, b"\0\x01\xff");
                // A range means nothing here.
                let args = json!({"path": name, "start_line": 3});
                let output = tools.run(&tools.read, args).await.unwrap();
                let [
                    Block::Media {
                        kind,
                        mime_type,
                        base64,
                    },
                ] = output.media.as_slice()
                else {
                    panic!("{name}: {output:?}");
                };
                assert_eq!((kind.as_str(), base64.as_str()), (expected, "AAH/"), "{name}");
                assert_eq!(output.text, format!("{name} ({mime_type}, 3 bytes)."));
                count += 1;
            }
        }
    }
    assert_eq!(count, 50);
}

#[tokio::test]
async fn media_that_are_too_large_or_empty_are_told_in_words() {
    let tools = Tools::new();
    tools.project.file("empty.png", b"");
    assert_eq!(
        tools.read(json!({"path": "empty.png"})).await.unwrap(),
        "(empty file: empty.png)"
    );
    for (name, mib, shown) in [
        ("a.png", 10, true),
        ("b.pdf", 11, false),
        ("c.mp3", 20, true),
        ("d.mp4", 21, false),
    ] {
        let file = std::fs::File::create(tools.project.root.join(name)).unwrap();
        file.set_len(mib << 20).unwrap();
        let output = tools.run(&tools.read, json!({"path": name})).await.unwrap();
        assert_eq!(!output.media.is_empty(), shown, "{name}: {}", output.text);
        assert_eq!(
            output
                .text
                .contains(&format!("of {mib} MiB and not shown: the limit is")),
            !shown,
            "{}",
            output.text
        );
    }
    let missing = tools.read(json!({"path": "e.png"})).await.unwrap_err();
    assert!(missing.contains("Did you mean"), "{missing}");
}

#[tokio::test]
async fn a_line_too_long_for_a_page_is_read_in_parts() {
    let tools = Tools::new();
    let long = format!("[{}1]\n", "1,".repeat(1_500_000));
    tools.project.file("one.json", long.as_bytes());
    let first = tools.read(json!({"path": "one.json"})).await.unwrap();
    assert!(first.starts_with("     1\t[1,1,") && first.len() < 2 * 1024 * 1024 + 200);
    let advice = first.lines().last().unwrap();
    assert!(advice.contains("The file has 1 line, 3000004 bytes"), "{advice}");
    let column: usize = advice
        .split("start_column=")
        .nth(1)
        .unwrap()
        .trim_end_matches(".)")
        .parse()
        .unwrap();
    let second = tools
        .read(json!({"path": "one.json", "start_line": 1, "start_column": column}))
        .await
        .unwrap();
    let body = |page: &str| page.lines().next().unwrap()[7..].to_owned();
    assert_eq!(body(&first) + &body(&second) + "\n", long);
}

#[tokio::test]
async fn a_page_holds_two_mebibytes_and_says_what_follows() {
    let tools = Tools::new();
    // With its number and tab a line of 57 characters takes 65 bytes.
    let line = |n: usize| format!("{n:057}\n");
    let text = |lines: usize| -> String { (1..=lines).map(line).collect() };
    let fitting = (2 * 1024 * 1024) / 65;
    tools.project.file("fits.txt", text(fitting).as_bytes());
    let whole = tools.read(json!({"path": "fits.txt"})).await.unwrap();
    assert_eq!(
        whole.lines().count(),
        fitting,
        "nothing is said of a file that is shown whole"
    );
    tools.project.file("more.txt", text(40_000).as_bytes());
    let first = tools.read(json!({"path": "more.txt"})).await.unwrap();
    assert!(
        first.len().abs_diff(2 * 1024 * 1024) < 250,
        "{} bytes",
        first.len()
    );
    let note = first.lines().last().unwrap();
    assert!(
        note.starts_with(
            "(The file has 40000 lines, 2320000 bytes. More follows: go on with start_line=32264"
        ),
        "{note}"
    );
    let rest = json!({"path": "more.txt", "start_line": 32_265});
    let rest = tools.read(rest).await.unwrap();
    assert!(rest.starts_with(&format!(" 32265\t{}", line(32_265))) && rest.contains(" 40000\t"));
}

#[tokio::test]
async fn a_range_of_a_huge_file_is_streamed() {
    let tools = Tools::new();
    let line = "é".repeat(49) + "\n";
    tools.project.file("huge.txt", line.repeat(400_000).as_bytes());
    let text = tools
        .read(json!({"path": "huge.txt", "start_line": 399_999, "end_line": 500_000}))
        .await
        .unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        (lines.len(), lines[1]),
        (3, format!("400000\t{}", line.trim_end()).as_str())
    );
    assert!(lines[2].contains("39600000 bytes"), "{}", lines[2]);
    let past = tools
        .read(json!({"path": "huge.txt", "start_line": 400_001}))
        .await
        .unwrap_err();
    assert!(past.contains("has 400000 lines"), "{past}");
    assert!(
        tools
            .edit("huge.txt", "é", "e")
            .await
            .unwrap_err()
            .contains("too large")
    );
}

#[tokio::test]
async fn open_buffers_are_read_and_links_are_named() {
    let tools = Tools::new();
    let path = tools.project.file("a.txt", b"disk\n");
    tools.project.editor.load(&path, "typed\n", true);
    symlink("a.txt", tools.project.root.join("link")).unwrap();
    let text = tools.read(json!({"path": "link"})).await.unwrap();
    assert!(text.starts_with("     1\ttyped\n"), "{text}");
    assert!(
        text.contains("unsaved changes") && text.contains("link leads through a link to"),
        "{text}"
    );
    assert_eq!(
        tools
            .read
            .access(
                &serde_json::from_value(json!({"path": "link"})).unwrap(),
                &tools.project.root
            )
            .unwrap(),
        [Access::Read(path)]
    );
}

#[tokio::test]
async fn a_whole_file_write_does_not_undo_what_was_changed_unseen() {
    let tools = Tools::new();
    let path = tools.project.file("n.md", b"north\nsouth\n");
    tools.read(json!({"path": "n.md"})).await.unwrap();
    dcode::fs::atomic::write(&path, b"north2\nsouth\n", None).unwrap();

    let refused = tools.write("n.md", "north\nSOUTH\n").await.unwrap_err();
    assert!(refused.contains("changed since you read it"), "{refused}");
    tools.edit("n.md", "south", "SOUTH").await.unwrap();
    assert_eq!(tools.project.bytes("n.md"), b"north2\nSOUTH\n");
    // The edit showed one line; the change in the other is still unseen.
    assert!(tools.write("n.md", "x").await.is_err());
    tools.read(json!({"path": "n.md"})).await.unwrap();
    tools.write("n.md", "x").await.unwrap();
    tools.write("n.md", "y").await.unwrap();

    std::fs::remove_file(&path).unwrap();
    assert!(
        tools
            .write("n.md", "z")
            .await
            .unwrap_err()
            .contains("was removed")
    );
    tools.write("n.md", "z").await.unwrap();
    assert_eq!(tools.project.bytes("n.md"), b"z");
}

#[tokio::test]
async fn writing_reports_and_keeps_the_ways_of_the_file() {
    let tools = Tools::new();
    let made = tools.write("new/deep/a.rs", "fn a() {}\n").await.unwrap();
    assert_eq!(made.text, "Created new/deep/a.rs (1 line).");
    assert_eq!(
        (made.summary.as_str(), made.changed),
        ("1 hunk · +1 −0", vec![tools.project.root.join("new/deep/a.rs")])
    );
    tools.project.file("dos.txt", b"a\r\nb\r\n");
    let output = tools.write("dos.txt", "a\nc\nd\n").await.unwrap();
    assert_eq!(
        (output.text.as_str(), output.summary.as_str()),
        ("Wrote dos.txt (3 lines).", "1 hunk · +2 −1")
    );
    assert_eq!(tools.project.bytes("dos.txt"), b"a\r\nc\r\nd\r\n");
    let same = tools.write("dos.txt", "a\nc\nd\n").await.unwrap();
    assert!(same.text.contains("nothing was changed") && same.changed.is_empty());
    tools.project.file("bin", b"\0\x01");
    tools.write("bin", "text\n").await.unwrap();
    assert_eq!(tools.project.bytes("bin"), b"text\n");
    assert!(
        tools
            .write("new", "x")
            .await
            .unwrap_err()
            .contains("is a directory")
    );
    assert!(
        tools
            .write("other/", "x")
            .await
            .unwrap_err()
            .contains("names a directory")
    );
}

#[tokio::test]
async fn the_owner_of_a_file_stays() {
    let tools = Tools::new();
    let path = tools.project.file("a", b"old\n");
    if std::os::unix::fs::chown(&path, Some(65534), Some(65534)).is_err() {
        println!("skipped: only root gives files away");
        return;
    }
    let before = std::fs::metadata(&path).unwrap();
    tools.write("a", "new\n").await.unwrap();
    tools.edit("a", "new", "newer").await.unwrap();
    let after = std::fs::metadata(&path).unwrap();
    assert_eq!((after.uid(), after.gid()), (65534, 65534));
    assert_eq!(after.mode(), before.mode());
    assert_eq!(tools.project.bytes("a"), b"newer\n");
}

#[tokio::test]
async fn edits_report_lines_and_unsaved_buffers() {
    let tools = Tools::new();
    let path = tools.project.file("src/a.rs", b"one\ntwo\nthree\n");
    let output = tools.edit("src/a.rs", "two", "2\n2b").await.unwrap();
    assert_eq!(output.text, "Edited src/a.rs (1 replacement, lines 2-3).");
    assert_eq!(
        (output.summary.as_str(), output.changed),
        ("1 hunk · +2 −1", vec![path.clone()])
    );
    tools.project.editor.load(&path, "typed\n", true);
    let output = tools.edit("src/a.rs", "typed", "edited").await.unwrap();
    assert!(
        output.text.contains("not saved") && output.text.contains("unsaved changes"),
        "{}",
        output.text
    );
    let missing = tools.edit("src/b.rs", "x", "y").await.unwrap_err();
    assert!(
        missing.contains("Did you mean") && missing.contains("use write_file"),
        "{missing}"
    );
}

#[tokio::test]
async fn several_edits_of_a_call_are_made_together_or_not_at_all() {
    let tools = Tools::new();
    tools.project.file("a", b"one\ntwo\n");
    let edit = |old: &str, new: &str| json!({"old_string": old, "new_string": new});
    let failing = json!({"path": "a", "edits": [edit("one", "1"), edit("zzzzz", "2")]});
    let error = tools.run(&tools.edit, failing).await.unwrap_err();
    assert!(
        error.starts_with("Edit 2 of 2: old_string was not found"),
        "{error}"
    );
    assert_eq!(tools.project.bytes("a"), b"one\ntwo\n");
    let fine = json!({"path": "a", "edits": [edit("one", "1"), edit("two", "2")]});
    assert!(
        tools
            .run(&tools.edit, fine)
            .await
            .unwrap()
            .text
            .contains("2 replacements")
    );
    assert_eq!(tools.project.bytes("a"), b"1\n2\n");
    let none = tools
        .run(&tools.edit, json!({"path": "a", "old_string": "1"}))
        .await
        .unwrap_err();
    assert!(none.contains("new_string is missing"), "{none}");
}

#[tokio::test]
async fn paths_are_literal() {
    let tools = Tools::new();
    tools.project.file("app/[id]/page.tsx", b"old\n");
    tools.project.file("app/(grp)/a b.tsx", b"x\n");
    tools.edit("app/[id]/page.tsx", "old", "new").await.unwrap();
    assert_eq!(tools.project.bytes("app/[id]/page.tsx"), b"new\n");
    assert_eq!(
        tools.read(json!({"path": "app/(grp)/a b.tsx"})).await.unwrap(),
        "     1\tx\n"
    );
}

#[tokio::test]
async fn ls_shows_kind_size_and_time() {
    let tools = Tools::new();
    tools.project.file("b.txt", b"12345");
    tools.project.file("sub/x", b"");
    tools.project.file(".hidden", b"");
    tools.project.file("hidden-by-rule", b"");
    symlink("b.txt", tools.project.root.join("a")).unwrap();
    let text = tools.ls(json!({})).await.unwrap();
    let names: Vec<&str> = text
        .lines()
        .map(|line| line.split("  ").next().unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "[d] sub",
            "[f] .hidden",
            "[f] b.txt",
            "[l] a -> b.txt",
            "(1 withheld by a rule)"
        ]
    );
    assert!(text.contains("[f] b.txt  5 bytes  20"), "{text}");
    assert_eq!(
        tools
            .ls(json!({"path": "b.txt"}))
            .await
            .unwrap_err()
            .trim_end_matches('.')
            .split(": ")
            .nth(1),
        Some("it is a file, not a directory; read it with read_file")
    );
    std::fs::create_dir(tools.project.root.join("none")).unwrap();
    assert_eq!(
        tools.ls(json!({"path": "none"})).await.unwrap(),
        "(empty: none)\n"
    );
    assert!(
        tools
            .ls(json!({"path": "nonne"}))
            .await
            .unwrap_err()
            .contains("Did you mean")
    );
}

#[test]
fn schemas_hide_other_spellings() {
    let schema = schemars::schema_for!(dcode::tools::edit_file::Args);
    let value = serde_json::to_value(schema).unwrap();
    assert_eq!(value["required"], json!(["path"]));
    assert!(value["properties"].get("edits").is_some());
    assert!(value["properties"].get("file_path").is_none());
}

#[tokio::test]
async fn a_miss_tells_nothing_of_a_file_that_may_not_be_shown() {
    let project = Project::new();
    project.file(".env", b"TOKEN=secret\n");
    let backend = Arc::new(project.backend.clone());
    let tool = EditFile::new(backend, Arc::default()).hiding(Arc::new(|_| false));
    let args = json!({"path": ".env", "old_string": "TOKEN=secrets", "new_string": "TOKEN=x"});
    let error = tool
        .run(serde_json::from_value(args).unwrap(), &project.ctx())
        .await
        .unwrap_err();
    let error = error.to_string();
    assert!(
        error.contains("not changed") && !error.contains("secret\n") && !error.contains("Closest"),
        "{error}"
    );
}
