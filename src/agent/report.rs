//! What the person may look at of a session, as data for the front end.

use serde_json::{Value, json};

use crate::agent::compact;
use crate::agent::core::Core;
use crate::agent::reply;
use crate::protocol::event::Event;
use crate::protocol::ids::TicketId;
use crate::protocol::op::Report;

/// Answers with [`Event::Reported`].
pub fn answer(core: &Core, ticket: TicketId, what: Report) {
    let report = match what {
        Report::Usage => usage(core),
        // Of all sessions, so the session answers itself.
        Report::Models => return,
        Report::Context => context(core),
    };
    core.events.push(Event::Reported { ticket, report });
}

/// `{models: [row], total: row, misses: [{request, tokens, cause}], context_tokens, context_window}`; a row
/// is an [`agent::ledger::Row`](crate::agent::ledger::Row).
fn usage(core: &Core) -> Value {
    let ledger = core.ledger();
    let usage = ledger.usage();
    json!({
        "models": ledger.rows(),
        "total": ledger.total(),
        "misses": ledger.misses(),
        "context_tokens": usage.context_tokens,
        "context_window": usage.context_window,
    })
}

/// `{model, length, limit, window, system, tools: [{name, description, schema}], messages: [{role, blocks}],
/// body}`: what the next request would hold before the person's words. `body` is the JSON that would be sent,
/// when something is sent at all.
fn context(core: &Core) -> Value {
    let prefix = core.prefix();
    let request = reply::request(core, &prefix);
    let provider = core.provider().ok();
    let body = provider.as_ref().and_then(|provider| provider.body(&request));
    let (length, limit) = compact::length_and_limit(core, &prefix);
    json!({
        "model": provider.as_ref().map(|provider| provider.name()),
        "length": length,
        "limit": limit,
        "window": provider.as_ref().map_or(0, |provider| provider.context_window()),
        "system": request.system,
        "tools": request.tools,
        "messages": request.messages,
        "body": body.map(|body| String::from_utf8_lossy(&body).into_owned()),
    })
}
