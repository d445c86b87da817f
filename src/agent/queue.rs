//! Events on their way to the editor: in order, joined where that is allowed, never blocking.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::protocol::event::{Delivery, Event};

/// Tells the editor's main loop that there are events. One method, so that the way can be replaced.
pub trait Waker: Send + Sync {
    /// Called from any thread; returns at once.
    fn wake(&self);
}

/// The queue from the agent to the editor. A wake is sent once until the queue is drained.
pub struct EventQueue {
    events: Mutex<VecDeque<Event>>,
    woken: AtomicBool,
    waker: Box<dyn Waker>,
}

impl EventQueue {
    /// An empty queue that wakes by `waker`.
    pub fn new(waker: Box<dyn Waker>) -> Self {
        Self {
            events: Mutex::new(VecDeque::new()),
            woken: AtomicBool::new(false),
            waker,
        }
    }

    /// Adds an event and wakes the editor.
    pub fn push(&self, event: Event) {
        {
            let mut events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(event) = join(&mut events, event) {
                events.push_back(event);
            }
        }
        if !self.woken.swap(true, Ordering::AcqRel) {
            self.waker.wake();
        }
    }

    /// Takes up to `max` events; the flag says whether more are waiting.
    pub fn drain(&self, max: usize) -> (Vec<Event>, bool) {
        self.woken.store(false, Ordering::Release);
        let mut events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        let count = max.min(events.len());
        let taken = events.drain(..count).collect();
        (taken, !events.is_empty())
    }
}

/// Joins `event` with one that waits already, or gives it back. Never looks past an event that must arrive.
fn join(events: &mut VecDeque<Event>, event: Event) -> Option<Event> {
    if event.delivery() == Delivery::Must {
        return Some(event);
    }
    let open = events
        .iter_mut()
        .rev()
        .take_while(|waiting| waiting.delivery() != Delivery::Must);
    for waiting in open {
        match (waiting, &event) {
            (
                Event::TextDelta { turn, text },
                Event::TextDelta {
                    turn: same,
                    text: more,
                },
            )
            | (
                Event::ReasoningDelta { turn, text },
                Event::ReasoningDelta {
                    turn: same,
                    text: more,
                },
            ) if turn == same => {
                text.push_str(more);
                return None;
            }
            // Text after reasoning starts a new piece: the two keep their order.
            (Event::TextDelta { .. }, Event::ReasoningDelta { .. })
            | (Event::ReasoningDelta { .. }, Event::TextDelta { .. }) => return Some(event),
            (
                Event::ToolProgress { call, tail },
                Event::ToolProgress {
                    call: same,
                    tail: newer,
                },
            ) if call == same => {
                tail.clone_from(newer);
                return None;
            }
            (Event::TodoUpdated { items }, Event::TodoUpdated { items: newer }) => {
                items.clone_from(newer);
                return None;
            }
            (Event::WaitingChanged { items }, Event::WaitingChanged { items: newer }) => {
                items.clone_from(newer);
                return None;
            }
            (Event::Usage(usage), Event::Usage(newer)) => {
                *usage = *newer;
                return None;
            }
            (Event::HunksChanged { paths }, Event::HunksChanged { paths: more }) => {
                let new: Vec<_> = more
                    .iter()
                    .filter(|path| !paths.contains(path))
                    .cloned()
                    .collect();
                paths.extend(new);
                return None;
            }
            _ => {}
        }
    }
    Some(event)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicUsize;

    use super::*;
    use crate::protocol::event::{Level, Notice, Usage};
    use crate::protocol::ids::{CallId, TurnId};

    struct Count(Arc<AtomicUsize>);

    impl Waker for Count {
        fn wake(&self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    fn queue() -> (EventQueue, Arc<AtomicUsize>) {
        let count = Arc::new(AtomicUsize::new(0));
        (EventQueue::new(Box::new(Count(Arc::clone(&count)))), count)
    }

    fn text(text: &str) -> Event {
        Event::TextDelta {
            turn: TurnId(1),
            text: text.into(),
        }
    }

    fn reasoning(text: &str) -> Event {
        Event::ReasoningDelta {
            turn: TurnId(1),
            text: text.into(),
        }
    }

    fn notice(message: &str) -> Event {
        Event::Notice(Notice {
            level: Level::Info,
            message: message.into(),
            hint: None,
        })
    }

    fn tail(call: &str, tail: &str) -> Event {
        Event::ToolProgress {
            call: CallId(call.into()),
            tail: tail.into(),
        }
    }

    #[test]
    fn neighbours_join_and_never_cross_what_must_arrive() {
        let (queue, _) = queue();
        for event in [
            text("a"),
            text("b"),
            notice("n"),
            text("c"),
            reasoning("r"),
            text("d"),
            text("e"),
        ] {
            queue.push(event);
        }
        let (events, more) = queue.drain(64);
        assert_eq!(
            events,
            [text("ab"), notice("n"), text("c"), reasoning("r"), text("de")]
        );
        assert!(!more);
    }

    #[test]
    fn the_last_of_a_subject_wins() {
        let (queue, _) = queue();
        let usage = |tokens| {
            Event::Usage(Usage {
                input_tokens: tokens,
                ..Usage::default()
            })
        };
        for event in [tail("1", "x"), usage(1), tail("2", "y"), tail("1", "z"), usage(2)] {
            queue.push(event);
        }
        assert_eq!(queue.drain(64).0, [tail("1", "z"), usage(2), tail("2", "y")]);
    }

    #[test]
    fn one_wake_until_drained() {
        let (queue, wakes) = queue();
        for at in 0..10 {
            queue.push(notice(&at.to_string()));
        }
        assert_eq!(wakes.load(Ordering::SeqCst), 1);
        let (events, more) = queue.drain(4);
        assert_eq!((events.len(), more), (4, true));
        queue.push(notice("again"));
        assert_eq!(wakes.load(Ordering::SeqCst), 2);
        assert_eq!(queue.drain(64).0.len(), 7);
    }
}
