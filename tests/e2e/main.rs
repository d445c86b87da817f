//! Real Neovims driven over RPC, with a decoded screen. Each module has a line that says what belongs there.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test fails by panicking, and tells why on stderr"
)]

// The agent through its Lua interface.
mod agent;
// How long a person waits: `make bench`.
mod bench;
// The same for the command line, and what it holds.
mod bench_headless;
// A Neovim with a UI attached: keys in, screen out.
mod driver;
// The decoded screen: text, highlight groups, colours.
mod grid;
// The model that tests talk to; shared with tests/rust.
#[path = "../support/model_server.rs"]
mod model_server;
// Which Neovims there are.
mod neovims;
// Golden screens.
mod screen;
// How a Neovim is started.
mod setup;

// The Lua interface, as other plugins and scripts use it.
mod api;
// The command line.
mod cli;
// What `make demo` shows.
mod demo;
// Faults of the callers and of the model.
mod faults;
// Edits that come while the editor cannot be edited.
mod held;
// Golden screens of everything that the person sees.
mod looks;
// Memory over many reads.
mod memory;
// Approvals and questions in floats.
mod prompts;
// What the person decides on edits: text, marks, undo, the file's bytes.
mod review;
// Leaving in the middle of something.
mod quit;
// The harness itself, and that the plugin loads on every Neovim.
mod smoke;
// Turns with a model that streams over HTTP, as a person sees them.
mod turn;
