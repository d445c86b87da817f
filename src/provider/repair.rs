//! Makes a history fit to be sent: every call directly followed by its result, and no result
//! without a call.
//!
//! A provider refuses a request for ever after one that breaks this, so it is mended each time a
//! request is built and old session files heal. The work goes from the first message to the last
//! and never looks back, so a longer history has the same beginning as a shorter one.

use std::collections::{HashMap, HashSet, VecDeque};

use super::arguments::is_object;
use crate::protocol::ids::CallId;
use crate::protocol::message::{Block, Message, Role, ToolCall, ToolResult};

/// The result of a call that never got one: the person stopped the turn, or the editor was killed.
pub const INTERRUPTED: &str = "Interrupted: this call was stopped before it gave a result. \
                               What it did until then is not known; look before you run it again.";

/// The longest id that OpenAI takes; other providers make longer ones.
const ID_LENGTH: usize = 40;
/// What is kept of an id that is too long or taken, with room for a number.
const STEM_LENGTH: usize = 32;

/// The history as it may be sent.
///
/// * It starts with a message of the person; what stands before (a cut of compaction) is dropped.
/// * The results of a message's calls follow it directly, in one [`Role::Tool`] message, in the
///   order of the calls. A call without a result gets [`INTERRUPTED`]. Ids are matched within the
///   turn, because some providers use the same id again in every turn.
/// * A call whose arguments are no JSON object and which never ran (no result, or [`INTERRUPTED`]) is an
///   unfinished one and goes, with its result. One that got another result stays.
/// * Results without a call, messages left with nothing to say, and sealed reasoning at the end of one, go.
/// * Ids are unique: the second `call_0` becomes `call_0-2` in call and result alike.
///
/// `paired(&paired(x)) == paired(x)`.
pub fn paired(history: &[Message]) -> Vec<Message> {
    let start = history
        .iter()
        .position(|message| of_the_person(message).is_some());
    let history = start.and_then(|start| history.get(start..)).unwrap_or_default();
    let mut ids = UniqueIds::default();
    let mut out = Vec::with_capacity(history.len());
    let mut rest = history;
    while let Some((message, after)) = rest.split_first() {
        rest = after;
        if message.role != Role::Assistant {
            out.extend(of_the_person(message));
            continue;
        }
        let length = rest
            .iter()
            .take_while(|next| next.role != Role::Assistant)
            .count();
        let (span, later) = rest.split_at(length);
        rest = later;
        let (spoken, results) = answered(message, span, &mut ids);
        if has_something_to_say(&spoken) {
            out.push(spoken);
        }
        if !results.blocks.is_empty() {
            out.push(results);
        }
        out.extend(span.iter().filter_map(of_the_person));
    }
    out
}

/// The assistant's message without unfinished calls, and the message with the results.
fn answered(message: &Message, span: &[Message], ids: &mut UniqueIds) -> (Message, Message) {
    let mut waiting: HashMap<&CallId, VecDeque<&ToolResult>> = HashMap::new();
    for block in span.iter().flat_map(|message| &message.blocks) {
        if let Block::ToolResult(result) = block {
            waiting.entry(&result.id).or_default().push_back(result);
        }
    }
    let mut spoken = Vec::with_capacity(message.blocks.len());
    let mut results = Vec::new();
    for block in &message.blocks {
        let Block::ToolCall(call) = block else {
            if !matches!(block, Block::ToolResult(_)) {
                spoken.push(block.clone());
            }
            continue;
        };
        let result = waiting.get_mut(&call.id).and_then(VecDeque::pop_front);
        if is_unfinished(call, result) {
            continue;
        }
        let id = ids.claim(&call.id);
        spoken.push(Block::ToolCall(ToolCall {
            id: id.clone(),
            ..call.clone()
        }));
        results.push(Block::ToolResult(match result {
            Some(result) => ToolResult { id, ..result.clone() },
            None => ToolResult {
                id,
                text: INTERRUPTED.to_owned(),
                is_error: true,
                media: Vec::new(),
            },
        }));
    }
    // Sealed reasoning with nothing behind it is refused: its word or call was cut off.
    let last = spoken.iter().rposition(says_something);
    let mut at = 0..;
    spoken.retain(|block| {
        let behind = at.next() > last;
        !(behind && matches!(block, Block::Sealed { .. }))
    });
    let message_of = |role, blocks| Message { role, blocks };
    (
        message_of(Role::Assistant, spoken),
        message_of(Role::Tool, results),
    )
}

fn is_unfinished(call: &ToolCall, result: Option<&ToolResult>) -> bool {
    let ran = result.is_some_and(|result| result.text != INTERRUPTED);
    !ran && !is_object(&call.arguments)
}

/// What a message of the person says; None when that is nothing, or it is not the person's.
fn of_the_person(message: &Message) -> Option<Message> {
    if message.role != Role::User {
        return None;
    }
    let mut message = message.clone();
    message
        .blocks
        .retain(|block| matches!(block, Block::Text { .. } | Block::Media { .. }));
    has_something_to_say(&message).then_some(message)
}

/// Reasoning alone is no message: the turn was stopped while the model thought.
fn has_something_to_say(message: &Message) -> bool {
    message.blocks.iter().any(says_something)
}

fn says_something(block: &Block) -> bool {
    match block {
        Block::Text { text } => !text.trim().is_empty(),
        Block::ToolCall(_) | Block::Media { .. } => true,
        Block::Reasoning { .. } | Block::Sealed { .. } | Block::ToolResult(_) => false,
    }
}

#[derive(Default)]
struct UniqueIds {
    taken: HashSet<String>,
}

