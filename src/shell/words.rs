//! One word of a line: what it is after quote removal, and what the shell runs to expand it.

use brush_parser::ParserOptions;
use brush_parser::word::{
    Parameter, ParameterExpr, ParameterTransformOp, SpecialParameter, WordPiece, WordPieceWithSource, parse,
    parse_heredoc,
};

use super::command::{Assignment, Unparsable, Word, WordKind};
use super::expansions::{
    Parts, assigned, assigned_in_arithmetic, decode_ansi_c, has_braces, has_brackets, has_extended_glob,
    parts,
};
use super::gate::start_of;

/// How the parser is set: bash as it runs a script, where extended globs are off.
pub(super) fn options() -> ParserOptions {
    ParserOptions {
        enable_extended_globbing: false,
        ..ParserOptions::default()
    }
}

/// How deep words may hold words.
const MAX_DEPTH: usize = 16;

/// What was found in a word beside its text.
#[derive(Debug, Default)]
pub(super) struct Inside {
    /// Programs of command substitutions, unescaped: to be parsed on their own.
    pub programs: Vec<String>,
    /// Arithmetic that reads variables: the shell evaluates their values, too.
    pub reads_in_arithmetic: bool,
    /// Variables that expanding it sets.
    pub assigns: Vec<Assignment>,
    /// The first thing that cannot be judged.
    pub refused: Option<Unparsable>,
}

impl Inside {
    fn refuse(&mut self, why: Unparsable) {
        self.refused.get_or_insert(why);
    }

    /// A construct that cannot be judged, and why.
    pub fn opaque(&mut self, why: &str) {
        self.refuse(Unparsable::Opaque(why.to_owned()));
    }

    /// Reads a word as it stands in a command.
    pub fn word(&mut self, raw: &str) -> Word {
        let mut inside = Self::default();
        let mut reading = Reading::new(raw, &mut inside);
        match parse(raw, &options()) {
            Ok(pieces) => reading.pieces(&pieces, Quoting::None, 0),
            Err(_) => reading.inside.refuse(Unparsable::Syntax(start_of(raw))),
        }
        if reading.inside.refused.is_some() {
            // What the parser made of it is not to be trusted.
            reading.replaced(WordKind::Dynamic, true);
        }
        let word = reading.finish();
        self.programs.append(&mut inside.programs);
        self.assigns.append(&mut inside.assigns);
        self.reads_in_arithmetic |= inside.reads_in_arithmetic;
        if let Some(why) = inside.refused {
            self.refuse(why);
        }
        word
    }

    /// Reads the body of a here-document that is expanded.
    pub fn here_document(&mut self, body: &str) {
        self.expanded(body, 0, &[Quoting::Double]);
    }

    /// Reads arithmetic: it is expanded as if in double quotes, then evaluated.
    pub fn arithmetic(&mut self, text: &str) {
        self.arithmetic_at(text, 0);
    }

    fn arithmetic_at(&mut self, text: &str, depth: usize) {
        if text.contains('\'') {
            self.opaque("it has quotes in arithmetic");
        }
        if text.contains(|char: char| char.is_alphabetic() || matches!(char, '_' | '$')) {
            self.reads_in_arithmetic = true;
        }
        for name in assigned_in_arithmetic(text) {
            self.assign(name, String::new(), WordKind::Dynamic);
        }
        self.expanded(text, depth, &[Quoting::Double]);
    }

    fn assign(&mut self, name: String, text: String, kind: WordKind) {
        let value = Word {
            text,
            kind,
            may_be_option: false,
        };
        self.assigns.push(Assignment {
            name,
            value,
            appends: false,
        });
    }

