//! The laws of the module's documentation, over random interleavings.

use std::path::Path;

use proptest::prelude::*;

use crate::protocol::change::LineEdit;
use crate::review::hunk::{Author, Selector};
use crate::review::state::patched;
use crate::review::{Hunk, ReviewBook};

const PATH: &str = "/p/a.txt";

/// One thing that happens. Numbers are taken modulo what there is.
#[derive(Clone, Debug)]
enum Deed {
    Agent {
        at: usize,
        cut: usize,
        put: Vec<String>,
    },
    Person {
        at: usize,
        cut: usize,
        put: Vec<String>,
    },
    /// The person puts a line that occurs nowhere else.
    Token {
        at: usize,
    },
    Accept(Pick),
    Reject(Pick),
    Undo,
    Redo,
    Reload {
        at: usize,
        put: Vec<String>,
    },
}

#[derive(Clone, Debug)]
enum Pick {
    Hunk(usize),
    Lines { at: usize, count: usize },
    All,
}

/// An editor with linear undo, beside the book it reports to.
struct Editor {
    book: ReviewBook,
    lines: Vec<String>,
    /// Text at each undo sequence number, and whether it was marked with hunks then.
    past: Vec<Vec<String>>,
    seq: usize,
    tokens: Vec<String>,
    fresh: usize,
}

impl Editor {
    fn new(lines: Vec<String>) -> Self {
        let mut book = ReviewBook::new();
        let lines = if lines.is_empty() {
            vec![String::new()]
        } else {
            lines
        };
        book.attach(Path::new(PATH), &(lines.join("\n") + "\n"));
        book.mark(Path::new(PATH), 0);
        Self {
            book,
            past: vec![lines.clone()],
            lines,
            seq: 0,
            tokens: Vec::new(),
            fresh: 0,
        }
    }

    fn hunks(&self) -> Vec<Hunk> {
        self.book.hunks(Path::new(PATH))
    }

    /// Changes the buffer and reports it.
    fn change(&mut self, edit: &LineEdit, author: Author) {
        self.lines
            .splice(edit.start..edit.end, edit.lines.iter().cloned());
        if self.lines.is_empty() {
            self.lines.push(String::new());
        }
        self.book.edit(Path::new(PATH), edit, author);
    }

    /// The text came to rest in a new undo state.
    fn rest(&mut self) {
        self.past.truncate(self.seq + 1);
        self.past.push(self.lines.clone());
        self.seq += 1;
        self.book.mark(Path::new(PATH), self.seq as u64);
    }

    fn edit(&self, at: usize, cut: usize, put: &[String]) -> LineEdit {
        let start = at % (self.lines.len() + 1);
        let end = (start + cut).min(self.lines.len());
        LineEdit {
            start,
            end,
            lines: put.to_vec(),
        }
    }

    fn selector(&self, pick: &Pick) -> Selector {
        let hunks = self.hunks();
        match *pick {
            Pick::Hunk(at) if !hunks.is_empty() => Selector::Hunk(hunks[at % hunks.len()].id),
            Pick::Lines { at, count } => {
                let first = at % self.lines.len() + 1;
                Selector::Lines {
                    first,
                    last: first + count,
                }
            }
            _ => Selector::All,
        }
    }

    fn reject(&mut self, selector: &Selector) {
        let Ok(rejection) = self.book.rejection(Path::new(PATH), selector) else {
            return;
        };
        for edit in rejection.edits.iter().rev() {
            self.change(edit, Author::Person);
        }
    }

    fn travel(&mut self, seq: usize) {
        let goal = self.past[seq].clone();
        let same = self.lines.iter().zip(&goal).take_while(|(a, b)| a == b).count();
        let edit = LineEdit {
            start: same,
            end: self.lines.len(),
            lines: goal[same..].to_vec(),
        };
        self.change(&edit, Author::Person);
        assert_eq!(self.lines, goal);
        self.seq = seq;
        assert!(
            self.book.arrive(Path::new(PATH), seq as u64),
            "the moment {seq} is remembered"
        );
        self.tokens.clear();
    }

