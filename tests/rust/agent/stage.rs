//! An agent with everything around it: a project, a home, a model that plays replies, and a front end that
//! answers as Neovim would.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use dcode::agent::queue::{EventQueue, Waker};
use dcode::agent::runtime::{self, AgentHandle};
use dcode::agent::setup::Start;
use dcode::fs::atomic;
use dcode::host::{Editor as _, EditorError};
use dcode::protocol::event::{Event, Notice, TurnEnd};
use dcode::protocol::ids::{RequestId, TicketId, TurnId};
use dcode::protocol::op::{Op, PromptContext};
use dcode::protocol::request::{Choice, Reply, Request};
use dcode::protocol::tool::{CallResult, Outcome};
use futures_util::FutureExt as _;
use serde_json::{Value, json};

use super::laws;
use crate::fake_editor::FakeEditor;
use crate::model_server::{ModelServer, Reply as Say};

/// How long an event is waited for before the test fails.
const PATIENCE: Duration = Duration::from_secs(30);

/// What the front end does with a request.
pub enum Answer {
    /// The editor answers; the person says `once`, and takes the first option.
    Usual,
    /// This.
    With(Reply),
    /// It waits until [`Stage::answer_held`].
    Hold,
}

/// Wakes the test; can be told to panic in the agent's thread that wakes next.
#[derive(Default)]
pub struct Bell {
    state: Mutex<(u64, bool)>,
    rung: Condvar,
}

impl Bell {
    /// The next thread that wakes the front end panics.
    pub fn panic_next(&self) {
        self.state.lock().unwrap().1 = true;
    }

    fn rings(&self) -> u64 {
        self.state.lock().unwrap().0
    }

    fn wait_past(&self, seen: u64, deadline: Instant) -> bool {
        let left = deadline.saturating_duration_since(Instant::now());
        let state = self.state.lock().unwrap();
        let waited = self
            .rung
            .wait_timeout_while(state, left, |(rings, _)| *rings == seen)
            .unwrap();
        !waited.1.timed_out()
    }
}

struct Wake(Arc<Bell>);

impl Waker for Wake {
    fn wake(&self) {
        let panics = {
            let mut state = self.0.state.lock().unwrap();
            state.0 += 1;
            std::mem::take(&mut state.1)
        };
        self.0.rung.notify_all();
        assert!(!panics, "the test wants a panic here");
    }
}

/// How a turn ended.
#[derive(Debug, PartialEq)]
pub struct Ended {
    pub reason: TurnEnd,
    pub text: String,
    pub message: Option<String>,
}

/// A call that ended, as the front end hears of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Done {
    pub tool: String,
    pub outcome: Outcome,
    pub text: String,
}

/// What stands before an agent is started.
pub struct Backdrop {
    /// Removed in the end; `None` = somebody else's folder.
    dir: Option<tempfile::TempDir>,
    pub model: ModelServer,
    pub root: PathBuf,
    pub home: PathBuf,
    pub state: PathBuf,
    pub setup: Value,
    pub human: bool,
}

