//! The places that a gate knows: what is inside, what is a home, what is git's, what nobody may touch.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::fs::safe_path::{is_inside, normalize, resolve};
use crate::permission::git_folder::{git_dirs, is_git_dir};

/// Device names of disks, by how they begin.
const DISKS: &[&str] = &[
    "sd", "hd", "vd", "xvd", "nvme", "mmcblk", "disk", "rdisk", "dm-", "md", "mapper/", "sr", "loop", "ram",
];

/// Folders of a home whose files the person's programs read or run when they start.
const STARTED: &[&str] = &[
    ".config",
    ".local",
    ".vim",
    ".emacs.d",
    ".zsh",
    ".bashrc.d",
    ".cargo/bin",
    "bin",
    "Library/LaunchAgents",
];

/// Files of a protected folder that a hard link is compared with.
const MAX_LINKED: usize = 1000;

/// A path as it was declared and where it leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Absolute, without `..`, links as written.
    pub given: PathBuf,
    /// Links resolved.
    pub real: PathBuf,
}

impl Target {
    /// The real path, and the written one where a link led away from it.
    pub fn words(&self) -> String {
        if self.given == self.real {
            self.real.display().to_string()
        } else {
            format!("{} (a link to {})", self.given.display(), self.real.display())
        }
    }

    /// Both paths, once each.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        let given = (self.given != self.real).then_some(self.given.as_path());
        std::iter::once(self.real.as_path()).chain(given)
    }
}

/// The places. All paths are real.
#[derive(Clone, Debug)]
pub struct Ground {
    /// The working directory.
    pub cwd: PathBuf,
    /// The person's home, if known.
    pub home: Option<PathBuf>,
    /// Folders that count as inside, the working directory first.
    inside: Vec<PathBuf>,
    /// Of these, the folders in which writing runs unasked. The working directory is none of them when it is
    /// a home, `/` or a folder that holds the home: what lies there is not a project.
    work_folders: Vec<PathBuf>,
    /// Folders of start-up files and of the programs of `PATH`.
    started: Vec<PathBuf>,
    /// Git folders of the working directory, also where `.git` is a file that names one.
    git_dirs: Vec<PathBuf>,
    /// Files and folders that no call may write or remove.
    protected: Vec<PathBuf>,
}

impl Ground {
    /// `protected` are added to the config file of the person and the token store.
    pub fn new(cwd: &Path, home: Option<&Path>, allowed: &[PathBuf], protected: &[PathBuf]) -> Self {
        let cwd = real(cwd);
        let home = home.map(real);
        let mut guarded: Vec<PathBuf> = protected.iter().map(|path| real(path)).collect();
        if let Some(home) = &home {
            guarded.push(real(&home.join(".deepseek/config.toml")));
            guarded.push(home.join(".deepseek/config.toml"));
            guarded.push(real(&home.join(".deepagents/.state")));
        }
        let allowed: Vec<PathBuf> = allowed.iter().map(|path| real(path)).collect();
        let is_wide = cwd.parent().is_none()
            || is_home(home.as_deref(), &cwd)
            || home.as_deref().is_some_and(|home| home.starts_with(&cwd));
        let inside: Vec<PathBuf> = std::iter::once(cwd.clone()).chain(allowed.clone()).collect();
        let work_folders = if is_wide { allowed } else { inside.clone() };
        let path = std::env::var_os("PATH").unwrap_or_default();
        let programs = std::env::split_paths(&path).filter(|folder| folder.is_absolute());
        let of_home = home
            .iter()
            .flat_map(|home| STARTED.iter().map(|name| home.join(name)));
        let started = programs.chain(of_home).map(|folder| real(&folder)).collect();
        let mut git_dirs = git_dirs(&cwd);
        if is_git_dir(&cwd, None) {
            // The person works in a bare repository.
            git_dirs.push(cwd.clone());
        }
        Self {
            cwd,
            home,
            inside,
            work_folders,
            started,
            git_dirs,
            protected: guarded,
        }
    }

    /// Where a declared path leads. Errors are ends of sentences.
    pub fn locate(&self, path: &Path) -> Result<Target, String> {
        let written = path
            .to_str()
            .ok_or_else(|| format!("the path {} is not UTF-8", path.display()))?;
        let resolved = resolve(&self.cwd, written).map_err(|error| error.to_string())?;
        Ok(Target {
            given: resolved.given,
            real: resolved.path,
        })
    }

    /// Whether a real path lies in the working directory or a folder that the person added.
    pub fn is_inside(&self, path: &Path) -> bool {
        self.inside.iter().any(|folder| is_inside(folder, path))
    }

    /// Whether writing this real path runs unasked as far as its place is concerned: it lies in the working
    /// directory, if that is no home, or in a folder that the person added.
    pub fn is_work_folder(&self, path: &Path) -> bool {
        self.work_folders.iter().any(|folder| is_inside(folder, path))
    }

