//! The person's rules for the shell, judged on the words of each simple command.
//!
//! An entry is words with an optional trailing `*`: `git status` is exactly these words, `git status *`
//! these and any more. Deny beats ask beats allow. An allow entry covers a command only as far as it
//! speaks of it: not an option that runs, writes or deletes unless it names it, not a redirect into a file,
//! not a destructive form (`git stash drop`) of what it names (`git stash *`). The entry `*` covers all.

use crate::config::layer::{Source, Sourced};
use crate::config::shell_list::ShellAllowList;
use crate::shell::command::{Class, RedirectKind, SimpleCommand, Word, WordKind};
use crate::shell::parse::analyze;

/// The three lists and the list of `-S`, compiled.
#[derive(Clone, Debug, Default)]
pub struct ShellRules {
    deny: Vec<Entry>,
    ask: Vec<Entry>,
    allow: Vec<Entry>,
    list: ShellAllowList,
}

#[derive(Clone, Debug)]
struct Entry {
    text: String,
    words: Vec<String>,
    open: bool,
    /// Whether its own words are destructive: only then does it cover a destructive command.
    destructive: bool,
    source: Source,
}

/// What the rules say of one command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Say {
    /// An entry denies it.
    Deny(Sourced<String>),
    /// An entry asks.
    Ask(Sourced<String>),
    /// A denying entry may match once the shell has replaced a word.
    MayDeny(Sourced<String>),
    /// An entry, or the list of `-S`, allows it.
    Allow(Sourced<String>),
    /// Nothing.
    Nothing,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Match {
    No,
    Maybe,
    Yes,
}

impl ShellRules {
    /// Compiles the lists.
    pub fn new(
        deny: &[Sourced<String>],
        ask: &[Sourced<String>],
        allow: &[Sourced<String>],
        list: ShellAllowList,
    ) -> Self {
        let compile = |entries: &[Sourced<String>]| entries.iter().map(Entry::new).collect();
        let allow = allow.iter().map(Entry::allowing).collect();
        Self {
            deny: compile(deny),
            ask: compile(ask),
            allow,
            list,
        }
    }

    /// Judges a command. Deny beats ask beats allow.
    pub fn judge(&self, command: &SimpleCommand) -> Say {
        let hits = |entries: &[Entry], wanted: Match| {
            let hit = entries.iter().find(|entry| entry.denies(command) == wanted);
            hit.map(Entry::sourced)
        };
        if let Some(entry) = hits(&self.deny, Match::Yes) {
            return Say::Deny(entry);
        }
        if let Some(entry) = hits(&self.deny, Match::Maybe) {
            return Say::MayDeny(entry);
        }
        if let Some(entry) = hits(&self.ask, Match::Yes).or_else(|| hits(&self.ask, Match::Maybe)) {
            return Say::Ask(entry);
        }
        let allowed = self
            .allow
            .iter()
            .find(|entry| entry.covers(command))
            .map(Entry::sourced);
        allowed
            .or_else(|| self.listed(command))
            .map_or(Say::Nothing, Say::Allow)
    }

    /// What the lists allow, for a message; empty when there is none.
    pub fn listed_names(&self) -> Vec<String> {
        let list = match &self.list {
            ShellAllowList::Only(entries) => entries.as_slice(),
            ShellAllowList::Off | ShellAllowList::All => &[],
        };
        list.iter()
            .cloned()
            .chain(self.allow.iter().map(|entry| entry.text.clone()))
            .collect()
    }

    /// Whether a command is one that the list of `-S` lets run.
    fn listed(&self, command: &SimpleCommand) -> Option<Sourced<String>> {
        let source = || Source::of(crate::config::layer::Layer::Flags);
        match &self.list {
            ShellAllowList::Off => None,
            ShellAllowList::All => Some(Sourced::new("shell_allow_list = all".to_owned(), source())),
            ShellAllowList::Only(entries) => {
                let entry = entries.iter().find(|entry| begins_with(command, entry))?;
                let harmless = command.assignments.is_empty()
                    && command.redirects.iter().all(is_harmless)
                    && command.words.iter().all(|word| word.kind != WordKind::Dynamic && !is_open_option(word))
                    && !command.opaque
                    // A destructive option is what the person lets run; one that runs or writes is not.
                    && names_all(&command.running_options, entry.split(' '));
                let entry = || Sourced::new(format!("shell_allow_list: {entry}"), source());
                harmless.then(entry)
            }
        }
    }
}

