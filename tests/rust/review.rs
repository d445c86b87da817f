//! What the person sees waiting, decides, and gets back: the book by its public face. The laws over random
//! interleavings are in `src/review/laws.rs`.

// What changes a file behind its buffer, and what comes back after a rejection.
mod behind;
// What a decision does to the base, to the end of a file and to the file itself.
mod decided;
// How edits and hunks meet: what comes back, what cancels out, what a comparison finds.
mod met;
// What is drawn of the hunks.
mod seen;
// What the one who keeps the review on disk is told.
mod told;
// Files that changed as a whole.
mod whole;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use dcode::protocol::change::LineEdit;
use dcode::review::{Author, Existence, Hunk, Rejection, ReviewBook, ReviewError, Selector, Texts};

/// One buffer and the book that hears of its edits.
struct Desk {
    book: ReviewBook,
    path: PathBuf,
    lines: Vec<String>,
}

fn strings(lines: &[&str]) -> Vec<String> {
    lines.iter().map(ToString::to_string).collect()
}

impl Desk {
    fn new(lines: &[&str]) -> Self {
        let (mut book, path) = (ReviewBook::new(), PathBuf::from("/p/a.rs"));
        book.attach(&path, &(lines.join("\n") + "\n"));
        Self {
            book,
            path,
            lines: strings(lines),
        }
    }

    fn edit(&mut self, start: usize, end: usize, lines: &[&str], author: Author) {
        self.make(
            &LineEdit {
                start,
                end,
                lines: strings(lines),
            },
            author,
        );
    }

    fn make(&mut self, edit: &LineEdit, author: Author) {
        self.lines
            .splice(edit.start..edit.end, edit.lines.iter().cloned());
        if self.lines.is_empty() {
            self.lines.push(String::new());
        }
        self.book.edit(&self.path, edit, author);
    }

    fn agent(&mut self, start: usize, end: usize, lines: &[&str]) {
        self.edit(start, end, lines, Author::Agent);
    }

    fn person(&mut self, start: usize, end: usize, lines: &[&str]) {
        self.edit(start, end, lines, Author::Person);
    }

    fn hunks(&self) -> Vec<Hunk> {
        self.book.hunks(&self.path)
    }

    /// Each hunk as `start:removed>added`.
    fn shown(&self) -> Vec<String> {
        let show = |hunk: &Hunk| {
            format!(
                "{}:{}>{}",
                hunk.start,
                hunk.removed.join(","),
                hunk.added.join(",")
            )
        };
        self.hunks().iter().map(show).collect()
    }

    fn id(&self, index: usize) -> Selector {
        Selector::Hunk(self.hunks()[index].id)
    }

    fn accept(&mut self, selector: &Selector) -> usize {
        self.book.accept(&self.path, selector).unwrap()
    }

    fn reject(&mut self, selector: &Selector) -> Rejection {
        let rejection = self.book.rejection(&self.path, selector).unwrap();
        for edit in rejection.edits.iter().rev() {
            self.make(edit, Author::Person);
        }
        rejection
    }

    fn base(&self) -> Vec<String> {
        let base = self.book.export(&self.path).unwrap().base.unwrap();
        base.lines().map(str::to_owned).collect()
    }
}

#[test]
fn a_rewritten_region_shows_only_what_really_changed() {
    let mut desk = Desk::new(&["a", "b", "c", "d", "e", "f", "g"]);
    desk.agent(0, 7, &["a", "B", "c", "d", "f", "g", "h"]);
    assert_eq!(desk.shown(), ["2:b>B", "5:e>", "7:>h"]);
}

#[test]
fn changes_of_the_agent_that_touch_are_one_hunk_and_keep_its_id() {
    let mut desk = Desk::new(&["a", "b", "c", "d"]);
    desk.agent(1, 2, &["B"]);
    let id = desk.hunks()[0].id;
    desk.agent(2, 3, &["C"]);
    assert_eq!(desk.shown(), ["2:b,c>B,C"]);
    assert_eq!(desk.hunks()[0].id, id);
}

