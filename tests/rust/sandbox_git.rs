//! Git folders in the sandbox: what a command does to one must not make git, started outside later, run something.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use dcode::shell::sandbox::{Places, Sandbox, Walls};
use dcode::tools::new_repositories::NewRepositories;
use tempfile::TempDir;

/// A project with a repository, made by the real git.
struct Project {
    _dir: TempDir,
    home: PathBuf,
    top: PathBuf,
}

impl Project {
    fn new() -> Self {
        let dir = TempDir::new().unwrap();
        let home = dir.path().canonicalize().unwrap().join("home");
        let top = home.join("project");
        std::fs::create_dir_all(&top).unwrap();
        let project = Self { _dir: dir, home, top };
        project.host("git init -q -b main && echo a > a && git add a && git commit -qm first");
        project
    }

    /// Runs a line outside of the sandbox; what it prints.
    fn host(&self, line: &str) -> String {
        text(Command::new("bash").args(["-c", line]), &self.top)
    }

    /// Runs a line inside; what it prints.
    fn inside(&self, line: &str, git: bool, repositories: Vec<PathBuf>) -> Option<String> {
        let sandbox = match Sandbox::find(Places {
            home: self.home.clone(),
            writable: vec![self.top.clone()],
            readable: Vec::new(),
        }) {
            Ok(sandbox) => sandbox,
            Err(why) => {
                assert!(std::env::var_os("CI").is_none(), "{why}");
                println!("skipped: {why}");
                return None;
            }
        };
        let walls = Walls {
            git,
            repositories,
            ..Walls::default()
        };
        let words = sandbox.wrap(&self.top, &walls);
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).args(["bash", "-c", line]);
        Some(text(&mut command, &self.top))
    }

    fn repositories(&self) -> Arc<NewRepositories> {
        Arc::new(NewRepositories::below(vec![self.top.clone()]))
    }
}

fn text(command: &mut Command, cwd: &Path) -> String {
    for name in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{name}_NAME"), "n");
        command.env(format!("GIT_{name}_EMAIL"), "n@example.org");
    }
    let output = command.current_dir(cwd).output().unwrap();
    String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
}

#[test]
fn only_a_line_of_git_writes_in_the_git_folder() {
    let project = Project::new();
    let escape = "cp .git/config c; git config -f c core.fsmonitor 'touch escaped'; mkdir b; mv c b/config; \
                  cp -r .git/objects .git/refs .git/HEAD b/; echo ../b > .git/commondir";
    let Some(said) = project.inside(escape, false, Vec::new()) else {
        return;
    };
    assert!(said.contains(".git/commondir: Read-only file system"), "{said}");
    project.host("git status");
    assert!(!project.top.join("escaped").exists());
    let said = project
        .inside("echo b >> a; git commit -qam second", false, Vec::new())
        .unwrap();
    assert!(said.contains("Read-only file system"), "{said}");
    let said = project.inside("git commit -qam second; git log --format=%s", true, Vec::new());
    assert_eq!(said.unwrap(), "second\nfirst\n");
    let said = project
        .inside("git config core.fsmonitor x", true, Vec::new())
        .unwrap();
    assert!(said.contains("could not"), "{said}");
}

#[test]
fn a_repository_in_a_project_is_protected_too() {
    let project = Project::new();
    project.host("git init -q sub");
    let (known, _run) = project.repositories().before(false);
    assert_eq!(known, [".git", "sub/.git"].map(|name| project.top.join(name)));
    for line in [
        "echo x >> sub/.git/config",
        "rm -r sub/.git",
        "echo x > sub/.git/commondir",
    ] {
        let Some(said) = project.inside(line, false, known.clone()) else {
            return;
        };
        assert!(
            said.contains("Read-only") || said.contains("busy"),
            "{line}: {said}"
        );
    }
    assert_eq!(project.host("cd sub && git config core.bare"), "false\n");
}

