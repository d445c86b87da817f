//! Reasoning that only its maker can read goes back with the results of its calls, unchanged, also after it was
//! in the journal; without it the provider refuses the next request of the turn.

use std::sync::Arc;

use dcode::agent::reply;
use dcode::agent::turn::{self, Prompt};
use dcode::journal::Record;
use dcode::protocol::ids::TurnId;
use dcode::protocol::message::Message;
use dcode::protocol::op::PromptContext;
use dcode::provider::{Dial, HttpModel, Provider as _, Wire};
use tokio_util::sync::CancellationToken;

use super::faults::core;
use super::stage::Backdrop;
use super::*;
use crate::provider::faults::reply as spoken;
use crate::provider::server::{Answer, Server};

/// A reply with sealed reasoning before a call of `ls`, and the item as it must come back.
fn thought(wire: Wire) -> (Vec<Value>, Value) {
    match wire {
        Wire::Messages => {
            let events = vec![
                json!({"type": "message_start", "message": {}}),
                json!({"type": "content_block_start", "index": 0,
                    "content_block": {"type": "thinking", "thinking": "", "signature": ""}}),
                json!({"type": "content_block_delta", "index": 0,
                    "delta": {"type": "thinking_delta", "thinking": "I should look."}}),
                json!({"type": "content_block_delta", "index": 0,
                    "delta": {"type": "signature_delta", "signature": "c2lnbmVk"}}),
                json!({"type": "content_block_stop", "index": 0}),
                json!({"type": "content_block_start", "index": 1,
                    "content_block": {"type": "tool_use", "id": "c", "name": "ls", "input": {}}}),
                json!({"type": "content_block_stop", "index": 1}),
                json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}}),
                json!({"type": "message_stop"}),
            ];
            let item = json!({"type": "thinking", "thinking": "I should look.", "signature": "c2lnbmVk"});
            (events, item)
        }
        _ => {
            let item = json!({"type": "reasoning", "summary": [], "encrypted_content": "c2VhbGVk"});
            let mut named = item.clone();
            named["id"] = json!("rs_1");
            let events = vec![
                json!({"type": "response.output_item.done", "output_index": 0, "item": named}),
                json!({"type": "response.output_item.done", "output_index": 1,
                    "item": {"type": "function_call", "call_id": "c", "name": "ls", "arguments": "{}"}}),
                json!({"type": "response.completed", "response": {"status": "completed"}}),
            ];
            (events, item)
        }
    }
}

/// Whether the item stands directly before the call.
fn stands_before_the_call(wire: Wire, body: &Value, item: &Value) -> bool {
    let list = match wire {
        Wire::Messages => &body["messages"][1]["content"],
        _ => &body["input"],
    };
    let list = list.as_array().unwrap();
    let at = |fits: &dyn Fn(&Value) -> bool| list.iter().position(fits);
    let same = |other: &Value| {
        let fields = item.as_object().unwrap();
        fields.iter().all(|(name, value)| other[name] == *value)
    };
    let call = at(&|other| matches!(other["type"].as_str(), Some("tool_use" | "function_call"))).unwrap();
    at(&same) == call.checked_sub(1)
}

#[tokio::test(flavor = "multi_thread")]
async fn goes_back_with_the_results_of_its_calls_and_through_the_journal() {
    for wire in [Wire::Messages, Wire::Responses] {
        let (events, item) = thought(wire);
        let first: Vec<String> = events.iter().map(|event| format!("data: {event}\n\n")).collect();
        let mut server =
            Server::start(vec![Answer::stream(&first), Answer::stream(&[spoken(wire, "")])]).await;
        let core = core(&Backdrop::new());
        let model = Arc::new(
            HttpModel::new(Dial {
                wire,
                ..server.dial()
            })
            .unwrap(),
        );
        core.set_model(Ok(model.clone())).unwrap();
        let prompt = Prompt {
            turn: TurnId(1),
            text: "look".into(),
            context: PromptContext::default(),
        };
        let ended = turn::run_turn(&core, prompt, &CancellationToken::new()).await;
        assert_eq!(ended.reason, TurnEnd::Done, "{:?}", ended.message);
        server.body().await;
        let second: Value = serde_json::from_slice(&server.body().await).unwrap();
        assert!(
            stands_before_the_call(wire, &second, &item),
            "{wire:?} {second:#}"
        );

        // A later request, here and in a process that read the journal.
        let prefix = core.prefix();
        let here = model.body(&reply::request(&core, &prefix)).unwrap();
        let read_again = |message: &Message| {
            let record = Record::MessageAppended {
                message: message.clone(),
            };
            serde_json::from_str::<Record>(&serde_json::to_string(&record).unwrap()).unwrap()
        };
        let mut history = core.history.lock().unwrap();
        let records: Vec<Record> = history.messages().iter().map(read_again).collect();
        *history = dcode::agent::history::History::default();
        records.iter().for_each(|record| history.replay(record));
        drop(history);
        let there = model.body(&reply::request(&core, &prefix)).unwrap();
        assert!(here == there, "{wire:?}");
        let later: Value = serde_json::from_slice(&there).unwrap();
        assert!(stands_before_the_call(wire, &later, &item), "{wire:?} {later:#}");
    }
}