#[test]
fn what_the_agent_takes_back_itself_does_not_wait() {
    let mut desk = Desk::new(&["a", "b"]);
    desk.agent(1, 2, &["B", "C"]);
    desk.agent(1, 3, &["b"]);
    assert!(desk.hunks().is_empty());
    assert_eq!(desk.book.pending(), 0);
}

#[test]
fn typing_outside_hunks_moves_them_and_is_no_hunk() {
    let mut desk = Desk::new(&["a", "b", "c"]);
    desk.agent(1, 2, &["B"]);
    desk.person(0, 0, &["mine"]);
    desk.person(3, 4, &["c!"]);
    assert_eq!(desk.shown(), ["3:b>B"]);
    assert_eq!(desk.base(), ["mine", "a", "b", "c!"]);
}

#[test]
fn text_put_directly_beside_a_hunk_survives_its_rejection() {
    let mut desk = Desk::new(&["a", "b", "c"]);
    desk.agent(1, 2, &["B"]);
    desk.person(1, 1, &["above"]);
    desk.person(3, 3, &["below"]);
    desk.reject(&Selector::All);
    assert_eq!(desk.lines, ["a", "above", "b", "below", "c"]);
}

#[test]
fn text_put_where_lines_were_deleted_stands_after_them() {
    let mut desk = Desk::new(&["a", "gone", "c"]);
    desk.agent(1, 2, &[]);
    desk.person(1, 1, &["mine"]);
    desk.reject(&Selector::All);
    assert_eq!(desk.lines, ["a", "gone", "mine", "c"]);
}

#[test]
fn a_line_put_into_a_hunk_is_the_person_s() {
    let mut desk = Desk::new(&["a", "b", "c"]);
    desk.agent(1, 2, &["B", "BB"]);
    desk.person(2, 2, &["mine"]);
    assert_eq!(desk.shown(), ["2:b>B", "4:>BB"]);
    desk.reject(&Selector::All);
    assert_eq!(desk.lines, ["a", "b", "mine", "c"]);
    assert_eq!(desk.base(), desk.lines);
}

#[test]
fn what_the_person_makes_of_the_agents_line_goes_with_it() {
    let mut desk = Desk::new(&["a", "b", "c"]);
    desk.agent(1, 2, &["B", "BB"]);
    desk.person(2, 3, &["BB, changed"]);
    assert_eq!(desk.shown(), ["2:b>B,BB, changed"]);
    desk.accept(&Selector::All);
    assert_eq!(desk.base(), ["a", "B", "BB, changed", "c"]);
}

#[test]
fn what_was_rejected_comes_back_where_its_place_has_gone() {
    let mut desk = Desk::new(&["a", "b", "c", "d"]);
    desk.agent(1, 2, &["B"]);
    desk.agent(3, 3, &["new"]);
    desk.book.remember_rejected(&desk.path, &Selector::All);
    desk.reject(&Selector::All);
    desk.person(0, 0, &["b", "mine"]);
    let back = desk.book.bring_back(&desk.path).unwrap();
    for edit in back.iter().rev() {
        let lines: Vec<&str> = edit.lines.iter().map(String::as_str).collect();
        desk.agent(edit.start, edit.end, &lines);
    }
    assert_eq!(desk.shown(), ["4:b>B", "6:>new"]);
    assert_eq!(
        desk.book.bring_back(&desk.path),
        Err(ReviewError::NothingRejected)
    );
    // Where the lines are gone nothing is guessed.
    desk.book.remember_rejected(&desk.path, &Selector::All);
    desk.reject(&Selector::All);
    let all = desk.lines.len();
    desk.person(0, all, &["other"]);
    assert_eq!(
        desk.book.bring_back(&desk.path),
        Err(ReviewError::NothingRejected)
    );
}

#[test]
fn indenting_across_a_hunk_is_the_person_s_where_the_hunk_is_not() {
    let mut desk = Desk::new(&["a", "b", "c"]);
    desk.agent(1, 2, &["B"]);
    desk.person(0, 3, &["  a", "  B", "  c"]);
    desk.reject(&Selector::All);
    assert_eq!(desk.lines, ["  a", "b", "  c"]);
}

