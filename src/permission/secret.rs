//! Which files look like secrets: a narrow list that is refused for reading, and a wider one that is
//! asked on writing. Names are compared without case; both lists can be extended in the config.

use std::borrow::Cow;
use std::os::unix::ffi::OsStrExt;
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

/// With what the folders of the built-in lists begin.
const FOLDERS_BEGIN: &[u8] = b".dDeE";

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
        // By the name first: to compare whole paths is to take them apart.
        let is = |file: &PathBuf| file.file_name() == path.file_name() && file == path;
        if self.in_home.iter().any(is) {
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

/// The first entry that a path meets. Searches ask it of every file, so that what most files are not is seen without
/// taking the path apart.
fn find<'a>(lists: [&'a [Entry]; 2], path: &Path) -> Option<&'a str> {
    let name = lower(path.file_name()?.to_string_lossy());
    let whole = may_be_in_folder(path).then(|| path.to_string_lossy().to_lowercase());
    let parts = whole.iter().flat_map(|whole| Path::new(whole).components());
    let parts: Vec<&str> = parts.filter_map(|part| part.as_os_str().to_str()).collect();
    // A template is harmless to read, but `.env*` as a whole is asked on writing.
    let counts = |pattern: &str| pattern == ".env*" || !(is_harmless(&name) || is_source(&name));
    let hit = lists.into_iter().flatten().find(|entry| match &entry.test {
        Test::Name(pattern) => is_like(&name, pattern) && counts(pattern),
        Test::OwnName(glob) => glob.is_match(name.as_ref()),
        Test::Path(glob) => glob.is_match(path),
        Test::Folder(folder) => parts
            .windows(folder.len())
            .any(|window| window == folder.as_slice()),
    });
    hit.map(|entry| entry.words.as_str())
}

fn lower(name: Cow<'_, str>) -> Cow<'_, str> {
    if name
        .bytes()
        .any(|byte| byte.is_ascii_uppercase() || !byte.is_ascii())
    {
        Cow::Owned(name.to_lowercase())
    } else {
        name
    }
}

/// Whether a part of a path may begin one of the folders on the lists: it begins as one of them does.
fn may_be_in_folder(path: &Path) -> bool {
    let bytes = path.as_os_str().as_bytes();
    let begins = |part: &[u8]| part.first().is_some_and(|first| FOLDERS_BEGIN.contains(first));
    !bytes.is_ascii() || bytes.split(|byte| *byte == b'/').any(begins)
}

/// `server.key.example`, `id_rsa.pub`
fn is_harmless(name: &str) -> bool {
    HARMLESS_ENDINGS.iter().any(|ending| name.ends_with(ending))
}

/// `credentials.rs` is source; `.nvim.lua` and `.env.go` are what their beginning says.
fn is_source(name: &str) -> bool {
    let ending = Path::new(name).extension().and_then(|ending| ending.to_str());
    !name.starts_with('.') && ending.is_some_and(|ending| SOURCE_ENDINGS.contains(&ending))
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
    fn no_folder_of_the_lists_is_overlooked() {
        for folder in READ_FOLDERS.iter().chain(WRITE_FOLDERS) {
            assert!(FOLDERS_BEGIN.contains(&folder.as_bytes()[0]), "{folder}");
            for path in [
                format!("/w/{folder}/x"),
                format!("/w/./{folder}/x").to_uppercase(),
                format!("/ä/{folder}"),
            ] {
                assert!(
                    secrets(&[], &[]).asks_writing(Path::new(&path)).is_some(),
                    "{path}"
                );
            }
        }
        assert!(
            secrets(&[], &[])
                .refuses_reading(Path::new("/h/.config/./gcloud/x"))
                .is_some()
        );
        assert!(
            secrets(&[], &[])
                .refuses_reading(Path::new("/h/.aws/x/"))
                .is_some()
        );
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
