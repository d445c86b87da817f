//! The tools that a session offers, behind one type.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use schemars::generate::SchemaSettings;
use serde_json::Value;

use crate::permission::access::Access;
use crate::protocol::request::Side;
use crate::protocol::tool::{ToolClass, ToolSpec};
use crate::tools::args;
use crate::tools::tool::{Tool, ToolCtx, ToolError, ToolOutput};

/// Names of other programs for our tools; accepted wherever a tool is named.
pub const ALIASES: [(&str, &str); 5] = [
    ("execute", "bash"),
    ("ask_user", "question"),
    ("write_todos", "todo_write"),
    ("fetch_url", "web_fetch"),
    ("tavily_search", "web_search"),
];

/// The longest title, in characters.
const TITLE_CHARS: usize = 200;

/// The canonical name for `name`, which may be an alias.
pub fn canonical(name: &str) -> &str {
    ALIASES
        .iter()
        .find(|(alias, _)| *alias == name)
        .map_or(name, |(_, canonical)| canonical)
}

/// A call whose arguments fit and whose accesses are known; it has not run.
pub struct Prepared {
    /// The argument that matters, in one line.
    pub title: String,
    /// What it will touch.
    pub access: Vec<Access>,
    /// The arguments as an object, under our own names.
    pub args: Value,
    /// Of a command where there is a sandbox: on which side of its walls it would run.
    pub sandbox: Option<Side>,
    preview: Box<dyn Fn(ToolCtx) -> BoxFuture<'static, Option<String>> + Send + Sync>,
    run: Box<dyn FnOnce(ToolCtx) -> BoxFuture<'static, Result<ToolOutput, ToolError>> + Send + Sync>,
}

impl Prepared {
    /// What it would change, for the approval: a unified diff or the whole command.
    pub async fn preview(&self, ctx: ToolCtx) -> Option<String> {
        (self.preview)(ctx).await
    }

    /// Runs it.
    pub async fn run(self, ctx: ToolCtx) -> Result<ToolOutput, ToolError> {
        (self.run)(ctx).await
    }
}

/// A [`Tool`] with its types hidden behind JSON.
pub trait DynTool: Send + Sync {
    /// The canonical name.
    fn name(&self) -> &str;

    /// What it may do to the world.
    fn class(&self) -> ToolClass;

    /// What the model is told.
    fn spec(&self) -> ToolSpec;

    /// Whether its results are never offloaded; see [`Tool::pages_itself`].
    fn pages_itself(&self) -> bool {
        false
    }

    /// Parses `raw` (JSON as the model wrote it) and declares what the call will touch.
    ///
    /// # Errors
    /// [`ToolError::Reply`] when the arguments do not fit.
    fn prepare(&self, raw: &str, cwd: &Path) -> Result<Prepared, ToolError>;
}

struct Erased<T>(Arc<T>);

/// A tool behind JSON.
pub fn erased<T: Tool>(tool: T) -> Arc<dyn DynTool> {
    Arc::new(Erased(Arc::new(tool)))
}

impl<T: Tool> DynTool for Erased<T> {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn class(&self) -> ToolClass {
        self.0.class()
    }

    fn pages_itself(&self) -> bool {
        self.0.pages_itself()
    }

    fn spec(&self) -> ToolSpec {
        let schema = SchemaSettings::draft07()
            .with(|settings| {
                settings.inline_subschemas = true;
                settings.meta_schema = None;
            })
            .into_generator()
            .into_root_schema_for::<T::Args>();
        let mut schema = Value::from(schema);
        if let Some(object) = schema.as_object_mut() {
            object.shift_remove("title");
            object.shift_remove("description");
            object
                .entry("properties")
                .or_insert_with(|| Value::Object(serde_json::Map::new()));
        }
        plain(&mut schema);
        ToolSpec {
            name: self.0.name().into(),
            description: self.0.description().trim().into(),
            schema,
        }
    }

