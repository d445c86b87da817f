//! What an earlier process left half done is taken back before any tool runs, and the person hears of it.

use std::path::Path;

use crate::agent::queue::EventQueue;
use crate::backend::{TakenBack, recover};
use crate::protocol::event::{Event, Level, Notice};

/// Takes back what is noted below `intents`. Blocks.
pub fn take_back(intents: &Path, events: &EventQueue) {
    for done in recover(intents) {
        events.push(Event::Notice(notice(&done)));
    }
}

fn notice(done: &TakenBack) -> Notice {
    let broke_off = format!("A change broke off when Neovim ended ({})", done.label);
    if done.left.is_empty() {
        return Notice {
            level: Level::Warn,
            message: format!("{broke_off}; its files are as they were before it."),
            hint: None,
        };
    }
    let names: Vec<String> = done.left.iter().map(|path| path.display().to_string()).collect();
    Notice {
        level: Level::Error,
        message: format!(
            "{broke_off}; these files were changed since and could not be put back: {}.",
            names.join(", ")
        ),
        hint: Some("Look at them, for example with `git diff`.".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_not_be_put_back_is_named() {
        let done = TakenBack {
            label: "apply_patch a and 2 more".into(),
            restored: vec!["/p/b".into()],
            left: vec!["/p/a".into()],
        };
        assert!(notice(&done).message.ends_with("could not be put back: /p/a."));
        let whole = TakenBack {
            left: Vec::new(),
            ..done
        };
        assert_eq!(
            notice(&whole).message,
            "A change broke off when Neovim ended (apply_patch a and 2 more); its files are as they were before it."
        );
    }
}
