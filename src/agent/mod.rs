//! The loop: sessions, turns, steps.
//!
//! - [`runtime`] owns the thread; [`runtime::AgentHandle`] is all that a front end holds.
//! - [`session`] is the actor that takes every [`Op`](crate::protocol::op::Op) in order and never waits
//!   for work to end: turns and calls run beside it.
//! - [`turn`] takes a prompt to rest; [`reply`] is the only place that talks to a model; [`step`] runs the
//!   calls of one reply: reads together, everything else alone and in order.
//! - [`compact`] makes a long conversation shorter; [`waiting`] holds what the person says meanwhile.
//! - [`history`] is what was said, [`prefix`] what every request begins with, [`ledger`] what it cost.
//! - [`plan`] looks at the calls of a reply before the first runs.
//! - [`requests`] is how the engine asks the editor and the person; [`queue`] is how it tells them.
//! - [`undo`] takes steps back, [`timeline`] lists them.
//! - [`session_log`] hands what happens to the thread that writes the journal; [`resume`] goes on with one.

pub mod attach;
mod beginning;
pub mod cache_watch;
pub mod call;
pub mod compact;
pub mod core;
pub mod effects;
pub mod feedback;
pub mod git;
pub mod history;
pub mod journal_thread;
mod judging;
pub mod ledger;
pub mod loop_guard;
mod models;
pub mod plan;
pub mod prefix;
pub mod prompt;
pub mod queue;
pub mod recovered;
pub mod reject;
pub mod reopen;
pub mod reply;
pub mod report;
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
pub mod system;
pub mod timeline;
pub mod turn;
pub mod undo;
pub mod waiting;