#[test]
fn a_repository_that_runs_something_is_held() {
    let run = "git config core.fsmonitor 'touch ../escaped'";
    for line in [
        format!("git init -q s; cd s; {run}"),
        format!("git init -q s; cd s; git init -q ../t; cd ../t; {run}; echo ../../t/.git > ../s/.git/commondir"),
        "git init -q s; printf '#!/bin/sh\\ntouch ../escaped' > s/.git/hooks/post-index-change; \
         chmod +x s/.git/hooks/post-index-change"
            .to_owned(),
        format!("git init -q x; cd x; {run}; cd ..; mv x/.git x/git; mkdir s; echo gitdir: ../x/git > s/.git"),
        "git init -q s; echo '[core] fsmonitor = touch ../escaped' > c; git config -f s/.git/config include.path ../../c"
            .to_owned(),
        "git init -q s; mkdir s/.git/h; git config -f s/.git/config core.hooksPath .git/h".to_owned(),
        "git init -q s; git config -f s/.git/config filter.x.clean 'touch ../escaped'".to_owned(),
        format!("git init -q x; cd x; {run}; cd ..; mkdir s; ln -s ../x/.git s/.git"),
        "git init -q s; git config -f s/.git/config extensions.worktreeConfig true".to_owned(),
        "git init -q s; rm s/.git/config; mkfifo s/.git/config".to_owned(),
        "git init -q s; mkdir s/.git/modules; git init -q m; git config -f m/.git/config core.sshCommand ./x; \
         mv m/.git s/.git/modules/m"
            .to_owned(),
    ] {
        let project = Project::new();
        let repositories = project.repositories();
        let (_, command) = repositories.before(false);
        project.host(&line);
        let said = repositories.hold();
        drop(command);
        assert!(said.iter().any(|said| said.starts_with("s/.git came with ")), "{line}: {said:?}");
        assert!(project.top.join("s/.git.held").symlink_metadata().is_ok(), "{line}");
        project.host("cd s; git status; git add .");
        assert!(!project.top.join("escaped").exists(), "{line}");
    }
}

#[test]
fn a_plain_repository_and_the_persons_own_stay() {
    let project = Project::new();
    project.host(
        "git init -q own; git config -f own/.git/config core.fsmonitor true; echo . > own/.git/commondir",
    );
    let repositories = project.repositories();
    let (_, command) = repositories.before(false);
    project.host(
        "git init -q s; git clone -q . c; git worktree add -q w; git -c protocol.file.allow=always submodule -q add ./ m; \
         git -C c config user.name x; git -C c branch -q --set-upstream-to=origin/main",
    );
    assert_eq!(repositories.hold(), Vec::<String>::new());
    for name in ["own", "s", "c", "w", "m"] {
        assert!(project.top.join(name).join(".git").exists(), "{name}");
    }
    drop(command);
    // What came since the last command is the person's.
    project.host("git config -f s/.git/config core.fsmonitor true; git init -q p; git config -f p/.git/config alias.x '!x'");
    let (_, command) = repositories.before(false);
    assert_eq!(repositories.hold(), Vec::<String>::new());
    drop(command);
    // While a command runs in the background, it may be that one's.
    project.host("git init -q q; git config -f q/.git/config alias.x '!x'; touch q/.git.held");
    let (_, _command) = repositories.before(true);
    let said = repositories.hold();
    assert_eq!(
        said,
        [
            "q/.git came with the setting `alias.x`, which git would obey outside of the sandbox: it was renamed to \
             q/.git.held.1. The person can rename it back"
        ]
    );
}

#[test]
fn the_projects_own_repository_is_not_redirected() {
    let project = Project::new();
    let repositories = project.repositories();
    let (_, _command) = repositories.before(false);
    project.host(
        "cp -r .git b; git config -f b/config core.fsmonitor 'touch escaped'; echo ../b > .git/commondir",
    );
    let said = repositories.hold();
    assert!(
        said[0].starts_with(".git/commondir came with settings and hooks"),
        "{said:?}"
    );
    project.host("git status");
    assert!(!project.top.join("escaped").exists());
    let hooks = project.top.join(".git/hooks/pre-commit.sample");
    assert!(
        hooks.metadata().unwrap().permissions().mode() & 0o111 != 0,
        "samples do not count"
    );
}
