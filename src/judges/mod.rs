//! Models that judge the calls of another model.
//!
//! Two offices: the *reviewer* ([`auto`]) answers in the person's place what the tiers would ask, in the mode
//! `auto`; the *validator* ([`validator`]) looks at grave calls in every mode. What both are told is data, never
//! words of ours with a tool's output between them: the person's own prompts ([`heard`]) and the calls as
//! JSON with the contents of files left out ([`case`]). Only the person's words grant consent, and no result of
//! any tool is shown. Whatever is not a clear and timely answer leads to the person, never to a run.

pub mod auto;
pub mod bench;
pub mod case;
pub mod heard;
pub mod panel;
mod tally;
pub mod validator;
mod words;
