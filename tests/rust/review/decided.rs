//! What a decision does to the base, to the end of a file and to the file itself, in tables.

use std::path::Path;

use dcode::protocol::change::LineEdit;
use dcode::review::{Author, Rejection, ReviewBook, ReviewError, Selector};

const PATH: &str = "/p/a.txt";

/// The agent has made `after` of `before`; `None` = there is no file.
fn written(before: Option<&str>, after: Option<&str>) -> ReviewBook {
    let mut book = ReviewBook::new();
    book.write(Path::new(PATH), before, after, Author::Agent);
    book
}

fn lines(first: usize, last: usize) -> Selector {
    Selector::Lines { first, last }
}

fn base(book: &ReviewBook) -> Option<String> {
    book.export(Path::new(PATH)).and_then(|texts| texts.base)
}

#[test]
fn an_accepted_part_is_all_that_the_base_takes() {
    for (before, after, selected, expected) in [
        // The final newline belongs to the last line.
        ("a\nx\nb", "A\nx\nB\n", lines(1, 1), "A\nx\nb"),
        ("a\nx\nb", "A\nx\nB\n", lines(3, 3), "a\nx\nB\n"),
        ("a\nx\nb\n", "A\nx\nB", lines(1, 2), "A\nx\nb\n"),
        ("a\nx\nb\n", "A\nx\nB", lines(2, 3), "a\nx\nB"),
        // A newline alone waits at the last line.
        ("a\nx\nb", "A\nx\nb\n", lines(1, 1), "A\nx\nb"),
        ("a\nx\nb", "A\nx\nb\n", lines(3, 3), "a\nx\nb\n"),
        ("a\nx\nb", "A\nx\nb\n", lines(3, 9), "a\nx\nb\n"),
        // Removed lines stand before the line that follows them.
        ("a\nb\nc\nd\n", "A\nc\nD\n", lines(3, 3), "a\nb\nc\nD\n"),
        ("x\na\nb\nc\ny\n", "X\na\nc\ny\n", lines(3, 3), "x\na\nc\ny\n"),
        ("x\na\nb\nc\ny\n", "X\na\nc\ny\n", lines(1, 2), "X\na\nb\nc\ny\n"),
        ("x\na\nb\n", "X\na\n", lines(2, 2), "x\na\n"),
        // Some lines of a hunk.
        ("a\nb\nc\n", "A\nB\nC\n", lines(2, 2), "a\nB\nc\n"),
        ("a\nb\nc\n", "A\nB\nC\n", lines(2, 3), "a\nB\nC\n"),
    ] {
        let mut book = written(Some(before), Some(after));
        assert!(
            book.accept(Path::new(PATH), &selected).is_ok(),
            "{after:?} {selected:?}"
        );
        assert_eq!(base(&book).as_deref(), Some(expected), "{after:?} {selected:?}");
    }
}

#[test]
fn lines_without_a_hunk_decide_nothing() {
    for (before, after, selected) in [
        ("a\nb\nc\n", "a\nc\n", lines(1, 1)),
        ("a\nb\nc\n", "a\nc\n", lines(3, 9)),
        ("a\nb\n", "a\n", lines(2, 3)),
        ("a\nx", "a\nx\n", lines(1, 1)),
        ("a\nx", "a\nx\n", lines(3, 3)),
        ("a\nx\n", "A\nx\n", lines(2, 2)),
    ] {
        let mut book = written(Some(before), Some(after));
        let path = Path::new(PATH);
        assert!(
            matches!(book.accept(path, &selected), Err(ReviewError::NoHunk)),
            "{after:?} {selected:?}"
        );
        assert!(book.rejection(path, &selected).is_err(), "{after:?} {selected:?}");
        assert_eq!(base(&book).as_deref(), Some(before));
    }
}

#[test]
fn a_rejected_part_is_all_that_the_file_loses() {
    for (before, after, selected, text, eol) in [
        ("a\nx\nb", "A\nx\nB\n", lines(1, 1), "a\nx\nB\n", None),
        ("a\nx\nb", "A\nx\nB\n", lines(3, 3), "A\nx\nb", Some(false)),
        ("a\nx\nb\n", "A\nx\nB", lines(3, 3), "A\nx\nb\n", Some(true)),
        ("a\nx\nb\n", "A\nx\nB\n", lines(3, 3), "A\nx\nb\n", None),
        ("a\nx\nb", "A\nx\nb\n", lines(3, 3), "A\nx\nb", Some(false)),
        ("a\nb\nc\n", "A\nB\nC\n", lines(2, 2), "A\nb\nC\n", None),
        ("", "x\n", Selector::All, "", None),
        ("\n", "x\n", Selector::All, "\n", None),
        ("", "x", Selector::All, "", None),
    ] {
        let book = written(Some(before), Some(after));
        let rejection: Rejection = book.rejection(Path::new(PATH), &selected).unwrap();
        assert_eq!(rejection.text.as_deref(), Some(text), "{after:?} {selected:?}");
        assert_eq!(rejection.eol, eol, "{after:?} {selected:?}");
        assert!(!rejection.remove_file, "{after:?} {selected:?}");
    }
}

