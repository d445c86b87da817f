//! Which files look like secrets: a narrow list that is refused for reading, and a wider one that is
//! asked on writing. Names are compared without case; both lists can be extended in the config.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use globset::{GlobBuilder, GlobMatcher};

use crate::config::layer::Sourced;
use crate::config::model::Permissions;
use crate::permission::secret_lists::{
    HARMLESS_ENDINGS, READ_FOLDERS, READ_IN_HOME, READ_NAMES, SOURCE_ENDINGS, WRITE_FOLDERS, WRITE_NAMES,
};

/// The two lists.
#[derive(Clone, Debug, Default)]
pub struct Secrets {
    /// What the person adds.
    read: Vec<Entry>,
    write: Vec<Entry>,
    allowed: Vec<PathBuf>,
    /// [`READ_IN_HOME`], written out.
    in_home: Vec<PathBuf>,
}

/// The built-in lists, compiled once.
static READ: LazyLock<Vec<Entry>> = LazyLock::new(|| built_in(READ_NAMES, READ_FOLDERS));
static WRITE: LazyLock<Vec<Entry>> = LazyLock::new(|| built_in(WRITE_NAMES, WRITE_FOLDERS));

#[derive(Clone, Debug)]
struct Entry {
    /// As the person would write it, with its place when it is theirs.
    words: String,
    test: Test,
}

#[derive(Clone, Debug)]
enum Test {
    /// The last name, lower-cased, with one `*` at most; built-in, so that endings may make it harmless.
    Name(&'static str),
    /// The last name, lower-cased.
    OwnName(GlobMatcher),
    /// The whole path.
    Path(GlobMatcher),
    /// Names that follow one another anywhere in the path, lower-cased.
    Folder(Vec<&'static str>),
}

impl Secrets {
    /// The built-in lists and the person's. The error names the pattern that does not compile.
    pub fn new(permissions: &Permissions) -> Result<Self, String> {
        let own = |more: &[Sourced<String>]| more.iter().map(own).collect::<Result<Vec<Entry>, String>>();
        Ok(Self {
            read: own(&permissions.secret_read)?,
            write: own(&permissions.secret_write)?,
            allowed: permissions.secret_allow.clone(),
            in_home: Vec::new(),
        })
    }

    /// Adds the files of this home that hold tokens.
    pub fn with_home(mut self, home: Option<&Path>) -> Self {
        let files = home
            .iter()
            .flat_map(|home| READ_IN_HOME.iter().map(|name| home.join(name)));
        self.in_home = files.collect();
        self
    }

    /// The entry that refuses reading this path.
    pub fn refuses_reading(&self, path: &Path) -> Option<&str> {
        if self.allowed.iter().any(|allowed| allowed == path) {
            return None;
        }
        if is_process_memory(path) {
            return Some("/proc/*/environ");
        }
        if self.in_home.iter().any(|file| file == path) {
            return Some("files of your home that hold tokens");
        }
        self.looks_secret(path)
    }

    /// The entry that asks on writing this path: of either list.
    pub fn asks_writing(&self, path: &Path) -> Option<&str> {
        self.looks_secret(path)
            .or_else(|| find([&WRITE, &self.write], path))
    }

    fn looks_secret(&self, path: &Path) -> Option<&str> {
        find([&READ, &self.read], path)
    }
}

fn find<'a>(lists: [&'a [Entry]; 2], path: &Path) -> Option<&'a str> {
    let lower = path.to_string_lossy().to_lowercase();
    let parts = Path::new(&lower).components();
    let names: Vec<&str> = parts.filter_map(|part| part.as_os_str().to_str()).collect();
    let name = *names.last()?;
    let ending = Path::new(name).extension().and_then(|ending| ending.to_str());
    // `credentials.rs` is source; `.nvim.lua` and `.env.go` are what their beginning says.
    let is_source = !name.starts_with('.') && ending.is_some_and(|ending| SOURCE_ENDINGS.contains(&ending));
    let is_harmless = HARMLESS_ENDINGS.iter().any(|ending| name.ends_with(ending));
    let hit = lists.into_iter().flatten().find(|entry| match &entry.test {
        // A template is harmless to read, but `.env*` as a whole is asked on writing.
        Test::Name(pattern) => is_like(name, pattern) && (*pattern == ".env*" || !(is_harmless || is_source)),
        Test::OwnName(glob) => glob.is_match(name),
        Test::Path(glob) => glob.is_match(path),
        Test::Folder(folder) => names
            .windows(folder.len())
            .any(|window| window == folder.as_slice()),
    });
    hit.map(|entry| entry.words.as_str())
}

/// A pattern with one `*` at its beginning or its end, or none.
fn is_like(name: &str, pattern: &str) -> bool {
    match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
        // `.key` alone is no key file; it is what one writes for `jq`.
        (Some(end), _) => name.ends_with(end) && name.len() > end.len(),
        (None, Some(start)) => name.starts_with(start),
        (None, None) => name == pattern,
    }
}

