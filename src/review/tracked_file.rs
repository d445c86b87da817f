//! One file under review.

use crate::protocol::change::LineEdit;
use crate::protocol::ids::HunkId;
use crate::review::back::Taken;
use crate::review::diff::{self, ON_RELOAD};
use crate::review::history::History;
use crate::review::hunk::{Author, Hunk, Rejection, Selector};
use crate::review::region::HunkIds;
use crate::review::side::{Side, is_crlf};
use crate::review::state::State;
use crate::review::view::{Seen, Span};
use crate::review::watch::Moment;

/// A file, what it was, and what waits for review in it.
#[derive(Clone, Debug)]
pub(super) struct TrackedFile {
    state: State,
    /// Line endings of the whole file, which the lines then leave out.
    crlf: bool,
    /// Whether a buffer reports its edits.
    pub(super) attached: bool,
    /// What a command of the agent wrote into the file of an attached buffer.
    pub(super) announced: Option<String>,
    history: History,
    /// What was rejected, the last one last; each with the hunks that went together.
    pub(super) rejected: Vec<Vec<Taken>>,
}

impl TrackedFile {
    /// A file as it is, nothing to review. `None` = it does not exist.
    pub(super) fn clean(text: Option<&str>) -> Self {
        let crlf = text.is_some_and(is_crlf);
        Self::at(State::clean(Side::read(text, crlf)), crlf)
    }

    /// Two texts of a file, compared.
    pub(super) fn new(base: Option<&str>, current: Option<&str>, ids: &mut HunkIds) -> Self {
        let mut texts = base.iter().chain(&current).copied();
        let crlf = texts.clone().next().is_some() && texts.all(is_crlf);
        let state = State::compared(Side::read(base, crlf), Side::read(current, crlf), ids);
        Self::at(state, crlf)
    }

    fn at(state: State, crlf: bool) -> Self {
        Self {
            state,
            crlf,
            attached: false,
            announced: None,
            history: History::default(),
            rejected: Vec::new(),
        }
    }

    /// Whose doing it is that a buffer has read `text`: the agent's, if its command wrote just that.
    pub(super) fn author_of(&mut self, text: &str) -> Author {
        let plain = |text: &str| text.replace("\r\n", "\n");
        match self.announced.take() {
            Some(announced) if plain(&announced) == plain(text) => Author::Agent,
            _ => Author::Person,
        }
    }

    /// Whether nothing waits for review.
    pub(super) fn is_settled(&self) -> bool {
        self.state.is_settled()
    }

    /// An edit of the text, by lines.
    pub(super) fn edit(&mut self, edit: &LineEdit, author: Author, ids: &mut HunkIds) {
        self.state.apply(edit, author, ids);
    }

    /// Edits of one undo block, see [`State::apply_batch`].
    pub(super) fn edit_batch(&mut self, edits: &[LineEdit], author: Author, ids: &mut HunkIds) {
        self.state.apply_batch(edits, author, ids);
    }

    /// The final newline came or went.
    pub(super) fn set_eol(&mut self, eol: bool, author: Author, ids: &mut HunkIds) {
        self.state.set_eol(eol, author, ids);
    }

    /// The whole text is `text` now; `None` = the file is gone. What differs from the text known before is
    /// the doing of `author`.
    pub(super) fn set_text(&mut self, text: Option<&str>, author: Author, ids: &mut HunkIds) {
        let Some(text) = text else {
            self.remove(author, ids);
            return;
        };
        let side = self.read(text);
        // The buffer of a file that is gone is empty, and says nothing about the file.
        if side.lines.is_empty() && self.state.current.absent && self.attached {
            return;
        }
        self.state.current.absent = false;
        self.state.base.absent &= author == Author::Agent || !self.state.regions.is_empty();
        let edits = diff::between(&self.state.current.lines, &side.lines, ON_RELOAD);
        self.state.apply_all(&edits, author, ids);
        self.state.set_eol(side.eol, author, ids);
    }

