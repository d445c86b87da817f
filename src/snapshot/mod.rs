//! What files held before each step, so that steps can be taken back and put back.
//!
//! A file is kept when a step first touches it, not before and not with its whole tree. What was there
//! is a [`Before`]: on disk (nothing, a file, a link) and in the buffer, if one was loaded. What the
//! step left is an [`After`]; an undo compares it with what is there now, so that nothing of the
//! person's is overwritten unseen.
//!
//! The way of an undo, all of it blocking:
//!
//! 1. [`SnapshotStore::plan_undo`] (or `plan_redo`) says which files shall hold what again.
//! 2. [`SnapshotStore::observe`] each file, [`SnapshotStore::check`] it. One that changed since stops
//!    the whole undo: nothing has been touched yet.
//! 3. [`SnapshotStore::restoration`] says what is to be done to buffer and disk; nothing for most.
//!    What the backend can write ([`Restoration::change`]) goes through it, as every write does;
//!    [`SnapshotStore::put_back`] does links and folders (and, without an editor, everything).
//! 4. [`SnapshotStore::mark_undone`] (or `mark_redone`).
//!
//! What a shell command will touch is not known before. There [`TreeWatch`] compares the whole tree with
//! what it was just before, by the stamps of its files, and finds the old contents in git or in copies that
//! were made beforehand.

mod copies;
mod effects;
mod error;
mod layout;
mod manifest;
mod merge;
mod observe;
mod prune;
mod put_back;
mod rejected;
mod restore;
mod store;
mod table;
mod undo_log;

pub use effects::{Effect, TreeWatch, Unwatched};
pub use error::SnapshotError;
pub use layout::SnapshotDirs;
pub use manifest::{After, Before, BufferBefore, Disk};
pub use prune::{KEEP, prune};
pub use restore::{DiskContent, Fit, Plan, PlanFile, Restoration, Scope};
pub use store::{SnapshotStore, StepRecord};
pub use undo_log::Undone;
