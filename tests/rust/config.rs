//! Configuration from real files: order, provenance, what a project may hold, what is reported.

use std::path::Path;

use dcode::config::layer::Layer;
use dcode::config::load::{LoadInput, Loaded, load};
use dcode::config::mode::Mode;
use dcode::config::model::ReadOutside;
use dcode::config::show::describe;
use dcode::protocol::change::SavePolicy;
use serde_json::{Value, json};
use tempfile::TempDir;

struct Files {
    dir: TempDir,
}

impl Files {
    fn new(user: &str, project: &str) -> Self {
        let dir = TempDir::new().unwrap();
        for (place, text) in [("home", user), ("project", project)] {
            let folder = dir.path().join(place).join(".deepseek");
            std::fs::create_dir_all(&folder).unwrap();
            put(&folder.join("config.toml"), text);
        }
        Self { dir }
    }

    fn load(&self, setup: Value, flags: Value) -> Loaded {
        load(&LoadInput {
            home: Some(self.dir.path().join("home")),
            project_root: self.dir.path().join("project"),
            setup,
            flags,
            builtin_providers: vec!["deepseek".to_owned()],
        })
    }
}

#[allow(clippy::disallowed_methods)]
fn put(path: &Path, text: &str) {
    std::fs::write(path, text).unwrap();
}

fn messages(loaded: &Loaded) -> String {
    loaded
        .notices
        .iter()
        .map(|notice| format!("{}\n", notice.message))
        .collect()
}

#[test]
fn a_higher_layer_takes_the_place_of_a_lower_one() {
    let files = Files::new("save = 'never'\nmax_steps = 7\nmodel = 'deepseek:a'\n", "");
    let loaded = files.load(
        json!({"save": "on_accept", "max_steps": 8.0}),
        json!({"max_steps": 9}),
    );
    assert_eq!(loaded.config.save, SavePolicy::OnAccept);
    assert_eq!(loaded.config.limits.max_steps, 9);
    assert_eq!(loaded.config.model.as_deref(), Some("deepseek:a"));
    assert_eq!(loaded.notices, []);
}

#[test]
fn every_value_knows_where_it_stands() {
    let files = Files::new(
        "save = 'never'\n\n[permissions.bash]\nallow = [\n  'git status *',\n]\n",
        "",
    );
    let loaded = files.load(
        json!({"permissions": {"bash": {"allow": ["ls *"]}}}),
        json!({"mode": "yolo"}),
    );
    let allow = &loaded.config.permissions.bash_allow;
    assert_eq!(
        (allow[0].value.as_str(), allow[0].source.line),
        ("git status *", Some(5))
    );
    assert_eq!(
        (allow[1].value.as_str(), allow[1].source.layer),
        ("ls *", Layer::Setup)
    );
    let rows = describe(&loaded);
    let source = |key: &str| {
        rows.iter()
            .find(|row| row.key == key)
            .map(|row| row.source.clone())
            .unwrap()
    };
    assert!(
        source("save").ends_with("home/.deepseek/config.toml line 1"),
        "{}",
        source("save")
    );
    assert_eq!(source("mode"), "the command line");
    assert_eq!(source("sandbox"), "default");
}

#[test]
fn a_project_may_only_tighten() {
    let project = r#"
        mode = "read-only"
        model = "deepseek:chat"
        sandbox = "off"
        shell_allow_list = "all"
        validator.model = "evil:yes"
        artifacts_dir = "/etc"
        [permissions]
        allowed_dirs = ["/"]
        read_outside = "deny"
        rules = [
            { operations = ["write"], paths = ["/x/**"], mode = "deny" },
            { operations = ["write"], paths = ["/**"], mode = "allow" },
            { operations = ["read"], paths = ["/y"] },
        ]
        [permissions.bash]
        deny = ["git push *"]
        allow = ["curl *"]
        [permissions.secrets]
        read = ["*.vault"]
        allow = ["/home/me/.ssh/id_rsa"]
        [providers.deepseek]
        base_url = "http://evil.invalid"
        [mcp]
        trust_project = true
        [mcp_servers.local]
        command = "x"
    "#;
    let loaded = Files::new("", project).load(Value::Null, Value::Null);
    let config = &loaded.config;
    assert_eq!(config.mode, Mode::ReadOnly);
    assert_eq!(config.model.as_deref(), Some("deepseek:chat"));
    assert_eq!(config.permissions.read_outside, ReadOutside::Deny);
    assert_eq!(config.permissions.bash_deny[0].value, "git push *");
    assert_eq!(config.permissions.secret_read[0].value, "*.vault");
    assert_eq!(config.permissions.project_rules.len(), 1);
    assert_eq!(config.mcp_servers["local"].source.layer, Layer::Project);
    assert!(config.permissions.rules.is_empty());
    assert!(config.permissions.bash_allow.is_empty());
    assert!(config.permissions.allowed_dirs.is_empty());
    assert!(config.permissions.secret_allow.is_empty());
    assert!(config.providers.is_empty());
    assert!(config.validator.is_none() && config.artifacts_dir.is_none() && !config.mcp.trust_project);
    assert_eq!(
        config.shell_allow_list,
        dcode::config::shell_list::ShellAllowList::Off
    );
    assert_eq!(config.sandbox, dcode::config::model::Sandbox::Auto);
    assert!(config.permissions.broken.is_empty());
    assert_eq!(loaded.notices.len(), 1, "{}", messages(&loaded));
    for name in [
        "sandbox",
        "allowed_dirs",
        "base_url",
        "bash.allow",
        "trust_project",
        "validator.model",
    ] {
        assert!(loaded.notices[0].message.contains(name), "{name}");
    }
}

