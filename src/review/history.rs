//! Review along native undo: what waited for review when the buffer was at an undo sequence number.
//!
//! Native undo and redo change the text like typing does. Without a memory a redone agent edit would count
//! as typed, and so as accepted. So the moments at which the text came to rest are kept by
//! `undotree().seq_cur`, and coming back to one of them brings its review back, if the text is the same.

use std::collections::{HashMap, VecDeque};

use crate::protocol::ids::HunkId;
use crate::review::region::HunkIds;
use crate::review::state::State;

/// How many moments a file remembers. One costs its hunks; the texts are shared.
const MOMENTS: usize = 200;

/// The moments of one file, and what the person has accepted in it since they began.
#[derive(Clone, Debug, Default)]
pub(super) struct History {
    moments: VecDeque<(u64, State)>,
    /// Accepted hunks and the fingerprint of their lines.
    accepted: HashMap<HunkId, u64>,
}

impl History {
    /// Remembers `state` for `seq`, in place of what was remembered for it.
    pub(super) fn mark(&mut self, seq: u64, state: &State) {
        // What waits now is not accepted, whatever was said of it in a past that was undone.
        for region in &state.regions {
            // Only of those the lines are looked at: this runs with every keystroke.
            let known = self.accepted.get(&region.id).copied();
            if known.is_some_and(|print| print == state.fingerprint(region)) {
                self.accepted.remove(&region.id);
            }
        }
        self.moments.retain(|(known, _)| *known != seq);
        if self.moments.len() >= MOMENTS {
            self.moments.pop_front();
        }
        self.moments.push_back((seq, state.clone()));
    }

    /// The state remembered for `seq`, if its text is that of `now`. What was accepted since is accepted
    /// there too: an undo goes back in the text, it does not take back the person's word.
    pub(super) fn at(&self, seq: u64, now: &State, ids: &mut HunkIds) -> Option<State> {
        let (_, state) = self.moments.iter().find(|(known, _)| *known == seq)?;
        if !state.current.lines.same_text(&now.current.lines) {
            return None;
        }
        let mut state = state.clone();
        state.accept_regions(
            |state, region| self.accepted.get(&region.id) == Some(&state.fingerprint(region)),
            ids,
        );
        Some(state)
    }

    /// The person accepted these hunks, given with the fingerprints of their lines.
    pub(super) fn accept(&mut self, hunks: Vec<(HunkId, u64)>) {
        self.accepted.extend(hunks);
    }
}