    fn prepare(&self, raw: &str, cwd: &Path) -> Result<Prepared, ToolError> {
        let object = args::object(self.name(), raw)?;
        let args: T::Args = args::typed(self.name(), object.clone())?;
        let title = one_line(&self.0.title(&args));
        let access = self.0.access(&args, cwd)?;
        let judged = access.clone();
        let (previewer, runner) = (Arc::clone(&self.0), Arc::clone(&self.0));
        Ok(Prepared {
            title,
            access,
            args: Value::Object(object.clone()),
            sandbox: self.0.sandbox(&args),
            preview: Box::new(move |ctx| {
                let (tool, object) = (Arc::clone(&previewer), object.clone());
                Box::pin(async move {
                    let args = args::typed(tool.name(), object).ok()?;
                    tool.preview(&args, &ctx).await
                })
            }),
            run: Box::new(move |ctx| {
                Box::pin(async move {
                    // While the person was asked a link may have been turned elsewhere.
                    if runner.access(&args, &ctx.cwd)? != judged {
                        return Err(ToolError::Reply(
                            "A path of this call leads elsewhere, or there is something else in it, than when \
                             it was permitted, so it was not run. Look, then send the call again."
                                .into(),
                        ));
                    }
                    runner.run(args, &ctx).await
                })
            }),
        })
    }
}

/// Takes out what costs tokens and tells a model nothing: that an argument that need not be given may also be
/// null (it is accepted all the same), the width of integers, what is taken where nothing is given.
fn plain(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            flatten_choice(object);
            if let Some(Value::Array(types)) = object.get_mut("type") {
                types.retain(|kind| kind != "null");
                if let [only] = types.as_slice() {
                    let only = only.clone();
                    object.insert("type".to_owned(), only);
                }
            }
            if object.get("type").is_some_and(|kind| kind == "integer") {
                object.shift_remove("format");
            }
            // What a call that leaves it out gets anyway.
            if object.get("default").is_some_and(is_nothing) {
                object.shift_remove("default");
            }
            if object.get("minimum").is_some_and(|least| *least == 0) {
                object.shift_remove("minimum");
            }
            // That of the list says it.
            if let Some(Value::Object(items)) = object.get_mut("items") {
                items.shift_remove("description");
            }
            object.values_mut().for_each(plain);
        }
        Value::Array(items) => items.iter_mut().for_each(plain),
        _ => {}
    }
}

fn is_nothing(value: &Value) -> bool {
    value.is_null() || *value == false || *value == ""
}

/// A choice between words, or none of them, as one list of words: what each means stands in the tool's text.
fn flatten_choice(object: &mut serde_json::Map<String, Value>) {
    if let Some(Value::Array(kinds)) = object.get_mut("anyOf") {
        kinds.retain(|kind| kind["type"] != "null");
        if let [Value::Object(only)] = kinds.as_mut_slice() {
            let only = std::mem::take(only);
            object.shift_remove("anyOf");
            for (key, value) in only {
                object.entry(key).or_insert(value);
            }
        }
    }
    let words = object.get("oneOf").and_then(Value::as_array).and_then(|kinds| {
        let words = kinds
            .iter()
            .map(|kind| kind.get("const").filter(|word| word.is_string()).cloned());
        words.collect::<Option<Vec<Value>>>()
    });
    if let Some(words) = words {
        object.shift_remove("oneOf");
        object.insert("type".to_owned(), "string".into());
        object.insert("enum".to_owned(), words.into());
    }
}

/// Titles stand in one line of the chat and the status line; a model's argument may be a megabyte.
fn one_line(title: &str) -> String {
    let mut cut: String = title
        .chars()
        .take(TITLE_CHARS)
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    if title.chars().nth(TITLE_CHARS).is_some() {
        cut.push('…');
    }
    cut
}

/// The tools on offer, in prompt order.
#[derive(Default)]
pub struct Registry {
    tools: Vec<Arc<dyn DynTool>>,
    by_name: BTreeMap<String, usize>,
}

impl Registry {
    /// Adds a tool at the end. A name that is taken is refused: built-ins always win.
    pub fn add<T: Tool>(&mut self, tool: T) -> bool {
        self.add_dyn(erased(tool))
    }

    /// Adds a tool that is already behind JSON.
    pub fn add_dyn(&mut self, tool: Arc<dyn DynTool>) -> bool {
        let name = tool.name().to_owned();
        if self.by_name.contains_key(&name) || canonical(&name) != name {
            return false;
        }
        self.by_name.insert(name, self.tools.len());
        self.tools.push(tool);
        true
    }

    /// Keeps only the tools that `wanted` says yes to.
    pub fn retain(&mut self, wanted: impl Fn(&str) -> bool) {
        self.tools.retain(|tool| wanted(tool.name()));
        self.by_name = self
            .tools
            .iter()
            .enumerate()
            .map(|(at, tool)| (tool.name().to_owned(), at))
            .collect();
    }

