//! Offering earlier sessions to the person, and opening the one that they choose.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};

use tokio_util::sync::CancellationToken;

use crate::agent::core::Core;
use crate::agent::resume::{self, Restored};
use crate::agent::setup::Blueprint;
use crate::fs::safe_path;
use crate::protocol::event::Event;
use crate::protocol::ids::SessionId;
use crate::snapshot::SnapshotStore;
use crate::words::count;

/// How many files are named.
const NAMED: usize = 3;

/// Where the sessions of a project are found.
#[derive(Clone, Debug)]
pub struct Place {
    /// `stdpath('state')/dcode`.
    pub state_dir: PathBuf,
    /// The project's root, else the working directory.
    pub root: PathBuf,
    /// The person's home.
    pub home: PathBuf,
}

impl Place {
    /// Whether a session that began in `cwd` is one of this project.
    fn is_ours(&self, cwd: &Path) -> bool {
        let root = safe_path::project_root_with_home(cwd, Some(&self.home));
        root.as_deref().unwrap_or(cwd) == self.root
    }
}

/// What the person hears of a session that goes on.
pub struct Told {
    /// Whole sentences.
    pub message: String,
    /// The files in which something waits again.
    pub paths: Vec<PathBuf>,
}

/// The newest session in which something waits, as [`Event::SessionOffered`]. Blocks.
pub fn offer(place: &Place) -> Option<Event> {
    let sessions = resume::waiting(&place.state_dir, &place.root);
    let (first, others) = sessions.split_first()?;
    let (hunks, files) = resume::count(&place.state_dir, first);
    (hunks > 0).then(|| Event::SessionOffered {
        session: first.clone(),
        hunks,
        files,
        others: others.len(),
    })
}

/// Opens `session`, else the newest in which something waits, else the newest. Blocks.
///
/// # Errors
/// A sentence for the person.
pub fn resume(
    blueprint: &Blueprint,
    session: Option<SessionId>,
    model: Option<&str>,
    root: &CancellationToken,
) -> Result<(Arc<Core>, Told), String> {
    let place = blueprint.place();
    let session = session
        .or_else(|| resume::waiting(&place.state_dir, &place.root).into_iter().next())
        .or_else(|| resume::newest(&place.state_dir, |cwd| place.is_ours(cwd)))
        .ok_or("There is no earlier session of this project.")?;
    let mut resumed = resume::open(&place.state_dir, &session).map_err(|error| error.to_string())?;
    let (snapshots, problems) = SnapshotStore::reopen(blueprint.snapshot_dirs(), session);
    let unsettled = resume::settle_cut_off(&resumed, &snapshots).err();
    let steps = snapshots.steps();
    let newest = steps.last().map_or(0, |step| step.step.0);
    resumed.last_step = resumed.last_step.max(newest);
    let restored = {
        let review = blueprint.review();
        let mut book = review.lock().unwrap_or_else(PoisonError::into_inner);
        // The session of before must not keep what is another's.
        book.unwatch();
        resume::restore_review(&place.state_dir, &resumed, &snapshots, &mut book)
    };
    let undoable = steps.iter().filter(|step| !step.undone).count();
    let mut message = summary(&restored, undoable, &place.root);
    let damage = resumed.damage.take();
    let problems = problems.iter().chain(&unsettled).map(ToString::to_string);
    for problem in damage.into_iter().chain(problems) {
        let _ = write!(message, " {problem}");
    }
    let core = blueprint.build(model, root, Some((resumed, snapshots)));
    if !restored.changed.is_empty() {
        core.note(format!(
            "The session was resumed. These files changed meanwhile, read them before you edit: {}.",
            names(&restored.changed, &place.root)
        ));
    }
    let paths = restored.paths;
    Ok((core, Told { message, paths }))
}

/// Why no session goes on.
pub fn refused(why: &str) -> Event {
    Event::SessionResumed {
        ok: false,
        message: why.to_owned(),
        paths: Vec::new(),
    }
}

fn summary(restored: &Restored, undoable: usize, root: &Path) -> String {
    let files = restored.paths.len();
    let mut text = match restored.hunks {
        0 => "The session goes on; nothing waits for review".to_owned(),
        hunks => format!(
            "The session goes on: {} in {} wait for review",
            count(hunks, "hunk"),
            count(files, "file")
        ),
    };
    match undoable {
        0 => text.push('.'),
        steps => {
            let _ = write!(text, ", {} can be undone.", count(steps, "step"));
        }
    }
    for (path, why) in restored.lost.iter().take(NAMED) {
        let _ = write!(text, " {}: {why}.", shown(path, root));
    }
    if restored.lost.len() > NAMED {
        let _ = write!(
            text,
            " {} more did not come back whole.",
            count(restored.lost.len() - NAMED, "file")
        );
    }
    text
}

fn names(paths: &[PathBuf], root: &Path) -> String {
    let names: Vec<String> = paths.iter().map(|path| shown(path, root)).collect();
    names.join(", ")
}

fn shown(path: &Path, root: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).display().to_string()
}