    /// Whether a path lies in a folder whose files are run, or read at the start of programs, such as
    /// `~/.config` or one of `PATH`. One who works within such a folder means it.
    pub fn is_started(&self, path: &Path) -> bool {
        let within = |folder: &PathBuf| {
            self.work_folders
                .iter()
                .any(|place| place != folder && place.starts_with(folder))
        };
        self.started
            .iter()
            .any(|folder| path.starts_with(folder) && !within(folder))
    }

    /// Whether git, started in this folder, would take a folder for its repository that is not called
    /// `.git`: anybody can have made it, with a config that runs programs.
    pub fn is_foreign_git(&self, folder: &Path) -> bool {
        folder.ancestors().any(|place| {
            let known = place
                .components()
                .any(|part| part.as_os_str().eq_ignore_ascii_case(".git"))
                || self.git_dirs.iter().any(|own| is_inside(own, place));
            !known && is_git_dir(place, None)
        })
    }

    /// Whether a path lies in a git folder, or would make one of the folder that holds it. Names are compared without case: on some file systems
    /// `.GIT` is the same folder.
    pub fn is_git(&self, path: &Path) -> bool {
        let named = path
            .components()
            .any(|part| part.as_os_str().eq_ignore_ascii_case(".git"));
        named
            || self.git_dirs.iter().any(|folder| is_inside(folder, path))
            || path
                .ancestors()
                .skip(1)
                .any(|folder| is_git_dir(folder, Some(path)))
    }

    /// What a path is that must not be removed or overwritten, in words.
    pub fn vital(&self, path: &Path) -> Option<&'static str> {
        let path = normalize(path);
        if path == Path::new("/") {
            return Some("the root of the file system");
        }
        if self.is_home(&path) {
            return Some("a home directory");
        }
        if path == self.cwd {
            return Some("the working directory");
        }
        if self.git_dirs.iter().any(|folder| same(folder, &path)) {
            return Some("the working directory's .git");
        }
        if path == Path::new("/home") || path == Path::new("/Users") {
            return Some("the folder of all homes");
        }
        if self.cwd.starts_with(&path) {
            return Some("a folder that holds the working directory");
        }
        if self.home.as_deref().is_some_and(|home| home.starts_with(&path)) {
            return Some("a folder that holds your home");
        }
        let device = path.strip_prefix("/dev").ok().and_then(Path::to_str);
        device
            .is_some_and(|name| DISKS.iter().any(|disk| name.starts_with(disk)))
            .then_some("a disk")
    }

    /// The git folders of the working directory.
    pub fn git_dirs(&self) -> &[PathBuf] {
        &self.git_dirs
    }

    /// What must not be removed and is known by name: what [`Self::vital`] and [`Self::is_protected_name`] speak of,
    /// but for other people's homes and for disks.
    pub fn never_removed(&self) -> Vec<PathBuf> {
        let mut found: Vec<PathBuf> = ["/home", "/Users", "/root"].map(PathBuf::from).to_vec();
        for path in std::iter::once(&self.cwd)
            .chain(&self.home)
            .chain(&self.protected)
        {
            found.extend(path.ancestors().map(Path::to_owned));
        }
        found.extend(self.git_dirs.iter().cloned());
        found.sort();
        found.dedup();
        found
    }

    fn is_home(&self, path: &Path) -> bool {
        is_home(self.home.as_deref(), path)
    }

    /// Whether writing this path would change the agent's own rules or tokens.
    ///
    /// A file with several names counts by what it is: a hard link to a protected file is one, too.
    pub fn is_protected(&self, path: &Path) -> bool {
        self.is_protected_name(path) || self.is_linked(path)
    }

    /// The same for removing it: another name of the file may go.
    pub fn is_protected_name(&self, path: &Path) -> bool {
        self.protected.iter().any(|guarded| starts_with(path, guarded))
    }

    fn is_linked(&self, path: &Path) -> bool {
        let Some(meta) = std::fs::metadata(path)
            .ok()
            .filter(|meta| meta.is_file() && meta.nlink() > 1)
        else {
            return false;
        };
        let is_same = |other: &Path| {
            std::fs::metadata(other).is_ok_and(|other| (other.dev(), other.ino()) == (meta.dev(), meta.ino()))
        };
        let mut left = MAX_LINKED;
        let mut places: Vec<PathBuf> = self.protected.clone();
        while let Some(place) = places.pop() {
            if is_same(&place) {
                return true;
            }
            for entry in std::fs::read_dir(&place)
                .into_iter()
                .flatten()
                .flatten()
                .take(left)
            {
                left -= 1;
                places.push(entry.path());
            }
        }
        false
    }

    /// Whether a protected file lies directly in this folder.
    pub fn is_beside_protected(&self, folder: &Path) -> bool {
        self.protected
            .iter()
            .any(|guarded| guarded.parent().is_some_and(|parent| same(parent, folder)))
    }

    /// Whether a copy of what `source` holds into `folder` would write a protected file.
    pub fn covers_protected(&self, source: &Path, folder: &Path) -> bool {
        self.protected.iter().any(|guarded| {
            guarded
                .strip_prefix(folder)
                .is_ok_and(|below| source.join(below).exists())
        })
    }

    /// Whether removing this path would remove them.
    pub fn holds_protected(&self, path: &Path) -> bool {
        self.protected.iter().any(|guarded| starts_with(guarded, path))
    }
}

