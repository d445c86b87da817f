//! May a call run? The only place that says so.
//!
//! Layers in order; verdicts are joined by maximum, except that memory may turn an Ask into Allow:
//!
//! 1. *hard rules*: Deny, and nothing overrides it;
//! 2. *rules* of the person: filesystem rules and shell rules;
//! 3. *tier*: by the class of the tool, the path and the class of the command;
//! 4. *memory*: an earlier answer, or an explicit matching allow rule, turns an Ask into Allow;
//! 5. *mode*: manual, ask-all, read-only, auto, yolo; nobody there turns Ask into Deny.
//!
//! An error inside a layer is a Deny with the error as its reason.

pub mod access;
pub mod decision;
