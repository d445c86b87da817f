//! The local backend: the text of a loaded buffer is the truth, the disk where there is none.
//!
//! How a change set happens is in `transaction.rs`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;

use crate::backend::disk;
use crate::backend::transaction::Transaction;
use crate::backend::transfer::{self, Downloaded, Upload, Uploaded};
use crate::backend::{Backend, BackendError, DirEntry, ReadBytes};
use crate::host::scope;
use crate::host::{Editor, EditorError};
use crate::offload::OffloadDir;
use crate::protocol::change::{AppliedFile, ChangeSet, FileText, Origin, SavePolicy, TextSource};

/// A file that was changed on disk without a buffer. A text is `None` where there is no file or no
/// text in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiskChange<'a> {
    /// Absolute, links resolved.
    pub path: &'a Path,
    /// Who changed it.
    pub origin: Origin,
    /// What it held.
    pub before: Option<&'a str>,
    /// What it holds.
    pub after: Option<&'a str>,
}

/// Hears of every file that was changed on disk, so that review learns of it; buffers report for
/// themselves. Called after the whole set has happened, on a tokio thread; it must not block.
pub type DiskHook = Arc<dyn Fn(DiskChange<'_>) + Send + Sync>;

/// Files of this machine, seen through the editor.
#[derive(Clone)]
pub struct LocalBackend {
    editor: Arc<dyn Editor>,
    save: SavePolicy,
    hook: DiskHook,
    offload: Option<Arc<OffloadDir>>,
    intents: Option<Arc<Path>>,
}

impl LocalBackend {
    /// A backend that edits loaded buffers through `editor` and tells `hook` of the other files.
    pub fn new(editor: Arc<dyn Editor>, save: SavePolicy, hook: DiskHook) -> Self {
        Self {
            editor,
            save,
            hook,
            offload: None,
            intents: None,
        }
    }

    /// The same backend, which notes change sets in this folder before they happen; see [`recover`]. Without
    /// it a set that breaks off with the process stays half done.
    ///
    /// [`recover`]: crate::backend::recover
    pub fn with_intents(self, folder: &Path) -> Self {
        Self {
            intents: Some(folder.into()),
            ..self
        }
    }

    /// The same backend, whose transfers take `/retrieved/…` for files of this folder.
    pub fn with_offload(self, offload: Arc<OffloadDir>) -> Self {
        Self {
            offload: Some(offload),
            ..self
        }
    }
}

#[async_trait]
impl Backend for LocalBackend {
    async fn read_text(&self, path: &Path) -> Result<FileText, BackendError> {
        if let Some(buffer) = self.editor.read_buffer(path).await.map_err(editor_error)? {
            let source = TextSource::Buffer {
                buf: buffer.buf,
                tick: buffer.tick,
                modified: buffer.modified,
            };
            return Ok(FileText {
                text: buffer.text,
                source,
                laid_down: None,
            });
        }
        let path = path.to_owned();
        let (text, format) = blocking(move || disk::read_text(&path)).await?;
        Ok(FileText {
            laid_down: format.words(&text),
            text,
            source: TextSource::Disk,
        })
    }

    async fn read_bytes(&self, path: &Path, offset: u64, limit: usize) -> Result<ReadBytes, BackendError> {
        let path = path.to_owned();
        blocking(move || disk::read_bytes(&path, offset, limit)).await
    }

    async fn list(&self, path: &Path) -> Result<Vec<DirEntry>, BackendError> {
        let path = path.to_owned();
        blocking(move || disk::list(&path)).await
    }

    /// Goes on to its end when the caller is dropped: half a set is worse than one too many.
    async fn apply(&self, set: ChangeSet) -> Result<Vec<AppliedFile>, BackendError> {
        let (editor, save, hook) = (Arc::clone(&self.editor), self.save, Arc::clone(&self.hook));
        let intents = self.intents.clone();
        let whole = scope::spawn(async move {
            let transaction = Transaction::new(editor.as_ref(), save, &set, intents.as_deref())?;
            let (applied, changed) = transaction.run().await?;
            for file in &changed {
                hook(DiskChange {
                    path: &file.path,
                    origin: set.origin,
                    before: file.before.as_deref(),
                    after: file.after.as_deref(),
                });
            }
            Ok(applied)
        });
        whole.await.unwrap_or_else(|_| Err(interrupted()))
    }

    async fn upload_files(&self, files: Vec<Upload>) -> Vec<Uploaded> {
        let offload = self.offload.clone();
        let work = move || {
            let one = |file: Upload| {
                let error = transfer::upload(offload.as_deref(), &file).err();
                Uploaded {
                    path: file.path,
                    error,
                }
            };
            Ok(files.into_iter().map(one).collect())
        };
        // A panic in there has been logged; no answer is what the caller sees of it.
        blocking(work).await.unwrap_or_default()
    }

    async fn download_files(&self, paths: Vec<PathBuf>) -> Vec<Downloaded> {
        let offload = self.offload.clone();
        let work = move || {
            let one = |path: PathBuf| Downloaded {
                content: transfer::download(offload.as_deref(), &path),
                path,
            };
            Ok(paths.into_iter().map(one).collect())
        };
        blocking(work).await.unwrap_or_default()
    }
}

/// Runs blocking work beside the async threads.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, BackendError> + Send + 'static,
) -> Result<T, BackendError> {
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or_else(|_| Err(interrupted()))
}

pub(super) fn editor_error(error: EditorError) -> BackendError {
    match error {
        EditorError::Stale(text) | EditorError::Refused(text) => BackendError::Editor(text),
        EditorError::Cancelled => BackendError::Cancelled,
    }
}

fn interrupted() -> BackendError {
    BackendError::Editor(
        "The work on the files broke off by a fault in dcode; its log has the details.".to_owned(),
    )
}
