//! Words, assignments and redirects of the tree as data.

use brush_parser::ast;

use super::command::{Assignment, Redirect, RedirectKind, Word, WordKind};
use super::parse::Raw;
use super::words::Inside;

pub(super) type Lists<'a> = Vec<&'a ast::CompoundList>;

pub(super) fn item_of<'a>(
    item: &'a ast::CommandPrefixOrSuffixItem,
    before: bool,
    raw: &mut Raw,
    inside: &mut Inside,
    lists: &mut Lists<'a>,
) {
    use ast::CommandPrefixOrSuffixItem as I;
    match item {
        I::IoRedirect(redirect) => redirect_of(redirect, raw, inside, lists),
        I::Word(word) => {
            raw.texts.push(word.value.clone());
            raw.words.push(inside.word(&word.value));
        }
        I::AssignmentWord(assignment, word) => {
            raw.texts.push(word.value.clone());
            let assignment = assignment_of(assignment, inside);
            raw.odd_value |= !is_plain_value(&assignment.value);
            if !before {
                // An argument like any other; `export` and its kin make an assignment of it.
                let value = &assignment.value;
                let text = match word.value.split_once('=') {
                    Some((name, _)) if value.kind < WordKind::Variable && !is_array(&word.value) => {
                        format!("{name}={}", value.text)
                    }
                    _ => word.value.clone(),
                };
                raw.words.push(Word {
                    text,
                    ..value.clone()
                });
                return;
            }
            raw.assignments.push(assignment);
        }
        I::ProcessSubstitution(kind, command) => {
            lists.push(&command.list);
            let text = format!("{kind}(…)");
            raw.texts.push(text.clone());
            // A path under /dev/fd.
            raw.words.push(Word {
                text,
                kind: WordKind::Dynamic,
                may_be_option: false,
            });
        }
    }
}

/// Whether what is assigned is `(…)`.
fn is_array(raw: &str) -> bool {
    raw.split_once('=')
        .is_some_and(|(_, value)| value.starts_with('('))
}

pub(super) fn assignment_of(assignment: &ast::Assignment, inside: &mut Inside) -> Assignment {
    let name = match &assignment.name {
        ast::AssignmentName::VariableName(name) => name.clone(),
        ast::AssignmentName::ArrayElementName(name, index) => {
            inside.arithmetic(index);
            name.clone()
        }
    };
    let value = match &assignment.value {
        ast::AssignmentValue::Scalar(word) => inside.word(&word.value),
        ast::AssignmentValue::Array(elements) => {
            let mut plain = true;
            for (index, word) in elements {
                if let Some(index) = index {
                    inside.arithmetic(&index.value);
                }
                plain &= is_plain_value(&inside.word(&word.value));
            }
            let text = elements
                .iter()
                .map(|(_, word)| word.value.as_str())
                .collect::<Vec<_>>()
                .join(" ");
            Word {
                text,
                kind: if plain {
                    WordKind::Literal
                } else {
                    WordKind::Dynamic
                },
                may_be_option: false,
            }
        }
    };
    Assignment {
        name,
        value,
        appends: assignment.append,
    }
}

pub(super) fn redirect_of<'a>(
    redirect: &'a ast::IoRedirect,
    raw: &mut Raw,
    inside: &mut Inside,
    lists: &mut Lists<'a>,
) {
    use ast::IoFileRedirectKind as K;
    use ast::IoFileRedirectTarget as T;
    let (text, kind, target) = match redirect {
        ast::IoRedirect::File(fd, operator, target) => {
            let kind = match operator {
                K::Read => RedirectKind::Read,
                K::Write | K::Clobber => RedirectKind::Write,
                K::Append => RedirectKind::Append,
                K::ReadAndWrite => RedirectKind::ReadWrite,
                K::DuplicateInput | K::DuplicateOutput => RedirectKind::Duplicate,
            };
            let fd = fd.map(|fd| fd.to_string()).unwrap_or_default();
            match target {
                T::Filename(word) => (
                    format!("{fd}{operator}{}", word.value),
                    kind,
                    Some(inside.word(&word.value)),
                ),
                T::Fd(to) => (format!("{fd}{operator}{to}"), RedirectKind::Duplicate, None),
                T::ProcessSubstitution(which, command) => {
                    lists.push(&command.list);
                    (format!("{fd}{operator}{which}(…)"), RedirectKind::Duplicate, None)
                }
                T::Duplicate(word) => {
                    if word.value.len() > 1 && word.value.starts_with('-') {
                        // bash closes the stream, and the rest is an argument.
                        inside.opaque("shells differ in what `-` after `>&` or `<&` ends");
                    }
                    let target = inside.word(&word.value);
                    let digits = target.text.trim_end_matches('-');
                    let stream = target.is_literal() && digits.bytes().all(|byte| byte.is_ascii_digit());
                    let text = format!("{fd}{operator}{}", word.value);
                    match (stream, operator) {
                        (true, _) => (text, RedirectKind::Duplicate, None),
                        (false, K::DuplicateInput) => (text, RedirectKind::Read, Some(target)),
                        // `>& file`
                        (false, _) => (text, RedirectKind::Write, Some(target)),
                    }
                }
            }
        }
        ast::IoRedirect::OutputAndError(word, append) => {
            let kind = if *append {
                RedirectKind::Append
            } else {
                RedirectKind::Write
            };
            let operator = if *append { "&>>" } else { "&>" };
            (
                format!("{operator}{}", word.value),
                kind,
                Some(inside.word(&word.value)),
            )
        }
        ast::IoRedirect::HereString(_, word) => (
            format!("<<<{}", word.value),
            RedirectKind::HereString,
            Some(inside.word(&word.value)),
        ),
        ast::IoRedirect::HereDocument(_, document) => {
            let kind = if document.requires_expansion {
                inside.here_document(&document.doc.value);
                RedirectKind::ExpandedHereDoc
            } else {
                RedirectKind::HereDoc
            };
            (format!("<<{}", document.here_end.value), kind, None)
        }
    };
    raw.texts.push(text.clone());
    raw.redirects.push(Redirect { text, kind, target });
}

/// Whether a value stays a value when arithmetic evaluates it.
pub(super) fn is_plain_value(word: &Word) -> bool {
    matches!(word.kind, WordKind::Literal | WordKind::Tilde | WordKind::Pattern)
        && !word.text.contains(['$', '`', '[', '<', '>', '='])
        && !word.text.contains("++")
        && !word.text.contains("--")
}
