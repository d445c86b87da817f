//! Laws of the repaired history, over histories as broken as they come.

use dcode::protocol::ids::CallId;
use dcode::protocol::message::{Block, Message, Role, ToolCall, ToolResult};
use dcode::provider::paired;
use proptest::prelude::*;

fn block() -> impl Strategy<Value = Block> {
    let id = prop_oneof!["", "a", "b", "a-2", "x{45}"].prop_map(CallId);
    let arguments = prop_oneof!["", r"\{\}", r#"\{"p"#, "7"];
    prop_oneof![
        "[a-z ]{0,3}".prop_map(|text| Block::Text { text }),
        "[a-z]{1,3}".prop_map(|text| Block::Reasoning { text }),
        (id.clone(), arguments).prop_map(|(id, arguments)| Block::ToolCall(ToolCall {
            id,
            name: "ls".into(),
            arguments,
        })),
        (id, "[a-z]{0,3}").prop_map(|(id, text)| Block::ToolResult(ToolResult {
            id,
            text,
            is_error: false,
            media: vec![],
        })),
    ]
}

fn history() -> impl Strategy<Value = Vec<Message>> {
    let role = prop_oneof![Just(Role::User), Just(Role::Assistant), Just(Role::Tool)];
    let message = (role, prop::collection::vec(block(), 0..4));
    prop::collection::vec(message.prop_map(|(role, blocks)| Message { role, blocks }), 0..12)
}

fn result_ids(message: &Message) -> Vec<&CallId> {
    let ids = message.blocks.iter().map(|block| match block {
        Block::ToolResult(result) => &result.id,
        other => panic!("{other:?} among results"),
    });
    ids.collect()
}

proptest! {
    #[test]
    fn every_call_is_followed_by_its_result_and_no_result_stands_alone(history in history()) {
        let mended = paired(&history);
        prop_assert_eq!(&paired(&mended), &mended);
        prop_assert!(mended.first().is_none_or(|first| first.role == Role::User));
        let mut seen = std::collections::HashSet::new();
        for (at, message) in mended.iter().enumerate() {
            prop_assert!(!message.blocks.is_empty());
            let calls: Vec<&CallId> = message.calls().map(|call| &call.id).collect();
            match message.role {
                Role::Assistant if !calls.is_empty() => prop_assert_eq!(result_ids(&mended[at + 1]), calls.clone()),
                Role::Tool => prop_assert_eq!(mended[at - 1].calls().count(), message.blocks.len()),
                Role::User | Role::Assistant => {}
            }
            for id in calls {
                prop_assert!(!id.0.is_empty() && id.0.len() <= 40 && seen.insert(id.clone()));
            }
        }
    }

    #[test]
    fn a_longer_history_begins_as_the_shorter_one(history in history(), more in history()) {
        let history = [vec![Message::user("go")], history].concat();
        let mut longer = history.clone();
        longer.push(Message { role: Role::Assistant, blocks: vec![Block::Text { text: "next".into() }] });
        longer.extend(more);
        let shorter = paired(&history);
        prop_assert!(paired(&longer).starts_with(&shorter));
    }
}
