//! The last layer: what the mode, and the absence of a person, make of a finding.

pub use crate::config::mode::{MODE_NAMES, Mode};

use crate::permission::decision::Decision;
use crate::permission::finding::Finding;
use crate::protocol::tool::ToolClass;

const LAYER: &str = "mode";

/// Applies the mode. `changes` says whether the access writes, deletes or runs.
pub fn apply(mode: Mode, class: ToolClass, changes: bool, finding: Finding) -> Finding {
    let acts = changes || class.acts();
    let change = format!("mode {mode}; :Dcode mode manual changes it");
    match (mode, finding.decision) {
        (Mode::ReadOnly, Decision::Allow | Decision::Ask) if acts => Finding::deny(
            LAYER,
            change,
            "The mode is read-only: nothing is changed and nothing is run. Go on by reading, or say what you would do.",
        ),
        (Mode::AskAll, Decision::Allow) if class != ToolClass::Bookkeeping => {
            Finding::ask(LAYER, change, "The mode is ask-all: every call is asked.")
        }
        // An answer would not be used: the next call is asked again.
        (Mode::AskAll, Decision::Ask) => Finding {
            key: None,
            always: false,
            ..finding
        },
        (Mode::Yolo, Decision::Ask) if !finding.sticky => Finding::allow(
            LAYER,
            format!("mode yolo, instead of: {}", finding.rule),
            "The mode is yolo: what would be asked runs.",
        ),
        _ => finding,
    }
}

/// Nobody is there to answer.
pub fn without_human(finding: Finding) -> Finding {
    if finding.decision != Decision::Ask {
        return finding;
    }
    Finding::deny(
        finding.layer,
        format!("{}; nobody is there to ask", finding.rule),
        format!(
            "{} It would have to be asked, and nobody is there to answer.",
            finding.reason
        ),
    )
}
