//! Wrappers of the form `NAME OPTIONS OPERANDS PROGRAM ARGUMENTS`, as a table.

use super::command::{Word, WordKind};
use super::env::guards;
use super::unwrap::{Inner, Wrapped, line_of};

/// A wrapper of the form `NAME OPTIONS OPERANDS PROGRAM ARGUMENTS`.
pub(super) struct Wrapper {
    /// A program, or a program with its subcommand.
    names: &'static str,
    /// Options that take a value.
    values: &'static str,
    /// Options that take none, or only one that is joined to them.
    flags: &'static str,
    /// Words between the options and the program.
    operands: usize,
    /// `NAME=value` words may stand before the program.
    assigns: bool,
    /// Why it is not harmless itself, if so.
    reason: Option<&'static str>,
    /// Flags that take the whole environment away.
    clears: &'static str,
    /// Options whose value is a variable that is taken away.
    unsets: &'static str,
}

impl Wrapper {
    /// Whether it is unknown whatever its arguments are.
    pub fn is_always_unknown(&self) -> bool {
        self.reason.is_some()
    }
}

const PLAIN: Wrapper = Wrapper {
    names: "",
    values: "",
    flags: "",
    operands: 0,
    assigns: false,
    reason: None,
    clears: "",
    unsets: "",
};
const RIGHTS: Option<&str> = Some("it runs with the rights of another user");
const FETCHED: Option<&str> = Some("it may fetch and run a package");
const ENVIRONMENT: Option<&str> = Some("it runs in another environment");

const WRAPPERS: &[Wrapper] = &[
    Wrapper {
        values: "-k --kill-after -s --signal",
        flags: "-f --foreground -p --preserve-status -v --verbose",
        operands: 1,
        ..named("timeout, gtimeout")
    },
    Wrapper {
        values: "-n --adjustment",
        ..named("nice")
    },
    Wrapper {
        values: "-c -n --class --classdata",
        flags: "-t --ignore",
        ..named("ionice")
    },
    named("nohup, builtin, busybox, toybox, chronic"),
    Wrapper {
        flags: "-c --ctty -f --fork -w --wait",
        ..named("setsid")
    },
    Wrapper {
        values: "-i --input -o --output -e --error",
        ..named("stdbuf")
    },
    Wrapper {
        values: "-f --format",
        flags: "-p --portability -v --verbose",
        ..named("time")
    },
    Wrapper {
        values: "-u --unset -C --chdir",
        flags: "- -i --ignore-environment -0 --null -v --debug",
        assigns: true,
        clears: "- -i --ignore-environment",
        unsets: "-u --unset",
        ..named("env")
    },
    Wrapper {
        flags: "-p",
        ..named("command")
    },
    Wrapper {
        values: "-a",
        flags: "-c -l",
        clears: "-c",
        ..named("exec")
    },
    Wrapper {
        values: "-I -n --max-args -P --max-procs -d --delimiter -a --arg-file -L -s --max-chars -E",
        flags: "-0 --null -r --no-run-if-empty -t --verbose -x --exit -i --replace",
        ..named("xargs, gxargs")
    },
    Wrapper {
        values: "-j --jobs -a --arg-file -C --colsep -d --delimiter -I -n --max-args -N -L --joblog --results --timeout --delay",
        flags: "-0 --null -k --keep-order -r --no-run-if-empty -t --verbose -v -X -m -q --quote --bar --progress --halt --line-buffer --tag",
        reason: Some("a shell reads its words once more"),
        ..named("parallel")
    },
    Wrapper {
        values: "-u --user -g --group -h --host -p --prompt -C --close-from -r --role -t --type -T -U -D --chdir -R --chroot",
        flags: "-A --askpass -b --background -E --preserve-env -H --set-home -n --non-interactive -P -S --stdin -k -i --login -s --shell",
        assigns: true,
        reason: RIGHTS,
        ..named("sudo")
    },
    Wrapper {
        values: "-u -C",
        flags: "-n -s",
        reason: RIGHTS,
        ..named("doas")
    },
    Wrapper {
        values: "-w --wait --timeout -E",
        flags: "-s --shared -x --exclusive -n --nonblock -u -e -o -F",
        operands: 1,
        reason: Some("it makes a lock file"),
        ..named("flock")
    },
    Wrapper {
        values: "-e -o -p -s -u -P",
        flags: "-f -ff -c -C -q -t -tt -T -v -y",
        reason: Some("it traces another program"),
        ..named("strace, ltrace")
    },
    Wrapper {
        operands: 1,
        reason: RIGHTS,
        ..named("chroot")
    },
    Wrapper {
        values: "-p --package -w --workspace",
        flags: "-y --yes -q --quiet",
        reason: FETCHED,
        ..named("npx, bunx, uvx, pipx run, npm exec, pnpm exec, pnpm dlx, yarn dlx, yarn exec")
    },
    Wrapper {
        values: "--with --python -p --project --directory",
        flags: "--frozen --locked --no-sync -q",
        reason: ENVIRONMENT,
        ..named("uv run, poetry run, pipenv run, bundle exec, mise exec, rye run, hatch run")
    },
    Wrapper {
        operands: 1,
        reason: ENVIRONMENT,
        ..named("direnv exec")
    },
    Wrapper {
        values: "-n --interval",
        flags: "-d --differences -t --no-title -e --errexit -g --chgexit -x --exec -b -c",
        ..named("watch")
    },
];