    fn perform(&mut self, deed: &Deed) {
        match deed {
            Deed::Agent { at, cut, put } => {
                let edit = self.edit(*at, *cut, put);
                self.change(&edit, Author::Agent);
                self.rest();
            }
            Deed::Person { at, cut, put } => {
                let edit = self.edit(*at, *cut, put);
                let gone = &self.lines[edit.start..edit.end];
                self.tokens.retain(|token| !gone.contains(token));
                self.change(&edit, Author::Person);
                self.rest();
            }
            Deed::Token { at } => {
                let at = at % (self.lines.len() + 1);
                self.fresh += 1;
                let token = format!("token {}", self.fresh);
                self.change(
                    &LineEdit {
                        start: at,
                        end: at,
                        lines: vec![token.clone()],
                    },
                    Author::Person,
                );
                self.tokens.push(token);
                self.rest();
            }
            Deed::Accept(pick) => {
                let selector = self.selector(pick);
                let before = self.lines.clone();
                let taken: Vec<String> = self.hunks().into_iter().flat_map(|hunk| hunk.removed).collect();
                let _ = self.book.accept(Path::new(PATH), &selector);
                self.tokens
                    .retain(|token| !taken.contains(token) || before.contains(token));
                self.book.mark(Path::new(PATH), self.seq as u64);
            }
            Deed::Reject(pick) => {
                let selector = self.selector(pick);
                self.reject(&selector);
                self.rest();
            }
            Deed::Undo if self.seq > 0 => self.travel(self.seq - 1),
            Deed::Redo if self.seq + 1 < self.past.len() => self.travel(self.seq + 1),
            Deed::Undo | Deed::Redo => {}
            Deed::Reload { at, put } => {
                let edit = self.edit(*at, 2, put);
                self.lines
                    .splice(edit.start..edit.end, edit.lines.iter().cloned());
                if self.lines.is_empty() {
                    self.lines.push(String::new());
                }
                self.tokens.clear();
                self.book.resync(Path::new(PATH), &(self.lines.join("\n") + "\n"));
                self.rest();
            }
        }
    }

    /// Laws 1 and 2.
    fn check(&self) -> Result<(), TestCaseError> {
        let state = self.book.file(Path::new(PATH)).expect("attached").state();
        let text = state.current.text(false).unwrap_or_default();
        prop_assert_eq!(text, self.lines.join("\n") + "\n");
        prop_assert_eq!(state.problem(), None);
        prop_assert_eq!(patched(state), state.current.lines.clone());
        for hunk in self.hunks() {
            prop_assert!(1 <= hunk.start && hunk.start <= self.lines.len(), "{:?}", hunk);
        }
        Ok(())
    }

    fn base(&self) -> String {
        self.book
            .export(Path::new(PATH))
            .expect("attached")
            .base
            .unwrap_or_default()
    }
}

fn line() -> impl Strategy<Value = String> {
    // Few words, so that lines repeat and diffs are ambiguous.
    prop::sample::select(vec!["", "a", "b", "c", "}", "x = 1"]).prop_map(str::to_owned)
}

fn text(max: usize) -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(line(), 0..max)
}

fn pick() -> impl Strategy<Value = Pick> {
    prop_oneof![
        4 => any::<usize>().prop_map(Pick::Hunk),
        2 => (any::<usize>(), 0..4usize).prop_map(|(at, count)| Pick::Lines { at, count }),
        1 => Just(Pick::All),
    ]
}

