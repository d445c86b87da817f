//! Wakes Neovim's main loop from the agent's threads.

use nvim_oxi::libuv::AsyncHandle;

use crate::agent::queue::Waker;
use crate::host::guard::guard;

/// A waker over libuv's async handle: microseconds, safe from any thread, coalesced.
struct UvWaker(&'static AsyncHandle);

impl Waker for UvWaker {
    fn wake(&self) {
        // It fails only when the loop is closed, and then nobody is there to wake.
        let _ = self.0.send();
    }
}

/// A waker that has `on_wake` called on the main loop, soon after each wake, where buffers may be edited.
///
/// # Errors
/// When Neovim's event loop refuses the handle.
pub fn waker(on_wake: fn()) -> Result<Box<dyn Waker>, String> {
    let handle = AsyncHandle::new(move || {
        // The handle's callback runs in the middle of the loop, where no buffer may be touched: it only
        // schedules. A failure is in the log; the next wake tries again.
        let _ = guard(|| nvim_oxi::schedule(move |()| drop(guard(on_wake))));
    })
    .map_err(|error| format!("Neovim's event loop refuses to wake dcode ({error})."))?;
    // Never dropped: other threads may send as long as the process lives.
    Ok(Box::new(UvWaker(Box::leak(Box::new(handle)))))
}
