//! What the person may look at of a session, as data for the front end.

use serde_json::{Value, json};

use crate::agent::core::Core;
use crate::protocol::event::Event;
use crate::protocol::ids::TicketId;
use crate::protocol::op::Report;

/// Answers with [`Event::Reported`].
pub fn answer(core: &Core, ticket: TicketId, what: Report) {
    let report = match what {
        Report::Usage => usage(core),
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
