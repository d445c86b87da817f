//! Going on with a session that another process began: its conversation, its steps, and what waits for
//! review, whatever that process' end was and whoever wrote into the files since.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::agent::history::History;
use crate::agent::review_keeper::{Kept, review_dir, unmark, waiting_dir};
use crate::fs::text;
use crate::journal::{
    self, BlobStore, Journal, JournalError, PrivateDir, Record, is_locked, is_plain_name, journal_path,
};
use crate::protocol::ids::{HunkId, SessionId, StepIx, TurnId};
use crate::review::{Author, ReviewBook, Texts};
use crate::snapshot::{Before, Disk, SnapshotError, SnapshotStore};

/// How many sessions are looked through for the newest one of a project.
const LOOK_BACK: usize = 200;
/// How much later than its journal a process can have written its last file.
const SLACK: Duration = Duration::from_secs(2);

/// A session whose journal this process holds from now on.
pub struct Resumed {
    /// Its name.
    pub session: SessionId,
    /// Locked: nobody else can go on with it.
    pub journal: Journal,
    /// The conversation; every call has its result.
    pub history: History,
    /// The last step that was numbered.
    pub last_step: u64,
    /// The last turn that was numbered.
    pub last_turn: u64,
    /// The person's words, by turn.
    pub prompts: BTreeMap<TurnId, String>,
    /// What the journal says of each file that waits.
    pub kept: BTreeMap<PathBuf, Kept>,
    /// Steps that were cut off: what they left to review is not in the journal.
    pub cut_off: BTreeSet<StepIx>,
    /// When the process that wrote the journal last did so.
    pub ended: SystemTime,
    /// A line of the journal was damaged, in words.
    pub damage: Option<String>,
}

/// What came back into the review.
#[derive(Debug, Default)]
pub struct Restored {
    /// The files in which something waits again.
    pub paths: Vec<PathBuf>,
    /// How many hunks.
    pub hunks: usize,
    /// Files of which hunks did not come back, and why, as the end of a sentence.
    pub lost: Vec<(PathBuf, String)>,
    /// Files that somebody else changed since.
    pub changed: Vec<PathBuf>,
}

/// Sessions of the project at `root` in which something waits and that no process has open, newest first.
pub fn waiting(state_dir: &Path, root: &Path) -> Vec<SessionId> {
    let marks = waiting_dir(state_dir, root);
    let names = PrivateDir::open(&marks).and_then(|dir| dir.names());
    let sessions = names.unwrap_or_default().into_iter().rev().map(SessionId);
    let (there, gone): (Vec<_>, Vec<_>) = sessions
        .filter(|session| is_plain_name(&session.0))
        .partition(|session| journal_path(state_dir, session).exists());
    for session in &gone {
        // What cannot be removed is looked at again the next time.
        unmark(&marks, session).ok();
    }
    let free = |session: &SessionId| !is_locked(&journal_path(state_dir, session));
    there.into_iter().filter(free).collect()
}

/// The newest session of the project that no process has open and in which something was done. One that was begun
/// only to go on with an earlier one may have recorded what waited there, and nothing else.
pub fn newest(state_dir: &Path, is_ours: impl Fn(&Path) -> bool) -> Option<SessionId> {
    let dir = PrivateDir::open(&state_dir.join("sessions")).ok()?;
    let names = dir.names().ok()?;
    let sessions = names.into_iter().rev().take(LOOK_BACK).map(SessionId);
    let mut ours = sessions.filter(|session| {
        let path = journal_path(state_dir, session);
        let began = journal::read_start(&path)
            .ok()
            .and_then(|read| read.records.into_iter().next());
        let here = matches!(began, Some(Record::SessionStarted { cwd, .. }) if is_ours(&cwd));
        here && !is_locked(&path) && was_worked_in(&path)
    });
    ours.next()
}

fn was_worked_in(journal: &Path) -> bool {
    let work = |record: &Record| matches!(record, Record::TurnStarted { .. } | Record::StepStarted { .. });
    journal::read(journal).is_ok_and(|read| read.records.iter().any(work))
}

