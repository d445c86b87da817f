//! Commits that wait to be looked at: the newest first, of equal times the one that came first, as git has it.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::vcs::history::Ix;

/// A queue.
#[derive(Default)]
pub struct ByTime {
    heap: BinaryHeap<(i64, Reverse<usize>, Ix)>,
    pushed: usize,
}

impl ByTime {
    /// Adds a commit with its committer's time.
    pub fn push(&mut self, time: i64, ix: Ix) {
        self.heap.push((time, Reverse(self.pushed), ix));
        self.pushed += 1;
    }

    /// Takes the next one out.
    pub fn pop(&mut self) -> Option<Ix> {
        self.heap.pop().map(|(_, _, ix)| ix)
    }

    /// The time of the next one.
    pub fn next_time(&self) -> Option<i64> {
        self.heap.peek().map(|(time, ..)| *time)
    }
}
