//! Review along native undo: what waited for review when the buffer was at an undo sequence number.
//!
//! Native undo and redo change the text like typing does. Without a memory a redone agent edit would count
//! as typed, and so as accepted. So the moments at which the text came to rest are kept by
//! `undotree().seq_cur`, and coming back to one of them brings its review back, if the text is the same.

use std::collections::VecDeque;

use crate::protocol::ids::HunkId;
use crate::review::hunk::Selector;
use crate::review::region::HunkIds;
use crate::review::state::State;

/// How many moments a file remembers. One costs its hunks; the texts are shared.
const MOMENTS: usize = 200;

/// The moments of one file.
#[derive(Clone, Debug, Default)]
pub(super) struct History(VecDeque<(u64, State)>);

impl History {
    /// Remembers `state` for `seq`, in place of what was remembered for it.
    pub(super) fn mark(&mut self, seq: u64, state: &State) {
        self.0.retain(|(known, _)| *known != seq);
        if self.0.len() >= MOMENTS {
            self.0.pop_front();
        }
        self.0.push_back((seq, state.clone()));
    }

    /// The state remembered for `seq`, if its text is that of `now`.
    pub(super) fn at(&self, seq: u64, now: &State) -> Option<State> {
        let (_, state) = self.0.iter().find(|(known, _)| *known == seq)?;
        state
            .current
            .lines
            .same_text(&now.current.lines)
            .then(|| state.clone())
    }

    /// Accepts the hunks `accepted` of `now` (still pending there) in every moment that has the same ones:
    /// an undo goes back in the text, it does not take back the person's word.
    pub(super) fn accept(&mut self, accepted: &[HunkId], now: &State, ids: &mut HunkIds) {
        for (_, state) in &mut self.0 {
            for id in accepted {
                if state.same_hunk(*id, now) {
                    state.accept(&Selector::Hunk(*id), ids);
                }
            }
        }
    }
}
