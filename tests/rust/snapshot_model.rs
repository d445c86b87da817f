//! Agent, person, undo and redo in any order, against a model that knows only whole contents:
//! an undo gives back exactly what was there, or touches nothing; and never takes the person's text.

use std::collections::BTreeMap;
use std::os::unix::fs::symlink;
use std::path::Path;

use dcode::snapshot::{Scope, SnapshotError};
use proptest::prelude::*;

use crate::snapshot::{Refused, World, put};

const PATHS: [&str; 5] = ["a", "b", "d/x", "d/e/y", "f/z"];

#[derive(Clone, Debug, PartialEq, Eq)]
enum Node {
    File(String),
    Link(String),
}

type Tree = BTreeMap<&'static str, Node>;

#[derive(Clone, Debug)]
enum Action {
    /// A step of the agent: what each path holds afterwards.
    Agent(BTreeMap<usize, Option<Node>>),
    NewTurn,
    /// The person writes something that nobody has written yet, or removes a file.
    PersonWrites(usize),
    PersonRemoves(usize),
    Undo(Scope),
    Redo,
    Restart,
}

fn node() -> impl Strategy<Value = Option<Node>> {
    prop_oneof![
        1 => Just(None),
        3 => (0..3_u8).prop_map(|at| Some(Node::File(format!("agent {at}\n")))),
        1 => (0..2_u8).prop_map(|at| Some(Node::Link(format!("../out{at}")))),
    ]
}

fn action() -> impl Strategy<Value = Action> {
    let path = 0..PATHS.len();
    prop_oneof![
        6 => prop::collection::btree_map(path.clone(), node(), 1..4).prop_map(Action::Agent),
        1 => Just(Action::NewTurn),
        1 => path.clone().prop_map(Action::PersonWrites),
        1 => path.prop_map(Action::PersonRemoves),
        3 => (1..4_u32).prop_map(|count| Action::Undo(Scope::Steps(count))),
        1 => Just(Action::Undo(Scope::Turn)),
        3 => Just(Action::Redo),
        1 => Just(Action::Restart),
    ]
}

/// A step that changed something: when it began, and what its paths held before it.
#[derive(Clone)]
struct Step {
    turn: u64,
    began: usize,
    found: BTreeMap<&'static str, Option<Node>>,
}

/// An undo: when it was, its steps (newest first), and what its paths held before it.
struct Undo {
    at: usize,
    steps: Vec<Step>,
    found: BTreeMap<&'static str, Option<Node>>,
}

struct Model {
    world: World,
    clock: usize,
    steps: u64,
    turn: u64,
    /// Steps that stand, oldest first.
    live: Vec<Step>,
    undos: Vec<Undo>,
    /// When the person changed a path last, and whether by writing.
    person: BTreeMap<&'static str, (usize, bool)>,
    person_ever: bool,
}

impl Model {
    fn new() -> Self {
        let world = World::new();
        set(&world, "a", Some(&Node::File("first a\n".to_owned())));
        set(&world, "d/x", Some(&Node::File("first x\n".to_owned())));
        Self {
            world,
            clock: 0,
            steps: 0,
            turn: 1,
            live: Vec::new(),
            undos: Vec::new(),
            person: BTreeMap::new(),
            person_ever: false,
        }
    }

    fn act(&mut self, action: &Action) {
        self.clock += 1;
        match action {
            Action::Agent(changes) => self.agent(changes),
            Action::NewTurn => self.turn += 1,
            Action::PersonWrites(at) => {
                let text = format!("the person's {}\n", self.clock);
                self.person(PATHS[*at], Some(&Node::File(text)));
            }
            Action::PersonRemoves(at) => self.person(PATHS[*at], None),
            Action::Undo(scope) => self.undo(*scope),
            Action::Redo => self.redo(),
            Action::Restart => self.world.restart(),
        }
    }

    fn agent(&mut self, changes: &BTreeMap<usize, Option<Node>>) {
        let before = tree(&self.world);
        let names: Vec<&str> = changes.keys().map(|at| PATHS[*at]).collect();
        self.steps += 1;
        self.world.step(self.steps, self.turn, &names, || {
            for (at, node) in changes {
                set(&self.world, PATHS[*at], node.as_ref());
            }
        });
        self.undos.clear();
        let after = tree(&self.world);
        let changed = names
            .into_iter()
            .filter(|name| before.get(name) != after.get(name));
        let found: BTreeMap<_, _> = changed
            .filter_map(|name| PATHS.into_iter().find(|path| *path == name))
            .map(|name| (name, before.get(name).cloned()))
            .collect();
        if !found.is_empty() {
            self.live.push(Step {
                turn: self.turn,
                began: self.clock,
                found,
            });
        }
    }

    fn person(&mut self, name: &'static str, node: Option<&Node>) {
        if tree(&self.world).get(name) != node {
            set(&self.world, name, node);
            self.person.insert(name, (self.clock, node.is_some()));
            self.person_ever = true;
        }
    }

