//! Primitives for text and paths: what the bytes of a file mean, where a written path leads, and how
//! a file is replaced without ever being half-written.

pub mod atomic;
pub mod below;
pub mod calendar;
pub mod cause;
pub mod endings;
pub mod made_parents;
pub mod nearest;
pub mod pinned;
pub mod safe_path;
pub mod text;
