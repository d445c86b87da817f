//! The loop: sessions, turns, steps.
//!
//! - [`runtime`] owns the thread; [`runtime::AgentHandle`] is all that a front end holds.
//! - [`session`] is the actor that takes every [`Op`](crate::protocol::op::Op) in order and never waits
//!   for work to end: turns and calls run beside it.
//! - [`turn`] is the only place that talks to a model; [`step`] runs the calls of one reply: reads
//!   together, everything else alone and in order.
//! - [`plan`] looks at the calls of a reply before the first runs.
//! - [`requests`] is how the engine asks the editor and the person; [`queue`] is how it tells them.
//! - [`undo`] takes steps back, [`timeline`] lists them.
//! - [`session_log`] hands what happens to the thread that writes the journal; [`resume`] goes on with one.

mod beginning;
pub mod call;
pub mod context;
pub mod core;
pub mod effects;
pub mod feedback;
pub mod git;
pub mod history;
pub mod journal_thread;
mod judging;
pub mod loop_guard;
mod models;
pub mod plan;
pub mod queue;
pub mod recovered;
pub mod reject;
pub mod reopen;
pub mod requests;
pub mod resume;
pub mod review_keeper;
mod running;
pub mod runtime;
pub mod sandbox;
pub mod session;
pub mod session_log;
pub mod setup;
pub mod status;
pub mod step;
pub mod timeline;
pub mod turn;
pub mod undo;
