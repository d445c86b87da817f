//! grep, glob, bash, question and todo_write as a model sees them.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use dcode::fs::atomic::write;
use dcode::host::{Answer, Human, HumanError};
use dcode::permission::access::Access;
use dcode::protocol::ids::CallId;
use dcode::protocol::request::{Approval, Question as Asked};
use dcode::shell::env::Shell;
use dcode::shell::watchdog::Watchdog;
use dcode::tools::bash::Bash;
use dcode::tools::glob::Glob;
use dcode::tools::grep::Grep;
use dcode::tools::question::Question;
use dcode::tools::todo_write::{TodoItem, TodoWrite};
use dcode::tools::tool::{Tool, ToolCtx, ToolError, ToolOutput};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

fn ctx(cwd: &Path) -> ToolCtx {
    ToolCtx {
        call: CallId("c1".into()),
        cwd: cwd.into(),
        cancel: CancellationToken::new(),
        progress: Arc::new(|_| {}),
    }
}

/// Parses, asks for access and runs, as the dispatcher does.
async fn call<T: Tool>(tool: &T, args: Value, cwd: &Path) -> Result<ToolOutput, ToolError> {
    let args: T::Args = serde_json::from_value(args).unwrap();
    tool.access(&args, cwd)?;
    tool.run(args, &ctx(cwd)).await
}

async fn text<T: Tool>(tool: &T, args: Value, cwd: &Path) -> String {
    call(tool, args, cwd).await.unwrap().text
}

fn tree(files: &[(&str, &str)]) -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    for (path, text) in files {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        write(&path, text.as_bytes(), None).unwrap();
    }
    (dir, root)
}

fn grep(buffers: Vec<(PathBuf, String)>) -> Grep {
    let buffers = Arc::new(move || {
        let buffers = buffers.clone();
        Box::pin(async move { buffers }) as futures_util::future::BoxFuture<'static, _>
    });
    Grep::new(buffers, Arc::new(|path: &Path| !path.ends_with(".env")))
}

#[tokio::test]
async fn grep_shows_content_files_or_counts() {
    let (_dir, root) = tree(&[
        ("a.rs", "fn a() {}\nlet x;\nfn b() {}\n"),
        ("sub/b.rs", "fn c() {}\n"),
        ("n.md", "fn\n"),
    ]);
    let tool = grep(Vec::new());
    let rs = json!({"pattern": "^fn", "glob_filter": "*.rs"});
    assert_eq!(
        text(&tool, rs, &root).await,
        "a.rs:1:fn a() {}\na.rs:3:fn b() {}\nsub/b.rs:1:fn c() {}\n"
    );
    let files = json!({"pattern": "fn", "output_mode": "files_with_matches"});
    assert_eq!(text(&tool, files, &root).await, "a.rs\nn.md\nsub/b.rs\n");
    let count = json!({"pattern": "fn", "output_mode": "count", "path": "a.rs"});
    assert_eq!(text(&tool, count, &root).await, "a.rs:2\n");
    let context = json!({"pattern": "x;", "context": 1, "path": "."});
    assert_eq!(
        text(&tool, context, &root).await,
        "a.rs-1-fn a() {}\na.rs:2:let x;\na.rs-3-fn b() {}\n"
    );
}

#[tokio::test]
async fn grep_says_what_it_left_out_and_how_to_see_it() {
    let (_dir, root) = tree(&[
        (".gitignore", "out\n"),
        (".env", "KEY=1\n"),
        (".github/w.yml", "KEY\n"),
        ("out/a", "KEY\n"),
        ("b.bin", "KEY\0\n"),
        ("c.txt", "KEY\n"),
    ]);
    let tool = grep(vec![(root.join("c.txt"), "changed KEY\nKEY two\n".into())]);
    let answer = text(&tool, json!({"pattern": "KEY", "max_count": 1}), &root).await;
    assert_eq!(
        answer,
        "c.txt:1:changed KEY\n\
         (2 matching lines in 1 file in all; not all are shown. Narrow the pattern, path or glob_filter, raise \
         max_count up to 2000, or use output_mode=count)\n\
         (1 ignored name not searched; no_ignore=true or a path to one searches it)\n\
         (3 hidden names not searched; hidden=true or a path to one searches it)\n\
         (1 file not searched, not text)\n"
    );
    let hidden = text(
        &tool,
        json!({"pattern": "KEY", "hidden": true, "output_mode": "files_with_matches"}),
        &root,
    )
    .await;
    assert!(hidden.starts_with(".github/w.yml\nc.txt\n"), "{hidden}");
    assert!(
        hidden.contains("(not searched, because their content may not be shown: .env)"),
        "{hidden}"
    );
    let named = text(&tool, json!({"pattern": "KEY", "path": ".github"}), &root).await;
    assert_eq!(named, ".github/w.yml:1:KEY\n");
    let by_glob = text(
        &tool,
        json!({"pattern": "KEY", "glob_filter": ".github/**"}),
        &root,
    )
    .await;
    assert!(by_glob.starts_with(".github/w.yml:1:KEY\n"), "{by_glob}");
}

