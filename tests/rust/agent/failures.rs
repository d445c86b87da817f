//! What a provider or a model does wrong: one sentence to the person, an instruction to the model.

use std::sync::Arc;

use async_trait::async_trait;
use dcode::agent::turn::{self, Prompt};
use dcode::protocol::ids::TurnId;
use dcode::protocol::op::{Op, PromptContext};
use dcode::provider::{ChatRequest, Provider, ProviderError, StreamEvent};
use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use tokio_util::sync::CancellationToken;

use super::faults::core;
use super::stage::Backdrop;
use super::*;

/// The sentence of a turn that fails.
fn failure(mut stage: Stage, reply: Option<Say>) -> String {
    let ended = stage.turn("hi", reply);
    assert_eq!(ended.reason, TurnEnd::Error);
    let port = stage.backdrop.model.port().to_string();
    ended.message.unwrap().replace(&port, "PORT")
}

fn error(status: u16, message: &str) -> Option<Say> {
    Some(Say::error(status, &json!({"error": {"message": message}})))
}

#[test]
fn each_failure_of_a_provider_is_a_sentence_and_what_to_do() {
    let keyless =
        json!({"far": {"base_url": "https://far.invalid/v1", "api_key_env": "DCODE_TEST_NO_SUCH_KEY"}});
    let no_key = Backdrop::new().with(&json!({"model": "far:m", "providers": keyless}));
    let sentences = [
        failure(no_key.start(), None),
        failure(Backdrop::new().with(&json!({"model": "nowhere:m"})).start(), None),
        failure(Stage::new(), error(401, "Incorrect API key provided")),
        failure(Stage::new(), error(404, "The model `m` does not exist")),
        failure(
            Stage::new(),
            error(
                400,
                "maximum context length is 8192 tokens, however you requested 9000 tokens",
            ),
        ),
        failure(
            Backdrop::new().with(&json!({"retries": 0})).start(),
            Some(Say::new().text("half").cut()),
        ),
        failure(Stage::new(), Some(Say::new().text("half").finish("length"))),
        failure(
            Stage::new(),
            Some(Say::new().text("half").finish("content_filter")),
        ),
    ];
    insta::assert_snapshot!(sentences.join("\n"), @r#"
    There is no key for far: DCODE_TEST_NO_SUCH_KEY is not set. Set DCODE_TEST_NO_SUCH_KEY and start Neovim anew, or choose another model with :Dcode model, for example :Dcode model ollama:qwen3-coder.
    There is no provider named "nowhere". Known are anthropic, deepseek, llamacpp, mock, ollama, openai, openrouter, vllm; others go into providers.
    mock wants a key (HTTP 401). Name the variable that holds it in providers.mock.api_key_env.
    mock has no model named "m". Load it in the server first, or choose another with :Dcode model PROVIDER:MODEL.
    The conversation is longer than m can read. Start a new session, or choose a model with a larger window with :Dcode model PROVIDER:MODEL.
    The connection to mock broke in the middle of the reply. Send the prompt again; what was said so far is kept.
    The reply was cut at the model's limit of output. Say `go on`.
    The provider's filter cut the reply. Say it in other words.
    "#);
}

#[test]
fn a_reply_that_breaks_off_keeps_its_words_and_loses_its_calls() {
    let mut stage = Backdrop::new().with(&json!({"retries": 0})).start();
    let cut = Say::new()
        .text("half")
        .tool_call("c", "write_file", &json!({"path": "a", "content": "x"}))
        .cut();
    let ended = stage.turn("one", [cut]);
    assert_eq!((ended.reason, ended.text.as_str()), (TurnEnd::Error, "half"));
    assert_eq!((stage.done().len(), stage.disk("a")), (0, None));
    assert_eq!(stage.turn("two", [Say::say("fine")]).reason, TurnEnd::Done);
    let request = stage.backdrop.model.requests().pop().unwrap();
    let said: Vec<_> = request.messages()[1..]
        .iter()
        .map(|m| (&m["role"], &m["content"]))
        .collect();
    assert_eq!(
        said,
        [
            (&json!("user"), &json!("one")),
            (&json!("assistant"), &json!("half")),
            (&json!("user"), &json!("two")),
        ]
    );
}

#[test]
fn an_unknown_model_is_told_and_the_old_one_stays() {
    let mut stage = Stage::new();
    for model in ["nowhere:m", "m"] {
        stage.submit(Op::SetModel { model: model.into() });
        stage.until(|event| matches!(event, Event::Notice(notice) if notice.hint.is_some()));
    }
    assert_eq!(stage.turn("hi", [Say::say("ho")]).text, "ho");
    assert_eq!(stage.agent.status().model.as_deref(), Some("mock:m"));
}

#[test]
fn a_tool_that_is_not_offered_is_answered_with_the_list() {
    let offered = json!({"allow_fs_tools": "read_file,ls"});
    let mut stage = Backdrop::new().with(&offered).file("a", "1\n").start();
    let step = [
        ("write_file", json!({"path": "a", "content": "2"})),
        ("frobnicate", json!({})),
        ("ls", json!({})),
    ];
    stage.turn("work", [calls(&step), Say::say("done")]);
    let done = stage.done();
    let list = "is not a valid tool, try one of [read_file, ls, git_diff, git_show, git_blame, git_log, \
                todo_write, question]. Nothing was run.";
    assert_eq!(done[0].text, format!("write_file {list}"));
    assert_eq!(
        (done[1].outcome, done[1].text.clone()),
        (Outcome::Failed, format!("frobnicate {list}"))
    );
    assert_eq!(done[2].outcome, Outcome::Ok);
    assert_eq!(stage.disk("a").unwrap(), "1\n");
    assert_eq!(
        stage.backdrop.model.requests()[0].tools(),
        [
            "read_file",
            "ls",
            "git_diff",
            "git_show",
            "git_blame",
            "git_log",
            "todo_write",
            "question"
        ]
    );
}

#[test]
fn arguments_are_mended_where_that_is_certain_and_answered_where_not() {
    let mut stage = Backdrop::new().file("a", "1\n").start();
    let reply = Say::new()
        .raw_tool_call("c0", "read_file", r#"{"path": "#)
        .raw_tool_call("c1", "read_file", r#""{\"path\":\"a\"}""#)
        .raw_tool_call("c2", "read_file", r#"["a"]"#)
        .raw_tool_call("c3", "read_file", r#"{"path":"a","start_line":"1"}"#)
        .raw_tool_call("c4", "read_file", "{}")
        .raw_tool_call("c5", "ls", "")
        .raw_tool_call("c6", "execute", r#"{"command":"echo hi"}"#);
    stage.turn("work", [reply.done(), Say::say("done")]);
    let mut done = stage.done();
    // Reads end in any order.
    let results: Vec<_> = stage.backdrop.model.requests()[1]
        .messages()
        .iter()
        .filter(|message| message["role"] == "tool")
        .map(|message| message["content"].as_str().unwrap().to_owned())
        .collect();
    let has = [
        "not valid JSON",
        "     1\t1",
        "not a list",
        "     1\t1",
        "missing field `path`",
        "a",
        "exit 0",
    ];
    assert_eq!(results.len(), has.len());
    for (result, has) in results.iter().zip(has) {
        assert!(result.contains(has), "{has}: {result}");
    }
    done.retain(|done| done.tool == "bash");
    assert_eq!(
        done[0].outcome,
        Outcome::Ok,
        "an alias is told by its canonical name"
    );
}

/// Says something and ends without saying that this was all.
struct BreaksOff;

#[async_trait]
impl Provider for BreaksOff {
    fn name(&self) -> &'static str {
        "short:m"
    }

    async fn stream(
        &self,
        _request: ChatRequest,
    ) -> Result<BoxStream<'static, Result<StreamEvent, ProviderError>>, ProviderError> {
        Ok(stream::iter([Ok(StreamEvent::Text("half".into()))]).boxed())
    }
}

#[tokio::test]
async fn a_stream_that_ends_without_its_end_was_cut() {
    let backdrop = Backdrop::new();
    let core = core(&backdrop);
    core.set_model(Ok(Arc::new(BreaksOff))).unwrap();
    let prompt = Prompt {
        turn: TurnId(1),
        text: "hi".into(),
        context: PromptContext::default(),
    };
    let ended = turn::run_turn(&core, prompt, &CancellationToken::new()).await;
    assert_eq!((ended.reason, ended.text.as_str()), (TurnEnd::Error, "half"));
    let message = ended.message.unwrap();
    assert_eq!(message, "The reply of short:m broke off. Send the prompt again.");
}
