//! One repository, asked both ways: the same commits, the same lines, the same hunks.

use std::path::Path;

use dcode::vcs::blame::{From, blame};
use dcode::vcs::log::{Wanted, list};
use dcode::vcs::open;
use dcode::vcs::store::Store;
use tokio_util::sync::CancellationToken;

use super::repository::{Tools, git, git_bytes};

/// Answers that differ from git's, each in a line.
#[derive(Default)]
pub struct Differences {
    pub compared: usize,
    pub found: Vec<String>,
}

impl Differences {
    fn note<T: PartialEq>(&mut self, ours: &T, theirs: &T, what: impl FnOnce() -> String) {
        self.compared += 1;
        if ours != theirs {
            self.found.push(what());
        }
    }

    pub fn print(&self, name: &str) {
        println!(
            "{name}: {} answers compared, {} differ",
            self.compared,
            self.found.len()
        );
        for line in self.found.iter().take(20) {
            println!("  {line}");
        }
    }
}

pub fn store(root: &Path) -> Store {
    open::open(&open::discover(root).unwrap()).unwrap()
}

fn stop() -> CancellationToken {
    CancellationToken::new()
}

/// Every `step`th file of HEAD.
pub fn files(root: &Path, step: usize) -> Vec<String> {
    let listed = git(
        root,
        &["ls-tree", "-r", "-z", "--format=%(objecttype) %(path)", "HEAD"],
    );
    let blobs = listed.split('\0').filter_map(|line| line.strip_prefix("blob "));
    blobs.step_by(step).map(str::to_owned).collect()
}

pub fn commits(root: &Path, step: usize) -> Vec<String> {
    let listed = git(root, &["rev-list", "--all"]);
    listed.lines().step_by(step).map(str::to_owned).collect()
}

/// The log of the whole, of ranges, and of paths.
pub fn logs(root: &Path, paths: &[String], ranges: &[String], out: &mut Differences) {
    let store = store(root);
    let mut compare = |range: Option<&str>, path: &str, since: Option<i64>, follow: bool| {
        let wanted = Wanted {
            range,
            path: path.as_bytes(),
            follow,
            since,
            limit: usize::MAX,
        };
        let ours = list(&store, &wanted, &stop()).map(|listed| {
            let lines: Vec<String> = listed.commits.iter().map(ToString::to_string).collect();
            lines
        });
        let since = since.map(|since| format!("--since=@{since}"));
        let mut args = vec!["log", "--format=%H"];
        args.extend(since.as_deref());
        if follow {
            args.push("--follow");
        }
        args.push(range.unwrap_or("HEAD"));
        args.push("--");
        args.extend((!path.is_empty()).then_some(path));
        let theirs: Vec<String> = git(root, &args).lines().map(str::to_owned).collect();
        let ours = ours.unwrap_or_else(|error| vec![error.to_string()]);
        out.note(&ours, &theirs, || {
            let at = ours
                .iter()
                .zip(&theirs)
                .take_while(|(one, other)| one == other)
                .count();
            format!(
                "{}: {} and {} commits, from {at} on",
                args.join(" "),
                ours.len(),
                theirs.len()
            )
        });
    };
    compare(None, "", None, false);
    let times = git(root, &["log", "--format=%ct", "HEAD"]);
    let middle = times
        .lines()
        .nth(times.lines().count() / 2)
        .and_then(|time| time.parse().ok());
    compare(None, "", middle, false);
    for range in ranges {
        compare(Some(range), "", None, false);
    }
    for path in paths {
        compare(None, path, None, false);
        compare(None, path, None, true);
        if let Some((folder, _)) = path.rsplit_once('/') {
            compare(None, folder, None, false);
        }
        if let Some(range) = ranges.first() {
            compare(Some(range), path, None, false);
        }
    }
}

/// `sha original final path` of each line.
fn porcelain(root: &Path, path: &str) -> Vec<String> {
    let out = git_bytes(root, &["blame", "--line-porcelain", "HEAD", "--", path]);
    let out = String::from_utf8_lossy(&out);
    let (mut lines, mut head, mut name) = (Vec::new(), String::new(), String::new());
    for line in out.split('\n') {
        if line.starts_with('\t') {
            lines.push(format!("{head} {name}"));
        } else if let Some(file) = line.strip_prefix("filename ") {
            name = file.to_owned();
        } else {
            let words: Vec<&str> = line.split(' ').collect();
            if let [sha, original, last, ..] = words[..]
                && sha.len() == 40
                && original.parse::<usize>().is_ok()
            {
                head = format!("{sha} {original} {last}");
            }
        }
    }
    lines
}

/// The blame of files at HEAD.
pub fn blames(root: &Path, paths: &[String], out: &mut Differences) {
    let store = store(root);
    let head = git2::Oid::from_str(git(root, &["rev-parse", "HEAD"]).trim()).unwrap();
    for path in paths {
        let blamed = blame(
            &store,
            From::Commit(head),
            path.as_bytes(),
            0..usize::MAX,
            &stop(),
        );
        let mut ours = Vec::new();
        for piece in blamed.unwrap() {
            for at in 0..piece.lines {
                let (original, last) = (piece.original + at + 1, piece.start + at + 1);
                let name = dcode::vcs::quote::path(&piece.path);
                ours.push(format!("{} {original} {last} {name}", piece.commit.unwrap()));
            }
        }
        let theirs = porcelain(root, path);
        out.note(&ours, &theirs, || {
            let at = ours.iter().zip(&theirs).position(|(one, other)| one != other);
            let at = at.unwrap_or(ours.len().min(theirs.len()));
            format!("blame {path}: {:?} and {:?}", ours.get(at), theirs.get(at))
        });
    }
}

/// The diffs of commits against their first parents, file by file.
pub async fn diffs(root: &Path, commits: &[String], out: &mut Differences) {
    let tools = Tools::default();
    for id in commits {
        let parent = format!("{id}^");
        if git(root, &["rev-list", "--parents", "-n1", id])
            .split_whitespace()
            .count()
            == 1
        {
            continue;
        }
        let args = serde_json::json!({"ref_a": parent, "ref_b": id});
        let ours = tools.call("git_diff", args, root).await.unwrap().text;
        let theirs = git_bytes(root, &["diff", "--no-textconv", "--no-ext-diff", &parent, id]);
        let theirs = String::from_utf8_lossy(&theirs).into_owned();
        let (ours, theirs) = (by_file(&ours), by_file(&theirs));
        for (at, one) in ours.iter().enumerate() {
            // What is beyond the bound is named, not shown.
            if one.contains("more files differ and are not shown") || one.contains("more lines of this file")
            {
                break;
            }
            let other = theirs.get(at).cloned().unwrap_or_default();
            out.note(one, &other, || {
                let line = one.lines().zip(other.lines()).find(|(one, other)| one != other);
                format!(
                    "diff {parent} {id}: {} {line:?}",
                    one.lines().next().unwrap_or_default()
                )
            });
        }
    }
}

fn by_file(diff: &str) -> Vec<String> {
    let mut files: Vec<String> = Vec::new();
    for line in diff.split_inclusive('\n') {
        if line.starts_with("diff --git ") || files.is_empty() {
            files.push(String::new());
        }
        // git marks the end of a name that holds a blank.
        let named = line.starts_with("--- ") || line.starts_with("+++ ");
        let line = if named {
            line.replace("\t\n", "\n")
        } else {
            line.to_owned()
        };
        files.last_mut().unwrap().push_str(&line);
    }
    files.retain(|file| !file.starts_with("(no diff)"));
    files
}
