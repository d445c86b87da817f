//! What the git program compares for [`crate::tools::git_answers`]: the changes are listed first, then the lines of those
//! files are asked for that may be shown.

use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use crate::tools::git_answers::{Asked, MAX_BYTES, words};
use crate::tools::git_show;
use crate::tools::tool::{ToolError, ToolOutput};
use crate::vcs::quote;
use crate::vcs::refs::Range;
use crate::vcs::report::{self, Form, Visible};
use crate::words;

/// Files whose lines are asked for at once; the others are named.
const MOST_FILES: usize = 1_000;

/// A changed file in a list of git.
struct Changed {
    letter: char,
    /// The path; of a renamed file the old one, then the new one.
    paths: Vec<Vec<u8>>,
}

/// `:100644 100644 1234 5678 R090`, a NUL, the path, a NUL, for renames one more path.
fn changes(raw: &[u8]) -> Vec<Changed> {
    let mut fields = raw.split(|byte| *byte == 0);
    let mut found = Vec::new();
    while let Some(head) = fields.next() {
        let Some(letter) = head.rsplit(|byte| *byte == b' ').next().and_then(<[u8]>::first) else {
            continue;
        };
        let letter = char::from(*letter);
        let count = if matches!(letter, 'R' | 'C') { 2 } else { 1 };
        let paths: Vec<Vec<u8>> = fields.by_ref().take(count).map(<[u8]>::to_vec).collect();
        if paths.len() == count {
            found.push(Changed { letter, paths });
        }
    }
    found
}

impl Changed {
    fn title(&self) -> String {
        let paths: Vec<String> = self.paths.iter().map(|path| quote::path(path)).collect();
        paths.join(" => ")
    }
}

