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
// How long the review of large buffers holds up the main loop.
mod bench_review;
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
// Buffers and their files under the agent's edits.
mod buffers;
// The command line.
mod cli;
// What `make demo` shows.
mod demo;
// Faults of the callers and of the model.
mod faults;
// What a person sees of the repository: blame, status line.
mod git;
// Edits that come while the editor cannot be edited.
mod held;
// Golden screens of everything that the person sees.
mod looks;
// Golden screens of every kind of hunk, and of the review list.
mod looks_hunks;
// Golden screens of models: thoughts, countdowns, words that wait, costs.
mod looks_models;
// Memory over many reads.
mod memory;
// Approvals and questions in floats.
mod prompts;
// What the person decides on edits: text, marks, undo, the file's bytes.
mod review;
// Random steps against a model of the buffer.
mod storm;
// The model: what a buffer must hold after each of them.
mod storm_model;
// Leaving in the middle of something.
mod quit;
// The harness itself, and that the plugin loads on every Neovim.
mod smoke;
// What is there again after Neovim was killed or left.
mod survive;
// Turns with a model that streams over HTTP, as a person sees them.
mod turn;