impl UniqueIds {
    fn claim(&mut self, id: &CallId) -> CallId {
        let mut stem: String = id.0.chars().take(STEM_LENGTH).collect();
        if stem.is_empty() {
            stem.push_str("call");
        }
        let usable = (1..=ID_LENGTH).contains(&id.0.chars().count());
        let mut claimed = if usable { id.0.clone() } else { stem.clone() };
        let mut number = 1_u32;
        while !self.taken.insert(claimed.clone()) {
            number += 1;
            claimed = format!("{stem}-{number}");
        }
        CallId(claimed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(id: &str, arguments: &str) -> Block {
        Block::ToolCall(ToolCall {
            id: CallId(id.into()),
            name: "ls".into(),
            arguments: arguments.into(),
        })
    }

    fn result(id: &str, text: &str) -> Block {
        Block::ToolResult(ToolResult {
            id: CallId(id.into()),
            text: text.into(),
            is_error: text == INTERRUPTED,
            media: vec![],
        })
    }

    fn text(text: &str) -> Block {
        Block::Text { text: text.into() }
    }

    fn says(role: Role, blocks: Vec<Block>) -> Message {
        Message { role, blocks }
    }

    use Role::{Assistant, Tool, User};

    #[test]
    fn an_interrupted_turn_gets_results_before_the_next_words_of_the_person() {
        let history = [
            Message::user("go"),
            says(Assistant, vec![call("a", "{}"), call("b", "{}"), call("c", "")]),
            says(Tool, vec![result("a", "A")]),
            Message::user("stop that"),
        ];
        let mended = paired(&history);
        assert_eq!(
            mended,
            [
                history[0].clone(),
                history[1].clone(),
                says(
                    Tool,
                    vec![
                        result("a", "A"),
                        result("b", INTERRUPTED),
                        result("c", INTERRUPTED)
                    ]
                ),
                history[3].clone(),
            ]
        );
        assert_eq!(paired(&mended), mended);
    }

    #[test]
    fn a_late_result_is_moved_to_its_call() {
        let history = [
            Message::user("go"),
            says(Assistant, vec![call("a", "{}")]),
            Message::user("and?"),
            says(Tool, vec![result("a", "A")]),
        ];
        let roles: Vec<Role> = paired(&history).iter().map(|message| message.role).collect();
        assert_eq!(roles, [User, Assistant, Tool, User]);
    }

    #[test]
    fn unfinished_calls_go_with_their_results_and_orphans_go() {
        let history = [
            says(Assistant, vec![call("z", "{}")]),
            says(Tool, vec![result("z", "cut off by compaction")]),
            Message::user("go"),
            says(Assistant, vec![text("I will"), call("a", "{\"path\": \"x")]),
            says(Tool, vec![result("a", INTERRUPTED), result("nobody", "orphan")]),
            says(Assistant, vec![call("b", "{\"pa")]),
            Message::user("again"),
        ];
        assert_eq!(
            paired(&history),
            [
                Message::user("go"),
                says(Assistant, vec![text("I will")]),
                Message::user("again"),
            ]
        );
    }

    #[test]
    fn a_call_that_was_answered_about_its_bad_arguments_stays() {
        let history = [
            Message::user("go"),
            says(Assistant, vec![call("a", "{\"path\": ")]),
            says(Tool, vec![result("a", "The arguments are not JSON.")]),
        ];
        assert_eq!(paired(&history), history);
    }

    #[test]
    fn repeated_ids_are_paired_within_their_turn_and_made_unique() {
        let history = [
            Message::user("go"),
            says(Assistant, vec![call("call_0", "{}")]),
            says(Tool, vec![result("call_0", "r1")]),
            says(
                Assistant,
                vec![call("call_0", "{}"), call("call_0", "{}"), call("", "{}")],
            ),
            says(
                Tool,
                vec![result("call_0", "r2"), result("call_0", "r3"), result("", "r4")],
            ),
        ];
        let mended = paired(&history);
        assert_eq!(
            mended[3..],
            [
                says(
                    Assistant,
                    vec![call("call_0-2", "{}"), call("call_0-3", "{}"), call("call", "{}")]
                ),
                says(
                    Tool,
                    vec![
                        result("call_0-2", "r2"),
                        result("call_0-3", "r3"),
                        result("call", "r4")
                    ]
                ),
            ]
        );
        assert_eq!(paired(&mended), mended);
    }

    #[test]
    fn overlong_ids_are_cut_and_stay_unique() {
        let long = "x".repeat(200);
        let history = [
            Message::user("go"),
            says(
                Assistant,
                vec![call(&long, "{}"), call(&format!("{long}y"), "{}")],
            ),
        ];
        let ids: Vec<usize> = paired(&history)[1].calls().map(|call| call.id.0.len()).collect();
        assert_eq!(ids, [32, 34]);
    }

    #[test]
    fn thinking_alone_is_no_message() {
        let thought = Block::Reasoning { text: "hm".into() };
        assert_eq!(
            paired(&[Message::user("go"), says(Assistant, vec![thought])]),
            [Message::user("go")]
        );
    }
    #[test]
    fn a_sealed_thought_with_nothing_behind_it_goes() {
        let sealed = || Block::Sealed {
            model: "a:m".into(),
            item: serde_json::Value::Null,
        };
        let history = [
            Message::user("go"),
            says(
                Assistant,
                vec![sealed(), text("I look."), sealed(), call("a", "{\"pa")],
            ),
            Message::user("well?"),
        ];
        assert_eq!(paired(&history)[1].blocks, [sealed(), text("I look.")]);
    }
}
