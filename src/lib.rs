//! dcode.nvim: a coding agent that lives inside Neovim.
//!
//! The crate is layered, and `tests/rust/architecture.rs` holds the direction: a module may use
//! lower layers freely, its own layer only where that test lists it, and a higher layer never.
//!
//! | layer | modules | what lives there |
//! |---|---|---|
//! | L5 | [`nvim`] | the only module that may name mlua or nvim-oxi |
//! | L4 | [`agent`] | sessions, turns, steps: the loop |
//! | L3 | [`judges`] [`tools`] | one file a tool, the registry, the dispatcher |
//! | L2 | [`backend`] [`config`] [`journal`] [`permission`] [`provider`] [`snapshot`] | services |
//! | L1 | [`edit`] [`host`] [`media`] [`offload`] [`review`] [`search`] [`shell`] [`vcs`] | leaf libraries |
//! | L0 | [`fs`] [`protocol`] | path and text primitives, the words both sides speak |

pub mod agent;
pub mod backend;
pub mod config;
pub mod edit;
pub mod fs;
pub mod host;
pub mod journal;
pub mod judges;
pub mod media;
#[cfg(feature = "nvim")]
pub mod nvim;
pub mod offload;
pub mod permission;
pub mod protocol;
pub mod provider;
pub mod review;
pub mod search;
pub mod shell;
pub mod snapshot;
pub mod tools;
pub mod vcs;
pub mod words;