#[test]
fn a_made_file_goes_only_as_a_whole() {
    let book = written(None, Some("x\ny\nz\n"));
    let rejection = |selected| book.rejection(Path::new(PATH), &selected).unwrap();
    assert!(rejection(Selector::All).remove_file);
    assert!(rejection(lines(1, 3)).remove_file);
    let part = rejection(lines(1, 1));
    assert_eq!((part.remove_file, part.text.as_deref()), (false, Some("y\nz\n")));
    // Of what was accepted the rest is an ordinary change.
    let mut book = written(None, Some("x\ny\n"));
    book.accept(Path::new(PATH), &lines(1, 1)).unwrap();
    let rest = book.rejection(Path::new(PATH), &Selector::All).unwrap();
    assert_eq!((rest.remove_file, rest.text.as_deref()), (false, Some("x\n")));
}

#[test]
fn a_hunk_says_which_final_newline_came_or_went() {
    for (before, after, expected) in [
        ("a", "a\n", Some(true)),
        ("a\n", "a", Some(false)),
        ("a", "b\n", Some(true)),
        ("a\n", "b\n", None),
    ] {
        let hunks = written(Some(before), Some(after)).hunks(Path::new(PATH));
        assert_eq!(hunks[0].final_newline, expected, "{before:?} {after:?}");
    }
}

/// One line in the place of another.
fn change(line: usize, text: &str) -> LineEdit {
    LineEdit {
        start: line - 1,
        end: line,
        lines: vec![text.to_owned()],
    }
}

#[test]
fn a_hunk_that_was_accepted_with_other_lines_waits_again() {
    let path = Path::new(PATH);
    let mut book = ReviewBook::new();
    book.attach(path, "a\n");
    book.edit(path, &change(1, "A"), Author::Agent);
    book.mark(path, 1);
    book.edit(path, &change(1, "AA"), Author::Agent);
    book.mark(path, 2);
    book.accept(path, &Selector::All).unwrap();
    book.edit(path, &change(1, "A"), Author::Person);
    assert!(book.arrive(path, 1));
    let waits: Vec<_> = book
        .hunks(path)
        .into_iter()
        .map(|hunk| (hunk.removed, hunk.added))
        .collect();
    assert_eq!(waits, [(vec!["a".to_owned()], vec!["A".to_owned()])]);
}

#[test]
fn only_the_chosen_hunk_is_remembered_as_rejected() {
    let path = Path::new(PATH);
    let mut book = ReviewBook::new();
    book.attach(path, "a\nx\nb\n");
    book.edit(path, &change(1, "A"), Author::Agent);
    book.edit(path, &change(3, "B"), Author::Agent);
    let second = book.hunks(path)[1].id;
    book.remember_rejected(path, &Selector::Hunk(second));
    book.edit(path, &change(3, "b"), Author::Person);
    assert_eq!(book.bring_back(path), Ok(vec![change(3, "B")]));
}

#[test]
fn removed_lines_are_remembered_by_the_line_that_follows_them() {
    let path = Path::new(PATH);
    let removal = LineEdit {
        start: 2,
        end: 3,
        lines: Vec::new(),
    };
    for (line, remembered) in [(1, false), (3, true), (4, false)] {
        let mut book = ReviewBook::new();
        book.attach(path, "a\nb\nc\nd\ne\n");
        book.edit(path, &removal, Author::Agent);
        book.remember_rejected(path, &lines(line, line));
        let again = LineEdit {
            start: 2,
            end: 2,
            lines: vec!["c".into()],
        };
        book.edit(path, &again, Author::Person);
        let back = book.bring_back(path).ok();
        assert_eq!(back, remembered.then(|| vec![removal.clone()]), "line {line}");
    }
}

#[test]
fn a_rejected_hunk_finds_its_place_by_what_follows_it() {
    let path = Path::new(PATH);
    let mut book = ReviewBook::new();
    // Both places have the same line above.
    book.attach(path, "s\nx\ny\ns\nx\nz\n");
    book.edit(path, &change(5, "X"), Author::Agent);
    book.remember_rejected(path, &Selector::All);
    book.edit(path, &change(5, "x"), Author::Person);
    let above = LineEdit {
        start: 0,
        end: 0,
        lines: vec!["1".into(), "2".into(), "3".into()],
    };
    book.edit(path, &above, Author::Person);
    assert_eq!(book.bring_back(path), Ok(vec![change(8, "X")]));
}

#[test]
fn a_rejected_hunk_comes_back_although_its_neighbours_changed() {
    let path = Path::new(PATH);
    let mut book = ReviewBook::new();
    book.attach(path, "a\nx\nb\n");
    book.edit(path, &change(2, "X"), Author::Agent);
    book.remember_rejected(path, &Selector::All);
    for (line, text) in [(2, "x"), (1, "mine"), (3, "mine too")] {
        book.edit(path, &change(line, text), Author::Person);
    }
    assert_eq!(book.bring_back(path), Ok(vec![change(2, "X")]));
}
