//! The functions that Lua sees: one table in, one value out; never an error thrown.

use std::path::PathBuf;
use std::time::Duration;

use mlua::serde::SerializeOptions;
use mlua::{Function, IntoLuaMulti, Lua, LuaSerdeExt, MultiValue, Table, Value};
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use crate::agent::setup::Start;
use crate::host::guard::{guard, panics_to};
use crate::nvim::{app, reply, review, review_view, transfer};
use crate::protocol::op::Op;

/// The version of the words that Lua and the library share. Raised when either must change with the other.
pub const PROTOCOL_VERSION: u32 = 1;

/// How many events one poll hands over, when Lua does not say.
const POLL_MAX: usize = 64;

/// The table of exported functions.
pub fn table(lua: &Lua) -> mlua::Result<Table> {
    let table = lua.create_table()?;
    table.set("protocol_version", PROTOCOL_VERSION)?;
    table.set("version", env!("CARGO_PKG_VERSION"))?;
    table.set("start", lua.create_function(start)?)?;
    export(lua, &table, "submit", |_, op: Json| submit(op))?;
    export(lua, &table, "poll", |_, request: Poll| poll(&request))?;
    export(lua, &table, "review", |_, action: review::Action| {
        review::act(action)
    })?;
    export(lua, &table, "hunks", |_, filter: review::Filter| {
        review::hunks(&filter)
    })?;
    export(lua, &table, "spans", |_, of: review_view::OfBuffer| {
        review_view::spans(&of)
    })?;
    export(lua, &table, "seen", |_, window: review_view::Window| {
        review_view::seen(&window)
    })?;
    export(lua, &table, "review_files", |_, _: Json| review_view::files())?;
    export(lua, &table, "base", |_, of: review_view::OfFile| {
        review_view::base(&of)
    })?;
    export(lua, &table, "status", |_, _: Json| status())?;
    export(lua, &table, "config", |_, _: Json| {
        Ok(json!(app::agent()?.config()))
    })?;
    table.set(
        "upload_files",
        lua.create_function(|lua, files: Table| lua_answer(lua, guard(|| transfer::upload(lua, &files))))?,
    )?;
    table.set(
        "download_files",
        lua.create_function(|lua, paths: Table| lua_answer(lua, guard(|| transfer::download(lua, &paths))))?,
    )?;
    export(lua, &table, "stop", |_, request: Stop| {
        app::stop(Duration::from_millis(request.timeout_ms));
        Ok(true)
    })?;
    Ok(table)
}

/// Adds `function` under `name`: arguments from a Lua table, the answer as a Lua value, or nil and a message.
fn export<A, R>(
    lua: &Lua,
    table: &Table,
    name: &str,
    function: impl Fn(&Lua, A) -> Result<R, String> + 'static,
) -> mlua::Result<()>
where
    A: for<'de> Deserialize<'de>,
    R: Serialize,
{
    let exported = lua.create_function(move |lua, args: Value| {
        let answer = guard(|| {
            let args = if args.is_nil() {
                Value::Table(lua.create_table().map_err(words)?)
            } else {
                args
            };
            let args = lua.from_value(args).map_err(words)?;
            let answer = function(lua, args)?;
            lua.to_value_with(&answer, lua_options()).map_err(words)
        });
        match answer.and_then(|answer| answer) {
            Ok(answer) => answer.into_lua_multi(lua),
            Err(message) => (Value::Nil, message).into_lua_multi(lua),
        }
    })?;
    table.set(name, exported)
}

/// A value, or nil and a message.
fn lua_answer(lua: &Lua, answer: Result<Result<Table, String>, String>) -> mlua::Result<MultiValue> {
    match answer.and_then(|answer| answer) {
        Ok(table) => table.into_lua_multi(lua),
        Err(message) => (Value::Nil, message).into_lua_multi(lua),
    }
}

/// `None` becomes nil, so that Lua can test it; lists are plain tables.
fn lua_options() -> SerializeOptions {
    SerializeOptions::new()
        .set_array_metatable(false)
        .serialize_none_to_null(false)
        .serialize_unit_to_null(false)
}

#[expect(clippy::needless_pass_by_value, reason = "the shape that map_err wants")]
fn words(error: mlua::Error) -> String {
    error.to_string()
}

/// What `start` takes beside the function to wake.
#[derive(Deserialize)]
struct StartTable {
    cwd: PathBuf,
    home: PathBuf,
    state_dir: PathBuf,
    #[serde(default)]
    setup: Json,
    #[serde(default)]
    flags: Json,
    #[serde(default)]
    human: bool,
    #[serde(default)]
    headless: bool,
}

fn start(lua: &Lua, args: Table) -> mlua::Result<MultiValue> {
    let answer = guard(|| {
        let on_wake: Function = args.get("on_wake").map_err(words)?;
        args.set("on_wake", Value::Nil).map_err(words)?;
        let args: StartTable = lua.from_value(Value::Table(args)).map_err(words)?;
        panics_to(args.state_dir.join("dcode.log"));
        let start = Start {
            cwd: args.cwd,
            home: args.home,
            state_dir: args.state_dir,
            setup: args.setup,
            flags: args.flags,
            human: args.human,
            headless: args.headless,
        };
        let started = app::start(start, on_wake)?;
        lua.to_value_with(&started, lua_options()).map_err(words)
    });
    match answer.and_then(|answer| answer) {
        Ok(answer) => answer.into_lua_multi(lua),
        Err(message) => (Value::Nil, message).into_lua_multi(lua),
    }
}

/// Sends an op. A prompt and what has a ticket get their number here, and it is the answer.
fn submit(mut op: Json) -> Result<Json, String> {
    let agent = app::agent()?;
    let mut answer = json!(true);
    match op["type"].as_str() {
        Some("prompt") => {
            answer = json!(agent.next_turn());
            op["turn"] = answer.clone();
        }
        Some("call" | "explain" | "report" | "permissions" | "look_at_git" | "blame") => {
            answer = json!(agent.next_ticket());
            op["ticket"] = answer.clone();
        }
        Some("reply") => op["reply"] = reply::complete(op["reply"].take())?,
        _ => {}
    }
    let op: Op =
        serde_json::from_value(op).map_err(|error| format!("dcode cannot read this op: {error}."))?;
    if agent.submit(op) {
        Ok(answer)
    } else {
        Err("The agent has ended. Restart Neovim to use dcode.".into())
    }
}

#[derive(Deserialize)]
struct Poll {
    max: Option<usize>,
}

fn poll(request: &Poll) -> Result<Json, String> {
    let (events, more) = app::agent()?.poll(request.max.unwrap_or(POLL_MAX));
    Ok(json!({ "events": events, "more": more }))
}

fn status() -> Result<Json, String> {
    let agent = app::agent()?;
    let mut status = json!(agent.status());
    status["pending_hunks"] = json!(review::pending(&agent));
    Ok(status)
}

#[derive(Deserialize)]
struct Stop {
    #[serde(default = "stop_limit")]
    timeout_ms: u64,
}

fn stop_limit() -> u64 {
    200
}
