//! The analyser against the shell itself: what really ran must have been seen.
//!
//! Every line of the attack file and many generated ones run in a jail (`jail.rs`). Of a line that is not unparsable
//! each program that ran must be among the analyser's, with its arguments, and each file that came into being must
//! be the target of a redirect that it reported. `DCODE_ORACLE=20000` sets how many lines are generated,
//! `DCODE_ORACLE_SEED` with what they begin.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use dcode::shell::command::{Analysis, Class, SimpleCommand, Word, WordKind};
use dcode::shell::parse::analyze;

use grammar::Grammar;
use jail::{Deeds, Jail, Ran};

pub mod grammar;
mod jail;

/// How many lines are generated when nobody asks for more.
const GENERATED: usize = 300;

/// What a check says of a line.
#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    /// All that ran was listed by its name.
    Seen,
    /// Something ran that a listed command is known to fetch from elsewhere: it is asked each time.
    Announced,
    /// What is wrong.
    Missed(String),
}

fn check(analysis: &Analysis, deeds: &Deeds) -> Outcome {
    let announced = analysis.commands.iter().any(runs_what_is_not_in_the_line);
    let mut outcome = Outcome::Seen;
    for ran in &deeds.ran {
        if analysis.commands.iter().any(|command| is(command, ran)) {
            continue;
        }
        if announced {
            outcome = Outcome::Announced;
            continue;
        }
        return Outcome::Missed(format!("{ran:?} ran"));
    }
    for file in &deeds.created {
        if !writes(analysis, file) {
            if announced {
                outcome = Outcome::Announced;
                continue;
            }
            return Outcome::Missed(format!("{file} was written"));
        }
    }
    if outcome == Outcome::Announced && analysis.class() < Class::Unknown {
        return Outcome::Missed("what it fetches runs unasked".into());
    }
    outcome
}

/// Whether a listed command is what ran.
fn is(command: &SimpleCommand, ran: &Ran) -> bool {
    command.program.as_deref() == Some(ran.name.as_str())
        && command
            .words
            .split_first()
            .is_some_and(|(_, words)| fits(words, &ran.arguments))
}

/// Whether words can have become these arguments.
fn fits(words: &[Word], arguments: &[String]) -> bool {
    let Some((word, words)) = words.split_first() else {
        return arguments.is_empty();
    };
    match word.kind {
        WordKind::Literal => arguments
            .split_first()
            .is_some_and(|(first, rest)| *first == word.text && fits(words, rest)),
        WordKind::Tilde => arguments.split_first().is_some_and(|(_, rest)| fits(words, rest)),
        WordKind::Pattern | WordKind::Variable | WordKind::Dynamic => {
            (0..=arguments.len()).any(|taken| fits(words, &arguments[taken..]))
        }
    }
}

/// A command that says of itself that what it runs cannot be read from the line: a name that the shell computes,
/// code from a file, from the input or from a value.
fn runs_what_is_not_in_the_line(command: &SimpleCommand) -> bool {
    const FETCH: [&str; 15] = [
        "eval", "source", ".", "bash", "sh", "env", "xargs", "find", "sudo", "trap", "timeout", "nice",
        "exec", "command", "builtin",
    ];
    let computed = !command.words.is_empty() && command.program.is_none();
    let fetches = command
        .program
        .as_deref()
        .is_some_and(|program| FETCH.contains(&program));
    computed || (fetches && command.class >= Class::Unknown)
}

/// Whether a redirect can have made the file. `find` is the one real program in the jail that writes by an option.
fn writes(analysis: &Analysis, file: &str) -> bool {
    let finds =
        |command: &SimpleCommand| command.program.as_deref() == Some("find") && command.class > Class::Read;
    if analysis.commands.iter().any(finds) {
        return true;
    }
    let name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
    analysis
        .commands
        .iter()
        .flat_map(|command| &command.redirects)
        .filter(|redirect| redirect.writes_file())
        .filter_map(|redirect| redirect.target.as_ref())
        .any(|target| match target.kind {
            WordKind::Variable | WordKind::Dynamic => true,
            WordKind::Literal | WordKind::Tilde | WordKind::Pattern => name(&target.text) == name(file),
        })
}

