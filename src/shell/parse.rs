//! From a line to its simple commands.
//!
//! 1. `gate.rs`: limits, and tree-sitter says whether the line is well-formed;
//! 2. brush-parser gives the tree, on a thread with a stack that its recursion cannot exhaust;
//! 3. the tree is walked: every place where the shell runs something is entered, substitutions are parsed
//!    in the same three steps;
//! 4. wrappers are unwrapped, and every command is judged;
//! 5. a program that only tree-sitter saw is added: what runs is the union of both readings.

use std::collections::{HashMap, HashSet};

use brush_parser::Parser;

use super::class::{self, Around};
use super::command::{Analysis, Assignment, Redirect, SimpleCommand, Unparsable, Word};
use super::convert::is_plain_value;
use super::gate;
use super::hidden;
use super::pattern;
use super::unwrap::{self, Inner};
use super::words::{Inside, options};

/// The stack of the parser's thread: 48 nested groups need a small part of it, also in a debug build.
const STACK: usize = 8 << 20;
/// How deep substitutions and wrappers may be within each other.
const MAX_DEPTH: usize = 12;
/// How many texts are parsed for one line.
const MAX_TEXTS: usize = 200;

/// What a line would do. Reads nothing but the line, and never fails: what is not understood is
/// [`Analysis::unparsable`].
pub fn analyze(line: &str) -> Analysis {
    let line = line.to_owned();
    let thread = std::thread::Builder::new()
        .name("dcode-shell".into())
        .stack_size(STACK);
    let analysis = thread.spawn(move || {
        let mut walk = Walk::default();
        walk.text(&line, &[], 0);
        walk.finish()
    });
    // No thread, or a panic in it: nothing is known of the line.
    analysis
        .ok()
        .and_then(|thread| thread.join().ok())
        .unwrap_or_else(|| Analysis {
            commands: Vec::new(),
            unparsable: Some(Unparsable::Opaque("the parser failed on it".into())),
            variables: Vec::new(),
            settled: HashMap::new(),
        })
}

/// A command before it is judged.
#[derive(Default)]
pub(super) struct Raw {
    pub texts: Vec<String>,
    pub words: Vec<Word>,
    pub assignments: Vec<Assignment>,
    pub redirects: Vec<Redirect>,
    pub group: bool,
    /// Its name is written in a way that a POSIX shell reads as another name.
    pub odd_name: bool,
    /// A value that arithmetic would evaluate as code is assigned.
    pub odd_value: bool,
}

/// A walk through a line; `walk.rs` has the part that follows the tree.
#[derive(Default)]
pub(super) struct Walk {
    pub commands: Vec<SimpleCommand>,
    refused: Option<Unparsable>,
    /// Functions are defined: their arguments are values, too.
    pub defines_functions: bool,
    /// A value that arithmetic would evaluate as code was set.
    pub odd_value: bool,
    reads_in_arithmetic: bool,
    /// The functions whose bodies are walked just now.
    pub within: Vec<String>,
    /// Which function calls which program or function.
    calls: Vec<(String, String)>,
    texts: usize,
    /// What the line gives to variables.
    pub variables: Vec<Assignment>,
    /// As in [`Analysis::settled`].
    pub settled: HashMap<String, usize>,
    /// Around how many constructs that may not run what they hold, or run it elsewhere, the walk is.
    pub loose: usize,
}

impl Walk {
    fn finish(mut self) -> Analysis {
        if hidden::recurses(&self.calls) {
            // `:() { : | : & }; :` fills the machine.
            self.refuse(Unparsable::Opaque("a function calls itself".into()));
        }
        if self.reads_in_arithmetic && (self.odd_value || self.defines_functions) {
            self.refuse(Unparsable::Opaque(
                "arithmetic would evaluate the value of a variable".into(),
            ));
        }
        Analysis {
            commands: self.commands,
            unparsable: self.refused,
            variables: self.variables,
            settled: self.settled,
        }
    }

    pub fn refuse(&mut self, why: Unparsable) {
        self.refused.get_or_insert(why);
    }

    /// A whole text: the line, or what a substitution or `sh -c` holds.
    fn text(&mut self, text: &str, wrappers: &[String], depth: usize) {
        self.texts += 1;
        if depth > MAX_DEPTH || self.texts > MAX_TEXTS {
            self.refuse(Unparsable::TooDeep);
            return;
        }
        if unwrap::by_posix_shell(wrappers) && (text.contains("$'") || text.contains("$\"")) {
            // What bash decodes, dash hands on as it stands.
            self.refuse(Unparsable::Opaque("shells differ in what `$'…'` is".into()));
        }
        self.loose += usize::from(depth > 0);
        let found = gate::look(text);
        let first = self.commands.len();
        let refused = found.refused.is_some();
        match found.refused {
            Some(why) => self.refuse(why),
            None => match Parser::new(text.as_bytes(), &options()).parse_program() {
                Ok(program) => {
                    for list in &program.complete_commands {
                        self.list(list, wrappers, depth);
                    }
                }
                Err(_) => self.refuse(Unparsable::Syntax(gate::start_of(text))),
            },
        }
        let known = if refused { None } else { Some(first) };
        self.second_opinion(found.commands, known, wrappers, depth);
        self.loose -= usize::from(depth > 0);
    }