#[test]
fn deleting_across_a_hunk_deletes_only_the_person_s_lines_for_good() {
    let mut desk = Desk::new(&["a", "b", "c", "d"]);
    desk.agent(1, 2, &["B"]);
    desk.person(0, 3, &[]);
    desk.reject(&Selector::All);
    assert_eq!(desk.lines, ["b", "d"]);
}

#[test]
fn hunks_are_accepted_and_rejected_in_any_order() {
    let mut desk = Desk::new(&["a", "b", "c", "d", "e"]);
    desk.agent(0, 5, &["A", "b", "C", "d", "E"]);
    assert_eq!(desk.accept(&desk.id(1)), 1);
    desk.reject(&desk.id(0));
    desk.person(1, 1, &["mine"]);
    assert_eq!(desk.shown(), ["6:e>E"]);
    assert_eq!(desk.lines, ["a", "mine", "b", "C", "d", "E"]);
    desk.reject(&Selector::All);
    assert_eq!(desk.lines, ["a", "mine", "b", "C", "d", "e"]);
}

#[test]
fn a_part_of_a_hunk_is_decided_by_its_lines() {
    let mut desk = Desk::new(&["a", "b", "c", "d"]);
    desk.agent(0, 4, &["A", "B", "C", "D"]);
    assert_eq!(desk.accept(&Selector::Lines { first: 2, last: 2 }), 1);
    assert_eq!(desk.shown(), ["1:a>A", "3:c,d>C,D"]);
    desk.reject(&Selector::Lines { first: 4, last: 9 });
    assert_eq!(desk.lines, ["A", "B", "C", "d"]);
    assert_eq!(desk.shown(), ["1:a>A", "3:c>C"]);
}

#[test]
fn a_part_of_added_lines_can_go() {
    let mut desk = Desk::new(&["a", "z"]);
    desk.agent(1, 1, &["1", "2", "3"]);
    desk.reject(&Selector::Lines { first: 3, last: 3 });
    assert_eq!(desk.lines, ["a", "1", "3", "z"]);
    assert_eq!(desk.shown(), ["2:>1,3"]);
}

#[test]
fn deletions_stand_at_a_line_that_an_editor_shows() {
    let mut desk = Desk::new(&["a", "b", "c"]);
    desk.agent(0, 1, &[]);
    desk.agent(1, 2, &[]);
    let places: Vec<_> = desk
        .hunks()
        .iter()
        .map(|hunk| (hunk.start, hunk.count, hunk.at_end))
        .collect();
    assert_eq!(places, [(1, 0, false), (1, 0, true)]);
    let mut desk = Desk::new(&["a", "b"]);
    desk.agent(0, 2, &[]);
    assert_eq!(desk.shown(), ["1:a,b>"]);
    assert_eq!(
        desk.reject(&Selector::All).edits,
        [LineEdit {
            start: 0,
            end: 1,
            lines: strings(&["a", "b"])
        }]
    );
}

#[test]
fn a_decision_on_nothing_says_so() {
    let mut desk = Desk::new(&["a"]);
    assert_eq!(
        desk.book.accept(&desk.path, &Selector::All),
        Err(ReviewError::NoHunk)
    );
    let other = Path::new("/p/other");
    assert_eq!(
        desk.book.accept(other, &Selector::All),
        Err(ReviewError::NotTracked(other.into()))
    );
}

#[test]
fn next_and_previous_go_round() {
    let mut desk = Desk::new(&["a", "b", "c", "d", "e"]);
    desk.agent(0, 5, &["a", "B", "c", "D", "e"]);
    let next = |line| desk.book.next(&desk.path, line).map(|hunk| hunk.start);
    let previous = |line| desk.book.previous(&desk.path, line).map(|hunk| hunk.start);
    assert_eq!([next(1), next(2), next(4)], [Some(2), Some(4), Some(2)]);
    assert_eq!(
        [previous(5), previous(4), previous(2)],
        [Some(4), Some(2), Some(4)]
    );
    assert_eq!(desk.book.next(Path::new("/p/none"), 1), None);
}

