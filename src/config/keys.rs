//! The table of known keys. A new option is a row here and a field of [`super::model::Config`].

/// What a value must look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A text.
    Text,
    /// An absolute path.
    Path,
    /// `true` or `false`.
    Flag,
    /// A whole number in a range, both ends included.
    Number(i64, i64),
    /// One of a few words.
    OneOf(&'static [&'static str]),
    /// A list of texts.
    Texts,
    /// A list of absolute paths.
    Paths,
    /// A list of texts, or one text with commas.
    Names,
    /// Commands: a list of words with an optional trailing `*`.
    Commands,
    /// Filesystem rules: a list of `{operations, paths, mode}`.
    Rules,
    /// Whatever is below belongs to somebody else, who checks it.
    Tree,
}

/// What becomes of a value that the project file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InProject {
    /// It is ignored, with one notice for all of them.
    Ignored,
    /// It is taken.
    Taken,
    /// It is taken where it is stricter than what the person has.
    Stricter,
    /// It is taken where it names a model of a provider that the person has.
    KnownModel,
}

/// What a higher layer does to a lower one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Join {
    /// It takes its place.
    Replace,
    /// Both count.
    Append,
}

/// One key.
#[derive(Debug)]
pub struct Key {
    /// Dotted path; `*` stands for a name that the person chooses.
    pub path: &'static str,
    /// What the value must look like.
    pub kind: Kind,
    /// What the project file may do with it.
    pub project: InProject,
    /// How layers are joined.
    pub join: Join,
    /// Whether losing the value could let something run that it denies or asks.
    pub guards: bool,
    /// One line for the manual.
    pub doc: &'static str,
}

const fn key(path: &'static str, kind: Kind, doc: &'static str) -> Key {
    Key {
        path,
        kind,
        project: InProject::Ignored,
        join: Join::Replace,
        guards: false,
        doc,
    }
}

/// A list that can deny: layers add up, and the project may add to it.
const fn denying(path: &'static str, kind: Kind, project: InProject, doc: &'static str) -> Key {
    Key {
        path,
        kind,
        project,
        join: Join::Append,
        guards: true,
        doc,
    }
}

/// A single value that can deny: the project may make it stricter.
const fn level(path: &'static str, kind: Kind, doc: &'static str) -> Key {
    Key {
        path,
        kind,
        project: InProject::Stricter,
        join: Join::Replace,
        guards: true,
        doc,
    }
}

/// Every key, in the order of the manual; one a line.
#[rustfmt::skip]
pub const KEYS: &[Key] = &[
    Key { project: InProject::KnownModel, ..key("model", Kind::Text, "The model, as PROVIDER:MODEL.") },
    key("script", Kind::Text, "A file of steps that is played in place of a model."),
    key("thinking", Kind::Flag, "Whether the model thinks before it answers; without it as it does by itself."),
    key("effort", Kind::Text, "How hard it thinks, in the provider's word (`low`, `high`, `max` …)."),
    key("retries", Kind::Number(0, 20), "How often a request that failed is made again."),
    key("providers.*.wire", Kind::Text, "How the provider is spoken to: `chat`, `responses`, `messages` or `scripted`."),
    key("providers.*.base_url", Kind::Text, "Where it is, with the version part (`…/v1`)."),
    key("providers.*.api_key_env", Kind::Text, "The environment variable that holds its key."),
    key("providers.*.api_key_cmd", Kind::Text, "A shell command that prints its key."),
    key("providers.*.api_key_file", Kind::Path, "A file that holds its key; nobody else may read it."),
    key("providers.*.headers", Kind::Tree, "Headers that every request carries."),
    key("providers.*.context_window", Kind::Number(1_000, 100_000_000), "Tokens that the model can read."),
    key("providers.*.first_token_timeout_ms", Kind::Number(1_000, 3_600_000), "Milliseconds until the first byte of a reply."),
    key("providers.*.chunk_stall_timeout_ms", Kind::Number(500, 3_600_000), "Milliseconds of silence within a reply."),
    key("providers.*.images", Kind::Flag, "Whether its models see images."),
    key("providers.*.style", Kind::OneOf(&["none", "effort", "switch", "adaptive", "budget"]), "In which fields thinking is steered."),
    key("providers.*.models", Kind::Tree, "What is known of single models: `context_window`, `images`, `prices` and so on."),
    key("providers.*.replay_reasoning", Kind::Flag, "Whether past reasoning is sent back."),
    key("providers.*.script", Kind::Text, "The file that a scripted provider plays."),
    level("mode", Kind::OneOf(super::mode::MODE_NAMES), "How much runs unasked."),
    key("save", Kind::OneOf(&["on_edit", "on_accept", "never"]), "When an edited buffer that was unmodified is written."),
    denying("permissions.rules", Kind::Rules, InProject::Stricter, "Filesystem rules; the first that matches speaks."),
    denying("permissions.bash.deny", Kind::Commands, InProject::Taken, "Commands that never run."),
    denying("permissions.bash.ask", Kind::Commands, InProject::Taken, "Commands that are always asked."),
    Key { join: Join::Append, ..key("permissions.bash.allow", Kind::Commands, "Commands that run unasked; `always` lands here.") },
    key("permissions.allowed_dirs", Kind::Paths, "Folders that count as inside the working directory."),
    level("permissions.read_outside", Kind::OneOf(&["allow", "ask", "deny"]), "Reading outside the working directory."),
    denying("permissions.secrets.read", Kind::Texts, InProject::Taken, "More names (globs) that are refused for reading."),
    denying("permissions.secrets.write", Kind::Texts, InProject::Taken, "More names (globs) that are asked on writing."),
    key("permissions.secrets.allow", Kind::Paths, "Files that may be read although they look like secrets."),
    key("allow_fs_tools", Kind::Names, "The file tools that exist; without it all."),
    key("shell_allow_list", Kind::Names, "Commands that run unasked: names, prefixes, `recommended` or `all`."),
    key("sandbox", Kind::OneOf(&["auto", "bwrap", "off"]), "Whether bash runs in a sandbox."),
    key("sandbox_auto_allow", Kind::Flag, "Commands that cannot leave the sandbox run unasked."),
    key("sandbox_read", Kind::Paths, "Folders of the home that commands in the sandbox may read."),
    key("validator.model", Kind::Text, "The model that judges destructive commands."),
    key("validator.timeout_ms", Kind::Number(1, 600_000), "How long it may think; then the person is asked."),
    key("auto.model", Kind::Text, "The model that reviews calls in the mode `auto`."),
    key("auto.timeout_ms", Kind::Number(1, 600_000), "How long it may think; then the person is asked."),
    key("mcp.config", Kind::Text, "One more file of MCP servers."),
    key("mcp.trust_project", Kind::Flag, "Start the project's MCP servers without asking."),
    Key { project: InProject::Taken, ..key("mcp_servers.*", Kind::Tree, "One MCP server.") },
    key("artifacts_dir", Kind::Path, "Where big results are put instead of $TMPDIR."),
    key("max_steps", Kind::Number(1, 100_000), "Steps that a turn may take."),
    key("compact_at", Kind::Number(10, 95), "How full the context may be, in percent, before it is compacted."),
    key("bash.timeout_ms", Kind::Number(1, 86_400_000), "How long a command may run."),
    key("bash.shell", Kind::Path, "The shell that runs commands; without it $SHELL."),
    key("bash.env_keep", Kind::Texts, "Names of variables that commands see although they look like keys."),
    key("ascii", Kind::Flag, "Draw with ASCII only. (Lua)"),
    key("keys", Kind::Tree, "Key mappings. (Lua)"),
    key("chat", Kind::Tree, "The chat window. (Lua)"),
    key("review", Kind::Tree, "How hunks are drawn. (Lua)"),
];

