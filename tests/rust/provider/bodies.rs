//! What a conversation looks like on each wire.

use dcode::protocol::ids::CallId;
use dcode::protocol::message::{Block, Message, Role, ToolCall, ToolResult};
use dcode::protocol::tool::ToolSpec;
use dcode::provider::{ChatRequest, Dial, HttpModel, Provider as _, ThinkingStyle, Wire};
use serde_json::{Value, json};

const WIRES: [Wire; 3] = [Wire::Chat, Wire::Responses, Wire::Messages];

fn dial(wire: Wire) -> Dial {
    Dial {
        wire,
        ..Dial::plain("acme", "m-1", "http://127.0.0.1:9/v1")
    }
}

fn bytes(dial: Dial, messages: Vec<Message>) -> Vec<u8> {
    let request = ChatRequest {
        system: "S".into(),
        messages,
        tools: vec![ToolSpec {
            name: "ls".into(),
            description: "Lists.".into(),
            schema: json!({"type": "object", "properties": {"path": {"type": "string"}}}),
        }],
    };
    HttpModel::new(dial).unwrap().body(&request).unwrap()
}

fn sent(dial: Dial, messages: Vec<Message>) -> Value {
    serde_json::from_slice(&bytes(dial, messages)).unwrap()
}

fn assistant(blocks: Vec<Block>) -> Message {
    Message {
        role: Role::Assistant,
        blocks,
    }
}

fn text(text: &str) -> Block {
    Block::Text { text: text.into() }
}

fn reasoning(text: &str) -> Block {
    Block::Reasoning { text: text.into() }
}

fn sealed(model: &str, item: Value) -> Block {
    Block::Sealed {
        model: model.into(),
        item,
    }
}

fn call(id: &str, arguments: &str) -> Block {
    Block::ToolCall(ToolCall {
        id: CallId(id.into()),
        name: "ls".into(),
        arguments: arguments.into(),
    })
}

fn image() -> Block {
    Block::Media {
        kind: "image".into(),
        mime_type: "image/png".into(),
        base64: "AAAA".into(),
    }
}

fn results(id: &str, text: &str, media: Vec<Block>) -> Message {
    Message {
        role: Role::Tool,
        blocks: vec![Block::ToolResult(ToolResult {
            id: CallId(id.into()),
            text: text.into(),
            is_error: text == "failed",
            media,
        })],
    }
}

fn history(arguments: &str, media: Vec<Block>) -> Vec<Message> {
    vec![
        Message::user("go"),
        assistant(vec![reasoning("hm"), text("I look."), call("a", arguments)]),
        results("a", "done", media),
    ]
}

#[test]
fn a_chat() {
    let replay = Dial {
        replay_reasoning: true,
        ..dial(Wire::Chat)
    };
    assert_eq!(
        sent(replay, history("", vec![])),
        json!({
            "model": "m-1", "stream": true, "stream_options": {"include_usage": true},
            "tools": [{"type": "function", "function": {"name": "ls", "description": "Lists.",
                "parameters": {"type": "object", "properties": {"path": {"type": "string"}}}}}],
            "messages": [
                {"role": "system", "content": "S"},
                {"role": "user", "content": "go"},
                {"role": "assistant", "content": "I look.", "reasoning_content": "hm", "tool_calls": [
                    {"id": "a", "type": "function", "function": {"name": "ls", "arguments": "{}"}}]},
                {"role": "tool", "tool_call_id": "a", "content": "done"},
            ],
        })
    );
}

#[test]
fn responses() {
    let dial = Dial {
        style: ThinkingStyle::Effort,
        effort: Some("high".into()),
        ..dial(Wire::Responses)
    };
    let mut body = sent(dial, history("{\"path\":\".\"}", vec![]));
    let key = body.as_object_mut().unwrap().remove("prompt_cache_key").unwrap();
    assert!(key.as_str().unwrap().starts_with("dcode-"), "{key}");
    assert_eq!(
        body,
        json!({
            "model": "m-1", "stream": true, "store": false, "include": ["reasoning.encrypted_content"],
            "reasoning": {"effort": "high", "summary": "auto"},
            "tools": [{"type": "function", "name": "ls", "description": "Lists.", "strict": false,
                "parameters": {"type": "object", "properties": {"path": {"type": "string"}}}}],
            "instructions": "S",
            "input": [
                {"role": "user", "content": "go"},
                {"role": "assistant", "content": "I look."},
                {"type": "function_call", "call_id": "a", "name": "ls", "arguments": "{\"path\":\".\"}"},
                {"type": "function_call_output", "call_id": "a", "output": "done"},
            ],
        })
    );
}

