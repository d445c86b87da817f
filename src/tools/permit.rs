//! From a prepared call to one that may run: the gate, then the judging models, then the person.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::host::{Answer, HumanError};
use crate::judges::auto::Ruling;
use crate::permission::decision::{Decision, Verdict};
use crate::permission::mode::Mode;
use crate::protocol::request::{Approval, Choice, Office, Opinion, OpinionWord};
use crate::protocol::tool::Outcome;
use crate::tools::batch::{Batch, case};
use crate::tools::dispatch::{Dispatcher, blocking, changed_paths, facts};
use crate::tools::finished::Finished;
use crate::tools::registry::{DynTool, Prepared};
use crate::tools::tool::ToolCtx;

/// A call that may run.
pub(super) struct Permitted {
    /// The call; with other arguments than the model's, where the person changed them.
    pub prepared: Prepared,
    /// What the gate said.
    pub decision: Decision,
    /// A sentence for the person.
    pub notice: Option<String>,
}

/// What one look at a call came to.
enum Next {
    Run(Permitted),
    /// The person wants these arguments; they are judged anew.
    Again(serde_json::Value),
}

fn run(prepared: Prepared, decision: Decision, notice: Option<String>) -> Next {
    Next::Run(Permitted {
        prepared,
        decision,
        notice,
    })
}

impl Dispatcher {
    /// The call as it may run, or how it ended.
    pub(super) async fn permit(
        &self,
        tool: &Arc<dyn DynTool>,
        mut prepared: Prepared,
        ctx: &ToolCtx,
        batch: &Batch,
    ) -> Result<Permitted, Finished> {
        let mut edited = false;
        loop {
            match self.look(tool, prepared, ctx, batch, edited).await? {
                Next::Run(permitted) => return Ok(permitted),
                Next::Again(args) => {
                    prepared = tool
                        .prepare(&args.to_string(), &ctx.cwd)
                        .map_err(|error| Finished::unfit(&error))?;
                    edited = true;
                }
            }
        }
    }

    async fn look(
        &self,
        tool: &Arc<dyn DynTool>,
        prepared: Prepared,
        ctx: &ToolCtx,
        batch: &Batch,
        edited: bool,
    ) -> Result<Next, Finished> {
        let human = self.human.present();
        let verdict = blocking(|| self.gate.decide(&facts(tool, &prepared), human));
        if verdict.decision == Decision::Deny {
            return Err(Finished::denied_by_rule(&verdict));
        }
        let unsaved = self.unsaved_before(tool, &verdict, human).await;
        let mut opinions: Vec<Opinion> = Vec::new();
        opinions.extend(self.validate(tool, &prepared, &verdict, ctx).await?);
        let objects = opinions
            .iter()
            .any(|opinion| opinion.word != OpinionWord::Approve);
        if !objects {
            // What the person has written needs no further word of the person's.
            if verdict.decision == Decision::Allow || edited {
                let decision = if edited { Decision::Ask } else { Decision::Allow };
                // Nobody is there to save them: the command must see what the tools have written.
                let notice = if human { None } else { self.save(unsaved).await };
                return Ok(run(prepared, decision, notice));
            }
            if human && verdict.reviewable && self.gate.mode() == Mode::Auto {
                match batch.ruling(&ctx.call, &prepared) {
                    Some(Ruling::Allow) => return Ok(run(prepared, Decision::Allow, None)),
                    Some(Ruling::Deny(opinion)) => return Err(Finished::denied_by_model(opinion)),
                    Some(Ruling::Person(opinion)) => opinions.push(opinion.clone()),
                    None => {}
                }
            }
        } else if !human {
            return Err(opinions
                .first()
                .map_or_else(Finished::cancelled, Finished::denied_by_model));
        }
        let _alone = batch.asking.lock().await;
        if !objects && let Some(choice) = batch.answer(&ctx.call, &prepared) {
            return match choice {
                Choice::OnceAll => Ok(run(prepared, Decision::Ask, None)),
                _ => Err(Finished::denied_by_person(None)),
            };
        }
        let approval = self
            .approval(tool, &prepared, &verdict, opinions, ctx, batch)
            .await;
        let mut approval = approval;
        approval.unsaved.clone_from(&unsaved);
        let choices = approval.choices.clone();
        let reviewed = approval.opinions.iter().any(|opinion| opinion.by == Office::Auto);
        let answer = self.asked(approval, &verdict).await?;
        if matches!(answer.decision, Choice::OnceAll | Choice::DenyAll) && choices.contains(&answer.decision)
        {
            batch.answer_later(&ctx.call, answer.decision);
        }
        let denies = matches!(answer.decision, Choice::Deny | Choice::DenyAll);
        if denies || !choices.contains(&answer.decision) {
            return Err(Finished::denied_by_person(answer.feedback.as_deref()));
        }
        if reviewed {
            self.panel.person_allowed();
        }
        let wanted = if answer.save { unsaved } else { Vec::new() };
        let not_saved = self.save(wanted).await;
        if let Some(args) = answer.args {
            return Ok(Next::Again(args));
        }
        // An answer that cannot be kept must not stop the call that the person has just allowed.
        let kept = blocking(|| self.gate.remember(&facts(tool, &prepared), answer.decision));
        Ok(run(
            prepared,
            Decision::Ask,
            kept.err().map(|error| error.to_string()).or(not_saved),
        ))
    }

