//! What a command does not inherit of our environment: ways back to Neovim, code for shells, keys.

use std::ffi::OsString;

/// With these a program could drive the Neovim that started it, a config file of ripgrep could name a program to
/// run, and a shell would read a file or expand a text before the line.
const REMOVED: [&str; 14] = [
    "RIPGREP_CONFIG_PATH",
    "NVIM",
    "NVIM_LISTEN_ADDRESS",
    "VIMRUNTIME",
    "VIM",
    "MYVIMRC",
    "SSH_ASKPASS",
    "BASH_ENV",
    "ENV",
    "ZDOTDIR",
    "PROMPT_COMMAND",
    "PS4",
    "SHELLOPTS",
    "BASHOPTS",
];

/// Ends of names that hold keys.
const KEYS: [&str; 11] = [
    "_API_KEY",
    "_APIKEY",
    "_ACCESS_KEY",
    "_SECRET_KEY",
    "_PRIVATE_KEY",
    "_TOKEN",
    "_SECRET",
    "_PASSWORD",
    "_PASSWD",
    "_PASSPHRASE",
    "_CREDENTIALS",
];

/// Names that are removed, given all that are set: those above and functions that bash would define.
pub(super) fn removed(set: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let functions = set.filter(|name| name.to_string_lossy().starts_with("BASH_FUNC_"));
    REMOVED.iter().map(OsString::from).chain(functions).collect()
}

/// Of the names in our environment those that look as if they held a key or a token, but for those in `kept`.
pub fn keys(kept: &[String]) -> Vec<String> {
    let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    names
        .filter(|name| is_key(name) && !kept.contains(name))
        .collect()
}

fn is_key(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    KEYS.iter()
        .any(|end| name.ends_with(end) || name == end.trim_start_matches('_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_known_by_their_names() {
        for name in [
            "GITHUB_TOKEN",
            "npm_token",
            "AWS_SECRET_ACCESS_KEY",
            "TOKEN",
            "DB_PASSWORD",
            "X_API_KEY",
        ] {
            assert!(is_key(name), "{name}");
        }
        for name in [
            "PATH",
            "HOME",
            "SSH_AUTH_SOCK",
            "TOKENIZERS_PARALLELISM",
            "GPG_KEY_ID",
            "KEYBOARD",
        ] {
            assert!(!is_key(name), "{name}");
        }
    }

    #[test]
    fn what_a_shell_would_run_first_is_removed() {
        let set = ["BASH_FUNC_ls%%", "PATH"].map(OsString::from);
        let removed = removed(set.into_iter());
        for name in ["BASH_FUNC_ls%%", "BASH_ENV", "ENV", "ZDOTDIR", "NVIM"] {
            assert!(removed.contains(&OsString::from(name)), "{name}");
        }
        assert!(!removed.contains(&OsString::from("PATH")));
    }
}
