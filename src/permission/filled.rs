//! What the shell would put in the place of `$NAME`, `${NAME…}` and `$(…)`, as far as the line says.
//!
//! The line's own assignments count, whatever their order: each value is one reading of the word. Where it is not sure
//! that one of them comes before the use, the variable may also hold nothing, or something else. Of the environment only
//! the home and the working directory are known.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use crate::permission::ground::Ground;
use crate::shell::command::{Analysis, SimpleCommand, Word, WordKind};

/// Variables that the shell itself fills with parts of the line or with input.
const FILLED_BY_SHELL: [&str; 6] = ["_", "REPLY", "MAPFILE", "OPTARG", "DIRSTACK", "COPROC"];
/// Builtins that fill the variables which they name.
const READERS: [&str; 5] = ["read", "mapfile", "readarray", "getopts", "printf"];

/// Readings of one word at most.
const MAX_READINGS: usize = 16;
/// How deep values may hold variables.
const MAX_DEPTH: usize = 4;

/// The readings of a word.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filled {
    /// With the values that are known; what is not known stands as written.
    pub texts: Vec<String>,
    /// The same with nothing in the place of what is not known: `.e${X}nv` may be `.env`. Empty when all is
    /// known.
    pub emptied: Vec<String>,
    /// Whether it comes from a substitution, from an argument or from a value that the line computes.
    pub computed: bool,
    /// Whether a variable is in it that the line does not set, or not surely before it is used.
    pub foreign: bool,
    /// Whether it may be more than is listed here: there are too many readings, or a value is put together as the
    /// line runs (`x+=y`). What it names is not known.
    pub exhausted: bool,
}

/// The variables of a line.
#[derive(Clone, Debug, Default)]
pub struct Variables {
    values: HashMap<String, Vec<Word>>,
    /// Those that are appended to: how often, and in which order, only the run of the line tells.
    appended: HashSet<String>,
    /// Those that a builtin fills with what it reads.
    read: HashSet<String>,
    /// Those that have one of their values wherever the line uses them.
    settled: HashSet<String>,
    home: Option<String>,
    cwd: String,
    top: String,
}

/// One expansion in a text.
struct Expansion<'t> {
    before: &'t str,
    raw: &'t str,
    after: &'t str,
}

impl Variables {
    /// Those of a line, and the places that are known.
    pub fn new(ground: &Ground, analysis: &Analysis) -> Self {
        let mut values: HashMap<String, Vec<Word>> = HashMap::new();
        let mut appended = HashSet::new();
        for assignment in &analysis.variables {
            if assignment.appends {
                appended.insert(assignment.name.clone());
            }
            values
                .entry(assignment.name.clone())
                .or_default()
                .push(assignment.value.clone());
        }
        let text = |path: &Path| path.display().to_string();
        let top = ground.cwd.ancestors().find(|folder| folder.join(".git").exists());
        Self {
            values,
            appended,
            read: read_names(analysis),
            settled: settled(analysis),
            home: ground.home.as_deref().map(text),
            cwd: text(&ground.cwd),
            top: text(top.unwrap_or(&ground.cwd)),
        }
    }

    /// The readings of a word. A literal one has itself.
    pub fn fill(&self, word: &Word) -> Filled {
        if matches!(word.kind, WordKind::Variable | WordKind::Dynamic) {
            self.text(&unquoted(&word.text), 0)
        } else {
            Filled {
                texts: vec![word.text.clone()],
                ..Filled::default()
            }
        }
    }

