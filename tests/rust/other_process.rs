//! Runs one `#[ignore]`d test of this binary as a process of its own. Such a test does its part only
//! when [`folder`] says where.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const FOLDER: &str = "DCODE_TEST_FOLDER";

/// The folder that the parent handed over; `None` when the test was not started by one.
pub fn folder() -> Option<PathBuf> {
    std::env::var_os(FOLDER).map(PathBuf::from)
}

/// A command that runs the ignored test `name`, through `sh` after `setup`.
#[allow(clippy::disallowed_methods)] // No Neovim is near, and the test waits for the child.
pub fn command(name: &str, folder: &Path, setup: &str) -> Command {
    let mut command = Command::new("sh");
    command
        .arg("-c")
        .arg(format!("{setup}\nexec \"$0\" \"$@\""))
        .arg(std::env::current_exe().unwrap())
        .args([name, "--exact", "--ignored", "--nocapture", "--test-threads=1"])
        .env(FOLDER, folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}
