//! What the person has allowed: listed with its place, taken back, and said in verdicts.

use std::path::Path;

use dcode::config::load::{LoadInput, load, user_file};
use dcode::permission::access::Access;
use dcode::permission::decision::{Decision, Verdict};
use dcode::permission::facts::Facts;
use dcode::permission::gate::{Gate, GateSetup};
use dcode::protocol::grant::{Grant, GrantKind};
use dcode::protocol::request::Choice;
use dcode::protocol::tool::ToolClass;
use serde_json::{Value, json};
use tempfile::TempDir;

/// A project, a home, and a gate over both.
struct House {
    dir: TempDir,
}

impl House {
    fn new(config: &str) -> Self {
        let dir = TempDir::new().unwrap();
        for folder in ["home/.deepseek", "ws", "outside"] {
            std::fs::create_dir_all(dir.path().join(folder)).unwrap();
        }
        dcode::fs::atomic::write(
            &dir.path().join("home/.deepseek/config.toml"),
            config.as_bytes(),
            None,
        )
        .unwrap();
        Self { dir }
    }

    fn path(&self, below: &str) -> std::path::PathBuf {
        self.dir.path().canonicalize().unwrap().join(below)
    }

    fn config(&self) -> String {
        std::fs::read_to_string(self.path("home/.deepseek/config.toml")).unwrap()
    }

    fn setup(&self, setup: Value) -> GateSetup {
        let home = self.path("home");
        let loaded = load(&LoadInput {
            home: Some(home.clone()),
            project_root: self.path("ws"),
            setup,
            ..LoadInput::default()
        });
        GateSetup {
            cwd: self.path("ws"),
            home: Some(home.clone()),
            config: loaded.config,
            user_file: user_file(&home),
            ..GateSetup::default()
        }
    }

    fn gate(&self, setup: Value) -> Gate {
        Gate::new(self.setup(setup))
    }

    /// The gate takes the configuration as it stands now.
    fn reload(&self, gate: &Gate) {
        gate.reload(self.setup(Value::Null).config);
    }
}

fn line(gate: &Gate, line: &str) -> Verdict {
    judged(gate, "bash", ToolClass::Execute, &[Access::Run(line.to_owned())])
}

fn judged(gate: &Gate, tool: &str, class: ToolClass, access: &[Access]) -> Verdict {
    gate.decide(&Facts { tool, class, access }, true)
}

fn remember(gate: &Gate, line: &str, choice: Choice) {
    let access = [Access::Run(line.to_owned())];
    let facts = Facts {
        tool: "bash",
        class: ToolClass::Execute,
        access: &access,
    };
    gate.remember(&facts, choice).unwrap();
}

fn named<'a>(grants: &'a [Grant], text: &str) -> &'a Grant {
    grants.iter().find(|grant| grant.text == text).unwrap()
}

#[test]
fn grants_are_listed_in_the_order_in_which_they_are_judged() {
    let house = House::new(
        "[permissions.bash]\ndeny = ['npm *']\nask = ['make *']\nallow = ['cargo *']\n\
         [[permissions.rules]]\noperations = ['read', 'write']\npaths = ['/a', '/b/**']\nmode = 'interrupt'\n",
    );
    let gate = house.gate(json!({"permissions": {"bash": {"allow": ["go *"]}}}));
    remember(&gate, "mkdir x", Choice::Session);
    let listed: Vec<(GrantKind, String, String, bool)> = gate
        .grants()
        .into_iter()
        .map(|grant| (grant.kind, grant.mode, grant.text, grant.revocable))
        .collect();
    let row = |kind, mode: &str, text: &str, revocable| (kind, mode.to_owned(), text.to_owned(), revocable);
    assert_eq!(listed[0], row(GrantKind::Session, "allow", "mkdir *", true));
    assert_eq!(listed[1], row(GrantKind::Command, "deny", "npm *", false));
    assert_eq!(listed[2], row(GrantKind::Command, "ask", "make *", false));
    assert!(listed.contains(&row(GrantKind::Command, "allow", "cargo *", true)));
    assert!(
        listed.contains(&row(GrantKind::Command, "allow", "go *", false)),
        "a setup is not written"
    );
    assert_eq!(
        listed.last(),
        Some(&row(GrantKind::Rule, "ask", "read, write /a, /b/**", false))
    );
    let grants = gate.grants();
    let cargo = named(&grants, "cargo *");
    assert_eq!(
        (cargo.file.as_deref(), cargo.line),
        (Some(house.path("home/.deepseek/config.toml").as_path()), Some(4))
    );
}

#[test]
fn an_answer_of_the_session_is_taken_back_and_the_others_stay() {
    let house = House::new("");
    let gate = house.gate(Value::Null);
    remember(&gate, "mkdir x", Choice::Session);
    remember(&gate, "cargo build", Choice::Session);
    let grants = gate.grants();
    gate.revoke(named(&grants, "mkdir *")).unwrap();
    assert_eq!(line(&gate, "mkdir x").decision, Decision::Ask);
    assert_eq!(line(&gate, "cargo build").decision, Decision::Allow);
    let gone = gate.revoke(named(&grants, "mkdir *")).unwrap_err();
    assert!(gone.contains("`mkdir *` is not remembered any more"), "{gone}");
}

