//! A shell line as data: the simple commands it would run.

use std::collections::HashMap;
use std::fmt;

use thiserror::Error;

/// What a command may do. Ordered: the class of a line is the maximum of its commands'.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// Looks only.
    Read,
    /// Changes files or state in a way that can be put right.
    Change,
    /// Not in the table, or it runs code that is not in the line.
    Unknown,
    /// Removes or overwrites what may not come back, or ends something.
    Destructive,
}

impl Class {
    /// `read`, `change`, `unknown` or `destructive`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Change => "change",
            Self::Unknown => "unknown",
            Self::Destructive => "destructive",
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What is known of a line before it runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Analysis {
    /// Every simple command, in the order of the text; what a wrapper runs follows the wrapper.
    ///
    /// Of an unparsable line these are the commands that were recognised: good enough for a rule that
    /// denies, never for one that allows.
    pub commands: Vec<SimpleCommand>,
    /// Why the line cannot be judged. It is then asked each time and never remembered.
    pub unparsable: Option<Unparsable>,
    /// Every value that the line itself gives to a variable: by assignment, in a declaration, as the values
    /// of a loop (one entry for each), as a default (`${x:=v}`).
    pub variables: Vec<Assignment>,
    /// Variables that the line surely sets, whatever else happens in it, each with the place in [`Self::commands`]
    /// from which on it is set. One that is set in a condition, a loop, a function, a pipeline or a subshell is not
    /// among them.
    pub settled: HashMap<String, usize>,
}

impl Analysis {
    /// The class of the whole line; at least `Unknown` when it is unparsable, `Read` when it does nothing.
    pub fn class(&self) -> Class {
        let floor = if self.unparsable.is_some() {
            Class::Unknown
        } else {
            Class::Read
        };
        self.commands
            .iter()
            .map(|command| command.class)
            .max()
            .map_or(floor, |class| class.max(floor))
    }

    /// Whether a text stands in a word of the line, or in the name or value of a variable.
    pub fn mentions(&self, text: &str) -> bool {
        let assigned =
            |assignment: &Assignment| assignment.name.contains(text) || assignment.value.text.contains(text);
        self.variables.iter().any(assigned)
            || self.commands.iter().any(|command| {
                command.words.iter().any(|word| word.text.contains(text))
                    || command.assignments.iter().any(assigned)
            })
    }
}

/// One simple command: a program with its arguments, assignments and redirects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SimpleCommand {
    /// As written, white space between words made one blank, here-document bodies left out.
    pub text: String,
    /// Program and arguments after quote removal. Empty for bare assignments, a redirect that stands alone
    /// or on a group, and arithmetic.
    pub words: Vec<Word>,
    /// What rules are matched with: like `words`, but a program in a folder of the system without the
    /// folder, and without the options before a subcommand (`/usr/bin/git -C x push` is `git push`). A word
    /// that is not literal stands as written. A rule that denies is to be matched with [`Self::program`] in
    /// the place of the first word, too.
    pub normal: Vec<String>,
    /// The program without its folder; `None` when there is none or the shell computes it.
    pub program: Option<String>,
    /// Variables that it sets, for itself or for what follows.
    pub assignments: Vec<Assignment>,
    /// Its redirects, here-documents included.
    pub redirects: Vec<Redirect>,
    /// What it may do.
    pub class: Class,
    /// Why it has that class, when that is not plain from the program: an end of sentence such as
    /// `-delete removes files`.
    pub reason: Option<String>,
    /// Its options (as written) that run another program, write or delete. A rule that allows the command
    /// covers them only when it names them.
    pub risky_options: Vec<String>,
    /// Those of [`Self::risky_options`] that run a program or write, and do not just destroy.
    pub running_options: Vec<String>,
    /// A script or an option in it decides what it does, and it is not known to be harmless: `awk` with a
    /// `system()`, `ps` with the environment. Only a rule for everything covers it.
    pub opaque: bool,
    /// Other parts (as written) that a rule never covers: assignments that may change what a program does,
    /// redirects that write a file, expansions that could become an option.
    pub uncovered: Vec<String>,
    /// What an answer is remembered as, in the form of a rule (`git push *`); `None` when it must not be.
    pub pattern: Option<String>,
    /// The programs that run it, outermost first (`["sudo", "xargs"]`); each is a command of its own, too.
    pub wrapped_by: Vec<String>,
}

