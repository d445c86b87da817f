//! Configuration: five layers become one typed tree, and every value remembers where it came from.
//!
//! Low to high: defaults, `~/.deepseek/config.toml`, `<project>/.deepseek/config.toml`, `vim.g.dcode`
//! and `setup()`, flags of the command. A higher layer replaces a value; lists of permissions add up,
//! so that no layer can lose a rule of another. The project file may only tighten ([`tighten`]).
//!
//! The path of a value: [`read_toml`] or a JSON value from Lua → [`check`] (against the rows of
//! [`keys`]) → [`tighten`] → [`load`] → [`model::Config`]. [`show`] lists what came out.
//!
//! A value that could have denied something and cannot be understood is never dropped in silence: it
//! is kept as a problem in [`model::Permissions::broken`], and the gate asks for everything until it
//! is mended.

pub mod check;
pub mod fs_tools;
pub mod keys;
pub mod layer;
pub mod load;
pub mod mode;
pub mod model;
pub mod provider_rows;
pub mod read_toml;
pub mod rules;
pub mod shell_list;
pub mod show;
pub mod tighten;
pub mod values;
