//! The gate: tables of cases, memory, and laws that hold for every rule set.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use dcode::config::load::{LoadInput, load, user_file};
use dcode::permission::access::Access;
use dcode::permission::decision::{Decision, Verdict};
use dcode::permission::facts::Facts;
use dcode::permission::gate::{Gate, GateSetup};
use dcode::permission::judge::Shown;
use dcode::permission::memory::MemoryError;
use dcode::permission::mode::Mode;
use dcode::protocol::request::Choice;
use dcode::protocol::tool::ToolClass;
use proptest::prelude::*;
use serde_json::{Value, json};
use tempfile::TempDir;

/// The place that `tests/fixtures/permission/README.md` describes.
pub struct Place {
    _dir: TempDir,
    top: PathBuf,
}

impl Place {
    pub fn new() -> Self {
        let dir = TempDir::new().unwrap();
        let top = dir.path().canonicalize().unwrap();
        for folder in [
            "home/.ssh",
            "home/.deepseek",
            "home/.deepagents/.state",
            "outside",
            "ws/src",
            "ws/.git/hooks",
            "ws/docs/private",
            "ws/evil/objects",
            "ws/evil/refs",
            "ws/half/objects",
            "ws/seed/.deepseek",
            "ws/half/refs",
        ] {
            std::fs::create_dir_all(top.join(folder)).unwrap();
        }
        for file in [
            "home/.ssh/id_ed25519",
            "outside/n.txt",
            "ws/.env",
            "ws/.env.example",
            "ws/src/main.rs",
            "ws/docs/private/k.txt",
            "ws/.git/config",
            "ws/evil/HEAD",
            "home/.deepagents/.state/tokens.json",
            "ws/seed/.deepseek/config.toml",
            "ws/twin",
        ] {
            std::fs::File::create(top.join(file)).unwrap();
        }
        std::fs::hard_link(
            top.join("home/.deepagents/.state/tokens.json"),
            top.join("ws/hardlink"),
        )
        .unwrap();
        std::fs::hard_link(top.join("ws/twin"), top.join("ws/other-twin")).unwrap();
        for (target, link) in [
            ("../outside", "out"),
            (".env", "envlink"),
            (".git", "gitlink"),
            ("src", "inner"),
            ("../outside/new.txt", "dangling"),
            ("../home", "homelink"),
        ] {
            symlink(target, top.join("ws").join(link)).unwrap();
        }
        Self { _dir: dir, top }
    }

    fn fill(&self, text: &str) -> String {
        let top = self.top.display().to_string();
        text.replace("%TOP%", &top)
            .replace("%CWD%", &format!("{top}/ws"))
            .replace("%HOME%", &format!("{top}/home"))
    }

    pub fn gate(&self, setup: Value) -> Gate {
        self.gate_with(setup, false)
    }

    fn gate_with(&self, setup: Value, only_listed: bool) -> Gate {
        let home = self.top.join("home");
        let loaded = load(&LoadInput {
            home: Some(home.clone()),
            project_root: self.top.join("ws"),
            setup,
            ..LoadInput::default()
        });
        Gate::new(GateSetup {
            cwd: self.top.join("ws"),
            home: Some(home.clone()),
            config: loaded.config,
            user_file: user_file(&home),
            only_listed,
            ..GateSetup::default()
        })
    }
}

fn call(tool: &str, argument: &str) -> (ToolClass, Vec<Access>) {
    let path = PathBuf::from(argument);
    match tool {
        "bash" => (ToolClass::Execute, vec![Access::Run(argument.to_owned())]),
        "write_file" | "edit_file" | "apply_patch" => (ToolClass::Mutate, vec![Access::Write(path)]),
        "delete" => (ToolClass::Mutate, vec![Access::Delete(path)]),
        "todo_write" | "question" => (ToolClass::Bookkeeping, vec![]),
        _ => (ToolClass::Read, vec![Access::Read(path)]),
    }
}

pub fn decide(gate: &Gate, tool: &str, argument: &str) -> Verdict {
    let (class, access) = call(tool, argument);
    gate.decide(
        &Facts {
            tool,
            class,
            access: &access,
        },
        true,
    )
}

