//! No panic may reach the editor: every callback runs under a guard, and panics go to the log.

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

#[cfg(test)]
#[allow(clippy::panic, clippy::unwrap_used, reason = "the panics are what is tested")]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_a_sentence_and_goes_to_the_log() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("state/editor.log");
        let before = std::panic::take_hook();
        panics_to(log.clone());
        let said = guard::<()>(|| panic!("the ninth byte"));
        let formatted = guard::<()>(|| panic!("at {}", 9));
        let silent = guard::<()>(|| std::panic::panic_any(7_u8));
        std::panic::set_hook(before);
        assert!(said.unwrap_err().contains("(the ninth byte)"));
        assert!(formatted.unwrap_err().contains("(at 9)"));
        assert!(silent.unwrap_err().contains(":Dcode log"));
        assert_eq!(guard(|| 5), Ok(5));
        let written = std::fs::read_to_string(&log).unwrap();
        assert!(
            written.contains("the ninth byte") && written.contains("guard.rs"),
            "{written}"
        );
    }
}
