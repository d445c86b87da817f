//! Where a written path leads.
//!
//! `..` is taken away first, then links are followed one by one, also the last one and also one that
//! points to nothing: what comes out is the real object, so that permission, snapshot and write all
//! speak of the same file.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io;
use std::path::{Component, Path, PathBuf};

use thiserror::Error;

use crate::fs::cause::cause;

/// Links followed in one path; the kernel's own limit.
const MAX_LINKS: usize = 40;

/// A path as it was written and where it leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// Absolute, all links resolved. Of a file that is still to be made, its deepest existing folder
    /// is resolved.
    pub path: PathBuf,
    /// Absolute, without `.` and `..`, links as written.
    pub given: PathBuf,
    /// The first link on the way, below the working directory or in an outside path. A link in the
    /// working directory's own path does not count.
    pub through_link: Option<PathBuf>,
}

/// Why a written path means nothing. The texts are for the model.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PathError {
    /// No characters.
    #[error("The path is empty. Give a path relative to the working directory, or an absolute one.")]
    Empty,
    /// A NUL character.
    #[error("The path holds a NUL character. Give the path without it.")]
    Nul,
    /// A path that a shell would expand.
    #[error(
        "`~` is not expanded in paths. Write {0} as an absolute path (or ./{0} if the name really begins with `~`)."
    )]
    Tilde(String),
    /// Drive letters and backslashes.
    #[error(
        "{0} is written like a Windows path. Write it with `/`, relative to the working directory or absolute."
    )]
    Windows(String),
    /// Links in a circle.
    #[error("{path} cannot be reached: its links lead in a circle.", path = .0.display())]
    LinkLoop(PathBuf),
    /// The working directory itself is gone.
    #[error("The working directory {path} cannot be used: {reason}.", path = path.display())]
    Cwd {
        /// The directory.
        path: PathBuf,
        /// Why.
        reason: String,
    },
}

/// Resolves a path as a model or a person wrote it, relative to `cwd`.
pub fn resolve(cwd: &Path, written: &str) -> Result<Resolved, PathError> {
    check_spelling(written)?;
    let real_cwd = std::fs::canonicalize(cwd).map_err(|error| PathError::Cwd {
        path: cwd.to_owned(),
        reason: cause(&error),
    })?;
    let joined = normalize(&cwd.join(written));
    let given = match joined.strip_prefix(normalize(cwd)) {
        Ok(inside) => real_cwd.join(inside),
        Err(_) => joined,
    };
    if written.contains('\\') && std::fs::symlink_metadata(&given).is_err() {
        return Err(PathError::Windows(written.to_owned()));
    }
    let (path, through_link) = follow(&given, &real_cwd)?;
    Ok(Resolved {
        path,
        given,
        through_link,
    })
}

/// Whether `path` is `root` or lies below it. Compares whole components, after taking `..` away; links
/// are not looked at, so give resolved paths.
pub fn is_inside(root: &Path, path: &Path) -> bool {
    normalize(path).starts_with(normalize(root))
}

/// The path without `.` and `..`, by its text alone. `..` at the root stays at the root.
pub fn normalize(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => plain.push(component),
        }
    }
    plain
}

/// The nearest ancestor of `cwd` that holds `.git`, else `cwd`. It is never the home directory or `/`;
/// `None` when `cwd` itself is one of them.
pub fn project_root(cwd: &Path) -> Option<PathBuf> {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    project_root_with_home(cwd, home.as_deref())
}

/// [`project_root`] with the home directory given.
pub fn project_root_with_home(cwd: &Path, home: Option<&Path>) -> Option<PathBuf> {
    let real = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| normalize(path));
    let cwd = real(cwd);
    let home = home.map(real);
    let allowed = |path: &Path| path.parent().is_some() && Some(path) != home.as_deref();
    let holds_git = |path: &Path| std::fs::symlink_metadata(path.join(".git")).is_ok();
    cwd.ancestors()
        .find(|path| allowed(path) && holds_git(path))
        .or_else(|| allowed(&cwd).then_some(cwd.as_path()))
        .map(Path::to_owned)
}

fn check_spelling(written: &str) -> Result<(), PathError> {
    if written.trim().is_empty() {
        return Err(PathError::Empty);
    }
    if written.contains('\0') {
        return Err(PathError::Nul);
    }
    if written.starts_with('~') {
        return Err(PathError::Tilde(written.to_owned()));
    }
    let drive =
        matches!(written.as_bytes(), [letter, b':', b'/' | b'\\', ..] if letter.is_ascii_alphabetic());
    if drive || written.starts_with("\\\\") {
        return Err(PathError::Windows(written.to_owned()));
    }
    Ok(())
}

/// Follows links as the kernel does. `start` is a folder that is real already and needs no look.
fn follow(given: &Path, start: &Path) -> Result<(PathBuf, Option<PathBuf>), PathError> {
    let (mut real, mut rest) = match given.strip_prefix(start) {
        Ok(inside) => (start.to_owned(), queue(inside)),
        Err(_) => (PathBuf::from("/"), queue(given)),
    };
    let mut first_link = None;
    let mut links = 0;
    while let Some(name) = rest.pop_front() {
        if name == ".." {
            real.pop();
            continue;
        }
        let here = real.join(&name);
        let target = match link_target(&here) {
            Ok(Some(target)) => target,
            Ok(None) => {
                real = here;
                continue;
            }
            // Nothing there, or nothing that may be looked at: no link can follow.
            Err(_) => {
                real = here;
                real.extend(rest);
                break;
            }
        };
        links += 1;
        if links > MAX_LINKS {
            return Err(PathError::LinkLoop(given.to_owned()));
        }
        first_link.get_or_insert(here);
        if target.is_absolute() {
            real = PathBuf::from("/");
        }
        for part in queue(&target).into_iter().rev() {
            rest.push_front(part);
        }
    }
    Ok((normalize(&real), first_link))
}