fn remember(gate: &Gate, line: &str, choice: Choice) -> Result<(), MemoryError> {
    let (class, access) = call("bash", line);
    gate.remember(
        &Facts {
            tool: "bash",
            class,
            access: &access,
        },
        choice,
    )
}

fn word(choice: Choice) -> &'static str {
    match choice {
        Choice::Once => "once",
        Choice::Session => "session",
        Choice::Always => "always",
        Choice::Deny => "deny",
        Choice::OnceAll => "once_all",
        Choice::DenyAll => "deny_all",
    }
}

/// Whether a verdict is what the first column of a case says.
fn fits(expected: &str, verdict: &Verdict) -> bool {
    let (expected, choices) = match expected.split_once('[') {
        Some((expected, choices)) => (expected, Some(choices.trim_end_matches(']'))),
        None => (expected, None),
    };
    let (decision, layer) = match expected.split_once(':') {
        Some((decision, layer)) => (decision, Some(layer)),
        None => (expected, None),
    };
    let offered: Vec<&str> = verdict.choices.iter().map(|choice| word(*choice)).collect();
    let decided = match decision {
        "!allow" => verdict.decision != Decision::Allow,
        decision => verdict.decision.as_str() == decision,
    };
    decided
        && layer.is_none_or(|layer| verdict.layer == layer)
        && choices.is_none_or(|choices| offered.join(",") == choices)
}

#[test]
fn tables() {
    let place = Place::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/permission");
    let (mut cases, mut failures) = (0, Vec::new());
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|ending| ending != "txt") {
            continue;
        }
        let mut gate = place.gate(Value::Null);
        for (number, line) in std::fs::read_to_string(&path).unwrap().lines().enumerate() {
            if let Some(setup) = line.strip_prefix('@') {
                let setup = place.fill(if setup.trim().is_empty() { "null" } else { setup });
                gate = place.gate(serde_json::from_str(&setup).unwrap());
                continue;
            }
            if line.trim().is_empty() || line.starts_with('#') {
                continue;
            }
            let mut columns = line.splitn(3, ' ');
            let (expected, tool, argument) = (
                columns.next().unwrap(),
                columns.next().unwrap(),
                columns.next().unwrap(),
            );
            let mut argument = place.fill(argument);
            if tool == "bash" {
                argument = argument
                    .replace("\\\\", "\0")
                    .replace("\\n", "\n")
                    .replace('\0', "\\");
            }
            let verdict = decide(&gate, tool, &argument);
            cases += 1;
            if !fits(expected, &verdict) {
                let name = path.file_name().unwrap().display();
                let offered: Vec<&str> = verdict.choices.iter().map(|choice| word(*choice)).collect();
                failures.push(format!(
                    "{name}:{}: {line}\n    is {}:{}[{}] because {}",
                    number + 1,
                    verdict.decision.as_str(),
                    verdict.layer,
                    offered.join(","),
                    verdict.reason
                ));
            }
            assert!(!verdict.rule.is_empty() && !verdict.reason.is_empty(), "{line}");
        }
    }
    assert!(
        failures.is_empty(),
        "{} of {cases}:\n{}",
        failures.len(),
        failures.join("\n")
    );
    assert!(cases > 300, "only {cases} cases were found");
}

#[test]
fn a_home_is_no_project() {
    let place = Place::new();
    for cwd in ["home", ""] {
        let home = place.top.join("home");
        let gate = Gate::new(GateSetup {
            cwd: place.top.join(cwd),
            home: Some(home.clone()),
            user_file: user_file(&home),
            ..GateSetup::default()
        });
        for file in [
            ".bash_aliases",
            ".config/autostart/x.desktop",
            "bin/ls",
            "notes.txt",
        ] {
            let path = home.join(file).display().to_string();
            assert_eq!(
                decide(&gate, "write_file", &path).decision,
                Decision::Ask,
                "{file}"
            );
        }
        let notes = home.join("notes.txt").display().to_string();
        assert_eq!(decide(&gate, "read_file", &notes).decision, Decision::Allow);
    }
}

