//! Runs edit_file on every case of `tests/fixtures/edit`: on disk, and where the text is plain also in
//! a loaded buffer. A new case needs no code: `before` and `after` are bytes with `\n`, `\r`, `\t`,
//! `\\` and `\xNN`; without `after` the file must stay as it is.

use std::path::Path;
use std::sync::Arc;

use dcode::tools::edit_file::{Args, EditFile};
use dcode::tools::tool::{Tool, ToolError};
use serde::Deserialize;

use crate::project::Project;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    /// What the case is about; shown when it fails.
    why: String,
    before: String,
    after: Option<String>,
    /// What the error says; without it the edit must succeed.
    #[serde(default)]
    error: Vec<String>,
    /// What the answer says.
    #[serde(default)]
    says: Vec<String>,
    /// What neither says.
    #[serde(default)]
    never: Vec<String>,
    edit: toml::Table,
}

#[tokio::test]
async fn every_case_holds() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/edit");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let case: Case = toml::from_str(&std::fs::read_to_string(&path).unwrap())
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        run(&name, &case, false).await;
        if is_plain(&bytes(&case.before)) {
            run(&name, &case, true).await;
        }
        count += 1;
    }
    assert!(count > 20, "only {count} cases found");
}

async fn run(name: &str, case: &Case, loaded: bool) {
    let place = if loaded { "buffer" } else { "disk" };
    let about = format!("{name} ({place}): {}", case.why);
    let project = Project::new();
    let before = bytes(&case.before);
    let path = project.file("f.txt", &before);
    if loaded {
        project
            .editor
            .load(&path, std::str::from_utf8(&before).unwrap(), false);
    }
    let mut edit = case.edit.clone();
    edit.insert("path".to_owned(), "f.txt".into());
    let args: Args = edit.try_into().unwrap_or_else(|error| panic!("{about}: {error}"));
    let tool = EditFile::new(Arc::new(project.backend.clone()), Arc::default());
    let (text, wanted) = match tool.run(args, &project.ctx()).await {
        Ok(output) => {
            assert!(
                case.error.is_empty(),
                "{about}: should fail, but: {}",
                output.text
            );
            (output.text, &case.says)
        }
        Err(ToolError::Reply(text)) => {
            assert!(!case.error.is_empty(), "{about}: should succeed, but: {text}");
            (text, &case.error)
        }
        Err(other) => panic!("{about}: {other}"),
    };
    for words in wanted {
        assert!(text.contains(words), "{about}: {words:?} is not in: {text}");
    }
    for words in &case.never {
        assert!(!text.contains(words), "{about}: {words:?} is in: {text}");
    }
    let after = case.after.as_ref().map_or(before, |after| bytes(after));
    assert_eq!(
        project.bytes("f.txt").escape_ascii().to_string(),
        after.escape_ascii().to_string(),
        "{about}"
    );
    assert_eq!(project.names(), ["f.txt"], "{about}");
}

/// Text that a buffer holds just as the file does.
fn is_plain(bytes: &[u8]) -> bool {
    let text = std::str::from_utf8(bytes);
    text.is_ok_and(|text| !text.contains(['\r', '\0', '\u{feff}']))
}

/// Bytes written with `\n`, `\r`, `\t`, `\\` and `\xNN`.
pub fn bytes(escaped: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = escaped;
    while let Some(c) = rest.chars().next() {
        let special = rest
            .strip_prefix('\\')
            .and_then(|tail| Some((tail.chars().next()?, tail)));
        match special {
            None => bytes.extend_from_slice(c.to_string().as_bytes()),
            Some(('n', _)) => bytes.push(b'\n'),
            Some(('r', _)) => bytes.push(b'\r'),
            Some(('t', _)) => bytes.push(b'\t'),
            Some(('\\', _)) => bytes.push(b'\\'),
            Some(('x', tail)) => bytes.push(u8::from_str_radix(&tail[1..3], 16).unwrap()),
            Some((other, _)) => panic!("unknown escape \\{other}"),
        }
        let used = match special {
            None => c.len_utf8(),
            Some(('x', _)) => 4,
            Some(_) => 2,
        };
        rest = &rest[used..];
    }
    bytes
}