#[tokio::test]
async fn grep_through_a_link_names_both_and_no_match_is_no_failure() {
    let (_dir, root) = tree(&[("real/f.md", "needle\n")]);
    std::os::unix::fs::symlink("real", root.join("link")).unwrap();
    let tool = grep(Vec::new());
    let linked = text(&tool, json!({"pattern": "needle", "path": "link"}), &root).await;
    assert!(
        linked.starts_with("link/f.md:1:needle\n") && linked.contains("real"),
        "{linked}"
    );
    let none = call(&tool, json!({"pattern": "a\\|b"}), &root).await.unwrap();
    assert!(!none.failed);
    assert_eq!(
        none.text,
        "No matches for `a\\|b` under `.`.\n`\\|` is a literal bar: alternatives are written `a|b`.\n"
    );
    let error = call(&tool, json!({"pattern": "("}), &root).await.unwrap_err();
    assert!(
        matches!(&error, ToolError::Reply(text) if text.contains("literal=true")),
        "{error}"
    );
}

fn bash() -> Bash {
    let minute = Duration::from_secs(60);
    Bash::new(
        Shell::new("/bin/bash"),
        Arc::new(Watchdog::new()),
        Vec::new(),
        minute,
    )
}

/// The answer without the time that it took.
fn timeless(text: &str) -> String {
    let (first, rest) = text.split_once('\n').unwrap();
    let words: Vec<&str> = first
        .split(' ')
        .filter(|word| {
            !word
                .trim_end_matches(['s', ':', ';'])
                .parse::<f64>()
                .is_ok_and(|_| word.contains('.'))
        })
        .collect();
    format!("{}\n{rest}", words.join(" "))
}

#[tokio::test]
async fn bash_says_how_it_ended_first() {
    let (_dir, root) = tree(&[("a", "")]);
    let run = async |command: &str| call(&bash(), json!({"command": command}), &root).await.unwrap();
    let out = run("ls; pwd").await;
    assert_eq!(timeless(&out.text), format!("exit 0 in\na\n{}\n", root.display()));
    assert_eq!((out.summary.as_str(), out.failed), ("exit 0", false));
    let out = run("echo no >&2; exit 3").await;
    assert_eq!(timeless(&out.text), "exit 3 in\nno\n");
    assert_eq!((out.summary.as_str(), out.failed), ("exit 3", true));
    assert_eq!(timeless(&run("true").await.text), "exit 0 in\n(no output)\n");
    assert_eq!(
        timeless(&run("kill -9 $$").await.text),
        "ended by SIGKILL (signal 9) in\n(no output)\n"
    );
    let out = run("sleep 60 & echo x").await;
    assert_eq!(
        timeless(&out.text),
        "exit 0 in\n(what it left running in the background was ended)\nx\n"
    );
}

#[tokio::test]
async fn bash_times_out_and_declares_its_line() {
    let (_dir, root) = tree(&[]);
    let tool = bash();
    let out = call(
        &tool,
        json!({"command": "echo begun; sleep 60", "timeout": 3}),
        &root,
    )
    .await
    .unwrap();
    assert!(out.failed && out.summary == "timed out", "{out:?}");
    assert!(
        out.text.starts_with("timed out after ") && out.text.ends_with("Output so far:\nbegun\n"),
        "{}",
        out.text
    );
    let args = serde_json::from_value(json!({"command": "ls\npwd"})).unwrap();
    assert_eq!(
        tool.access(&args, &root).unwrap(),
        [Access::Run("ls\npwd".into())]
    );
    assert_eq!(tool.title(&args), "ls …");
    assert!(call(&tool, json!({"command": "  "}), &root).await.is_err());
    // A missing or impossible timeout is the default one.
    for odd in [
        json!({"command": "true", "timeout_ms": -5}),
        json!({"command": "true", "timeout_ms": 0}),
    ] {
        assert!(!call(&tool, odd, &root).await.unwrap().failed);
    }
}

#[tokio::test]
async fn bash_ends_with_the_turn() {
    let (_dir, root) = tree(&[]);
    let context = ctx(&root);
    context.cancel.cancel();
    let args = serde_json::from_value(json!({"command": "sleep 60"})).unwrap();
    assert_eq!(
        bash().run(args, &context).await.unwrap_err(),
        ToolError::Cancelled
    );
}

/// A person who answers as told.
struct Person(Result<Option<Vec<Vec<String>>>, HumanError>, Mutex<Vec<Asked>>);

