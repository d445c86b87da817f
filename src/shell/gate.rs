//! What stands before the parser: limits, and tree-sitter as the judge of well-formedness.
//!
//! tree-sitter is total: it neither hangs nor overflows a stack, whatever it is given, and it is the one
//! that refuses the two inputs that make the tree parser allocate without bound or recurse too deeply. Its
//! list of commands is also a second opinion on the parser's. One thing it cannot be given is a character
//! above ASCII: its scanner (0.25.1) looks such a character up in a table of 256 and crashes.

use std::ops::ControlFlow;

use tree_sitter::{Node, ParseOptions, ParseState, Parser, Tree};

use super::command::Unparsable;

/// The longest line that is looked at, in bytes.
const MAX_BYTES: usize = 64 << 10;
/// The deepest nesting of groups, substitutions and compound commands.
const MAX_NESTING: usize = 48;

/// The most commands in one text.
const MAX_COMMANDS: usize = 1000;

/// How often tree-sitter may look up from its work, which it does every hundred steps: some ten thousand words.
/// There are texts of which it would hold gigabytes. Counted, not timed: a line is judged the same way on a busy
/// machine.
const EFFORT: usize = 300;

/// Names that tree-sitter takes for programs where the grammar has a reserved word.
const RESERVED: [&str; 20] = [
    "!", "{", "}", "[[", "]]", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for",
    "function", "if", "in", "then", "time", "while",
];

/// What tree-sitter found.
pub(super) struct Found {
    /// The words of each command as written, the program first; assignments and redirects left out.
    pub commands: Vec<Vec<String>>,
    /// Why it must not go to the tree parser.
    pub refused: Option<Unparsable>,
}

/// Looks at a line. What it refuses still has the commands that were recognised.
pub(super) fn look(line: &str) -> Found {
    if let Err(refused) = limits(line) {
        return Found {
            commands: Vec::new(),
            refused: Some(refused),
        };
    }
    let Some(tree) = tree(line) else {
        return Found {
            commands: Vec::new(),
            refused: Some(Unparsable::Opaque("it has too many parts".into())),
        };
    };
    let mut commands = Vec::new();
    let mut depth = Depth::default();
    let mut bad: Option<Node> = None;
    let mut cursor = tree.walk();
    'walk: loop {
        let node = cursor.node();
        let joined = node.kind() == "process_substitution" && is_joined(node, line);
        if bad.is_none() && (node.is_error() || node.is_missing() || joined) {
            bad = Some(node);
        }
        if node.kind() == "command" {
            commands.extend(words(node, line));
        }
        depth.enter(&node);
        if cursor.goto_first_child() {
            continue;
        }
        loop {
            depth.leave(&cursor.node());
            if cursor.goto_next_sibling() {
                break;
            }
            if !cursor.goto_parent() {
                break 'walk;
            }
        }
    }
    let refused = match bad {
        Some(node) => Some(Unparsable::Syntax(near(node, line))),
        None if tree.root_node().has_error() => Some(Unparsable::Syntax(start_of(line))),
        None if depth.deepest > MAX_NESTING => Some(Unparsable::TooDeep),
        None if commands.len() > MAX_COMMANDS => Some(Unparsable::TooMany(MAX_COMMANDS)),
        None => None,
    };
    Found { commands, refused }
}

fn limits(line: &str) -> Result<(), Unparsable> {
    if line.len() > MAX_BYTES {
        return Err(Unparsable::TooLong(MAX_BYTES));
    }
    if let Some(bad) = line
        .chars()
        .find(|char| char.is_control() && !matches!(char, '\t' | '\n'))
    {
        return Err(Unparsable::ControlCharacter(u32::from(bad)));
    }
    // Each begins a command, or a document: to look at thousands of them takes long, and they are refused in any case.
    if ["|", "<<"]
        .iter()
        .any(|part| line.matches(part).count() > MAX_COMMANDS)
    {
        return Err(Unparsable::TooMany(MAX_COMMANDS));
    }
    if brackets(line) > MAX_NESTING {
        return Err(Unparsable::TooDeep);
    }
    if has_empty_delimiter(line) {
        return Err(Unparsable::Syntax("<<".into()));
    }
    if has_number_of_its_own_line(line) {
        return Err(Unparsable::Opaque(
            "a number stands between `\\` and a redirect".into(),
        ));
    }
    Ok(())
}

/// Whether a continued line begins with a number, a blank and a redirect: the tree parser takes the number for that
/// of a stream, the shell for an argument.
fn has_number_of_its_own_line(line: &str) -> bool {
    line.match_indices("\\\n").any(|(at, joint)| {
        let rest = line.get(at + joint.len()..).unwrap_or_default();
        let after = rest
            .trim_start_matches([' ', '\t'])
            .trim_start_matches(|char: char| char.is_ascii_digit());
        let redirect = after.trim_start_matches([' ', '\t']);
        let has_number = rest
            .trim_start_matches([' ', '\t'])
            .starts_with(|char: char| char.is_ascii_digit());
        has_number && redirect.len() < after.len() && redirect.starts_with(['<', '>'])
    })
}

