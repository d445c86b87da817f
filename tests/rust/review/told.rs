//! What the one who keeps the review on disk is told: when, how urgently, and with which texts.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use dcode::protocol::change::LineEdit;
use dcode::review::{Author, Keeper, ReviewBook, Selector, Urgency};

const PATH: &str = "/p/a.rs";

/// A book with one buffer, and what was told since it was last asked.
struct Told {
    book: ReviewBook,
    keeper: Keeper,
    heard: Arc<Mutex<Vec<Urgency>>>,
}

impl Told {
    fn new(text: &str) -> Self {
        let (mut book, heard) = (ReviewBook::new(), Arc::<Mutex<Vec<Urgency>>>::default());
        let told = Arc::clone(&heard);
        let keeper = book.watch(Arc::new(move |urgency| told.lock().unwrap().push(urgency)));
        let mut told = Self { book, keeper, heard };
        told.book.attach(Path::new(PATH), text);
        told
    }

    fn edit(&mut self, start: usize, end: usize, lines: &[&str], author: Author) {
        self.book.edit(Path::new(PATH), &edit(start, end, lines), author);
    }

    /// What was heard, and the current text of each file that changed; `None` = nothing waits in it.
    fn since(&mut self) -> (Vec<Urgency>, Vec<(PathBuf, Option<String>)>) {
        let heard = std::mem::take(&mut *self.heard.lock().unwrap());
        let changed = self.book.take_changed(self.keeper).into_iter();
        let text = |moment: dcode::review::Moment| moment.texts().current;
        (
            heard,
            changed
                .map(|(path, moment)| (path, moment.and_then(text)))
                .collect(),
        )
    }

    /// The same of the one file.
    fn of_file(&mut self) -> (Vec<Urgency>, Option<Option<String>>) {
        let (heard, mut changed) = self.since();
        let last = changed.pop();
        assert!(changed.is_empty() && last.as_ref().is_none_or(|(path, _)| path == Path::new(PATH)));
        (heard, last.map(|(_, text)| text))
    }
}

fn edit(start: usize, end: usize, lines: &[&str]) -> LineEdit {
    LineEdit {
        start,
        end,
        lines: lines.iter().map(ToString::to_string).collect(),
    }
}

fn waits(text: &str) -> Option<Option<String>> {
    Some(Some(text.to_owned()))
}

#[test]
fn what_the_agent_does_is_urgent_and_what_is_typed_can_wait() {
    let mut told = Told::new("a\nb\nc\n");
    told.edit(0, 1, &["typed"], Author::Person);
    assert_eq!(told.of_file(), (vec![], None), "nothing waits, before and after");
    told.edit(1, 2, &["B"], Author::Agent);
    assert_eq!(told.of_file(), (vec![Urgency::Soon], waits("typed\nB\nc\n")));
    told.edit(2, 3, &["mine"], Author::Person);
    assert_eq!(told.of_file(), (vec![Urgency::Later], waits("typed\nB\nmine\n")));
    told.edit(1, 2, &["b"], Author::Person);
    assert_eq!(
        told.of_file(),
        (vec![Urgency::Later], Some(None)),
        "settled by typing"
    );
}

#[test]
fn the_same_is_said_once_and_something_more_urgent_again() {
    let mut told = Told::new("a\nb\nc\n");
    told.edit(0, 1, &["A"], Author::Agent);
    told.since();
    told.edit(1, 2, &["x"], Author::Person);
    told.edit(1, 2, &["y"], Author::Person);
    told.edit(2, 3, &["C"], Author::Agent);
    told.edit(1, 2, &["z"], Author::Person);
    assert_eq!(told.of_file().0, [Urgency::Later, Urgency::Soon]);
}

#[test]
fn a_batch_and_a_final_newline_are_told_like_edits() {
    let mut told = Told::new("a\nb\nc\n");
    let path = Path::new(PATH);
    let batch = [edit(0, 1, &["A"]), edit(2, 3, &["C"])];
    told.book.edit_batch(path, &batch, Author::Person);
    told.book.set_eol(path, false, Author::Person);
    assert_eq!(told.of_file(), (vec![], None));
    told.book.set_eol(path, true, Author::Agent);
    assert_eq!(told.of_file(), (vec![Urgency::Soon], waits("A\nb\nC\n")));
    told.book.set_eol(path, false, Author::Person);
    assert_eq!(told.of_file(), (vec![Urgency::Later], Some(None)));
    told.book.edit_batch(path, &batch, Author::Agent);
    assert_eq!(told.of_file(), (vec![], None), "the batch changes nothing");
    told.book.edit_batch(path, &[edit(1, 2, &["B"])], Author::Agent);
    assert_eq!(told.of_file(), (vec![Urgency::Soon], waits("A\nB\nC")));
}

