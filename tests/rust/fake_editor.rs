//! An editor that is a map: buffers by path, edited and written as Neovim would.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use async_trait::async_trait;
use dcode::fs::atomic;
use dcode::host::{Editor, EditorError};
use dcode::protocol::change::{AppliedFile, BufferEdits, BufferText, EditBatch};
use dcode::protocol::request::{Diagnostic, NotSaved, UnsavedBuffer};

/// What happens at the next batch, in place of or before the edits.
pub enum Surprise {
    /// The person types at the end of this buffer.
    Typing(PathBuf, &'static str),
    /// The editor refuses.
    Refusal(&'static str),
}

/// The editor. Every batch it was given is kept, also the refused ones.
#[derive(Default)]
pub struct FakeEditor {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    buffers: BTreeMap<PathBuf, BufferText>,
    surprises: Vec<Surprise>,
    batches: Vec<EditBatch>,
}

impl FakeEditor {
    /// Loads a buffer; `modified` = it holds what was typed and not saved.
    pub fn load(&self, path: &Path, text: &str, modified: bool) {
        let mut state = self.state.lock().unwrap();
        let buf = i64::try_from(state.buffers.len()).unwrap() + 1;
        let buffer = BufferText {
            buf,
            tick: 7,
            text: text.to_owned(),
            modified,
        };
        state.buffers.insert(path.to_owned(), buffer);
    }

    /// Arranges for something to happen at the next batch; several happen one a batch.
    pub fn surprise(&self, surprise: Surprise) {
        self.state.lock().unwrap().surprises.push(surprise);
    }

    /// Closes all buffers; what was typed is gone.
    pub fn close_all(&self) {
        self.state.lock().unwrap().buffers.clear();
    }

    /// The text of a buffer.
    pub fn text(&self, path: &Path) -> String {
        self.state.lock().unwrap().buffers[path].text.clone()
    }

    /// The batches so far.
    pub fn batches(&self) -> Vec<EditBatch> {
        self.state.lock().unwrap().batches.clone()
    }
}

#[async_trait]
impl Editor for FakeEditor {
    async fn read_buffer(&self, path: &Path) -> Result<Option<BufferText>, EditorError> {
        Ok(self.state.lock().unwrap().buffers.get(path).cloned())
    }

    async fn diagnostics(&self, _: Option<Vec<PathBuf>>) -> Result<Vec<Diagnostic>, EditorError> {
        Ok(Vec::new())
    }

    async fn save(&self, paths: Vec<PathBuf>) -> Result<Vec<NotSaved>, EditorError> {
        let mut state = self.state.lock().unwrap();
        for path in paths {
            let buffer = state.buffers.get_mut(&path).unwrap();
            atomic::write(&path, buffer.text.as_bytes(), None).unwrap();
            buffer.modified = false;
        }
        Ok(Vec::new())
    }

    async fn unsaved(&self) -> Result<Vec<UnsavedBuffer>, EditorError> {
        let state = self.state.lock().unwrap();
        let modified = state.buffers.iter().filter(|(_, buffer)| buffer.modified);
        let unsaved = modified.map(|(path, buffer)| UnsavedBuffer {
            path: path.clone(),
            text: buffer.text.clone(),
        });
        Ok(unsaved.collect())
    }

    async fn apply(&self, batch: EditBatch) -> Result<Vec<AppliedFile>, EditorError> {
        let mut state = self.state.lock().unwrap();
        state.batches.push(batch.clone());
        if !state.surprises.is_empty() {
            match state.surprises.remove(0) {
                Surprise::Typing(path, text) => {
                    let buffer = state.buffers.get_mut(&path).unwrap();
                    buffer.text.push_str(text);
                    buffer.tick += 1;
                    buffer.modified = true;
                }
                Surprise::Refusal(text) => return Err(EditorError::Refused(text.to_owned())),
            }
        }
        let loaded = batch.unloaded.iter().any(|path| state.buffers.contains_key(path));
        let moved = batch
            .files
            .iter()
            .any(|file| state.buffers.get(&file.path).is_none_or(|b| b.tick != file.tick));
        if loaded || moved {
            return Err(EditorError::Stale("the buffer changed".to_owned()));
        }
        Ok(batch
            .files
            .iter()
            .map(|file| edit(state.buffers.get_mut(&file.path).unwrap(), file))
            .collect())
    }
}

fn edit(buffer: &mut BufferText, file: &BufferEdits) -> AppliedFile {
    let (body, eol) = match buffer.text.strip_suffix('\n') {
        Some(body) => (body, true),
        None => (buffer.text.as_str(), buffer.text.is_empty()),
    };
    let mut lines: Vec<String> = body.split('\n').map(str::to_owned).collect();
    for edit in file.edits.iter().rev() {
        lines.splice(edit.start..edit.end, edit.lines.clone());
    }
    // An empty buffer has one empty line; its file has none.
    let is_empty = lines == [""];
    let end = if file.eol.unwrap_or(eol) && !is_empty {
        "\n"
    } else {
        ""
    };
    buffer.text = lines.join("\n") + end;
    buffer.tick += 1;
    buffer.modified = !file.save;
    if file.save {
        atomic::write(&file.path, buffer.text.as_bytes(), None).unwrap();
    }
    AppliedFile {
        path: file.path.clone(),
        buf: Some(buffer.buf),
        saved: file.save,
        note: None,
        text: Some(buffer.text.clone()),
    }
}
