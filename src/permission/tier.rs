//! The tier: what is right for most people, by the class of the tool, the place of the path, and whether
//! the file looks like a secret.

use std::path::Path;

use crate::config::model::ReadOutside;
use crate::permission::finding::{Finding, Key};
use crate::permission::ground::{Ground, Target};
use crate::permission::secret::Secrets;
use crate::protocol::tool::ToolClass;

const LAYER: &str = "tier";

/// A call that names no path and no command.
pub fn without_access(tool: &str, class: ToolClass) -> Finding {
    match class {
        ToolClass::Read | ToolClass::Bookkeeping => Finding::allow(
            LAYER,
            "tools that only look run unasked",
            format!("{tool} only looks."),
        ),
        ToolClass::Mutate | ToolClass::Execute | ToolClass::Foreign => Finding::ask(
            LAYER,
            "a tool whose effects are not known beforehand is asked",
            format!("It is not known beforehand what {tool} will change."),
        )
        .for_session(Key::Tool(tool.to_owned())),
    }
}

/// Reading a path. `names_only` is for tools that show names and not what files hold.
pub fn read(
    ground: &Ground,
    secrets: &Secrets,
    outside: ReadOutside,
    target: &Target,
    names_only: bool,
) -> Finding {
    if !names_only && let Some((path, entry)) = first_secret(target, |path| secrets.refuses_reading(path)) {
        return Finding::deny(
            LAYER,
            format!("files that look like secrets are not read: {entry}"),
            format!(
                "{} looks like a secret and is not read. You can allow it: add {:?} to permissions.secrets.allow in \
                 ~/.deepseek/config.toml.",
                target.words(),
                path.display().to_string()
            ),
        );
    }
    let allow = |rule: &str| Finding::allow(LAYER, rule, format!("{} is only read.", target.words()));
    if ground.is_inside(&target.real) {
        return allow("reading runs unasked");
    }
    let rule = |word: &str| {
        format!("permissions.read_outside = '{word}'; change it with setup() or in ~/.deepseek/config.toml")
    };
    match outside {
        ReadOutside::Allow => allow("reading runs unasked"),
        ReadOutside::Ask => Finding::ask(
            LAYER,
            rule("ask"),
            format!("{} lies outside the working directory.", target.words()),
        )
        .for_session(Key::Read(target.real.display().to_string())),
        ReadOutside::Deny => Finding::deny(
            LAYER,
            rule("deny"),
            format!(
                "{} lies outside the working directory, where you let nothing be read.",
                target.words()
            ),
        ),
    }
}

/// Writing or deleting a path. `explicitly_allowed` is true where a rule of the person names the path and
/// allows it; that settles a place outside, not `.git` and not secrets.
pub fn write(ground: &Ground, secrets: &Secrets, target: &Target, explicitly_allowed: bool) -> Finding {
    let key = || Key::Write(target.real.display().to_string());
    if target.paths().any(|path| ground.is_git(path)) {
        return Finding::ask(
            LAYER,
            "writing in .git is always asked",
            format!(
                "{} belongs to git: a change there can run programs or lose history.",
                target.words()
            ),
        )
        .for_session(key());
    }
    if let Some((_, entry)) = first_secret(target, |path| secrets.asks_writing(path)) {
        return Finding::ask(
            LAYER,
            format!("files that hold secrets or settings of tools are always asked: {entry}"),
            format!(
                "{} may hold secrets, or settings that run programs.",
                target.words()
            ),
        )
        .for_session(key());
    }
    if target.paths().any(|path| ground.is_started(path)) {
        return Finding::ask(
            LAYER,
            "writing where programs and their start-up files lie is always asked",
            format!("{} may be run or read when programs start.", target.words()),
        )
        .for_session(key());
    }
    if ground.is_work_folder(&target.real) {
        return Finding::allow(
            LAYER,
            "writing inside the working directory runs unasked",
            format!("{} lies in the working directory.", target.words()),
        );
    }
    if explicitly_allowed {
        return Finding::allow(
            LAYER,
            "a rule allows this path",
            format!("A rule allows {}.", target.words()),
        );
    }
    Finding::ask(
        LAYER,
        "writing outside the working directory is asked; permissions.allowed_dirs adds folders",
        format!("{} lies outside the working directory.", target.words()),
    )
    .for_good(key())
}

/// The first path of the target that `look` finds on a list.
fn first_secret<'a, 'p>(
    target: &'p Target,
    look: impl Fn(&Path) -> Option<&'a str>,
) -> Option<(&'p Path, &'a str)> {
    target
        .paths()
        .find_map(|path| look(path).map(|entry| (path, entry)))
}
/// A line for a shell that reads it in its own way.
pub fn foreign_shell(shell: &str) -> Finding {
    Finding::ask(
        "tier",
        "bash.shell is not bash, sh, dash or ksh: what is not understood is asked each time",
        format!("{shell} may read the line in another way than it was judged."),
    )
}

/// A command that wants to run without the sandbox.
pub fn outside_sandbox() -> Finding {
    Finding::ask(
        "tier",
        "leaving the sandbox is asked each time; sandbox = 'off' in ~/.deepseek/config.toml does without it",
        "It would run outside of the sandbox.",
    )
}