#[test]
fn messages() {
    let mut history = history("{\"path\":\".\"}", vec![]);
    history.push(assistant(vec![call("functions.ls:0", "")]));
    history.push(results("functions.ls:0", "failed", vec![]));
    history.push(Message::user("well?"));
    let dial = Dial {
        style: ThinkingStyle::Adaptive,
        ..dial(Wire::Messages)
    };
    let mark = json!({"type": "ephemeral"});
    assert_eq!(
        sent(dial, history),
        json!({
            "model": "m-1", "max_tokens": 32_000, "stream": true,
            "thinking": {"type": "adaptive", "display": "summarized"},
            "tools": [{"name": "ls", "description": "Lists.",
                "input_schema": {"type": "object", "properties": {"path": {"type": "string"}}}}],
            "system": [{"type": "text", "text": "S", "cache_control": mark}],
            "messages": [
                {"role": "user", "content": [{"type": "text", "text": "go"}]},
                {"role": "assistant", "content": [
                    {"type": "text", "text": "I look."},
                    {"type": "tool_use", "id": "a", "name": "ls", "input": {"path": "."}}]},
                {"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": "a", "content": [{"type": "text", "text": "done"}]}]},
                {"role": "assistant", "content": [
                    {"type": "tool_use", "id": "functions_x2e_ls_x3a_0", "name": "ls", "input": {}}]},
                {"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": "functions_x2e_ls_x3a_0", "is_error": true,
                     "content": [{"type": "text", "text": "failed"}], "cache_control": mark}]},
                {"role": "user", "content": [{"type": "text", "text": "well?", "cache_control": mark}]},
            ],
        })
    );
}

#[test]
fn reasoning_stays_here_unless_the_provider_wants_it() {
    assert_eq!(
        sent(dial(Wire::Chat), history("{}", vec![]))["messages"][2].get("reasoning_content"),
        None
    );
    let mut without = history("{}", vec![]);
    without[1].blocks.remove(0);
    let replay = Dial {
        replay_reasoning: true,
        ..dial(Wire::Chat)
    };
    assert_eq!(
        sent(replay, without)["messages"][2]["reasoning_content"],
        "(not kept)"
    );
}

#[test]
fn sealed_reasoning_goes_back_to_its_model_alone() {
    let item = json!({"type": "thinking", "thinking": "hm", "signature": "s"});
    for (model, kept) in [("acme:m-1", true), ("acme:m-2", false)] {
        let history = vec![
            Message::user("go"),
            assistant(vec![reasoning("hm"), sealed(model, item.clone()), call("a", "")]),
            results("a", "done", vec![]),
        ];
        let anthropic = sent(dial(Wire::Messages), history.clone());
        let first = &anthropic["messages"][1]["content"][0];
        assert_eq!(*first == item, kept, "{first}");
        let openai = sent(dial(Wire::Responses), history.clone());
        assert_eq!(openai["input"][1] == item, kept);
        let chat = bytes(dial(Wire::Chat), history);
        assert!(!String::from_utf8(chat).unwrap().contains("signature"));
    }
}

#[test]
fn arguments_that_are_no_object_are_sent_in_one() {
    let broken = || history("{\"command\": \"rm -rf x", vec![]);
    let wrapped = json!({"not_json": "{\"command\": \"rm -rf x"});
    let chat = sent(dial(Wire::Chat), broken());
    assert_eq!(
        chat["messages"][2]["tool_calls"][0]["function"]["arguments"],
        wrapped.to_string()
    );
    let responses = sent(dial(Wire::Responses), broken());
    assert_eq!(responses["input"][2]["arguments"], wrapped.to_string());
    let messages = sent(dial(Wire::Messages), broken());
    assert_eq!(messages["messages"][1]["content"][1]["input"], wrapped);
}