/// How many jails stand for each core: one mostly waits for the kernel, which takes its mounts down.
const JAILS: usize = 2;

/// Runs lines on all cores; panics with every miss.
fn judge(jail: &Jail, lines: &[String]) {
    let next = AtomicUsize::new(0);
    let missed = Mutex::new(Vec::new());
    let ended = AtomicUsize::new(0);
    let refused = Mutex::new(BTreeMap::<String, usize>::new());
    let counts = [const { AtomicUsize::new(0) }; 4];
    std::thread::scope(|scope| {
        for _ in 0..JAILS * std::thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(|| {
                while let Some(line) = lines.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let analysis = analyze(line);
                    if let Some(why) = analysis.unparsable {
                        if std::env::var_os("DCODE_ORACLE_SHOW").is_some() {
                            println!("{why}: {line:?}");
                        }
                        let why = why.to_string().split('`').next().unwrap_or_default().to_owned();
                        *refused.lock().unwrap().entry(why).or_default() += 1;
                        counts[3].fetch_add(1, Ordering::Relaxed);
                        continue;
                    }
                    let deeds = jail.run(line);
                    ended.fetch_add(usize::from(deeds.timed_out), Ordering::Relaxed);
                    let outcome = check(&analysis, &deeds);
                    let at = match &outcome {
                        Outcome::Seen if deeds.ran.is_empty() => 0,
                        Outcome::Seen | Outcome::Missed(_) => 1,
                        Outcome::Announced => 2,
                    };
                    counts[at].fetch_add(1, Ordering::Relaxed);
                    if let Outcome::Missed(why) = outcome {
                        missed.lock().unwrap().push(format!("{line:?}\n    {why}"));
                    }
                }
            });
        }
    });
    let [nothing, seen, announced, unparsable] = counts.map(AtomicUsize::into_inner);
    println!(
        "{} lines: {seen} ran what was seen, {nothing} ran nothing, {announced} ran what was announced, \
         {unparsable} unparsable; {} were ended by the clock",
        lines.len(),
        ended.into_inner()
    );
    for (why, count) in refused.into_inner().unwrap() {
        println!("    {count} because {why}");
    }
    let missed = missed.into_inner().unwrap();
    assert!(
        missed.is_empty(),
        "{} of {}:\n{}",
        missed.len(),
        lines.len(),
        missed.join("\n")
    );
}

/// The lines of a table of `tests/fixtures/permission`, without its places.
fn table(name: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures/permission")
        .join(name);
    let text = std::fs::read_to_string(path).unwrap();
    text.lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split_once(" bash "))
        .map(|(_, line)| {
            line.replace("\\\\", "\0")
                .replace("\\n", "\n")
                .replace('\0', "\\")
        })
        .collect()
}

#[test]
fn nothing_of_the_attack_file_runs_unseen() {
    for shell in ["bash", "dash"] {
        let Some(jail) = Jail::new(shell) else { return };
        let lines = table("attacks.txt").into_iter().chain(table("harmless.txt"));
        // dash does not know `$'…'`; a name that is written so is asked.
        let lines: Vec<String> = lines
            .filter(|line| shell == "bash" || !(line.contains("$'") || line.contains("$\"")))
            .collect();
        assert!(lines.len() > 260);
        judge(&jail, &lines);
    }
}

#[test]
fn nothing_that_is_generated_runs_unseen() {
    let Some(jail) = Jail::new("bash") else { return };
    let number = |name: &str| std::env::var(name).ok().and_then(|value| value.parse().ok());
    let count = number("DCODE_ORACLE").map_or(GENERATED, |count: u64| count as usize);
    let first = number("DCODE_ORACLE_SEED").unwrap_or(1);
    let lines: Vec<String> = (first..)
        .take(count)
        .map(|seed| Grammar::new(seed).text())
        .collect();
    judge(&jail, &lines);
}
