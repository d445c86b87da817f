//! What the person asks of the repository by themselves: facts for the status line, and whose each line is.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::agent::core::Core;
use crate::protocol::event::Event;
use crate::protocol::ids::TicketId;
use crate::vcs::blame::blame;
use crate::vcs::commit::Reader;
use crate::vcs::error::VcsError;
use crate::vcs::facts::facts;
use crate::vcs::{open, uncommitted};

/// Branch, distance from the upstream and changed files, as [`Event::GitAnswered`].
pub async fn look(core: Arc<Core>, ticket: TicketId, stop: CancellationToken) {
    let cwd = core.cwd.clone();
    let looked = tokio::task::spawn_blocking(move || {
        let Some(facts) = facts(&cwd, &stop) else {
            return json!({});
        };
        let upstream = facts.upstream.as_ref();
        json!({
            "root": facts.root,
            "git_dir": facts.git_dir,
            "branch": facts.branch,
            "head": facts.head,
            "ahead": upstream.map_or(0, |upstream| upstream.ahead),
            "behind": upstream.map_or(0, |upstream| upstream.behind),
            "dirty": facts.dirty,
        })
    });
    let answer = looked.await.unwrap_or_else(|_| json!({}));
    core.events.push(Event::GitAnswered { ticket, answer });
}

/// The commit of each line of a file, as [`Event::GitAnswered`]. `text` is the unsaved text of its buffer.
pub async fn blame_file(
    core: Arc<Core>,
    ticket: TicketId,
    path: PathBuf,
    text: Option<String>,
    stop: CancellationToken,
) {
    let blamed = tokio::task::spawn_blocking(move || runs(&path, text.as_deref(), &stop)).await;
    let answer = match blamed {
        Ok(Ok(runs)) => json!({"runs": runs}),
        Ok(Err(error)) => json!({"error": error.to_string()}),
        Err(_) => json!({"error": "The blame failed inside; the log says why."}),
    };
    core.events.push(Event::GitAnswered { ticket, answer });
}

/// Lines in a row from one commit: `{first, last, sha, author, day, subject}`, the last four only of committed
/// ones.
fn runs(path: &Path, text: Option<&str>, stop: &CancellationToken) -> Result<Vec<Value>, VcsError> {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let store = open::discover(&path).and_then(|git| open::open(&git))?;
    let inside = path
        .strip_prefix(store.root())
        .map_err(|_| VcsError::NoRepository(path.clone()))?;
    let inside = std::os::unix::ffi::OsStrExt::as_bytes(inside.as_os_str());
    let (from, _) = uncommitted::version(&store, inside, text, stop)?;
    let reader = Reader::new(&store);
    let mut runs = Vec::new();
    for piece in blame(&store, from, inside, 0..usize::MAX, stop)? {
        let mut run = json!({"first": piece.start + 1, "last": piece.start + piece.lines});
        if let Some(id) = piece.commit {
            let words = reader.read(id)?;
            run["sha"] = json!(id.to_string());
            run["author"] = json!(words.author.name);
            run["day"] = json!(words.author.day());
            run["subject"] = json!(words.subject());
        }
        runs.push(run);
    }
    Ok(runs)
}