    fn text(&self, text: &str, depth: usize) -> Filled {
        let mut filled = Filled::default();
        let found = next_expansion(text);
        filled.exhausted = found.is_some() && depth > MAX_DEPTH;
        let Some(found) = found.filter(|_| !filled.exhausted) else {
            filled.texts.push(text.to_owned());
            return filled;
        };
        let Values {
            texts: values,
            emptied,
            computed,
            foreign,
            exhausted,
        } = self.values(found.raw, depth);
        let after = self.text(found.after, depth);
        filled.computed = computed || after.computed;
        filled.foreign = foreign || after.foreign;
        filled.exhausted = exhausted || after.exhausted;
        let unknown = computed || foreign;
        for value in values
            .iter()
            .map(String::as_str)
            .chain(unknown.then_some(found.raw))
        {
            for rest in &after.texts {
                let text = format!("{}{value}{rest}", found.before);
                filled.exhausted |= !push(&mut filled.texts, text);
            }
        }
        if unknown || !emptied.is_empty() || !after.emptied.is_empty() {
            let rests = if after.emptied.is_empty() {
                &after.texts
            } else {
                &after.emptied
            };
            let values = values.iter().chain(&emptied).map(String::as_str);
            for value in values.chain(unknown.then_some("")) {
                for rest in rests {
                    let text = format!("{}{value}{rest}", found.before);
                    filled.exhausted |= !push(&mut filled.emptied, text);
                }
            }
        }
        filled
    }

    /// The values of one expansion.
    fn values(&self, raw: &str, depth: usize) -> Values {
        if let Some(command) = substitution(raw) {
            return match command.split_whitespace().collect::<Vec<_>>().as_slice() {
                ["pwd"] | ["pwd", "-P" | "-L"] => Values::known(self.cwd.clone()),
                ["git", "rev-parse", "--show-toplevel"] => Values::known(self.top.clone()),
                _ => Values::computed(),
            };
        }
        let inner = raw.trim_start_matches('$');
        let inner = inner
            .strip_prefix('{')
            .and_then(|inner| inner.strip_suffix('}'))
            .unwrap_or(inner);
        let end = inner
            .find(|char: char| !(char.is_ascii_alphanumeric() || char == '_'))
            .unwrap_or(inner.len());
        let (name, operator) = inner.split_at(end);
        if name.is_empty()
            || name.starts_with(|char: char| char.is_ascii_digit())
            || FILLED_BY_SHELL.contains(&name)
            || name.starts_with("BASH_")
        {
            // `$1`, `$@`, `$?`, `${#x}`, `$_`
            return Values::computed();
        }
        let mut values = Values {
            computed: self.read.contains(name),
            exhausted: self.appended.contains(name),
            ..Values::default()
        };
        match name {
            "HOME" => values.texts.extend(self.home.clone()),
            "PWD" | "OLDPWD" => values.texts.push(self.cwd.clone()),
            _ => {}
        }
        match self.values.get(name) {
            Some(words) => {
                for word in words {
                    let plain = !matches!(word.kind, WordKind::Variable | WordKind::Dynamic);
                    if plain {
                        values.add(word.text.clone());
                        // Unquoted it becomes several words.
                        word.text
                            .split_whitespace()
                            .filter(|part| *part != word.text)
                            .for_each(|part| values.add(part.to_owned()));
                        continue;
                    }
                    let value = self.text(&unquoted(&word.text), depth + 1);
                    values.computed |= value.computed || depth >= MAX_DEPTH;
                    values.take(value);
                }
                values.foreign |= !self.settled.contains(name);
            }
            None => values.foreign = values.texts.is_empty() && !values.computed,
        }
        let plain = operator.trim_start_matches(':');
        match plain.chars().next() {
            None | Some('?') => {}
            Some('-' | '=' | '+') => {
                let other = self.text(plain.get(1..).unwrap_or_default(), depth + 1);
                values.computed |= other.computed;
                values.take(other);
                if plain.starts_with('+') {
                    values.emptied.push(String::new());
                }
            }
            // A part of the value, or another form of it.
            Some(_) => values.computed = true,
        }
        values
    }
}

/// The variables that builtins fill: any word of theirs that can be a name, one too many rather than one too few.
fn read_names(analysis: &Analysis) -> HashSet<String> {
    let fills = |command: &&SimpleCommand| {
        let program = command.program.as_deref();
        program.is_some_and(|program| READERS.contains(&program))
    };
    let words = analysis
        .commands
        .iter()
        .filter(fills)
        .flat_map(|command| &command.words);
    words
        .map(|word| word.text.split('[').next().unwrap_or_default().to_owned())
        .collect()
}

