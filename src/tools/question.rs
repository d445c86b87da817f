//! The tool `question`: the model asks the person.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::host::{Human, HumanError};
use crate::permission::access::Access;
use crate::protocol::request::{Question as Asked, QuestionOption};
use crate::protocol::tool::ToolClass;
use crate::tools::tool::{Tool, ToolCtx, ToolError, ToolOutput};

/// What the model is told when there is no answer.
const NO_ANSWER: &str = "The user gave no answer. Decide yourself, and say what you assumed.\n";

/// Asks questions for the model.
pub struct Question {
    human: Arc<dyn Human>,
}

impl Question {
    /// A tool that asks this person.
    pub fn new(human: Arc<dyn Human>) -> Self {
        Self { human }
    }
}

/// The arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// Asked one after the other.
    pub questions: Vec<QuestionArgs>,
}

/// One question.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct QuestionArgs {
    /// A full sentence.
    pub question: String,
    /// A label of at most 30 characters.
    #[serde(default)]
    pub header: Option<String>,
    /// Empty: it can only be read and skipped.
    pub options: Vec<OptionArgs>,
    /// Several may be chosen.
    #[serde(default, alias = "multiSelect", alias = "multi_select")]
    pub multiple: Option<bool>,
}

/// One option.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct OptionArgs {
    /// A few words.
    pub label: String,
    /// What it means.
    #[serde(default)]
    pub description: Option<String>,
}

#[async_trait]
impl Tool for Question {
    type Args = Args;

    fn name(&self) -> &'static str {
        "question"
    }

    fn class(&self) -> ToolClass {
        ToolClass::Bookkeeping
    }

    fn description(&self) -> &'static str {
        include_str!("text/question.md")
    }

    fn title(&self, args: &Args) -> String {
        let Some(first) = args.questions.first() else {
            return String::new();
        };
        let words = first.question.split_whitespace().collect::<Vec<_>>().join(" ");
        match args.questions.len() {
            1 => words,
            count => format!("{words} (and {} more)", count - 1),
        }
    }

    fn access(&self, args: &Args, _cwd: &Path) -> Result<Vec<Access>, ToolError> {
        check(&args.questions).map_err(ToolError::Reply)?;
        Ok(Vec::new())
    }

    async fn run(&self, args: Args, _ctx: &ToolCtx) -> Result<ToolOutput, ToolError> {
        let asked: Vec<Asked> = args.questions.into_iter().map(QuestionArgs::asked).collect();
        let answers = match self.human.ask(asked.clone()).await {
            Ok(answers) => answers,
            Err(HumanError::Absent) => None,
            Err(HumanError::Cancelled) => return Err(ToolError::Cancelled),
        };
        let Some(answers) = answers else {
            return Ok(ToolOutput {
                text: NO_ANSWER.into(),
                summary: "no answer".into(),
                ..ToolOutput::default()
            });
        };
        let mut text = String::from("The user answered:\n");
        let mut chosen = Vec::new();
        for (at, question) in asked.iter().enumerate() {
            let labels = answers
                .get(at)
                .map(|labels| labels.join(", "))
                .filter(|labels| !labels.is_empty());
            let name = question.header.as_deref().unwrap_or(&question.question);
            text += &format!("- {name}: {}\n", labels.as_deref().unwrap_or("(no selection)"));
            chosen.extend(labels);
        }
        let summary = if chosen.is_empty() {
            "no answer".into()
        } else {
            chosen.join(" · ")
        };
        Ok(ToolOutput {
            text,
            summary,
            ..ToolOutput::default()
        })
    }
}

impl QuestionArgs {
    fn asked(self) -> Asked {
        let present = |text: Option<String>| text.filter(|text| !text.trim().is_empty());
        let option = |option: OptionArgs| QuestionOption {
            label: option.label,
            description: present(option.description),
        };
        Asked {
            question: self.question,
            header: present(self.header),
            options: self.options.into_iter().map(option).collect(),
            multiple: self.multiple.unwrap_or(false),
        }
    }
}

fn check(questions: &[QuestionArgs]) -> Result<(), String> {
    if questions.is_empty() {
        return Err("There is no question. Give at least one in `questions`.".into());
    }
    for (at, question) in questions.iter().enumerate() {
        if question.question.trim().is_empty() {
            return Err(format!("questions[{at}].question is empty. Write the question."));
        }
        for (nth, option) in question.options.iter().enumerate() {
            if option.label.trim().is_empty() {
                return Err(format!(
                    "questions[{at}].options[{nth}].label is empty. Name the option."
                ));
            }
            if question
                .options
                .iter()
                .take(nth)
                .any(|other| other.label == option.label)
            {
                let label = &option.label;
                return Err(format!(
                    "questions[{at}] has the option `{label}` twice. Give each its own label."
                ));
            }
        }
    }
    Ok(())
}