    /// The tool called `name` or known by that alias.
    ///
    /// # Errors
    /// [`ToolError::Reply`] that lists the tools there are.
    pub fn find(&self, name: &str) -> Result<&Arc<dyn DynTool>, ToolError> {
        self.by_name
            .get(canonical(name))
            .and_then(|at| self.tools.get(*at))
            .ok_or_else(|| {
                ToolError::Reply(format!(
                    "{name} is not a valid tool, try one of [{}]. Nothing was run.",
                    self.names().join(", ")
                ))
            })
    }

    /// The names, in order.
    pub fn names(&self) -> Vec<String> {
        self.tools.iter().map(|tool| tool.name().to_owned()).collect()
    }

    /// What the model is told, in order.
    pub fn specs(&self) -> Vec<ToolSpec> {
        self.tools.iter().map(|tool| tool.spec()).collect()
    }
}

#[cfg(test)]
mod tests {
    use async_trait::async_trait;
    use schemars::JsonSchema;
    use serde::Deserialize;
    use tokio_util::sync::CancellationToken;

    use super::*;
    use crate::protocol::ids::CallId;

    /// Touches whatever its link leads to.
    struct Touch;

    #[derive(Deserialize, JsonSchema)]
    struct Args {
        path: String,
    }

    #[async_trait]
    impl Tool for Touch {
        type Args = Args;

        fn name(&self) -> &'static str {
            "touch"
        }

        fn class(&self) -> ToolClass {
            ToolClass::Mutate
        }

        fn description(&self) -> &'static str {
            "Touches."
        }

        fn title(&self, args: &Args) -> String {
            args.path.clone()
        }

        fn access(&self, args: &Args, cwd: &Path) -> Result<Vec<Access>, ToolError> {
            let path = cwd.join(&args.path).canonicalize();
            Ok(vec![Access::Write(
                path.map_err(|error| ToolError::Reply(error.to_string()))?,
            )])
        }

        async fn run(&self, _args: Args, _ctx: &ToolCtx) -> Result<ToolOutput, ToolError> {
            Ok(ToolOutput::default())
        }
    }

    fn ctx(cwd: &Path) -> ToolCtx {
        ToolCtx {
            call: CallId("c".into()),
            cwd: cwd.to_owned(),
            cancel: CancellationToken::new(),
            progress: Arc::new(|_| {}),
        }
    }

    #[tokio::test]
    async fn a_link_that_is_turned_after_the_judgement_is_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let (link, one, other) = (
            dir.path().join("link"),
            dir.path().join("one"),
            dir.path().join("other"),
        );
        std::fs::create_dir(&one).unwrap();
        std::fs::create_dir(&other).unwrap();
        std::os::unix::fs::symlink(&one, &link).unwrap();
        let tool = Erased(Arc::new(Touch));
        let prepare = || tool.prepare(r#"{"path":"link"}"#, dir.path()).unwrap();
        assert!(prepare().run(ctx(dir.path())).await.is_ok());
        let judged = prepare();
        std::fs::remove_file(&link).unwrap();
        std::os::unix::fs::symlink(&other, &link).unwrap();
        let error = judged.run(ctx(dir.path())).await.unwrap_err().to_string();
        assert!(error.contains("leads elsewhere"), "{error}");
    }

    #[test]
    fn schemas_hold_nothing_that_costs_and_tells_nothing() {
        let mut schema = serde_json::json!({
            "type": "object",
            "properties": {
                "a": {"description": "A.", "type": ["integer", "null"], "format": "int64", "default": null},
                "b": {"type": "array", "items": {"type": ["string", "null"]}, "default": []},
            },
        });
        plain(&mut schema);
        let expected = serde_json::json!({
            "type": "object",
            "properties": {
                "a": {"description": "A.", "type": "integer"},
                "b": {"type": "array", "items": {"type": "string"}, "default": []},
            },
        });
        assert_eq!(schema, expected);
    }

    #[test]
    fn titles_are_one_short_line() {
        assert_eq!(one_line("a\nb\u{1b}[31m"), "a b [31m");
        let long = one_line(&"é".repeat(1_000_000));
        assert_eq!(
            (long.chars().count(), long.chars().last()),
            (TITLE_CHARS + 1, Some('…'))
        );
    }
}