impl Asked<'_> {
    /// What differs at the path.
    ///
    /// # Errors
    /// What git says, the stop.
    pub async fn diff(
        &self,
        range: Option<&Range>,
        staged: Option<bool>,
        form: Form,
    ) -> Result<ToolOutput, ToolError> {
        let mut args: Vec<OsString> = vec!["diff".into()];
        match (range, staged) {
            (None, Some(false)) => {}
            (None, _) => {
                if staged == Some(true) {
                    args.push("--cached".into());
                }
                args.push(self.head_or_nothing().await?);
            }
            (Some(range), _) => {
                if staged == Some(true) {
                    args.push("--cached".into());
                }
                args.push(words(range).into());
            }
        }
        let (text, summary) = self.compared(&args, form).await?;
        let unsaved = self.service.unsaved().await;
        let unseen = unsaved.iter().any(|(path, _)| path.starts_with(self.git.root()));
        let mut text = if text.is_empty() {
            "(no diff)\n".to_owned()
        } else {
            text
        };
        if unseen && !matches!(range, Some(Range::Two(..) | Range::Symmetric(..))) {
            text.push_str(
                "(the git program answered: it sees files as they were saved, not unsaved buffers)\n",
            );
        }
        Ok(ToolOutput {
            text,
            summary,
            ..ToolOutput::default()
        })
    }

    /// HEAD, or the empty tree before the first commit.
    async fn head_or_nothing(&self) -> Result<OsString, ToolError> {
        match self
            .git
            .run(&["rev-parse", "--verify", "-q", "HEAD"], MAX_BYTES)
            .await
        {
            Ok(_) => Ok("HEAD".into()),
            Err(ToolError::Reply(_)) => {
                let empty = ["hash-object", "-t", "tree", "--stdin"];
                let printed = self.git.feed(&empty, Some(Vec::new()), MAX_BYTES).await?;
                Ok(OsString::from_vec(printed.bytes.trim_ascii().to_vec()))
            }
            Err(error) => Err(error),
        }
    }

    /// What `git ARGS` compares, of the files that may be shown, and a few words for the person.
    async fn compared(&self, args: &[OsString], form: Form) -> Result<(String, String), ToolError> {
        let with = |options: &[&str]| {
            let plain = [
                "--no-color",
                "--no-ext-diff",
                "--no-textconv",
                "-M",
                "--ignore-submodules=dirty",
            ];
            let mut all = args.get(..1).unwrap_or_default().to_vec();
            all.extend(plain.iter().chain(options).map(OsString::from));
            all.extend_from_slice(args.get(1..).unwrap_or_default());
            all
        };
        let mut list = with(&["--raw", "-z"]);
        self.limit_to_path(&mut list);
        let listed = self.git.run(&list, MAX_BYTES).await?;
        let found = changes(&listed.bytes);
        let (mut text, mut shown, mut named, mut hidden) = (String::new(), Vec::new(), Vec::new(), 0);
        for change in &found {
            let seen = change.paths.iter().map(|path| self.visible(path)).min();
            match seen.unwrap_or(Visible::Nothing) {
                Visible::Nothing => hidden += 1,
                _ if form == Form::Names => {
                    let _ = writeln!(text, "{} {}", change.letter, change.title());
                }
                Visible::Name => named.push(change.title()),
                Visible::Content => shown.push(change),
            }
        }
        let left_out: Vec<String> = shown
            .iter()
            .skip(MOST_FILES)
            .map(|change| change.title())
            .collect();
        shown.truncate(MOST_FILES);
        if !shown.is_empty() {
            let mut ask = match form {
                Form::Stat => with(&["--numstat"]),
                _ => with(&["-p", &format!("-U{}", form.context())]),
            };
            ask.push("--".into());
            let paths = shown.iter().flat_map(|change| &change.paths);
            ask.extend(paths.map(|path| OsStr::from_bytes(path).to_owned()));
            let printed = self.git.run(&ask, MAX_BYTES).await?;
            match form {
                Form::Stat => stat(&printed.text(), &mut text),
                _ => text.push_str(&printed.text()),
            }
            if printed.cut {
                text.push_str("\n(there is more: narrow with path, or use stat or name_only)\n");
            }
        }
        report::left_out(&mut text, left_out);
        report::withheld(&mut text, named, hidden);
        if listed.cut {
            text.push_str("(more files differ: narrow with path)\n");
        }
        let summary = match found.len() {
            0 => "no diff".into(),
            count => words::count(count, "file"),
        };
        Ok((text, summary))
    }

    /// A commit or a tag, with its diff.
    ///
    /// # Errors
    /// What git says, the bare name of something else, the stop.
    pub async fn commit(&self, name: &str, form: Form) -> Result<ToolOutput, ToolError> {
        let kind = self.git.line(&["cat-file", "-t", name]).await?;
        if kind != "commit" && kind != "tag" {
            return Err(ToolError::Reply(git_show::bare_name(name)));
        }
        let head = [
            "show",
            "-s",
            "--no-color",
            "--format=medium",
            "--use-mailmap",
            name,
        ];
        let mut text = self.git.run(&head, MAX_BYTES).await?.text();
        let commit = format!("{name}^{{commit}}");
        let merge = self
            .git
            .run(
                &["rev-parse", "--verify", "-q", &format!("{commit}^2")],
                MAX_BYTES,
            )
            .await;
        text.push('\n');
        if merge.is_ok() {
            text.push_str("(a merge: the diff is against its first parent, with all that it brought)\n");
        }
        let args: Vec<OsString> = ["show", "--format=", "-m", "--first-parent", &commit]
            .map(OsString::from)
            .into();
        let (diff, summary) = self.compared(&args, form).await?;
        text.push_str(&diff);
        Ok(ToolOutput {
            text,
            summary,
            ..ToolOutput::default()
        })
    }
}

/// `1<tab>2<tab>path` as a line of a stat, and the sums.
fn stat(numbers: &str, text: &mut String) {
    let (mut files, mut added, mut removed) = (0, 0, 0);
    for line in numbers.lines() {
        let mut fields = line.splitn(3, '\t');
        let (Some(more), Some(less), Some(path)) = (fields.next(), fields.next(), fields.next()) else {
            continue;
        };
        files += 1;
        match (more.parse::<usize>(), less.parse::<usize>()) {
            (Ok(more), Ok(less)) => {
                added += more;
                removed += less;
                let _ = writeln!(text, "{path} | +{more} -{less}");
            }
            _ => {
                let _ = writeln!(text, "{path} | not text");
            }
        }
    }
    report::sums(text, files, added, removed);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_changes_with_renames_and_names_that_are_no_text() {
        let raw = b":100644 100644 a b M\0dir/\xff\0:100644 100644 a b R087\0old name\0new\0:000000 100644 0 b A\0n\0";
        let found: Vec<(char, String)> = changes(raw).iter().map(|one| (one.letter, one.title())).collect();
        assert_eq!(
            found,
            [
                ('M', "\"dir/\\377\"".to_owned()),
                ('R', "old name => new".to_owned()),
                ('A', "n".to_owned())
            ]
        );
        assert!(changes(b"").is_empty());
    }
}
