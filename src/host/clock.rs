//! How long a call has worked, without the time that others took to answer it.

use std::future::pending;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep};

/// A stopwatch that stands still while a request is open. Clones are the same stopwatch.
#[derive(Clone, Debug)]
pub struct WorkClock(watch::Sender<State>);

#[derive(Clone, Copy, Debug)]
struct State {
    /// Until `since`.
    worked: Duration,
    since: Instant,
    /// Open requests.
    waits: usize,
}

impl State {
    fn worked(&self) -> Duration {
        if self.waits == 0 {
            self.worked + self.since.elapsed()
        } else {
            self.worked
        }
    }

    fn change_waits(&mut self, waits: usize) {
        *self = Self {
            worked: self.worked(),
            since: Instant::now(),
            waits,
        };
    }
}

impl Default for WorkClock {
    fn default() -> Self {
        Self(watch::Sender::new(State {
            worked: Duration::ZERO,
            since: Instant::now(),
            waits: 0,
        }))
    }
}

impl WorkClock {
    /// The time worked up to now.
    pub fn worked(&self) -> Duration {
        self.0.borrow().worked()
    }

    /// Stops the clock until what is returned is dropped. Pauses may overlap.
    pub fn pause(&self) -> Paused {
        self.0.send_modify(|state| state.change_waits(state.waits + 1));
        Paused(self.clone())
    }

    /// Returns once `limit` has been worked; never before, however long the pauses are.
    pub async fn reached(&self, limit: Duration) {
        let mut changes = self.0.subscribe();
        loop {
            let state = *changes.borrow_and_update();
            let left = limit.saturating_sub(state.worked());
            if left.is_zero() {
                return;
            }
            let over = async {
                if state.waits == 0 {
                    sleep(left).await;
                } else {
                    pending::<()>().await;
                }
            };
            tokio::select! {
                () = over => {}
                // It cannot fail: we hold the sender.
                _ = changes.changed() => {}
            }
        }
    }
}

/// A pause of a [`WorkClock`].
#[derive(Debug)]
pub struct Paused(WorkClock);

impl Drop for Paused {
    fn drop(&mut self) {
        self.0
            .0
            .send_modify(|state| state.change_waits(state.waits.saturating_sub(1)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn it_stands_still_until_the_last_pause_is_over() {
        let (clock, limit) = (WorkClock::default(), Duration::from_millis(1));
        let (one, two) = (clock.pause(), clock.pause());
        let worked = clock.worked();
        let same = clock.clone();
        let reached = tokio::spawn(async move { same.reached(worked + limit).await });
        sleep(limit * 5).await;
        drop(one);
        sleep(limit * 5).await;
        assert_eq!((clock.worked(), reached.is_finished()), (worked, false));
        drop(two);
        reached.await.unwrap();
        assert!(clock.worked() >= worked + limit);
    }
}