#[test]
fn images_for_models_that_see() {
    let of = |wire| {
        let dial = Dial {
            images: true,
            ..dial(wire)
        };
        let mut history = history("{}", vec![image()]);
        history.push(Message {
            role: Role::User,
            blocks: vec![text("and this?"), image()],
        });
        sent(dial, history)
    };
    let url = "data:image/png;base64,AAAA";
    let chat = of(Wire::Chat);
    let picture = json!({"type": "image_url", "image_url": {"url": url}});
    assert_eq!(chat["messages"][3]["content"], "done");
    assert_eq!(
        chat["messages"][4],
        json!({"role": "user", "content": [
            {"type": "text", "text": "The image that call a gave:"}, picture]})
    );
    assert_eq!(
        chat["messages"][5]["content"],
        json!([{"type": "text", "text": "and this?"}, picture])
    );
    let responses = of(Wire::Responses);
    let picture = json!({"type": "input_image", "image_url": url});
    assert_eq!(
        responses["input"][3]["output"],
        json!([{"type": "input_text", "text": "done"}, picture])
    );
    assert_eq!(
        responses["input"][4]["content"],
        json!([{"type": "input_text", "text": "and this?"}, picture])
    );
    let messages = of(Wire::Messages);
    let source = json!({"type": "base64", "media_type": "image/png", "data": "AAAA"});
    let result = &messages["messages"][2]["content"][0]["content"];
    assert_eq!(result[1], json!({"type": "image", "source": source}));
    assert_eq!(messages["messages"][3]["content"][1]["source"], source);
}

#[test]
fn a_notice_for_models_that_do_not_see() {
    for wire in WIRES {
        let mut history = history("{}", vec![image()]);
        history.push(Message {
            role: Role::User,
            blocks: vec![text("and this?"), image()],
        });
        let body = String::from_utf8(bytes(dial(wire), history)).unwrap();
        assert!(!body.contains("AAAA"), "{wire:?}: {body}");
        let notice = "[image, image/png, 1 KiB: not shown, this model is given text only]";
        assert_eq!(body.matches(notice).count(), 2, "{wire:?}: {body}");
    }
}

#[test]
fn a_format_that_nobody_reads_is_a_notice_too() {
    let media = Block::Media {
        kind: "image".into(),
        mime_type: "image/heic".into(),
        base64: "AAAA".into(),
    };
    for wire in WIRES {
        let dial = Dial {
            images: true,
            ..dial(wire)
        };
        let body = String::from_utf8(bytes(dial, history("{}", vec![media.clone()]))).unwrap();
        assert!(body.contains("this model cannot read the format"), "{body}");
    }
}

/// A request of `number` steps, with everything that could tempt a wire to write the past anew.
fn steps(number: usize) -> Vec<Message> {
    let mut history = vec![Message::user("first")];
    for step in 0..number {
        let arguments = ["{}", "", "{\"path\": \"a", "{ \"path\" : \"b\" }"][step % 4];
        let item = json!({"type": "thinking", "thinking": "t", "signature": "s"});
        history.push(assistant(vec![
            reasoning("t"),
            sealed("acme:m-1", item),
            call("call_0", arguments),
        ]));
        let media = if step % 5 == 0 { vec![image()] } else { vec![] };
        history.push(results("call_0", &format!("result {step}"), media));
        if step % 7 == 3 {
            history.push(assistant(vec![text("So far.")]));
            history.push(Message::user("go on"));
        }
    }
    history
}

#[test]
fn successive_requests_share_every_byte_up_to_the_new_messages() {
    for wire in WIRES {
        for images in [false, true] {
            let dial = Dial {
                images,
                replay_reasoning: images,
                style: ThinkingStyle::Adaptive,
                ..dial(wire)
            };
            let mut last = String::new();
            for number in 0..30 {
                let body = String::from_utf8(bytes(dial.clone(), steps(number))).unwrap();
                // The marks move with the end; they are no part of what is compared with the cache.
                let body = body.replace(",\"cache_control\":{\"type\":\"ephemeral\"}", "");
                let shared = last.strip_suffix("]}").unwrap_or_default();
                assert!(body.starts_with(shared), "{wire:?}: request {number}");
                last = body;
            }
        }
    }
}

