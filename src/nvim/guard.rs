//! No panic may reach Neovim: every callback runs under a guard, and panics go to the log.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::OnceLock;

static LOG: OnceLock<PathBuf> = OnceLock::new();

/// Runs `callback`; a panic becomes an error with its message.
pub fn guard<R>(callback: impl FnOnce() -> R) -> Result<R, String> {
    catch_unwind(AssertUnwindSafe(callback)).map_err(|payload| {
        let text = payload
            .downcast_ref::<&str>()
            .map(|text| (*text).to_owned())
            .or_else(|| payload.downcast_ref::<String>().cloned())
            .unwrap_or_else(|| "unknown cause".into());
        format!("dcode failed by a fault of its own ({text}). Details are in the log: :Dcode log.")
    })
}

/// From now on panics of all threads are written to `log`, never to stderr: that is Neovim's screen.
pub fn panics_to(log: PathBuf) {
    if LOG.set(log).is_err() {
        return;
    }
    std::panic::set_hook(Box::new(|info| {
        let Some(log) = LOG.get() else { return };
        if let Some(parent) = log.parent() {
            // Without a folder there is no log, and a panic hook has nobody to tell.
            let _ = std::fs::create_dir_all(parent);
        }
        if let Ok(mut file) = OpenOptions::new().append(true).create(true).mode(0o600).open(log) {
            let trace = std::backtrace::Backtrace::force_capture();
            let name = std::thread::current().name().unwrap_or("unnamed").to_owned();
            let _ = writeln!(file, "panic in thread {name}: {info}\n{trace}");
        }
    }));
}