#[async_trait]
impl Human for Person {
    fn present(&self) -> bool {
        true
    }
    async fn approve(&self, _: Approval) -> Result<Answer, HumanError> {
        Err(HumanError::Absent)
    }
    async fn ask(&self, questions: Vec<Asked>) -> Result<Option<Vec<Vec<String>>>, HumanError> {
        self.1.lock().unwrap().extend(questions);
        self.0.clone()
    }
}

async fn ask(
    answer: Result<Option<Vec<Vec<String>>>, HumanError>,
    args: Value,
) -> Result<ToolOutput, ToolError> {
    let person = Arc::new(Person(answer, Mutex::default()));
    call(&Question::new(person), args, Path::new("/")).await
}

#[tokio::test]
async fn question_gives_the_labels_back() {
    let args = json!({"questions": [
        {"question": "Which database?", "header": "Database", "options": [{"label": "pg"}, {"label": "sqlite", "description": "one file"}]},
        {"question": "Which targets?", "options": [{"label": "x"}, {"label": "z"}], "multiple": true},
        {"question": "Anything else?", "options": []},
    ]});
    let answer = Ok(Some(vec![
        vec!["pg".into()],
        vec!["x".into(), "z".into()],
        vec![],
    ]));
    let out = ask(answer, args.clone()).await.unwrap();
    assert_eq!(
        out.text,
        "The user answered:\n- Database: pg\n- Which targets?: x, z\n- Anything else?: (no selection)\n"
    );
    assert_eq!(out.summary, "pg · x, z");
    for nobody in [Ok(None), Err(HumanError::Absent)] {
        let out = ask(nobody, args.clone()).await.unwrap();
        assert!(out.text.starts_with("The user gave no answer.") && !out.failed);
    }
    assert_eq!(
        ask(Err(HumanError::Cancelled), args).await.unwrap_err(),
        ToolError::Cancelled
    );
}

#[tokio::test]
async fn question_refuses_what_cannot_be_asked() {
    let refusal = async |args: Value| ask(Ok(None), args).await.unwrap_err().to_string();
    assert!(refusal(json!({"questions": []})).await.contains("at least one"));
    let twice = json!({"questions": [{"question": "q", "options": [{"label": "a"}, {"label": "a"}]}]});
    assert!(refusal(twice).await.contains("`a` twice"));
    assert!(
        refusal(json!({"questions": [{"question": " ", "options": []}]}))
            .await
            .contains("questions[0].question")
    );
}

#[tokio::test]
async fn todo_write_replaces_the_plan() {
    let plans: Arc<Mutex<Vec<Vec<TodoItem>>>> = Arc::default();
    let sink = plans.clone();
    let tool = TodoWrite::new(Arc::new(move |items| sink.lock().unwrap().push(items)));
    let args = json!({"todos": [
        {"subject": "read", "status": "completed"},
        {"content": "write", "status": "in_progress", "activeForm": "Writing"},
        {"subject": "test", "status": "pending"},
    ]});
    let out = call(&tool, args.clone(), Path::new("/")).await.unwrap();
    assert_eq!(out.text, "plan (3 items):\n  [x] read\n  [*] write\n  [ ] test\n");
    assert_eq!(out.summary, "1 of 3 done");
    assert_eq!(tool.title(&serde_json::from_value(args).unwrap()), "Writing");
    assert_eq!(
        text(&tool, json!({"todos": []}), Path::new("/")).await,
        "(plan cleared)\n"
    );
    let seen = plans.lock().unwrap();
    assert_eq!(seen.len(), 2);
    assert_eq!(
        serde_json::to_value(&seen[0][1]).unwrap(),
        json!({"subject": "write", "status": "in_progress", "active_form": "Writing"})
    );
}

#[tokio::test]
async fn todo_write_refuses_two_at_once_and_empty_items() {
    let tool = TodoWrite::new(Arc::new(|_| panic!("a refused plan was kept")));
    let busy = json!({"subject": "a", "status": "in_progress"});
    let error = call(&tool, json!({"todos": [busy, busy]}), Path::new("/"))
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "2 items are in_progress (todos[0], todos[1]). At most one may be: set the others to pending."
    );
    let empty = json!({"todos": [{"subject": " ", "status": "pending"}]});
    assert!(
        call(&tool, empty, Path::new("/"))
            .await
            .unwrap_err()
            .to_string()
            .contains("todos[0].subject is empty")
    );
}

fn glob() -> Glob {
    Glob::new(Arc::new(|path: &Path| !path.ends_with("denied.rs")))
}

async fn found(pattern: &str, cwd: &Path) -> String {
    text(&glob(), json!({ "pattern": pattern }), cwd).await
}

