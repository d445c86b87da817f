//! What the main thread holds: the agent's handle and the function that Lua wants called on a wake.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use crate::agent::queue::EventQueue;
use crate::agent::runtime::{self, AgentHandle};
use crate::agent::setup::{Start, Started};
use crate::nvim::bridge;

thread_local! {
    static APP: RefCell<Option<App>> = const { RefCell::new(None) };
}

/// The running agent, seen from the main thread.
pub struct App {
    agent: Rc<AgentHandle>,
    on_wake: mlua::Function,
}

/// Starts the agent, once; the second start of a process says so.
///
/// # Errors
/// A sentence for the person.
pub fn start(start: Start, on_wake: mlua::Function) -> Result<Started, String> {
    if APP.with_borrow(Option::is_some) {
        return Err("dcode runs already in this Neovim.".into());
    }
    let events = Arc::new(EventQueue::new(bridge::waker(wake)?));
    let (agent, started) = runtime::spawn(start, events).map_err(|error| error.to_string())?;
    APP.set(Some(App {
        agent: Rc::new(agent),
        on_wake,
    }));
    Ok(started)
}

/// The agent's handle.
///
/// # Errors
/// When it was not started.
pub fn agent() -> Result<Rc<AgentHandle>, String> {
    APP.with_borrow(|app| app.as_ref().map(|app| Rc::clone(&app.agent)))
        .ok_or_else(|| "dcode is not running in this Neovim.".into())
}

/// Ends the agent within `limit`. Nothing happens when none runs.
pub fn stop(limit: Duration) {
    if let Some(app) = APP.take() {
        app.agent.shutdown(limit);
    }
}

/// Calls Lua on the main loop. The borrow ends before the call: Lua calls back into us.
fn wake() {
    let on_wake = APP.with_borrow(|app| app.as_ref().map(|app| app.on_wake.clone()));
    if let Some(on_wake) = on_wake {
        // Lua guards its handlers and reports their errors; nothing is left to do here.
        let _ = on_wake.call::<()>(());
    }
}
