//! Judging shell lines: the tables of `tests/fixtures/shell`, and that nothing panics or hangs.

use std::path::Path;
use std::time::{Duration, Instant};

use dcode::shell::command::{Analysis, Class, RedirectKind, WordKind};
use dcode::shell::parse::analyze;
use proptest::prelude::*;

fn class(analysis: &Analysis) -> &'static str {
    if analysis.unparsable.is_some() {
        "unparsable"
    } else {
        analysis.class().as_str()
    }
}

fn programs(analysis: &Analysis) -> Vec<&str> {
    analysis
        .commands
        .iter()
        .filter_map(|command| command.program.as_deref())
        .collect()
}

/// What is wrong with one line of a table.
fn check(line: &str, wanted: &str, notes: &[(String, String)]) -> Vec<String> {
    let analysis = analyze(line);
    let mut wrong = Vec::new();
    let reasons: Vec<_> = analysis
        .commands
        .iter()
        .filter_map(|command| command.reason.as_deref())
        .collect();
    if class(&analysis) != wanted {
        wrong.push(format!(
            "{line}\n    {} instead of {wanted}: {reasons:?} {:?}",
            class(&analysis),
            analysis.unparsable
        ));
    }
    let found = programs(&analysis);
    for (key, value) in notes {
        let words: Vec<&str> = value.split_whitespace().collect();
        let good = match key.as_str() {
            "runs" => words.iter().all(|word| found.contains(word)),
            "only" => words == found,
            "pattern" => {
                let pattern = analysis
                    .commands
                    .last()
                    .and_then(|command| command.pattern.as_deref());
                pattern.unwrap_or("-") == value
            }
            other => panic!("unknown note {other}"),
        };
        if !good {
            let patterns: Vec<_> = analysis.commands.iter().map(|command| &command.pattern).collect();
            wrong.push(format!(
                "{line}\n    {key}: {value}; found {found:?} {patterns:?}"
            ));
        }
    }
    wrong
}

#[test]
fn tables() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/shell");
    let mut wrong = Vec::new();
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "txt") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let mut lines = text
            .lines()
            .filter(|line| !line.starts_with('#') && !line.is_empty())
            .peekable();
        while let Some(line) = lines.next() {
            let (class, shell) = line
                .split_once(" | ")
                .unwrap_or_else(|| panic!("{path:?}: {line}"));
            let mut notes = Vec::new();
            while let Some(note) = lines.next_if(|line| line.starts_with("  ")) {
                let (key, value) = note.trim().split_once(": ").unwrap();
                notes.push((key.to_owned(), value.to_owned()));
            }
            count += 1;
            wrong.extend(check(&shell.replace('⏎', "\n"), class, &notes));
        }
    }
    assert!(count > 200);
    assert!(
        wrong.is_empty(),
        "{} of {count}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn inputs_that_kill_a_parser_are_refused_at_once() {
    let nested =
        |open: &str, close: &str, count: usize| format!("{}ls{}", open.repeat(count), close.repeat(count));
    let lines = [
        "<<\"\" ".to_owned(),
        "<<'' ".to_owned(),
        nested("{ ", "; }", 150),
        nested("if ", "; then :; fi", 500),
        nested("echo $(", ")", 60),
        nested("echo ${x:-", "}", 100),
        nested("echo \"$(", ")\"", 47),
        nested("echo $((", "))", 20),
        nested("(", ")", 40),
        nested("((", "))", 20),
        "`".repeat(1000),
        "$(".repeat(3000),
        "x".repeat(70_000),
        "ls; ".repeat(16_000),
        "echo {\u{1e9b4}日本".into(),
        "a\u{1b}b".into(),
        "ls\rrm".into(),
        "ls\0".into(),
    ];
    for line in lines {
        let started = Instant::now();
        let analysis = analyze(&line);
        let shown: String = line.chars().take(40).collect();
        assert!(
            started.elapsed() < Duration::from_secs(30),
            "{shown}: {:?}",
            started.elapsed()
        );
        assert!(
            analysis.unparsable.is_some() || line.starts_with('(') || !line.is_ascii(),
            "{shown}"
        );
    }
}

