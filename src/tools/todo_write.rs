//! The tool `todo_write`: the plan of the session.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::permission::access::Access;
use crate::protocol::tool::ToolClass;
use crate::tools::tool::{Tool, ToolCtx, ToolError, ToolOutput};
use crate::words::count;

/// Takes the whole plan each time it is written.
pub type PlanSink = Arc<dyn Fn(Vec<TodoItem>) + Send + Sync>;

/// Keeps the plan.
pub struct TodoWrite {
    sink: PlanSink,
}

impl TodoWrite {
    /// A tool that hands each new plan to `sink`.
    pub fn new(sink: PlanSink) -> Self {
        Self { sink }
    }
}

/// The arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// All steps, in order.
    pub todos: Vec<TodoItem>,
}

/// A step of the plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TodoItem {
    /// What is to be done.
    #[serde(alias = "content")]
    pub subject: String,
    /// How far it is.
    pub status: TodoStatus,
    /// As it is being done: "Running the tests".
    #[serde(default, alias = "activeForm", skip_serializing_if = "Option::is_none")]
    pub active_form: Option<String>,
}

/// How far a step is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TodoStatus {
    /// Not begun.
    Pending,
    /// Being done; at most one is.
    InProgress,
    /// Finished.
    Completed,
}

#[async_trait]
impl Tool for TodoWrite {
    type Args = Args;

    fn name(&self) -> &'static str {
        "todo_write"
    }

    fn class(&self) -> ToolClass {
        ToolClass::Bookkeeping
    }

    fn description(&self) -> &'static str {
        include_str!("text/todo_write.md")
    }

    fn title(&self, args: &Args) -> String {
        let now = args
            .todos
            .iter()
            .find(|item| item.status == TodoStatus::InProgress);
        match now {
            Some(item) => item.active_form.clone().unwrap_or_else(|| item.subject.clone()),
            None => progress(&args.todos),
        }
    }

    fn access(&self, args: &Args, _cwd: &Path) -> Result<Vec<Access>, ToolError> {
        check(&args.todos).map_err(ToolError::Reply)?;
        Ok(Vec::new())
    }

    async fn run(&self, args: Args, _ctx: &ToolCtx) -> Result<ToolOutput, ToolError> {
        let summary = progress(&args.todos);
        let text = if args.todos.is_empty() {
            "(plan cleared)\n".to_owned()
        } else {
            let lines: String = args.todos.iter().map(line).collect();
            format!("plan ({}):\n{lines}", count(args.todos.len(), "item"))
        };
        (self.sink)(args.todos);
        Ok(ToolOutput {
            text,
            summary,
            ..ToolOutput::default()
        })
    }
}

fn line(item: &TodoItem) -> String {
    let mark = match item.status {
        TodoStatus::Completed => 'x',
        TodoStatus::InProgress => '*',
        TodoStatus::Pending => ' ',
    };
    format!("  [{mark}] {}\n", item.subject)
}

fn progress(items: &[TodoItem]) -> String {
    let done = items
        .iter()
        .filter(|item| item.status == TodoStatus::Completed)
        .count();
    format!("{done} of {} done", items.len())
}

fn check(items: &[TodoItem]) -> Result<(), String> {
    if let Some(at) = items.iter().position(|item| item.subject.trim().is_empty()) {
        return Err(format!(
            "todos[{at}].subject is empty. Say what is to be done, or leave the item out."
        ));
    }
    let busy: Vec<String> = items
        .iter()
        .enumerate()
        .filter(|(_, item)| item.status == TodoStatus::InProgress)
        .map(|(at, _)| format!("todos[{at}]"))
        .collect();
    if busy.len() > 1 {
        return Err(format!(
            "{} items are in_progress ({}). At most one may be: set the others to pending.",
            busy.len(),
            busy.join(", ")
        ));
    }
    Ok(())
}