    /// The file is gone. When the person removed it, nothing waits any more.
    pub(super) fn remove(&mut self, author: Author, ids: &mut HunkIds) {
        if author == Author::Person {
            self.state = State::gone(self.state.revision + 1);
            return;
        }
        let end = self.state.current.lines.len();
        self.state.apply(
            &LineEdit {
                start: 0,
                end,
                lines: Vec::new(),
            },
            author,
            ids,
        );
        self.state.current.absent = true;
        self.state.settle_tail(ids);
    }

    /// `text` in the terms of this file; where the line endings changed, all of it is in new terms.
    fn read(&mut self, text: &str) -> Side {
        let crlf = self.crlf && is_crlf(text);
        if self.crlf && !crlf && text.contains('\r') {
            self.spell_out_crlf();
        }
        // Without any carriage return this is a buffer's text: the editor keeps the endings apart.
        Side::read(Some(text), crlf)
    }

    /// Line endings became mixed: from here on carriage returns are part of the lines.
    fn spell_out_crlf(&mut self) {
        self.crlf = false;
        for side in [&mut self.state.base, &mut self.state.current] {
            let mut lines = side.lines.get(0..side.lines.len());
            let ended = if side.eol {
                lines.len()
            } else {
                lines.len().saturating_sub(1)
            };
            for line in &mut lines[..ended] {
                line.push('\r');
            }
            side.lines.splice(0..lines.len(), &lines);
        }
    }

    /// Base and current text; `None` = the file does not exist in that one.
    pub(super) fn texts(&self) -> (Option<String>, Option<String>) {
        (
            self.state.base.text(self.crlf),
            self.state.current.text(self.crlf),
        )
    }

    /// Base and current text as they are, to be spelled out later.
    pub(super) fn moment(&self) -> Moment {
        Moment {
            base: self.state.base.clone(),
            current: self.state.current.clone(),
            crlf: self.crlf,
        }
    }

    /// See [`State::accept`]; the moments of the undo history learn of it too.
    pub(super) fn accept(&mut self, selector: &Selector, ids: &mut HunkIds) -> usize {
        let accepted = self.state.selected(selector);
        self.history.accept(accepted);
        self.state.accept(selector, ids)
    }

    /// See [`State::rejection`].
    pub(super) fn rejection(&self, selector: &Selector) -> Rejection {
        self.state.rejection(selector, self.crlf)
    }

    /// The hunks in the order of their lines.
    pub(super) fn hunks(&self) -> Vec<Hunk> {
        self.state.hunks()
    }

    /// Where all hunks stand.
    pub(super) fn spans(&self) -> Vec<Span> {
        self.state.spans()
    }

    /// See [`State::seen`].
    pub(super) fn seen(&self, first: usize, last: usize, most: usize) -> Vec<Seen> {
        self.state.seen(first, last, most)
    }

    /// Whether a hunk is one of this file's.
    pub(super) fn holds(&self, id: HunkId) -> bool {
        self.state.tail == Some(id) || self.state.regions.iter().any(|region| region.id == id)
    }

    /// Grows with every change of the hunks, but for their line numbers.
    pub(super) fn revision(&self) -> u64 {
        self.state.revision
    }

    /// How many hunks wait.
    pub(super) fn count(&self) -> usize {
        self.state.count()
    }

    /// Remembers this moment under an undo sequence number.
    pub(super) fn mark(&mut self, seq: u64) {
        self.history.mark(seq, &self.state);
    }

    /// Comes back to the moment of an undo sequence number, if there is one with the same text.
    pub(super) fn arrive(&mut self, seq: u64, ids: &mut HunkIds) -> bool {
        let Some(mut state) = self.history.at(seq, &self.state, ids) else {
            return false;
        };
        state.current.eol = self.state.current.eol;
        state.current.absent = self.state.current.absent;
        state.revision = state.revision.max(self.state.revision) + 1;
        state.settle_tail(ids);
        self.state = state;
        true
    }

    /// The present moment.
    pub(super) fn state(&self) -> &State {
        &self.state
    }
}
