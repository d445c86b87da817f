//! Makes the conversation shorter when it gets too long for the model: the only place that rewrites it.
//!
//! | file | what it is for |
//! |---|---|
//! | `meter` | how long the conversation is, in tokens, and when that is too long |
//! | `trim` | shortens old results and arguments; often enough by itself |
//! | `fold` | which messages go into a summary, and the history with it |
//! | `summary` | the words of the summary: the model's, or where it has none, ours |
//! | `run` | does it, tells of it, takes it back |
//!
//! Calls and their results live and die together, and the person's last words are never summarised.

mod fold;
mod meter;
mod run;
mod summary;
mod trim;

pub use meter::Meter;
pub use run::{Why, asked, compact, due, fault, length_and_limit, take_back, tell_length};
