//! What judging a line may cost, whatever the line is: no more than 64 MiB, and (measured by hand) 10 ms.

use std::path::Path;
use std::time::{Duration, Instant};

use dcode::shell::parse::analyze;

use crate::other_process;
use crate::shell_oracle::grammar::Grammar;

/// Lines that have killed parsers, or that are as large as a line can be.
fn killers() -> Vec<(String, String)> {
    let nested = |open: &str, close: &str, count: usize| {
        let line = format!("{}ls{}", open.repeat(count), close.repeat(count));
        (format!("{count} nested {open:?}"), line)
    };
    let times = |part: &str, count: usize| (format!("{count} times {part:?}"), part.repeat(count));
    let full = 64 << 10;
    vec![
        ("an empty delimiter".into(), "<<\"\" ".into()),
        ("an empty delimiter after `<<-`".into(), "cat <<-''\nx".into()),
        times("<<E ", 2000),
        times("cat <<E\n$(ls)\nE\n", 2000),
        nested("{ ", "; }", 47),
        nested("{ ", "; }", 150),
        nested("(", ")", 47),
        nested("((", "))", 23),
        nested("if ", "; then :; fi", 47),
        nested("if ", "; then :; fi", 2000),
        nested("echo $(", ")", 11),
        nested("echo $(", ")", 47),
        nested("echo \"$(", ")\"", 47),
        nested("echo ${x:-", "}", 47),
        nested("echo $((", "))", 20),
        nested("! ", "", 5000),
        nested("sh -c '", "'", 500),
        nested("sudo ", "", 8000),
        nested("f() { ", "; }", 47),
        nested("case x in x) ", ";; esac", 47),
        times("`", full),
        times("$(", full / 2),
        times("(", full),
        times("{", full),
        times("\"", full),
        times("\\", full),
        times("$", full),
        times("${x", full / 3),
        times("[[ ", full / 3),
        times("{a,b}", full / 5),
        times("*", full),
        times("x", full),
        times("x", 1 << 20),
        times("ls; ", full / 4),
        times("ls | ", full / 5),
        times("ls | ", 1700),
        times("ls && ", full / 6),
        times("ls\n", 999),
        times("x=1 ", full / 4),
        times(">f ", full / 3),
        times("echo $(ls) ", 199),
        times("echo `ls` ", 2000),
        times("$((1+", full / 5),
        times("日", full / 3),
        times("f() { ls; }; ", 900),
        times("$'\\x61'", full / 8),
        times("'a'\"b\"", full / 6),
    ]
}

/// Lines of the oracle's grammar, alone and many in one.
fn generated(count: u64) -> Vec<(String, String)> {
    let line = |seed| Grammar::new(seed).text();
    let alone = (0..count).map(|seed| (format!("seed {seed}"), line(seed)));
    let joined = (0..count / 100).map(|part| {
        let lines: Vec<String> = (0..100).map(|at| line(part * 100 + at)).collect();
        (format!("seeds from {}", part * 100), lines.join("\n"))
    });
    alone.chain(joined).collect()
}

/// The most memory that this process has held, in KiB, since [`forget_peak`].
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    number.unwrap_or(0)
}

/// From now on [`peak`] counts anew; what an earlier line left to the allocator counts for each line.
fn forget_peak() {
    std::fs::write("/proc/self/clear_refs", "5").unwrap();
}

/// The process whose memory is looked at: libraries in C take theirs where no Rust allocator counts it.
#[test]
#[ignore = "run by the test below, in a process of its own"]
fn child_judges_lines() {
    if other_process::folder().is_none() {
        return;
    }
    analyze("ls"); // what is made once
    let lines = killers().into_iter().chain(generated(600));
    let mut most = (0, String::new());
    for (name, line) in lines {
        forget_peak();
        let before = peak();
        analyze(&line);
        let grown = peak().saturating_sub(before);
        if grown > 16 << 10 {
            println!("{} MiB: {name}", grown >> 10);
        }
        most = most.max((grown, name));
    }
    println!("grown by {} KiB: {}", most.0, most.1);
}

#[test]
#[cfg(target_os = "linux")]
fn no_line_needs_more_than_64_mebibytes() {
    let output = other_process::command("shell_limits::child_judges_lines", Path::new("/"), "")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let grown = text
        .split("grown by ")
        .nth(1)
        .and_then(|rest| rest.split(' ').next()?.parse::<u64>().ok());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(grown.is_some_and(|grown| grown < 64 << 10), "{text}{said}");
    println!("{text}");
}

#[test]
#[ignore = "a measurement: make bench"]
fn speed_of_judging_lines() {
    let measure = |what: &str, lines: Vec<(String, String)>| {
        let mut times: Vec<(Duration, String, bool)> = lines
            .into_iter()
            .map(|(name, line)| {
                let started = Instant::now();
                let judged = analyze(&line).unparsable.is_none();
                (started.elapsed(), name, judged)
            })
            .collect();
        times.sort();
        let over = times.iter().filter(|time| time.0 > Duration::from_millis(10));
        println!(
            "{what}: {} lines, median {:?}, 99 % {:?}, {} over 10 ms; the slowest:",
            times.len(),
            times[times.len() / 2].0,
            times[times.len() * 99 / 100].0,
            over.count()
        );
        for (time, name, judged) in times.iter().rev().take(6) {
            let judged = if *judged { "judged" } else { "refused" };
            println!("    {time:10.2?} {name}, {judged}");
        }
    };
    measure("killers", killers());
    measure("generated", generated(20_000));
}