/// Keys of the original program that ours does not use: listed by `:Dcode config`, never reported.
/// A row covers everything below it.
pub const UNUSED: &[&str] = &[
    "active",
    "api",
    "clarify",
    "defaults",
    "duet",
    "hooks",
    "network",
    "permissions.allow_bash",
    "permissions.allow_specifiers",
    "permissions.ask_specifiers",
    "permissions.default",
    "permissions.deny_specifiers",
    "permissions.rules.allow",
    "permissions.rules.ask",
    "permissions.rules.deny",
    "permissions.secret_path_patterns",
    "providers.*.api_key",
    "providers.*.default_model",
    "providers.*.env_var",
    "providers.*.secrets_file_key",
    "providers.*.type",
    "routing",
    "sandbox.allow_network",
    "sandbox.allow_read_paths",
    "sandbox.allow_write_paths",
    "sandbox.enabled",
    "sessions",
    "tools",
    "ui",
    "web",
];

/// Whether `path` is the pattern, `*` standing for any one name.
pub fn matches(pattern: &str, path: &[String]) -> bool {
    let mut parts = pattern.split('.');
    path.iter()
        .all(|name| parts.next().is_some_and(|part| part == "*" || part == name))
        && parts.next().is_none()
}

/// Whether the pattern goes on below `path`.
pub fn is_below(pattern: &str, path: &[String]) -> bool {
    let mut parts = pattern.split('.');
    path.iter()
        .all(|name| parts.next().is_some_and(|part| part == "*" || part == name))
        && parts.next().is_some()
}

/// The row of a path.
pub fn find(path: &[String]) -> Option<&'static Key> {
    KEYS.iter().find(|key| matches(key.path, path))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn path(text: &str) -> Vec<String> {
        text.split('.').map(String::from).collect()
    }

    #[test]
    fn no_path_stands_twice_and_no_key_lies_below_another() {
        let mut seen = HashSet::new();
        for key in KEYS {
            assert!(seen.insert(key.path), "{} stands twice", key.path);
            assert!(
                key.doc.ends_with(['.', ')']),
                "{}: the line ends in a period",
                key.path
            );
            for other in KEYS {
                assert!(
                    !is_below(other.path, &path(key.path)),
                    "{} lies below {}",
                    other.path,
                    key.path
                );
            }
        }
    }

    #[test]
    fn every_permission_that_can_deny_is_a_guard() {
        for key in KEYS.iter().filter(|key| key.path.starts_with("permissions.")) {
            let loosens = key.path.ends_with("allow") || key.path.ends_with("allowed_dirs");
            assert_eq!(key.guards, !loosens, "{}", key.path);
            assert!(!loosens || key.project == InProject::Ignored, "{}", key.path);
        }
    }

    #[test]
    fn a_star_stands_for_one_name() {
        assert!(find(&path("providers.mock.wire")).is_some());
        assert!(find(&path("providers.wire")).is_none());
        assert!(is_below("providers.*.wire", &path("providers.mock")));
        assert!(!is_below("providers.*.wire", &path("providers.mock.wire")));
    }
}
