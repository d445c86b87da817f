//! Commands that run on while the model does other things. Each has a handle, by which it is looked at and ended.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::output::OutputBuffer;
use super::run::{RunError, RunOutput, RunSpec, run};
use super::watchdog::Watchdog;

/// The most that run at once.
const MOST: usize = 16;
/// How many that ended are remembered.
const ENDED: usize = 32;
/// What is kept of the output between two looks.
const KEPT_HEAD: usize = 64 << 10;
const KEPT_TAIL: usize = 448 << 10;

/// Takes what a command prints, until somebody looks.
#[derive(Clone, Debug)]
pub struct Tap(Arc<Mutex<OutputBuffer>>);

impl Default for Tap {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(Self::empty())))
    }
}

impl Tap {
    fn empty() -> OutputBuffer {
        OutputBuffer::with_limits(KEPT_HEAD, KEPT_TAIL)
    }

    pub(super) fn push(&self, bytes: &[u8]) {
        self.buffer().push(bytes);
    }

    /// What came since the last look, cleaned for reading.
    fn take(&self) -> String {
        std::mem::replace(&mut *self.buffer(), Self::empty())
            .finish()
            .text
    }

    fn buffer(&self) -> MutexGuard<'_, OutputBuffer> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How a command fares.
#[derive(Clone, Debug)]
pub struct Look {
    /// Its line.
    pub line: String,
    /// What it printed since the last look.
    pub output: String,
    /// For how long it has run, or ran.
    pub elapsed: Duration,
    /// How it ended; none while it runs. Its `output` is what it printed in all.
    pub ended: Option<Result<RunOutput, Arc<RunError>>>,
}

/// A command that runs in the background, as the person sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Running {
    /// Its handle.
    pub handle: String,
    /// Its line.
    pub line: String,
}

/// Hears what runs, whenever that changes.
pub type OnChange = Arc<dyn Fn(Vec<Running>) + Send + Sync>;

type Ended = Option<Result<RunOutput, Arc<RunError>>>;

struct Job {
    line: String,
    tap: Tap,
    started: Instant,
    cancel: CancellationToken,
    ended: watch::Receiver<Ended>,
}

/// The background commands of a session. Dropping it ends them all.
pub struct Background {
    jobs: Mutex<BTreeMap<u64, Job>>,
    watchdog: Arc<Watchdog>,
    on_change: OnChange,
    cancel: CancellationToken,
}

impl Background {
    /// None runs. All end when `session` is cancelled; `on_change` hears of each that begins and ends.
    pub fn new(watchdog: Arc<Watchdog>, session: &CancellationToken, on_change: OnChange) -> Arc<Self> {
        Arc::new(Self {
            jobs: Mutex::default(),
            watchdog,
            on_change,
            cancel: session.child_token(),
        })
    }

    /// Starts a command; the text is its handle. It ends by itself, by [`Self::stop`], at its timeout or with the
    /// session. Needs a tokio runtime.
    ///
    /// # Errors
    /// A sentence for the model when too many run.
    pub fn start(self: &Arc<Self>, mut spec: RunSpec) -> Result<String, String> {
        let tap = Tap::default();
        spec.tap = Some(tap.clone());
        let (tell, ended) = watch::channel(None);
        let cancel = self.cancel.child_token();
        let handle = {
            let mut jobs = self.jobs();
            if jobs.values().filter(|job| job.ended.borrow().is_none()).count() >= MOST {
                return Err(format!(
                    "{MOST} commands run in the background already. Stop one first."
                ));
            }
            forget_old(&mut jobs);
            let number = jobs.last_key_value().map_or(1, |(number, _)| number + 1);
            let job = Job {
                line: spec.line.clone(),
                tap,
                started: Instant::now(),
                cancel: cancel.clone(),
                ended,
            };
            jobs.insert(number, job);
            number
        };
        let (watchdog, weak) = (Arc::clone(&self.watchdog), Arc::downgrade(self));
        tokio::spawn(async move {
            let result = run(spec, &cancel, &|_| {}, &watchdog).await.map_err(Arc::new);
            let _ = tell.send(Some(result));
            if let Some(background) = weak.upgrade() {
                background.changed();
            }
        });
        self.changed();
        Ok(name(handle))
    }

    /// How a command fares, and what it printed since the last look. With `wait` it is first waited for, at most
    /// that long. None when there is no such handle.
    pub async fn poll(&self, handle: &str, wait: Duration) -> Option<Look> {
        let mut ended = self.job(handle, |job| job.ended.clone())?;
        let _ = tokio::time::timeout(wait, ended.wait_for(Option::is_some)).await;
        self.look(handle)
    }

    /// Ends a command with all that it started, and waits for that.
    pub async fn stop(&self, handle: &str) -> Option<Look> {
        let (cancel, mut ended) = self.job(handle, |job| (job.cancel.clone(), job.ended.clone()))?;
        cancel.cancel();
        let _ = ended.wait_for(Option::is_some).await;
        self.look(handle)
    }

    /// What runs, oldest first.
    pub fn running(&self) -> Vec<Running> {
        let jobs = self.jobs();
        let running = jobs.iter().filter(|(_, job)| job.ended.borrow().is_none());
        running
            .map(|(number, job)| Running {
                handle: name(*number),
                line: job.line.clone(),
            })
            .collect()
    }

    fn look(&self, handle: &str) -> Option<Look> {
        self.job(handle, |job| {
            // First whether it ended: then nothing more is printed.
            let ended = job.ended.borrow().clone();
            Look {
                line: job.line.clone(),
                output: job.tap.take(),
                elapsed: match &ended {
                    Some(Ok(output)) => output.elapsed,
                    _ => job.started.elapsed(),
                },
                ended,
            }
        })
    }

    fn job<T>(&self, handle: &str, of: impl FnOnce(&Job) -> T) -> Option<T> {
        let number = handle.trim().strip_prefix("job-")?.parse().ok()?;
        self.jobs().get(&number).map(of)
    }

    fn changed(&self) {
        (self.on_change)(self.running());
    }

    fn jobs(&self) -> MutexGuard<'_, BTreeMap<u64, Job>> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        self.cancel.cancel();
    }
}

fn name(number: u64) -> String {
    format!("job-{number}")
}

/// Drops the oldest that ended.
fn forget_old(jobs: &mut BTreeMap<u64, Job>) {
    let ended: Vec<u64> = jobs
        .iter()
        .filter(|(_, job)| job.ended.borrow().is_some())
        .map(|(number, _)| *number)
        .collect();
    let over = ended.len().saturating_sub(ENDED);
    for number in ended.into_iter().take(over) {
        jobs.remove(&number);
    }
}
