//! What the gate is told of a call.

use crate::permission::access::Access;
use crate::protocol::tool::ToolClass;

/// A call, as far as permission is concerned.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    /// Canonical name of the tool.
    pub tool: &'a str,
    /// What the tool may do to the world.
    pub class: ToolClass,
    /// Everything that the call will touch. Empty for a tool whose effects are not known.
    pub access: &'a [Access],
}