    /// Text inside another expansion. Whether quotes count there depends on the quotes outside, and shells
    /// differ: it is read in each way of `quotings`, and all that is found counts.
    fn expanded(&mut self, text: &str, depth: usize, quotings: &[Quoting]) {
        if depth > MAX_DEPTH {
            self.refuse(Unparsable::TooDeep);
            return;
        }
        for quoting in quotings {
            let pieces = match quoting {
                Quoting::None => parse(text, &options()),
                Quoting::Double => parse_heredoc(text, &options()),
            };
            match pieces {
                Ok(pieces) => Reading::new(text, self).pieces(&pieces, *quoting, depth + 1),
                Err(_) => self.refuse(Unparsable::Syntax(start_of(text))),
            }
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Quoting {
    None,
    Double,
}

/// A word being put together.
struct Reading<'a> {
    raw: &'a str,
    inside: &'a mut Inside,
    text: String,
    kind: WordKind,
    /// Nothing that produces a character has come yet.
    at_start: bool,
    may_be_option: bool,
}

impl<'a> Reading<'a> {
    fn new(raw: &'a str, inside: &'a mut Inside) -> Self {
        Self {
            raw,
            inside,
            text: String::new(),
            kind: WordKind::Literal,
            at_start: true,
            may_be_option: false,
        }
    }

    fn finish(self) -> Word {
        let text = match self.kind {
            WordKind::Literal | WordKind::Pattern | WordKind::Tilde => self.text,
            WordKind::Variable | WordKind::Dynamic => self.raw.to_owned(),
        };
        Word {
            text,
            kind: self.kind,
            may_be_option: self.may_be_option,
        }
    }

    fn raise(&mut self, kind: WordKind) {
        self.kind = self.kind.max(kind);
    }

    fn literal(&mut self, text: &str) {
        if self.at_start && !text.is_empty() {
            self.at_start = false;
            self.may_be_option |= text.starts_with(['-', '+']);
        }
        self.text.push_str(text);
    }

    /// Something that the shell replaces; unquoted it may also become several words.
    fn replaced(&mut self, kind: WordKind, splits: bool) {
        self.raise(kind);
        self.may_be_option |= self.at_start || splits;
        self.at_start = false;
    }

    fn pieces(&mut self, pieces: &[WordPieceWithSource], quoting: Quoting, depth: usize) {
        if depth > MAX_DEPTH {
            self.inside.refuse(Unparsable::TooDeep);
            return;
        }
        for piece in pieces {
            self.piece(piece, quoting, depth);
        }
    }

    fn piece(&mut self, piece: &WordPieceWithSource, quoting: Quoting, depth: usize) {
        let unquoted = quoting == Quoting::None;
        match &piece.piece {
            WordPiece::Text(text) => self.plain(text, piece.end_index, unquoted),
            WordPiece::SingleQuotedText(text) => self.literal(text),
            WordPiece::AnsiCQuotedText(text) => self.ansi_c(text),
            WordPiece::DoubleQuotedSequence(inner) | WordPiece::GettextDoubleQuotedSequence(inner) => {
                self.pieces(inner, Quoting::Double, depth + 1);
            }
            WordPiece::TildeExpansion(_) => {
                self.raise(WordKind::Tilde);
                self.at_start = false;
                let raw = self.raw.get(piece.start_index..piece.end_index).unwrap_or("~");
                self.text.push_str(raw);
            }
            WordPiece::ParameterExpansion(expr) => self.parameter(expr, unquoted, depth),
            WordPiece::CommandSubstitution(program) => {
                self.inside.programs.push(program.clone());
                self.replaced(WordKind::Dynamic, unquoted);
            }
            WordPiece::BackquotedCommandSubstitution(_) => self.backquoted(piece, unquoted),
            WordPiece::EscapeSequence(text) => {
                let char = text.strip_prefix('\\').unwrap_or(text);
                // An escaped newline is nothing at all.
                self.literal(if char == "\n" { "" } else { char });
            }
            WordPiece::ArithmeticExpression(expr) => {
                self.inside.arithmetic_at(&expr.value, depth + 1);
                self.replaced(WordKind::Dynamic, unquoted);
            }
        }
    }

    fn plain(&mut self, text: &str, end: usize, unquoted: bool) {
        let next = self.raw.get(end..).and_then(|rest| rest.chars().next());
        let cut_off = text.ends_with('$') && matches!(next, Some('{' | '(' | '['));
        if cut_off || text.contains("${") || text.contains("$(") || text.contains('`') {
            // The parser did not see an expansion that the shell would.
            self.inside.refuse(Unparsable::Syntax(start_of(self.raw)));
        }
        if !unquoted {
            self.literal(&text.replace("\\\n", ""));
            return;
        }
        if text.contains("<(") || text.contains(">(") || has_extended_glob(text) {
            self.inside.refuse(Unparsable::Syntax(start_of(text)));
        }
        if text.contains(['*', '?']) || has_brackets(self.raw) || has_braces(self.raw) {
            self.raise(WordKind::Pattern);
            if self.at_start && text.starts_with(['*', '?', '[', '{']) {
                self.may_be_option = true;
            }
        }
        self.literal(text);
    }

    fn ansi_c(&mut self, text: &str) {
        if text.contains("\\'") {
            self.inside.opaque("shells differ in where `$'…\\'…'` ends");
        }
        match decode_ansi_c(text) {
            Some(decoded) => self.literal(&decoded),
            None => self.replaced(WordKind::Dynamic, false),
        }
    }

    fn backquoted(&mut self, piece: &WordPieceWithSource, unquoted: bool) {
        // Not the parser's text: it keeps backslashes that the shell removes before it parses.
        let raw = self
            .raw
            .get(piece.start_index..piece.end_index)
            .unwrap_or_default();
        let inner = raw
            .strip_prefix('`')
            .and_then(|raw| raw.strip_suffix('`'))
            .unwrap_or(raw);
        if !unquoted && inner.contains('\\') {
            self.inside.opaque("it has backslashes in quoted backquotes");
        }
        let mut program = String::new();
        let mut chars = inner.chars().peekable();
        while let Some(char) = chars.next() {
            match chars.peek() {
                Some(next @ ('$' | '`' | '\\')) if char == '\\' => {
                    program.push(*next);
                    chars.next();
                }
                _ => program.push(char),
            }
        }
        self.inside.programs.push(program);
        self.replaced(WordKind::Dynamic, unquoted);
    }

    fn parameter(&mut self, expr: &ParameterExpr, unquoted: bool, depth: usize) {
        let Parts {
            parameter,
            indirect,
            texts,
            arithmetic,
            dynamic,
        } = parts(expr);
        if indirect {
            self.inside
                .opaque("it expands a variable whose name is in another variable");
        }
        if matches!(
            expr,
            ParameterExpr::Transform {
                op: ParameterTransformOp::PromptExpand,
                ..
            }
        ) {
            self.inside.opaque("`@P` runs what the variable holds");
        }
        if let Some((name, value)) = assigned(expr) {
            let kind = if value.contains(['$', '`', '\\', '\'', '"']) {
                WordKind::Dynamic
            } else {
                WordKind::Literal
            };
            self.inside.assign(name.to_owned(), value.to_owned(), kind);
        }
        let mut splits = unquoted;
        match parameter {
            Some(Parameter::NamedWithIndex { index, .. }) => {
                self.inside.arithmetic_at(index, depth + 1);
                splits = true;
            }
            Some(Parameter::NamedWithAllIndices { .. }) => splits = true,
            Some(Parameter::Special(SpecialParameter::AllPositionalParameters { .. })) => splits = true,
            _ => {}
        }
        for text in texts {
            if text.contains("<(") || text.contains(">(") {
                self.inside.refuse(Unparsable::Syntax(start_of(text)));
            }
            self.inside
                .expanded(text, depth + 1, &[Quoting::None, Quoting::Double]);
        }
        for text in arithmetic {
            self.inside.arithmetic_at(text, depth + 1);
        }
        self.replaced(
            if dynamic {
                WordKind::Dynamic
            } else {
                WordKind::Variable
            },
            splits,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(raw: &str) -> (String, WordKind, bool) {
        let mut inside = Inside::default();
        let word = inside.word(raw);
        assert_eq!(inside.refused, None, "{raw}");
        (word.text, word.kind, word.may_be_option)
    }

    fn programs(raw: &str) -> Vec<String> {
        let mut inside = Inside::default();
        inside.word(raw);
        inside.programs
    }

    fn refused(raw: &str) -> bool {
        let mut inside = Inside::default();
        inside.word(raw);
        inside.refused.is_some()
    }

    #[test]
    fn quotes_and_escapes_are_removed() {
        for raw in [
            "rm",
            "r\\m",
            "\\rm",
            "\"rm\"",
            "'r'm",
            "r\"\"m",
            "r\\\nm",
            "$'rm'",
            "$'\\x72\\155'",
            "\"r\\\nm\"",
        ] {
            assert_eq!(word(raw), ("rm".into(), WordKind::Literal, false), "{raw}");
        }
        assert_eq!(word("'--x'"), ("--x".into(), WordKind::Literal, true));
        assert_eq!(word("\"a > b && c\"").0, "a > b && c");
    }

    #[test]
    fn what_the_shell_replaces_is_no_literal() {
        assert_eq!(word("*.go"), ("*.go".into(), WordKind::Pattern, true));
        assert_eq!(word("./*"), ("./*".into(), WordKind::Pattern, false));
        assert_eq!(word("a{b,c}"), ("a{b,c}".into(), WordKind::Pattern, false));
        assert_eq!(word("~/x"), ("~/x".into(), WordKind::Tilde, false));
        assert_eq!(word("$HOME"), ("$HOME".into(), WordKind::Variable, true));
        assert_eq!(
            word("\"./${X}\""),
            ("\"./${X}\"".into(), WordKind::Variable, false)
        );
        assert!(word("./$X").2);
        assert_eq!(word("'*'"), ("*".into(), WordKind::Literal, false));
        assert_eq!(word("${x:-y}").1, WordKind::Dynamic);
    }

    #[test]
    fn programs_are_found_however_deep() {
        assert_eq!(programs("\"$(rm x)\""), ["rm x"]);
        assert_eq!(programs("`rm \\`pwd\\``"), ["rm `pwd`"]);
        assert_eq!(programs("`echo \\\\\\; rm x`"), ["echo \\\\; rm x"]);
        assert!(programs("\"${y:-'$(rm x)'}\"").contains(&"rm x".into()));
        assert!(programs("${x#$(rm x)}").contains(&"rm x".into()));
        assert!(programs("$((1 + $(rm x)))").contains(&"rm x".into()));
        assert!(programs("${a[$(rm x)]}").contains(&"rm x".into()));
        assert!(programs("'$(rm x)'").is_empty());
    }

    #[test]
    fn what_cannot_be_judged_is_refused() {
        for raw in [
            "${ rm x; }",
            "${x:-<(rm x)}",
            "${!x}",
            "${x@P}",
            "@(a|b)",
            "$'a\\'b'",
            "$(( a['$(rm)'] ))",
        ] {
            assert!(refused(raw), "{raw}");
        }
    }
}