#[test]
fn an_answer_for_good_leaves_the_file_and_the_session() {
    let house = House::new("# mine\n[permissions.bash]\nallow = ['ls *']\n");
    let gate = house.gate(Value::Null);
    remember(&gate, "git push origin dev", Choice::Always);
    house.reload(&gate);
    let grants = gate.grants();
    let pushed: Vec<GrantKind> = grants
        .iter()
        .filter(|grant| grant.text == "git push *")
        .map(|grant| grant.kind)
        .collect();
    assert_eq!(pushed, [GrantKind::Session, GrantKind::Command]);
    let kept = grants.iter().rfind(|grant| grant.text == "git push *").unwrap();
    gate.revoke(kept).unwrap();
    assert_eq!(house.config(), "# mine\n[permissions.bash]\nallow = ['ls *']\n");
    house.reload(&gate);
    assert_eq!(line(&gate, "git push origin dev").decision, Decision::Ask);
    let again = gate.revoke(kept).unwrap_err();
    assert!(again.contains("not in it any more"), "{again}");
}

#[test]
fn a_path_answer_for_good_is_taken_back_though_it_is_written_as_a_pattern() {
    let house = House::new("");
    let gate = house.gate(Value::Null);
    let access = [Access::Write(house.path("outside/a[1].txt"))];
    let facts = Facts {
        tool: "write_file",
        class: ToolClass::Mutate,
        access: &access,
    };
    gate.remember(&facts, Choice::Always).unwrap();
    house.reload(&gate);
    assert_eq!(gate.decide(&facts, true).decision, Decision::Allow);
    let grants = gate.grants();
    let rule = grants.iter().find(|grant| grant.kind == GrantKind::Rule).unwrap();
    assert!(
        rule.revocable && rule.text.ends_with(r"outside/a\[1\].txt"),
        "{rule:?}"
    );
    gate.revoke(rule).unwrap();
    house.reload(&gate);
    assert_eq!(gate.decide(&facts, true).decision, Decision::Ask);
    assert!(gate.grants().is_empty());
}

#[test]
fn what_stands_elsewhere_is_not_taken_back() {
    let house = House::new("[permissions.bash]\ndeny = ['npm *']\n");
    let gate = house.gate(json!({"permissions": {"bash": {"allow": ["go *"]}}}));
    let grants = gate.grants();
    for text in ["go *", "npm *"] {
        let refused = gate.revoke(named(&grants, text)).unwrap_err();
        assert!(refused.contains("change it there"), "{refused}");
    }
    assert_eq!(line(&gate, "go build").decision, Decision::Allow);
    assert_eq!(house.config(), "[permissions.bash]\ndeny = ['npm *']\n");
}

#[test]
fn a_broken_file_says_why_nothing_was_taken_back() {
    let house = House::new("[permissions.bash]\nallow = ['go *']\n");
    let gate = house.gate(Value::Null);
    let grants = gate.grants();
    let file = house.path("home/.deepseek/config.toml");
    dcode::fs::atomic::write(&file, b"[permissions\n", None).unwrap();
    let problem = gate.revoke(named(&grants, "go *")).unwrap_err();
    assert!(
        problem.starts_with("Nothing was taken back: ")
            && problem.contains("cannot be understood (TOML parse error at line 1")
            && !problem.contains('\n'),
        "{problem}"
    );
}

#[test]
fn a_rule_says_where_it_stands_and_what_changes_it() {
    let house = House::new("[permissions.bash]\ndeny = ['npm *']\n");
    let gate = house.gate(json!({"permissions": {"bash": {"deny": ["go *"]}}}));
    let rule = line(&gate, "npm x").rule;
    let file = house.path("home/.deepseek/config.toml");
    assert!(
        rule.ends_with(&format!("; :edit +2 {} changes it", file.display())),
        "{rule}"
    );
    let rule = line(&gate, "go build").rule;
    assert!(rule.ends_with("; your Neovim config changes it"), "{rule}");
    let asks = line(&house.gate(Value::Null), "mkdir x").rule;
    assert!(asks.contains("`mkdir *` in permissions.bash.allow"), "{asks}");
}

#[test]
fn a_link_is_named_with_where_it_leads() {
    let house = House::new("");
    std::os::unix::fs::symlink(house.path("outside"), house.path("ws/out")).unwrap();
    let gate = house.gate(Value::Null);
    let reason = |path: &str| {
        let access = [Access::Write(path.into())];
        judged(&gate, "write_file", ToolClass::Mutate, &access).reason
    };
    let (link, real) = (house.path("ws/out/x"), house.path("outside/x"));
    let named = format!("{} (a link to {})", link.display(), real.display());
    assert!(reason("out/x").contains(&named), "{}", reason("out/x"));
    let plain = reason(&real.display().to_string());
    assert!(!plain.contains("a link to"), "{plain}");
}

