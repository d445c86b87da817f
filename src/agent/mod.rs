//! The loop: sessions, turns, steps.
//!
//! - [`runtime`] owns the thread; [`runtime::AgentHandle`] is all that a front end holds.
//! - [`session`] is the actor that takes every [`Op`](crate::protocol::op::Op) in order and never waits
//!   for work to end: turns and calls run beside it.
//! - [`turn`] is the only place that talks to a model; [`step`] runs the calls of one reply: reads
//!   together, everything else alone and in order.
//! - [`requests`] is how the engine asks the editor and the person; [`queue`] is how it tells them.
//! - [`undo`] takes steps back, [`timeline`] lists them.
//! - [`session_log`] hands what happens to the thread that writes the journal; [`resume`] goes on with one.

pub mod call;
pub mod context;
pub mod core;
pub mod effects;
pub mod feedback;
pub mod history;
pub mod journal_thread;
pub mod loop_guard;
pub mod queue;
pub mod reject;
pub mod reopen;
pub mod requests;
pub mod resume;
pub mod review_keeper;
pub mod runtime;
pub mod session;
pub mod session_log;
pub mod setup;
pub mod status;
pub mod step;
pub mod timeline;
pub mod turn;
pub mod undo;