/// The deepest nesting of brackets, quotes not regarded: a bound for places that tree-sitter does not enter.
fn brackets(line: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    for byte in line.bytes() {
        match byte {
            b'(' | b'{' | b'[' => depth += 1,
            b')' | b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

/// Whether the delimiter of a here-document is an empty word (`<<""`), on which the tree parser would
/// allocate until memory ends. Quotes around `<<` are not regarded: a false alarm only asks.
fn has_empty_delimiter(line: &str) -> bool {
    line.match_indices("<<").any(|(at, _)| {
        let rest = line.get(at + 2..).unwrap_or_default();
        let rest = rest
            .strip_prefix('-')
            .unwrap_or(rest)
            .trim_start_matches([' ', '\t']);
        if rest.starts_with('<') || line.get(..at).is_some_and(|before| before.ends_with('<')) {
            return false; // `<<<` has a word, not a delimiter
        }
        let end = rest
            .find([' ', '\t', '\n', ';', '&', '|', '(', ')', '<', '>'])
            .unwrap_or(rest.len());
        let word = rest.get(..end).unwrap_or_default();
        word.chars().all(|char| matches!(char, '"' | '\'' | '\\' | '$'))
    })
}

fn tree(line: &str) -> Option<Tree> {
    // Letters of the same length: offsets stay, and to the grammar such a character is a letter anyway.
    let ascii: Vec<u8> = line
        .bytes()
        .map(|byte| if byte.is_ascii() { byte } else { b'x' })
        .collect();
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_bash::LANGUAGE.into()).ok()?;
    let mut checks = 0;
    let mut within_effort = |_: &ParseState| {
        checks += 1;
        if checks > EFFORT {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let mut read = |at: usize, _| ascii.get(at..).unwrap_or_default();
    let options = ParseOptions::new().progress_callback(&mut within_effort);
    parser.parse_with_options(&mut read, None, Some(options))
}

#[derive(Default)]
struct Depth {
    now: usize,
    deepest: usize,
}

impl Depth {
    fn nests(node: &Node) -> bool {
        matches!(
            node.kind(),
            "arithmetic_expansion"
                | "array"
                | "c_style_for_statement"
                | "case_statement"
                | "command_substitution"
                | "compound_statement"
                | "elif_clause"
                | "else_clause"
                | "expansion"
                | "for_statement"
                | "function_definition"
                | "heredoc_body"
                | "if_statement"
                | "negated_command"
                | "parenthesized_expression"
                | "process_substitution"
                | "string"
                | "subscript"
                | "subshell"
                | "test_command"
                | "unary_expression"
                | "while_statement"
        )
    }

    fn enter(&mut self, node: &Node) {
        if Self::nests(node) {
            self.now += 1;
            self.deepest = self.deepest.max(self.now);
        }
    }

    fn leave(&mut self, node: &Node) {
        if Self::nests(node) {
            self.now = self.now.saturating_sub(1);
        }
    }
}

fn words(node: Node, line: &str) -> Option<Vec<String>> {
    let name = node.child_by_field_name("name")?;
    let text = |node: Node| line.get(node.byte_range()).unwrap_or_default().to_owned();
    if RESERVED.contains(&text(name).as_str()) {
        return None;
    }
    let mut cursor = node.walk();
    let arguments = node.children_by_field_name("argument", &mut cursor).map(text);
    Some(std::iter::once(text(name)).chain(arguments).collect())
}

/// Whether `<(…)` touches another part of its word: the tree parser would make two words of it.
fn is_joined(node: Node, line: &str) -> bool {
    let before = node
        .start_byte()
        .checked_sub(1)
        .and_then(|at| line.as_bytes().get(at));
    // Escaped, it is a part of the word.
    let escaped = line.as_bytes().get(..node.start_byte().saturating_sub(1));
    if escaped.is_some_and(|before| before.ends_with(b"\\")) {
        return true;
    }
    let after = line.as_bytes().get(node.end_byte());
    let ends =
        |byte: Option<&u8>| byte.is_none_or(|byte| byte.is_ascii_whitespace() || b";&|<>()`".contains(byte));
    !(ends(before) && ends(after))
}

fn near(node: Node, line: &str) -> String {
    let start = node.start_byte().min(line.len());
    let rest = line.get(start..).unwrap_or_default().trim();
    if rest.is_empty() {
        start_of(line)
    } else {
        start_of(rest)
    }
}

/// A few words to name a place by.
pub(super) fn start_of(text: &str) -> String {
    const SHOWN: usize = 30;
    let first = text.lines().next().unwrap_or_default();
    match first.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", first.get(..end).unwrap_or_default()),
        None => first.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_commands_than_are_judged_are_not_looked_at() {
        let refused = |line: &str| look(line).refused;
        for part in ["ls | ", "cat <<E\n\nE\n"] {
            assert_eq!(
                refused(&part.repeat(1_001)),
                Some(Unparsable::TooMany(MAX_COMMANDS)),
                "{part}"
            );
        }
        assert_eq!(refused(&("ls | ".repeat(20) + "wc")), None);
    }

    #[test]
    fn killer_inputs_are_refused() {
        for line in [
            "<<\"\" ",
            "<<'' ",
            "cat <<-\"\"\n",
            "cat << $''",
            "cat a \\\n 1 >out",
            &"{ ".repeat(150),
            &"$(".repeat(60),
        ] {
            assert!(look(line).refused.is_some(), "{line:?}");
        }
    }

    #[test]
    fn characters_above_ascii_do_not_reach_the_scanner() {
        assert_eq!(
            look("echo {\u{10ffff}} größe").commands,
            [["echo", "{\u{10ffff}}", "größe"]]
        );
    }

    #[test]
    fn here_strings_and_named_delimiters_are_not_empty() {
        assert_eq!(look("cat <<< \"\"").refused, None);
        assert_eq!(look("cat <<'E'\nx\nE").refused, None);
    }

    #[test]
    fn commands_of_a_refused_line_are_still_found() {
        let found = look("rm -rf build; ${ x; }");
        assert!(found.refused.is_some());
        assert!(
            found
                .commands
                .contains(&vec!["rm".into(), "-rf".into(), "build".into()])
        );
    }
}