    /// Adds commands that tree-sitter found: of a parsed text those whose programs are not among the commands
    /// from `known` on; else all.
    pub fn second_opinion(
        &mut self,
        found: Vec<Vec<String>>,
        known: Option<usize>,
        wrappers: &[String],
        depth: usize,
    ) {
        // `None` stands for a name that the shell computes.
        let listed = self.commands.iter().skip(known.unwrap_or(usize::MAX));
        let mut programs: HashSet<Option<String>> = listed
            .filter(|command| !command.words.is_empty())
            .map(|command| command.program.clone())
            .collect();
        let mut seen = HashSet::new();
        for raw in found {
            let Some(name) = raw.first().map(|name| Inside::default().word(name)) else {
                continue;
            };
            let name = name
                .is_literal()
                .then(|| name.text.rsplit('/').next().unwrap_or_default().to_owned());
            let new = if known.is_some() {
                programs.insert(name)
            } else {
                seen.insert(raw.clone())
            };
            if new {
                let mut inside = Inside::default();
                let words = raw.iter().map(|raw| inside.word(raw)).collect();
                self.emit(
                    Raw {
                        texts: raw,
                        words,
                        ..Raw::default()
                    },
                    wrappers,
                    depth,
                );
                self.enter(inside, wrappers, depth);
            }
        }
    }

    /// What was found inside words, once the command that holds them is listed.
    pub fn enter(&mut self, inside: Inside, wrappers: &[String], depth: usize) {
        self.reads_in_arithmetic |= inside.reads_in_arithmetic;
        if let Some(why) = inside.refused {
            self.refuse(why);
        }
        for assignment in inside.assigns {
            // What arithmetic assigns is a number.
            self.odd_value |= !assignment.value.text.is_empty() && !is_plain_value(&assignment.value);
            self.variables.push(assignment.clone());
            if !class::is_harmless(&assignment.name) {
                let texts = vec![format!("{}=…", assignment.name)];
                let assignments = vec![assignment];
                self.emit(
                    Raw {
                        texts,
                        assignments,
                        ..Raw::default()
                    },
                    wrappers,
                    depth,
                );
            }
        }
        for program in inside.programs {
            self.text(&program, wrappers, depth + 1);
        }
    }

    /// What a command does beside what it runs.
    fn look_behind(&mut self, command: &SimpleCommand, given: &[Assignment]) {
        let hidden = hidden::look(command, given);
        self.reads_in_arithmetic |= hidden.reads_in_arithmetic;
        self.odd_value |= hidden.odd_value;
        if let Some(why) = hidden.refused {
            self.refuse(Unparsable::Opaque(why.into()));
        }
        if let Some(program) = &command.program {
            let calls = self
                .within
                .iter()
                .map(|function| (function.clone(), program.clone()));
            self.calls.extend(calls);
        }
    }

    /// Judges a command, lists it, and goes on with what it wraps.
    pub fn emit(&mut self, raw: Raw, wrappers: &[String], depth: usize) {
        let mut command = SimpleCommand {
            text: raw.texts.join(" "),
            words: raw.words,
            assignments: raw.assignments,
            redirects: raw.redirects,
            wrapped_by: wrappers.to_vec(),
            ..SimpleCommand::default()
        };
        class::name(&mut command);
        let wrapped = unwrap::unwrap(&command);
        let (wrapper, inner) = match wrapped {
            Some(wrapped) => (Some((wrapped.class, wrapped.reason)), wrapped.inner),
            None => (None, Vec::new()),
        };
        let is_wrapper = wrapper.is_some();
        class::judge(
            &mut command,
            &Around {
                wrapper,
                group: raw.group,
                odd_name: raw.odd_name,
            },
        );
        command.pattern = pattern::pattern(&command, is_wrapper);
        let program = command.program.clone().unwrap_or_default();
        let given = given(&command);
        self.look_behind(&command, &given);
        self.variables.extend(given);
        self.commands.push(command);
        if inner.is_empty() {
            return;
        }
        if wrappers.len() >= MAX_DEPTH {
            self.refuse(Unparsable::TooDeep);
            return;
        }
        let wrappers: Vec<String> = wrappers.iter().cloned().chain([program]).collect();
        for inner in inner {
            match inner {
                Inner::Line(line) => self.text(&line, &wrappers, depth + 1),
                Inner::Words(words) => {
                    let texts = words.iter().map(|word| word.text.clone()).collect();
                    self.emit(
                        Raw {
                            texts,
                            words,
                            ..Raw::default()
                        },
                        &wrappers,
                        depth + 1,
                    );
                }
            }
        }
    }
}

/// The variables that a command sets: before it, and as the arguments of a declaration.
fn given(command: &SimpleCommand) -> Vec<Assignment> {
    let declares = matches!(
        command.program.as_deref(),
        Some("export" | "declare" | "local" | "readonly" | "typeset" | "env" | "sudo")
    );
    let arguments = command.words.iter().skip(1).filter(|_| declares);
    let declared = arguments.filter_map(|word| {
        let (name, text) = word.text.split_once('=')?;
        let value = Word {
            text: text.to_owned(),
            ..word.clone()
        };
        let (name, appends) = match name.strip_suffix('+') {
            Some(name) => (name, true),
            None => (name, false),
        };
        Some(Assignment {
            name: name.to_owned(),
            value,
            appends,
        })
    });
    command.assignments.iter().cloned().chain(declared).collect()
}
