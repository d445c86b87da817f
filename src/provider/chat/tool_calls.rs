//! Puts tool calls together from the pieces in which they come.
//!
//! The `index` of a piece says to which call it belongs, where a server sends one. Some send none,
//! some send 0 for every call, some repeat id and name in each piece, some send one constant id.

use super::chunk::CallDelta;
use crate::provider::arguments::is_object;
use crate::provider::conclude::PartialCall;

#[derive(Debug, Default)]
pub(super) struct ToolCalls {
    calls: Vec<IndexedCall>,
}

/// A call whose arguments may not be complete.
#[derive(Debug, Default)]
struct IndexedCall {
    index: Option<u64>,
    call: PartialCall,
}

impl ToolCalls {
    /// The calls in the order in which they began.
    pub(super) fn take(&mut self) -> Vec<PartialCall> {
        let calls = std::mem::take(&mut self.calls).into_iter();
        calls.map(|indexed| indexed.call).collect()
    }

    pub(super) fn add(&mut self, delta: &CallDelta) {
        let id = delta.id.as_deref().unwrap_or_default();
        let name = delta
            .function
            .as_ref()
            .and_then(|f| f.name.as_deref())
            .unwrap_or_default();
        let known = self.continued(delta.index, id, name);
        let at = known.unwrap_or_else(|| {
            self.calls.push(IndexedCall {
                index: delta.index,
                ..IndexedCall::default()
            });
            self.calls.len() - 1
        });
        let Some(IndexedCall { call, .. }) = self.calls.get_mut(at) else {
            return;
        };
        // Later pieces repeat id and name, or send them empty.
        if call.id.is_empty() {
            call.id.push_str(id);
        }
        if call.name.is_empty() {
            call.name.push_str(name);
        }
        if let Some(function) = &delta.function {
            call.arguments.push_str(&function.arguments());
        }
    }

    /// The call that a piece continues; None for the first piece of one.
    fn continued(&self, index: Option<u64>, id: &str, name: &str) -> Option<usize> {
        let at = match index {
            Some(_) => self.calls.iter().rposition(|known| known.index == index)?,
            None if !id.is_empty() => self.calls.iter().rposition(|known| known.call.id == id)?,
            None => self.calls.len().checked_sub(1)?,
        };
        let call = &self.calls.get(at)?.call;
        let other_id = !id.is_empty() && !call.id.is_empty() && call.id != id;
        let complete = !call.arguments.trim().is_empty() && is_object(&call.arguments);
        let starts_anew =
            !name.is_empty() && !call.name.is_empty() && (other_id || (index.is_none() && complete));
        (!starts_anew).then_some(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each piece is `index id name arguments`, `-` for what is left out.
    fn put_together(pieces: &[&str]) -> Vec<String> {
        let mut calls = ToolCalls::default();
        for piece in pieces {
            let fields: Vec<Option<&str>> = piece.split(' ').map(|f| (f != "-").then_some(f)).collect();
            let json = serde_json::json!({
                "index": fields[0].map(|index| index.parse::<u64>().unwrap()),
                "id": fields[1],
                "function": { "name": fields[2], "arguments": fields[3] },
            });
            calls.add(&serde_json::from_value(json).unwrap());
        }
        let calls = calls.take().into_iter();
        calls
            .map(|call| format!("{} {} {}", call.id, call.name, call.arguments))
            .collect()
    }

    #[test]
    fn pieces_find_their_call() {
        for (why, pieces, expected) in [
            (
                "by index",
                &["0 a f -", "1 b g -", "1 - - {\"q\"", "0 - - {}", "1 - - :2}"][..],
                &["a f {}", "b g {\"q\":2}"][..],
            ),
            (
                "index 0 for all",
                &["0 a f {}", "0 b g {\"q\"", "0 - - :2}"],
                &["a f {}", "b g {\"q\":2}"],
            ),
            (
                "no index",
                &["- a f {\"p\":", "- - - 1}", "- b g {}"],
                &["a f {\"p\":1}", "b g {}"],
            ),
            (
                "id and name in each piece",
                &["- a f {\"p\":", "- a f 1}", "- b g {}"],
                &["a f {\"p\":1}", "b g {}"],
            ),
            (
                "one constant id",
                &["- x f {}", "- x g {}"],
                &["x f {}", "x g {}"],
            ),
            (
                "neither id nor index",
                &["- - f {\"p\"", "- - - :1}", "- - g {}"],
                &[" f {\"p\":1}", " g {}"],
            ),
            ("arguments before the name", &["0 a - -", "0 - f {}"], &["a f {}"]),
        ] {
            assert_eq!(put_together(pieces), expected, "{why}");
        }
    }
}