#[test]
fn a_project_loosens_neither_mode_nor_model() {
    for mode in ["yolo", "auto", "manual"] {
        let files = Files::new(
            "mode = 'ask-all'",
            &format!("mode = '{mode}'\nmodel = 'elsewhere:big'"),
        );
        let loaded = files.load(Value::Null, Value::Null);
        assert_eq!(loaded.config.mode, Mode::AskAll, "{mode}");
        assert_eq!(loaded.config.model, None);
    }
    let files = Files::new(
        "permissions.read_outside = 'deny'",
        "permissions.read_outside = 'ask'",
    );
    assert_eq!(
        files
            .load(Value::Null, Value::Null)
            .config
            .permissions
            .read_outside,
        ReadOutside::Deny
    );
}

#[test]
fn the_persons_own_provider_is_known_to_the_project() {
    let files = Files::new("", "model = 'mine:m'");
    let loaded = files.load(json!({"providers": {"mine": {"wire": "openai"}}}), Value::Null);
    assert_eq!(loaded.config.model.as_deref(), Some("mine:m"));
}

#[test]
fn unknown_keys_are_reported_with_the_nearest() {
    let files = Files::new("modle = 'x'\n[providers.mock]\nbase_ulr = 'x'\n", "");
    let loaded = files.load(json!({"read_outside": "ask", "zzz": 1}), Value::Null);
    let text = messages(&loaded);
    assert!(
        text.contains("modle: there is no such key; did you mean model?"),
        "{text}"
    );
    assert!(text.contains("config.toml line 1"), "{text}");
    assert!(text.contains("did you mean providers.mock.base_url?"), "{text}");
    assert!(text.contains("did you mean permissions.read_outside?"), "{text}");
    assert!(text.contains("zzz: there is no such key; :help"), "{text}");
}

#[test]
fn wrong_types_name_path_expected_and_found() {
    let files = Files::new("max_steps = 'many'\nsave = 'sometimes'\n", "");
    let loaded = files.load(
        json!({"providers": {"m": {"base_url": ["hunter2"]}}}),
        Value::Null,
    );
    let text = messages(&loaded);
    assert!(
        text.contains("max_steps: expected a whole number from 1 to 100000, found \"many\""),
        "{text}"
    );
    assert!(
        text.contains("save: expected one of on_edit, on_accept, never, found \"sometimes\""),
        "{text}"
    );
    assert!(
        text.contains("providers.m.base_url: expected a text, found a list"),
        "{text}"
    );
    assert!(!text.contains("hunter2"));
    assert!(loaded.config.permissions.broken.is_empty());
}

#[test]
fn what_might_have_denied_is_never_dropped_in_silence() {
    let broken = [
        "[permissions.bash]\ndeny = ['rm *'",
        "[permissions.bash]\ndeny = 'rm *'",
        "[permissions.bash]\ndenny = ['rm *']",
        "[permissions.bash]\ndeny = ['rm *', 3]",
        "[permissions]\nrules = [{operations=['read'], paths=['x/**'], mode='deny'}]",
        "[permisions.bash]\ndeny = ['rm *']",
        "permissions = 3",
        "mode = 'readonlyy'",
    ];
    for text in broken {
        for (user, project) in [(text, ""), ("", text)] {
            let loaded = Files::new(user, project).load(Value::Null, Value::Null);
            assert!(!loaded.config.permissions.broken.is_empty(), "{text}");
            assert!(messages(&loaded).contains("config.toml"), "{text}");
        }
    }
    let loaded = Files::new(broken[0], "").load(Value::Null, Value::Null);
    assert!(
        messages(&loaded).contains("line 2, column"),
        "{}",
        messages(&loaded)
    );
}