/// The variables of [`Analysis::settled`] that no command uses before, and none takes away again.
fn settled(analysis: &Analysis) -> HashSet<String> {
    let uses = |command: &SimpleCommand, name: &str| {
        let values = command.assignments.iter().map(|assignment| &assignment.value);
        let targets = command
            .redirects
            .iter()
            .filter_map(|redirect| redirect.target.as_ref());
        let mut words = command.words.iter().chain(values).chain(targets);
        words.any(|word| word.text.contains(&format!("${name}")) || word.text.contains(&format!("${{{name}")))
    };
    let unsets = |command: &SimpleCommand, name: &str| {
        let is_meant = |word: &Word| word.text == name || !word.is_literal();
        command.program.as_deref() == Some("unset") && command.words.iter().skip(1).any(is_meant)
    };
    let is_sure = |name: &str, place: usize| {
        let mut before = analysis.commands.iter().take(place);
        !before.any(|command| uses(command, name))
            && !analysis.commands.iter().any(|command| unsets(command, name))
    };
    let sure = analysis
        .settled
        .iter()
        .filter(|(name, place)| is_sure(name, **place));
    sure.map(|(name, _)| name.clone()).collect()
}

/// The values of one expansion, and whether it may also be something else, as in [`Filled`].
#[derive(Default)]
struct Values {
    texts: Vec<String>,
    emptied: Vec<String>,
    computed: bool,
    foreign: bool,
    exhausted: bool,
}

impl Values {
    fn known(text: String) -> Self {
        Self {
            texts: vec![text],
            ..Self::default()
        }
    }

    fn computed() -> Self {
        Self {
            computed: true,
            ..Self::default()
        }
    }

    fn add(&mut self, text: String) {
        self.exhausted |= !push(&mut self.texts, text);
    }

    /// The readings of a value, but for whether it is computed.
    fn take(&mut self, value: Filled) {
        self.foreign |= value.foreign;
        self.exhausted |= value.exhausted;
        value.texts.into_iter().for_each(|text| self.add(text));
        for text in value.emptied {
            self.exhausted |= !push(&mut self.emptied, text);
        }
    }
}

/// A word as written without its quotes.
fn unquoted(text: &str) -> String {
    text.replace("$'", "'")
        .replace("$\"", "\"")
        .replace(['"', '\'', '\\'], "")
}

/// Whether there is room for it, or it is there already.
fn push(texts: &mut Vec<String>, text: String) -> bool {
    if texts.contains(&text) {
        return true;
    }
    let room = texts.len() < MAX_READINGS;
    if room {
        texts.push(text);
    }
    room
}

/// The command of `$(…)` or of backquotes.
fn substitution(raw: &str) -> Option<&str> {
    let parens = raw.strip_prefix("$(").and_then(|raw| raw.strip_suffix(')'));
    parens.or_else(|| raw.strip_prefix('`').and_then(|raw| raw.strip_suffix('`')))
}

