//! What stands in a word besides plain text: parameter expansions, patterns, `$'…'`.

use brush_parser::word::{Parameter, ParameterExpr};

/// A parameter expansion, taken apart.
pub(super) struct Parts<'a> {
    pub parameter: Option<&'a Parameter>,
    pub indirect: bool,
    /// Words inside it.
    pub texts: Vec<&'a str>,
    /// Arithmetic inside it.
    pub arithmetic: Vec<&'a str>,
    /// More than the value of a variable.
    pub dynamic: bool,
}

/// The variable that `${NAME:=value}` sets, with the value.
pub(super) fn assigned(expr: &ParameterExpr) -> Option<(&str, &str)> {
    let ParameterExpr::AssignDefaultValues {
        parameter,
        default_value,
        ..
    } = expr
    else {
        return None;
    };
    let (Parameter::Named(name)
    | Parameter::NamedWithIndex { name, .. }
    | Parameter::NamedWithAllIndices { name, .. }) = parameter
    else {
        return None;
    };
    Some((name, default_value.as_deref().unwrap_or_default()))
}

/// The variables that arithmetic sets: all that it names when it holds an assignment.
pub(super) fn assigned_in_arithmetic(text: &str) -> Vec<String> {
    let plain = ["==", "!=", "<=", ">="]
        .iter()
        .fold(text.replace("<<=", "=").replace(">>=", "="), |text, compare| {
            text.replace(compare, " ")
        });
    if !(plain.contains('=') || plain.contains("++") || plain.contains("--")) {
        return Vec::new();
    }
    let names = text.split(|char: char| !(char.is_ascii_alphanumeric() || char == '_'));
    names
        .filter(|name| name.starts_with(|char: char| char.is_ascii_alphabetic() || char == '_'))
        .map(str::to_owned)
        .collect()
}

/// Exhaustive on purpose: a new kind of expansion in the parser must be looked at here.
pub(super) fn parts(expr: &ParameterExpr) -> Parts<'_> {
    use ParameterExpr as E;
    let (parameter, indirect, texts): (_, _, Vec<&str>) = match expr {
        E::Parameter { parameter, indirect }
        | E::ParameterLength { parameter, indirect }
        | E::Transform {
            parameter,
            indirect,
            op: _,
        }
        | E::Substring {
            parameter, indirect, ..
        } => (Some(parameter), *indirect, Vec::new()),
        E::UseDefaultValues {
            parameter,
            indirect,
            default_value: text,
            test_type: _,
        }
        | E::AssignDefaultValues {
            parameter,
            indirect,
            default_value: text,
            test_type: _,
        }
        | E::IndicateErrorIfNullOrUnset {
            parameter,
            indirect,
            error_message: text,
            test_type: _,
        }
        | E::UseAlternativeValue {
            parameter,
            indirect,
            alternative_value: text,
            test_type: _,
        }
        | E::RemoveSmallestSuffixPattern {
            parameter,
            indirect,
            pattern: text,
        }
        | E::RemoveLargestSuffixPattern {
            parameter,
            indirect,
            pattern: text,
        }
        | E::RemoveSmallestPrefixPattern {
            parameter,
            indirect,
            pattern: text,
        }
        | E::RemoveLargestPrefixPattern {
            parameter,
            indirect,
            pattern: text,
        }
        | E::UppercaseFirstChar {
            parameter,
            indirect,
            pattern: text,
        }
        | E::UppercasePattern {
            parameter,
            indirect,
            pattern: text,
        }
        | E::LowercaseFirstChar {
            parameter,
            indirect,
            pattern: text,
        }
        | E::LowercasePattern {
            parameter,
            indirect,
            pattern: text,
        } => (Some(parameter), *indirect, text.as_deref().into_iter().collect()),
        E::ReplaceSubstring {
            parameter,
            indirect,
            pattern,
            replacement,
            match_kind: _,
        } => {
            let texts = std::iter::once(pattern.as_str())
                .chain(replacement.as_deref())
                .collect();
            (Some(parameter), *indirect, texts)
        }
        E::VariableNames { .. } | E::MemberKeys { .. } => (None, false, Vec::new()),
    };
    Parts {
        parameter,
        indirect,
        texts,
        arithmetic: arithmetic(expr),
        dynamic: !is_plain(expr),
    }
}

fn arithmetic(expr: &ParameterExpr) -> Vec<&str> {
    match expr {
        ParameterExpr::Substring { offset, length, .. } => std::iter::once(offset)
            .chain(length)
            .map(|expr| expr.value.as_str())
            .collect(),
        _ => Vec::new(),
    }
}

/// Whether it is the value of a variable, or its length.
fn is_plain(expr: &ParameterExpr) -> bool {
    match expr {
        ParameterExpr::Parameter { parameter, .. } => !matches!(parameter, Parameter::NamedWithIndex { .. }),
        ParameterExpr::ParameterLength { .. } => true,
        _ => false,
    }
}

/// `@(a|b)` and the like: off in scripts, but another shell or `shopt` may have them on.
pub(super) fn has_extended_glob(text: &str) -> bool {
    text.match_indices('(').any(|(at, _)| {
        text.get(..at)
            .is_some_and(|before| before.ends_with(['?', '*', '+', '@', '!']))
    })
}

/// Whether a word has the brackets of `[a-z]`; the command `[` has not.
pub(super) fn has_brackets(raw: &str) -> bool {
    raw.split_once('[').is_some_and(|(_, rest)| rest.contains(']'))
}

/// Whether a word has the braces of `{a,b}` or `{1..3}`. Quotes are not regarded: such a word only counts
/// as a pattern too often.
pub(super) fn has_braces(raw: &str) -> bool {
    raw.find('{').is_some_and(|open| {
        let rest = raw.get(open..).unwrap_or_default();
        rest.contains('}') && (rest.contains(',') || rest.contains(".."))
    })
}

/// The value of `$'…'`; `None` for the escapes that need more than ASCII.
pub(super) fn decode_ansi_c(text: &str) -> Option<String> {
    let mut decoded = String::new();
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        if char != '\\' {
            decoded.push(char);
            continue;
        }
        let number = |chars: &mut std::iter::Peekable<std::str::Chars<'_>>, radix, limit| {
            let mut digits = String::new();
            while digits.len() < limit && chars.peek().is_some_and(|char| char.is_digit(radix)) {
                digits.extend(chars.next());
            }
            // A NUL ends the word, a byte above ASCII may be half a character.
            u8::from_str_radix(&digits, radix)
                .ok()
                .filter(|byte| (1..0x80).contains(byte))
                .map(char::from)
        };
        decoded.push(match chars.peek().copied()? {
            'x' => {
                chars.next();
                number(&mut chars, 16, 2)?
            }
            '0'..='7' => number(&mut chars, 8, 3)?,
            letter => {
                chars.next();
                match letter {
                    'n' => '\n',
                    't' => '\t',
                    'r' => '\r',
                    'a' => '\x07',
                    'b' => '\x08',
                    'f' => '\x0c',
                    'v' => '\x0b',
                    'e' | 'E' => '\x1b',
                    '\\' | '\'' | '"' | '?' => letter,
                    _ => return None,
                }
            }
        });
    }
    Some(decoded)
}
