//! From a line to its simple commands.
//!
//! 1. `gate.rs`: limits, and tree-sitter says whether the line is well-formed;
//! 2. brush-parser gives the tree, on a thread with a stack that its recursion cannot exhaust;
//! 3. the tree is walked: every place where the shell runs something is entered, substitutions are parsed
//!    in the same three steps;
//! 4. wrappers are unwrapped, and every command is judged;
//! 5. a program that only tree-sitter saw is added: what runs is the union of both readings.

use std::collections::HashSet;

use brush_parser::{Parser, ast};

use super::class::{self, Around, is_harmless};
use super::command::{
    Analysis, Assignment, Class, Redirect, RedirectKind, SimpleCommand, Unparsable, Word, WordKind,
};
use super::gate;
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
        })
}

/// A command before it is judged.
#[derive(Default)]
struct Raw {
    texts: Vec<String>,
    words: Vec<Word>,
    assignments: Vec<Assignment>,
    redirects: Vec<Redirect>,
    group: bool,
}

#[derive(Default)]
struct Walk {
    commands: Vec<SimpleCommand>,
    refused: Option<Unparsable>,
    functions: HashSet<String>,
    /// A value that arithmetic would evaluate as code was set.
    odd_value: bool,
    reads_in_arithmetic: bool,
    texts: usize,
}

impl Walk {
    fn finish(mut self) -> Analysis {
        if self.reads_in_arithmetic && (self.odd_value || !self.functions.is_empty()) {
            self.refuse(Unparsable::Opaque(
                "arithmetic would evaluate the value of a variable".into(),
            ));
        }
        Analysis {
            commands: self.commands,
            unparsable: self.refused,
        }
    }

    fn refuse(&mut self, why: Unparsable) {
        self.refused.get_or_insert(why);
    }

    /// A whole text: the line, or what a substitution or `sh -c` holds.
    fn text(&mut self, text: &str, wrappers: &[String], depth: usize) {
        self.texts += 1;
        if depth > MAX_DEPTH || self.texts > MAX_TEXTS {
            self.refuse(Unparsable::TooDeep);
            return;
        }
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
    }

