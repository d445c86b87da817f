//! The tool `git_show`: a commit with its diff, a tag, or a file or folder as it was in a commit.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use git2::{ObjectType, Oid};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::permission::access::Access;
use crate::protocol::tool::ToolClass;
use crate::tools::git::{GitService, Place, inside};
use crate::tools::git_answers::Question;
use crate::tools::tool::{Tool, ToolCtx, ToolError, ToolOutput};
use crate::vcs::changes::between_trees;
use crate::vcs::commit::Reader;
use crate::vcs::error::{Stop, VcsError};
use crate::vcs::report::{Form, Visible, report};
use crate::vcs::similarity::is_binary;
use crate::vcs::store::Store;
use crate::vcs::tree::{entries, mode};
use crate::vcs::worktree::{Differences, index_entry};
use crate::vcs::{nearby, open, quote, refs, renames};
use crate::words;

/// Lines of context.
const CONTEXT: u32 = 3;
/// The longest content that is shown, in bytes.
const MAX_BYTES: usize = 2 * 1024 * 1024;

/// Shows commits and old files to the model.
pub struct GitShow(GitService);

impl GitShow {
    /// A tool over these repositories.
    pub fn new(service: GitService) -> Self {
        Self(service)
    }
}

/// The arguments.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// A commit, branch or tag; or `REF:PATH` from the root of the repository.
    #[serde(rename = "ref")]
    pub reference: String,
    /// A file or folder as it was at `ref`.
    #[serde(alias = "file_path")]
    pub path: Option<String>,
    /// Counts of lines only.
    pub stat: Option<bool>,
}

/// What is asked for.
enum Wanted {
    Commit(String),
    /// A path at a ref; an empty ref is the index.
    Path(String, PathBuf),
}

impl Wanted {
    fn question(&self, form: Form) -> Result<Question, VcsError> {
        match self {
            Self::Commit(name) => one(name).map(|name| Question::Commit { name, form }),
            Self::Path(name, _) if name.is_empty() => Ok(Question::Content(String::new())),
            Self::Path(name, _) => one(name).map(Question::Content),
        }
    }
}

/// One ref, no range.
fn one(name: &str) -> Result<String, VcsError> {
    match refs::range(name)? {
        refs::Range::One(name) => Ok(name),
        _ => Err(VcsError::Argument(format!(
            "`{name}` is a range. git_log lists its commits, git_diff compares its ends."
        ))),
    }
}

impl Args {
    /// The ref apart from the path, which becomes absolute.
    fn wanted(&self, cwd: &Path) -> Result<(Wanted, Place), ToolError> {
        let here = || Place::new(cwd, None);
        if let Some(path) = self.path.as_deref().filter(|path| !path.trim().is_empty()) {
            if split(&self.reference).is_some() {
                return Err(ToolError::Reply(
                    "`ref` names a path already. Give the path once: in `path`, or as REF:PATH.".into(),
                ));
            }
            let place = Place::new(cwd, Some(path))?;
            return Ok((Wanted::Path(self.reference.clone(), place.path.clone()), place));
        }
        let Some((reference, path)) = split(&self.reference) else {
            return Ok((Wanted::Commit(self.reference.clone()), here()?));
        };
        // As git has it: from the root, unless it begins with a dot.
        let relative = path.starts_with("./") || path.starts_with("../") || matches!(path, "." | "..");
        let base = if relative {
            cwd.to_owned()
        } else {
            let found = open::discover(cwd).and_then(|git| open::open(&git));
            found.map_or_else(|_| cwd.to_owned(), |store| store.root().to_owned())
        };
        let place = Place::new(&base, Some(if path.is_empty() { "." } else { path }))?;
        Ok((Wanted::Path(reference.to_owned(), place.path.clone()), place))
    }
}

/// `REF:PATH`; not `:/words` and `HEAD^{/a:b}`, which search messages.
fn split(reference: &str) -> Option<(&str, &str)> {
    let mut depth = 0;
    let at = reference.char_indices().find_map(|(at, letter)| {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        (letter == ':' && depth == 0).then_some(at)
    })?;
    let (name, path) = (reference.get(..at)?, reference.get(at + 1..)?);
    if name.is_empty() && path.starts_with('/') {
        return None;
    }
    // `:0:PATH` is the index.
    let staged = name.is_empty().then(|| path.strip_prefix("0:")).flatten();
    Some((name, staged.unwrap_or(path)))
}

