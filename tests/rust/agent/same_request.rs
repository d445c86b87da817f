//! A session that goes on in another process asks the model as it would have asked here: byte for byte, whatever
//! was compacted, brought back, undone or cut off before.

use dcode::protocol::event::CompactionState;
use dcode::protocol::ids::StepIx;
use dcode::protocol::op::{Op, Report, Restore, Undo};

use super::stage::Backdrop;
use super::*;

/// What the next request would be, but for the person's words.
fn next_body(stage: &mut Stage) -> String {
    let ticket = stage.agent.next_ticket();
    stage.submit(Op::Report {
        ticket,
        what: Report::Context,
    });
    let told = stage.until(|event| matches!(event, Event::Reported { ticket: t, .. } if *t == ticket));
    let Event::Reported { report, .. } = told else {
        unreachable!()
    };
    report["body"].as_str().unwrap().to_owned()
}

/// What may happen to a conversation.
#[derive(Clone, Copy, Debug)]
enum Deed {
    /// A turn of words.
    Talk,
    /// A turn that edits a file and looks at it.
    Work,
    /// A turn whose reply breaks off.
    Cut,
    /// A turn that is stopped while the model speaks.
    Stop,
    /// The person compacts.
    Compact,
    /// The person takes a compaction back.
    Whole,
    /// The conversation, with the files or alone, goes back to before the latest step that stands.
    Back(Restore),
}

fn compact(stage: &mut Stage, undo: bool) {
    stage.submit(Op::Compact { undo });
    stage.until(
        |event| matches!(event, Event::Compaction { state, .. } if *state != CompactionState::Started),
    );
}

/// The latest step that was not undone.
fn last_step(stage: &mut Stage) -> Option<StepIx> {
    stage.submit(Op::Timeline);
    let Event::Timeline { steps } = stage.until(|event| matches!(event, Event::Timeline { .. })) else {
        unreachable!()
    };
    let standing = steps.iter().filter(|step| !step.undone);
    standing.map(|step| step.step).max()
}

fn happens(stage: &mut Stage, deed: Deed, number: usize) {
    let words = format!("{number} {}", "word ".repeat(300));
    match deed {
        Deed::Talk => drop(stage.turn(&words, [Say::new().reasoning("hm").text(&words).done()])),
        Deed::Work => {
            let edit = json!({"path": format!("f{number}"), "content": format!("{number}\n")});
            let look = json!({"path": format!("f{number}")});
            let replies = [
                call("write_file", edit),
                call("read_file", look),
                Say::say("done"),
            ];
            assert_eq!(stage.turn(&words, replies).reason, TurnEnd::Done);
        }
        Deed::Cut => drop(stage.turn(&words, [Say::new().text("half").cut()])),
        Deed::Stop => {
            let (reply, release) = Say::new().text("I beg").pause();
            stage.says([reply.done()]);
            let turn = stage.prompt(&words);
            stage.until(|event| matches!(event, Event::TextDelta { .. }));
            stage.submit(Op::Interrupt);
            stage.finish(turn);
            release.go();
        }
        Deed::Compact => {
            stage.says([Say::say(&format!("Summary {number}."))]);
            compact(stage, false);
            stage.backdrop.model.clear();
        }
        Deed::Whole => compact(stage, true),
        Deed::Back(what) => {
            let from = last_step(stage);
            stage.restore(Op::Undo(Undo {
                from,
                what,
                ..Undo::default()
            }));
        }
    }
}

/// Lets the deeds happen one after the other, with a new process after each.
fn goes_on_the_same(deeds: &[Deed]) {
    let setup = json!({"retries": 0});
    let mut stage = Backdrop::new().with(&setup).start();
    for (number, deed) in deeds.iter().enumerate() {
        happens(&mut stage, *deed, number);
        let here = next_body(&mut stage);
        stage.restart(|_| {});
        stage.submit(Op::Resume { session: None });
        let resumed = stage.until(|event| matches!(event, Event::SessionResumed { .. }));
        assert!(
            matches!(&resumed, Event::SessionResumed { ok: true, .. }),
            "{resumed:?}"
        );
        let there = next_body(&mut stage);
        assert_eq!(here, there, "after {:?}", &deeds[..=number]);
    }
    // It is also a request that a server takes.
    assert_eq!(stage.turn("go on", [Say::say("fine")]).reason, TurnEnd::Done);
    super::laws::request_is_whole(stage.backdrop.model.requests().last().unwrap());
}

#[test]
fn of_a_compacted_session() {
    use Deed::{Compact, Cut, Stop, Talk, Whole, Work};
    goes_on_the_same(&[
        Talk, Work, Talk, Compact, Work, Stop, Compact, Cut, Whole, Talk, Whole, Talk,
    ]);
}

#[test]
fn of_a_conversation_that_went_back_through_a_compaction() {
    use Deed::{Back, Compact, Talk, Whole, Work};
    let (alone, both) = (Back(Restore::Conversation), Back(Restore::Both));
    goes_on_the_same(&[
        Work, Talk, Work, Talk, Compact, Work, Talk, alone, Whole, Talk, Compact, both, Whole,
    ]);
    goes_on_the_same(&[Work, Talk, Talk, Work, Compact, Talk, both, both, Whole, Work]);
}
