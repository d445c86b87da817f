//! The typed tree that the engine reads, with its defaults.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::Value;

use crate::config::fs_tools::{self, FsTools};
use crate::config::layer::{Layer, Sourced};
use crate::config::mode::Mode;
use crate::config::provider_rows::{self, ProviderRow};
use crate::config::rules::{self, FsRule};
use crate::config::shell_list::{self, ShellAllowList};
use crate::config::values::Values;

/// Everything that can be configured.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Config {
    /// The model as `PROVIDER:MODEL`; none means that the person has to choose one.
    pub model: Option<String>,
    /// What the person says of providers, by name. Laid over the built-in rows by `provider`.
    pub providers: BTreeMap<String, ProviderRow>,
    /// A file of steps that is played in place of any model.
    pub script: Option<PathBuf>,
    /// Whether the model is to think; none means as it does by itself.
    pub thinking: Option<bool>,
    /// How hard it thinks, in the provider's word.
    pub effort: Option<String>,
    /// How often a request that failed is made again.
    pub retries: Option<u32>,
    /// The mode that a session starts in.
    pub mode: Mode,
    /// When an edited buffer that was unmodified is written.
    pub save: Save,
    /// What the gate reads.
    pub permissions: Permissions,
    /// Which file tools exist.
    pub allow_fs_tools: FsTools,
    /// Which commands run unasked.
    pub shell_allow_list: ShellAllowList,
    /// Whether bash runs in a sandbox.
    pub sandbox: Sandbox,
    /// Whether commands that cannot leave the sandbox run unasked.
    pub sandbox_auto_allow: bool,
    /// What commands in the sandbox may read although it lies in the home.
    pub sandbox_read: Vec<PathBuf>,
    /// The model that judges destructive commands; none means that nobody does.
    pub validator: Option<JudgeModel>,
    /// The model that reviews in the mode `auto`; none means that the person is asked.
    pub auto: Option<JudgeModel>,
    /// Where MCP servers come from.
    pub mcp: Mcp,
    /// Servers of the two `config.toml`, by name; unchecked, the lowest in precedence.
    pub mcp_servers: BTreeMap<String, Sourced<Value>>,
    /// Where big results are put; none means `$TMPDIR`.
    pub artifacts_dir: Option<PathBuf>,
    /// Limits of a turn.
    pub limits: Limits,
    /// How commands run.
    pub bash: Bash,
}

/// When an edited buffer is written. A buffer that held unsaved changes never is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Save {
    /// At once.
    #[default]
    OnEdit,
    /// When its hunks are accepted.
    OnAccept,
    /// The person writes.
    Never,
}

/// Whether bash runs in a sandbox.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sandbox {
    /// Where one is installed.
    #[default]
    Auto,
    /// In bubblewrap, or not at all.
    Bwrap,
    /// Never.
    Off,
}

/// Reading outside the working directory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReadOutside {
    /// As inside.
    #[default]
    Allow,
    /// The person is asked.
    Ask,
    /// It does not run.
    Deny,
}

/// What the gate reads.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Permissions {
    /// The person's filesystem rules, highest layer first; the first that matches speaks.
    pub rules: Vec<Sourced<FsRule>>,
    /// The project's, which only deny or interrupt; they are judged beside the person's.
    pub project_rules: Vec<Sourced<FsRule>>,
    /// Commands that never run.
    pub bash_deny: Vec<Sourced<String>>,
    /// Commands that are always asked.
    pub bash_ask: Vec<Sourced<String>>,
    /// Commands that run unasked.
    pub bash_allow: Vec<Sourced<String>>,
    /// Folders that count as inside.
    pub allowed_dirs: Vec<PathBuf>,
    /// Reading outside.
    pub read_outside: ReadOutside,
    /// More globs of names that are refused for reading.
    pub secret_read: Vec<Sourced<String>>,
    /// More globs of names that are asked on writing.
    pub secret_write: Vec<Sourced<String>>,
    /// Files that may be read although they look like secrets.
    pub secret_allow: Vec<PathBuf>,
    /// What could not be understood and might have denied something, each a sentence that says where.
    /// While there is one, nothing but the agent's own books runs unasked.
    pub broken: Vec<String>,
}

/// A model that judges for the person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JudgeModel {
    /// As `PROVIDER:MODEL`.
    pub model: String,
    /// Milliseconds; after them the person is asked.
    pub timeout_ms: u64,
}

/// Where MCP servers come from, beside the standard files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mcp {
    /// One more file, as the person wrote it.
    pub config: Option<PathBuf>,
    /// Start the project's servers without asking.
    pub trust_project: bool,
}

/// Limits of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Steps that a turn may take.
    pub max_steps: u64,
    /// How full the model's window may be before the conversation is compacted, in percent.
    pub compact_at: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_steps: 200,
            compact_at: 80,
        }
    }
}

/// How commands run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bash {
    /// Milliseconds that a command may take when the call does not say.
    pub timeout_ms: u64,
    /// The shell; none means `$SHELL` where it is one that is understood.
    pub shell: Option<PathBuf>,
    /// Variables that commands see although their names look like those of keys.
    pub env_keep: Vec<String>,
}

impl Default for Bash {
    fn default() -> Self {
        Self {
            timeout_ms: 120_000,
            shell: None,
            env_keep: Vec::new(),
        }
    }
}

