//! In whose name work is done: a turn, or a call from Lua.
//!
//! What the ports need to know of their caller (is it cancelled, who answers) would otherwise pass
//! through every signature between the dispatcher and the backend. It belongs to the task instead.

use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::host::clock::WorkClock;
use crate::protocol::ids::TicketId;

/// The work in whose name requests are made.
#[derive(Clone)]
pub struct Scope {
    /// Cancelled with the work.
    pub cancel: CancellationToken,
    /// Cancelled when the agent ends.
    pub root: CancellationToken,
    /// Stands still while the editor or the person is asked.
    pub clock: WorkClock,
    /// The call from Lua, if it is one.
    pub ticket: Option<TicketId>,
    /// Whether somebody answers approvals.
    pub human: bool,
}

tokio::task_local! {
    static SCOPE: Scope;
}

/// Runs `work` so that its requests belong to `scope`.
pub async fn within<F: Future>(scope: Scope, work: F) -> F::Output {
    SCOPE.scope(scope, work).await
}

/// The scope of the running task, if it has one.
pub fn current() -> Option<Scope> {
    SCOPE.try_with(Clone::clone).ok()
}

/// Runs `work`, which tidies up after a call, so that its requests are made although the call was stopped;
/// only the agent's end ends them.
pub async fn tidying<F: Future>(work: F) -> F::Output {
    match current() {
        Some(scope) => {
            let cancel = scope.root.clone();
            within(Scope { cancel, ..scope }, work).await
        }
        None => work.await,
    }
}

/// The clock of the running task; a fresh one where it has no scope.
pub fn clock() -> WorkClock {
    current().map(|scope| scope.clock).unwrap_or_default()
}

/// Runs `work` as a task of its own that stays in the scope of its caller, and goes on when the caller is
/// dropped.
pub fn spawn<F>(work: F) -> JoinHandle<F::Output>
where
    F: Future<Output: Send> + Send + 'static,
{
    match current() {
        Some(scope) => tokio::spawn(within(scope, work)),
        None => tokio::spawn(work),
    }
}