impl Backdrop {
    /// An empty project, and a configuration that names the model `mock:m`.
    pub fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mut backdrop = Self::at(dir.path());
        backdrop.dir = Some(dir);
        backdrop
    }

    /// The same in a folder that stays, with what lies there already.
    pub fn at(folder: &Path) -> Self {
        let base = std::fs::canonicalize(folder).unwrap();
        let model = ModelServer::start();
        let [root, home, state, tmp] = ["project", "home", "state", "tmp"].map(|name| {
            let path = base.join(name);
            std::fs::create_dir_all(&path).unwrap();
            path
        });
        let setup = json!({
            "model": "mock:m",
            "providers": { "mock": { "base_url": model.base_url() } },
            "bash": { "shell": "/bin/sh" },
            "artifacts_dir": tmp,
        });
        Self {
            dir: None,
            model,
            root,
            home,
            state,
            setup,
            human: true,
        }
    }

    /// Sets keys of the configuration.
    pub fn with(mut self, keys: &Value) -> Self {
        for (key, value) in keys.as_object().unwrap() {
            self.setup[key] = value.clone();
        }
        self
    }

    /// Nobody answers approvals of turns.
    pub fn without_human(mut self) -> Self {
        self.human = false;
        self
    }

    /// Puts a file into the project.
    pub fn file(self, name: &str, text: &str) -> Self {
        write(&self.root.join(name), text);
        self
    }

    pub fn start_info(&self) -> Start {
        Start {
            cwd: self.root.clone(),
            home: self.home.clone(),
            state_dir: self.state.clone(),
            setup: self.setup.clone(),
            flags: Value::Null,
            human: self.human,
            headless: false,
        }
    }

    /// Starts the agent.
    pub fn start(self) -> Stage {
        let bell = Arc::new(Bell::default());
        let events = Arc::new(EventQueue::new(Box::new(Wake(Arc::clone(&bell)))));
        let (agent, started) = runtime::spawn(self.start_info(), events).unwrap();
        assert_eq!(started.notices, [], "the configuration is sound");
        Stage {
            backdrop: self,
            agent,
            bell,
            editor: FakeEditor::default(),
            answer: Box::new(|_| Answer::Usual),
            held: VecDeque::new(),
            events: Vec::new(),
            faulty: false,
        }
    }
}

/// A running agent. Dropping it ends the agent and checks the laws over all events.
pub struct Stage {
    pub backdrop: Backdrop,
    pub agent: AgentHandle,
    pub bell: Arc<Bell>,
    pub editor: FakeEditor,
    answer: Box<dyn FnMut(&Request) -> Answer>,
    held: VecDeque<(RequestId, Request)>,
    /// All events that were taken.
    pub events: Vec<Event>,
    /// The agent itself is made to fail: its laws are not checked.
    pub faulty: bool,
}

impl Stage {
    /// An agent on an empty project.
    pub fn new() -> Self {
        Backdrop::new().start()
    }

    /// Decides about requests from now on.
    pub fn on_request(&mut self, answer: impl FnMut(&Request) -> Answer + 'static) {
        self.answer = Box::new(answer);
    }

    /// The person's word on approvals from now on.
    pub fn on_approval(&mut self, reply: Reply) {
        self.on_request(move |request| match request {
            Request::Approval(_) => Answer::With(reply.clone()),
            _ => Answer::Usual,
        });
    }

    /// Adds replies of the model.
    pub fn says(&self, replies: impl IntoIterator<Item = Say>) {
        for reply in replies {
            self.backdrop.model.push(reply);
        }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.backdrop.root.join(name)
    }

