//! The engine through its protocol: ops in, events out.

use dcode::protocol::event::{Event, TurnEnd};
use dcode::protocol::request::{Choice, Reply, Request};
use dcode::protocol::tool::Outcome;
use serde_json::{Value, json};

use crate::model_server::Reply as Say;

mod approvals;
mod calls;
mod compaction;
mod contract;
mod effects;
mod failures;
mod faults;
mod feedback;
mod journal;
mod judged;
mod kills;
mod laws;
mod line;
mod prefix;
mod protocol;
mod quitting;
mod restore;
mod resume;
mod same_request;
mod sealed;
mod sessions;
mod stage;
mod steering;
mod steps;
mod strangers;
mod timeline;
mod told;

use stage::{Answer, Stage};

/// A reply of the model that makes calls, named `c0`, `c1` and so on.
fn calls(calls: &[(&str, Value)]) -> Say {
    let numbered = calls.iter().enumerate();
    numbered
        .fold(Say::new(), |reply, (at, (tool, args))| {
            reply.tool_call(&format!("c{at}"), tool, args)
        })
        .done()
}

/// A reply of the model that makes one call.
fn call(tool: &str, args: Value) -> Say {
    calls(&[(tool, args)])
}

/// The person's answer to an approval.
fn choice(decision: Choice) -> Reply {
    Reply::Approval {
        decision,
        feedback: None,
        args: None,
        save: false,
    }
}
