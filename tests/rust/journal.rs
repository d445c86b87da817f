use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dcode::journal::{Journal, JournalError, MAJOR, Record, ReviewFlags, journal_path, read};
use dcode::protocol::change::ContentHash;
use dcode::protocol::event::TurnEnd;
use dcode::protocol::ids::{CallId, SessionId, StepIx, TurnId};
use dcode::protocol::message::{Block, Message, Role, ToolCall, ToolResult};

use crate::other_process;

fn session() -> SessionId {
    SessionId("01JZZZZZZZZZZZZZZZZZZZZZZZ".to_owned())
}

/// One record of every kind.
fn every_kind() -> Vec<Record> {
    let call = CallId("c1".to_owned());
    vec![
        Record::SessionStarted {
            session: session(),
            cwd: "/project".into(),
            model: Some("mock:any".to_owned()),
            mode: "manual".to_owned(),
            version: "0.1.0".to_owned(),
        },
        Record::TurnStarted {
            turn: TurnId(1),
            text: String::new(),
        },
        Record::MessageAppended {
            message: Message::user("Ä line\nand \"another\""),
        },
        Record::StepStarted {
            step: StepIx(1),
            turn: TurnId(1),
        },
        Record::MessageAppended {
            message: Message {
                role: Role::Assistant,
                blocks: vec![
                    Block::Reasoning {
                        text: "hm".to_owned(),
                    },
                    Block::ToolCall(ToolCall {
                        id: call.clone(),
                        name: "edit_file".to_owned(),
                        arguments: r#"{"path":"a"}"#.to_owned(),
                    }),
                ],
            },
        },
        Record::MessageAppended {
            message: Message {
                role: Role::Tool,
                blocks: vec![Block::ToolResult(ToolResult {
                    id: call,
                    text: "done".to_owned(),
                    is_error: false,
                    media: Vec::new(),
                })],
            },
        },
        Record::ReviewBase {
            path: "/project/a".into(),
            base: None,
            current: Some(ContentHash::of(b"x")),
            flags: ReviewFlags {
                created: true,
                ..ReviewFlags::default()
            },
        },
        Record::ReviewClosed {
            path: "/project/a".into(),
        },
        Record::TurnFinished {
            turn: TurnId(1),
            reason: TurnEnd::Done,
        },
        Record::StepUndone { step: StepIx(1) },
        Record::StepRedone { step: StepIx(1) },
        Record::ModeChanged {
            mode: "yolo".to_owned(),
        },
        Record::ModelChanged {
            model: "mock:other".to_owned(),
        },
    ]
}

fn written(state: &Path) -> (PathBuf, Vec<Record>) {
    let journal = Journal::create(state, &session()).unwrap();
    let records = every_kind();
    for record in &records {
        journal.append(record).unwrap();
    }
    journal.sync().unwrap();
    (journal.path().to_owned(), records)
}

