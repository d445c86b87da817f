//! What is grave enough for the validator, whoever else has allowed it: destroying, and writing outside of
//! the working directory, in a git folder, to secrets and to start-up files, by any tool.

use std::path::Path;

use crate::permission::decision::Decision;
use crate::permission::ground::{Ground, Target};
use crate::permission::named::Naming;
use crate::permission::named_path::Named;
use crate::permission::secret::Secrets;
use crate::permission::shell_places::changes_files;
use crate::permission::tier;
use crate::shell::command::{Class, SimpleCommand};

/// A tool whose effects are not known.
pub(super) fn foreign(tool: &str) -> String {
    format!("What {tool} does is not known beforehand.")
}

/// Writing or deleting a path: grave where the tier asks for it.
pub(super) fn path(ground: &Ground, secrets: &Secrets, target: &Target) -> Option<String> {
    let bare = tier::write(ground, secrets, target, false);
    (bare.decision == Decision::Ask).then_some(bare.reason)
}

/// A command that destroys, or that does more than look and names what the tier guards.
pub(super) fn command(naming: &Naming<'_>, secrets: &Secrets, command: &SimpleCommand) -> Option<String> {
    let text = &command.text;
    match command.class {
        Class::Destructive => return Some(format!("`{text}` may destroy something.")),
        Class::Read => return None,
        Class::Change | Class::Unknown => {}
    }
    let ground = naming.ground();
    let guarded = |path: &&Path| {
        secrets.refuses_reading(path).is_some()
            || secrets.asks_writing(path).is_some()
            || ground.is_git(path)
            || ground.is_started(path)
            || (changes_files(command) && !ground.is_work_folder(path) && !path.starts_with("/dev"))
    };
    let named = naming.command(command);
    let path = named.iter().flat_map(Named::paths).find(guarded)?;
    Some(format!("`{text}` may write {}.", path.display()))
}