    /// Adds commands that tree-sitter found: of a parsed text those whose programs are not among the commands
    /// from `known` on; else all.
    fn second_opinion(
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
    fn enter(&mut self, inside: Inside, wrappers: &[String], depth: usize) {
        self.reads_in_arithmetic |= inside.reads_in_arithmetic;
        if let Some(why) = inside.refused {
            self.refuse(why);
        }
        for program in inside.programs {
            self.text(&program, wrappers, depth + 1);
        }
    }

    fn list(&mut self, list: &ast::CompoundList, wrappers: &[String], depth: usize) {
        for ast::CompoundListItem(and_or, _) in &list.0 {
            self.pipeline(&and_or.first, wrappers, depth);
            for next in &and_or.additional {
                let (ast::AndOr::And(pipeline) | ast::AndOr::Or(pipeline)) = next;
                self.pipeline(pipeline, wrappers, depth);
            }
        }
    }

    fn pipeline(&mut self, pipeline: &ast::Pipeline, wrappers: &[String], depth: usize) {
        for command in &pipeline.seq {
            self.command(command, wrappers, depth);
        }
    }

    fn command(&mut self, command: &ast::Command, wrappers: &[String], depth: usize) {
        match command {
            ast::Command::Simple(simple) => self.simple(simple, wrappers, depth),
            ast::Command::Compound(compound, redirects) => {
                self.compound(compound, wrappers, depth);
                self.group_redirects(redirects.as_ref(), wrappers, depth);
            }
            ast::Command::Function(function) => {
                self.functions.insert(function.fname.value.clone());
                let ast::FunctionBody(body, redirects) = &function.body;
                self.compound(body, wrappers, depth);
                self.group_redirects(redirects.as_ref(), wrappers, depth);
            }
            ast::Command::ExtendedTest(test, redirects) => {
                let mut inside = Inside::default();
                self.test(&test.expr, &mut inside);
                self.enter(inside, wrappers, depth);
                self.group_redirects(redirects.as_ref(), wrappers, depth);
            }
        }
    }

    fn compound(&mut self, compound: &ast::CompoundCommand, wrappers: &[String], depth: usize) {
        use ast::CompoundCommand as C;
        match compound {
            C::Arithmetic(command) => self.double_parens(&command.expr.value, wrappers, depth),
            C::ArithmeticForClause(clause) => {
                let mut inside = Inside::default();
                for expr in [&clause.initializer, &clause.condition, &clause.updater]
                    .into_iter()
                    .flatten()
                {
                    inside.arithmetic(&expr.value);
                }
                self.enter(inside, wrappers, depth);
                self.list(&clause.body.list, wrappers, depth);
            }
            C::BraceGroup(group) => self.list(&group.list, wrappers, depth),
            C::Subshell(group) => self.list(&group.list, wrappers, depth),
            C::ForClause(clause) => {
                self.loop_variable(clause, wrappers, depth);
                self.list(&clause.body.list, wrappers, depth);
            }
            C::CaseClause(clause) => {
                let patterns = clause.cases.iter().flat_map(|case| &case.patterns);
                let mut inside = Inside::default();
                for word in std::iter::once(&clause.value).chain(patterns) {
                    inside.word(&word.value);
                }
                self.enter(inside, wrappers, depth);
                for list in clause.cases.iter().filter_map(|case| case.cmd.as_ref()) {
                    self.list(list, wrappers, depth);
                }
            }
            C::IfClause(clause) => {
                self.list(&clause.condition, wrappers, depth);
                self.list(&clause.then, wrappers, depth);
                for other in clause.elses.iter().flatten() {
                    for list in other.condition.iter().chain([&other.body]) {
                        self.list(list, wrappers, depth);
                    }
                }
            }
            C::WhileClause(ast::WhileOrUntilClauseCommand(condition, body, _))
            | C::UntilClause(ast::WhileOrUntilClauseCommand(condition, body, _)) => {
                self.list(condition, wrappers, depth);
                self.list(&body.list, wrappers, depth);
            }
            C::Coprocess(coprocess) => self.command(&coprocess.body, wrappers, depth),
        }
    }

    /// `((…))`: arithmetic in bash, two subshells in a POSIX shell. Both are judged.
    fn double_parens(&mut self, text: &str, wrappers: &[String], depth: usize) {
        let mut inside = Inside::default();
        inside.arithmetic(text);
        self.commands.push(SimpleCommand {
            text: format!("(({text}))"),
            class: Class::Unknown,
            reason: Some("shells differ in what `((` is".into()),
            uncovered: vec!["((".into()],
            wrapped_by: wrappers.to_vec(),
            ..SimpleCommand::default()
        });
        self.enter(inside, wrappers, depth);
        self.second_opinion(gate::look(text).commands, None, wrappers, depth);
    }

    fn loop_variable(&mut self, clause: &ast::ForClauseCommand, wrappers: &[String], depth: usize) {
        let mut inside = Inside::default();
        let values: Vec<Word> = clause
            .values
            .iter()
            .flatten()
            .map(|word| inside.word(&word.value))
            .collect();
        self.odd_value |= !values.iter().all(is_plain_value);
        if !is_harmless(&clause.variable_name) {
            let text = values
                .iter()
                .map(|word| word.text.as_str())
                .collect::<Vec<_>>()
                .join(" ");
            let value = Word {
                text,
                kind: WordKind::Dynamic,
                may_be_option: false,
            };
            let assignment = Assignment {
                name: clause.variable_name.clone(),
                value,
            };
            let texts = vec![format!("for {}", clause.variable_name)];
            self.emit(
                Raw {
                    texts,
                    assignments: vec![assignment],
                    ..Raw::default()
                },
                wrappers,
                depth,
            );
        }
        self.enter(inside, wrappers, depth);
    }

    /// `[[ … ]]`. Forms that a POSIX shell would read as commands or redirects are refused.
    fn test(&mut self, expr: &ast::ExtendedTestExpr, inside: &mut Inside) {
        use ast::BinaryPredicate as B;
        use ast::ExtendedTestExpr as T;
        match expr {
            T::And(left, right) => {
                self.test(left, inside);
                self.test(right, inside);
            }
            T::Or(..) => self.refuse(Unparsable::Opaque(
                "shells differ in what `||` in `[[ ]]` is".into(),
            )),
            T::Not(inner) | T::Parenthesized(inner) => self.test(inner, inside),
            T::UnaryTest(predicate, word) => {
                let word = inside.word(&word.value);
                let evaluated = matches!(
                    predicate,
                    ast::UnaryPredicate::ShellVariableIsSetAndAssigned
                        | ast::UnaryPredicate::ShellVariableIsSetAndNameRef
                );
                if evaluated && !is_plain_value(&word) {
                    self.refuse(Unparsable::Opaque(
                        "`[[ -v ]]` would evaluate its argument".into(),
                    ));
                }
            }
            T::BinaryTest(predicate, left, right) => {
                let arithmetic = matches!(
                    predicate,
                    B::ArithmeticEqualTo
                        | B::ArithmeticNotEqualTo
                        | B::ArithmeticLessThan
                        | B::ArithmeticLessThanOrEqualTo
                        | B::ArithmeticGreaterThan
                        | B::ArithmeticGreaterThanOrEqualTo
                );
                if matches!(predicate, B::LeftSortsBeforeRight | B::LeftSortsAfterRight) {
                    self.refuse(Unparsable::Opaque(
                        "shells differ in what `<` and `>` in `[[ ]]` are".into(),
                    ));
                }
                for side in [left, right] {
                    let word = inside.word(&side.value);
                    if arithmetic {
                        inside.reads_in_arithmetic |= !word.is_literal();
                        if word.is_literal() && !is_plain_value(&word) {
                            self.refuse(Unparsable::Opaque("`[[ ]]` would evaluate its argument".into()));
                        }
                    }
                }
            }
        }
    }

    fn simple(&mut self, simple: &ast::SimpleCommand, wrappers: &[String], depth: usize) {
        let mut raw = Raw::default();
        let mut inside = Inside::default();
        let mut lists = Vec::new();
        let prefix = simple.prefix.iter().flat_map(|prefix| &prefix.0);
        let suffix = simple.suffix.iter().flat_map(|suffix| &suffix.0);
        for item in prefix {
            item_of(item, true, &mut raw, &mut inside, &mut lists);
        }
        if let Some(name) = &simple.word_or_name {
            raw.texts.push(name.value.clone());
            raw.words.push(inside.word(&name.value));
        }
        for item in suffix {
            item_of(item, false, &mut raw, &mut inside, &mut lists);
        }
        self.odd_value |= !raw
            .assignments
            .iter()
            .all(|assignment| is_plain_value(&assignment.value));
        self.emit(raw, wrappers, depth);
        self.enter(inside, wrappers, depth);
        for list in lists {
            self.list(list, wrappers, depth);
        }
    }

    fn group_redirects(&mut self, redirects: Option<&ast::RedirectList>, wrappers: &[String], depth: usize) {
        let Some(redirects) = redirects else { return };
        let mut raw = Raw {
            group: true,
            ..Raw::default()
        };
        let mut inside = Inside::default();
        let mut lists = Vec::new();
        for redirect in &redirects.0 {
            redirect_of(redirect, &mut raw, &mut inside, &mut lists);
        }
        self.emit(raw, wrappers, depth);
        self.enter(inside, wrappers, depth);
        for list in lists {
            self.list(list, wrappers, depth);
        }
    }

    /// Judges a command, lists it, and goes on with what it wraps.
    fn emit(&mut self, raw: Raw, wrappers: &[String], depth: usize) {
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
        class::judge(
            &mut command,
            &Around {
                functions: &self.functions,
                wrapper,
                group: raw.group,
            },
        );
        command.pattern = pattern::pattern(&command);
        let program = command.program.clone().unwrap_or_default();
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

type Lists<'a> = Vec<&'a ast::CompoundList>;

fn item_of<'a>(
    item: &'a ast::CommandPrefixOrSuffixItem,
    before: bool,
    raw: &mut Raw,
    inside: &mut Inside,
    lists: &mut Lists<'a>,
) {
    use ast::CommandPrefixOrSuffixItem as I;
    match item {
        I::IoRedirect(redirect) => redirect_of(redirect, raw, inside, lists),
        I::Word(word) => {
            raw.texts.push(word.value.clone());
            raw.words.push(inside.word(&word.value));
        }
        I::AssignmentWord(assignment, word) => {
            raw.texts.push(word.value.clone());
            let assignment = assignment_of(assignment, inside);
            if !before {
                // An argument like any other; `export` and its kin make an assignment of it.
                raw.words.push(Word {
                    text: word.value.clone(),
                    ..assignment.value.clone()
                });
                return;
            }
            raw.assignments.push(assignment);
        }
        I::ProcessSubstitution(kind, command) => {
            lists.push(&command.list);
            let text = format!("{kind}(…)");
            raw.texts.push(text.clone());
            // A path under /dev/fd.
            raw.words.push(Word {
                text,
                kind: WordKind::Dynamic,
                may_be_option: false,
            });
        }
    }
}

fn assignment_of(assignment: &ast::Assignment, inside: &mut Inside) -> Assignment {
    let name = match &assignment.name {
        ast::AssignmentName::VariableName(name) => name.clone(),
        ast::AssignmentName::ArrayElementName(name, index) => {
            inside.arithmetic(index);
            name.clone()
        }
    };
    let value = match &assignment.value {
        ast::AssignmentValue::Scalar(word) => inside.word(&word.value),
        ast::AssignmentValue::Array(elements) => {
            let mut plain = true;
            for (index, word) in elements {
                if let Some(index) = index {
                    inside.arithmetic(&index.value);
                }
                plain &= is_plain_value(&inside.word(&word.value));
            }
            let text = elements
                .iter()
                .map(|(_, word)| word.value.as_str())
                .collect::<Vec<_>>()
                .join(" ");
            Word {
                text,
                kind: if plain {
                    WordKind::Literal
                } else {
                    WordKind::Dynamic
                },
                may_be_option: false,
            }
        }
    };
    Assignment { name, value }
}

fn redirect_of<'a>(redirect: &'a ast::IoRedirect, raw: &mut Raw, inside: &mut Inside, lists: &mut Lists<'a>) {
    use ast::IoFileRedirectKind as K;
    use ast::IoFileRedirectTarget as T;
    let (text, kind, target) = match redirect {
        ast::IoRedirect::File(fd, operator, target) => {
            let kind = match operator {
                K::Read => RedirectKind::Read,
                K::Write | K::Clobber => RedirectKind::Write,
                K::Append => RedirectKind::Append,
                K::ReadAndWrite => RedirectKind::ReadWrite,
                K::DuplicateInput | K::DuplicateOutput => RedirectKind::Duplicate,
            };
            let fd = fd.map(|fd| fd.to_string()).unwrap_or_default();
            match target {
                T::Filename(word) => (
                    format!("{fd}{operator}{}", word.value),
                    kind,
                    Some(inside.word(&word.value)),
                ),
                T::Fd(to) => (format!("{fd}{operator}{to}"), RedirectKind::Duplicate, None),
                T::ProcessSubstitution(which, command) => {
                    lists.push(&command.list);
                    (format!("{fd}{operator}{which}(…)"), RedirectKind::Duplicate, None)
                }
                T::Duplicate(word) => {
                    let target = inside.word(&word.value);
                    let digits = target.text.trim_end_matches('-');
                    let stream = target.is_literal() && digits.bytes().all(|byte| byte.is_ascii_digit());
                    let text = format!("{fd}{operator}{}", word.value);
                    match (stream, operator) {
                        (true, _) => (text, RedirectKind::Duplicate, None),
                        (false, K::DuplicateInput) => (text, RedirectKind::Read, Some(target)),
                        // `>& file`
                        (false, _) => (text, RedirectKind::Write, Some(target)),
                    }
                }
            }
        }
        ast::IoRedirect::OutputAndError(word, append) => {
            let kind = if *append {
                RedirectKind::Append
            } else {
                RedirectKind::Write
            };
            let operator = if *append { "&>>" } else { "&>" };
            (
                format!("{operator}{}", word.value),
                kind,
                Some(inside.word(&word.value)),
            )
        }
        ast::IoRedirect::HereString(_, word) => (
            format!("<<<{}", word.value),
            RedirectKind::HereString,
            Some(inside.word(&word.value)),
        ),
        ast::IoRedirect::HereDocument(_, document) => {
            let kind = if document.requires_expansion {
                inside.here_document(&document.doc.value);
                RedirectKind::ExpandedHereDoc
            } else {
                RedirectKind::HereDoc
            };
            (format!("<<{}", document.here_end.value), kind, None)
        }
    };
    raw.texts.push(text.clone());
    raw.redirects.push(Redirect { text, kind, target });
}

/// Whether a value stays a value when arithmetic evaluates it.
fn is_plain_value(word: &Word) -> bool {
    matches!(word.kind, WordKind::Literal | WordKind::Tilde | WordKind::Pattern)
        && !word.text.contains(['$', '`', '[', '<', '>'])
}