    pub fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        write(&path, text);
        path
    }

    /// What the disk holds; `None` when there is no such file.
    pub fn disk(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.path(name)).ok()
    }

    /// Sends a prompt.
    pub fn prompt(&self, text: &str) -> TurnId {
        let turn = self.agent.next_turn();
        self.submit(Op::Prompt {
            turn,
            text: text.into(),
            context: PromptContext::default(),
        });
        turn
    }

    /// Sends a call from Lua that somebody may be asked for.
    pub fn send_call(&self, tool: &str, args: Value, limit: Duration) -> TicketId {
        let ticket = self.agent.next_ticket();
        self.submit(Op::Call {
            ticket,
            tool: tool.into(),
            args,
            timeout_ms: limit.as_millis().try_into().unwrap(),
            human: true,
        });
        ticket
    }

    pub fn submit(&self, op: Op) {
        assert!(self.agent.submit(op), "the agent has ended");
    }

    /// Sends a prompt with what the model replies, and waits for the turn's end.
    pub fn turn(&mut self, text: &str, replies: impl IntoIterator<Item = Say>) -> Ended {
        self.says(replies);
        let turn = self.prompt(text);
        self.finish(turn)
    }

    /// Waits for a turn's end.
    pub fn finish(&mut self, turn: TurnId) -> Ended {
        let ended =
            self.since_the_start(|event| matches!(event, Event::TurnFinished { turn: t, .. } if *t == turn));
        let Event::TurnFinished {
            reason,
            text,
            message,
            ..
        } = ended
        else {
            unreachable!()
        };
        Ended {
            reason,
            text,
            message,
        }
    }

    /// Runs a call from Lua to its end.
    pub fn call(&mut self, tool: &str, args: Value) -> CallResult {
        let ticket = self.send_call(tool, args, PATIENCE);
        self.call_result(ticket)
    }

    pub fn call_result(&mut self, of: TicketId) -> CallResult {
        let done = self
            .since_the_start(|event| matches!(event, Event::CallFinished { ticket, .. } if *ticket == of));
        let Event::CallFinished { result, .. } = done else {
            unreachable!()
        };
        result
    }

    /// Undoes or redoes, and gives the answer.
    pub fn restore(&mut self, op: Op) -> (bool, String, Vec<PathBuf>) {
        self.submit(op);
        let Event::Restored {
            ok, message, paths, ..
        } = self.until(|event| matches!(event, Event::Restored { .. }))
        else {
            unreachable!()
        };
        (ok, message, paths)
    }

    /// The event that fits, if it was taken before; else it is waited for.
    fn since_the_start(&mut self, fits: impl Fn(&Event) -> bool) -> Event {
        match self.events.iter().find(|event| fits(event)) {
            Some(event) => event.clone(),
            None => self.until(fits),
        }
    }

    /// Takes events until one fits, and gives it.
    pub fn until(&mut self, mut fits: impl FnMut(&Event) -> bool) -> Event {
        loop {
            let event = self.next();
            if fits(&event) {
                return event;
            }
        }
    }

    /// Takes the next event, and answers it if it is a request.
    pub fn next(&mut self) -> Event {
        let event = self.take();
        self.react(&event);
        event
    }

    /// Takes the next event; a request stays open until [`Stage::react`].
    pub fn take(&mut self) -> Event {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let seen = self.bell.rings();
            if let Some(event) = self.agent.poll(1).0.pop() {
                self.events.push(event.clone());
                return event;
            }
            if !self.bell.wait_past(seen, deadline) {
                panic!("no event for {PATIENCE:?} after\n{}", self.story());
            }
        }
    }

    /// Does what a front end does with an event.
    pub fn react(&mut self, event: &Event) {
        match event {
            Event::Request { id, request, .. } => match (self.answer)(request) {
                Answer::Usual => self.answer_as_usual(*id, request),
                Answer::With(reply) => self.reply(*id, reply),
                Answer::Hold => self.held.push_back((*id, request.clone())),
            },
            Event::RequestClosed { id, .. } => self.held.retain(|(held, _)| held != id),
            _ => {}
        }
    }

    /// Answers what was held, in the usual way.
    pub fn answer_held(&mut self) {
        for (id, request) in std::mem::take(&mut self.held) {
            self.answer_as_usual(id, &request);
        }
    }

    /// How many requests are held.
    pub fn held(&self) -> usize {
        self.held.len()
    }

    pub fn reply(&self, request: RequestId, reply: Reply) {
        // An agent that has ended needs no answer.
        self.agent.submit(Op::Reply { request, reply });
    }

    fn answer_as_usual(&self, id: RequestId, request: &Request) {
        let refused = |error| {
            let (stale, message) = match error {
                EditorError::Stale(message) => (true, message),
                EditorError::Refused(message) => (false, message),
                EditorError::Cancelled => unreachable!("a fake editor cancels nothing"),
            };
            Reply::Refused { stale, message }
        };
        let reply = match request {
            Request::Approval(_) => super::choice(Choice::Once),
            Request::Question { questions } => Reply::Question {
                answers: Some(
                    questions
                        .iter()
                        .map(|q| vec![q.options[0].label.clone()])
                        .collect(),
                ),
            },
            Request::ReadBuffer { path } => Reply::Buffer {
                buffer: self.editor.read_buffer(path).now_or_never().unwrap().unwrap(),
            },
            Request::Unsaved => Reply::Unsaved {
                buffers: self.editor.unsaved().now_or_never().unwrap().unwrap(),
            },
            Request::Diagnostics { .. } => Reply::Diagnostics { found: Vec::new() },
            Request::SaveBuffers { paths } => Reply::Saved {
                failed: self.editor.save(paths.clone()).now_or_never().unwrap().unwrap(),
            },
            Request::ApplyEdits(batch) => match self.editor.apply(batch.clone()).now_or_never().unwrap() {
                Ok(files) => Reply::Applied { files },
                Err(error) => refused(error),
            },
        };
        self.reply(id, reply);
    }

    /// The calls that ended so far.
    pub fn done(&self) -> Vec<Done> {
        let done = self.events.iter().filter_map(|event| match event {
            Event::ToolFinished {
                tool, outcome, text, ..
            } => Some(Done {
                tool: tool.clone(),
                outcome: *outcome,
                text: text.clone(),
            }),
            _ => None,
        });
        done.collect()
    }

    /// The call that ended last.
    pub fn last_done(&self) -> Done {
        self.done().pop().expect("a call has ended")
    }

    pub fn notices(&self) -> Vec<Notice> {
        let notices = self.events.iter().filter_map(|event| match event {
            Event::Notice(notice) => Some(notice.clone()),
            _ => None,
        });
        notices.collect()
    }

    /// The paths of each `files_changed`.
    pub fn files_changed(&self) -> Vec<Vec<PathBuf>> {
        let changed = self.events.iter().filter_map(|event| match event {
            Event::FilesChanged { paths } => Some(paths.clone()),
            _ => None,
        });
        changed.collect()
    }

    /// How many requests fit.
    pub fn asked(&self, fits: impl Fn(&Request) -> bool) -> usize {
        let asked = self
            .events
            .iter()
            .filter(|event| matches!(event, Event::Request { request, .. } if fits(request)));
        asked.count()
    }

    /// How many approvals there were.
    pub fn approvals(&self) -> usize {
        self.asked(|request| matches!(request, Request::Approval(_)))
    }

    /// Ends the agent as quitting does; gives how long that took. All events have been taken then.
    pub fn shutdown(&mut self, limit: Duration) -> Duration {
        let started = Instant::now();
        self.agent.shutdown(limit);
        let took = started.elapsed();
        self.events.extend(self.agent.poll(usize::MAX).0);
        took
    }

    /// Ends the agent, does `meanwhile` to the project, and starts another agent there. The events begin anew.
    pub fn restart(&mut self, meanwhile: impl FnOnce(&Self)) {
        self.shutdown(PATIENCE);
        laws::hold(&self.events);
        meanwhile(self);
        let events = Arc::new(EventQueue::new(Box::new(Wake(Arc::clone(&self.bell)))));
        let (agent, _) = runtime::spawn(self.backdrop.start_info(), events).unwrap();
        self.agent = agent;
        self.editor = FakeEditor::default();
        self.events.clear();
    }

    /// The events so far, one a line.
    pub fn story(&self) -> String {
        let mut story = String::new();
        for event in &self.events {
            let line = serde_json::to_string(event).unwrap();
            let _ = writeln!(story, "{}", line.chars().take(300).collect::<String>());
        }
        story
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        if std::thread::panicking() {
            return;
        }
        self.shutdown(PATIENCE);
        if !self.faulty {
            laws::hold(&self.events);
            laws::histories_are_whole(&self.backdrop.state, &self.events);
        }
        // Gone only now, so that nothing is missing while the agent ends.
        assert!(self.backdrop.root.exists());
    }
}

/// Makes a file and the folders above it.
pub fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    atomic::write(path, text.as_bytes(), None).unwrap();
}