    /// The person's last change of a path since `when`: `Some(true)` when they wrote it.
    fn since<'a>(&self, when: usize, names: impl Iterator<Item = &'a &'static str>) -> Option<bool> {
        names
            .filter_map(|name| self.person.get(name))
            .filter(|(at, _)| *at > when)
            .map(|(_, wrote)| *wrote)
            .max()
    }

    fn undo(&mut self, scope: Scope) {
        let newest = self.live.last().map(|step| step.turn);
        let count = match scope {
            Scope::Steps(count) => usize::try_from(count).unwrap().min(self.live.len()),
            Scope::Turn => self
                .live
                .iter()
                .rev()
                .take_while(|step| Some(step.turn) == newest)
                .count(),
            Scope::From(_) => unreachable!("the model counts"),
        };
        let before = tree(&self.world);
        let result = self.world.undo(scope);
        if count == 0 {
            assert!(matches!(
                result,
                Err(Refused::Error(SnapshotError::NothingToUndo))
            ));
            return;
        }
        let mut steps = self.live.split_off(self.live.len() - count);
        // What each path held before the oldest step that touched it, and since when that counts.
        let mut wanted = BTreeMap::new();
        let mut touched = None;
        for step in steps.iter().rev() {
            touched = touched.max(self.since(step.began, step.found.keys()));
            wanted.extend(step.found.clone());
        }
        if self.settled(&before, &wanted, touched, &result) {
            steps.reverse();
            let found = wanted
                .keys()
                .map(|name| (*name, before.get(name).cloned()))
                .collect();
            let at = self.clock;
            self.undos.push(Undo { at, steps, found });
        } else {
            self.live.extend(steps);
        }
    }

    fn redo(&mut self) {
        let before = tree(&self.world);
        let result = self.world.redo();
        let Some(undo) = self.undos.pop() else {
            assert!(matches!(
                result,
                Err(Refused::Error(SnapshotError::NothingToRedo))
            ));
            return;
        };
        let touched = self.since(undo.at, undo.found.keys());
        if self.settled(&before, &undo.found, touched, &result) {
            self.live.extend(undo.steps.into_iter().rev());
        } else {
            self.undos.push(undo);
        }
    }

    /// Judges the outcome; says whether it was carried out.
    fn settled(
        &self,
        before: &Tree,
        wanted: &BTreeMap<&'static str, Option<Node>>,
        touched: Option<bool>,
        result: &Result<usize, Refused>,
    ) -> bool {
        let after = tree(&self.world);
        match (result, touched) {
            (Ok(_), None | Some(false)) => {
                let mut expected = before.clone();
                for (name, node) in wanted {
                    match node {
                        Some(node) => expected.insert(name, node.clone()),
                        None => expected.remove(name),
                    };
                }
                assert_eq!(after, expected);
                true
            }
            (Err(Refused::Conflicts(_)), Some(_)) => {
                assert_eq!(&after, before, "a refusal touches nothing");
                false
            }
            other => panic!("{other:?} for {wanted:?} over {before:?}"),
        }
    }
}

fn set(world: &World, name: &str, node: Option<&Node>) {
    let path = world.at(name);
    std::fs::remove_file(&path).ok();
    if node.is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    }
    match node {
        None => {}
        Some(Node::File(text)) => put(&path, text.as_bytes()),
        Some(Node::Link(target)) => symlink(target, &path).unwrap(),
    }
}

fn tree(world: &World) -> Tree {
    let node = |path: &Path| match std::fs::read_link(path) {
        Ok(target) => Some(Node::Link(target.to_str().unwrap().to_owned())),
        Err(_) => std::fs::read_to_string(path).ok().map(Node::File),
    };
    PATHS
        .into_iter()
        .filter_map(|name| Some((name, node(&world.at(name))?)))
        .collect()
}

fn folders(world: &World) -> Vec<&'static str> {
    ["d", "d/e", "f"]
        .into_iter()
        .filter(|name| world.at(name).is_dir())
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(60) })]

    #[test]
    fn any_order_of_actions_agrees_with_the_model(actions in prop::collection::vec(action(), 1..16)) {
        let mut model = Model::new();
        let first = tree(&model.world);
        for action in &actions {
            model.act(action);
        }
        // All of it can be taken back where the person did nothing, and so can that.
        if !model.person_ever {
            let last = tree(&model.world);
            let count = model.live.len();
            while !model.live.is_empty() {
                model.act(&Action::Undo(Scope::Steps(2)));
            }
            prop_assert_eq!(tree(&model.world), first);
            prop_assert_eq!(folders(&model.world), vec!["d"], "no folder of the agent's is left");
            while model.live.len() < count {
                model.act(&Action::Redo);
            }
            prop_assert_eq!(tree(&model.world), last);
        }
    }
}