const fn named(names: &'static str) -> Wrapper {
    Wrapper { names, ..PLAIN }
}

/// The row of a command, and how many words name it.
pub(super) fn find(normal: &[String]) -> Option<(&'static Wrapper, usize)> {
    let (first, second) = (normal.first()?.as_str(), normal.get(1).map(String::as_str));
    // By the name of the file: a wrapper elsewhere is judged as its namesake, and as unknown besides.
    let first = first.rsplit('/').next().unwrap_or(first);
    WRAPPERS.iter().find_map(|wrapper| {
        wrapper
            .names
            .split(',')
            .find_map(|name| match name.trim().split_once(' ') {
                None => (name.trim() == first).then_some((wrapper, 1)),
                Some((program, sub)) => (program == first && Some(sub) == second).then_some((wrapper, 2)),
            })
    })
}

/// Skips options, assignments and operands of a wrapper; the rest is what it runs.
pub(super) fn unwrap(wrapper: &Wrapper, program: &str, arguments: &[Word]) -> Wrapped {
    let known = |list: &str, option: &str| list.split_ascii_whitespace().any(|known| known == option);
    let mut words = arguments.iter().enumerate().peekable();
    let mut reason = wrapper.reason.map(str::to_owned);
    let mut replaced: Option<String> = None;
    while let Some((_, word)) = words.peek() {
        let text = word.text.as_str();
        if !word.is_literal() {
            if word.may_be_option {
                reason.get_or_insert_with(|| format!("`{text}` could become an option of `{program}`"));
            }
            break;
        }
        if text == "--" {
            words.next();
            break;
        }
        if !text.starts_with('-') {
            break;
        }
        words.next();
        let option = Opt::read(
            text,
            |option| known(wrapper.values, option),
            |option| known(wrapper.flags, option),
        );
        let next = words.peek().map(|(_, word)| *word);
        if has(wrapper.clears, text) || (has(wrapper.unsets, text) && unsets_guard(text, next)) {
            reason.get_or_insert_with(|| {
                format!("`{text}` takes away what keeps programs from running others")
            });
        }
        match option {
            Opt::Flag => {}
            // `nice -5` and `xargs -1`
            Opt::Unknown
                if text
                    .trim_start_matches('-')
                    .bytes()
                    .all(|byte| byte.is_ascii_digit()) => {}
            Opt::Unknown => {
                reason.get_or_insert_with(|| format!("`{text}` of `{program}` is not known"));
            }
            Opt::Value => {
                let value = words.next();
                if text == "-I" {
                    replaced = value.map(|(_, word)| word.text.clone());
                }
            }
        }
        if text.starts_with("-I") && text.len() > 2 {
            replaced = text.get(2..).map(str::to_owned);
        } else if text == "-i" || text == "--replace" {
            replaced = Some("{}".into());
        }
    }
    if wrapper.assigns {
        while let Some((_, word)) = words.next_if(|(_, word)| is_assignment(word)) {
            if !word
                .text
                .split_once('=')
                .is_some_and(|(name, _)| super::class::is_harmless(name))
            {
                reason.get_or_insert_with(|| format!("`{}` may change what programs do", word.text));
            }
        }
    }
    for _ in 0..wrapper.operands {
        words.next();
    }
    let start = words.peek().map_or(arguments.len(), |(at, _)| *at);
    let mut inner = arguments.get(start..).unwrap_or_default().to_vec();
    let mut parts = Vec::new();
    match program {
        "xargs" | "gxargs" | "parallel" => feed(&mut inner, replaced.as_deref()),
        // `watch` and `flock -c` give a line to a shell.
        "watch"
            if !arguments
                .iter()
                .any(|word| matches!(word.text.as_str(), "-x" | "--exec")) =>
        {
            let joined = line_of(&inner, "`watch` runs what is not in the line");
            return Wrapped {
                reason: reason.or(joined.reason),
                class: joined.class,
                inner: joined.inner,
            };
        }
        "flock" if inner.first().is_some_and(|word| word.text == "-c") => {
            return line_of(
                inner.get(1..).unwrap_or_default(),
                "`flock -c` runs what is not in the line",
            );
        }
        _ => {}
    }
    if !inner.is_empty() {
        parts.push(Inner::Words(inner));
    }
    match reason {
        Some(reason) => Wrapped::opaque(reason, parts),
        None => Wrapped::clear(parts),
    }
}