#[test]
fn words_redirects_and_assignments_are_reported() {
    let analysis = analyze("A=1 git -C \"my dir\" log $N \"$(pwd)\" >> out.txt 2>&1 < in");
    let command = &analysis.commands[0];
    assert_eq!(
        command.text,
        "A=1 git -C \"my dir\" log $N \"$(pwd)\" >>out.txt 2>&1 <in"
    );
    assert_eq!(command.normal, ["git", "log", "$N", "\"$(pwd)\""]);
    let kinds: Vec<_> = command.words.iter().map(|word| word.kind).collect();
    use WordKind::{Dynamic, Literal, Variable};
    assert_eq!(kinds, [Literal, Literal, Literal, Literal, Variable, Dynamic]);
    assert_eq!(command.words[2].text, "my dir");
    assert_eq!(command.assignments[0].name, "A");
    let redirects: Vec<_> = command
        .redirects
        .iter()
        .map(|redirect| (redirect.kind, redirect.writes_file()))
        .collect();
    assert_eq!(
        redirects,
        [
            (RedirectKind::Append, true),
            (RedirectKind::Duplicate, false),
            (RedirectKind::Read, false)
        ]
    );
    assert_eq!(command.uncovered, ["$N", "\"$(pwd)\"", "A=1", ">>out.txt"]);
    assert_eq!(analysis.commands[1].program.as_deref(), Some("pwd"));
}

#[test]
fn a_wrapped_command_names_its_wrappers() {
    let analysis = analyze("sudo xargs -n1 rm -f");
    let wrapped: Vec<_> = analysis
        .commands
        .iter()
        .map(|command| command.wrapped_by.join(" "))
        .collect();
    assert_eq!(wrapped, ["", "sudo", "sudo xargs"]);
    assert_eq!(analysis.commands[2].text, "rm -f …");
}

#[test]
fn an_option_that_runs_or_writes_is_named() {
    assert_eq!(
        analyze("find . -name x -exec cat {} +").commands[0].risky_options,
        ["-exec"]
    );
    assert_eq!(analyze("rg --pre=./x y").commands[0].risky_options, ["--pre=./x"]);
    assert_eq!(analyze("git -c a.b=c log").commands[0].risky_options, ["-c"]);
    assert!(analyze("sort -k 2 a").commands[0].risky_options.is_empty());
}

/// Pieces that are joined into lines, so that the generator reaches deep into the grammar.
const PIECES: [&str; 52] = [
    "ls",
    "rm",
    " ",
    " ",
    "\n",
    ";",
    "&",
    "&&",
    "||",
    "|",
    "(",
    ")",
    "{ ",
    " }",
    "$(",
    "`",
    "'",
    "\"",
    "$'",
    "${",
    "}",
    "x",
    "$x",
    "${x:-",
    "<<E\n",
    "\nE\n",
    "<<'E'\n",
    "<<",
    "<<<",
    "<(",
    ">(",
    "> ",
    ">>",
    "2>&1",
    "$((",
    "))",
    "((",
    "[[ ",
    " ]]",
    "if ",
    "then ",
    "fi",
    "for x in ",
    "do ",
    "done",
    "case x in ",
    "esac",
    "\\",
    "#",
    "=",
    "f() ",
    "é",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

    #[test]
    fn no_text_panics(line in "\\PC{0,80}") {
        analyze(&line);
    }

    #[test]
    fn no_shell_text_panics(pieces in prop::collection::vec(prop::sample::select(&PIECES[..]), 0..40)) {
        analyze(&pieces.concat());
    }

    /// Whatever surrounds it, a command that stands on a line of its own is seen.
    #[test]
    fn a_line_of_its_own_is_never_lost(before in "[a-z ]{1,20}", after in "[a-z ]{1,20}") {
        let analysis = analyze(&format!("{before}\nrm -rf build\n{after}"));
        prop_assert_eq!(analysis.class(), Class::Destructive);
    }
}
