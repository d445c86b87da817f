//! Identifiers. Each is its own type, so that one cannot be passed where another is meant.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! number_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub u64);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub String);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

text_id!(
    /// A session; a ULID, so that names sort by the time of their making.
    SessionId
);
text_id!(
    /// One tool call. Made by the model's provider; unique within its turn.
    CallId
);
number_id!(
    /// A turn, counted from 1 within its session.
    TurnId
);
number_id!(
    /// A step, counted from 1 within its session; the numbering goes on after a resume.
    StepIx
);
number_id!(
    /// A request that waits for its one answer.
    RequestId
);
number_id!(
    /// A `call` or `explain` that came from Lua; chosen by the front end.
    TicketId
);
number_id!(
    /// Something that the person said and that waits for its time.
    WaitingId
);
number_id!(
    /// A hunk under review; never reused within a session.
    HunkId
);
