//! Refs, paths, ranges and dates that nobody would write: an answer or an error, never a panic.

use std::sync::OnceLock;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::repository::Repository;

fn repository() -> &'static Repository {
    static REPOSITORY: OnceLock<Repository> = OnceLock::new();
    REPOSITORY.get_or_init(|| {
        let repo = Repository::new();
        repo.write("a/b.txt", "one\ntwo\nthree\n");
        repo.commit("first words");
        repo.write("a/b.txt", "one\n2\nthree\n");
        repo.commit("second");
        repo.git(&["tag", "-a", "v1.0", "-m", "tag"]);
        repo.git(&["branch", "feature/x"]);
        repo
    })
}

/// Pieces of the language of refs, and anything else.
fn reference() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("HEAD"),
        Just("main"),
        Just("v1.0"),
        Just("feature/x"),
        Just("@"),
        Just("~"),
        Just("^"),
        Just("^{"),
        Just("}"),
        Just("{"),
        Just(".."),
        Just("..."),
        Just(":"),
        Just("/"),
        Just("a/b.txt"),
        Just("@{u}"),
        Just("@{1}"),
        Just("@{-1}"),
        Just("@{yesterday}"),
        Just("^{commit}"),
        Just("^{/first"),
        Just(":/first"),
        Just("99999999999999999999"),
        Just("-"),
        Just(" "),
        Just("\\"),
        Just("["),
        Just("("),
        Just("0"),
        Just("é"),
        Just("\u{0}"),
        Just("\n"),
        Just("refs/heads/"),
        Just("1"),
        Just("~~~~"),
        Just("deadbeef"),
    ];
    prop_oneof![
        4 => prop::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat()),
        1 => "\\PC{0,30}",
    ]
}

fn path() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("a/b.txt".to_owned()),
        Just("a".to_owned()),
        Just(".".to_owned()),
        Just("..".to_owned()),
        Just(".git/config".to_owned()),
        Just("a/../a/b.txt".to_owned()),
        Just("/".to_owned()),
        "\\PC{0,20}",
        "[a-z./*?\\[\\]-]{0,20}",
    ]
}

fn check(tool: &str, args: Value) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let repo = repository();
    let called = runtime.block_on(repo.tools.call(tool, args.clone(), &repo.root));
    if let Err(error) = called {
        let text = error.to_string();
        assert!(!text.contains("fault of its own"), "{tool} {args}: {text}");
        assert!(text.len() > 10 && text.len() < 2_000, "{tool} {args}: {text}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn refs(one in reference(), other in reference()) {
        check("git_log", json!({"ref": one, "n": 3}));
        check("git_show", json!({"ref": one}));
        check("git_diff", json!({"ref_a": one, "ref_b": other}));
    }

    #[test]
    fn paths(reference in reference(), path in path()) {
        check("git_log", json!({"path": path}));
        check("git_diff", json!({"path": path}));
        check("git_show", json!({"ref": reference, "path": path}));
        check("git_blame", json!({"path": path, "ref": reference}));
    }

    #[test]
    fn ranges(range in "[-+,0-9a-z:/ ]{0,12}", since in "\\PC{0,20}", n in any::<i64>(), context in any::<u32>()) {
        check("git_blame", json!({"path": "a/b.txt", "range": range}));
        check("git_log", json!({"since": since, "n": n}));
        check("git_diff", json!({"ref_a": "HEAD~1", "context": context}));
    }
}