#[test]
fn redone_edits_of_the_agent_wait_again() {
    let mut desk = Desk::new(&["a", "b"]);
    desk.book.mark(&desk.path, 0);
    desk.agent(1, 2, &["B"]);
    desk.book.mark(&desk.path, 1);
    desk.person(1, 2, &["b"]);
    assert!(desk.book.arrive(&desk.path, 0));
    assert!(desk.hunks().is_empty());
    desk.person(1, 2, &["B"]);
    assert!(
        desk.hunks().is_empty(),
        "without a memory a redo looks like typing"
    );
    assert!(desk.book.arrive(&desk.path, 1));
    assert_eq!(desk.shown(), ["2:b>B"]);
}

#[test]
fn undo_takes_back_text_and_never_the_person_s_word() {
    let mut desk = Desk::new(&["a", "b", "c"]);
    desk.agent(0, 1, &["A"]);
    desk.book.mark(&desk.path, 1);
    desk.agent(2, 3, &["C"]);
    desk.book.mark(&desk.path, 2);
    desk.accept(&desk.id(0));
    desk.book.mark(&desk.path, 2);
    desk.person(2, 3, &["c"]);
    assert!(desk.book.arrive(&desk.path, 1));
    assert!(desk.hunks().is_empty(), "the first hunk stays accepted");
    assert_eq!(desk.base(), ["A", "b", "c"]);
}

#[test]
fn another_text_is_not_the_remembered_moment() {
    let mut desk = Desk::new(&["a", "b"]);
    desk.agent(1, 2, &["B"]);
    desk.book.mark(&desk.path, 1);
    desk.person(0, 1, &["mine"]);
    assert!(!desk.book.arrive(&desk.path, 1));
    assert!(!desk.book.arrive(&desk.path, 7));
    assert_eq!(desk.shown(), ["2:b>B"]);
}

#[test]
fn a_file_that_the_agent_made_goes_away_unless_the_person_typed_in_it() {
    let path = Path::new("/p/new.rs");
    let mut book = ReviewBook::new();
    book.write(path, None, Some("x\ny\n"), Author::Agent);
    assert_eq!(book.hunks(path)[0].file, Some(Existence::Created));
    let rejection = book.rejection(path, &Selector::All).unwrap();
    assert!(rejection.remove_file);
    assert_eq!(rejection.text, None);
    book.attach(path, "x\ny\n");
    book.edit(
        path,
        &LineEdit {
            start: 1,
            end: 1,
            lines: strings(&["mine"]),
        },
        Author::Person,
    );
    let rejection = book.rejection(path, &Selector::All).unwrap();
    assert!(!rejection.remove_file);
    for edit in rejection.edits.iter().rev() {
        book.edit(path, edit, Author::Person);
    }
    assert_eq!(book.hunks(path), []);
    assert_eq!(book.export(path).unwrap().base.as_deref(), Some("mine\n"));
}

#[test]
fn lines_that_the_person_adds_to_a_made_file_stay() {
    let path = Path::new("/p/new.rs");
    let mut book = ReviewBook::new();
    book.write(path, None, Some("x\n"), Author::Agent);
    book.attach(path, "x\n");
    book.edit(
        path,
        &LineEdit {
            start: 1,
            end: 1,
            lines: strings(&["mine"]),
        },
        Author::Person,
    );
    let rejection = book.rejection(path, &Selector::All).unwrap();
    assert_eq!(
        (rejection.remove_file, rejection.text.as_deref()),
        (false, Some("mine\n"))
    );
}

#[test]
fn an_empty_file_that_was_made_waits_too() {
    let path = Path::new("/p/empty");
    let mut book = ReviewBook::new();
    book.write(path, None, Some(""), Author::Agent);
    assert_eq!(book.pending(), 1);
    assert!(book.rejection(path, &Selector::All).unwrap().remove_file);
    assert_eq!(book.accept(path, &Selector::All), Ok(1));
    assert!(!book.is_tracked(path));
}

#[test]
fn a_deleted_file_comes_back_as_it_was() {
    let path = Path::new("/p/f.txt");
    let mut book = ReviewBook::new();
    book.write(path, Some("orig\r\nb"), None, Author::Agent);
    assert_eq!(book.hunks(path)[0].file, Some(Existence::Deleted));
    let rejection = book.rejection(path, &Selector::All).unwrap();
    assert_eq!(rejection.text.as_deref(), Some("orig\r\nb"));
    book.write(path, None, rejection.text.as_deref(), Author::Person);
    assert!(!book.is_tracked(path));
}

