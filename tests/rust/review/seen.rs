//! What is drawn: where hunks stand, and of those that show the lines that a window has room for.

use std::path::Path;

use dcode::protocol::change::LineEdit;
use dcode::review::{Author, Existence, ReviewBook, Seen};

const PATH: &str = "/p/a.rs";

/// A buffer of ten lines with changes of the agent, from the bottom up.
fn book(edits: &[(usize, usize, &[&str])]) -> ReviewBook {
    let mut book = ReviewBook::new();
    let text: String = (1..=10).map(|n| format!("line {n}\n")).collect();
    book.attach(Path::new(PATH), &text);
    for (start, end, lines) in edits {
        let edit = LineEdit {
            start: *start,
            end: *end,
            lines: lines.iter().map(ToString::to_string).collect(),
        };
        book.edit(Path::new(PATH), &edit, Author::Agent);
    }
    book
}

fn seen(book: &ReviewBook, first: usize, last: usize, most: usize) -> Vec<Seen> {
    book.seen(Path::new(PATH), first, last, most)
}

#[test]
fn a_hunk_of_many_lines_shows_on_each_of_them() {
    let book = book(&[(3, 4, &["a", "b", "c"])]);
    for (first, last, shows) in [(1, 3, 0), (1, 4, 1), (5, 5, 1), (6, 9, 1), (7, 9, 0)] {
        assert_eq!(seen(&book, first, last, 9).len(), shows, "{first}..{last}");
    }
}

#[test]
fn a_deletion_at_the_end_stands_on_the_last_line_and_says_so() {
    let book = book(&[(8, 10, &[])]);
    let shown = seen(&book, 8, 8, 9);
    assert_eq!((shown[0].span.start, shown[0].span.at_end), (8, true));
    assert_eq!(shown[0].removed, ["line 9", "line 10"]);
    assert_eq!(seen(&book, 1, 7, 9), []);
}

#[test]
fn neither_a_deletion_before_the_end_nor_a_change_at_the_end_is_at_the_end() {
    let ends = |book: &ReviewBook| -> Vec<bool> {
        let spans = book.spans(Path::new(PATH));
        spans.iter().map(|span| span.at_end).collect()
    };
    assert_eq!(ends(&book(&[(9, 10, &["x"]), (4, 6, &[])])), [false, false]);
    assert_eq!(ends(&book(&[(0, 10, &[])])), [false], "nothing stands above it");
}

#[test]
fn lines_are_paired_where_as_many_stand_against_as_many() {
    let one = seen(&book(&[(3, 5, &["a", "b"])]), 1, 10, 9).remove(0);
    assert_eq!((one.removed.len(), one.added.len()), (2, 2));
    let more = seen(&book(&[(3, 5, &["a", "b", "c"])]), 1, 10, 9).remove(0);
    assert_eq!((more.removed.len(), more.added.len()), (2, 0));
    assert_eq!((more.span.count, more.span.removed), (3, 2));
}

#[test]
fn a_final_newline_alone_shows_on_the_last_line() {
    let mut book = book(&[]);
    book.set_eol(Path::new(PATH), false, Author::Agent);
    assert_eq!(seen(&book, 1, 9, 9), []);
    assert_eq!(seen(&book, 11, 20, 9), []);
    let shown = seen(&book, 10, 10, 9).remove(0);
    assert_eq!((shown.span.start, shown.span.final_newline), (10, Some(false)));
    assert_eq!(
        (shown.removed.as_slice(), shown.added.as_slice()),
        (
            ["line 10".to_owned()].as_slice(),
            ["line 10".to_owned()].as_slice()
        )
    );
}

#[test]
fn a_change_of_the_last_line_tells_of_the_final_newline_too_and_no_other_does() {
    let mut book = book(&[(9, 10, &["ten"]), (0, 1, &["one"])]);
    book.set_eol(Path::new(PATH), false, Author::Agent);
    let told: Vec<_> = book
        .spans(Path::new(PATH))
        .iter()
        .map(|span| (span.start, span.final_newline))
        .collect();
    assert_eq!(told, [(1, None), (10, Some(false))]);
}

#[test]
fn a_file_that_came_or_went_says_so_on_its_hunk() {
    let path = Path::new("/p/new");
    let mut book = ReviewBook::new();
    book.write(path, None, Some("x\n"), Author::Agent);
    let file = |book: &ReviewBook| book.spans(path)[0].file;
    assert_eq!(file(&book), Some(Existence::Created));
    book.write(path, Some("x\n"), None, Author::Agent);
    assert_eq!(book.count(path), 0, "made and removed again");
    book.write(path, Some("x\n"), None, Author::Agent);
    assert_eq!(file(&book), Some(Existence::Deleted));
    assert_eq!(book.seen(Path::new("/p/other"), 1, 9, 9), []);
}
