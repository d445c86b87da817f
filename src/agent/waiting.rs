//! What the person said while a turn runs: it waits here, visible and removable, until the running turn takes
//! it at its next step, or a turn of its own begins.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use crate::agent::queue::EventQueue;
use crate::agent::turn::Prompt;
use crate::protocol::event::{Event, QueuedWords};
use crate::protocol::ids::{TurnId, WaitingId};
use crate::protocol::op::PromptContext;

/// Words for the running turn.
#[derive(Debug)]
pub struct Words {
    /// The words.
    pub text: String,
    /// Where the person was.
    pub context: PromptContext,
}

enum Kind {
    /// Goes into the running turn at its next step.
    Steer,
    /// A turn of its own, behind the running one.
    Turn(TurnId),
}

struct Item {
    id: WaitingId,
    kind: Kind,
    words: Words,
}

/// Everything that waits, oldest first. Each change is told as [`Event::WaitingChanged`].
pub struct WaitingRoom {
    events: Arc<EventQueue>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    items: VecDeque<Item>,
    next: u64,
}

/// What begins next.
pub enum Next {
    /// A prompt that has its number.
    Turn(Prompt),
    /// Words that came too late for the turn they were for.
    Words(Words),
}

impl WaitingRoom {
    /// Nothing waits.
    pub fn new(events: Arc<EventQueue>) -> Self {
        Self {
            events,
            state: Mutex::default(),
        }
    }

    /// A prompt waits for its turn.
    pub fn push_turn(&self, prompt: Prompt) {
        let Prompt { turn, text, context } = prompt;
        self.push(Kind::Turn(turn), Words { text, context });
    }

    /// Words wait for the running turn's next step.
    pub fn push_words(&self, words: Words) {
        self.push(Kind::Steer, words);
    }

    fn push(&self, kind: Kind, words: Words) {
        self.change(|state| {
            state.next += 1;
            let id = WaitingId(state.next);
            state.items.push_back(Item { id, kind, words });
        });
    }

    /// What begins when nothing runs.
    pub fn next(&self) -> Option<Next> {
        if self.is_empty() {
            return None;
        }
        let item = self.change(|state| state.items.pop_front())?;
        Some(item.into_next())
    }

    /// All words for the running turn, taken.
    pub fn take_words(&self) -> Vec<Words> {
        if self.is_empty() {
            return Vec::new();
        }
        self.change(|state| {
            let (words, turns) = std::mem::take(&mut state.items)
                .into_iter()
                .partition(|item| matches!(item.kind, Kind::Steer));
            state.items = turns;
            let words: VecDeque<Item> = words;
            words.into_iter().map(|item| item.words).collect()
        })
    }

    /// Takes one out; `None` when it is gone already.
    pub fn remove(&self, id: WaitingId) -> Option<Next> {
        self.change(|state| {
            let at = state.items.iter().position(|item| item.id == id)?;
            state.items.remove(at)
        })
        .map(Item::into_next)
    }

    /// Takes everything out.
    pub fn clear(&self) -> Vec<Next> {
        if self.is_empty() {
            return Vec::new();
        }
        let items = self.change(|state| std::mem::take(&mut state.items));
        items.into_iter().map(Item::into_next).collect()
    }

    fn is_empty(&self) -> bool {
        self.state
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .items
            .is_empty()
    }

    fn change<R>(&self, change: impl FnOnce(&mut State) -> R) -> R {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let result = change(&mut state);
        let items = state.items.iter().map(Item::shown).collect();
        // Told under the lock, so that the last one told is the last state.
        self.events.push(Event::WaitingChanged { items });
        result
    }
}

impl Item {
    fn shown(&self) -> QueuedWords {
        QueuedWords {
            id: self.id,
            text: self.words.text.clone(),
            turn: match self.kind {
                Kind::Turn(turn) => Some(turn),
                Kind::Steer => None,
            },
        }
    }

    fn into_next(self) -> Next {
        let Words { text, context } = self.words;
        match self.kind {
            Kind::Turn(turn) => Next::Turn(Prompt { turn, text, context }),
            Kind::Steer => Next::Words(Words { text, context }),
        }
    }
}
