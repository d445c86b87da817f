//! What a tool is.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use thiserror::Error;
use tokio_util::sync::CancellationToken;

use crate::permission::access::Access;
use crate::protocol::ids::CallId;
use crate::protocol::message::Block;
use crate::protocol::request::Side;
use crate::protocol::tool::ToolClass;

/// A typed tool. Services come by its constructor; the context of a call is small on purpose.
#[async_trait]
pub trait Tool: Send + Sync + 'static {
    /// The arguments. Doc comments become the schema's descriptions.
    type Args: DeserializeOwned + JsonSchema + Send + Sync;

    /// The canonical name.
    fn name(&self) -> &'static str;

    /// What it may do to the world.
    fn class(&self) -> ToolClass;

    /// Whether its results keep themselves short and say how to go on; they are never offloaded.
    fn pages_itself(&self) -> bool {
        false
    }

    /// What the model is told (`tools/text/<name>.md`).
    fn description(&self) -> &'static str;

    /// The argument that matters, in one line for the person.
    fn title(&self, args: &Self::Args) -> String;

    /// What the call will touch. Looks at paths only; changes nothing.
    fn access(&self, args: &Self::Args, cwd: &Path) -> Result<Vec<Access>, ToolError>;

    /// What the call would change, for the person who is asked: a unified diff, or the whole command.
    async fn preview(&self, _args: &Self::Args, _ctx: &ToolCtx) -> Option<String> {
        None
    }

    /// Of a command where there is a sandbox: on which side of its walls it would run.
    fn sandbox(&self, _args: &Self::Args) -> Option<Side> {
        None
    }

    /// Runs it. Everything about permission has been settled before.
    async fn run(&self, args: Self::Args, ctx: &ToolCtx) -> Result<ToolOutput, ToolError>;
}

/// The context of one call; nothing in it reaches the session.
#[derive(Clone)]
pub struct ToolCtx {
    /// The call.
    pub call: CallId,
    /// The working directory.
    pub cwd: PathBuf,
    /// Cancelled when the turn is stopped; long work looks at it at least every 5 ms.
    pub cancel: CancellationToken,
    /// Takes the tail of a running program's output.
    pub progress: Arc<dyn Fn(String) + Send + Sync>,
}

/// What a call gave.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolOutput {
    /// What the model reads.
    pub text: String,
    /// Media that go with it.
    pub media: Vec<Block>,
    /// A few words for the person, for example `3 hunks · +7 −4`.
    pub summary: String,
    /// Files that were changed.
    pub changed: Vec<PathBuf>,
    /// The program ran and failed: the text is given to the model as an error.
    pub failed: bool,
}

/// Why a call gave nothing.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum ToolError {
    /// The model reads this, as an instruction for its next step.
    #[error("{0}")]
    Reply(String),
    /// A rule or the person refused.
    #[error("{reason}")]
    Denied {
        /// What the model reads.
        reason: String,
    },
    /// The turn was stopped.
    #[error("the turn was stopped")]
    Cancelled,
    /// It took longer than the caller allows.
    #[error("Stopped: it took longer than {} ms (timeout_ms).", .0.as_millis())]
    TimedOut(Duration),
}

impl ToolError {
    /// The tool panicked.
    pub fn fault() -> Self {
        Self::Reply("The tool failed by a fault of its own, which is in the log. Go another way.".into())
    }
}