#[test]
fn a_line_looks_at_a_bounded_number_of_files() {
    let place = Place::new();
    let many = place.top.join("ws/many");
    for folder in 0..40 {
        let folder = many.join(folder.to_string());
        std::fs::create_dir_all(&folder).unwrap();
        for file in 0..40 {
            std::fs::File::create(folder.join(file.to_string())).unwrap();
        }
    }
    let gate = place.gate(json!({"mode": "yolo"}));
    let verdict = decide(&gate, "bash", "ls many/*/*");
    assert_eq!(verdict.decision, Decision::Allow, "{}", verdict.reason);
    let words: Vec<String> = (0..40).map(|at| format!("many/*/*{at}")).collect();
    let verdict = decide(&gate, "bash", &format!("ls {}", words.join(" ")));
    assert_eq!(verdict.decision, Decision::Ask, "{}", verdict.reason);
}

#[test]
fn a_session_answer_covers_the_pattern_and_nothing_else() {
    let place = Place::new();
    let gate = place.gate(Value::Null);
    assert_eq!(
        decide(&gate, "bash", "cargo build").pattern.as_deref(),
        Some("cargo build *")
    );
    remember(&gate, "cargo build --release", Choice::Session).unwrap();
    let verdict = decide(&gate, "bash", "cargo build -q && ls");
    assert_eq!(
        (verdict.decision, verdict.layer.as_str()),
        (Decision::Allow, "memory")
    );
    assert_eq!(decide(&gate, "bash", "cargo publish").decision, Decision::Ask);
    assert_eq!(decide(&gate, "bash", "cargo build; rm x").decision, Decision::Ask);
    assert_eq!(decide(&gate, "bash", "cargo build > f").decision, Decision::Ask);
    assert_eq!(
        decide(&gate, "bash", "cargo build; rm -rf /").decision,
        Decision::Deny
    );
    assert_eq!(
        decide(&place.gate(Value::Null), "bash", "cargo build").decision,
        Decision::Ask
    );
}

#[test]
fn every_command_of_a_line_is_remembered() {
    let place = Place::new();
    let gate = place.gate(Value::Null);
    remember(&gate, "mkdir a && cargo build", Choice::Session).unwrap();
    assert_eq!(decide(&gate, "bash", "cargo build").decision, Decision::Allow);
    assert_eq!(decide(&gate, "bash", "mkdir b").decision, Decision::Allow);
}

#[test]
fn always_is_there_in_the_next_session() {
    let place = Place::new();
    let file = place.top.join("home/.deepseek/config.toml");
    dcode::fs::atomic::write(&file, b"# mine\nsave = 'never' # so\n", Some(0o644)).unwrap();
    remember(&place.gate(Value::Null), "git push origin main", Choice::Always).unwrap();
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.starts_with("# mine\nsave = 'never' # so\n"), "{text}");
    let gate = place.gate(Value::Null);
    let verdict = decide(&gate, "bash", "git push origin dev");
    assert_eq!(
        (verdict.decision, verdict.layer.as_str()),
        (Decision::Allow, "rule")
    );
    assert!(verdict.rule.contains("config.toml line 5"), "{}", verdict.rule);
    assert_eq!(
        decide(&gate, "bash", "git push --force origin dev").decision,
        Decision::Ask
    );
}

#[test]
fn a_new_config_is_for_the_person_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::new();
    let folder = place.top.join("home/.deepseek");
    std::fs::remove_dir(&folder).unwrap();
    remember(&place.gate(Value::Null), "make", Choice::Always).unwrap();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&folder), 0o700);
    assert_eq!(mode(&folder.join("config.toml")), 0o600);
    assert_eq!(
        std::fs::read_dir(&folder).unwrap().count(),
        1,
        "no lock file stays behind"
    );
}

#[test]
fn two_that_write_at_once_lose_nothing() {
    let place = Place::new();
    std::thread::scope(|scope| {
        for number in 0..8 {
            let gate = place.gate(Value::Null);
            scope.spawn(move || remember(&gate, &format!("prog{number} x"), Choice::Always).unwrap());
        }
    });
    let gate = place.gate(Value::Null);
    for number in 0..8 {
        assert_eq!(
            decide(&gate, "bash", &format!("prog{number} y")).decision,
            Decision::Allow,
            "{number}"
        );
    }
}

