//! The loop: sessions, turns, steps.
//!
//! - [`runtime`] owns the thread; [`runtime::AgentHandle`] is all that a front end holds.
//! - [`session`] is the actor that takes every [`Op`](crate::protocol::op::Op) in order and never waits
//!   for work to end: turns and calls run beside it.
//! - [`turn`] is the only place that talks to a model; [`step`] runs the calls of one reply: reads
//!   together, everything else alone and in order.
//! - [`plan`] looks at the calls of a reply before the first runs.
//! - [`requests`] is how the engine asks the editor and the person; [`queue`] is how it tells them.
//! - [`undo`] takes steps back.

pub mod call;
pub mod context;
pub mod core;
pub mod git;
mod history;
pub mod loop_guard;
mod models;
pub mod plan;
pub mod queue;
pub mod recovered;
pub mod requests;
pub mod runtime;
pub mod sandbox;
pub mod session;
pub mod session_log;
pub mod setup;
pub mod status;
pub mod step;
pub mod turn;
pub mod undo;
