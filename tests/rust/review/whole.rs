//! Files that changed as a whole: bytes that are no text, permission bits, files that came and went.

use std::path::Path;

use dcode::protocol::change::{ContentHash, LineEdit};
use dcode::review::{Author, Existence, FileState, ReviewBook, ReviewError, Selector, WholeKind};

fn bits(mode: u32) -> Option<FileState> {
    Some(FileState { blob: None, mode })
}

fn bytes(content: &str, mode: u32) -> Option<FileState> {
    let blob = Some(ContentHash::of(content.as_bytes()));
    Some(FileState { blob, mode })
}

#[test]
fn bits_wait_as_one_hunk_on_the_first_line() {
    let path = Path::new("/p/run.sh");
    let mut book = ReviewBook::new();
    book.change_whole(path, bits(0o644), bits(0o755));
    let hunks = book.hunks(path);
    assert_eq!((hunks.len(), hunks[0].start, hunks[0].count), (1, 1, 0));
    let (from, to) = ("644".to_owned(), "755".to_owned());
    assert_eq!(hunks[0].whole, Some(WholeKind::Mode { from, to }));
    assert_eq!(hunks[0].file, None);
    assert_eq!((book.count(path), book.pending()), (1, 1));
    assert_eq!(book.find(hunks[0].id), Some(path));
    assert_eq!(book.pending_files().collect::<Vec<_>>(), [path]);
    assert_eq!(book.spans(path).len(), 1);
}

#[test]
fn bytes_that_are_no_text_wait_with_what_became_of_the_file() {
    let path = Path::new("/p/x.png");
    for (before, after, file) in [
        (bytes("a", 0o644), bytes("b", 0o644), None),
        (None, bytes("b", 0o644), Some(Existence::Created)),
        (bytes("a", 0o644), None, Some(Existence::Deleted)),
    ] {
        let mut book = ReviewBook::new();
        book.change_whole(path, before, after);
        let hunk = book.hunks(path).remove(0);
        assert_eq!((hunk.whole, hunk.file), (Some(WholeKind::Binary), file));
    }
}

#[test]
fn what_waits_goes_on_from_what_it_was_and_vanishes_when_it_is_that_again() {
    let path = Path::new("/p/x.png");
    let mut book = ReviewBook::new();
    book.change_whole(path, bytes("a", 0o644), bytes("b", 0o644));
    let id = book.hunks(path)[0].id;
    book.change_whole(path, bytes("b", 0o644), bytes("c", 0o644));
    assert_eq!(book.hunks(path)[0].id, id);
    let whole = book.rejection(path, &Selector::All).unwrap().whole.unwrap();
    assert_eq!(
        (whole.before, whole.after),
        (bytes("a", 0o644), bytes("c", 0o644))
    );
    book.change_whole(path, bytes("c", 0o644), bytes("a", 0o644));
    assert_eq!((book.hunks(path), book.pending()), (vec![], 0));
    book.change_whole(path, bits(0o644), bits(0o600));
    book.settle_whole(path);
    assert_eq!((book.hunks(path), book.find(id)), (vec![], None));
}

#[test]
fn it_is_decided_on_by_name_or_with_all_and_not_by_lines() {
    let (path, other) = (Path::new("/p/run.sh"), Path::new("/p/other"));
    let mut book = ReviewBook::new();
    book.change_whole(path, bits(0o644), bits(0o755));
    book.change_whole(other, bits(0o644), bits(0o755));
    let lines = Selector::Lines { first: 1, last: 9 };
    let strange = Selector::Hunk(book.hunks(other)[0].id);
    for selector in [lines, strange] {
        let not_tracked = ReviewError::NotTracked(path.to_owned());
        assert_eq!(book.accept(path, &selector), Err(not_tracked.clone()));
        assert_eq!(book.rejection(path, &selector), Err(not_tracked));
    }
    let by_name = Selector::Hunk(book.hunks(path)[0].id);
    let rejection = book.rejection(path, &by_name).unwrap();
    assert_eq!((rejection.hunks, rejection.edits.len()), (1, 0));
    assert_eq!(book.accept(path, &by_name), Ok(1));
    assert_eq!((book.count(path), book.count(other)), (0, 1));
    assert_eq!(book.accept(other, &Selector::All), Ok(1));
    assert_eq!(book.pending(), 0);
}

#[test]
fn bits_and_lines_of_one_file_wait_side_by_side() {
    let path = Path::new("/p/run.sh");
    let mut book = ReviewBook::new();
    book.attach(path, "a\nb\nc\n");
    book.edit(
        path,
        &LineEdit {
            start: 2,
            end: 3,
            lines: vec!["C".into()],
        },
        Author::Agent,
    );
    book.change_whole(path, bits(0o644), bits(0o755));
    assert_eq!((book.count(path), book.pending()), (2, 2));
    assert_eq!(book.pending_files().count(), 1);
    let starts: Vec<usize> = book.spans(path).iter().map(|span| span.start).collect();
    assert_eq!(starts, [1, 3]);
    assert_eq!(book.all(), [(path, book.hunks(path))]);
    let rejection = book.rejection(path, &Selector::All).unwrap();
    assert_eq!((rejection.hunks, rejection.edits.len()), (2, 1));
    assert!(rejection.whole.is_some());
    let only_lines = book
        .rejection(path, &Selector::Lines { first: 3, last: 3 })
        .unwrap();
    assert_eq!((only_lines.hunks, only_lines.whole), (1, None));
    assert_eq!(book.accept(path, &Selector::All), Ok(2));
    assert_eq!(book.count(path), 0);
}