#[test]
fn what_was_not_on_offer_is_not_kept() {
    let place = Place::new();
    let gate = place.gate(Value::Null);
    for line in [
        "rm -rf build",
        "ls \"unclosed",
        "git push --force",
        "mkdir a; rm b",
        "rm -rf /",
        "echo $(x) > f",
    ] {
        for choice in [Choice::Session, Choice::Always] {
            assert_eq!(
                remember(&gate, line, choice),
                Err(MemoryError::NotOffered),
                "{line}"
            );
        }
    }
    let asks = place.gate(json!({"permissions": {"bash": {"ask": ["make *"]}}}));
    assert_eq!(
        remember(&asks, "make x", Choice::Always),
        Err(MemoryError::NotOffered)
    );
    remember(&asks, "make x", Choice::Session).unwrap();
    assert_eq!(decide(&asks, "bash", "make x").decision, Decision::Allow);
    assert_eq!(decide(&asks, "bash", "make y").decision, Decision::Ask);
    assert!(!place.top.join("home/.deepseek/config.toml").exists());
}

#[test]
fn a_broken_file_is_not_written_and_asks_for_everything() {
    let place = Place::new();
    let file = place.top.join("home/.deepseek/config.toml");
    let gate = place.gate(Value::Null);
    dcode::fs::atomic::write(&file, b"[permissions.bash\n", None).unwrap();
    assert!(matches!(
        remember(&gate, "make", Choice::Always),
        Err(MemoryError::NotWritten(_))
    ));
    assert_eq!(std::fs::read(&file).unwrap(), b"[permissions.bash\n");
    assert_eq!(
        decide(&gate, "bash", "make").decision,
        Decision::Allow,
        "it holds for the session"
    );
    let gate = place.gate(Value::Null);
    let verdict = decide(&gate, "bash", "ls");
    assert_eq!(verdict.choices, [Choice::Once, Choice::Deny]);
    assert!(verdict.reason.contains("line 1, column"), "{}", verdict.reason);
    let (class, access) = call("bash", "rm x");
    let facts = Facts {
        tool: "bash",
        class,
        access: &access,
    };
    assert_eq!(gate.decide(&facts, false).decision, Decision::Deny);
}

#[test]
fn a_path_answer_holds_for_that_path() {
    let place = Place::new();
    let gate = place.gate(Value::Null);
    let outside = place.top.join("outside/new.txt");
    let facts = |access: &[Access]| {
        let facts = Facts {
            tool: "write_file",
            class: ToolClass::Mutate,
            access,
        };
        (
            gate.decide(&facts, true).decision,
            gate.remember(&facts, Choice::Always),
        )
    };
    assert_eq!(facts(&[Access::Write(outside.clone())]), (Decision::Ask, Ok(())));
    assert_eq!(
        decide(&gate, "edit_file", "out/new.txt").decision,
        Decision::Allow
    );
    assert_eq!(
        decide(&gate, "edit_file", "out/other.txt").decision,
        Decision::Ask
    );
    assert_eq!(
        decide(&place.gate(Value::Null), "write_file", "out/new.txt").decision,
        Decision::Allow
    );
}

#[test]
fn nobody_there_turns_ask_into_deny() {
    let place = Place::new();
    let gate = place.gate(Value::Null);
    for (tool, argument, expected) in [
        ("bash", "make", Decision::Deny),
        ("bash", "ls", Decision::Allow),
        ("write_file", "../outside/x", Decision::Deny),
        ("write_file", "src/x", Decision::Allow),
        ("fs_write", ".", Decision::Allow),
    ] {
        let (class, access) = call(tool, argument);
        let verdict = gate.decide(
            &Facts {
                tool,
                class,
                access: &access,
            },
            false,
        );
        assert_eq!(verdict.decision, expected, "{tool} {argument}");
        assert_eq!(verdict.choices, []);
        for command in verdict.commands.unwrap_or_default() {
            assert_eq!(command.decision, expected.as_str());
        }
    }
    let unknown = Facts {
        tool: "server_write",
        class: ToolClass::Mutate,
        access: &[],
    };
    assert_eq!(gate.decide(&unknown, true).decision, Decision::Ask);
    assert_eq!(gate.decide(&unknown, false).decision, Decision::Deny);
}