fn put(path: &Path, bytes: &[u8]) {
    File::create(path).unwrap().write_all(bytes).unwrap();
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

#[test]
fn what_is_appended_is_read_again_in_order() {
    let state = tempfile::tempdir().unwrap();
    let (path, records) = written(state.path());
    assert_eq!(path, journal_path(state.path(), &session()));
    let opened = Journal::open(&path).unwrap();
    assert_eq!(opened.recovered.records, records);
    assert_eq!((opened.recovered.torn, opened.recovered.damage), (0, None));
    assert_eq!(opened.journal.session(), &session());
    let more = Record::StepUndone { step: StepIx(9) };
    opened.journal.append(&more).unwrap();
    assert_eq!(read(&path).unwrap().records, [records, vec![more]].concat());
}

#[test]
fn folders_are_0700_and_the_file_0600() {
    let state = tempfile::tempdir().unwrap();
    let (path, _) = written(&state.path().join("dcode"));
    let folder = path.parent().unwrap();
    let modes = [
        mode(&path),
        mode(folder),
        mode(folder.parent().unwrap()),
        mode(&state.path().join("dcode")),
    ];
    assert_eq!(modes, [0o600, 0o700, 0o700, 0o700]);
}

#[test]
fn a_session_name_is_no_path_and_is_used_once() {
    let state = tempfile::tempdir().unwrap();
    for name in ["", "..", "a/b", "."] {
        let created = Journal::create(state.path(), &SessionId(name.to_owned()));
        assert!(matches!(created, Err(JournalError::BadSession(_))), "{name}");
    }
    drop(Journal::create(state.path(), &session()).unwrap());
    let again = Journal::create(state.path(), &session());
    assert!(matches!(again, Err(JournalError::Exists(_))));
}

#[test]
fn a_torn_end_at_any_byte_costs_no_earlier_record() {
    let state = tempfile::tempdir().unwrap();
    let (path, records) = written(state.path());
    let whole = std::fs::read(&path).unwrap();
    let ends: Vec<usize> = (0..whole.len()).filter(|&at| whole[at] == b'\n').collect();
    for cut in 0..=whole.len() {
        put(&path, &whole[..cut]);
        // A line is whole when all of it but the newline is there.
        let lines = ends.iter().filter(|&&end| end <= cut).count();
        let opened = match Journal::open(&path) {
            Ok(opened) => opened,
            Err(JournalError::NotAJournal(_)) if lines == 0 => continue,
            Err(error) => panic!("cut at {cut}: {error}"),
        };
        let whole_lines = lines - 1;
        assert_eq!(opened.recovered.records, records[..whole_lines], "cut at {cut}");
        assert_eq!(opened.recovered.damage, None);
        // It can be gone on with as if nothing had happened.
        opened.journal.append(&records[0]).unwrap();
        drop(opened);
        let again = Journal::open(&path).unwrap().recovered;
        assert_eq!(
            again.records,
            [&records[..whole_lines], &records[..1]].concat(),
            "cut at {cut}"
        );
        assert_eq!(again.torn, 0);
    }
}

#[test]
fn rubbish_behind_the_end_is_cut_off() {
    let state = tempfile::tempdir().unwrap();
    let (path, records) = written(state.path());
    for rubbish in [&[0_u8; 4096][..], b"\n\n\n", b"00000000 {}\n", b"\xff\xfe\n\0"] {
        let mut file = OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(rubbish).unwrap();
        let opened = Journal::open(&path).unwrap();
        assert_eq!(opened.recovered.records, records);
        assert_eq!(opened.recovered.torn, rubbish.len() as u64);
        assert_eq!(opened.recovered.damage, None);
    }
}

#[test]
fn a_damaged_middle_is_reported_and_what_follows_it_is_put_aside() {
    let state = tempfile::tempdir().unwrap();
    let (path, records) = written(state.path());
    let whole = std::fs::read(&path).unwrap();
    let lines: Vec<&[u8]> = whole.split_inclusive(|&b| b == b'\n').collect();
    for line in 1..lines.len() - 1 {
        let start: usize = lines[..line].iter().map(|line| line.len()).sum();
        let mut damaged = whole.clone();
        damaged[start + 12] ^= 1;
        put(&path, &damaged);

        let looked = read(&path).unwrap();
        assert_eq!(looked.records, records[..line - 1]);
        assert_eq!(std::fs::read(&path).unwrap(), damaged, "looking changes nothing");

        let recovered = Journal::open(&path).unwrap().recovered;
        assert_eq!(recovered.records, records[..line - 1]);
        let damage = recovered.damage.unwrap();
        assert_eq!(damage.line, line + 1);
        let aside = damage.moved_to.clone().unwrap();
        assert_eq!(std::fs::read(&aside).unwrap(), damaged[start..]);
        assert_eq!(mode(&aside), 0o600);
        let words = damage.to_string();
        assert!(
            words.starts_with(&format!("line {} of the journal is damaged", line + 1)),
            "{words}"
        );
        assert_eq!(Journal::open(&path).unwrap().recovered.damage, None, "mended");
    }
}

#[test]
fn a_file_that_is_none_of_ours_is_left_alone() {
    let state = tempfile::tempdir().unwrap();
    let path = state.path().join("notes.txt");
    for content in [&b""[..], b"some notes\n", b"00000000 {\"dcode_journal\":1}\n"] {
        put(&path, content);
        assert!(matches!(Journal::open(&path), Err(JournalError::NotAJournal(_))));
        assert_eq!(std::fs::read(&path).unwrap(), content);
    }
    std::os::unix::fs::symlink(&path, state.path().join("link")).unwrap();
    assert!(matches!(
        Journal::open(&state.path().join("link")),
        Err(JournalError::Io { .. })
    ));
}

#[test]
fn a_second_opener_is_told_who_has_it() {
    let state = tempfile::tempdir().unwrap();
    let first = Journal::create(state.path(), &session()).unwrap();
    let second = Journal::open(first.path()).unwrap_err();
    assert!(matches!(second, JournalError::Locked(_)));
    assert!(
        second
            .to_string()
            .starts_with("another Neovim has this session open"),
        "{second}"
    );
    assert_eq!(read(first.path()).unwrap().records, [], "looking needs no lock");
    let path = first.path().to_owned();
    drop(first);
    let third = Journal::open(&path).unwrap().journal;
    assert!(matches!(Journal::open(&path), Err(JournalError::Locked(_))));
    drop(third);
}

#[test]
fn many_threads_append_whole_lines() {
    let state = tempfile::tempdir().unwrap();
    let journal = Arc::new(Journal::create(state.path(), &session()).unwrap());
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let journal = Arc::clone(&journal);
            scope.spawn(move || {
                for at in 0..50 {
                    let step = StepIx(thread * 50 + at);
                    journal.append(&Record::StepUndone { step }).unwrap();
                }
            });
        }
    });
    let records = read(journal.path()).unwrap().records;
    let steps: BTreeSet<u64> = records
        .iter()
        .map(|record| match record {
            Record::StepUndone { step } => step.0,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(steps, (0..400).collect());
    assert_eq!(records.len(), 400);
}

#[test]
#[ignore = "started by a_killed_writer_leaves_all_it_acknowledged_and_no_lock"]
#[allow(clippy::infinite_loop)]
fn child_writes_until_killed() {
    let Some(state) = other_process::folder() else {
        return;
    };
    let journal = Journal::create(&state, &session()).unwrap();
    for step in 1_u64.. {
        let step = StepIx(step);
        journal.append(&Record::StepUndone { step }).unwrap();
        println!("\nappended {step}");
    }
}

#[test]
fn a_killed_writer_leaves_all_it_acknowledged_and_no_lock() {
    let state = tempfile::tempdir().unwrap();
    let path = journal_path(state.path(), &session());
    let mut child = other_process::command("journal::child_writes_until_killed", state.path(), "")
        .spawn()
        .unwrap();
    let mut acknowledged = 0;
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        if let Some(step) = line.unwrap().strip_prefix("appended ") {
            acknowledged = step.parse().unwrap();
        }
        if acknowledged == 200 {
            assert!(matches!(Journal::open(&path), Err(JournalError::Locked(_))));
            child.kill().unwrap();
            break;
        }
    }
    child.wait().unwrap();
    let records = Journal::open(&path).unwrap().recovered.records;
    assert!(
        records.len() >= acknowledged,
        "{} of {acknowledged}",
        records.len()
    );
    let all: Vec<Record> = (1..=records.len() as u64)
        .map(|step| Record::StepUndone { step: StepIx(step) })
        .collect();
    assert_eq!(records, all);
}