/// Case NVIM-17: the base is the state before the first pending change.
#[test]
fn deleted_and_made_again_is_rejected_to_the_original() {
    let path = Path::new("/p/f.txt");
    let mut book = ReviewBook::new();
    book.write(path, Some("orig\n"), None, Author::Agent);
    book.write(path, None, Some("new\n"), Author::Agent);
    let rejection = book.rejection(path, &Selector::All).unwrap();
    assert_eq!(
        (rejection.remove_file, rejection.text.as_deref()),
        (false, Some("orig\n"))
    );
}

/// Case NVIM-09: a dos file without a final newline.
#[test]
fn dos_line_endings_and_a_missing_newline_are_no_changes() {
    let path = Path::new("/p/d.txt");
    let mut book = ReviewBook::new();
    book.write(path, Some("foo\r\nbar"), Some("FOO\r\nbar"), Author::Agent);
    let hunks = book.hunks(path);
    assert_eq!(
        (hunks.len(), &hunks[0].removed, &hunks[0].added),
        (1, &strings(&["foo"]), &strings(&["FOO"]))
    );
    assert_eq!(
        book.attach(path, "FOO\nbar"),
        1,
        "a buffer keeps the endings apart"
    );
    assert_eq!(
        book.rejection(path, &Selector::All).unwrap().text.as_deref(),
        Some("foo\r\nbar")
    );
}

#[test]
fn line_endings_that_the_agent_changed_wait() {
    let path = Path::new("/p/d.txt");
    let mut book = ReviewBook::new();
    book.write(path, Some("a\r\nb\r\n"), Some("a\nb\r\n"), Author::Agent);
    assert_eq!(book.hunks(path)[0].removed, ["a\r"]);
    assert_eq!(
        book.rejection(path, &Selector::All).unwrap().text.as_deref(),
        Some("a\r\nb\r\n")
    );
}

#[test]
fn a_final_newline_alone_waits_at_the_last_line() {
    let path = Path::new("/p/n.txt");
    let mut book = ReviewBook::new();
    book.write(path, Some("a\nb\n"), Some("a\nb"), Author::Agent);
    let hunks = book.hunks(path);
    assert_eq!((hunks[0].start, hunks[0].final_newline), (2, Some(false)));
    let rejection = book.rejection(path, &Selector::Hunk(hunks[0].id)).unwrap();
    assert_eq!(
        (rejection.eol, rejection.text.as_deref()),
        (Some(true), Some("a\nb\n"))
    );
    book.attach(path, "a\nb");
    book.set_eol(path, true, Author::Person);
    assert_eq!(book.hunks(path), []);
}

#[test]
fn what_changed_behind_the_book_is_the_person_s() {
    let path = Path::new("/p/a.txt");
    let mut book = ReviewBook::new();
    book.write(path, Some("a\nb\nc\n"), Some("a\nB\nc\n"), Author::Agent);
    book.write(
        path,
        Some("a\nB\nc\nmine\n"),
        Some("A\nB\nc\nmine\n"),
        Author::Agent,
    );
    let rejection = book.rejection(path, &Selector::All).unwrap();
    assert_eq!(rejection.text.as_deref(), Some("a\nb\nc\nmine\n"));
    book.resync(path, "A\nB\nc\nyours\n");
    assert_eq!(
        book.export(path).unwrap().base.as_deref(),
        Some("a\nb\nc\nyours\n")
    );
}

#[test]
fn a_file_leaves_the_book_when_nothing_waits_and_no_buffer_reports() {
    let mut desk = Desk::new(&["a"]);
    desk.agent(0, 1, &["b"]);
    desk.book.detach(&desk.path);
    assert!(desk.book.is_tracked(&desk.path), "what waits stays");
    assert_eq!(desk.book.attach(&desk.path, "b\n"), 1);
    desk.accept(&Selector::All);
    assert!(desk.book.is_tracked(&desk.path), "undo may bring something back");
    desk.book.detach(&desk.path);
    assert!(!desk.book.is_tracked(&desk.path));
}