fn deed() -> impl Strategy<Value = Deed> {
    let edit = || (any::<usize>(), 0..4usize, text(4));
    prop_oneof![
        4 => edit().prop_map(|(at, cut, put)| Deed::Agent { at, cut, put }),
        4 => edit().prop_map(|(at, cut, put)| Deed::Person { at, cut, put }),
        2 => any::<usize>().prop_map(|at| Deed::Token { at }),
        2 => pick().prop_map(Deed::Accept),
        2 => pick().prop_map(Deed::Reject),
        2 => Just(Deed::Undo),
        1 => Just(Deed::Redo),
        1 => (any::<usize>(), text(3)).prop_map(|(at, put)| Deed::Reload { at, put }),
    ]
}

fn deeds() -> impl Strategy<Value = (Vec<String>, Vec<Deed>)> {
    (text(12), prop::collection::vec(deed(), 1..30))
}

fn played(start: Vec<String>, deeds: &[Deed]) -> Result<Editor, TestCaseError> {
    let mut editor = Editor::new(start);
    for deed in deeds {
        editor.perform(deed);
        editor.check()?;
    }
    Ok(editor)
}

proptest! {

    #[test]
    fn accept_all_keeps_the_text((start, deeds) in deeds()) {
        let mut editor = played(start, &deeds)?;
        let _ = editor.book.accept(Path::new(PATH), &Selector::All);
        editor.check()?;
        prop_assert_eq!(editor.hunks(), vec![]);
        prop_assert_eq!(editor.base(), editor.lines.join("\n") + "\n");
    }

    #[test]
    fn reject_all_gives_the_base((start, deeds) in deeds()) {
        let mut editor = played(start, &deeds)?;
        let base = editor.base();
        let tokens = editor.tokens.clone();
        editor.reject(&Selector::All);
        editor.check()?;
        prop_assert_eq!(editor.hunks(), vec![]);
        prop_assert_eq!(editor.base(), base.clone());
        prop_assert_eq!(editor.lines.join("\n") + "\n", base);
        for token in tokens {
            prop_assert!(editor.lines.contains(&token), "{} is lost", token);
        }
    }

    #[test]
    fn decisions_commute((start, deeds) in deeds(), first in pick(), second in pick(), accepts in any::<(bool, bool)>()) {
        let editor = played(start, &deeds)?;
        let (one, two) = (editor.selector(&first), editor.selector(&second));
        let (Selector::Hunk(a), Selector::Hunk(b)) = (one, two) else { return Ok(()) };
        prop_assume!(a != b);
        let decide = |editor: &Editor, order: [(Selector, bool); 2]| {
            let mut editor = Editor { book: editor.book.clone(), lines: editor.lines.clone(), past: vec![],
                seq: 0, tokens: vec![], fresh: 0 };
            for (selector, accept) in order {
                if editor.hunks().is_empty() {
                    return None; // among equal lines, those that are left may cancel each other out
                }
                if accept {
                    editor.book.accept(Path::new(PATH), &selector).expect("it is there");
                } else {
                    editor.reject(&selector);
                }
            }
            let hunks: Vec<_> = editor.hunks().into_iter().map(|hunk| (hunk.start, hunk.removed, hunk.added)).collect();
            Some((editor.base(), editor.lines, hunks))
        };
        let forth = decide(&editor, [(one, accepts.0), (two, accepts.1)]);
        let back = decide(&editor, [(two, accepts.1), (one, accepts.0)]);
        if let (Some(forth), Some(back)) = (forth, back) {
            prop_assert_eq!(forth, back);
        }
    }

    #[test]
    fn a_rejected_hunk_comes_back_with_undo((start, deeds) in deeds(), choice in pick()) {
        let mut editor = played(start, &deeds)?;
        let before = editor.hunks();
        let selector = editor.selector(&choice);
        editor.book.mark(Path::new(PATH), editor.seq as u64);
        editor.perform(&Deed::Reject(choice));
        let after = editor.hunks();
        editor.perform(&Deed::Undo);
        prop_assert_eq!(editor.hunks(), before, "undo of {:?}", selector);
        editor.perform(&Deed::Redo);
        prop_assert_eq!(editor.hunks(), after, "redo of {:?}", selector);
    }
}