fn link_target(path: &Path) -> io::Result<Option<PathBuf>> {
    let metadata = std::fs::symlink_metadata(path)?;
    if metadata.file_type().is_symlink() {
        std::fs::read_link(path).map(Some)
    } else {
        Ok(None)
    }
}

fn queue(path: &Path) -> VecDeque<OsString> {
    path.components()
        .filter_map(|component| match component {
            Component::Normal(name) => Some(name.to_owned()),
            Component::ParentDir => Some(OsString::from("..")),
            Component::CurDir | Component::RootDir | Component::Prefix(_) => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn project() -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let root = std::fs::canonicalize(dir.path()).unwrap();
        std::fs::create_dir_all(root.join("ws/src")).unwrap();
        std::fs::create_dir_all(root.join("outside")).unwrap();
        (dir, root)
    }

    #[test]
    fn relative_and_absolute_paths_meet() {
        let (_dir, root) = project();
        let ws = root.join("ws");
        for written in [
            ".env",
            "./.env",
            "src/../.env",
            ".//.env",
            &ws.join(".env").display().to_string(),
        ] {
            let resolved = resolve(&ws, written).unwrap();
            assert_eq!(resolved.path, ws.join(".env"), "{written}");
            assert_eq!(resolved.through_link, None);
        }
        assert_eq!(
            resolve(&ws, "../../../../../../../../../etc").unwrap().path,
            Path::new("/etc")
        );
    }

    #[test]
    fn links_are_followed_and_named() {
        let (_dir, root) = project();
        let ws = root.join("ws");
        symlink("../outside", ws.join("lib")).unwrap();
        symlink("../outside/new.txt", ws.join("dangling")).unwrap();
        symlink("src", ws.join("inner")).unwrap();

        let resolved = resolve(&ws, "lib/n.txt").unwrap();
        assert_eq!(resolved.path, root.join("outside/n.txt"));
        assert_eq!(resolved.given, ws.join("lib/n.txt"));
        assert_eq!(resolved.through_link, Some(ws.join("lib")));
        // A link to nothing would be written through: it leads out, too.
        assert_eq!(
            resolve(&ws, "dangling").unwrap().path,
            root.join("outside/new.txt")
        );
        assert!(is_inside(&ws, &resolve(&ws, "inner/new/deep.rs").unwrap().path));
        // `..` goes first: this names ws/x, not outside/../x.
        assert_eq!(resolve(&ws, "lib/../x").unwrap().path, ws.join("x"));
    }

    #[test]
    fn a_link_in_the_working_directory_itself_does_not_count() {
        let (_dir, root) = project();
        symlink(root.join("ws"), root.join("short")).unwrap();
        let cwd = root.join("short");
        let resolved = resolve(&cwd, &cwd.join("src/a.rs").display().to_string()).unwrap();
        assert_eq!(resolved.path, root.join("ws/src/a.rs"));
        assert_eq!(resolved.through_link, None);
    }

    #[test]
    fn loops_and_odd_spellings_are_refused_in_words() {
        let (_dir, root) = project();
        symlink("b", root.join("a")).unwrap();
        symlink("a", root.join("b")).unwrap();
        assert!(matches!(resolve(&root, "a/x"), Err(PathError::LinkLoop(_))));
        assert_eq!(resolve(&root, " "), Err(PathError::Empty));
        assert_eq!(resolve(&root, "a\0b"), Err(PathError::Nul));
        for written in ["~", "~/x", "~root/x"] {
            assert!(
                matches!(resolve(&root, written), Err(PathError::Tilde(_))),
                "{written}"
            );
        }
        for written in ["C:\\x", "c:/x", "\\\\host\\share", "src\\main.rs"] {
            assert!(
                matches!(resolve(&root, written), Err(PathError::Windows(_))),
                "{written}"
            );
        }
        std::fs::File::create(root.join("odd\\name")).unwrap();
        assert_eq!(resolve(&root, "odd\\name").unwrap().path, root.join("odd\\name"));
        assert_eq!(
            resolve(&root, "app/[id]/a b.tsx").unwrap().path,
            root.join("app/[id]/a b.tsx")
        );
    }

    #[test]
    fn inside_compares_components() {
        let inside = |root: &str, path: &str| is_inside(Path::new(root), Path::new(path));
        assert!(inside("/a", "/a/b"));
        assert!(inside("/a", "/a"));
        assert!(!inside("/a", "/b"));
        assert!(!inside("/a", "/a/../b"));
        assert!(!inside("/app", "/app-evil/p.json"));
    }

    #[test]
    fn the_project_root_is_never_home() {
        let (_dir, root) = project();
        let deep = root.join("ws/src");
        let find = |cwd: &Path| project_root_with_home(cwd, Some(&root));
        std::fs::create_dir(root.join(".git")).unwrap();
        assert_eq!(find(&deep), Some(deep.clone()));
        assert_eq!(find(&root), None);
        std::fs::File::create(root.join("ws/.git")).unwrap();
        assert_eq!(find(&deep), Some(root.join("ws")));
        assert_eq!(project_root_with_home(Path::new("/"), None), None);
    }
}
