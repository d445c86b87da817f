//! The sandbox, with the real bubblewrap: what a command reaches from inside, and what then runs unasked.

use std::io::Write as _;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use dcode::agent::sandbox;
use dcode::config::load::{LoadInput, load, user_file};
use dcode::config::model::Config;
use dcode::permission::access::Access;
use dcode::permission::decision::Decision;
use dcode::permission::facts::Facts;
use dcode::permission::gate::{Gate, GateSetup};
use dcode::protocol::tool::ToolClass;
use dcode::shell::env::Shell;
use dcode::shell::run::{Exit, RunOutput, RunSpec, run};
use dcode::shell::sandbox::{Places, Sandbox, Walls};
use dcode::shell::watchdog::Watchdog;
use dcode::tools::bash_walls::Enclosure;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// A home, a project in it and a folder beside it.
struct Place {
    _dir: TempDir,
    home: PathBuf,
    project: PathBuf,
}

impl Place {
    fn new() -> Self {
        let dir = TempDir::new().unwrap();
        let home = dir.path().canonicalize().unwrap().join("home");
        let project = home.join("project");
        for folder in ["project/.git/objects", "project/src", ".ssh", ".cargo", "other"] {
            std::fs::create_dir_all(home.join(folder)).unwrap();
        }
        for (file, text) in [
            ("project/.git/config", "[core]\n"),
            ("project/.git/HEAD", "ref: refs/heads/main\n"),
            ("project/.env", "KEY=secret\n"),
            (".ssh/id", "secret\n"),
            (".gitconfig", "[user]\nname = me\n"),
            (".cargo/credentials.toml", "secret\n"),
            ("other/x", "secret\n"),
        ] {
            std::fs::File::create(home.join(file))
                .unwrap()
                .write_all(text.as_bytes())
                .unwrap();
        }
        Self {
            _dir: dir,
            home,
            project,
        }
    }

    /// `None` where bubblewrap cannot run, which in CI is a failure.
    fn sandbox(&self) -> Option<Sandbox> {
        let found = Sandbox::find(Places {
            home: self.home.clone(),
            writable: vec![self.project.clone()],
            readable: Vec::new(),
        });
        if let Err(why) = &found {
            assert!(std::env::var_os("CI").is_none(), "{why}");
            println!("skipped: {why}");
        }
        found.ok()
    }

    fn config(&self, setup: Value) -> Arc<Config> {
        let input = LoadInput {
            home: Some(self.home.clone()),
            project_root: self.project.clone(),
            setup,
            ..LoadInput::default()
        };
        load(&input).config
    }

    fn gate(&self, setup: Value, sandboxed: bool) -> Gate {
        Gate::new(GateSetup {
            cwd: self.project.clone(),
            home: Some(self.home.clone()),
            config: self.config(setup),
            user_file: user_file(&self.home),
            sandboxed,
            ..GateSetup::default()
        })
    }
}

async fn within(sandbox: &Sandbox, place: &Place, walls: Walls, line: &str) -> RunOutput {
    let spec = RunSpec {
        line: line.into(),
        cwd: place.project.clone(),
        timeout: Duration::from_secs(30),
        before: sandbox.wrap(&place.project, &walls),
        ..RunSpec::new(Shell::new("/bin/bash"))
    };
    run(spec, &CancellationToken::new(), &|_| {}, &Watchdog::new())
        .await
        .unwrap()
}