/// How many hunks wait in how many files of a session that nobody has open.
pub fn count(state_dir: &Path, session: &SessionId) -> (usize, usize) {
    let Ok(read) = journal::read(&journal_path(state_dir, session)) else {
        return (0, 0);
    };
    let mut book = ReviewBook::new();
    for (path, kept) in &waiting_files(&read.records) {
        if let Ok(texts) = texts(state_dir, session, kept) {
            book.restore(path, &texts);
        }
    }
    (book.pending(), book.pending_files().count())
}

/// Takes the journal of `session` and reads it.
///
/// # Errors
/// When another process has it open, or it cannot be read.
pub fn open(state_dir: &Path, session: &SessionId) -> Result<Resumed, JournalError> {
    let path = journal_path(state_dir, session);
    let written = std::fs::metadata(&path).and_then(|metadata| metadata.modified());
    let opened = Journal::open(&path)?;
    let records = opened.recovered.records;
    let mut history = History::default();
    let (mut last_step, mut last_turn) = (0, 0);
    let mut prompts = BTreeMap::new();
    let mut cut_off = BTreeSet::new();
    for record in &records {
        history.replay(record);
        match record {
            Record::TurnStarted { turn, text } => {
                last_turn = last_turn.max(turn.0);
                prompts.insert(*turn, text.clone());
            }
            Record::StepStarted { step, turn } => {
                last_step = last_step.max(step.0);
                last_turn = last_turn.max(turn.0);
                cut_off.insert(*step);
            }
            Record::StepKept { step } => {
                cut_off.remove(step);
            }
            _ => {}
        }
    }
    let open = "Not known: the editor ended while it ran. Look before you run it again.";
    if let Some(message) = history.answer_open_calls(open) {
        let message = message.clone();
        opened.journal.append(&Record::MessageAppended { message })?;
    }
    Ok(Resumed {
        session: opened.journal.session().clone(),
        journal: opened.journal,
        history,
        last_step,
        last_turn,
        prompts,
        kept: waiting_files(&records),
        cut_off,
        ended: written.unwrap_or(SystemTime::UNIX_EPOCH),
        damage: opened.recovered.damage.map(|damage| damage.to_string()),
    })
}

/// A step that was cut off did not record what it left. What lies there now is that, unless somebody wrote
/// it later than the process can have.
///
/// # Errors
/// When it cannot be kept; then undo goes by what it knows.
pub fn settle_cut_off(resumed: &Resumed, snapshots: &SnapshotStore) -> Result<(), SnapshotError> {
    let last = resumed.ended + SLACK;
    for step in &resumed.cut_off {
        let touched = snapshots.touched(*step);
        let open = touched.iter().filter(|(path, _, after)| {
            after.is_none() && changed_at(path).is_some_and(|changed| changed <= last)
        });
        let files: Vec<_> = open.map(|(path, ..)| (path.as_path(), None)).collect();
        snapshots.finish_all(*step, files)?;
    }
    Ok(())
}

/// When a file was last written; of one that is gone, when its folder last changed.
fn changed_at(path: &Path) -> Option<SystemTime> {
    let there = path
        .ancestors()
        .find_map(|place| std::fs::symlink_metadata(place).ok());
    there.and_then(|metadata| metadata.modified().ok())
}

/// Puts what waited back into `book`. What the files hold now is the truth: what somebody wrote into them
/// since counts as the person's, unless a step was cut off there.
pub fn restore_review(
    state_dir: &Path,
    resumed: &Resumed,
    snapshots: &SnapshotStore,
    book: &mut ReviewBook,
) -> Restored {
    let mut restored = Restored::default();
    let mut waiting: BTreeMap<PathBuf, Texts> = BTreeMap::new();
    for (path, kept) in &resumed.kept {
        match texts(state_dir, &resumed.session, kept) {
            Ok(texts) => drop(waiting.insert(path.clone(), texts)),
            Err(error) => restored.lost.push((path.clone(), error.to_string())),
        }
    }
    let mut agents = BTreeSet::new();
    for step in &resumed.cut_off {
        for (path, before, _) in snapshots.touched(*step) {
            agents.insert(path.clone());
            if !waiting.contains_key(&path)
                && let Some(base) = found(snapshots, &before)
            {
                let current = base.clone();
                waiting.insert(path, Texts { base, current });
            }
        }
    }
    for (path, texts) in waiting {
        let author = if agents.contains(&path) {
            Author::Agent
        } else {
            Author::Person
        };
        put_into(book, &path, &texts, author, &mut restored);
    }
    restored
}

