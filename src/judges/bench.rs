//! One question to a judging model, with a form to fill in and a limit of time.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::StreamExt as _;
use serde_json::Value;

use crate::protocol::event::Event;
use crate::protocol::message::Message;
use crate::protocol::tool::ToolSpec;
use crate::provider::{ChatRequest, Provider, ProviderError, StreamEvent, TokenCount};

/// Opens a model by its name `PROVIDER:MODEL`.
pub type Open = Arc<dyn Fn(&str) -> Result<Arc<dyn Provider>, ProviderError> + Send + Sync>;

/// Books what a model used.
pub type Spent = Arc<dyn Fn(&dyn Provider, TokenCount) + Send + Sync>;

/// The model of the conversation, which the person may change at any time.
pub type Main = Arc<Mutex<Result<Arc<dyn Provider>, ProviderError>>>;

/// More than this is no filled-in form.
const LONGEST_ANSWER: usize = 64 * 1024;

/// The models that judge, and whom they report to.
pub struct Bench {
    /// Opens one.
    pub open: Open,
    /// The model that is judged; it judges in `auto` where no other is named.
    pub main: Main,
    /// To the editor.
    pub tell: Arc<dyn Fn(Event) + Send + Sync>,
    /// Counts what a model used.
    pub spent: Spent,
    /// Those that were opened: a name is opened once a session.
    pub opened: Mutex<BTreeMap<String, Arc<dyn Provider>>>,
}

impl Bench {
    /// The model called `name`; without a name that of the conversation.
    ///
    /// # Errors
    /// One sentence.
    pub fn model(&self, name: Option<&str>) -> Result<Arc<dyn Provider>, String> {
        let Some(name) = name else {
            let main = self.main.lock().unwrap_or_else(PoisonError::into_inner).clone();
            let main = main.map_err(|error| error.message)?;
            return if main.scripted() {
                Err("A script cannot review: name a model in auto.model.".to_owned())
            } else {
                Ok(main)
            };
        };
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(model) = opened.get(name) {
            return Ok(Arc::clone(model));
        }
        let model = (self.open)(name).map_err(|error| format!("{} {}", error.message, error.hint))?;
        opened.insert(name.to_owned(), Arc::clone(&model));
        Ok(model)
    }

    /// The form as the model filled it in: the arguments of the one tool on offer, or the same as text.
    ///
    /// # Errors
    /// One sentence: no answer in time, a failure, or no filled-in form.
    pub async fn ask(
        &self,
        model: &Arc<dyn Provider>,
        system: &str,
        data: &Value,
        form: ToolSpec,
        limit: Duration,
    ) -> Result<Value, String> {
        let late = format!("It did not answer within {} s.", limit.as_secs_f32());
        let answer = self.answer(model, system, data, form);
        tokio::time::timeout(limit, answer).await.unwrap_or(Err(late))
    }

    async fn answer(
        &self,
        model: &Arc<dyn Provider>,
        system: &str,
        data: &Value,
        form: ToolSpec,
    ) -> Result<Value, String> {
        let name = form.name.clone();
        let request = ChatRequest {
            system: system.trim().to_owned(),
            messages: vec![Message::user(data.to_string())],
            tools: vec![form],
        };
        let mut stream = model.stream(request).await.map_err(|error| error.message)?;
        let (mut text, mut forms, mut whole) = (String::new(), Vec::new(), false);
        while let Some(event) = stream.next().await {
            match event.map_err(|error| error.message)? {
                StreamEvent::Text(piece) => text.push_str(&piece),
                StreamEvent::ToolCall {
                    name: called,
                    arguments,
                    ..
                } => forms.push((called, arguments)),
                StreamEvent::Usage(count) => (self.spent)(model.as_ref(), count),
                StreamEvent::Waiting(_) | StreamEvent::Reasoning(_) | StreamEvent::Sealed { .. } => {}
                StreamEvent::Done(_) => whole = true,
            }
            if text.len() + forms.iter().map(|(_, form)| form.len()).sum::<usize>() > LONGEST_ANSWER {
                break;
            }
        }
        let filled = match forms.as_slice() {
            [(called, arguments)] if *called == name => Some(arguments.as_str()),
            [] => Some(unfenced(&text)),
            _ => None,
        };
        let filled = filled
            .filter(|_| whole)
            .and_then(|form| serde_json::from_str(form).ok());
        filled.ok_or_else(|| "Its answer cannot be understood.".to_owned())
    }
}

/// The text without the fence that models like to put around JSON.
fn unfenced(text: &str) -> &str {
    let text = text.trim();
    let inner = text.strip_prefix("```json").or_else(|| text.strip_prefix("```"));
    inner
        .and_then(|inner| inner.strip_suffix("```"))
        .unwrap_or(text)
        .trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_is_taken_off() {
        assert_eq!(unfenced(" {\"a\":1} "), "{\"a\":1}");
        assert_eq!(unfenced("```json\n{}\n```"), "{}");
        assert_eq!(unfenced("```\n{}\n```\n"), "{}");
        assert_eq!(unfenced("``` {}"), "``` {}");
    }
}
