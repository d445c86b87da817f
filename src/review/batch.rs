//! Many edits of one undo block at once. An editor reports each by itself; taking them in together settles
//! the hunks once, which is what keeps a batch of hundreds of edits in a long file below a frame.

use crate::protocol::change::LineEdit;
use crate::review::hunk::Author;
use crate::review::region::HunkIds;
use crate::review::state::State;

impl State {
    /// Takes in edits as an editor made them, from the bottom up: ascending and disjoint here, in the line
    /// numbers of the text before all of them. Others are taken in one by one, as [`State::apply`] does.
    pub(super) fn apply_batch(&mut self, edits: &[LineEdit], author: Author, ids: &mut HunkIds) {
        let len = self.current.lines.len();
        let ordered = edits.windows(2).all(|pair| pair[0].end <= pair[1].start);
        let inside = edits.iter().all(|edit| edit.start <= edit.end && edit.end <= len);
        let removed: usize = edits.iter().map(|edit| edit.end.saturating_sub(edit.start)).sum();
        // Of a text without lines an editor shows one: that is for `apply` to see to.
        if len > 0 && ordered && inside && removed < len {
            self.apply_all(edits, author, ids);
        } else {
            for edit in edits.iter().rev() {
                self.apply(edit, author, ids);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use proptest::prelude::*;

    use crate::protocol::change::LineEdit;
    use crate::review::{Author, ReviewBook};

    fn edits() -> impl Strategy<Value = Vec<LineEdit>> {
        let one = (1usize..4, 0usize..3, proptest::collection::vec("[a-c]", 0..3));
        proptest::collection::vec(one, 1..8).prop_map(|steps| {
            let mut at = 0;
            let mut edits = Vec::new();
            for (gap, old, lines) in steps {
                let start = at + gap;
                at = start + old;
                let edit = LineEdit {
                    start,
                    end: at,
                    lines,
                };
                edits.push(edit);
            }
            edits
        })
    }

    proptest! {
        /// Taken in at once or one by one, the same text waits with the same base.
        #[test]
        fn a_batch_is_its_edits_one_by_one(edits in edits(), person: bool, lines in 0usize..30) {
            let path = Path::new("/a");
            let text: String = (0..lines).map(|n| format!("{}\n", n % 5)).collect();
            let author = if person { Author::Person } else { Author::Agent };
            let (mut batch, mut single) = (ReviewBook::new(), ReviewBook::new());
            for book in [&mut batch, &mut single] {
                book.attach(path, &text);
                book.edit(path, &LineEdit { start: 0, end: 0, lines: vec!["agent".into()] }, Author::Agent);
            }
            batch.edit_batch(path, &edits, author);
            for edit in edits.iter().rev() {
                single.edit(path, edit, author);
            }
            prop_assert_eq!(batch.export(path), single.export(path));
            let shown = |book: &ReviewBook| -> Vec<_> {
                let hunks = book.hunks(path).into_iter();
                hunks.map(|hunk| (hunk.start, hunk.removed, hunk.added)).collect()
            };
            prop_assert_eq!(shown(&batch), shown(&single));
        }
    }
}