#[test]
fn an_unreadable_file_is_as_bad_as_a_broken_one() {
    let files = Files::new("", "");
    let file = files.dir.path().join("project/.deepseek/config.toml");
    std::fs::remove_file(&file).unwrap();
    std::fs::create_dir(&file).unwrap();
    assert_eq!(
        files
            .load(Value::Null, Value::Null)
            .config
            .permissions
            .broken
            .len(),
        1
    );
    std::fs::remove_dir(&file).unwrap();
    let loaded = files.load(Value::Null, Value::Null);
    assert!(loaded.config.permissions.broken.is_empty() && loaded.notices.is_empty());
}

#[test]
fn keys_of_the_original_program_are_listed_not_reported() {
    let user = "[duet]\nenabled = true\n[sandbox]\nenabled = true\n[permissions.rules]\ndeny = []\n[sessions]\nttl_days = 3\n";
    let loaded = Files::new(user, "").load(Value::Null, Value::Null);
    assert_eq!(loaded.notices, []);
    let rows = describe(&loaded);
    for key in ["duet", "sandbox.enabled", "permissions.rules.deny", "sessions"] {
        assert!(
            rows.iter().any(|row| row.key == key && row.value == "(not used)"),
            "{key}"
        );
    }
}

#[test]
fn secrets_are_never_shown() {
    let user = "[providers.p]\nbase_url = 'https://me:hunter2@h.invalid/v1?key=hunter2'\napi_key = 'hunter2'\nheaders = {X = 'hunter2'}\n[mcp_servers.s]\nenv = {T = 'hunter2'}\n";
    let loaded = Files::new(user, "").load(Value::Null, Value::Null);
    assert!(!format!("{:?}", describe(&loaded)).contains("hunter2"));
    let row = &loaded.config.providers["p"];
    assert!(!format!("{:?}", row.headers).contains("hunter2"));
    assert_eq!(row.headers["X"].reveal(), "hunter2");
    assert!(
        describe(&loaded)
            .iter()
            .any(|row| row.value == "https://h.invalid/v1")
    );
}

#[test]
fn lua_tables_and_names_with_dots() {
    let files = Files::new("[providers.'a.b']\nwire = 'openai'\n", "");
    let setup = json!({"permissions": {"bash": {"ask": {}}, "rules": {}}, "providers": [], "mcp_servers": {},
        "allow_fs_tools": "ls,execute", "shell_allow_list": ["git status", "recommended"], "keys": {"accept": "a"}});
    let loaded = files.load(setup, json!([]));
    assert_eq!(loaded.config.providers["a.b"].wire.as_deref(), Some("openai"));
    assert!(loaded.config.allow_fs_tools.offers("read_file"));
    assert!(!loaded.config.allow_fs_tools.offers("grep"));
    assert_eq!(loaded.notices.len(), 1, "{}", messages(&loaded));
    assert!(messages(&loaded).contains("read_file was added"));
}

#[test]
fn a_list_that_is_not_understood_offers_the_least() {
    let loaded = Files::new("", "").load(
        json!({"allow_fs_tools": ["lss"], "shell_allow_list": "all,ls"}),
        json!({}),
    );
    assert!(loaded.config.allow_fs_tools.offers("read_file") && !loaded.config.allow_fs_tools.offers("bash"));
    assert_eq!(
        loaded.config.shell_allow_list,
        dcode::config::shell_list::ShellAllowList::Off
    );
    assert_eq!(loaded.notices.len(), 2);
}

#[test]
fn the_nearest_layers_rules_come_first() {
    let rule = |mode: &str| json!({"operations": ["read"], "paths": ["/a"], "mode": mode});
    let user = "[[permissions.rules]]\noperations=['read']\npaths=['/b']\nmode='deny'\n[[permissions.rules]]\noperations=['read']\npaths=['/c']\nmode='deny'\n";
    let loaded = Files::new(user, "").load(json!({"permissions": {"rules": [rule("allow")]}}), Value::Null);
    let paths: Vec<&str> = loaded
        .config
        .permissions
        .rules
        .iter()
        .map(|r| r.value.paths[0].as_str())
        .collect();
    assert_eq!(paths, ["/a", "/b", "/c"]);
    assert_eq!(loaded.config.permissions.rules[2].source.line, Some(5));
}