impl Config {
    /// Builds the tree from joined values. The second part holds what could not be understood although
    /// its type was right, as (key, sentence).
    pub fn from_values(values: &Values) -> (Self, Vec<(String, String)>) {
        let mut trouble = Vec::new();
        let path = |key: &str| values.text(key).map(PathBuf::from);
        let default = Self::default();
        let config = Self {
            model: values.text("model"),
            providers: provider_rows::from_values(values),
            thinking: values.flag("thinking"),
            effort: values.text("effort"),
            retries: values.number("retries").and_then(|times| times.try_into().ok()),
            script: path("script"),
            mode: values
                .text("mode")
                .and_then(|name| name.parse().ok())
                .unwrap_or_default(),
            save: match values.text("save").as_deref() {
                Some("on_accept") => Save::OnAccept,
                Some("never") => Save::Never,
                _ => Save::OnEdit,
            },
            permissions: permissions(values),
            allow_fs_tools: allow_fs_tools(values, &mut trouble),
            shell_allow_list: shell_allow_list(values, &mut trouble),
            sandbox: match values.text("sandbox").as_deref() {
                Some("bwrap") => Sandbox::Bwrap,
                Some("off") => Sandbox::Off,
                _ => Sandbox::Auto,
            },
            sandbox_auto_allow: values.flag("sandbox_auto_allow").unwrap_or_default(),
            sandbox_read: values
                .texts("sandbox_read")
                .into_iter()
                .map(|item| PathBuf::from(item.value))
                .collect(),
            validator: judge(values, "validator", 10_000),
            auto: judge(values, "auto", 20_000),
            mcp: Mcp {
                config: path("mcp.config"),
                trust_project: values.flag("mcp.trust_project").unwrap_or_default(),
            },
            mcp_servers: values
                .below("mcp_servers")
                .into_iter()
                .map(|(name, leaf)| (name, Sourced::new(leaf.value.clone(), leaf.source.clone())))
                .collect(),
            artifacts_dir: path("artifacts_dir"),
            limits: Limits {
                max_steps: values.number("max_steps").unwrap_or(default.limits.max_steps),
                compact_at: values.number("compact_at").unwrap_or(default.limits.compact_at),
            },
            bash: Bash {
                timeout_ms: values
                    .number("bash.timeout_ms")
                    .unwrap_or(default.bash.timeout_ms),
                shell: path("bash.shell"),
                env_keep: values
                    .texts("bash.env_keep")
                    .into_iter()
                    .map(|item| item.value)
                    .collect(),
            },
        };
        (config, trouble)
    }
}

fn permissions(values: &Values) -> Permissions {
    let all = values.items("permissions.rules").into_iter();
    let rules = all.filter_map(|item| Some(Sourced::new(rules::fs_rule(&item.value).ok()?, item.source)));
    let (project_rules, mut rules): (Vec<_>, Vec<_>) =
        rules.partition(|rule| rule.source.layer == Layer::Project);
    // A stable sort: within a layer the order of declaration stays.
    rules.sort_by_key(|rule| std::cmp::Reverse(rule.source.layer));
    let paths = |key: &str| {
        values
            .texts(key)
            .into_iter()
            .map(|item| PathBuf::from(item.value))
            .collect()
    };
    Permissions {
        rules,
        project_rules,
        bash_deny: values.texts("permissions.bash.deny"),
        bash_ask: values.texts("permissions.bash.ask"),
        bash_allow: values.texts("permissions.bash.allow"),
        allowed_dirs: paths("permissions.allowed_dirs"),
        read_outside: match values.text("permissions.read_outside").as_deref() {
            Some("ask") => ReadOutside::Ask,
            Some("deny") => ReadOutside::Deny,
            _ => ReadOutside::Allow,
        },
        secret_read: values.texts("permissions.secrets.read"),
        secret_write: values.texts("permissions.secrets.write"),
        secret_allow: paths("permissions.secrets.allow"),
        broken: Vec::new(),
    }
}

fn allow_fs_tools(values: &Values, trouble: &mut Vec<(String, String)>) -> FsTools {
    let key = "allow_fs_tools";
    if values.get(key).is_none() {
        return FsTools::All;
    }
    let names = values.texts(key);
    match fs_tools::parse_list(names.iter().map(|name| name.value.as_str())) {
        Ok(parsed) => {
            trouble.extend(parsed.notice.map(|notice| (key.to_owned(), notice)));
            parsed.tools
        }
        Err(error) => {
            trouble.push((
                key.to_owned(),
                format!("{error}. Until then only read_file is offered."),
            ));
            FsTools::least()
        }
    }
}

fn shell_allow_list(values: &Values, trouble: &mut Vec<(String, String)>) -> ShellAllowList {
    let key = "shell_allow_list";
    let entries = values.texts(key);
    shell_list::parse_list(entries.iter().map(|entry| entry.value.as_str())).unwrap_or_else(|error| {
        trouble.push((key.to_owned(), format!("{error}. Until then the list is empty.")));
        ShellAllowList::Off
    })
}

fn judge(values: &Values, key: &str, timeout_ms: u64) -> Option<JudgeModel> {
    let model = values.text(&format!("{key}.model"))?;
    let timeout_ms = values.number(&format!("{key}.timeout_ms")).unwrap_or(timeout_ms);
    Some(JudgeModel { model, timeout_ms })
}
