//! Where a key comes from: the environment, a command of the person's, or a file that only they may read.
//!
//! A key is never part of a sentence; neither is what a command printed or a file holds.

use std::io::Read as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use super::model::{ProviderError, ProviderErrorKind};
use super::settings::ProviderRow;

/// How long a command may take: it may ask a password manager that asks the person.
const COMMAND_LIMIT: Duration = Duration::from_secs(30);
/// No key is longer.
const KEY_LIMIT: u64 = 16 * 1024;

/// Looks for the key of a provider; None where the row names no place or the places are empty.
///
/// # Errors
/// Of kind `Auth`: the command fails, or the file may be read by others.
pub(super) fn find(
    provider: &str,
    row: &ProviderRow,
    set: &dyn Fn(&str) -> Option<String>,
) -> Result<Option<String>, ProviderError> {
    if let Some(key) = row.api_key_env.as_deref().and_then(set) {
        return Ok(Some(key));
    }
    if let Some(command) = &row.api_key_cmd {
        return from_command(command).map(Some).map_err(|why| ProviderError {
            kind: ProviderErrorKind::Auth,
            message: format!("There is no key for {provider}: its api_key_cmd {why}."),
            hint: format!("Run the command in a shell, and correct providers.{provider}.api_key_cmd."),
        });
    }
    match &row.api_key_file {
        Some(file) => from_file(file).map(Some).map_err(|(why, hint)| ProviderError {
            kind: ProviderErrorKind::Auth,
            message: format!(
                "There is no key for {provider}: the file {} {why}.",
                file.display()
            ),
            hint,
        }),
        None => Ok(None),
    }
}

/// What the command prints. The error is the rest of a sentence.
#[expect(
    clippy::disallowed_methods,
    reason = "the person's own command, in a group of its own that ends with our patience"
)]
fn from_command(command: &str) -> Result<String, String> {
    let mut child = Command::new("/bin/sh")
        .args(["-c", command])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .map_err(|_| "cannot be started".to_owned())?;
    let Some(mut out) = child.stdout.take() else {
        return Err("prints nothing".to_owned());
    };
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        out.by_ref()
            .take(KEY_LIMIT)
            .read_to_string(&mut text)
            .map(|_| text)
    });
    let deadline = Instant::now() + COMMAND_LIMIT;
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(5)),
            _ => {
                if let Some(group) = Pid::from_raw(child.id().cast_signed()) {
                    // All of it may have ended by itself just now.
                    let _ = kill_process_group(group, Signal::KILL);
                }
                let _ = child.wait();
                return Err(format!("did not end within {} s", COMMAND_LIMIT.as_secs()));
            }
        }
    };
    if !status.success() {
        return Err(match status.code() {
            Some(code) => format!("ended with exit code {code}"),
            None => "was killed".to_owned(),
        });
    }
    // A child of the command's may keep its output open; the key is there by now, or never.
    let patience = Instant::now() + Duration::from_secs(1);
    while !reader.is_finished() && Instant::now() < patience {
        std::thread::sleep(Duration::from_millis(5));
    }
    if !reader.is_finished() {
        return Err("leaves a process behind that holds its output".to_owned());
    }
    let text = reader.join().ok().and_then(Result::ok).unwrap_or_default();
    first_line(&text).ok_or_else(|| "prints nothing".to_owned())
}

/// What the file holds. The error is the rest of a sentence, and a hint.
fn from_file(file: &Path) -> Result<String, (String, String)> {
    let check = || "Check providers.….api_key_file.".to_owned();
    let opened = std::fs::File::open(file).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => ("does not exist".to_owned(), check()),
        _ => ("cannot be read".to_owned(), check()),
    })?;
    let meta = opened
        .metadata()
        .map_err(|_| ("cannot be read".to_owned(), check()))?;
    let others = meta.permissions().mode() & 0o077 != 0;
    if !meta.is_file() {
        return Err(("is no file".to_owned(), check()));
    }
    if others || meta.uid() != rustix::process::geteuid().as_raw() {
        let hint = format!("Type: chmod 600 {}", file.display());
        return Err(("can be read by others than you".to_owned(), hint));
    }
    let mut text = String::new();
    opened
        .take(KEY_LIMIT)
        .read_to_string(&mut text)
        .map_err(|_| ("cannot be read".to_owned(), check()))?;
    first_line(&text).ok_or_else(|| ("is empty".to_owned(), check()))
}

/// The first line that is not blank.
fn first_line(text: &str) -> Option<String> {
    let mut lines = text.lines().map(str::trim);
    lines.find(|line| !line.is_empty()).map(ToOwned::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(row: &ProviderRow) -> Result<Option<String>, String> {
        let env = |name: &str| (name == "SET").then(|| "from-env".to_owned());
        find("acme", row, &env).map_err(|error| error.message)
    }

    fn command(text: &str) -> ProviderRow {
        ProviderRow {
            api_key_env: Some("UNSET".into()),
            api_key_cmd: Some(text.into()),
            ..ProviderRow::default()
        }
    }

    #[test]
    fn the_environment_comes_first_then_the_command() {
        let mut row = command("echo; echo ' from-cmd '; echo more");
        assert_eq!(found(&row), Ok(Some("from-cmd".into())));
        row.api_key_env = Some("SET".into());
        assert_eq!(found(&row), Ok(Some("from-env".into())));
        assert_eq!(found(&ProviderRow::default()), Ok(None));
    }

    #[test]
    fn a_command_that_fails_is_named_without_its_words() {
        let error = found(&command("echo sk-secret; exit 3")).unwrap_err();
        assert_eq!(
            error,
            "There is no key for acme: its api_key_cmd ended with exit code 3."
        );
        let error = found(&command("true")).unwrap_err();
        assert_eq!(error, "There is no key for acme: its api_key_cmd prints nothing.");
    }

    #[test]
    fn a_file_must_be_the_persons_alone() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("key");
        std::io::Write::write_all(&mut std::fs::File::create(&file).unwrap(), b"\nsk-file\n").unwrap();
        let row = ProviderRow {
            api_key_file: Some(file.clone()),
            ..ProviderRow::default()
        };
        let mode = |mode| std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
        mode(0o644);
        let error = found(&row).unwrap_err();
        assert!(error.ends_with("can be read by others than you."), "{error}");
        mode(0o600);
        assert_eq!(found(&row), Ok(Some("sk-file".into())));
        std::fs::remove_file(&file).unwrap();
        assert!(found(&row).unwrap_err().ends_with("does not exist."));
    }
}
