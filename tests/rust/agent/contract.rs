//! What every built-in tool owes the model.

use std::collections::BTreeSet;

use dcode::tools::registry::{ALIASES, canonical};

use super::faults::core;
use super::stage::Backdrop;
use super::*;

/// All names, in prompt order; what does not exist yet is left out.
const ORDER: [&str; 18] = [
    "read_file",
    "write_file",
    "edit_file",
    "apply_patch",
    "delete",
    "ls",
    "glob",
    "grep",
    "bash",
    "git_diff",
    "git_show",
    "git_blame",
    "git_log",
    "todo_write",
    "question",
    "task",
    "web_search",
    "web_fetch",
];

/// Arguments that fit, one set a tool.
fn example(tool: &str) -> Value {
    match tool {
        "read_file" => json!({"path": "a", "start_line": 1, "end_line": 2}),
        "write_file" => json!({"path": "a", "content": "x"}),
        "edit_file" => json!({"path": "a", "old_string": "x", "new_string": "y", "replace_all": true}),
        "apply_patch" => json!({"patchText": "*** Begin Patch\n*** Add File: b\n+x\n*** End Patch"}),
        "delete" => json!({"path": "a"}),
        "glob" => json!({"pattern": "*.rs"}),
        "grep" => json!({"pattern": "x"}),
        "bash" => json!({"command": "ls", "timeout_ms": 5}),
        "git_show" => json!({"ref": "HEAD"}),
        "git_blame" => json!({"path": "a"}),
        "todo_write" => json!({"todos": [{"subject": "s", "status": "in_progress"}]}),
        "question" => json!({"questions": [{"question": "q?", "options": [{"label": "l"}]}]}),
        "task" => json!({"description": "d", "prompt": "p", "agent": "general"}),
        "web_search" => json!({"query": "q"}),
        "web_fetch" => json!({"url": "https://example.invalid/"}),
        _ => json!({}),
    }
}

#[tokio::test]
async fn tools_stand_in_the_order_of_the_prompt_and_once() {
    let names = core(&Backdrop::new()).registry.names();
    let expected: Vec<_> = ORDER
        .into_iter()
        .filter(|name| names.iter().any(|there| there == name))
        .collect();
    assert_eq!(names, expected);
    // What a session has without any setting.
    let always = ORDER.iter().take_while(|name| **name != "task");
    for name in always {
        assert!(names.iter().any(|there| there == name), "{name}");
    }
}

#[tokio::test]
async fn every_tool_is_described_and_takes_what_its_schema_says() {
    let backdrop = Backdrop::new().file("a", "x\n");
    let core = core(&backdrop);
    for spec in core.registry.specs() {
        let name = spec.name.as_str();
        assert!(spec.description.len() > 40, "{name} is hardly described");
        assert_eq!(spec.schema["type"], "object", "{name}");
        let properties = spec.schema["properties"].as_object().unwrap();
        let required = spec.schema["required"].as_array().cloned().unwrap_or_default();
        let known: BTreeSet<_> = properties.keys().map(String::as_str).collect();
        for required in required.iter().map(|name| name.as_str().unwrap()) {
            assert!(known.contains(required), "{name}.{required}");
        }
        for (key, property) in properties {
            assert!(
                property["description"].is_string(),
                "{name}.{key} says what it is"
            );
        }
        // Providers take no references and no dialect.
        let text = spec.schema.to_string();
        assert!(
            !text.contains("$ref") && !text.contains("$schema"),
            "{name}: {text}"
        );

        let example = example(name);
        for key in example.as_object().unwrap().keys() {
            assert!(
                known.contains(key.as_str()),
                "{name}.{key} of the example is not in the schema"
            );
        }
        let tool = core.registry.find(name).unwrap();
        let prepared = tool.prepare(&example.to_string(), &core.cwd);
        let prepared = prepared.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(!prepared.title.contains('\n'), "{name}: a title is one line");
        if !required.is_empty() {
            let error = tool.prepare("{}", &core.cwd).err().unwrap().to_string();
            assert!(error.contains("missing field"), "{name}: {error}");
        }
    }
}

/// A model that is told when to use which does not write a whole file for a word.
#[tokio::test]
async fn the_tools_that_change_files_name_each_other() {
    let core = core(&Backdrop::new());
    let specs = core.registry.specs();
    let text = |name: &str| &specs.iter().find(|spec| spec.name == name).unwrap().description;
    for (tool, other) in [
        ("edit_file", "apply_patch"),
        ("edit_file", "write_file"),
        ("write_file", "edit_file"),
        ("write_file", "apply_patch"),
        ("apply_patch", "edit_file"),
    ] {
        assert!(text(tool).contains(other), "{tool} says when to use {other}");
    }
}

