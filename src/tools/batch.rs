//! The calls of one step as they stood before the first of them ran: what the reviewer ruled on them, and what
//! the person said of several at once.
//!
//! A ruling and an answer hold for the call they were given for and as it was then: one whose arguments or
//! accesses are others by the time it runs is asked on its own.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio_util::sync::CancellationToken;

use crate::judges::auto::Ruling;
use crate::judges::case::Case;
use crate::permission::decision::{Decision, Verdict};
use crate::permission::mode::Mode;
use crate::protocol::ids::CallId;
use crate::protocol::request::{Choice, Waiting};
use crate::tools::dispatch::{Dispatcher, blocking, changed_paths, facts};
use crate::tools::registry::{DynTool, Prepared};
use crate::tools::tool::ToolCtx;

/// One call, looked at before it runs.
pub struct Planned {
    /// Which.
    pub call: CallId,
    /// Its tool.
    pub tool: Arc<dyn DynTool>,
    /// Its arguments and accesses.
    pub prepared: Prepared,
}

struct Judged {
    planned: Planned,
    verdict: Verdict,
    ruling: Option<Ruling>,
}

/// The calls of a step.
#[derive(Default)]
pub struct Batch {
    calls: Vec<Judged>,
    answered: Mutex<BTreeMap<usize, Choice>>,
    /// Held while the person is asked: of calls that run together the second may have been answered with the
    /// first.
    pub(super) asking: tokio::sync::Mutex<()>,
}

impl Batch {
    fn find(&self, call: &CallId, prepared: &Prepared) -> Option<(usize, &Judged)> {
        let place = self
            .calls
            .iter()
            .position(|judged| judged.planned.call == *call)?;
        let judged = self.calls.get(place)?;
        let same = judged.planned.prepared.args == prepared.args
            && judged.planned.prepared.access == prepared.access;
        same.then_some((place, judged))
    }

    /// What the reviewer ruled on a call.
    pub(super) fn ruling(&self, call: &CallId, prepared: &Prepared) -> Option<&Ruling> {
        self.find(call, prepared)?.1.ruling.as_ref()
    }

    /// What the person said of a call when an earlier one was asked.
    pub(super) fn answer(&self, call: &CallId, prepared: &Prepared) -> Option<Choice> {
        let (place, _) = self.find(call, prepared)?;
        let answered = self.answered.lock().unwrap_or_else(PoisonError::into_inner);
        answered.get(&place).copied()
    }

    /// The later calls that will be asked as well, with what they would change.
    pub(super) async fn later(&self, call: &CallId, ctx: &ToolCtx) -> Vec<Waiting> {
        let mut later = Vec::new();
        for (_, judged) in self.asked_after(call) {
            let Planned { tool, prepared, .. } = &judged.planned;
            later.push(Waiting {
                tool: tool.name().into(),
                title: prepared.title.clone(),
                reason: judged.verdict.reason.clone(),
                commands: judged.verdict.commands.clone(),
                diff: prepared.preview(ctx.clone()).await,
            });
        }
        later
    }

    /// Keeps the person's answer for the calls that [`Batch::later`] listed.
    pub(super) fn answer_later(&self, call: &CallId, choice: Choice) {
        let mut answered = self.answered.lock().unwrap_or_else(PoisonError::into_inner);
        answered.extend(self.asked_after(call).map(|(place, _)| (place, choice)));
    }

    fn asked_after(&self, call: &CallId) -> impl Iterator<Item = (usize, &Judged)> {
        let here = self.calls.iter().position(|judged| judged.planned.call == *call);
        let first = here.map_or(self.calls.len(), |place| place + 1);
        let asked = |judged: &Judged| {
            let ruled = matches!(judged.ruling, Some(Ruling::Allow | Ruling::Deny(_)));
            judged.verdict.decision == Decision::Ask && !ruled
        };
        self.calls
            .iter()
            .enumerate()
            .skip(first)
            .filter(move |(_, judged)| asked(judged))
    }
}

impl Dispatcher {
    /// Looks at the calls of a step before the first runs. In the mode `auto` the reviewer is asked once about
    /// all that the tiers would ask; where nobody could be asked after it, it is not asked either.
    pub async fn plan(&self, calls: Vec<Planned>, human: bool, cancel: &CancellationToken) -> Batch {
        let judge = |planned: Planned| {
            let verdict = blocking(|| self.gate.decide(&facts(&planned.tool, &planned.prepared), human));
            Judged {
                planned,
                verdict,
                ruling: None,
            }
        };
        let mut calls: Vec<Judged> = calls.into_iter().map(judge).collect();
        if human && self.gate.mode() == Mode::Auto {
            self.review(&mut calls, cancel).await;
        }
        Batch {
            calls,
            ..Batch::default()
        }
    }

    async fn review(&self, calls: &mut [Judged], cancel: &CancellationToken) {
        let (to_review, beside): (Vec<&mut Judged>, Vec<&mut Judged>) = calls
            .iter_mut()
            .partition(|judged| judged.verdict.decision == Decision::Ask && judged.verdict.reviewable);
        if to_review.is_empty() {
            return;
        }
        let same_step: Vec<String> = beside
            .iter()
            .map(|judged| format!("{} {}", judged.planned.tool.name(), judged.planned.prepared.title))
            .collect();
        let cases: Vec<Case> = to_review
            .iter()
            .map(|judged| {
                case(
                    &judged.planned.tool,
                    &judged.planned.prepared,
                    &judged.verdict,
                    &judged.verdict.reason,
                )
            })
            .collect();
        let rulings = tokio::select! {
            rulings = self.panel.review(&cases, &same_step) => rulings,
            () = cancel.cancelled() => return,
        };
        for (judged, ruling) in to_review.into_iter().zip(rulings) {
            judged.ruling = Some(ruling);
        }
    }
}

/// A call as a judging model is to see it.
pub(super) fn case(tool: &Arc<dyn DynTool>, prepared: &Prepared, verdict: &Verdict, why: &str) -> Case {
    Case {
        tool: tool.name().to_owned(),
        title: prepared.title.clone(),
        args: prepared.args.clone(),
        why: why.to_owned(),
        commands: verdict.commands.clone(),
        touches: changed_paths(prepared)
            .iter()
            .map(|path| path.display().to_string())
            .collect(),
    }
}
