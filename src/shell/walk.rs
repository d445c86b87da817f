//! The walk through the tree: every place where the shell runs or expands something.

use brush_parser::ast;

use super::class::{differs, is_harmless};
use super::command::{Assignment, Class, SimpleCommand, Unparsable, Word, WordKind};
use super::convert::{is_plain_value, item_of, redirect_of};
use super::gate;
use super::hidden::names_descriptor;
use super::parse::{Raw, Walk};
use super::words::Inside;

impl Walk {
    pub fn list(&mut self, list: &ast::CompoundList, wrappers: &[String], depth: usize) {
        for ast::CompoundListItem(and_or, separator) in &list.0 {
            let beside = matches!(separator, ast::SeparatorOperator::Async);
            self.loosely(beside, |walk| {
                walk.pipeline(&and_or.first, wrappers, depth);
                for next in &and_or.additional {
                    let (ast::AndOr::And(pipeline) | ast::AndOr::Or(pipeline)) = next;
                    walk.loosely(true, |walk| walk.pipeline(pipeline, wrappers, depth));
                }
            });
        }
    }

    /// Walks through what may not run, or runs in another shell, if it is `loose`.
    fn loosely(&mut self, loose: bool, walk: impl FnOnce(&mut Self)) {
        self.loose += usize::from(loose);
        walk(self);
        self.loose -= usize::from(loose);
    }

    fn pipeline(&mut self, pipeline: &ast::Pipeline, wrappers: &[String], depth: usize) {
        self.loosely(pipeline.seq.len() > 1, |walk| {
            for command in &pipeline.seq {
                walk.command(command, wrappers, depth);
            }
        });
    }

    /// A variable has a value from here on, where that is sure.
    fn settle(&mut self, name: &str) {
        if self.loose == 0 {
            let place = self.commands.len();
            self.settled.entry(name.to_owned()).or_insert(place);
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
                self.defines_functions = true;
                let ast::FunctionBody(body, redirects) = &function.body;
                self.within.push(function.fname.value.clone());
                self.loosely(true, |walk| walk.compound(body, wrappers, depth));
                self.within.pop();
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
                self.loosely(true, |walk| walk.list(&clause.body.list, wrappers, depth));
            }
            C::BraceGroup(group) => self.list(&group.list, wrappers, depth),
            C::Subshell(group) => self.loosely(true, |walk| walk.list(&group.list, wrappers, depth)),
            C::ForClause(clause) => {
                self.loop_variable(clause, wrappers, depth);
                self.loosely(true, |walk| walk.list(&clause.body.list, wrappers, depth));
            }
            C::CaseClause(clause) => {
                let patterns = clause.cases.iter().flat_map(|case| &case.patterns);
                let mut inside = Inside::default();
                for word in std::iter::once(&clause.value).chain(patterns) {
                    inside.word(&word.value);
                }
                self.enter(inside, wrappers, depth);
                for list in clause.cases.iter().filter_map(|case| case.cmd.as_ref()) {
                    self.loosely(true, |walk| walk.list(list, wrappers, depth));
                }
            }
            C::IfClause(clause) => {
                self.list(&clause.condition, wrappers, depth);
                let others = clause.elses.iter().flatten();
                let others = others.flat_map(|other| other.condition.iter().chain([&other.body]));
                for list in std::iter::once(&clause.then).chain(others) {
                    self.loosely(true, |walk| walk.list(list, wrappers, depth));
                }
            }
            C::WhileClause(ast::WhileOrUntilClauseCommand(condition, body, _))
            | C::UntilClause(ast::WhileOrUntilClauseCommand(condition, body, _)) => {
                self.list(condition, wrappers, depth);
                self.loosely(true, |walk| walk.list(&body.list, wrappers, depth));
            }
            C::Coprocess(coprocess) => {
                // In a substitution, bash 5.2 runs another program than the one that is written.
                self.refuse(Unparsable::Opaque("shells differ in what `coproc` runs".into()));
                self.loosely(true, |walk| walk.command(&coprocess.body, wrappers, depth));
            }
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
        let values: Vec<Word> = match &clause.values {
            Some(values) => values.iter().map(|word| inside.word(&word.value)).collect(),
            // Without `in` it goes over the arguments.
            None => vec![inside.word("\"$@\"")],
        };
        self.odd_value |= !values.iter().all(is_plain_value);
        self.variables.extend(values.iter().map(|value| Assignment {
            name: clause.variable_name.clone(),
            value: value.clone(),
            appends: false,
        }));
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
                appends: false,
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
        if !values.is_empty() {
            self.settle(&clause.variable_name);
        }
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
                        inside.reads_in_arithmetic |= !word.is_literal()
                            || word
                                .text
                                .contains(|char: char| char.is_alphabetic() || char == '_');
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
            raw.odd_name = differs(&name.value);
            raw.texts.push(name.value.clone());
            raw.words.push(inside.word(&name.value));
        }
        for item in suffix {
            item_of(item, false, &mut raw, &mut inside, &mut lists);
        }
        self.odd_value |= raw.odd_value;
        if !raw.redirects.is_empty() && raw.texts.iter().any(|text| names_descriptor(text)) {
            self.refuse(Unparsable::Opaque(
                "shells differ in what `{name}` before a redirect is".into(),
            ));
        }
        let set = surely_set(&raw);
        self.emit(raw, wrappers, depth);
        self.enter(inside, wrappers, depth);
        for list in lists {
            self.list(list, wrappers, depth);
        }
        set.iter().for_each(|name| self.settle(name));
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
}

/// The variables that have a value once a command has run: those of a command that is nothing but assignments, and of a
/// declaration without options. An array may be empty, and one of its items says nothing of the first.
fn surely_set(raw: &Raw) -> Vec<String> {
    let declares = match raw.words.split_first() {
        None => true,
        Some((program, rest)) => {
            program.is_literal()
                && matches!(
                    program.text.as_str(),
                    "export" | "readonly" | "declare" | "typeset"
                )
                && !rest.iter().any(|word| word.text.starts_with(['-', '+']))
        }
    };
    let named = |text: &String| {
        let (name, value) = text.split_once('=')?;
        let is_name = !name.is_empty()
            && name
                .chars()
                .all(|char| char.is_ascii_alphanumeric() || char == '_');
        (is_name && !value.starts_with('(')).then(|| name.to_owned())
    };
    let texts = raw.texts.iter().filter(|_| declares);
    texts.filter_map(named).collect()
}