impl Entry {
    fn new(entry: &Sourced<String>) -> Self {
        let mut words: Vec<String> = entry.value.split_whitespace().map(str::to_owned).collect();
        let open = words.last().is_some_and(|word| word == "*");
        if open {
            words.pop();
        }
        Self {
            text: entry.value.clone(),
            words,
            open,
            destructive: false,
            source: entry.source.clone(),
        }
    }

    fn allowing(entry: &Sourced<String>) -> Self {
        let entry = Self::new(entry);
        let destructive = analyze(&entry.words.join(" ")).class() == Class::Destructive;
        Self { destructive, ..entry }
    }

    fn sourced(&self) -> Sourced<String> {
        Sourced::new(self.text.clone(), self.source.clone())
    }

    /// Whether it matches as an entry that denies or asks: under every name that the command has.
    fn denies(&self, command: &SimpleCommand) -> Match {
        let as_written: Vec<String> = command.words.iter().map(|word| word.text.clone()).collect();
        let mut by_program = command.normal.clone();
        if let (Some(first), Some(program)) = (by_program.first_mut(), &command.program) {
            first.clone_from(program);
        }
        let spellings = [&command.normal, &as_written, &by_program];
        spellings
            .into_iter()
            .map(|words| self.matches(command, words))
            .max()
            .unwrap_or(Match::No)
    }

    fn matches(&self, command: &SimpleCommand, words: &[String]) -> Match {
        if self.words.is_empty() && self.open {
            return Match::Yes;
        }
        let replaced = |text: &str| {
            command
                .words
                .iter()
                .any(|word| word.text == text && !word.is_literal())
        };
        let mut words = words.iter();
        for wanted in &self.words {
            match words.next() {
                Some(word) if word == wanted => {}
                // It may become this word, or several, or none: what follows cannot be lined up.
                Some(word) if replaced(word) => return Match::Maybe,
                Some(_) | None => return Match::No,
            }
        }
        match words.next() {
            None => Match::Yes,
            Some(_) if self.open => Match::Yes,
            Some(word) if replaced(word) => Match::Maybe,
            Some(_) => Match::No,
        }
    }

    fn covers(&self, command: &SimpleCommand) -> bool {
        if self.words.is_empty() && self.open {
            return true;
        }
        command.program.is_some()
            && self.matches(command, &command.normal) == Match::Yes
            && command.uncovered.is_empty()
            && !command.opaque
            && !command
                .redirects
                .iter()
                .any(crate::shell::command::Redirect::writes_file)
            && (command.class != Class::Destructive || self.destructive)
            && names_all(&command.risky_options, self.words.iter().map(String::as_str))
    }
}

/// Whether every option is among the words.
fn names_all<'a>(options: &[String], words: impl IntoIterator<Item = &'a str>) -> bool {
    let words: Vec<&str> = words.into_iter().collect();
    options.iter().all(|option| words.contains(&option.as_str()))
}

/// Whether the command begins with the words of an entry of `-S`, exactly as written: no folder is taken
/// away, because `./ls` is not `ls`.
fn begins_with(command: &SimpleCommand, entry: &str) -> bool {
    let mut words = command.words.iter();
    !entry.is_empty()
        && entry.split(' ').all(|wanted| {
            words
                .next()
                .is_some_and(|word| word.is_literal() && word.text == wanted)
        })
}

/// `--output=$X`: an option whose value the shell fills in.
fn is_open_option(word: &Word) -> bool {
    !word.is_literal() && word.text.starts_with(['-', '+'])
}

fn is_harmless(redirect: &crate::shell::command::Redirect) -> bool {
    let literal = redirect.target.as_ref().is_none_or(Word::is_literal);
    match redirect.kind {
        RedirectKind::Duplicate | RedirectKind::HereDoc => literal,
        RedirectKind::Read => literal,
        RedirectKind::Write | RedirectKind::Append => literal && !redirect.writes_file(),
        RedirectKind::ReadWrite | RedirectKind::ExpandedHereDoc | RedirectKind::HereString => false,
    }
}
