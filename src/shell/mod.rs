//! The shell: what a line would do, and running it.
//!
//! *Judging.* [`parse::analyze`] turns a line into its simple commands: those of pipelines, lists, groups,
//! functions, substitutions and here-documents, and those that a wrapper (`sudo`, `xargs`, `sh -c`,
//! `find -exec` …) would run. Each has a [`command::Class`] from a table (`programs.rs`) and the pattern by
//! which an answer is remembered. What is not understood is [`command::Unparsable`]: it is asked each time.
//! The grammar is that of bash; bash, sh, dash and ksh are the shells that [`env::Shell`] runs.
//!
//! *Running.* [`run::run`] starts the line in its own process group, streams and bounds its output, and ends
//! all of it on timeout and cancel; [`background::Background`] keeps those that run on; [`sandbox::Sandbox`] puts
//! walls around them; [`watchdog::Watchdog`] ends what a killed Neovim leaves behind.
//!
//! Nothing here decides whether a line may run; that is `permission`.

pub mod background;
mod class;
pub mod command;
mod convert;
pub mod env;
mod expansions;
mod family;
mod gate;
mod globals;
mod hidden;
pub mod inherited;
pub mod near;
mod output;
pub mod parse;
mod pattern;
mod programs;
mod ps;
pub mod run;
pub mod sandbox;
mod sandbox_git;
mod scratch;
mod scripts;
mod table;
mod table_git;
mod table_tools;
mod unwrap;
mod walk;
pub mod watchdog;
mod words;
mod wrappers;