#[tokio::test]
async fn glob_finds_names_at_any_depth_and_paths_below_their_folder() {
    let (_dir, root) = tree(&[
        ("x.py", ""),
        ("d/y.py", ""),
        ("d/e/z.py", ""),
        ("p/q/x.yaml", ""),
        ("-odd", ""),
        ("app/[id]/page.tsx", ""),
    ]);
    assert_eq!(found("*.py", &root).await, "d/e/z.py\nd/y.py\nx.py\n");
    assert_eq!(found("/*.py", &root).await, "x.py\n");
    assert_eq!(found("d/*.py", &root).await, "d/y.py\n");
    assert_eq!(found("d/**/*.py", &root).await, "d/e/z.py\nd/y.py\n");
    assert_eq!(found("p/**", &root).await, "p/q/x.yaml\n");
    assert_eq!(found("p/", &root).await, "p/q/x.yaml\n");
    assert_eq!(found("-*", &root).await, "-odd\n");
    for pattern in ["app/\\[id\\]/*.tsx", "app/[[]id[]]/*.tsx", "app/*/page.tsx"] {
        assert_eq!(found(pattern, &root).await, "app/[id]/page.tsx\n", "{pattern}");
    }
    let below = text(&glob(), json!({"pattern": "*.py", "cwd": "d"}), &root).await;
    assert_eq!(below, "d/e/z.py\nd/y.py\n");
    let absolute = format!("{}/d/*.py", root.display());
    assert_eq!(found(&absolute, &root).await, "d/y.py\n");
    assert_eq!(found("*.rb", &root).await, "No files match *.rb.\n");
}

#[tokio::test]
async fn glob_says_what_is_left_out_and_lists_what_is_named() {
    let (_dir, root) = tree(&[
        (".gitignore", "out/\n"),
        ("out/a.rs", ""),
        (".github/w.yml", ""),
        ("src/a.rs", ""),
        ("src/denied.rs", ""),
        ("node_modules/m/b.rs", ""),
    ]);
    assert_eq!(
        found("*.rs", &root).await,
        "src/a.rs\n(1 file withheld by a rule; 2 ignored names not looked at; no_ignore=true or a pattern that begins \
         with its path does; 2 hidden names not looked at; hidden=true or a pattern that begins with its path does.)\n"
    );
    let all = text(
        &glob(),
        json!({"pattern": "*", "hidden": true, "no_ignore": true}),
        &root,
    )
    .await;
    assert!(
        all.starts_with(".github/w.yml\n.gitignore\nnode_modules/m/b.rs\nout/a.rs\nsrc/a.rs\n"),
        "{all}"
    );
    assert_eq!(found("out/*.rs", &root).await, "out/a.rs\n");
    assert_eq!(found(".github/**", &root).await, ".github/w.yml\n");
    assert!(found(".git*", &root).await.starts_with(".gitignore\n"));
    assert_eq!(
        found("node_modules/**/*.rs", &root).await,
        "node_modules/m/b.rs\n"
    );
}

#[tokio::test]
async fn glob_follows_links_that_are_named_and_no_others() {
    let (_dir, root) = tree(&[("real/f.md", ""), ("loop/a.txt", "")]);
    symlink("real", root.join("link")).unwrap();
    symlink("..", root.join("loop/child")).unwrap();
    let through = found("link/**/*.md", &root).await;
    assert!(
        through.starts_with("link/f.md\n(link leads through a link to"),
        "{through}"
    );
    let access = |pattern: &str| {
        let args = serde_json::from_value(json!({ "pattern": pattern })).unwrap();
        glob().access(&args, &root).unwrap()
    };
    assert_eq!(access("link/*.md"), [Access::Read(root.join("real"))]);
    assert_eq!(found("**/a.txt", &root).await, "loop/a.txt\n");
    assert_eq!(found("*.md", &root).await, "real/f.md\n");
}

#[tokio::test]
async fn glob_is_capped_ordered_and_says_what_is_wrong() {
    let names: Vec<String> = (0..1_250).map(|n| format!("f{n:04}.txt")).collect();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "")).collect();
    let (_dir, root) = tree(&files);
    let all = found("*.txt", &root).await;
    assert_eq!(all, found("*.txt", &root).await);
    assert_eq!(all.lines().count(), 1_001);
    assert!(
        all.contains("f0999.txt\n(1000 of 1250 files are shown; narrow"),
        "{all}"
    );
    let wrong = async |args: Value| call(&glob(), args, &root).await.unwrap_err().to_string();
    assert!(wrong(json!({"pattern": "a["})).await.contains("not valid"));
    assert!(wrong(json!({"pattern": ""})).await.contains("empty"));
    assert!(
        wrong(json!({"pattern": "../*"}))
            .await
            .contains("leaves its folder")
    );
    assert!(
        wrong(json!({"pattern": "*", "path": "none"}))
            .await
            .contains("There is no directory none")
    );
    assert!(
        wrong(json!({"pattern": "f0001.txt/*"}))
            .await
            .contains("is a file")
    );
}
