//! Review from the main thread: deltas of buffers in, hunks out, accept and reject at once.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use crate::agent::runtime::AgentHandle;
use crate::nvim::{app, buffers, review_view};
use crate::protocol::change::LineEdit;
use crate::protocol::ids::HunkId;
use crate::protocol::op::{HunkOutcome, Op};
use crate::review::{Author, Hunk, ReviewBook, Selector};

thread_local! {
    /// Buffers that report their edits, and the file each holds.
    static ATTACHED: RefCell<HashMap<i64, PathBuf>> = RefCell::default();
}

/// What Lua may do with the review.
#[derive(Deserialize)]
#[serde(tag = "action", rename_all = "snake_case")]
pub enum Action {
    /// `buf` holds `path` and reports its edits from now on.
    Attach {
        buf: i64,
        path: PathBuf,
        #[serde(default = "yes")]
        eol: bool,
    },
    /// `buf` reports no more.
    Detach { buf: i64 },
    /// Lines `first..last` (0-based) became `first..new_last`.
    Lines {
        buf: i64,
        first: usize,
        last: usize,
        new_last: usize,
        origin: Author,
    },
    /// Changes of one undo block, from the bottom up: `first`, `last` and `new_last` of each, one after the
    /// other, in the line numbers before all of them.
    Batch {
        buf: i64,
        changes: Vec<usize>,
        origin: Author,
    },
    /// The final newline came or went.
    Eol { buf: i64, eol: bool, origin: Author },
    /// The file of `buf` was removed; its text is empty.
    Removed { buf: i64, origin: Author },
    /// The whole text was replaced from outside.
    Resync {
        buf: i64,
        #[serde(default = "yes")]
        eol: bool,
    },
    /// Remember what waits at this sequence number of the undo tree.
    Mark { buf: i64, seq: u64 },
    /// Undo or redo has come to this sequence number.
    Arrive { buf: i64, seq: u64 },
    /// Which edits bring back what was rejected last in a buffer. They are made as the agent's.
    BringBack { buf: i64 },
    /// The editor wrote the file of a buffer.
    Written { path: PathBuf },
    /// The edits that reject hunks of a buffer were made; `hunks` is `told` of [`Action::Reject`].
    Rejected { path: PathBuf, hunks: Vec<HunkOutcome> },
    /// Accept hunks.
    Accept(Which),
    /// Say which edits put the base back. Hunks of files that no buffer holds are rejected by the engine.
    Reject(Which),
}

fn yes() -> bool {
    true
}

/// Hunks to decide on: of a buffer, of a file, or all.
#[derive(Deserialize)]
pub struct Which {
    buf: Option<i64>,
    path: Option<PathBuf>,
    hunk: Option<HunkId>,
    range: Option<(usize, usize)>,
}

/// Which hunks to list: of a buffer, of a file, or all.
#[derive(Deserialize)]
pub struct Filter {
    buf: Option<i64>,
    path: Option<PathBuf>,
}

#[derive(Serialize)]
struct Row {
    path: PathBuf,
    #[serde(skip_serializing_if = "Option::is_none")]
    buf: Option<i64>,
    #[serde(flatten)]
    hunk: Hunk,
}

/// Does what Lua wants.
///
/// # Errors
/// A sentence for the person.
pub fn act(action: Action) -> Result<Json, String> {
    let agent = app::agent()?;
    let mut book = lock(&agent);
    match action {
        Action::Attach { buf, path, eol } => {
            let text = buffers::text(buf, eol, false)?.text;
            let hunks = book.attach(&path, &text);
            ATTACHED.with_borrow_mut(|attached| attached.insert(buf, path));
            return Ok(json!({ "hunks": hunks }));
        }
        Action::Detach { buf } => {
            if let Some(path) = ATTACHED.with_borrow_mut(|attached| attached.remove(&buf)) {
                book.detach(&path);
            }
        }
        Action::Lines {
            buf,
            first,
            last,
            new_last,
            origin,
        } => {
            let path = path_of(buf)?;
            let lines = buffers::lines(buf, first, new_last)?;
            book.edit(
                &path,
                &LineEdit {
                    start: first,
                    end: last,
                    lines,
                },
                origin,
            );
            return Ok(json!({ "hunks": book.count(&path), "revision": book.revision(&path) }));
        }
        Action::Batch { buf, changes, origin } => {
            let path = path_of(buf)?;
            book.edit_batch(&path, &review_view::batch(buf, &changes)?, origin);
            return Ok(json!({ "hunks": book.count(&path), "revision": book.revision(&path) }));
        }
        Action::Eol { buf, eol, origin } => book.set_eol(&path_of(buf)?, eol, origin),
        Action::Removed { buf, origin } => book.remove(&path_of(buf)?, origin),
        Action::Resync { buf, eol } => {
            let text = buffers::text(buf, eol, false)?.text;
            book.resync(&path_of(buf)?, &text);
        }
        Action::Mark { buf, seq } => book.mark(&path_of(buf)?, seq),
        Action::Arrive { buf, seq } => {
            let restored = book.arrive(&path_of(buf)?, seq);
            return Ok(json!({ "restored": restored }));
        }
        Action::BringBack { buf } => {
            let path = path_of(buf)?;
            let edits = book.bring_back(&path).map_err(|error| error.to_string())?;
            return Ok(json!({ "path": path, "buf": buf, "edits": rows(&edits) }));
        }
        Action::Written { path } => agent.written(&path),
        Action::Rejected { path, hunks } => drop(agent.submit(Op::Reviewed { path, hunks })),
        Action::Accept(which) => return accept(&agent, &mut book, &which),
        Action::Reject(which) => return reject(&agent, &mut book, &which),
    }
    Ok(json!(true))
}

