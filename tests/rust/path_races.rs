//! A folder that turns into a link and back while files in it are read, written and removed: what was judged
//! is what is opened, or nothing is.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;

use dcode::backend::Backend;
use dcode::fs::safe_path;
use dcode::protocol::change::{ChangeSet, Content, Expect, FileChange, Origin};
use rustix::fs::{CWD, RenameFlags, renameat_with};

use crate::project::Project;

const TRIES: usize = 2_500;

/// Turns `dir/d` into a link to `outside` and back, as fast as it can, until it is dropped.
struct Turner {
    stop: Arc<AtomicBool>,
    turns: Arc<AtomicU64>,
    thread: Option<JoinHandle<()>>,
}

impl Turner {
    fn start(root: &Path) -> Self {
        let (folder, link) = (root.join("d"), root.join("link"));
        symlink(root.join("outside"), &link).unwrap();
        let (stop, turns) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let (ended, counted) = (Arc::clone(&stop), Arc::clone(&turns));
        let thread = std::thread::spawn(move || {
            while !ended.load(Ordering::Relaxed) {
                // Back and forth, so that the folder is at its place in the end.
                for _ in 0..2 {
                    renameat_with(CWD, &folder, CWD, &link, RenameFlags::EXCHANGE).unwrap();
                    std::thread::yield_now();
                }
                counted.fetch_add(1, Ordering::Relaxed);
            }
        });
        Self {
            stop,
            turns,
            thread: Some(thread),
        }
    }

    fn end(mut self) -> u64 {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().unwrap().join().unwrap();
        self.turns.load(Ordering::Relaxed)
    }
}

struct Scene {
    project: Project,
    outside: PathBuf,
}

impl Scene {
    /// `d/f` inside holds `inside`, the file of the same name outside holds `outside`.
    fn new() -> Self {
        let project = Project::new();
        project.file("d/f", b"inside\n");
        project.file("d/gone", b"inside\n");
        project.file("outside/f", b"outside\n");
        project.file("outside/gone", b"outside\n");
        let outside = project.root.join("outside");
        Self { project, outside }
    }

    fn outside_is_untouched(&self) {
        let mut names: Vec<_> = std::fs::read_dir(&self.outside)
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        names.sort();
        assert_eq!(names, ["f", "gone"]);
        for name in names {
            assert_eq!(std::fs::read(self.outside.join(name)).unwrap(), b"outside\n");
        }
    }
}

fn change(change: FileChange) -> ChangeSet {
    ChangeSet {
        origin: Origin::Agent,
        label: "race".into(),
        changes: vec![change],
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn writing_and_removing_never_reach_through_a_link_that_came_after_the_judgement() {
    let scene = Scene::new();
    let (path, gone, deep) = ("d/f", "d/gone", "d/new/deep");
    let [path, gone, deep] = [path, gone, deep].map(|name| scene.project.root.join(name));
    let turner = Turner::start(&scene.project.root);
    let mut done = 0;
    for n in 0..TRIES {
        let write = |path: &Path| FileChange::Write {
            path: path.to_owned(),
            content: Content::Text(format!("inside {n}\n")),
            expect: Expect::Any,
        };
        let remove = FileChange::Delete {
            path: gone.clone(),
            expect: Expect::Any,
        };
        let what = match n % 4 {
            0 => write(&path),
            1 => write(&deep),
            2 => write(&gone),
            _ => remove,
        };
        done += usize::from(scene.project.backend.apply(change(what)).await.is_ok());
    }
    let turns = turner.end();
    scene.outside_is_untouched();
    eprintln!("{done} of {TRIES} changes done while the folder turned {turns} times");
    assert!(turns > 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn reading_never_shows_what_a_link_that_came_after_the_judgement_leads_to() {
    let scene = Scene::new();
    let path = scene.project.root.join("d/f");
    let turner = Turner::start(&scene.project.root);
    let mut read = 0;
    for n in 0..TRIES {
        let text = if n % 2 == 0 {
            scene.project.backend.read_text(&path).await.map(|file| file.text)
        } else {
            let bytes = scene.project.backend.read_bytes(&path, 0, 100).await;
            bytes.map(|read| String::from_utf8(read.bytes).unwrap())
        };
        if let Ok(text) = text {
            assert_eq!(text, "inside\n");
            read += 1;
        }
        let names = scene.project.backend.list(path.parent().unwrap()).await;
        assert!(names.is_err() || names.unwrap().len() == 2);
    }
    let turns = turner.end();
    eprintln!("{read} of {TRIES} reads done while the folder turned {turns} times");
    assert!(turns > 0);
}

#[test]
fn what_is_resolved_is_a_path_without_links_or_is_refused_when_it_is_opened() {
    let scene = Scene::new();
    let turner = Turner::start(&scene.project.root);
    for _ in 0..TRIES {
        let Ok(resolved) = safe_path::resolve(&scene.project.root, "d/f") else {
            continue;
        };
        // Judged is one of the two; opened is the very same, or nothing.
        let expected: &[u8] = if resolved.path.starts_with(&scene.outside) {
            b"outside\n"
        } else {
            b"inside\n"
        };
        if let Ok(mut file) = dcode::fs::pinned::open(&resolved.path) {
            let mut text = Vec::new();
            std::io::Read::read_to_end(&mut file, &mut text).unwrap();
            assert_eq!(text, expected);
        }
    }
    turner.end();
}
