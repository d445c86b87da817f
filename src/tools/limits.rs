//! Runs a prepared call within its limits: the turn's stop, a limit of time, and its own panics.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::FutureExt;

use crate::host::clock::WorkClock;
use crate::tools::registry::Prepared;
use crate::tools::tool::{ToolCtx, ToolError, ToolOutput};

/// How long a tool may take to wind up after it was cancelled, before it is dropped.
const GRACE: Duration = Duration::from_secs(2);

/// Runs the tool until it is done, the turn is stopped or `limit` of its own time is over.
pub(super) async fn run(
    prepared: Prepared,
    ctx: &ToolCtx,
    limit: Option<Duration>,
    clock: &WorkClock,
) -> Result<ToolOutput, ToolError> {
    let cancel = ctx.cancel.child_token();
    let inner = ToolCtx {
        cancel: cancel.clone(),
        ..ctx.clone()
    };
    let started = clock.worked();
    let over = async {
        match limit {
            Some(limit) => clock.reached(started + limit).await,
            None => std::future::pending().await,
        }
    };
    let mut run = Box::pin(AssertUnwindSafe(prepared.run(inner)).catch_unwind());
    let result = tokio::select! {
        result = &mut run => result,
        () = cancel.cancelled() => wind_up(run).await,
        () = over => {
            cancel.cancel();
            match (wind_up(run).await, limit) {
                (Ok(Err(ToolError::Cancelled)), Some(limit)) => Ok(Err(ToolError::TimedOut(limit))),
                (done, _) => done,
            }
        }
    };
    result.unwrap_or_else(|_panic| Err(ToolError::fault()))
}

async fn wind_up<T>(
    run: impl Future<Output = std::thread::Result<Result<T, ToolError>>>,
) -> std::thread::Result<Result<T, ToolError>> {
    tokio::time::timeout(GRACE, run)
        .await
        .unwrap_or(Ok(Err(ToolError::Cancelled)))
}
