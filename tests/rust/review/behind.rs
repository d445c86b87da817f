//! What changes a file behind its buffer: commands of the agent, other programs, other line endings.

use std::path::Path;

use dcode::protocol::change::{LineEdit, Origin};
use dcode::review::{Author, ReviewBook, Selector};

const PATH: &str = "/p/a.txt";

/// A book with one buffer.
fn book(text: &str) -> ReviewBook {
    let mut book = ReviewBook::new();
    book.attach(Path::new(PATH), text);
    book
}

fn base(book: &ReviewBook) -> Option<String> {
    book.export(Path::new(PATH)).unwrap().base
}

#[test]
fn what_a_command_wrote_is_the_agents_once_the_buffer_has_read_it() {
    let path = Path::new(PATH);
    for (announced, read, agents) in [
        (Some("a\nB\n"), "a\nB\n", true),
        (Some("a\r\nB\r\n"), "a\nB\n", true),
        (Some("a\nB\n"), "a\nC\n", false),
        (None, "a\nB\n", false),
    ] {
        let mut book = book("a\nb\n");
        book.effect(path, Some("a\nb\n"), announced);
        assert_eq!(book.count(path), 0, "the buffer is the truth");
        book.resync(path, read);
        assert_eq!(book.count(path), usize::from(agents), "{announced:?} {read:?}");
        book.accept(path, &Selector::All).ok();
        book.resync(path, "a\nb\n");
        assert_eq!(book.count(path), 0, "an announcement counts once");
    }
}

#[test]
fn what_a_command_wrote_where_no_buffer_is_waits_at_once() {
    let path = Path::new(PATH);
    let mut book = book("a\n");
    book.detach(path);
    book.effect(path, Some("a\n"), Some("b\n"));
    assert_eq!((book.count(path), base(&book).as_deref()), (1, Some("a\n")));
}

#[test]
fn a_file_that_the_person_brings_back_is_no_matter_of_review() {
    let path = Path::new(PATH);
    let mut book = book("a\n");
    book.remove(path, Author::Agent);
    assert_eq!(book.count(path), 1);
    book.write(path, None, Some("a\n"), Author::Person);
    assert_eq!(book.count(path), 0);
    book.write(path, Some("a\n"), None, Author::Person);
    book.write(path, None, Some("new\n"), Author::Person);
    assert_eq!((book.count(path), base(&book).as_deref()), (0, Some("new\n")));
    book.write(path, Some("new\n"), None, Author::Person);
    book.write(path, None, Some("agent\n"), Author::Agent);
    assert_eq!((book.count(path), base(&book)), (1, None));
}

#[test]
fn an_empty_buffer_does_not_bring_a_deleted_file_back() {
    let path = Path::new(PATH);
    let mut book = book("a\nb\n");
    book.remove(path, Author::Agent);
    book.resync(path, "");
    let rejection = book.rejection(path, &Selector::All).unwrap();
    assert_eq!(rejection.text.as_deref(), Some("a\nb\n"));
    book.resync(path, "other\n");
    assert_eq!(book.export(path).unwrap().current.as_deref(), Some("other\n"));
}

#[test]
fn line_endings_that_become_mixed_are_spelled_out() {
    let path = Path::new(PATH);
    let mut book = ReviewBook::new();
    book.write(path, Some("a\r\nb\r\nc"), Some("A\r\nb\r\nc"), Author::Agent);
    book.write(path, Some("A\r\nb\r\nc"), Some("A\r\nb\nc"), Author::Agent);
    let texts = book.export(path).unwrap();
    assert_eq!(texts.base.as_deref(), Some("a\r\nb\r\nc"));
    assert_eq!(texts.current.as_deref(), Some("A\r\nb\nc"));
    let hunks = book.hunks(path);
    assert_eq!(
        (&hunks[0].removed[1], &hunks[0].added[1]),
        (&"b\r".into(), &"b".into())
    );
    let ended = book.rejection(path, &Selector::All).unwrap().text;
    assert_eq!(ended.as_deref(), Some("a\r\nb\r\nc"));
}

#[test]
fn an_undo_of_the_agents_turn_counts_as_the_persons() {
    assert_eq!(Author::from(Origin::Agent), Author::Agent);
    assert_eq!(Author::from(Origin::Restore), Author::Person);
}

#[test]
fn what_was_rejected_comes_back_at_the_place_that_fits_best() {
    let path = Path::new(PATH);
    let mut book = book("top\nx\nend\nx\nlast\n");
    let change = |start, end, line: &str| LineEdit {
        start,
        end,
        lines: vec![line.to_owned()],
    };
    book.edit(path, &change(3, 4, "X"), Author::Agent);
    book.remember_rejected(path, &Selector::All);
    book.edit(path, &change(3, 4, "x"), Author::Person);
    // Two lines hold `x`; the neighbours tell which one it was, wherever it stands now.
    book.edit(path, &change(0, 0, "mine"), Author::Person);
    assert_eq!(book.bring_back(path), Ok(vec![change(4, 5, "X")]));
    assert!(book.bring_back(path).is_err());
}

#[test]
fn of_the_rejections_the_last_fifty_are_remembered_the_last_one_first() {
    let path = Path::new(PATH);
    let text: String = (0..60).map(|n| format!("line {n}\n")).collect();
    let mut book = book(&text);
    for n in 0..60 {
        let edit = |line: String| LineEdit {
            start: n,
            end: n + 1,
            lines: vec![line],
        };
        book.edit(path, &edit(format!("LINE {n}")), Author::Agent);
        book.remember_rejected(
            path,
            &Selector::Lines {
                first: n + 1,
                last: n + 1,
            },
        );
        book.edit(path, &edit(format!("line {n}")), Author::Person);
    }
    book.remember_rejected(path, &Selector::All);
    for n in (10..60).rev() {
        assert_eq!(
            book.bring_back(path).unwrap()[0].start,
            n,
            "nothing waited, nothing was remembered"
        );
    }
    assert!(book.bring_back(path).is_err());
}

#[test]
fn only_what_lies_in_the_lines_is_remembered_as_rejected() {
    let path = Path::new(PATH);
    let mut book = book("a\nb\nc\nd\ne\n");
    let change = |line: usize, text: &str| LineEdit {
        start: line - 1,
        end: line,
        lines: vec![text.to_owned()],
    };
    for (line, text) in [(1, "A"), (3, "C"), (5, "E")] {
        book.edit(path, &change(line, text), Author::Agent);
    }
    for (first, last, expected) in [
        (2, 4, vec![3]),
        (1, 3, vec![1, 3]),
        (3, 3, vec![3]),
        (4, 9, vec![5]),
    ] {
        book.remember_rejected(path, &Selector::Lines { first, last });
        let mut rejected = book.clone();
        for (line, text) in [(5, "e"), (3, "c"), (1, "a")] {
            rejected.edit(path, &change(line, text), Author::Person);
        }
        let lines: Vec<usize> = rejected
            .bring_back(path)
            .unwrap()
            .iter()
            .map(|edit| edit.start + 1)
            .collect();
        assert_eq!(lines, expected, "{first}..{last}");
    }
}