fn is_home(home: Option<&Path>, path: &Path) -> bool {
    let parent = path.parent();
    home == Some(path)
        || path == Path::new("/root")
        || parent == Some(Path::new("/home"))
        || parent == Some(Path::new("/Users"))
}

/// The path with links resolved as far as it exists.
pub(super) fn real(path: &Path) -> PathBuf {
    let written = path.to_str().unwrap_or_default();
    resolve(Path::new("/"), written).map_or_else(|_| normalize(path), |resolved| resolved.path)
}

fn same(one: &Path, other: &Path) -> bool {
    one.as_os_str().eq_ignore_ascii_case(other.as_os_str())
}

/// `Path::starts_with` without case.
pub(super) fn starts_with(path: &Path, folder: &Path) -> bool {
    let mut parts = path.components();
    folder.components().all(|part| {
        parts
            .next()
            .is_some_and(|here| here.as_os_str().eq_ignore_ascii_case(part.as_os_str()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ground() -> Ground {
        Ground::new(
            Path::new("/home/me/work/app"),
            Some(Path::new("/home/me")),
            &["/data/x".into()],
            &[],
        )
    }

    #[test]
    fn what_must_stay() {
        let ground = ground();
        for path in [
            "/",
            "/home",
            "/home/me",
            "/home/you",
            "/root",
            "/home/me/work",
            "/home/me/work/app",
            "/dev/sda1",
            "/home/me/work/app/.git",
            "/home/me/work/app/.GIT",
            "/home/me/work/app/src/..",
            "/dev/nvme0n1",
        ] {
            assert!(ground.vital(Path::new(path)).is_some(), "{path}");
        }
        for path in [
            "/home/me/work/app/src",
            "/home/me/x",
            "/tmp",
            "/dev/null",
            "/home/me/work/app/.git/hooks",
        ] {
            assert_eq!(ground.vital(Path::new(path)), None, "{path}");
        }
    }

    #[test]
    fn inside_and_git_compare_whole_names() {
        let ground = ground();
        assert!(ground.is_inside(Path::new("/data/x/y")));
        assert!(!ground.is_inside(Path::new("/home/me/work/app-evil/x")));
        assert!(ground.is_git(Path::new("/a/.Git/hooks/x")));
        assert!(!ground.is_git(Path::new("/a/.gitignore")));
    }

    #[test]
    fn a_folder_of_homes_is_no_work_folder() {
        let me = Some(Path::new("/home/me"));
        for (cwd, home) in [
            ("/", None),
            ("/", me),
            ("/home", me),
            ("/home/me", me),
            ("/home/you", me),
            ("/root", me),
        ] {
            let ground = Ground::new(Path::new(cwd), home, &[PathBuf::from("/added")], &[]);
            assert!(!ground.is_work_folder(&Path::new(cwd).join("x")), "{cwd}");
            assert!(ground.is_inside(&Path::new(cwd).join("x")), "{cwd}");
            assert!(ground.is_work_folder(Path::new("/added/x")), "{cwd}");
        }
        let ground = Ground::new(Path::new("/home/me/p"), me, &[], &[]);
        assert!(ground.is_work_folder(Path::new("/home/me/p/x")));
    }

    #[test]
    fn the_agents_own_rules_are_protected() {
        let ground = ground();
        for path in [
            "/home/me/.deepseek/config.toml",
            "/home/me/.DeepSeek/Config.toml",
            "/home/me/.deepagents/.state/x",
        ] {
            assert!(ground.is_protected(Path::new(path)), "{path}");
        }
        assert!(!ground.is_protected(Path::new("/home/me/.deepseek/other")));
        assert!(ground.holds_protected(Path::new("/home/me/.deepseek")));
    }

    #[test]
    fn a_worktree_knows_its_git_folder() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("store/worktrees/w")).unwrap();
        std::fs::create_dir_all(root.join("w")).unwrap();
        crate::fs::atomic::write(&root.join("w/.git"), b"gitdir: ../store/worktrees/w\n", None).unwrap();
        crate::fs::atomic::write(&root.join("store/worktrees/w/commondir"), b"../..\n", None).unwrap();
        let ground = Ground::new(&root.join("w"), None, &[], &[]);
        assert!(ground.is_git(&root.join("store/hooks/pre-commit")));
        assert!(ground.is_git(&root.join("store/worktrees/w/config")));
        assert!(!ground.is_git(&root.join("w/src")));
    }
}
