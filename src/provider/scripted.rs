//! A provider that plays a file: demonstrations and tests run the whole loop without a model.
//!
//! A script is TOML. Each request plays the next `[[step]]`; after the last one every request gets
//! one sentence that says so. Nothing of the conversation is looked at.
//!
//! ```toml
//! delay_ms = 30                       # pause before each piece; default 0
//! context_window = 128000             # default: unknown
//! prices = { input = 0.3, cached = 0.03, output = 1.2 }   # dollars a million; default: unknown
//!
//! [[step]]
//! reasoning = "I should look first."  # streamed word by word, before the text
//! text = "Let me look at the file."
//! calls = [
//!   { name = "read_file", args = { path = "hello.py" } },
//!   { name = "grep", args = { pattern = "TODO" } },
//! ]
//!
//! [[step]]
//! delay_ms = 0                        # a step may have its own pause
//! text = """
//! Two lines,
//! streamed."""
//! usage = { input = 1200, cached = 1024, output = 60, reasoning = 20 }
//! ```
//!
//! For tests of failures a step may also have `stop = "length"` or `"filtered"`, `cut = true` (the
//! stream ends after its pieces as if the line went dead), `error = { kind = "rate_limit", message
//! = "…", hint = "…" }` (the request fails before any piece), and a call's `args` may be a string,
//! which is then sent as it is: that is how a model writes arguments that are no JSON. A call's `id`
//! is made up unless it is given.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use serde::Deserialize;
use serde_json::Value;

use super::model::{
    ChatRequest, Provider, ProviderError, ProviderErrorKind, StopReason, StreamEvent, TokenCount,
};
use super::prices::Prices;

/// What is said when a request comes after the last step.
const AT_END: &str = "The script is at its end: it has no step for this request.";