fn open() -> Walls {
    Walls {
        network: true,
        git: true,
        ..Walls::default()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_project_is_writable_and_nothing_else() {
    let place = Place::new();
    let Some(sandbox) = place.sandbox() else { return };
    let out = within(
        &sandbox,
        &place,
        open(),
        "echo x > src/new && cat src/new && echo y > .git/FETCH_HEAD && pwd",
    )
    .await;
    assert_eq!(out.exit, Exit::Code(0), "{}", out.output);
    assert_eq!(out.output, format!("x\n{}\n", place.project.display()));
    assert!(place.project.join("src/new").is_file());
    for line in [
        "echo x > /etc/dcode-x",
        "echo x > /usr/dcode-x",
        "echo x > ../other/y",
        "echo x > /var/tmp/dcode-x",
    ] {
        let out = within(&sandbox, &place, open(), line).await;
        assert_ne!(out.exit, Exit::Code(0), "{line}");
    }
    // Its own /tmp, which lasts from one command to the next.
    let line = "echo x > /tmp/dcode-sandbox-x";
    let out = within(&sandbox, &place, open(), line).await;
    assert_eq!(out.exit, Exit::Code(0), "{}", out.output);
    assert!(!Path::new("/tmp/dcode-sandbox-x").exists());
    // What is written to the empty home would be lost.
    let line = format!("echo z > {}/z", place.home.display());
    let out = within(&sandbox, &place, open(), &line).await;
    assert_ne!(out.exit, Exit::Code(0), "{}", out.output);
    assert_eq!(
        within(&sandbox, &place, open(), "cat /tmp/dcode-sandbox-x")
            .await
            .output,
        "x\n"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_finds_a_place_for_its_state_beside_the_project() {
    let place = Place::new();
    let Some(sandbox) = place.sandbox() else { return };
    let line = r#"mkdir -p "$XDG_STATE_HOME/x" && echo log > "$XDG_STATE_HOME/x/log" && ls -A . "#;
    let before = std::fs::read_dir(&place.project).unwrap().count();
    let out = within(&sandbox, &place, open(), line).await;
    assert_eq!(out.exit, Exit::Code(0), "{}", out.output);
    assert_eq!(std::fs::read_dir(&place.project).unwrap().count(), before);
    // After the session nothing is left to run in.
    sandbox.close();
    let out = within(&sandbox, &place, open(), "echo x").await;
    assert_ne!(out.exit, Exit::Code(0), "{}", out.output);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_runs_later_is_protected() {
    let place = Place::new();
    let Some(sandbox) = place.sandbox() else { return };
    for line in [
        "echo x > .git/hooks/pre-commit",
        "echo x >> .git/config",
        "rm .git/config",
        "mv .git .git2",
        "rm -rf .git/hooks",
        "ln -sf /x .git/config",
        "mount -o remount,rw,bind .git/config",
        "umount .git/config",
    ] {
        let out = within(&sandbox, &place, open(), line).await;
        assert_ne!(out.exit, Exit::Code(0), "{line}: {}", out.output);
    }
    assert_eq!(
        std::fs::read_to_string(place.project.join(".git/config")).unwrap(),
        "[core]\n"
    );
    assert!(
        std::fs::read_dir(place.project.join(".git/hooks"))
            .unwrap()
            .next()
            .is_none()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_home_is_hidden_but_for_what_builds_need() {
    let place = Place::new();
    let Some(sandbox) = place.sandbox() else { return };
    let line = format!(
        "export HOME={}; ls -A ~; cat ~/.gitconfig; cat ~/.cargo/credentials.toml; cat ~/.ssh/id ~/other/x",
        place.home.display()
    );
    let out = within(&sandbox, &place, open(), &line).await;
    assert!(!out.output.contains("secret"), "{}", out.output);
    assert!(out.output.contains("name = me"), "{}", out.output);
    assert!(
        out.output.starts_with(".cache\n.cargo\n.gitconfig\nproject\n"),
        "{}",
        out.output
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn other_processes_and_their_keys_are_not_seen() {
    let place = Place::new();
    let Some(sandbox) = place.sandbox() else { return };
    let pid = std::process::id();
    let out = within(
        &sandbox,
        &place,
        open(),
        &format!("kill -0 {pid}; cat /proc/{pid}/environ; ls -d /proc/[0-9]* | wc -l; ls /run/docker.sock"),
    )
    .await;
    assert!(out.output.contains("No such process"), "{}", out.output);
    assert!(!out.output.contains("PATH="), "{}", out.output);
}

#[test]
fn nothing_leads_to_the_persons_other_programs() {
    let place = Place::new();
    let Some(sandbox) = place.sandbox() else { return };
    let names = [
        "SSH_AUTH_SOCK",
        "DBUS_SESSION_BUS_ADDRESS",
        "DISPLAY",
        "WAYLAND_DISPLAY",
    ];
    let words = sandbox.wrap(&place.project, &open());
    let output = std::process::Command::new(&words[0])
        .args(&words[1..])
        .args(["env"])
        .envs(names.map(|name| (name, "x")))
        .output()
        .unwrap();
    let seen = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(seen.contains("XDG_STATE_HOME=/tmp/.state\n"), "{seen}");
    assert!(!names.iter().any(|name| seen.contains(name)), "{seen}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_network_is_there_only_where_it_is_allowed() {
    let place = Place::new();
    let Some(sandbox) = place.sandbox() else { return };
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let line = format!(
        "exec 3<>/dev/tcp/127.0.0.1/{}",
        listener.local_addr().unwrap().port()
    );
    let out = within(&sandbox, &place, open(), &line).await;
    assert_eq!(out.exit, Exit::Code(0), "{}", out.output);
    let walls = Walls {
        hidden: vec![place.project.join(".env")],
        ..Walls::default()
    };
    let out = within(&sandbox, &place, walls.clone(), &line).await;
    assert_ne!(out.exit, Exit::Code(0));
    let out = within(
        &sandbox,
        &place,
        walls,
        "cat .env; grep -r secret .; echo x >> .env",
    )
    .await;
    assert!(!out.output.contains("secret"), "{}", out.output);
    assert_eq!(
        std::fs::read_to_string(place.project.join(".env")).unwrap(),
        "KEY=secret\n"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_timeout_ends_all_that_is_within() {
    let place = Place::new();
    let Some(sandbox) = place.sandbox() else { return };
    let spec = RunSpec {
        line: "(setsid bash -c \"trap '' TERM; exec -a dcode-within sleep 300\" &); exec -a dcode-within sleep 300".into(),
        cwd: place.project.clone(),
        timeout: Duration::from_millis(1500),
        before: sandbox.wrap(&place.project, &open()),
        ..RunSpec::new(Shell::new("/bin/bash"))
    };
    let out = run(spec, &CancellationToken::new(), &|_| {}, &Watchdog::new())
        .await
        .unwrap();
    assert_eq!(out.exit, Exit::TimedOut);
    let left = std::fs::read_dir("/proc").unwrap().flatten().filter(|entry| {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        line.starts_with(b"dcode-within")
    });
    assert_eq!(left.count(), 0);
}

fn decide(gate: &Gate, line: &str, outside: bool) -> Decision {
    let access: Vec<Access> = std::iter::once(Access::Run(line.to_owned()))
        .chain(outside.then_some(Access::OutsideSandbox))
        .collect();
    let facts = Facts {
        tool: "bash",
        class: ToolClass::Execute,
        access: &access,
    };
    gate.decide(&facts, true).decision
}

#[test]
fn within_walls_ordinary_commands_run_unasked_and_dangerous_ones_do_not() {
    let place = Place::new();
    let gate = place.gate(
        json!({"sandbox_auto_allow": true, "permissions": {"bash": {"deny": ["npm *"]}}}),
        true,
    );
    for line in [
        "make",
        "cargo test",
        "./configure && make > log.txt",
        "python3 -c 'print(1)'",
        "touch x",
        "ls",
    ] {
        assert_eq!(decide(&gate, line, false), Decision::Allow, "{line}");
        assert_eq!(decide(&gate, line, true), Decision::Ask, "{line} outside");
    }
    for line in [
        "rm x",
        "git push --force",
        "cat .env",
        "make; rm -rf src",
        "ls \"unclosed",
        "git -C src status; rm x",
    ] {
        assert_eq!(decide(&gate, line, false), Decision::Ask, "{line}");
    }
    assert_eq!(decide(&gate, "npm test", false), Decision::Deny);
    assert_eq!(decide(&gate, "rm -rf /", false), Decision::Deny);
    // Not where it is not asked for, nor where there is no sandbox.
    assert_eq!(
        decide(&place.gate(Value::Null, true), "make", false),
        Decision::Ask
    );
    assert_eq!(
        decide(
            &place.gate(json!({"sandbox_auto_allow": true}), false),
            "make",
            false
        ),
        Decision::Ask
    );
}

#[test]
fn within_walls_a_git_folder_is_asked_for() {
    let place = Place::new();
    let gate = place.gate(json!({"sandbox_auto_allow": true}), true);
    for line in [
        "echo . > .git/commondir",
        "cp x .git/config.worktree",
        "python3 gen.py > .git/info/attributes",
        "mkdir -p .git/worktrees/x",
        "tee src/.git/config < x",
    ] {
        assert_eq!(decide(&gate, line, false), Decision::Ask, "{line}");
    }
}

#[test]
fn git_alone_writes_in_its_folder() {
    let place = Place::new();
    let gate = place.gate(Value::Null, true);
    for line in [
        "git commit -am x",
        "cd src && git add -A && git commit -m 'x y' | tail -3",
        "mkdir -p a && cp b a/ && git add a",
        "rm old; git rm --cached old",
        "git status --short > out.txt",
    ] {
        assert!(gate.runs_only_git(line), "{line}");
    }
    for line in [
        "ls",
        "npm test",
        "git add -A && npm test",
        "./x; git status",
        "git -c alias.x='!./x' x",
        "git add -A; echo x > .git/commondir",
        "git add -A; cp evil .git/commondir",
        "git add -A; cp evil $(echo .git)/commondir",
        "git status; x=.git; touch $x/commondir",
        "git status \"unclosed",
        "git submodule foreach ./x",
        "git bisect run ./x",
    ] {
        assert!(!gate.runs_only_git(line), "{line}");
    }
}

#[test]
fn what_a_person_or_a_rule_allowed_keeps_the_network() {
    let place = Place::new();
    let gate = place.gate(
        json!({"sandbox_auto_allow": true, "permissions": {"bash": {"allow": ["curl *"]}}}),
        true,
    );
    assert!(gate.runs_unasked("make") && gate.runs_unasked("ls"));
    assert!(!gate.runs_unasked("curl https://x") && !gate.runs_unasked("rm x"));
    let gate = place.gate(json!({"sandbox_auto_allow": true, "mode": "yolo"}), true);
    assert!(!gate.runs_unasked("make"));
}

#[test]
fn a_project_cannot_loosen_it() {
    let place = Place::new();
    std::fs::create_dir_all(place.project.join(".deepseek")).unwrap();
    let mut file = std::fs::File::create(place.project.join(".deepseek/config.toml")).unwrap();
    file.write_all(b"sandbox = 'off'\nsandbox_auto_allow = true\nsandbox_read = ['~/.ssh']\n")
        .unwrap();
    let config = place.config(Value::Null);
    assert_eq!(config.sandbox, Config::default().sandbox);
    assert!(!config.sandbox_auto_allow && config.sandbox_read.is_empty());
}

#[test]
fn where_it_is_demanded_and_missing_nothing_runs() {
    let place = Place::new();
    let gate = Arc::new(place.gate(Value::Null, false));
    let enclosure = |setup: Value| {
        let config = place.config(setup);
        sandbox::enclosure(
            Some(Err("it is not there".into())),
            &config,
            &gate,
            place.project.clone(),
        )
    };
    assert!(matches!(
        enclosure(json!({"sandbox": "bwrap"})),
        Enclosure::Missing(_)
    ));
    let refused = enclosure(json!({"sandbox": "bwrap"}))
        .around("ls", false, &place.project, false)
        .err()
        .unwrap();
    assert!(refused.to_string().contains("it is not there"), "{refused}");
    assert!(matches!(enclosure(json!({"sandbox": "auto"})), Enclosure::Open));
}
