//! Runs apply_patch on every case of `tests/fixtures/patch`: on disk, and where all files are plain also in
//! loaded buffers. A new case needs no code: `input/` is what lies there, `patch.txt` the patch, `expected/`
//! what lies there afterwards (without it: the same as before), `error.txt` what the refusal says and
//! `says.txt` what the answer says, one piece a line.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dcode::permission::access::Access;
use dcode::tools::apply_patch::{ApplyPatch, Args};
use dcode::tools::tool::{Tool, ToolError};

use crate::project::Project;

type Files = BTreeMap<PathBuf, Vec<u8>>;

#[tokio::test]
async fn every_case_holds() {
    let cases = folders(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/patch"));
    assert!(cases.len() > 60, "only {} cases found", cases.len());
    let mut wrong = Vec::new();
    for case in cases {
        let before = files(&case.join("input"));
        wrong.extend(run(&case, &before, false).await);
        if before.values().all(|bytes| is_plain(bytes)) {
            wrong.extend(run(&case, &before, true).await);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// What is wrong, one sentence each.
async fn run(case: &Path, before: &Files, loaded: bool) -> Vec<String> {
    let project = lay_out(before);
    if loaded {
        for (name, bytes) in before {
            let text = std::str::from_utf8(bytes).unwrap();
            project.editor.load(&project.root.join(name), text, false);
        }
    }
    let lines = |name: &str| -> Vec<String> {
        let text = std::fs::read_to_string(case.join(name)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    };
    let patch = std::fs::read_to_string(case.join("patch.txt")).unwrap();
    let result = apply(&project, &patch).await;
    let (mut wanted, mut after) = (lines("says.txt"), files(&case.join("expected")));
    if case.join("error.txt").exists() {
        (wanted, after) = (lines("error.txt"), before.clone());
    }
    let mut wrong = Vec::new();
    if result.is_ok() == case.join("error.txt").exists() {
        wrong.push(format!("the outcome is not as it should be: {result:?}"));
    }
    let (Ok(text) | Err(text)) = result;
    let unsaid = wanted.iter().filter(|words| !text.contains(*words));
    wrong.extend(unsaid.map(|words| format!("{words:?} is not in: {text}")));
    let (found, after) = (shown(&files(&project.root)), shown(&after));
    if found != after {
        wrong.push(format!(
            "there is\n{}\ninstead of\n{}",
            found.join("\n"),
            after.join("\n")
        ));
    }
    let place = if loaded { "buffers" } else { "disk" };
    let about = |wrong| format!("{} ({place}): {wrong}", case.display());
    wrong.into_iter().map(about).collect()
}

/// A public set of patches; where it is not laid beside the project there is nothing to replay.
#[tokio::test]
async fn public_scenarios_end_the_same_but_where_we_differ_on_purpose() {
    let folder = std::env::var_os("DCODE_PATCH_SCENARIOS").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/cases/apply-patch-scenarios"),
        PathBuf::from,
    );
    let cases = folders(&folder);
    if cases.is_empty() {
        println!("skipped: there are no scenarios at {}", folder.display());
        return;
    }
    // doc/apply-patch.md says why.
    let differs = ["010", "011", "015", "024"];
    for case in &cases {
        let name = case.file_name().unwrap().to_str().unwrap();
        let before = files(&case.join("input"));
        let project = lay_out(&before);
        let patch = std::fs::read_to_string(case.join("patch.txt")).unwrap();
        let result = apply(&project, &patch).await;
        let after = files(&project.root);
        if differs.iter().any(|number| name.starts_with(number)) {
            assert!(result.is_err(), "{name}");
            assert_eq!(shown(&after), shown(&before), "{name}");
        } else {
            let expected = files(&case.join("expected"));
            assert_eq!(shown(&after), shown(&expected), "{name}: {result:?}");
        }
    }
}

async fn apply(project: &Project, patch: &str) -> Result<String, String> {
    let tool = ApplyPatch::new(Arc::new(project.backend.clone()), Arc::default(), true);
    let args = || Args {
        patch_text: patch.to_owned(),
    };
    let refused = |error: ToolError| match error {
        ToolError::Reply(text) => text,
        other => panic!("{other}"),
    };
    tool.access(&args(), &project.root).map_err(refused)?;
    tool.run(args(), &project.ctx())
        .await
        .map(|output| output.text)
        .map_err(refused)
}

fn lay_out(files: &Files) -> Project {
    let project = Project::new();
    for (name, bytes) in files {
        project.file(name.to_str().unwrap(), bytes);
    }
    project
}

fn folders(of: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(of).into_iter().flatten();
    let mut found: Vec<PathBuf> = entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .collect();
    found.sort();
    found
}

/// Everything below a folder, by relative path. Temporary files that were left would be among it.
fn files(root: &Path) -> Files {
    fn collect(root: &Path, folder: &Path, found: &mut Files) {
        for entry in std::fs::read_dir(folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                collect(root, &path, found);
            } else {
                let name = path.strip_prefix(root).unwrap().to_owned();
                found.insert(name, std::fs::read(&path).unwrap());
            }
        }
    }
    let mut found = Files::new();
    collect(root, root, &mut found);
    found
}

fn shown(files: &Files) -> Vec<String> {
    let line = |(name, bytes): (&PathBuf, &Vec<u8>)| format!("{}: {}", name.display(), bytes.escape_ascii());
    files.iter().map(line).collect()
}

/// Text that a buffer holds just as the file does.
fn is_plain(bytes: &[u8]) -> bool {
    let text = std::str::from_utf8(bytes);
    text.is_ok_and(|text| !text.contains(['\r', '\0', '\u{feff}']))
}

#[tokio::test]
async fn a_miss_tells_nothing_of_a_file_that_may_not_be_shown() {
    let project = Project::new();
    project.file(".env", b"KEY=very secret\n");
    let tool = ApplyPatch::new(Arc::new(project.backend.clone()), Arc::default(), true)
        .hiding(Arc::new(|path: &Path| !path.ends_with(".env")));
    let args = Args {
        patch_text: "*** Begin Patch\n*** Update File: .env\n@@\n-KEY=very\n+KEY=x\n*** End Patch".to_owned(),
    };
    let error = tool.run(args, &project.ctx()).await.unwrap_err().to_string();
    assert!(error.starts_with("The patch does not fit .env."), "{error}");
    assert!(!error.contains("secret") && !error.contains("line 1"), "{error}");
    let moving = Args {
        patch_text: "*** Begin Patch\n*** Update File: .env\n*** Move to: plain\n*** End Patch".to_owned(),
    };
    let access = tool.access(&moving, &project.root).unwrap();
    assert!(
        access.contains(&Access::Read(project.root.join(".env"))),
        "{access:?}"
    );
}