#[test]
fn deleting_a_folder_names_every_rule_that_denies_something_in_it() {
    let house = House::new("");
    std::fs::create_dir_all(house.path("ws/docs/private")).unwrap();
    let paths: Vec<String> = ["docs/private/**", "docs/*.md", "docs/private/**"]
        .iter()
        .map(|below| house.path("ws").join(below).display().to_string())
        .collect();
    let rule = |paths: &[String]| json!({"operations": ["write"], "paths": paths, "mode": "deny"});
    let rules = [rule(&paths), rule(&paths)];
    let gate = house.gate(json!({"permissions": {"rules": rules}}));
    let delete = |path: &str| {
        let access = [Access::Delete(path.into())];
        judged(&gate, "delete", ToolClass::Mutate, &access)
    };
    let verdict = delete("docs");
    assert_eq!(verdict.decision, Decision::Deny);
    let both = format!("({}, {})", paths[0], paths[1]);
    assert!(verdict.reason.contains(&both), "{}", verdict.reason);
    // The link goes, not what it leads to.
    std::os::unix::fs::symlink("docs", house.path("ws/link")).unwrap();
    assert_eq!(delete("link").decision, Decision::Allow);
}

#[test]
fn walls_let_run_what_cannot_leave_them() {
    let house = House::new("");
    let gate = |sandboxed: bool, auto: bool| {
        Gate::new(GateSetup {
            sandboxed,
            ..house.setup(json!({"sandbox_auto_allow": auto}))
        })
    };
    let walls = gate(true, true);
    assert_eq!(line(&walls, "mkdir x && prog y").decision, Decision::Allow);
    assert_eq!(line(&walls, "rm x").decision, Decision::Ask, "it may destroy");
    assert_eq!(
        line(&walls, "mkdir \"").decision,
        Decision::Ask,
        "it cannot be judged"
    );
    let leaves = [Access::Run("mkdir x".into()), Access::OutsideSandbox];
    let verdict = judged(&walls, "bash", ToolClass::Execute, &leaves);
    assert_eq!(verdict.decision, Decision::Ask);
    for weaker in [gate(true, false), gate(false, true)] {
        assert_eq!(line(&weaker, "mkdir x").decision, Decision::Ask);
    }
    assert!(walls.runs_unasked("mkdir x") && !walls.runs_unasked("rm x"));
}

#[test]
fn a_line_that_a_rule_or_an_answer_lets_run_does_not_run_by_itself() {
    let house = House::new("");
    let gate = house.gate(json!({"permissions": {"bash": {"allow": ["make *"]}}}));
    remember(&gate, "mkdir x", Choice::Session);
    assert!(gate.runs_unasked("ls") && gate.runs_unasked("ls && cat a"));
    for line in ["make", "mkdir x", "ls && make", "rm x", "rm -rf /"] {
        assert!(!gate.runs_unasked(line), "{line}");
    }
    let yolo = house.gate(json!({"mode": "yolo"}));
    assert!(!yolo.runs_unasked("ls"), "the mode speaks, not the line");
}

#[test]
fn what_is_grave_is_said_in_a_sentence() {
    let house = House::new("");
    let gate = house.gate(Value::Null);
    let foreign = judged(&gate, "srv_do", ToolClass::Foreign, &[]);
    assert_eq!(
        foreign.grave.as_deref(),
        Some("What srv_do does is not known beforehand.")
    );
    assert_eq!(
        line(&gate, "rm x").grave.as_deref(),
        Some("`rm x` may destroy something.")
    );
    let outside = house.path("outside/x");
    let written = line(&gate, &format!("touch {}", outside.display()))
        .grave
        .unwrap();
    assert!(
        written.ends_with(&format!("may write {}.", outside.display())),
        "{written}"
    );
    assert_eq!(line(&gate, "touch /dev/null").grave, None);
}

#[test]
fn a_bare_repository_is_the_persons_own_and_another_is_not() {
    let house = House::new("");
    for (folder, file) in [("ws", "HEAD"), ("outside", "HEAD")] {
        std::fs::create_dir_all(house.path(folder).join("objects")).unwrap();
        std::fs::create_dir_all(house.path(folder).join("refs")).unwrap();
        dcode::fs::atomic::write(&house.path(folder).join(file), b"ref: x\n", None).unwrap();
    }
    let gate = house.gate(Value::Null);
    assert_eq!(line(&gate, "git status").decision, Decision::Allow);
    let there = format!("cd {} && git status", house.path("outside").display());
    let verdict = line(&gate, &there);
    assert_eq!(verdict.decision, Decision::Ask);
    assert!(
        verdict.reason.contains("takes for a repository"),
        "{}",
        verdict.reason
    );
    let own = [Access::Write(Path::new("config").to_owned())];
    assert_eq!(
        judged(&gate, "write_file", ToolClass::Mutate, &own).decision,
        Decision::Ask,
        "its config can run programs"
    );
}