/// A script that is being played. Concurrent requests take successive steps.
#[derive(Debug)]
pub struct Scripted {
    name: String,
    script: Script,
    next: AtomicUsize,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Script {
    #[serde(default)]
    delay_ms: u64,
    #[serde(default)]
    context_window: u64,
    prices: Option<Prices>,
    #[serde(default)]
    step: Vec<Step>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Step {
    delay_ms: Option<u64>,
    reasoning: String,
    text: String,
    calls: Vec<Call>,
    usage: Option<Usage>,
    stop: Option<Stop>,
    cut: bool,
    error: Option<Failure>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Call {
    name: String,
    #[serde(default)]
    args: Value,
    id: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Usage {
    input: u64,
    cached: u64,
    output: u64,
    reasoning: u64,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Stop {
    Length,
    Filtered,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Failure {
    kind: FailureKind,
    message: String,
    #[serde(default)]
    hint: String,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum FailureKind {
    Auth,
    Network,
    UnknownModel,
    ContextTooLong,
    RateLimit,
    Server,
    Protocol,
    Config,
}

impl Scripted {
    /// Reads a script from a file. Errors name the file, and the line where it is wrong.
    pub fn load(path: &Path) -> Result<Self, ProviderError> {
        let text = std::fs::read_to_string(path).map_err(|error| {
            let why = match error.kind() {
                std::io::ErrorKind::NotFound => "does not exist",
                std::io::ErrorKind::InvalidData => "is not UTF-8 text",
                _ => "cannot be read",
            };
            config_error(format!("The script {} {why}.", path.display()))
        })?;
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        Self::parse(&stem, &text).map_err(|why| config_error(format!("The script {}: {why}", path.display())))
    }

    /// Reads a script from text; `stem` becomes part of the name. The error is a clause that starts
    /// with the line number.
    pub fn parse(stem: &str, text: &str) -> Result<Self, String> {
        let script: Script = toml::from_str(text).map_err(|error| {
            let before = error
                .span()
                .and_then(|span| text.get(..span.start))
                .unwrap_or_default();
            let line = before.matches('\n').count() + 1;
            format!("line {line}: {}.", error.message().replace('\n', ", "))
        })?;
        Ok(Self {
            name: format!("scripted:{stem}"),
            script,
            next: AtomicUsize::new(0),
        })
    }
}

#[async_trait]
impl Provider for Scripted {
    fn name(&self) -> &str {
        &self.name
    }

    fn scripted(&self) -> bool {
        true
    }

    fn context_window(&self) -> u64 {
        self.script.context_window
    }

    fn prices(&self) -> Option<Prices> {
        self.script.prices
    }

    async fn stream(
        &self,
        _request: ChatRequest,
    ) -> Result<BoxStream<'static, Result<StreamEvent, ProviderError>>, ProviderError> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let step = self.script.step.get(number).cloned().unwrap_or_else(|| Step {
            text: AT_END.to_owned(),
            ..Step::default()
        });
        let delay = Duration::from_millis(step.delay_ms.unwrap_or(self.script.delay_ms));
        if let Some(failure) = step.error {
            tokio::time::sleep(delay).await;
            return Err(failure.into());
        }
        let pieces = stream::iter(step.events(number + 1)).then(move |event| async move {
            if !delay.is_zero() {
                tokio::time::sleep(delay).await;
            }
            event
        });
        Ok(pieces.boxed())
    }
}

impl Step {
    fn events(self, number: usize) -> Vec<Result<StreamEvent, ProviderError>> {
        let mut events: Vec<_> = words(&self.reasoning).map(StreamEvent::Reasoning).collect();
        events.extend(words(&self.text).map(StreamEvent::Text));
        let stop = match self.stop {
            Some(Stop::Length) => StopReason::Length,
            Some(Stop::Filtered) => StopReason::Filtered,
            None if self.calls.is_empty() => StopReason::End,
            None => StopReason::ToolCalls,
        };
        for (at, call) in self.calls.into_iter().enumerate() {
            events.push(StreamEvent::ToolCall {
                id: call.id.unwrap_or_else(|| format!("step{number}_call{}", at + 1)),
                name: call.name,
                arguments: match call.args {
                    Value::Null => String::new(),
                    Value::String(raw) => raw,
                    args => args.to_string(),
                },
            });
        }
        if let Some(usage) = self.usage {
            events.push(StreamEvent::Usage(TokenCount {
                input: usage.input,
                cached: usage.cached,
                output: usage.output,
                reasoning: usage.reasoning,
                ..TokenCount::default()
            }));
        }
        let mut events: Vec<_> = events.into_iter().map(Ok).collect();
        events.push(if self.cut {
            Err(ProviderError {
                kind: ProviderErrorKind::Network,
                message: "The script cut the reply.".to_owned(),
                hint: "Send the prompt again.".to_owned(),
            })
        } else {
            Ok(StreamEvent::Done(stop))
        });
        events
    }
}

/// The pieces that a text is streamed in: words with the blanks after them.
fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split_inclusive(char::is_whitespace).map(ToOwned::to_owned)
}

impl From<Failure> for ProviderError {
    fn from(failure: Failure) -> Self {
        Self {
            kind: match failure.kind {
                FailureKind::Auth => ProviderErrorKind::Auth,
                FailureKind::Network => ProviderErrorKind::Network,
                FailureKind::UnknownModel => ProviderErrorKind::UnknownModel,
                FailureKind::ContextTooLong => ProviderErrorKind::ContextTooLong,
                FailureKind::RateLimit => ProviderErrorKind::RateLimit,
                FailureKind::Server => ProviderErrorKind::Server,
                FailureKind::Protocol => ProviderErrorKind::Protocol,
                FailureKind::Config => ProviderErrorKind::Config,
            },
            message: failure.message,
            hint: failure.hint,
        }
    }
}

fn config_error(message: String) -> ProviderError {
    ProviderError {
        kind: ProviderErrorKind::Config,
        message,
        hint: "Correct the file, or choose a model with :Dcode model PROVIDER:MODEL.".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn play(scripted: &Scripted) -> Vec<Result<StreamEvent, ProviderError>> {
        let request = ChatRequest {
            system: String::new(),
            messages: vec![],
            tools: vec![],
        };
        match scripted.stream(request).await {
            Ok(stream) => stream.collect().await,
            Err(error) => vec![Err(error)],
        }
    }

    #[tokio::test]
    async fn plays_steps_in_order_and_says_when_it_is_at_its_end() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/scripts/hello.toml");
        let scripted = Scripted::load(&path).unwrap();
        assert_eq!(scripted.name(), "scripted:hello");
        assert!(scripted.scripted());
        let first = play(&scripted).await;
        assert_eq!(first[0], Ok(StreamEvent::Reasoning("The ".into())));
        assert_eq!(first.last(), Some(&Ok(StreamEvent::Done(StopReason::ToolCalls))));
        assert!(first.contains(&Ok(StreamEvent::ToolCall {
            id: "step1_call1".into(),
            name: "ls".into(),
            arguments: r#"{"path":"."}"#.into(),
        })));
        let second = play(&scripted).await;
        assert_eq!(second.last(), Some(&Ok(StreamEvent::Done(StopReason::End))));
        let third = play(&scripted).await;
        let text: String = third
            .iter()
            .map(|event| match event {
                Ok(StreamEvent::Text(text)) => text.as_str(),
                _ => "",
            })
            .collect();
        assert_eq!(text, AT_END);
    }

    #[tokio::test]
    async fn failures_can_be_played() {
        let script = "[[step]]\nerror = { kind = 'rate_limit', message = 'Slow down.' }\n\
                      [[step]]\ntext = 'half'\ncut = true\n\
                      [[step]]\ncalls = [{ name = 'ls', args = '{\"pa' }]";
        let scripted = Scripted::parse("x", script).unwrap();
        let error = play(&scripted).await.remove(0).unwrap_err();
        assert_eq!(
            (error.kind, error.message.as_str()),
            (ProviderErrorKind::RateLimit, "Slow down.")
        );
        assert!(play(&scripted).await[1].is_err());
        let Ok(StreamEvent::ToolCall { arguments, .. }) = play(&scripted).await.remove(0) else {
            panic!("no call");
        };
        assert_eq!(arguments, "{\"pa");
    }

    #[test]
    fn a_wrong_script_is_named_with_its_line() {
        let error = Scripted::parse("x", "[[step]]\ntext = 'a'\nsay = 'b'\n").unwrap_err();
        assert!(error.starts_with("line 3: unknown field `say`"), "{error}");
        let error = Scripted::load(Path::new("/nowhere/x.toml")).unwrap_err();
        assert_eq!(error.message, "The script /nowhere/x.toml does not exist.");
    }
}
