//! The words that the agent and the editor speak. Serde data only: nothing here acts.
//!
//! An editor front end submits an [`op::Op`]; the agent answers with [`event::Event`]s. Nothing else
//! crosses between the two. A [`request::Request`] is an event that needs exactly one answer.
//!
//! - A *session* is a conversation with its files, its steps and its mode.
//! - A *turn* is one prompt of the person until the agent is at rest again.
//! - A *step* is one reply of the model with the tool calls in it, and the unit of undo.
//! - A *call* is one use of a tool.

pub mod change;
pub mod event;
pub mod grant;
pub mod ids;
pub mod message;
pub mod op;
pub mod request;
pub mod state;
pub mod timeline;
pub mod tool;
