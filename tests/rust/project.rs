//! A project folder with a local backend over it.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use dcode::backend::local::LocalBackend;
use dcode::backend::{Backend, BackendError};
use dcode::config::model::Config;
use dcode::fs::atomic;
use dcode::judges::bench::Bench;
use dcode::judges::panel::Panel;
use dcode::protocol::change::{AppliedFile, ChangeSet, FileChange, Origin, SavePolicy};
use dcode::protocol::ids::CallId;
use dcode::provider::{ProviderError, ProviderErrorKind};
use dcode::tools::tool::ToolCtx;
use tokio_util::sync::CancellationToken;

use crate::fake_editor::FakeEditor;

/// Path, text before and text after of each change that the backend reported.
pub type Heard = Arc<Mutex<Vec<(PathBuf, Option<String>, Option<String>)>>>;

/// A folder, gone when dropped. `heard` = what the backend reported to review.
pub struct Project {
    _dir: tempfile::TempDir,
    pub root: PathBuf,
    pub editor: Arc<FakeEditor>,
    pub backend: LocalBackend,
    pub heard: Heard,
}

impl Project {
    /// An empty project that saves on edit.
    pub fn new() -> Self {
        Self::saving(SavePolicy::OnEdit)
    }

    /// An empty project with a save policy.
    pub fn saving(save: SavePolicy) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = std::fs::canonicalize(dir.path()).unwrap();
        let editor = Arc::new(FakeEditor::default());
        let heard = Heard::default();
        let ears = Arc::clone(&heard);
        let backend = LocalBackend::new(
            editor.clone(),
            save,
            Arc::new(move |change| {
                let text = |text: Option<&str>| text.map(str::to_owned);
                ears.lock()
                    .unwrap()
                    .push((change.path.to_owned(), text(change.before), text(change.after)));
            }),
        );
        Self {
            _dir: dir,
            root,
            editor,
            backend,
            heard,
        }
    }

    /// Judges without a model: none of them ever answers.
    pub fn no_judges(&self) -> Arc<Panel> {
        let no_model = || ProviderError {
            kind: ProviderErrorKind::Config,
            message: "There is none.".to_owned(),
            hint: String::new(),
        };
        let bench = Bench {
            open: Arc::new(move |_| Err(no_model())),
            main: Arc::new(Mutex::new(Err(no_model()))),
            tell: Arc::new(|_| {}),
            spent: Arc::new(|_, _| {}),
            opened: Mutex::default(),
        };
        Arc::new(Panel::new(&Config::default(), bench, &self.root))
    }

    /// Makes a file.
    pub fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.root.join(name);
        atomic::write(&path, bytes, None).unwrap();
        path
    }

    /// Makes a file and loads it.
    pub fn buffer(&self, name: &str, text: &str, modified: bool) -> PathBuf {
        let path = self.file(name, text.as_bytes());
        self.editor.load(&path, text, modified);
        path
    }

    /// What a file holds on disk.
    pub fn bytes(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.root.join(name)).unwrap()
    }

    /// The names in the folder.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(&self.root)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    /// Applies changes of the agent.
    pub async fn apply(&self, changes: Vec<FileChange>) -> Result<Vec<AppliedFile>, BackendError> {
        let set = ChangeSet {
            origin: Origin::Agent,
            label: "test".to_owned(),
            changes,
        };
        self.backend.apply(set).await
    }

    /// The context of a call in this project.
    pub fn ctx(&self) -> ToolCtx {
        ToolCtx {
            call: CallId("call".to_owned()),
            cwd: self.root.clone(),
            cancel: CancellationToken::new(),
            progress: Arc::new(|_| {}),
        }
    }
}