#[test]
fn a_servers_tool_never_runs_unwatched_unless_it_only_looks() {
    let place = Place::new();
    let facts = |class| Facts {
        tool: "srv_do",
        class,
        access: &[],
    };
    for (mode, watched) in [
        ("manual", Decision::Ask),
        ("ask-all", Decision::Ask),
        ("auto", Decision::Ask),
        ("yolo", Decision::Allow),
        ("read-only", Decision::Deny),
    ] {
        let gate = place.gate(json!({ "mode": mode }));
        let verdict = gate.decide(&facts(ToolClass::Foreign), true);
        assert_eq!(verdict.decision, watched, "{mode}");
        assert!(verdict.grave.is_some(), "its effects are not known");
        let reviewable = matches!(mode, "manual" | "ask-all" | "auto");
        assert_eq!(verdict.reviewable, reviewable, "{mode}");
        let unwatched = gate.decide(&facts(ToolClass::Foreign), false);
        assert_eq!(unwatched.decision, Decision::Deny, "{mode}");
    }
    let gate = place.gate(Value::Null);
    let reads = gate.decide(&facts(ToolClass::Read), false);
    assert_eq!((reads.decision, reads.grave), (Decision::Allow, None));
    // An unknown tool of ours is asked, and yolo speaks for it also unwatched.
    let gate = place.gate(json!({ "mode": "yolo" }));
    assert_eq!(
        gate.decide(&facts(ToolClass::Execute), false).decision,
        Decision::Allow
    );
}