/// Whether an option, which may be several letters in one word, is or holds one of a list.
fn has(list: &str, text: &str) -> bool {
    let name = text.split('=').next().unwrap_or_default();
    list.split_ascii_whitespace().any(|option| {
        let letter = option.strip_prefix('-').filter(|letter| letter.len() == 1);
        name == option || letter.is_some_and(|letter| !text.starts_with("--") && text.contains(letter))
    })
}

/// Whether `-uNAME`, `--unset=NAME` or `-u NAME` takes a variable away that keeps programs quiet.
fn unsets_guard(text: &str, next: Option<&Word>) -> bool {
    let joined = match text.strip_prefix("--") {
        Some(long) => long.split_once('=').map(|(_, name)| name),
        None => text
            .split_once('u')
            .map(|(_, name)| name)
            .filter(|name| !name.is_empty()),
    };
    match (joined, next) {
        (Some(name), _) => guards(name),
        (None, Some(word)) => !word.is_literal() || guards(&word.text),
        (None, None) => false,
    }
}

/// An option of a wrapper.
enum Opt {
    /// Takes nothing, or its value is joined to it.
    Flag,
    /// The next word is its value.
    Value,
    Unknown,
}

impl Opt {
    fn read(text: &str, takes_value: impl Fn(&str) -> bool, is_flag: impl Fn(&str) -> bool) -> Self {
        if is_flag(text) {
            return Self::Flag;
        }
        if takes_value(text) {
            return Self::Value;
        }
        if text.starts_with("--") {
            let name = text.split('=').next().unwrap_or_default();
            let joined = name.len() < text.len();
            return if joined && (takes_value(name) || is_flag(name)) {
                Self::Flag
            } else {
                Self::Unknown
            };
        }
        // Letters in one word: flags, and at last perhaps one that takes a value.
        let mut letters = text.chars().skip(1).peekable();
        while let Some(letter) = letters.next() {
            let option = format!("-{letter}");
            if takes_value(&option) {
                return if letters.peek().is_some() {
                    Self::Flag
                } else {
                    Self::Value
                };
            }
            if !is_flag(&option) {
                return Self::Unknown;
            }
        }
        Self::Flag
    }
}

/// `xargs` adds arguments that are not in the line, at the end or in the place of a word.
fn feed(inner: &mut Vec<Word>, replaced: Option<&str>) {
    if inner.is_empty() {
        return; // without a program it prints
    }
    match replaced.filter(|replaced| !replaced.is_empty()) {
        Some(replaced) => {
            for word in inner.iter_mut().filter(|word| word.text.contains(replaced)) {
                word.kind = WordKind::Dynamic;
                word.may_be_option |= word.text.starts_with(replaced);
            }
        }
        None => inner.push(Word {
            text: "…".into(),
            kind: WordKind::Dynamic,
            may_be_option: true,
        }),
    }
}

/// `env` and its kin take any word with a `=` for an assignment, also one whose name is none.
fn is_assignment(word: &Word) -> bool {
    word.text
        .split_once('=')
        .is_some_and(|(name, _)| !name.is_empty())
}
