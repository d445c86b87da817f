//! The built-in names and folders of files that look like secrets, or that run programs.

/// Names (globs) of files that are refused for reading.
pub(super) const READ_NAMES: &[&str] = &[
    ".env",
    ".env.*",
    "*.pem",
    "*.key",
    "*.p12",
    "*.pfx",
    "*.ppk",
    "id_rsa*",
    "id_dsa*",
    "id_ecdsa*",
    "id_ed25519*",
    ".netrc",
    "_netrc",
    ".git-credentials",
    ".pgpass",
];

/// Endings that make a name of [`READ_NAMES`] harmless: templates and public keys.
pub(super) const HARMLESS_ENDINGS: &[&str] = &[".example", ".sample", ".template", ".dist", ".pub"];

/// Folders, each as the names that follow one another, in which everything is refused for reading.
pub(super) const READ_FOLDERS: &[&str] = &[
    ".ssh",
    ".aws",
    ".gnupg",
    ".azure",
    ".config/gcloud",
    ".deepagents/.state",
    // They hold what files held, secret ones included.
    ".deepseek/snapshots",
    "dcode/snapshots",
    ".password-store",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".docker/config.json",
    ".kube/config",
    ".config/gh/hosts.yml",
    "etc/shadow",
    "etc/gshadow",
];

/// Files of a home that are refused for reading: they hold tokens there, and settings in a project.
pub(super) const READ_IN_HOME: &[&str] = &[
    ".deepseek/config.toml",
    ".npmrc",
    ".pypirc",
    ".config/pip/pip.conf",
];

/// Names (globs) that are asked on writing, beside those that are refused for reading.
pub(super) const WRITE_NAMES: &[&str] = &[
    ".env*",
    "credentials*",
    ".npmrc",
    ".pypirc",
    ".yarnrc*",
    ".mcp.json",
    ".nvim.lua",
    ".nvimrc",
    ".exrc",
    ".vimrc",
    ".lazy.lua",
    ".gitconfig",
    ".gitmodules",
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".zlogout",
    ".bash_logout",
    ".bash_aliases",
    ".kshrc",
    ".cshrc",
    ".tcshrc",
    ".xprofile",
    ".xinitrc",
    ".xsession",
    ".pam_environment",
    ".inputrc",
    ".gvimrc",
    ".ideavimrc",
    ".emacs",
    ".tmux.conf",
    ".screenrc",
    ".curlrc",
    ".wgetrc",
    ".gdbinit",
    ".lldbinit",
    ".irbrc",
    ".pryrc",
    ".psqlrc",
    ".sqliterc",
    "authorized_keys",
    ".pre-commit-config.yaml",
];

/// Folders in which everything is asked on writing.
pub(super) const WRITE_FOLDERS: &[&str] = &[
    ".deepseek",
    ".deepagents",
    ".vscode",
    ".idea",
    ".husky",
    ".cargo/config",
    ".cargo/config.toml",
    ".devcontainer",
];

/// A name on a list with one of these endings is source code, not a secret.
pub(super) const SOURCE_ENDINGS: &[&str] = &[
    "rs", "py", "js", "jsx", "ts", "tsx", "go", "c", "h", "cc", "cpp", "hpp", "java", "kt", "rb", "php",
    "cs", "swift", "scala", "lua", "ex", "exs", "erl", "hs", "ml", "vue", "svelte", "md", "rst", "html",
    "css",
];