/// The first expansion of a text; its end is that of the brackets it opens.
fn next_expansion(text: &str) -> Option<Expansion<'_>> {
    let at = text.find(['$', '`'])?;
    let (before, rest) = text.split_at(at);
    let bytes = rest.as_bytes();
    let closing = |open: u8, close: u8| {
        let mut depth = 0_usize;
        for (at, byte) in bytes.iter().enumerate() {
            if *byte == open {
                depth += 1;
            } else if *byte == close {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return at + 1;
                }
            }
        }
        bytes.len()
    };
    let name = |from: usize| {
        rest.get(from..)
            .unwrap_or_default()
            .find(|char: char| !(char.is_ascii_alphanumeric() || char == '_'))
            .map_or(rest.len(), |end| from + end)
    };
    let end = match (bytes.first(), bytes.get(1)) {
        (Some(b'`'), _) => rest.get(1..)?.find('`').map_or(rest.len(), |end| end + 2),
        (_, Some(b'{')) => closing(b'{', b'}'),
        (_, Some(b'(')) => closing(b'(', b')'),
        (_, Some(byte)) if byte.is_ascii_alphabetic() || *byte == b'_' => name(1),
        (_, Some(byte)) if byte.is_ascii() => 2,
        _ => 1,
    };
    let (raw, after) = (rest.get(..end)?, rest.get(end..)?);
    Some(Expansion { before, raw, after })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell::parse::analyze;

    fn filled(line: &str) -> Filled {
        let ground = Ground::new(Path::new("/w"), Some(Path::new("/h")), &[], &[]);
        let analysis = analyze(line);
        let command = analysis
            .commands
            .iter()
            .rfind(|command| command.program.as_deref() == Some("p"));
        let word = command.and_then(|command| command.words.last()).unwrap().clone();
        Variables::new(&ground, &analysis).fill(&word)
    }

    /// The readings of the last word of a line; `?` in front when it is computed, `!` when the line does not set
    /// all of it.
    fn last(line: &str) -> String {
        let filled = filled(line);
        let mark = |is: bool, mark: &'static str| if is { mark } else { "" };
        format!(
            "{}{}{}",
            mark(filled.computed, "?"),
            mark(filled.foreign, "!"),
            filled.texts.join("|")
        )
    }

    #[test]
    fn the_lines_own_values_are_filled_in() {
        for (line, expected) in [
            ("d=.git; p $d", ".git"),
            ("d=.git; p \"$d/x\"", ".git/x"),
            ("a=.en; p ${a}v", ".env"),
            ("d=a; d=b; p $d", "a|b"),
            ("for d in a b; do p $d; done", "a|b"),
            ("export d=a; p $d", "a"),
            ("a=1; b=$a/2; p $b", "1/2"),
            ("p ${HOME:?}/x", "/h/x"),
            ("p $(pwd)", "/w"),
            ("p `pwd`/x", "/w/x"),
            ("p ${x:=.env}", "!.env|${x:=.env}"),
            ("p $X/y", "!$X/y"),
            ("a=$X; p $a", "!$X|$a"),
            ("a=x; p ${a:-$(cat y)}", "?x|$(cat y)|${a:-$(cat y)}"),
            ("a=x; p ${a%y}", "?x|${a%y}"),
            ("p $OLDPWD", "/w"),
            ("p $(git rev-parse --show-toplevel)", "/w"),
            ("a=b; p ${a}$_c", "!b$_c"),
            ("p $(echo $(ls))x", "?$(echo $(ls))x"),
            ("p $(cat x)", "?$(cat x)"),
            ("x=$(cat y); p $x", "?$(cat y)|$x"),
            ("p $1", "?$1"),
            ("p '$x'", "$x"),
            ("a=b; p $é$a", "?$éb"),
        ] {
            assert_eq!(last(line), expected, "{line}");
        }
    }

    #[test]
    fn what_is_not_known_may_be_nothing() {
        for (line, expected) in [
            ("p .e${X}nv", ".env"),
            ("p $X", ""),
            ("p ${X}a$Y", "a"),
            ("p x$(ls)y", "xy"),
        ] {
            assert!(filled(line).emptied.contains(&expected.to_owned()), "{line}");
        }
        for line in ["p a", "a=b; p $a", "p $HOME/x", "p ${x:-y}$PWD"] {
            assert!(
                filled(line).emptied.is_empty() || line.contains("${x"),
                "{line}: {:?}",
                filled(line)
            );
        }
    }

    #[test]
    fn the_number_of_readings_and_their_depth_are_bounded() {
        let values: String = (0..40).map(|n| format!("a=v{n}; ")).collect();
        let many = filled(&format!("{values}p $a"));
        assert_eq!((many.texts.len(), many.exhausted), (MAX_READINGS, true));
        assert!(filled("a=$b; b=$a; p $a").computed, "a value that holds itself");
    }

    #[test]
    fn what_is_appended_to_may_hold_anything_that_is_put_together() {
        for line in [
            "a=x; a+=y; p $a",
            "a=x; export a+=y; p b$a",
            "a=(x); a+=(y); p $a",
            "b=$a; a+=y; p $b",
        ] {
            assert!(filled(line).exhausted, "{line}");
        }
        assert!(!filled("a=x; a+=y; p $b").exhausted);
    }
}