#[test]
#[ignore = "started by a_full_disk_leaves_the_journal_sound"]
fn child_appends_to_a_full_disk() {
    let Some(state) = other_process::folder() else {
        return;
    };
    let journal = Journal::create(&state, &session()).unwrap();
    let long = Record::MessageAppended {
        message: Message::user("x".repeat(3000)),
    };
    let short = Record::StepUndone { step: StepIx(1) };
    let mut whole = 0;
    let refused = loop {
        match journal.append(&long) {
            Ok(()) => whole += 1,
            Err(error) => break error,
        }
    };
    assert!(matches!(refused, JournalError::Io { .. }));
    assert!(!refused.to_string().contains("os error"), "{refused}");
    // The next record that fits begins a line of its own.
    journal.append(&short).unwrap();
    let records = read(journal.path()).unwrap();
    assert_eq!(records.torn, 0);
    assert_eq!(records.records, [vec![long; whole], vec![short]].concat());
    println!("\nchild done");
}

#[test]
fn a_full_disk_leaves_the_journal_sound() {
    let state = tempfile::tempdir().unwrap();
    // A limit on the size of files fails a write in its middle, as a full disk does.
    let setup = "trap '' XFSZ; ulimit -f 16";
    let output = other_process::command("journal::child_appends_to_a_full_disk", state.path(), setup)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        text.contains("child done"),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

// The format's upgrade path (doc/adr/0005-journal-format.md).

fn fixture(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/journal");
    folder.join(name)
}

/// A copy that may be written.
fn fixture_copy(name: &str) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("journal.jsonl");
    std::fs::copy(fixture(name), &path).unwrap();
    (dir, path)
}

