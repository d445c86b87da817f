//! What lies outside the engine: the editor with its buffers, and the person.
//!
//! The ports are implemented once, in `agent/requests.rs`, over the event queue; tests have fakes.

pub mod clock;
pub mod guard;
mod ports;
pub mod scope;

pub use ports::{Answer, Editor, EditorError, Human, HumanError};
