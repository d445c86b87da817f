//! What has the person not looked at yet? Pure: no I/O, no editor.
//!
//! A [`ReviewBook`] keeps for every file a *base* (what the person has agreed to), the *current* text, and
//! the hunks between them as an explicit list, which every edit updates. Nothing is ever compared as a
//! whole while somebody types.
//!
//! - The agent's edits change the current text only: they wait as hunks.
//! - The person's edits outside hunks change the base too: they are no hunks, and no decision on a hunk
//!   touches them. Lines put into a hunk are the person's as well; what is made of the agent's own lines
//!   belongs to the hunk. `edit.rs` says what happens at the borders.
//! - *Accept* moves the base to the current text. *Reject* names the edits that put the base back; made
//!   and reported as the person's, they end the hunk.
//! - Native undo and redo come back to remembered moments (`history.rs`).
//!
//! # Laws
//!
//! Each is held by a property test over random interleavings of all operations (`laws.rs`):
//!
//! 1. the current text is the text of the buffer;
//! 2. the base with the hunks put in is the current text; hunks are ascending, disjoint, in bounds, and an
//!    unchanged line lies between two of them;
//! 3. accept all: no hunks, and base = current text, which did not change;
//! 4. reject all: no hunks, and current text = base, which did not change. The base is the first text with
//!    the accepted hunks and with every edit of the person outside hunks;
//! 5. a line that the person put in, outside hunks or inside one, survives every rejection;
//! 6. decisions on different hunks commute;
//! 7. back at a remembered moment, its hunks are there again, except those accepted since;
//! 8. a rejected hunk can be brought back, also after edits elsewhere: it waits as before.

mod back;
mod batch;
pub mod book;
mod decide;
mod diff;
mod edit;
mod history;
pub mod hunk;
#[cfg(test)]
mod laws;
mod lines;
mod region;
mod side;
mod state;
mod tracked_file;
mod view;
mod watch;
mod whole;

pub use book::{ReviewBook, ReviewError, SharedBook, Texts};
pub use hunk::{Author, Existence, Hunk, Rejection, Selector};
pub use view::{Seen, Span};
pub use watch::{Keeper, Moment, Notify, Urgency};
pub use whole::{FileState, Whole, WholeKind};