impl Default for Class {
    /// `Unknown`: what nobody has judged.
    fn default() -> Self {
        Self::Unknown
    }
}

/// A word of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// After quote removal when it is literal, a pattern or a tilde path; else as written.
    pub text: String,
    /// What the shell makes of it.
    pub kind: WordKind,
    /// Whether the program could take it for an option: it begins with `-` or `+`, or with something that
    /// the shell replaces.
    pub may_be_option: bool,
}

impl Word {
    /// Whether the program sees exactly `text`.
    pub fn is_literal(&self) -> bool {
        self.kind == WordKind::Literal
    }
}

/// What the shell makes of a word before the program sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum WordKind {
    /// Nothing.
    Literal,
    /// Begins with `~`: a path in a home.
    Tilde,
    /// File names or several words: `*`, `?`, `[…]`, `{a,b}`.
    Pattern,
    /// Holds the value of a variable (`$NAME`, `"${NAME}"`) and nothing more.
    Variable,
    /// Holds a substitution, arithmetic or any other expansion; commands inside are listed on their own.
    Dynamic,
}

/// `NAME=value` before a command, in a declaration, or the variable of a loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// The name, without index.
    pub name: String,
    /// The value; arrays and the values of a loop are `Dynamic` unless all are literal.
    pub value: Word,
    /// `NAME+=…`: it is put behind what the variable holds.
    pub appends: bool,
}

/// One redirect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirect {
    /// As written, without the body of a here-document.
    pub text: String,
    /// What it does.
    pub kind: RedirectKind,
    /// The file, or the text of a here-string; `None` for file descriptors and here-documents.
    pub target: Option<Word>,
}

/// What a redirect does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RedirectKind {
    /// `< file`
    Read,
    /// `> file`, `>| file`, `&> file`
    Write,
    /// `>> file`, `&>> file`
    Append,
    /// `<> file`
    ReadWrite,
    /// `2>&1`, `>&2`, `<&3`, `>&-`
    Duplicate,
    /// `<<'EOF'`: the body is plain text.
    HereDoc,
    /// `<<EOF`: the body is expanded; commands in it are listed on their own.
    ExpandedHereDoc,
    /// `<<< word`
    HereString,
}

/// Files that may be written without changing anything.
const SINKS: [&str; 5] = ["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/zero"];

impl Redirect {
    /// Whether it writes a file other than `/dev/null` and the standard streams. A target that the shell
    /// computes counts as a file.
    pub fn writes_file(&self) -> bool {
        let writes = matches!(
            self.kind,
            RedirectKind::Write | RedirectKind::Append | RedirectKind::ReadWrite
        );
        writes
            && self
                .target
                .as_ref()
                .is_none_or(|word| !word.is_literal() || !SINKS.contains(&word.text.as_str()))
    }
}

/// Why a line cannot be judged. Each is the end of a sentence that begins "The line is asked each time:".
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Unparsable {
    /// More than the limit in bytes.
    #[error("it is longer than {0} bytes")]
    TooLong(usize),
    /// More than the limit of simple commands.
    #[error("it holds more than {0} commands")]
    TooMany(usize),
    /// A control character other than tab and newline.
    #[error("it holds the control character U+{0:04X}")]
    ControlCharacter(u32),
    /// Too many groups or substitutions within each other.
    #[error("it is nested too deeply")]
    TooDeep,
    /// Not well-formed, or a construct that is read differently by different shells.
    #[error("it is not understood near `{0}`")]
    Syntax(String),
    /// A construct that is understood but can run what is not in the line.
    #[error("{0}")]
    Opaque(String),
}