#[test]
fn what_another_program_writes_is_told_where_something_waits_or_waited() {
    let mut told = Told::new("a\nb\n");
    let path = Path::new(PATH);
    told.book.resync(path, "a\nc\n");
    assert_eq!(told.of_file(), (vec![], None));
    told.edit(0, 1, &["A"], Author::Agent);
    told.since();
    told.book.resync(path, "A\nd\n");
    assert_eq!(told.of_file(), (vec![Urgency::Later], waits("A\nd\n")));
    told.book.resync(path, "a\nd\n");
    assert_eq!(told.of_file(), (vec![Urgency::Later], Some(None)));
}

#[test]
fn decisions_and_moments_that_come_back_are_told() {
    let mut told = Told::new("a\nb\nc\n");
    let path = Path::new(PATH);
    told.edit(0, 3, &["A", "b", "C"], Author::Agent);
    told.book.mark(path, 1);
    told.since();
    assert_eq!(
        told.book
            .accept(path, &Selector::Lines { first: 2, last: 2 })
            .ok(),
        None
    );
    assert_eq!(told.of_file(), (vec![], None), "nothing was decided");
    assert_eq!(
        told.book.accept(path, &Selector::Lines { first: 1, last: 1 }),
        Ok(1)
    );
    assert_eq!(told.of_file(), (vec![Urgency::Soon], waits("A\nb\nC\n")));
    assert!(!told.book.arrive(path, 9));
    assert_eq!(told.of_file(), (vec![], None));
    assert!(told.book.arrive(path, 1));
    assert_eq!(told.of_file().0, [Urgency::Soon]);
}

#[test]
fn one_who_begins_to_watch_hears_of_all_that_waits() {
    let mut book = ReviewBook::new();
    book.write(Path::new("/p/b"), Some("x\n"), Some("y\n"), Author::Agent);
    book.attach(Path::new("/p/c"), "settled\n");
    book.write(Path::new("/p/a"), Some("x\n"), None, Author::Agent);
    let keeper = book.watch(Arc::new(|_| {}));
    let changed: Vec<_> = book
        .take_changed(keeper)
        .into_iter()
        .map(|(path, moment)| {
            let texts = moment.unwrap().texts();
            (path, texts.base, texts.current)
        })
        .collect();
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(
        changed,
        [
            (PathBuf::from("/p/a"), text("x\n"), None),
            (PathBuf::from("/p/b"), text("x\n"), text("y\n")),
        ]
    );
    assert_eq!(book.take_changed(keeper).len(), 0, "taken");
}

#[test]
fn a_buffer_that_comes_or_is_removed_is_told_where_something_waits() {
    let mut told = Told::new("a\n");
    let path = Path::new(PATH);
    told.book.remove(path, Author::Agent);
    assert_eq!(told.since().0, [Urgency::Soon]);
    told.book.attach(path, "");
    assert_eq!(told.since().0, [Urgency::Later], "the file is gone all the same");
    assert_eq!(told.book.count(path), 1);
    told.book.remove(path, Author::Person);
    let (heard, changed) = told.since();
    assert_eq!(
        (heard, changed),
        (vec![Urgency::Soon], vec![(path.to_owned(), None)])
    );
    told.book.attach(path, "new\n");
    assert_eq!(told.since().0, []);
}

#[test]
fn a_change_of_the_hunks_is_numbered_and_a_shift_of_their_lines_is_not() {
    let mut told = Told::new("a\nb\nc\n");
    let path = Path::new(PATH);
    let mut last = told.book.revision(path);
    let mut grows = |told: &Told| {
        let before = std::mem::replace(&mut last, told.book.revision(path));
        last > before
    };
    told.edit(1, 2, &["B"], Author::Agent);
    assert!(grows(&told));
    told.edit(0, 0, &["mine", "and mine"], Author::Person);
    assert!(!grows(&told));
    told.edit(3, 4, &["BB"], Author::Agent);
    assert!(grows(&told));
    told.edit(3, 4, &["BBB"], Author::Person);
    assert!(grows(&told));
    told.book.set_eol(path, false, Author::Agent);
    assert!(grows(&told));
    told.book.set_eol(path, false, Author::Agent);
    assert!(!grows(&told));
    assert_eq!(told.book.accept(path, &Selector::All), Ok(2));
    assert!(grows(&told));
    assert_eq!(told.book.revision(Path::new("/p/other")), 0);
}