fn put_into(book: &mut ReviewBook, path: &Path, texts: &Texts, author: Author, restored: &mut Restored) {
    if book.count(path) > 0 {
        let why = "other hunks wait in it already".to_owned();
        restored.lost.push((path.to_owned(), why));
        return;
    }
    let now = match on_disk(path) {
        Ok(now) => now,
        Err(why) => return restored.lost.push((path.to_owned(), why)),
    };
    let texts = &as_laid_down(texts, now.as_deref());
    book.restore(path, texts);
    let before: BTreeSet<HunkId> = book.hunks(path).into_iter().map(|hunk| hunk.id).collect();
    if now != texts.current {
        book.write(path, texts.current.as_deref(), now.as_deref(), author);
        restored.changed.push(path.to_owned());
    }
    let after: BTreeSet<HunkId> = book.hunks(path).into_iter().map(|hunk| hunk.id).collect();
    let gone = before.difference(&after).count();
    if gone > 0 {
        let hunks = if gone == 1 {
            "1 hunk is".into()
        } else {
            format!("{gone} hunks are")
        };
        let why = format!("it changed since, {hunks} gone");
        restored.lost.push((path.to_owned(), why));
    }
    if !after.is_empty() {
        restored.paths.push(path.to_owned());
        restored.hunks += after.len();
    }
}

/// The texts with the line endings of the file: those of a buffer have none of their own.
fn as_laid_down(texts: &Texts, now: Option<&str>) -> Texts {
    let plain = |text: &Option<String>| !text.as_deref().unwrap_or_default().contains('\r');
    let dos = now.is_some_and(|now| now.contains("\r\n") && !now.replace("\r\n", "").contains('\n'));
    if !(dos && plain(&texts.base) && plain(&texts.current)) {
        return texts.clone();
    }
    let dos = |text: &Option<String>| text.as_ref().map(|text| text.replace('\n', "\r\n"));
    Texts {
        base: dos(&texts.base),
        current: dos(&texts.current),
    }
}

/// The text of a file as it lies on disk; `None` = there is none.
fn on_disk(path: &Path) -> Result<Option<String>, String> {
    match std::fs::read(path) {
        Ok(bytes) => match text::decode(&bytes) {
            Ok((text, _)) => Ok(Some(text)),
            Err(error) => Err(format!("it is not text any more ({error})")),
        },
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(crate::fs::cause::cause(&error)),
    }
}

/// The text that a step found, where there was one; `Some(None)` = there was no file.
fn found(snapshots: &SnapshotStore, before: &Before) -> Option<Option<String>> {
    let blob = before.buffer.as_ref().map(|buffer| &buffer.blob);
    match (blob.or(before.disk.blob()), &before.disk) {
        (Some(blob), _) => {
            let bytes = snapshots.blob(blob).ok()?;
            text::decode(&bytes).ok().map(|(text, _)| Some(text))
        }
        (None, Disk::Absent { .. }) => Some(None),
        (None, _) => None,
    }
}

fn waiting_files(records: &[Record]) -> BTreeMap<PathBuf, Kept> {
    let mut waiting = BTreeMap::new();
    for record in records {
        match record {
            Record::ReviewBase {
                path, base, current, ..
            } => {
                waiting.insert(path.clone(), (base.clone(), current.clone()));
            }
            Record::ReviewClosed { path } => {
                waiting.remove(path);
            }
            _ => {}
        }
    }
    waiting
}

fn texts(state_dir: &Path, session: &SessionId, (base, current): &Kept) -> Result<Texts, JournalError> {
    let store = BlobStore::open(&review_dir(state_dir, session))?;
    let read = |hash: &Option<_>| match hash {
        Some(hash) => store
            .get(hash)
            .map(|bytes| Some(String::from_utf8_lossy(&bytes).into_owned())),
        None => Ok(None),
    };
    Ok(Texts {
        base: read(base)?,
        current: read(current)?,
    })
}