#[test]
fn what_waits_is_there_again_from_its_two_texts() {
    let mut desk = Desk::new(&["a", "b", "c", "d"]);
    desk.agent(0, 4, &["A", "b", "c", "D"]);
    desk.person(2, 2, &["mine"]);
    let texts = desk.book.export(&desk.path).unwrap();
    let mut book = ReviewBook::new();
    book.restore(&desk.path, &texts);
    assert_eq!(book.export(&desk.path), Some(texts));
    let told = |hunk: Hunk| (hunk.start, hunk.removed, hunk.added);
    let before: Vec<_> = desk.hunks().into_iter().map(told).collect();
    let after: Vec<_> = book.hunks(&desk.path).into_iter().map(told).collect();
    assert_eq!(after, before);
    let settled = Texts {
        base: Some("a\n".into()),
        current: Some("a\n".into()),
    };
    book.restore(&desk.path, &settled);
    assert!(!book.is_tracked(&desk.path));
}

#[test]
fn all_lists_files_in_the_order_of_their_paths() {
    let mut book = ReviewBook::new();
    book.write(Path::new("/p/b"), Some("x\n"), Some("y\n"), Author::Agent);
    book.write(Path::new("/p/a"), Some("x\n"), Some("y\n"), Author::Agent);
    let paths: Vec<_> = book.pending_files().collect();
    assert_eq!(paths, [Path::new("/p/a"), Path::new("/p/b")]);
    assert_eq!((book.pending(), book.count(Path::new("/p/a"))), (2, 1));
    let id = book.hunks(Path::new("/p/b"))[0].id;
    assert_eq!(book.find(id), Some(Path::new("/p/b")));
}

/// Typing must not feel a large file, nor many hunks.
///
/// `cargo test --release --no-default-features --test rust review::a_keystroke -- --ignored --nocapture`
#[test]
#[ignore = "measures; needs an optimised build"]
fn a_keystroke_in_a_large_file_costs_little() {
    let small = keystroke(100, 100);
    let large = keystroke(100_000, 200);
    println!("a keystroke: {small:?} in 100 lines with 1 hunk, {large:?} in 100,000 with 500");
    println!("ratio {:.1}", large.as_secs_f64() / small.as_secs_f64());
}

/// What one costs in a text with a change of the agent every so many lines.
fn keystroke(count: usize, every: usize) -> std::time::Duration {
    let lines: Vec<String> = (0..count).map(|n| format!("line {n}")).collect();
    let path = Path::new("/p/big.txt");
    let mut book = ReviewBook::new();
    book.attach(path, &(lines.join("\n") + "\n"));
    for n in (0..count).step_by(every) {
        let edit = LineEdit {
            start: n,
            end: n + 1,
            lines: strings(&["changed"]),
        };
        book.edit(path, &edit, Author::Agent);
    }
    assert_eq!(book.count(path), count / every);
    let started = std::time::Instant::now();
    for n in 0..100 {
        let edit = LineEdit {
            start: 50,
            end: 51,
            lines: vec![format!("typed {n}")],
        };
        book.edit(path, &edit, Author::Person);
        book.mark(path, n);
    }
    started.elapsed() / 100
}

#[test]
fn who_kept_the_review_before_takes_nothing_any_more() {
    let mut book = ReviewBook::new();
    let texts = Texts {
        base: Some("a\n".into()),
        current: Some("b\n".into()),
    };
    let before = book.watch(Arc::new(|_| {}));
    book.restore(Path::new("/p/a"), &texts);
    let now = book.watch(Arc::new(|_| {}));
    assert!(book.take_changed(before).is_empty());
    let taken: Vec<PathBuf> = book.take_changed(now).into_iter().map(|(path, _)| path).collect();
    assert_eq!(taken, [PathBuf::from("/p/a")]);
    book.unwatch();
    book.restore(Path::new("/p/b"), &texts);
    assert!(book.take_changed(now).is_empty());
    // Whoever begins to keep it hears of all that waits.
    let next = book.watch(Arc::new(|_| {}));
    assert_eq!(book.take_changed(next).len(), 2);
}
