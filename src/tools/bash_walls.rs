//! Whether a command runs within walls, and within which.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::shell::run::{Exit, RunOutput};
use crate::shell::sandbox::{self, Sandbox, Walls};
use crate::tools::new_repositories::{NewRepositories, Run};
use crate::tools::tool::ToolError;

/// The sandbox of a session, or why there is none.
#[derive(Clone, Default)]
pub enum Enclosure {
    /// Commands run as they are: it is off, or not there and not demanded.
    #[default]
    Open,
    /// It is demanded and does not work: nothing runs. Holds why.
    Missing(String),
    /// Commands run within walls.
    Walled(Arc<Walled>),
}

/// A sandbox, and what decides how high its walls are.
pub struct Walled {
    /// The sandbox.
    pub sandbox: Sandbox,
    /// Whether a line runs without that a person, a rule or a list allowed it.
    pub unasked: Box<dyn Fn(&str) -> bool + Send + Sync>,
    /// The project's secret files, which such a line does not see.
    pub secrets: Box<dyn Fn() -> Vec<PathBuf> + Send + Sync>,
    /// Whether a line runs git, and beside it nothing that could write in a git folder.
    pub only_git: Box<dyn Fn(&str) -> bool + Send + Sync>,
    /// The repositories below what is writable.
    pub repositories: Arc<NewRepositories>,
}

/// What stands around one command.
#[derive(Default)]
pub struct Around {
    /// The words before the shell.
    pub words: Vec<OsString>,
    walls: Option<Walls>,
    _run: Option<Run>,
}

impl Enclosure {
    /// Whether there are walls.
    pub fn exists(&self) -> bool {
        matches!(self, Self::Walled(_))
    }

    /// The session is over: removes what its commands left in the sandbox.
    pub fn close(&self) {
        if let Self::Walled(walled) = self {
            walled.sandbox.close();
        }
    }

    /// What stands around a line that runs in `cwd`; it is `busy` while others run in the background. Looks at the
    /// disk.
    ///
    /// # Errors
    /// When there must be walls and are none.
    pub fn around(&self, line: &str, unsandboxed: bool, cwd: &Path, busy: bool) -> Result<Around, ToolError> {
        let walled = match self {
            Self::Walled(walled) if !unsandboxed => walled,
            Self::Missing(why) => {
                return Err(ToolError::Reply(format!(
                    "Not run: commands may only run in a sandbox here, and {why}. Tell the person; the option \
                     `sandbox` decides it."
                )));
            }
            Self::Walled(_) | Self::Open => return Ok(Around::default()),
        };
        let strict = (walled.unasked)(line);
        let (repositories, run) = walled.repositories.before(busy);
        let walls = Walls {
            network: !strict,
            git: (walled.only_git)(line),
            hidden: if strict { (walled.secrets)() } else { Vec::new() },
            repositories,
        };
        Ok(Around {
            words: walled.sandbox.wrap(cwd, &walls),
            walls: Some(walls),
            _run: Some(run),
        })
    }

    /// Holds the repositories that commands made and git would obey; a sentence for each.
    pub async fn hold(&self) -> Vec<String> {
        let Self::Walled(walled) = self else {
            return Vec::new();
        };
        let repositories = Arc::clone(&walled.repositories);
        let held = tokio::task::spawn_blocking(move || repositories.hold()).await;
        held.unwrap_or_default()
    }
}

impl Around {
    /// What the model reads when the walls may be why a command failed.
    pub fn hint(&self, run: &RunOutput, line: &str) -> Option<String> {
        let walls = self.walls.as_ref()?;
        if matches!(run.exit, Exit::Code(0)) {
            return None;
        }
        let why = sandbox::hint(&run.output, line, walls)?;
        Some(format!(
            "it ran in a sandbox: {why}. If it needs more, run it again with unsandboxed: true; the person is asked"
        ))
    }
}