#[test]
fn no_more_marks_than_the_server_takes() {
    for number in 0..5 {
        let body = String::from_utf8(bytes(dial(Wire::Messages), steps(number))).unwrap();
        let marks = body.matches("cache_control").count();
        assert!((2..=4).contains(&marks), "{marks} marks at {number}");
    }
}

/// The fields about thinking of a request.
fn thinking(wire: Wire, style: ThinkingStyle, on: Option<bool>, effort: Option<&str>) -> String {
    let body = sent(
        Dial {
            style,
            thinking: on,
            effort: effort.map(Into::into),
            ..dial(wire)
        },
        vec![Message::user("go")],
    );
    let fields = [
        "thinking",
        "reasoning_effort",
        "output_config",
        "reasoning",
        "include",
    ];
    let fields = fields
        .iter()
        .filter_map(|name| Some(format!("{name}={}", body.get(name)?)));
    fields.collect::<Vec<_>>().join(" ")
}

#[test]
fn how_thinking_is_steered() {
    use ThinkingStyle as S;
    let lines: Vec<String> = [
        (Wire::Chat, S::Switch, None, None),
        (Wire::Chat, S::Switch, Some(true), Some("max")),
        (Wire::Chat, S::Switch, Some(false), Some("max")),
        (Wire::Chat, S::Effort, None, Some("low")),
        (Wire::Chat, S::Effort, Some(false), None),
        (Wire::Chat, S::None, None, None),
        (Wire::Responses, S::Effort, None, None),
        (Wire::Responses, S::Effort, Some(false), Some("high")),
        (Wire::Responses, S::None, None, None),
        (Wire::Messages, S::Adaptive, None, Some("low")),
        (Wire::Messages, S::Adaptive, Some(false), None),
        (Wire::Messages, S::Budget, None, None),
        (Wire::Messages, S::Budget, Some(true), Some("low")),
        (Wire::Messages, S::Switch, Some(true), Some("max")),
        (Wire::Messages, S::None, None, None),
    ]
    .into_iter()
    .map(|(wire, style, on, effort)| {
        format!(
            "{wire:?} {style:?} {on:?} {effort:?}: {}",
            thinking(wire, style, on, effort)
        )
    })
    .collect();
    insta::assert_snapshot!(lines.join("\n"), @r#"
    Chat Switch None None: 
    Chat Switch Some(true) Some("max"): thinking={"type":"enabled"} reasoning_effort="max"
    Chat Switch Some(false) Some("max"): thinking={"type":"disabled"}
    Chat Effort None Some("low"): reasoning_effort="low"
    Chat Effort Some(false) None: reasoning_effort="none"
    Chat None None None: 
    Responses Effort None None: reasoning={"summary":"auto"} include=["reasoning.encrypted_content"]
    Responses Effort Some(false) Some("high"): reasoning={"effort":"none"} include=["reasoning.encrypted_content"]
    Responses None None None: 
    Messages Adaptive None Some("low"): thinking={"type":"adaptive","display":"summarized"} output_config={"effort":"low"}
    Messages Adaptive Some(false) None: thinking={"type":"disabled"}
    Messages Budget None None: 
    Messages Budget Some(true) Some("low"): thinking={"type":"enabled","budget_tokens":2048}
    Messages Switch Some(true) Some("max"): thinking={"type":"enabled"} output_config={"effort":"max"}
    Messages None None None: 
    "#);
}

#[test]
fn a_model_with_a_budget_does_not_begin_to_think_in_the_middle_of_a_turn() {
    let budget = |history| {
        let dial = Dial {
            style: ThinkingStyle::Budget,
            thinking: Some(true),
            ..dial(Wire::Messages)
        };
        sent(dial, history).get("thinking").is_some()
    };
    let without = vec![
        Message::user("go"),
        assistant(vec![call("a", "")]),
        results("a", "done", vec![]),
    ];
    assert!(!budget(without.clone()));
    let mut later = without.clone();
    later.push(assistant(vec![text("So.")]));
    later.push(Message::user("and?"));
    assert!(budget(later));
    let mut with = without;
    with[1]
        .blocks
        .insert(0, sealed("acme:m-1", json!({"type": "thinking"})));
    assert!(budget(with));
}
