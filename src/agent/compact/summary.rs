//! The words of a summary.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde_json::Value;

use crate::agent::compact::trim::whole_lines;
use crate::protocol::message::{Block, Message, Role};

/// What the model is told to write.
const ASK: &str = include_str!("compaction.md");

/// How many of the person's requests are quoted, the latest.
const REQUESTS: usize = 6;
const REQUEST_BYTES: usize = 400;
const LAST_WORDS: usize = 1_200;
const FILES: usize = 60;
const COMMANDS: usize = 15;

/// Tools whose call changes the file that it names.
const CHANGING: [&str; 4] = ["edit_file", "write_file", "delete", "apply_patch"];

/// The conversation with the wish for a summary at its end.
pub fn asked(mut old: Vec<Message>) -> Vec<Message> {
    match old.last_mut() {
        // Two messages of the person in a row are refused by some servers.
        Some(last) if last.role == Role::User => last.blocks.push(Block::Text {
            text: format!("\n\n{}", ASK.trim()),
        }),
        _ => old.push(Message::user(ASK.trim())),
    }
    old
}

/// A summary without a model: requests, files and commands as they stand in the messages, and the last words
/// of the model.
pub fn mechanical(messages: &[Message]) -> String {
    let mut out = String::from("(Written without the model, from the messages themselves.)\n");
    let requests: Vec<String> = messages
        .iter()
        .filter(|message| message.role == Role::User)
        .map(|message| whole_lines(message.text().trim(), REQUEST_BYTES).replace('\n', " "))
        .filter(|text| !text.is_empty())
        .collect();
    list(
        &mut out,
        "What the person asked, the latest last",
        last(&requests, REQUESTS),
    );
    let (mut changed, mut read, mut commands) = (BTreeSet::new(), BTreeSet::new(), Vec::new());
    for call in messages.iter().flat_map(Message::calls) {
        let arguments: Value = serde_json::from_str(&call.arguments).unwrap_or_default();
        if let Some(command) = arguments["command"].as_str() {
            commands.push(whole_lines(command, REQUEST_BYTES).replace('\n', " "));
        }
        if let Some(path) = arguments["path"].as_str() {
            let files = if CHANGING.contains(&call.name.as_str()) {
                &mut changed
            } else {
                &mut read
            };
            files.insert(path.to_owned());
        }
        let patch = arguments["patchText"].as_str().unwrap_or_default();
        let files = patch
            .lines()
            .filter_map(|line| line.strip_prefix("*** ")?.split_once(" File: "));
        changed.extend(files.map(|(_, path)| path.trim().to_owned()));
    }
    let names = |names: BTreeSet<String>| names.into_iter().take(FILES).collect::<Vec<_>>();
    let read = names(read.difference(&changed).cloned().collect());
    list(
        &mut out,
        "Files that you changed or tried to change",
        &names(changed),
    );
    list(&mut out, "Files that you looked at", &read);
    list(
        &mut out,
        "Commands that you ran, the latest last",
        last(&commands, COMMANDS),
    );
    let words = messages
        .iter()
        .rev()
        .filter(|message| message.role == Role::Assistant)
        .map(Message::text)
        .find(|text| !text.trim().is_empty());
    if let Some(words) = words {
        let _ = write!(
            out,
            "\n## Your last words\n{}\n",
            whole_lines(words.trim(), LAST_WORDS)
        );
    }
    out
}

fn list(out: &mut String, title: &str, items: &[String]) {
    if items.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n## {title}");
    for item in items {
        let _ = writeln!(out, "- {item}");
    }
}

fn last(items: &[String], count: usize) -> &[String] {
    items.get(items.len().saturating_sub(count)..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::ids::CallId;
    use crate::protocol::message::ToolCall;

    #[test]
    fn requests_files_and_commands_are_kept() {
        let call = |name: &str, arguments: Value| {
            Block::ToolCall(ToolCall {
                id: CallId("a".into()),
                name: name.into(),
                arguments: arguments.to_string(),
            })
        };
        let patch = "*** Begin Patch\n*** Update File: src/b.rs\n@@\n-x\n+y\n*** End Patch";
        let messages = [
            Message::user("fix\nit"),
            Message {
                role: Role::Assistant,
                blocks: vec![
                    Block::Text {
                        text: "I look.".into(),
                    },
                    call("read_file", serde_json::json!({"path": "src/a.rs"})),
                    call("edit_file", serde_json::json!({"path": "src/a.rs"})),
                    call("grep", serde_json::json!({"path": "doc", "pattern": "x"})),
                    call("apply_patch", serde_json::json!({"patchText": patch})),
                    call("bash", serde_json::json!({"command": "make\ntest"})),
                    call("ls", serde_json::json!("broken")),
                ],
            },
        ];
        insta::assert_snapshot!(mechanical(&messages), @r"
        (Written without the model, from the messages themselves.)

        ## What the person asked, the latest last
        - fix it

        ## Files that you changed or tried to change
        - src/a.rs
        - src/b.rs

        ## Files that you looked at
        - doc

        ## Commands that you ran, the latest last
        - make test

        ## Your last words
        I look.
        ");
    }
    #[test]
    fn the_wish_is_no_second_message_of_the_person() {
        let asked = asked(vec![Message::user("fix it")]);
        assert_eq!(asked.len(), 1);
        assert!(
            asked[0].text().starts_with("fix it\n\n[This conversation"),
            "{asked:?}"
        );
    }
}