#[async_trait]
impl Tool for GitShow {
    type Args = Args;

    fn name(&self) -> &'static str {
        "git_show"
    }

    fn class(&self) -> ToolClass {
        ToolClass::Read
    }

    fn description(&self) -> &'static str {
        include_str!("text/git_show.md")
    }

    fn title(&self, args: &Args) -> String {
        match &args.path {
            Some(path) => format!("{} {path}", args.reference),
            None => args.reference.clone(),
        }
    }

    fn access(&self, args: &Args, cwd: &Path) -> Result<Vec<Access>, ToolError> {
        Ok(args.wanted(cwd)?.1.access())
    }

    async fn run(&self, args: Args, ctx: &ToolCtx) -> Result<ToolOutput, ToolError> {
        let (wanted, place) = args.wanted(&ctx.cwd)?;
        let stop = ctx.cancel.clone();
        let form = if args.stat == Some(true) {
            Form::Stat
        } else {
            Form::Patch(CONTEXT)
        };
        let question = wanted
            .question(form)
            .map_err(|error| ToolError::Reply(error.to_string()))?;
        let shown = self.0.ask(&place, ctx, question, move |service, store| {
            let show = Show {
                service,
                store,
                stop: &stop,
                form,
            };
            let (text, summary) = match wanted {
                Wanted::Commit(name) => show.named(&name)?,
                Wanted::Path(name, path) => show.path(&name, &inside(store, &path)?)?,
            };
            Ok(ToolOutput {
                text,
                summary,
                ..ToolOutput::default()
            })
        });
        shown.await
    }
}

/// What to say of an object without a path.
pub(super) fn bare_name(name: &str) -> String {
    format!("`{name}` is the bare name of a file's or a folder's content. Give REF:PATH.")
}

struct Show<'a> {
    service: &'a GitService,
    store: &'a Store,
    stop: &'a dyn Stop,
    form: Form,
}

type Shown = Result<(String, String), VcsError>;

