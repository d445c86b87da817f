//! From files and tables to [`Loaded`]: the one order of the layers.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;

use crate::config::check::{self, Checked, Places, Problem};
use crate::config::layer::{Layer, Source};
use crate::config::model::Config;
use crate::config::read_toml;
use crate::config::tighten;
use crate::config::values::Values;
use crate::protocol::event::{Level, Notice};

/// What there is to load.
#[derive(Clone, Debug, Default)]
pub struct LoadInput {
    /// The person's home; none means that there is no user file.
    pub home: Option<PathBuf>,
    /// The project's root.
    pub project_root: PathBuf,
    /// The table of `vim.g.dcode` and `setup()`; null when there is none.
    pub setup: Value,
    /// What the command line says, in the same shape as `setup`.
    pub flags: Value,
    /// Names of the built-in providers: a project may choose a model of these and of the person's own.
    pub builtin_providers: Vec<String>,
}

/// What came out.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The tree.
    pub config: Arc<Config>,
    /// Every value that a layer gave, with its place.
    pub values: Values,
    /// Keys of the original program that have no effect here.
    pub unused: Vec<(String, Source)>,
    /// What the person should read.
    pub notices: Vec<Notice>,
}

/// The person's file.
pub fn user_file(home: &Path) -> PathBuf {
    home.join(".deepseek/config.toml")
}

/// The project's file.
pub fn project_file(project_root: &Path) -> PathBuf {
    project_root.join(".deepseek/config.toml")
}

/// Loads all layers. It never fails: what is wrong becomes a notice, and where it might have denied
/// something also an entry of [`crate::config::model::Permissions::broken`].
pub fn load(input: &LoadInput) -> Loaded {
    let mut state = State::default();
    let user = input.home.as_deref().map(user_file);
    if let Some(file) = &user {
        let checked = state.file(Layer::User, file);
        state.values.lay(checked.leaves);
    }
    let setup = state.table(Layer::Setup, &input.setup);
    let flags = state.table(Layer::Flags, &input.flags);
    let project = project_file(&input.project_root);
    if !user.as_deref().is_some_and(|user| same_file(user, &project)) {
        let checked = state.file(Layer::Project, &project);
        state.project(checked, &project, input, [&setup, &flags]);
    }
    state.values.lay(setup.leaves);
    state.values.lay(flags.leaves);
    state.finish()
}

fn same_file(one: &Path, other: &Path) -> bool {
    one == other || matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}

#[derive(Default)]
struct State {
    values: Values,
    unused: Vec<(String, Source)>,
    notices: Vec<Notice>,
    broken: Vec<String>,
}

impl State {
    fn file(&mut self, layer: Layer, file: &Path) -> Checked {
        match read_toml::read(file) {
            Ok(None) => Checked::default(),
            Ok(Some(document)) => {
                let places = Places {
                    layer,
                    file: Some(file),
                    lines: &document.lines,
                };
                self.take(check::check(&document.value, places))
            }
            Err(error) => {
                let message = format!("{} cannot be used: {error}.", file.display());
                self.broken.push(message.clone());
                let hint = "Until it is mended nothing runs unasked that one of its rules could have denied.";
                self.notices.push(Notice {
                    level: Level::Error,
                    message,
                    hint: Some(hint.to_owned()),
                });
                Checked::default()
            }
        }
    }

    fn table(&mut self, layer: Layer, value: &Value) -> Checked {
        let lines = BTreeMap::new();
        self.take(check::check(
            value,
            Places {
                layer,
                file: None,
                lines: &lines,
            },
        ))
    }

    /// Keeps what the person must hear of a layer; gives the rest on.
    fn take(&mut self, mut checked: Checked) -> Checked {
        self.unused.append(&mut checked.unused);
        for problem in checked.problems.drain(..) {
            self.report(&problem);
        }
        checked
    }

    fn report(&mut self, problem: &Problem) {
        let key = if problem.key.is_empty() {
            String::new()
        } else {
            format!("{}: ", problem.key)
        };
        let message = format!("{key}{} ({})", problem.message, problem.source);
        let (level, hint) = if problem.guards {
            self.broken.push(message.clone());
            (
                Level::Error,
                Some("Until it is mended nothing runs unasked that it could have denied.".to_owned()),
            )
        } else {
            (Level::Warn, None)
        };
        self.notices.push(Notice { level, message, hint });
    }

    fn project(&mut self, checked: Checked, file: &Path, input: &LoadInput, above: [&Checked; 2]) {
        let mut providers: Vec<String> = input.builtin_providers.clone();
        providers.extend(self.values.below("providers").into_keys());
        for leaf in above.iter().flat_map(|layer| &layer.leaves) {
            if let [first, name, ..] = leaf.path.as_slice()
                && first == "providers"
            {
                providers.push(name.clone());
            }
        }
        let (kept, ignored) = tighten::tighten(checked.leaves, &self.values, &providers);
        self.values.lay(kept);
        if !ignored.is_empty() {
            self.notices.push(Notice {
                level: Level::Warn,
                message: format!(
                    "{} sets {}, which a project may not: it was ignored.",
                    file.display(),
                    ignored.join(", ")
                ),
                hint: Some(
                    "A project may only tighten permissions. Set it in ~/.deepseek/config.toml.".to_owned(),
                ),
            });
        }
    }

    fn finish(mut self) -> Loaded {
        let (mut config, trouble) = Config::from_values(&self.values);
        for (key, message) in trouble {
            let place = self
                .values
                .get(&key)
                .map(|leaf| format!(" ({})", leaf.source))
                .unwrap_or_default();
            self.notices.push(Notice {
                level: Level::Warn,
                message: format!("{message}{place}"),
                hint: None,
            });
        }
        config.permissions.broken = self.broken;
        Loaded {
            config: Arc::new(config),
            values: self.values,
            unused: self.unused,
            notices: self.notices,
        }
    }
}