#[tokio::test]
async fn a_choice_between_words_is_a_list_of_them() {
    let specs = core(&Backdrop::new()).registry.specs();
    let property = |tool: &str, at: &str| {
        let spec = specs.iter().find(|spec| spec.name == tool).unwrap();
        spec.schema.pointer(at).unwrap().clone()
    };
    assert_eq!(
        property("grep", "/properties/output_mode"),
        json!({"description": "Default: content.", "type": "string", "enum": ["content", "files_with_matches", "count"]})
    );
    assert_eq!(
        property("todo_write", "/properties/todos/items/properties/status/enum"),
        json!(["pending", "in_progress", "completed"])
    );
    assert_eq!(
        property("bash", "/properties/action/enum"),
        json!(["poll", "stop"])
    );
}

#[tokio::test]
async fn a_spec_is_the_same_each_time() {
    let backdrop = Backdrop::new();
    assert_eq!(core(&backdrop).registry.specs(), core(&backdrop).registry.specs());
}

/// The block of tools goes with every request, so each sentence in it is paid for again and again.
#[tokio::test]
async fn the_block_of_tools_stays_small() {
    let backdrop = Backdrop::new();
    let core = core(&backdrop);
    for name in ["bash", "git_log", "question"] {
        assert!(core.registry.find(name).is_ok(), "the block is whole: {name}");
    }
    let block: Vec<Value> = core
        .registry
        .specs()
        .iter()
        .map(|spec| {
            let function =
                json!({"name": spec.name, "description": spec.description, "parameters": spec.schema});
            json!({"type": "function", "function": function})
        })
        .collect();
    let block = Value::from(block).to_string();
    // An encoder of today makes one token of 4.2 bytes of it: less than 3,000.
    assert!(block.len() < 12_600, "{} bytes", block.len());
}

#[tokio::test]
async fn aliases_are_names_too() {
    let core = core(&Backdrop::new());
    for (alias, name) in ALIASES {
        assert_eq!(canonical(alias), name);
        assert!(ORDER.contains(&name) && !ORDER.contains(&alias), "{alias}");
        assert_eq!(
            core.registry.find(alias).is_ok(),
            core.registry.find(name).is_ok(),
            "{alias}"
        );
    }
    assert_eq!(core.registry.find("execute").unwrap().name(), "bash");
    let named = ["execute", "ask_user", "write_todos", "fetch_url", "tavily_search"].map(canonical);
    assert_eq!(
        named,
        ["bash", "question", "todo_write", "web_fetch", "web_search"]
    );
}

/// A call with the argument names of another program is the same call.
#[tokio::test]
async fn arguments_have_other_names_too() {
    let backdrop = Backdrop::new().file("a", "x\n");
    let core = core(&backdrop);
    let patch = "*** Begin Patch\n*** Delete File: a\n*** End Patch";
    let edit = |path: &str| json!({path: "a", "old_string": "x", "new_string": "y"});
    let todo = |name: &str| json!({"todos": [{name: "s", "status": "pending"}]});
    for (tool, ours, others) in [
        ("read_file", json!({"path": "a"}), json!({"file_path": "a"})),
        (
            "read_file",
            json!({"path": "a", "start_line": 3, "end_line": 4}),
            json!({"path": "a", "offset": 2, "limit": 2}),
        ),
        (
            "write_file",
            json!({"path": "a", "content": "y"}),
            json!({"file_path": "a", "content": "y"}),
        ),
        ("edit_file", edit("path"), edit("file_path")),
        ("delete", json!({"path": "a"}), json!({"file_path": "a"})),
        ("ls", json!({"path": "."}), json!({"file_path": "."})),
        (
            "apply_patch",
            json!({"patchText": patch}),
            json!({"patch": patch}),
        ),
        (
            "apply_patch",
            json!({"patchText": patch}),
            json!({"input": patch}),
        ),
        (
            "glob",
            json!({"pattern": "*", "path": "sub"}),
            json!({"pattern": "*", "cwd": "sub"}),
        ),
        (
            "grep",
            json!({"pattern": "x", "path": "sub", "glob_filter": "*.rs"}),
            json!({"pattern": "x", "file_path": "sub", "glob": "*.rs"}),
        ),
        (
            "bash",
            json!({"command": "ls", "timeout_ms": 2_000}),
            json!({"command": "ls", "timeout": 2}),
        ),
        ("todo_write", todo("subject"), todo("content")),
    ] {
        let prepare = |args: &Value| {
            let prepared = core
                .registry
                .find(tool)
                .unwrap()
                .prepare(&args.to_string(), &core.cwd);
            let prepared = prepared.unwrap_or_else(|error| panic!("{tool} {args}: {error}"));
            (prepared.title, prepared.access)
        };
        assert_eq!(prepare(&others), prepare(&ours), "{tool} {others}");
    }
}
