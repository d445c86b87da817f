//! May a call run? The only place that says so: [`gate::Gate`].
//!
//! A call is judged by what it declares to touch ([`access::Access`]). Layers in order; verdicts are
//! joined by maximum, except that memory may turn an Ask into Allow:
//!
//! 1. *hard rules* ([`hard`], [`hard_shell`]): Deny, and nothing overrides it;
//! 2. *rules* of the person: filesystem rules ([`fs_rules`]) and shell rules ([`shell_rules`]). While one
//!    of them cannot be read, everything is asked;
//! 3. *tier* ([`tier`], [`shell_tier`] with `shell_places` and [`unnamed`], [`secret`]): by the class of the tool, the path and the class of
//!    the command. An explicit allow rule of the person settles what it would ask for a path outside or
//!    for a command;
//! 4. *memory* ([`memory`], [`persist`]): an earlier answer turns an Ask into Allow;
//! 5. *mode* ([`mode`]): manual, ask-all, read-only, auto, yolo; nobody there turns Ask into Deny.
//!
//! An error inside a layer is a Deny with the error as its reason. A rule that denies stands in every
//! mode. The mode `yolo` runs what would be asked, except where a hard rule or a denying rule could not be
//! ruled out: a line that cannot be judged, a word that the shell fills in, a config that cannot be read.

pub mod access;
pub mod annotations;
mod braces;
mod copying;
pub mod decision;
pub mod explain;
pub mod facts;
pub mod filled;
mod find_reach;
pub mod finding;
mod forget;
pub mod fs_rules;
pub mod gate;
mod git_folder;
mod grants;
mod grave;
pub mod ground;
pub mod hard;
pub mod hard_shell;
pub mod judge;
pub mod line_globs;
pub mod memory;
pub mod mode;
pub mod named;
pub mod named_path;
pub mod persist;
pub mod secret;
mod secret_lists;
mod shell_places;
pub mod shell_rules;
pub mod shell_tier;
pub mod tier;
pub mod unnamed;