    /// The validator's opinion of a grave call.
    async fn validate(
        &self,
        tool: &Arc<dyn DynTool>,
        prepared: &Prepared,
        verdict: &Verdict,
        ctx: &ToolCtx,
    ) -> Result<Option<Opinion>, Finished> {
        let Some(why) = verdict.grave.as_deref().filter(|_| self.panel.validates()) else {
            return Ok(None);
        };
        let case = case(tool, prepared, verdict, why);
        tokio::select! {
            opinion = self.panel.validate(&case) => Ok(opinion),
            () = ctx.cancel.cancelled() => Err(Finished::cancelled()),
        }
    }

    async fn asked(&self, approval: Approval, verdict: &Verdict) -> Result<Answer, Finished> {
        self.human.approve(approval).await.map_err(|error| match error {
            HumanError::Cancelled => Finished {
                decision: Decision::Ask,
                ..Finished::cancelled()
            },
            HumanError::Absent => {
                let text = format!(
                    "Not run: {} Nobody is there to be asked. Go on without it, or say what the person \
                     should allow.",
                    verdict.reason
                );
                Finished::without_run(Outcome::Denied, text, "denied", Decision::Deny)
            }
        })
    }

    async fn approval(
        &self,
        tool: &Arc<dyn DynTool>,
        prepared: &Prepared,
        verdict: &Verdict,
        opinions: Vec<Opinion>,
        ctx: &ToolCtx,
        batch: &Batch,
    ) -> Approval {
        let paths = outermost(changed_paths(prepared));
        let objection = opinions.iter().find(|opinion| opinion.by == Office::Validator);
        let objection = objection.filter(|opinion| opinion.word != OpinionWord::Approve);
        let mut approval = Approval {
            tool: tool.name().into(),
            title: prepared.title.clone(),
            reason: verdict.reason.clone(),
            rule: verdict.rule.clone(),
            commands: verdict.commands.clone(),
            paths: (!paths.is_empty()).then_some(paths),
            diff: prepared.preview(ctx.clone()).await,
            sandbox: prepared.sandbox,
            choices: verdict.choices.clone(),
            pattern: verdict.pattern.clone(),
            unsaved: Vec::new(),
            opinions: Vec::new(),
            more: Vec::new(),
            args: None,
        };
        if let Some(objection) = objection {
            // Whatever was allowed before did not know of the objection: it is overridden once, or not at all.
            approval.choices = vec![Choice::Once, Choice::Deny];
            approval.pattern = None;
            approval.args = (objection.word == OpinionWord::Block).then(|| prepared.args.clone());
            approval.reason = verdict.grave.clone().unwrap_or(approval.reason);
        } else {
            approval.more = batch.later(&ctx.call, ctx).await;
            if !approval.more.is_empty() {
                approval.choices.extend([Choice::OnceAll, Choice::DenyAll]);
            }
        }
        approval.opinions = opinions;
        approval
    }
}

/// The paths that lie in no other one of them: of a directory that goes its name says it all, and the
/// preview lists what is in it.
fn outermost(paths: Vec<PathBuf>) -> Vec<PathBuf> {
    let all: HashSet<PathBuf> = paths.iter().cloned().collect();
    let within = |path: &Path| path.ancestors().skip(1).any(|above| all.contains(above));
    paths.into_iter().filter(|path| !within(path)).collect()
}
