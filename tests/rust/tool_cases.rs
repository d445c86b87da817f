//! Runs the file tools on every case of `tests/fixtures/tools`, behind the real gate, snapshot and offloading,
//! as a model's call runs. A new case needs no code.
//!
//! A case is a TOML file: `why`, what lies there (`files`, `folders`, `links`, `buffers`), `config` as in
//! `setup()`, the calls in order, and `after`: all files afterwards (without it: as before). Bytes are written
//! with `\n`, `\r`, `\t`, `\\` and `\xNN`; `{root}` is the project's path. A content may be a list of
//! `[text, times]`. Of a call: `outcome` is `ok`, `failed`, `denied` or `asked` (the person says no); `is` is the
//! whole answer, `says` and `never` are pieces that are in it or not; `lines` are all lines but notes in
//! parentheses; `shorter_than` is in bytes.

use std::collections::BTreeMap;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use dcode::config::load::{self, LoadInput};
use dcode::host::{Answer, Human, HumanError};
use dcode::offload::OffloadDir;
use dcode::permission::gate::{Gate, GateSetup};
use dcode::protocol::ids::{SessionId, StepIx, TurnId};
use dcode::protocol::request::{Approval, Choice, Question};
use dcode::protocol::tool::Outcome;
use dcode::shell::env::Shell;
use dcode::shell::watchdog::Watchdog;
use dcode::snapshot::{SnapshotDirs, SnapshotStore};
use dcode::tools::bash::Bash;
use dcode::tools::batch::Batch;
use dcode::tools::builtin::{self, Services};
use dcode::tools::dispatch::{Dispatcher, Place};
use dcode::tools::finished::Finished;
use dcode::tools::locks::PathLocks;
use dcode::tools::registry::Registry;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::edit_cases::bytes;
use crate::project::Project;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    /// What the case is about; shown when it fails.
    why: String,
    #[serde(default)]
    files: BTreeMap<String, Content>,
    #[serde(default)]
    folders: Vec<String>,
    /// Name and what it says.
    #[serde(default)]
    links: BTreeMap<String, String>,
    /// Files that are open, with unsaved text.
    #[serde(default)]
    buffers: BTreeMap<String, String>,
    #[serde(default)]
    config: Option<Value>,
    call: Vec<Call>,
    after: Option<BTreeMap<String, Content>>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Content {
    Plain(String),
    Repeated(Vec<(String, usize)>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Call {
    tool: String,
    args: Value,
    #[serde(default = "ok")]
    outcome: String,
    is: Option<String>,
    lines: Option<Vec<String>>,
    #[serde(default)]
    says: Vec<String>,
    #[serde(default)]
    never: Vec<String>,
    shorter_than: Option<usize>,
    /// Somebody else writes these before the call.
    #[serde(default)]
    meanwhile: BTreeMap<String, String>,
}

fn ok() -> String {
    "ok".to_owned()
}

impl Content {
    fn bytes(&self, root: &str) -> Vec<u8> {
        match self {
            Self::Plain(text) => bytes(&text.replace("{root}", root)),
            Self::Repeated(parts) => parts
                .iter()
                .flat_map(|(text, times)| bytes(text).repeat(*times))
                .collect(),
        }
    }
}

/// Says no to everything, and counts.
#[derive(Default)]
struct Refuser(Mutex<usize>);

#[async_trait]
impl Human for Refuser {
    fn present(&self) -> bool {
        true
    }

    async fn approve(&self, _: Approval) -> Result<Answer, HumanError> {
        *self.0.lock().unwrap() += 1;
        Ok(Answer {
            decision: Choice::Deny,
            feedback: None,
            args: None,
            save: false,
        })
    }

    async fn ask(&self, _: Vec<Question>) -> Result<Option<Vec<Vec<String>>>, HumanError> {
        Ok(None)
    }
}

/// All built-in tools over a project, as a session has them.
pub struct Session {
    pub project: Project,
    pub offload: Arc<OffloadDir>,
    human: Arc<Refuser>,
    dispatcher: Dispatcher,
    registry: Registry,
    state: tempfile::TempDir,
}

impl Session {
    /// With a configuration as in `setup()`.
    pub fn new(config: &Value) -> Self {
        let project = Project::new();
        let state = tempfile::tempdir().unwrap();
        let real = state.path().canonicalize().unwrap();
        let setup = serde_json::from_str(
            &config
                .to_string()
                .replace("{root}", project.root.to_str().unwrap()),
        );
        let loaded = load::load(&LoadInput {
            home: Some(real.join("home")),
            project_root: project.root.clone(),
            setup: setup.unwrap(),
            ..LoadInput::default()
        });
        assert!(loaded.notices.is_empty(), "{:?}", loaded.notices);
        let offload = Arc::new(match &loaded.config.artifacts_dir {
            Some(chosen) => OffloadDir::chosen(chosen, "s"),
            None => OffloadDir::new(&real, "s"),
        });
        let gate = Gate::new(GateSetup {
            cwd: project.root.clone(),
            home: Some(real.join("home")),
            config: Arc::clone(&loaded.config),
            user_file: real.join("home/.deepseek/config.toml"),
            readable: vec![offload.path().to_owned()],
            ..GateSetup::default()
        });
        let human = Arc::new(Refuser::default());
        let watchdog = Arc::new(Watchdog::new());
        let mut registry = builtin::registry(Services {
            seen: Arc::default(),
            backend: Arc::new(project.backend.clone().with_offload(Arc::clone(&offload))),
            editor: project.editor.clone(),
            human: human.clone(),
            bash: Bash::new(
                Shell::new("/bin/sh"),
                watchdog,
                Vec::new(),
                Duration::from_secs(10),
            ),
            plan: Arc::new(|_| {}),
            reads: gate.read_filter(),
            offload: Arc::clone(&offload),
            may_delete: loaded.config.allow_fs_tools.offers("delete"),
            git_program: false,
        });
        registry.retain(|name| loaded.config.allow_fs_tools.offers(name));
        let dirs = SnapshotDirs {
            project: real.join("snapshots"),
            state: real.clone(),
        };
        let dispatcher = Dispatcher {
            effects: dcode::tools::shell_effects::ShellEffects::unseen(),
            gate: Arc::new(gate),
            human: human.clone(),
            editor: project.editor.clone(),
            snapshots: Arc::new(SnapshotStore::new(dirs, SessionId("s".to_owned()))),
            offload: Arc::clone(&offload),
            locks: PathLocks::default(),
            panel: project.no_judges(),
        };
        Self {
            project,
            offload,
            human,
            dispatcher,
            registry,
            state,
        }
    }

    /// A call as a model makes it; also whether the person was asked.
    pub async fn call(&self, tool: &str, args: &Value) -> (Finished, bool) {
        let tool = self.registry.find(tool).unwrap();
        let before = *self.human.0.lock().unwrap();
        let finished = match tool.prepare(&args.to_string(), &self.project.root) {
            Ok(prepared) => {
                let place = Place {
                    step: StepIx(1),
                    turn: TurnId(1),
                    limit: None,
                };
                let ctx = self.project.ctx();
                self.dispatcher
                    .dispatch(tool, prepared, place, ctx, &Batch::default())
                    .await
            }
            Err(error) => Finished::unfit(&error),
        };
        let asked = *self.human.0.lock().unwrap() > before;
        (finished, asked)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_case_holds() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/tools");
    let mut wrong = Vec::new();
    let mut count = 0;
    for kind in std::fs::read_dir(folder).unwrap() {
        for entry in std::fs::read_dir(kind.unwrap().path()).unwrap() {
            let path = entry.unwrap().path();
            let text = std::fs::read_to_string(&path).unwrap();
            let case: Case =
                toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            let about = format!("{}: {}", path.display(), case.why);
            wrong.extend(
                run(&case)
                    .await
                    .into_iter()
                    .map(|what| format!("{about}\n  {what}")),
            );
            count += 1;
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert!(count > 40, "only {count} cases found");
}

/// What is wrong, one sentence each.
async fn run(case: &Case) -> Vec<String> {
    let session = Session::new(case.config.as_ref().unwrap_or(&json!({})));
    let root = session.project.root.to_str().unwrap().to_owned();
    for folder in &case.folders {
        std::fs::create_dir_all(session.project.root.join(folder)).unwrap();
    }
    for (name, content) in &case.files {
        session.project.file(name, &content.bytes(&root));
    }
    for (name, target) in &case.links {
        symlink(target, session.project.root.join(name)).unwrap();
    }
    for (name, text) in &case.buffers {
        let text = String::from_utf8(bytes(text)).unwrap();
        session
            .project
            .editor
            .load(&session.project.root.join(name), &text, true);
    }
    let before = files(&session.project.root);
    let mut wrong = Vec::new();
    for (nth, call) in case.call.iter().enumerate() {
        for (name, content) in &call.meanwhile {
            session.project.file(name, &bytes(content));
        }
        let args = serde_json::from_str(&call.args.to_string().replace("{root}", &root)).unwrap();
        let (finished, asked) = session.call(&call.tool, &args).await;
        let say = |what: String| format!("call {} ({} {args}): {what}", nth + 1, call.tool);
        wrong.extend(judge(call, &finished, asked, &root).into_iter().map(say));
    }
    let after = case.after.as_ref().map_or(before, |after| {
        let line = |(name, content): (&String, &Content)| (name.clone(), content.bytes(&root));
        after.iter().map(line).collect()
    });
    let found = files(&session.project.root);
    let shown = |files: &BTreeMap<String, Vec<u8>>| -> Vec<String> {
        let line = |(name, bytes): (&String, &Vec<u8>)| {
            let mut text = format!("{name}: {}", bytes.escape_ascii());
            text.truncate(2_000);
            text
        };
        files.iter().map(line).collect()
    };
    if found != after {
        wrong.push(format!(
            "there is\n    {}\n  instead of\n    {}",
            shown(&found).join("\n    "),
            shown(&after).join("\n    ")
        ));
    }
    drop(session.state);
    wrong
}

fn judge(call: &Call, finished: &Finished, asked: bool, root: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    let outcome = match finished.outcome {
        Outcome::Ok => "ok",
        Outcome::Denied if asked => "asked",
        Outcome::Denied => "denied",
        _ => "failed",
    };
    let text = &finished.text;
    let short: String = text.chars().take(3_000).collect();
    if outcome != call.outcome {
        wrong.push(format!("it is {outcome} and not {}: {short}", call.outcome));
    }
    if let Some(expected) = &call.is {
        let expected = String::from_utf8(bytes(&expected.replace("{root}", root))).unwrap();
        if *text != expected {
            wrong.push(format!("it says {short:?} and not {expected:?}"));
        }
    }
    if let Some(expected) = &call.lines {
        let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('(')).collect();
        if lines != *expected {
            wrong.push(format!("its lines are {lines:?} and not {expected:?}"));
        }
    }
    let real = |words: &String| words.replace("{root}", root);
    let unsaid = call.says.iter().map(real).filter(|words| !text.contains(words));
    wrong.extend(unsaid.map(|words| format!("{words:?} is not in: {short}")));
    let said = call.never.iter().map(real).filter(|words| text.contains(words));
    wrong.extend(said.map(|words| format!("{words:?} is in: {short}")));
    if let Some(most) = call.shorter_than
        && text.len() >= most
    {
        wrong.push(format!("it has {} bytes", text.len()));
    }
    wrong
}

/// All files below the project, links as what they say; temporary files that were left would be among them.
fn files(root: &Path) -> BTreeMap<String, Vec<u8>> {
    fn collect(root: &Path, folder: &Path, found: &mut BTreeMap<String, Vec<u8>>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(root).unwrap().display().to_string();
            if path.is_symlink() {
                let target = std::fs::read_link(&path).unwrap();
                found.insert(name, format!("-> {}", target.display()).into_bytes());
            } else if path.is_dir() {
                collect(root, &path, found);
            } else {
                found.insert(name, std::fs::read(&path).unwrap());
            }
        }
    }
    let mut found = BTreeMap::new();
    collect(root, root, &mut found);
    found
}
