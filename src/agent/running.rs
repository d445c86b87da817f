//! How a session runs commands: by which shell, behind which gate, within which walls.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::agent::sandbox;
use crate::agent::setup::Blueprint;
use crate::config::load;
use crate::config::model::Config;
use crate::permission::gate::{Gate, GateSetup};
use crate::protocol::event::{BackgroundCommand, Event, Level, Notice};
use crate::shell::background::{Background, OnChange};
use crate::shell::env::Shell;
use crate::tools::bash::Bash;
use crate::tools::bash_walls::Enclosure;

impl Blueprint {
    /// The gate, and the walls around the commands that it lets pass.
    pub(super) fn gate(&self, config: &Arc<Config>, results: &Path) -> (Arc<Gate>, Enclosure) {
        let (home, cwd) = (&self.start.home, &self.start.cwd);
        let found = sandbox::find(
            config,
            home,
            cwd,
            self.project.as_deref(),
            vec![results.to_owned()],
        );
        let shell = config.bash.shell.as_ref().map(Shell::new);
        let gate = Arc::new(Gate::new(GateSetup {
            cwd: cwd.clone(),
            home: Some(home.clone()),
            config: Arc::clone(config),
            user_file: load::user_file(home),
            protected: vec![home.join(".deepagents/.state")],
            readable: vec![results.to_owned()],
            only_listed: self.start.headless,
            foreign_shell: shell
                .filter(|shell| !shell.is_understood())
                .map(|shell| shell.name()),
            sandboxed: matches!(found, Some(Ok(_))),
        }));
        let top = self.project.clone().unwrap_or_else(|| cwd.clone());
        let enclosure = sandbox::enclosure(found, config, &gate, top);
        (gate, enclosure)
    }

    pub(super) fn bash(&self, shell: Shell, enclosure: Enclosure, root: &CancellationToken) -> Bash {
        let timeout = Duration::from_millis(self.loaded.config.bash.timeout_ms);
        let background = Background::new(Arc::clone(&self.watchdog), root, self.background_sink());
        let watchdog = Arc::clone(&self.watchdog);
        Bash::new(shell, watchdog, self.secret_variables(), timeout)
            .with_background(background)
            .within(enclosure)
    }

    pub(super) fn background_sink(&self) -> OnChange {
        let events = Arc::clone(&self.events);
        Arc::new(move |running| {
            let commands = running.into_iter().map(|running| BackgroundCommand {
                handle: running.handle,
                command: running.line,
            });
            events.push(Event::BackgroundChanged {
                commands: commands.collect(),
            });
        })
    }

    /// The configured shell, else the person's; where that is another one, bash with a notice.
    pub(super) fn shell(&self) -> Shell {
        if let Some(program) = &self.loaded.config.bash.shell {
            return Shell::new(program);
        }
        let (shell, notice) = Shell::of_person();
        if let Some(message) = notice {
            self.events.push(Event::Notice(Notice {
                level: Level::Info,
                message,
                hint: None,
            }));
        }
        shell
    }
}