#[test]
fn a_journal_of_version_1_0_can_be_read_for_ever() {
    let (_dir, path) = fixture_copy("v1.0.jsonl");
    let opened = Journal::open(&path).unwrap();
    assert_eq!(opened.recovered.records, every_kind());
    assert_eq!(opened.recovered.header.session, session());
    let before = std::fs::read(fixture("v1.0.jsonl")).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), before, "opening changes nothing");
}

/// What version 1.1 added.
fn added_in_1_1() -> Vec<Record> {
    vec![
        Record::TurnStarted {
            turn: TurnId(2),
            text: "go on\nwith it".to_owned(),
        },
        Record::StepKept { step: StepIx(2) },
        Record::HistoryCut { messages: 3 },
    ]
}

#[test]
fn a_journal_of_version_1_1_can_be_read_for_ever() {
    let (_dir, path) = fixture_copy("v1.1.jsonl");
    let opened = Journal::open(&path).unwrap();
    assert_eq!(opened.recovered.records, added_in_1_1());
    let before = std::fs::read(fixture("v1.1.jsonl")).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), before, "opening changes nothing");
    let start = dcode::journal::read_start(&path).unwrap();
    assert_eq!(start.records, added_in_1_1(), "a short journal is all beginning");
}

#[test]
fn a_later_minor_version_is_read_and_what_is_unknown_is_kept() {
    let (_dir, path) = fixture_copy("v1.7.jsonl");
    let before = std::fs::read(&path).unwrap();
    let opened = Journal::open(&path).unwrap();
    let records = &opened.recovered.records;
    assert_eq!(records.len(), 4);
    assert_eq!(
        records[0],
        Record::TurnStarted {
            turn: TurnId(1),
            text: String::new(),
        },
        "a field that is not known"
    );
    let unknown = |record: &Record| match record {
        Record::Unknown(value) => value["type"].as_str().unwrap().to_owned(),
        other => panic!("{other:?}"),
    };
    assert_eq!(unknown(&records[1]), "branch_made", "a kind that is not known");
    assert_eq!(unknown(&records[2]), "turn_finished", "a value that is not known");
    assert_eq!(records[3], Record::StepUndone { step: StepIx(2) });
    let more = Record::StepRedone { step: StepIx(2) };
    opened.journal.append(&more).unwrap();
    opened.journal.append(&records[1]).unwrap();
    let after = std::fs::read(&path).unwrap();
    assert_eq!(
        after[..before.len()],
        before,
        "nothing of the later version is lost"
    );
    assert_eq!(
        read(&path).unwrap().records.len(),
        5,
        "and nothing unknown is written anew"
    );
}

#[test]
fn a_later_major_version_is_refused_with_words_and_left_alone() {
    let (_dir, path) = fixture_copy("v2.0.jsonl");
    let refused = Journal::open(&path).unwrap_err();
    assert!(matches!(refused, JournalError::Newer { found: 2, .. }));
    let words = refused.to_string();
    let expected =
        format!("was written by a newer dcode (journal format 2, this one reads {MAJOR}); update the plugin");
    assert!(words.contains(&expected), "{words}");
    assert_eq!(
        std::fs::read(&path).unwrap(),
        std::fs::read(fixture("v2.0.jsonl")).unwrap()
    );
}

#[test]
#[ignore = "writes the fixtures of the current version; run it once for each new version"]
fn write_fixtures() {
    let state = tempfile::tempdir().unwrap();
    let (path, _) = written(state.path());
    let name = format!("v{}.{}.jsonl", MAJOR, dcode::journal::MINOR);
    std::fs::copy(path, fixture(&name)).unwrap();
}