/// The hunks that `filter` names, in the order of paths and lines.
///
/// # Errors
/// When the agent does not run.
pub fn hunks(filter: &Filter) -> Result<Json, String> {
    let agent = app::agent()?;
    let book = lock(&agent);
    let wanted = match (filter.buf, &filter.path) {
        // A buffer that reports nothing has no hunks.
        (Some(buf), _) => match path_of(buf) {
            Ok(path) => Some(path),
            Err(_) => return Ok(json!([])),
        },
        (None, path) => path.clone(),
    };
    let rows = book
        .all()
        .into_iter()
        .filter(|(path, _)| wanted.as_deref().is_none_or(|want| want == *path));
    let rows = rows.flat_map(|(path, hunks)| {
        let buf = buf_of(path);
        hunks.into_iter().map(move |hunk| Row {
            path: path.to_owned(),
            buf,
            hunk,
        })
    });
    Ok(json!(rows.collect::<Vec<_>>()))
}

/// How many hunks wait.
pub fn pending(agent: &AgentHandle) -> usize {
    lock(agent).pending()
}

fn accept(agent: &AgentHandle, book: &mut ReviewBook, which: &Which) -> Result<Json, String> {
    let (paths, selector) = select(book, which)?;
    let mut total = 0;
    for path in &paths {
        // A path without a hunk there counts nothing; the sum says whether there was one at all.
        let met = selected(book, path, &selector);
        let accepted = book.accept(path, &selector).unwrap_or(0);
        if accepted > 0 {
            tell(agent, path, &met, true);
        }
        total += accepted;
    }
    Ok(json!({ "count": total, "paths": paths }))
}

fn reject(agent: &AgentHandle, book: &mut ReviewBook, which: &Which) -> Result<Json, String> {
    let (paths, selector) = select(book, which)?;
    let (mut total, mut files) = (0, Vec::new());
    for path in &paths {
        let Ok(rejection) = book.rejection(path, &selector) else {
            continue;
        };
        total += rejection.hunks;
        let met = selected(book, path, &selector);
        let buf = buf_of(path);
        let whole = rejection.whole.is_some();
        if buf.is_some() {
            book.remember_rejected(path, &selector);
        }
        if buf.is_none() || whole {
            tell(agent, path, &met, false);
            agent.submit(Op::Reject {
                path: path.clone(),
                hunk: which.hunk,
            });
        }
        files.push(json!({
            "path": path,
            "buf": buf.filter(|_| !whole || rejection.hunks > 1),
            "edits": rows(&rejection.edits),
            "eol": rejection.eol,
            "remove": rejection.remove_file,
            "hunks": rejection.hunks,
            "told": outcomes(&met, false),
        }));
    }
    Ok(json!({ "count": total, "files": files }))
}

fn rows(edits: &[LineEdit]) -> Vec<Json> {
    let row = |edit: &LineEdit| json!({ "start": edit.start, "end_": edit.end, "lines": edit.lines });
    edits.iter().map(row).collect()
}

fn select(book: &ReviewBook, which: &Which) -> Result<(Vec<PathBuf>, Selector), String> {
    if let Some(hunk) = which.hunk {
        let path = book.find(hunk).ok_or("That hunk is not waiting any more.")?;
        return Ok((vec![path.to_owned()], Selector::Hunk(hunk)));
    }
    let selector = which
        .range
        .map_or(Selector::All, |(first, last)| Selector::Lines { first, last });
    let paths = match (which.buf, &which.path) {
        (Some(buf), _) => vec![path_of(buf)?],
        (None, Some(path)) => vec![path.clone()],
        (None, None) => book.pending_files().map(Path::to_path_buf).collect(),
    };
    Ok((paths, selector))
}

/// The hunks that `selector` meets, wholly or in part.
fn selected(book: &ReviewBook, path: &Path, selector: &Selector) -> Vec<Hunk> {
    let mut hunks = book.hunks(path);
    hunks.retain(|hunk| match selector {
        Selector::Hunk(id) => hunk.id == *id,
        Selector::Lines { first, last } => hunk.start <= *last && *first < hunk.start + hunk.count.max(1),
        Selector::All => true,
    });
    hunks
}

fn outcomes(hunks: &[Hunk], accepted: bool) -> Vec<HunkOutcome> {
    let outcome = |hunk: &Hunk| HunkOutcome {
        line: hunk.start,
        text: hunk
            .added
            .first()
            .or(hunk.removed.first())
            .cloned()
            .unwrap_or_default(),
        accepted,
    };
    hunks.iter().map(outcome).collect()
}

fn tell(agent: &AgentHandle, path: &Path, hunks: &[Hunk], accepted: bool) {
    agent.submit(Op::Reviewed {
        path: path.to_owned(),
        hunks: outcomes(hunks, accepted),
    });
}

/// The file that an attached buffer holds.
pub(super) fn path_of(buf: i64) -> Result<PathBuf, String> {
    ATTACHED
        .with_borrow(|attached| attached.get(&buf).cloned())
        .ok_or_else(|| format!("Nothing waits for review in buffer {buf}."))
}

/// The attached buffer that holds a file.
pub(super) fn buf_of(path: &Path) -> Option<i64> {
    ATTACHED.with_borrow(|attached| {
        attached
            .iter()
            .find(|(_, held)| *held == path)
            .map(|(buf, _)| *buf)
    })
}

/// The book, for a moment.
pub(super) fn lock(agent: &AgentHandle) -> MutexGuard<'_, ReviewBook> {
    agent.review().lock().unwrap_or_else(PoisonError::into_inner)
}
