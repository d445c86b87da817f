//! A session at work: the actor that takes every op in order and never waits for work to end.
//!
//! | file | what it is for |
//! |---|---|
//! | `actor` | takes the ops |
//! | `turns` | what runs one at a time: turns, undos, compactions, and what waits behind them |
//! | `beside` | what runs beside a turn: calls of programs, decisions on hunks, answers |
//! | `renewal` | another session in the place of this one |

mod actor;
mod beside;
mod renewal;
mod turns;

pub use actor::Session;