#[test]
fn grave_is_what_the_tiers_guard_whoever_allows_it() {
    let place = Place::new();
    let rules = place.fill(r#"[{"operations": ["write"], "paths": ["/**"], "mode": "allow"}]"#);
    let rules: Value = serde_json::from_str(&rules).unwrap();
    for setup in [
        Value::Null,
        json!({"mode": "yolo"}),
        json!({"permissions": {"rules": rules, "bash": {"allow": ["*"]}}}),
    ] {
        let gate = place.gate(setup.clone());
        let is_grave =
            |tool: &str, argument: &str| decide(&gate, tool, &place.fill(argument)).grave.is_some();
        for (tool, argument) in [
            ("write_file", "../outside/x"),
            ("edit_file", "out/n.txt"),
            ("apply_patch", ".env"),
            ("write_file", "envlink"),
            ("delete", ".git/config"),
            ("write_file", "%HOME%/.config/x"),
            ("bash", "rm x"),
            ("bash", "ls && rm x && ls"),
            ("bash", "sudo rm x"),
            ("bash", "echo x > ../outside/x"),
            ("bash", "echo x >> ../outside/x"),
            ("bash", "cp src/main.rs ../outside"),
            ("bash", "make -f .env"),
            ("bash", "make -C .git/hooks"),
            ("bash", "make %HOME%/.local/bin/x"),
        ] {
            assert!(is_grave(tool, argument), "{tool} {argument}: {setup}");
        }
        for (tool, argument) in [
            ("write_file", "src/x"),
            ("read_file", "../outside/n.txt"),
            ("bash", "ls ../outside"),
            ("bash", "cat ../outside/n.txt > /dev/null"),
            ("bash", "touch src/x && cp src/main.rs src/y"),
            ("bash", "make -C ../outside"),
            ("bash", "git commit -m x"),
        ] {
            assert!(!is_grave(tool, argument), "{tool} {argument}: {setup}");
        }
    }
}

#[test]
fn only_the_tiers_word_may_be_said_by_a_model() {
    let place = Place::new();
    let rules = place.fill(r#"[{"operations": ["write"], "paths": ["%CWD%/docs/**"], "mode": "interrupt"}]"#);
    let rules: Value = serde_json::from_str(&rules).unwrap();
    let setup = json!({"mode": "auto", "permissions": {"rules": rules, "bash": {"ask": ["make x"]}}});
    let gate = place.gate(setup);
    for (tool, argument, reviewable) in [
        ("bash", "make", true),
        ("bash", "touch a", true),
        ("bash", "touch a && make b", true),
        ("bash", "touch a && make x", false),
        ("bash", "make x", false),
        ("bash", "rm a", false),
        ("bash", "touch a && rm b", false),
        ("bash", "ls \"", false),
        ("bash", "rm -rf $X", false),
        ("bash", "ls", false),
        ("bash", "rm -rf .", false),
        ("write_file", "../outside/x", true),
        ("write_file", ".env", true),
        ("write_file", "docs/a", false),
        ("write_file", "src/a", false),
    ] {
        assert_eq!(
            decide(&gate, tool, argument).reviewable,
            reviewable,
            "{tool} {argument}"
        );
    }
}

#[test]
fn the_command_line_runs_only_what_is_listed() {
    let place = Place::new();
    let gate = place.gate_with(
        json!({"shell_allow_list": "ls", "permissions": {"bash": {"allow": ["make *"]}}}),
        true,
    );
    assert_eq!(decide(&gate, "bash", "ls && make x").decision, Decision::Allow);
    let verdict = decide(&gate, "bash", "rm -rf x");
    assert_eq!(verdict.decision, Decision::Deny);
    assert!(
        verdict.reason.contains("rm -rf x") && verdict.reason.contains("ls, make *"),
        "{}",
        verdict.reason
    );
    assert_eq!(decide(&gate, "bash", "cat x").decision, Decision::Deny);
    assert_eq!(decide(&gate, "write_file", "src/x").decision, Decision::Allow);
}

#[test]
fn a_filter_names_secrets_and_hides_what_a_rule_denies() {
    let place = Place::new();
    let rules =
        place.fill(r#"[{"operations": ["read"], "paths": ["%CWD%/docs/private/**"], "mode": "deny"}]"#);
    let rules: Value = serde_json::from_str(&rules).unwrap();
    let filter = place.gate(json!({"permissions": {"rules": rules}})).read_filter();
    assert_eq!(filter.shown(Path::new("src/main.rs")), Shown::Content);
    assert_eq!(filter.shown(Path::new(".env")), Shown::Name);
    assert_eq!(filter.shown(Path::new("envlink")), Shown::Name);
    assert_eq!(
        filter.shown(&place.top.join("ws/docs/private/k.txt")),
        Shown::Nothing
    );
}

#[test]
fn a_project_file_denies_beside_the_persons_allow() {
    let place = Place::new();
    std::fs::create_dir_all(place.top.join("ws/.deepseek")).unwrap();
    let text = place.fill("[permissions]\nrules = [{operations = ['write'], paths = ['%CWD%/src/**'], mode = 'deny'}]\n[permissions.bash]\ndeny = ['make *']\nallow = ['rm *']\n");
    dcode::fs::atomic::write(&place.top.join("ws/.deepseek/config.toml"), text.as_bytes(), None).unwrap();
    let own = place.fill(r#"[{"operations": ["write"], "paths": ["%CWD%/**"], "mode": "allow"}]"#);
    let own: Value = serde_json::from_str(&own).unwrap();
    let gate = place.gate(json!({"permissions": {"rules": own, "bash": {"allow": ["make *"]}}}));
    let verdict = decide(&gate, "write_file", "src/x");
    assert_eq!(verdict.decision, Decision::Deny);
    assert!(
        verdict.rule.contains("ws/.deepseek/config.toml line 2"),
        "{}",
        verdict.rule
    );
    assert_eq!(decide(&gate, "bash", "make").decision, Decision::Deny);
    assert_eq!(decide(&gate, "bash", "rm x").decision, Decision::Ask);
}

#[test]
fn the_mode_changes_while_it_runs() {
    let place = Place::new();
    let gate = place.gate(Value::Null);
    gate.set_mode(Mode::ReadOnly);
    assert_eq!(gate.mode(), Mode::ReadOnly);
    assert_eq!(decide(&gate, "bash", "ls").decision, Decision::Deny);
    assert_eq!(
        decide(&gate, "read_file", "src/main.rs").decision,
        Decision::Allow
    );
}

#[test]
fn explain_names_rule_place_and_remedy() {
    let place = Place::new();
    let file = place.top.join("home/.deepseek/config.toml");
    dcode::fs::atomic::write(&file, b"[permissions.bash]\ndeny = ['git push *']\n", None).unwrap();
    let gate = place.gate(Value::Null);
    let (class, access) = call("bash", "ls && git push --force");
    let verdict = gate.explain(&Facts {
        tool: "bash",
        class,
        access: &access,
    });
    assert_eq!(verdict.decision, Decision::Deny);
    assert!(
        verdict.rule.contains("permissions.bash.deny has `git push *`"),
        "{}",
        verdict.rule
    );
    assert!(
        verdict.rule.contains(&format!(":edit +2 {}", file.display())),
        "{}",
        verdict.rule
    );
    let rows: Vec<(String, String)> = verdict
        .commands
        .unwrap()
        .into_iter()
        .map(|row| (row.class, row.decision))
        .collect();
    let row = |class: &str, decision: &str| (class.to_owned(), decision.to_owned());
    assert_eq!(rows, [row("read", "allow"), row("destructive", "deny")]);
}

const LINES: &[&str] = &[
    "ls",
    "git push origin main",
    "rm -rf build",
    "make x && ls",
    "cat .env",
    "echo hi > f",
    "git $x",
    "sudo make",
    "ls \"",
    "find . -delete",
    "rm -rf /",
];
const ENTRIES: &[&str] = &[
    "ls *",
    "git push *",
    "rm *",
    "make *",
    "make x",
    "*",
    "cat *",
    "sudo *",
    "echo *",
    "git *",
    "find *",
];
const PATHS: &[&str] = &[
    "src/main.rs",
    "../outside/n.txt",
    ".env",
    ".git/config",
    "out/n.txt",
    "docs/a",
    "inner/main.rs",
    "src",
];
const GLOBS: &[&str] = &[
    "%CWD%/**",
    "%CWD%/src/*",
    "%TOP%/outside/**",
    "%CWD%/*",
    "/**",
    "%CWD%/src",
];
const TOOLS: &[&str] = &["read_file", "write_file", "delete", "ls", "grep", "apply_patch"];
const MODES: &[&str] = &["manual", "ask-all", "read-only", "auto", "yolo"];

fn entries() -> impl Strategy<Value = Vec<&'static str>> {
    proptest::collection::vec(proptest::sample::select(ENTRIES), 0..3)
}

/// One place for all cases: the laws only look.
pub static PLACE: LazyLock<Place> = LazyLock::new(Place::new);

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_deny_or_ask_entry_never_loosens(
        deny in entries(), ask in entries(), allow in entries(), more in proptest::sample::select(ENTRIES),
        as_deny in any::<bool>(), line in proptest::sample::select(LINES), mode in proptest::sample::select(MODES),
        human in any::<bool>(),
    ) {
        let place = &*PLACE;
        let verdict = |deny: &[&str], ask: &[&str]| {
            let gate = place.gate(json!({"mode": mode, "permissions": {"bash": {"deny": deny, "ask": ask, "allow": allow}}}));
            let (class, access) = call("bash", line);
            gate.decide(&Facts { tool: "bash", class, access: &access }, human).decision
        };
        let before = verdict(&deny, &ask);
        let (mut more_deny, mut more_ask) = (deny.clone(), ask.clone());
        if as_deny { more_deny.push(more) } else { more_ask.push(more) };
        prop_assert!(verdict(&more_deny, &more_ask) >= before);
    }

    #[test]
    fn a_denying_rule_in_front_never_loosens(
        rules in proptest::collection::vec((proptest::sample::select(GLOBS), 0..3_usize), 0..3),
        glob in proptest::sample::select(GLOBS), interrupt in any::<bool>(),
        tool in proptest::sample::select(TOOLS), path in proptest::sample::select(PATHS),
        mode in proptest::sample::select(MODES),
    ) {
        let place = &*PLACE;
        let rule = |glob: &str, mode: &str| json!({"operations": ["read", "write"], "paths": [place.fill(glob)], "mode": mode});
        let mut list: Vec<Value> =
            rules.iter().map(|(glob, mode)| rule(glob, ["allow", "interrupt", "deny"][*mode])).collect();
        let verdict = |rules: &[Value]| {
            decide(&place.gate(json!({"mode": mode, "permissions": {"rules": rules}})), tool, path).decision
        };
        let before = verdict(&list);
        list.insert(0, rule(glob, "deny"));
        prop_assert!(verdict(&list) >= before);
        if interrupt {
            list[0] = rule(glob, "interrupt");
            let denied_later = before == Decision::Deny;
            // The first match speaks: an interrupt in front of a deny asks instead, as the order says.
            prop_assert!(denied_later || verdict(&list) >= before);
        }
    }

    #[test]
    fn no_mode_and_no_rule_covers_a_hard_rule(
        allow in entries(), mode in proptest::sample::select(MODES), list in any::<bool>(),
        line in proptest::sample::select(&["rm -rf /", "rm -rf ~", "rm -rf .git", "cd / && rm -rf *", "echo > ~/.deepseek/config.toml"][..]),
    ) {
        let place = &*PLACE;
        let list = if list { "all" } else { "rm" };
        let setup = json!({"mode": mode, "shell_allow_list": list, "permissions": {"bash": {"allow": allow}, "allowed_dirs": ["/"]}});
        prop_assert_eq!(decide(&place.gate(setup), "bash", line).decision, Decision::Deny);
    }

    #[test]
    fn read_only_runs_and_changes_nothing(
        allow in entries(), line in proptest::sample::select(LINES), path in proptest::sample::select(PATHS),
    ) {
        let place = &*PLACE;
        let gate = place.gate(json!({"mode": "plan", "permissions": {"bash": {"allow": allow}}}));
        prop_assert_eq!(decide(&gate, "bash", line).decision, Decision::Deny);
        prop_assert_eq!(decide(&gate, "write_file", path).decision, Decision::Deny);
    }
}

/// The lines of a table that are expected to be decided in one of these ways.
fn expected(name: &str, decisions: &[&str]) -> usize {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures/permission")
        .join(name);
    let text = std::fs::read_to_string(path).unwrap();
    let cases: Vec<&str> = text
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with(['#', '@']))
        .collect();
    let fit = |line: &&&str| decisions.iter().any(|decision| line.starts_with(decision));
    assert_eq!(cases.iter().filter(fit).count(), cases.len(), "{name}");
    cases.len()
}

/// `tables` runs them; here only that no trick may be written down as allowed, and nothing harmless as asked.
#[test]
fn the_tables_of_tricks_and_of_harmless_commands_are_large() {
    assert!(expected("attacks.txt", &["ask bash ", "deny:hard bash "]) >= 500);
    assert!(expected("harmless.txt", &["allow bash "]) >= 150);
}

#[test]
fn for_a_shell_of_another_grammar_nothing_runs_unasked() {
    let place = Place::new();
    let home = place.top.join("home");
    let setup = json!({"permissions": {"bash": {"allow": ["make *"], "deny": ["npm *"]}}});
    let loaded = load(&LoadInput {
        home: Some(home.clone()),
        project_root: place.top.join("ws"),
        setup,
        ..LoadInput::default()
    });
    let gate = Gate::new(GateSetup {
        cwd: place.top.join("ws"),
        home: Some(home.clone()),
        config: loaded.config,
        user_file: user_file(&home),
        foreign_shell: Some("zsh".into()),
        ..GateSetup::default()
    });
    for line in ["ls", "make", "git status"] {
        let verdict = decide(&gate, "bash", line);
        assert_eq!(verdict.decision, Decision::Ask, "{line}");
        assert!(verdict.reason.contains("zsh"), "{}", verdict.reason);
    }
    assert_eq!(decide(&gate, "bash", "npm x").decision, Decision::Deny);
}
