//! How edits and hunks meet: what comes back, what cancels out, what a comparison finds.

use std::path::Path;

use dcode::protocol::change::LineEdit;
use dcode::review::{Author, ReviewBook, Selector, Texts};

const PATH: &str = "/p/a.txt";

fn book(text: &str) -> ReviewBook {
    let mut book = ReviewBook::new();
    book.attach(Path::new(PATH), text);
    book
}

/// Puts words, one a line, in the place of the lines `start..end` (0-based).
fn edit(book: &mut ReviewBook, start: usize, end: usize, words: &str, author: Author) {
    let lines = words.split_whitespace().map(str::to_owned).collect();
    book.edit(Path::new(PATH), &LineEdit { start, end, lines }, author);
}

/// Each hunk as `start:removed>added`.
fn shown(book: &ReviewBook) -> Vec<String> {
    let hunks = book.hunks(Path::new(PATH)).into_iter();
    hunks
        .map(|hunk| {
            format!(
                "{}:{}>{}",
                hunk.start,
                hunk.removed.join(","),
                hunk.added.join(",")
            )
        })
        .collect()
}

#[test]
fn hunks_that_cancel_each_other_out_are_none() {
    let mut book = book("a\nb\na\nb\n");
    edit(&mut book, 0, 0, "a b", Author::Agent);
    assert_eq!(shown(&book), ["1:>a,b"]);
    edit(&mut book, 4, 6, "", Author::Agent);
    assert_eq!(shown(&book), [""; 0]);
}

#[test]
fn an_emptied_buffer_is_an_empty_file() {
    let mut book = ReviewBook::new();
    let path = Path::new(PATH);
    book.write(path, Some(""), Some("x\n"), Author::Agent);
    book.attach(path, "x\n");
    assert_eq!(shown(&book), ["1:>x"]);
    let emptied = LineEdit {
        start: 0,
        end: 1,
        lines: vec![String::new()],
    };
    book.edit(path, &emptied, Author::Person);
    assert_eq!(shown(&book), [""; 0]);
}

#[test]
fn a_part_of_a_removal_that_the_person_puts_back_is_removed_no_more() {
    for (start, words, left) in [
        (1, "b", "3:c,d>"),
        (1, "b c", "4:d>"),
        (1, "d", "2:b,c>"),
        (1, "c d", "2:b>"),
        (1, "other", "2:b,c,d>"),
    ] {
        let mut book = book("a\nb\nc\nd\ne\n");
        edit(&mut book, 1, 4, "", Author::Agent);
        assert_eq!(shown(&book), ["2:b,c,d>"]);
        edit(&mut book, start, start, words, Author::Person);
        assert_eq!(shown(&book), [left], "{words}");
    }
    let mut book = book("a\nb\nc\nd\ne\n");
    edit(&mut book, 1, 4, "", Author::Agent);
    edit(&mut book, 1, 1, "b c d", Author::Person);
    assert_eq!(shown(&book), [""; 0]);
}

#[test]
fn a_comparison_finds_each_change_where_it_stands() {
    let path = Path::new(PATH);
    for (before, after, expected) in [
        ("a\nb\nc\nd\n", "a\nB\nBB\nc\nD\n", vec!["2:b>B,BB", "5:d>D"]),
        (
            "a\nb\nc\nd\ne\nf\n",
            "a\nd\nE\nf\ng\n",
            vec!["2:b,c>", "3:e>E", "5:>g"],
        ),
    ] {
        let mut book = ReviewBook::new();
        book.write(path, Some(before), Some(after), Author::Agent);
        assert_eq!(shown(&book), expected);
    }
}

#[test]
fn what_is_read_from_a_journal_is_compared_anew() {
    let path = Path::new(PATH);
    let mut book = ReviewBook::new();
    let texts = Texts {
        base: Some("a\nb\nc\nd\ne\nf\n".into()),
        current: Some("a\nB\nBB\nc\nE\nf\nG\n".into()),
    };
    book.restore(path, &texts);
    assert_eq!(shown(&book), ["2:b>B,BB", "5:d,e>E", "7:>G"]);
    assert_eq!(book.export(path), Some(texts));
}

/// The edits of one undo block do not always come in order, and may leave nothing.
#[test]
fn a_batch_in_any_order_is_its_edits_from_the_last_to_the_first() {
    let path = Path::new(PATH);
    let cut = |start, end, lines: &[&str]| LineEdit {
        start,
        end,
        lines: lines.iter().map(ToString::to_string).collect(),
    };
    for edits in [
        vec![cut(3, 4, &["D"]), cut(0, 1, &["A", "AA"])],
        vec![cut(1, 3, &["X"]), cut(0, 2, &[])],
        vec![cut(0, 1, &[]), cut(1, 2, &[]), cut(2, 4, &[])],
        vec![cut(0, 4, &[])],
    ] {
        let (mut batch, mut single) = (book("a\nb\nc\nd\n"), book("a\nb\nc\nd\n"));
        batch.edit_batch(path, &edits, Author::Agent);
        for edit in edits.iter().rev() {
            single.edit(path, edit, Author::Agent);
        }
        assert_eq!(batch.export(path), single.export(path), "{edits:?}");
        assert_eq!(shown(&batch), shown(&single), "{edits:?}");
    }
}

#[test]
fn every_change_of_the_hunks_has_a_revision_of_its_own() {
    let path = Path::new(PATH);
    let mut book = book("a\nb\nc\n");
    let mut known = vec![book.revision(path)];
    let mut is_new = |book: &ReviewBook, what: &str| {
        let revision = book.revision(path);
        assert!(!known.contains(&revision), "{what}");
        known.push(revision);
    };
    edit(&mut book, 0, 1, "A", Author::Agent);
    is_new(&book, "an edit");
    book.accept(path, &Selector::All).unwrap();
    is_new(&book, "an acceptance");
    edit(&mut book, 2, 3, "C", Author::Agent);
    is_new(&book, "a second edit");
    book.mark(path, 1);
    edit(&mut book, 2, 3, "c", Author::Person);
    is_new(&book, "a rejection");
    edit(&mut book, 2, 3, "C", Author::Person);
    assert!(book.arrive(path, 1));
    is_new(&book, "a redo");
    book.remove(path, Author::Person);
    is_new(&book, "a removal");
}