fn built_in(names: &[&'static str], folders: &[&'static str]) -> Vec<Entry> {
    let names = names.iter().map(|name| (*name, Test::Name(name)));
    let folders = folders
        .iter()
        .map(|folder| (*folder, Test::Folder(folder.split('/').collect())));
    names
        .chain(folders)
        .map(|(words, test)| Entry {
            words: words.to_owned(),
            test,
        })
        .collect()
}

/// The environment and the memory of a process hold the keys of the providers.
fn is_process_memory(path: &Path) -> bool {
    let inside = path.strip_prefix("/proc").is_ok();
    let name = path.file_name().and_then(|name| name.to_str());
    inside && name.is_some_and(|name| ["environ", "mem", "auxv"].contains(&name))
}

fn compile(pattern: &str) -> Result<GlobMatcher, String> {
    let glob = GlobBuilder::new(pattern).literal_separator(true).build();
    glob.map(|glob| glob.compile_matcher())
        .map_err(|error| format!("{pattern:?}: {}", error.kind()))
}

fn own(item: &Sourced<String>) -> Result<Entry, String> {
    let words = format!("{} ({})", item.value, item.source);
    let test = if item.value.starts_with('/') {
        Test::Path(compile(&item.value)?)
    } else if item.value.contains('/') {
        Test::Path(compile(&format!("/**/{}", item.value.trim_start_matches("./")))?)
    } else {
        Test::OwnName(compile(&item.value.to_lowercase())?)
    };
    Ok(Entry { words, test })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::layer::{Layer, Source};

    fn secrets(read: &[&str], allowed: &[&str]) -> Secrets {
        let own = |texts: &[&str]| {
            texts
                .iter()
                .map(|text| Sourced::new((*text).to_owned(), Source::of(Layer::User)))
                .collect()
        };
        let permissions = Permissions {
            secret_read: own(read),
            secret_allow: allowed.iter().map(PathBuf::from).collect(),
            ..Permissions::default()
        };
        Secrets::new(&permissions).unwrap()
    }

    #[test]
    fn the_narrow_list_is_refused_for_reading() {
        let secrets = secrets(&[], &[]);
        for path in [
            "/w/.env",
            "/w/.env.local",
            "/w/.ENV",
            "/w/a/.env.production",
            "/w/server.pem",
            "/w/tls.key",
            "/h/.ssh/config",
            "/h/.ssh/id_ed25519",
            "/w/id_rsa",
            "/w/id_rsa.bak",
            "/h/.aws/credentials",
            "/h/.gnupg/x/y",
            "/h/.netrc",
            "/h/.deepagents/.state/mcp-tokens/a.json",
            "/proc/self/environ",
            "/proc/12/task/12/environ",
            "/h/.kube/config",
            "/h/.ssh",
        ] {
            assert!(secrets.refuses_reading(Path::new(path)).is_some(), "{path}");
            assert!(
                path.starts_with("/proc") || secrets.asks_writing(Path::new(path)).is_some(),
                "{path}"
            );
        }
        for path in [
            "/w/.env.example",
            "/w/.env.local.sample",
            "/w/.env.template",
            "/w/.env.dist",
            "/w/.envrc",
            "/w/id_rsa.pub",
            "/w/src/key.rs",
            "/w/credentials.json",
            "/w/.npmrc",
            "/w/.mcp.json",
            "/w/environ",
            "/w/.deepseek/config.toml",
            "/w/keys",
            "/w/.config/gh/x",
            "/w/.vscode/settings.json",
            "/w/monkey",
        ] {
            assert_eq!(secrets.refuses_reading(Path::new(path)), None, "{path}");
        }
    }

    #[test]
    fn the_wide_list_is_asked_on_writing() {
        let secrets = secrets(&[], &[]);
        for path in [
            "/w/.env.example",
            "/w/.envrc",
            "/w/credentials",
            "/w/credentials.json",
            "/w/.npmrc",
            "/w/.mcp.json",
            "/w/.deepseek/config.toml",
            "/w/.deepagents/x",
            "/w/.nvim.lua",
            "/w/.exrc",
            "/w/.vscode/tasks.json",
            "/w/.husky/pre-commit",
            "/w/Credentials.YML",
        ] {
            assert!(secrets.asks_writing(Path::new(path)).is_some(), "{path}");
        }
        for path in [
            "/w/credentials.rs",
            "/w/src/credentials_test.py",
            "/w/config/app.toml",
            "/w/.gitignore",
            "/w/envs",
        ] {
            assert_eq!(secrets.asks_writing(Path::new(path)), None, "{path}");
        }
    }

    #[test]
    fn the_person_extends_and_excepts() {
        let secrets = secrets(&["*.vault", "deploy/*.txt", "/abs/**"], &["/w/.env"]);
        assert!(secrets.refuses_reading(Path::new("/w/a.VAULT")).is_some());
        assert!(
            secrets
                .refuses_reading(Path::new("/w/deploy/a.txt"))
                .unwrap()
                .contains("deploy/*.txt")
        );
        assert!(secrets.refuses_reading(Path::new("/abs/x/y")).is_some());
        assert_eq!(secrets.refuses_reading(Path::new("/w/.env")), None);
        assert!(secrets.asks_writing(Path::new("/w/.env")).is_some());
    }
}