impl Show<'_> {
    fn named(&self, name: &str) -> Shown {
        let (id, kind) = refs::object(self.store, name)?;
        match kind {
            ObjectType::Commit => self.commit(id),
            ObjectType::Tag => self.tag(id, name),
            // Rules for files go by path, and an object by itself has none.
            _ => Err(VcsError::Kind(bare_name(name))),
        }
    }

    fn tag(&self, id: Oid, name: &str) -> Shown {
        let tag = self.store.git().find_tag(id)?;
        let mut text = format!("tag {}\n", String::from_utf8_lossy(tag.name_bytes()));
        if let Some(tagger) = tag.tagger() {
            let who = crate::vcs::commit::Who {
                name: String::from_utf8_lossy(tagger.name_bytes()).into_owned(),
                email: String::from_utf8_lossy(tagger.email_bytes()).into_owned(),
                time: tagger.when().seconds(),
                offset: tagger.when().offset_minutes(),
            };
            let _ = writeln!(
                text,
                "Tagger: {} <{}>\nDate:   {}",
                who.name,
                who.email,
                who.date()
            );
        }
        let message = String::from_utf8_lossy(tag.message_bytes().unwrap_or_default()).into_owned();
        let _ = writeln!(text, "\n{}\n", message.trim_end());
        let commit = refs::commit(self.store, name)?;
        let (shown, summary) = self.commit(commit)?;
        Ok((text + &shown, summary))
    }

    fn commit(&self, id: Oid) -> Shown {
        let store = self.store;
        let words = Reader::new(store).read(id)?;
        let (tree, parents) = {
            let mut history = store.history().borrow_mut();
            let ix = history.number(id);
            let node = history.load(store, ix)?;
            let parents: Vec<Oid> = history
                .parents(&node)
                .iter()
                .map(|parent| history.id(*parent))
                .collect();
            (node.tree, parents)
        };
        let mut text = format!("commit {id}\n");
        if parents.len() > 1 {
            let short: Vec<String> = parents.iter().map(|parent| store.short(*parent)).collect();
            let _ = writeln!(text, "Merge: {}", short.join(" "));
        }
        let (who, date) = (&words.author, words.author.date());
        let _ = writeln!(text, "Author: {} <{}>\nDate:   {date}\n", who.name, who.email);
        for line in words.message.trim_end().lines() {
            let _ = writeln!(text, "    {line}");
        }
        text.push('\n');
        if store.is_shallow(id) {
            text.push_str(
                "(this is a shallow clone: its parents are not in it, so all its files would be new)\n",
            );
            return Ok((text, words.subject()));
        }
        if parents.len() > 1 {
            text.push_str("(a merge: the diff is against its first parent, with all that it brought)\n");
        }
        let before = parents
            .first()
            .map(|parent| refs::commit_tree(store, *parent))
            .transpose()?;
        let changes = between_trees(store, before, Some(tree), b"", self.stop)?;
        let found = Differences {
            changes: renames::join(store, changes, None, self.stop)?,
            ..Differences::default()
        };
        let report = report(
            store,
            &found,
            self.form,
            &|path| self.service.visible(store, path),
            self.stop,
        )?;
        text.push_str(&report.text);
        let files = words::count(report.files, "file");
        let summary = format!("{files} · +{} −{}", report.counts.added, report.counts.removed);
        Ok((text, summary))
    }

    /// A file or folder at a ref.
    fn path(&self, name: &str, path: &[u8]) -> Shown {
        let store = self.store;
        let (found, at) = if name.is_empty() {
            let index = store
                .git()
                .index()
                .map_err(|error| VcsError::Index(error.message().to_owned()))?;
            let entry = index_entry(&index, path);
            (entry.map(|entry| (entry.mode, entry.id)), "the index")
        } else {
            let tree = refs::tree(store, name)?;
            match store.entry(tree, path)? {
                Some(found) => (Some(found), name),
                None => return Err(nearby::no_such_path(store, tree, path, name)),
            }
        };
        let Some((mode, id)) = found else {
            return Err(VcsError::NoSuchPath {
                path: quote::path(path),
                at: at.to_owned(),
                hint: String::new(),
            });
        };
        match mode {
            mode::TREE => self.folder(path, id),
            mode::SUBMODULE => Ok((format!("Subproject commit {id}\n"), "submodule".into())),
            _ => self.file(path, id),
        }
    }

    fn folder(&self, path: &[u8], id: Oid) -> Shown {
        let (mut text, mut count, mut hidden) = (String::new(), 0, 0);
        self.store.tree(id, |data| {
            for entry in entries(data) {
                let mut below = path.to_vec();
                if !below.is_empty() {
                    below.push(b'/');
                }
                below.extend_from_slice(entry.name);
                if self.service.visible(self.store, &below) == Visible::Nothing {
                    hidden += 1;
                    continue;
                }
                count += 1;
                let slash = if entry.is_tree() { "/" } else { "" };
                let _ = writeln!(text, "{}{slash}", quote::path(entry.name));
            }
        })?;
        if hidden > 0 {
            let _ = writeln!(text, "({hidden} withheld by a rule)");
        }
        Ok((text, words::count(count, "name")))
    }

    fn file(&self, path: &[u8], id: Oid) -> Shown {
        let (named, size) = (quote::path(path), self.store.size(id)?);
        if self.service.visible(self.store, path) != Visible::Content {
            return Err(VcsError::Kind(format!(
                "The content of {named} may not be shown."
            )));
        }
        let bytes = self.store.blob(id)?;
        if is_binary(&bytes) {
            return Ok((
                format!("({named} is not text: {size} bytes)\n"),
                "not text".into(),
            ));
        }
        let kept = bytes.get(..MAX_BYTES).unwrap_or(&bytes);
        let mut text = String::from_utf8_lossy(kept).into_owned();
        if kept.len() < bytes.len() {
            let _ = write!(text, "\n(cut: {named} has {size} bytes)\n");
        }
        let summary = words::count(text.lines().count(), "line");
        Ok((text, summary))
    }
}
