//! Golden screens: `tests/e2e/screens/NAME.txt` holds the text of a screen and the highlight groups of its
//! cells. One file serves every Neovim; where one draws otherwise, `NAME@0.10.txt` is its own.
//! `UPDATE_SCREENS=1` writes them anew; look at what changed before it is committed.

use std::fmt::Write;
use std::path::PathBuf;
use std::time::Duration;

use crate::driver::{Nvim, PATIENCE};
use crate::grid::Screen;

/// A screen counts as finished, when it is to be written down, after this long without change.
const QUIET: Duration = Duration::from_millis(300);

impl Nvim {
    /// Waits until the screen is the golden one; shows both where it does not become so. `mask` replaces
    /// what differs from run to run in a row (times, temporary paths), and has to keep its width.
    pub async fn expect_screen(&self, name: &str, mask: impl Fn(&str) -> String) {
        let (shared, own) = (file(name), file(&format!("{name}@{}", self.neovim().series)));
        if std::env::var_os("UPDATE_SCREENS").is_some() {
            let seen = render(self.quiet_screen().await.as_ref(), &mask);
            // The first Neovim writes the shared file, and the others their own where they differ.
            let expected = std::fs::read_to_string(&shared).unwrap_or_default();
            let target = if self.neovim().first || expected.is_empty() {
                &shared
            } else {
                &own
            };
            std::fs::remove_file(&own).ok();
            if seen != expected {
                std::fs::create_dir_all(target.parent().expect("a folder")).expect("a folder");
                tokio::fs::write(target, seen).await.expect("a golden screen");
            }
            return;
        }
        let golden = std::fs::read_to_string(&own).or_else(|_| std::fs::read_to_string(&shared));
        let golden = golden.unwrap_or_else(|_| panic!("no golden screen {name}: UPDATE_SCREENS=1 writes it"));
        if self
            .try_wait(PATIENCE, |screen| render(screen, &mask) == golden)
            .await
            .is_err()
        {
            let seen = render(&self.screen(), &mask);
            panic!(
                "the screen is not {name} (- golden, + seen):\n{}",
                difference(&golden, &seen)
            );
        }
    }

    /// The screen once it stands still.
    async fn quiet_screen(&self) -> std::sync::Arc<Screen> {
        loop {
            let before = self.screen();
            let changed =
                |screen: &Screen| screen.lines() != before.lines() || screen.runs() != before.runs();
            if self.try_wait(QUIET, changed).await.is_err() {
                return before;
            }
        }
    }
}

/// Nothing is masked.
pub fn as_it_is(row: &str) -> String {
    row.to_owned()
}

fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/e2e/screens")
        .join(format!("{name}.txt"))
}

fn render(screen: &Screen, mask: impl Fn(&str) -> String) -> String {
    let mut out = String::new();
    for (row, line) in screen.lines().iter().enumerate() {
        writeln!(out, "{:02} │{}", row + 1, mask(line)).expect("text");
    }
    out.push_str("\nhighlights: columns from 1, groups\n");
    for (row, runs) in screen
        .runs()
        .iter()
        .enumerate()
        .filter(|(_, runs)| !runs.is_empty())
    {
        let runs: Vec<String> = runs
            .iter()
            .map(|(first, end, groups)| format!("{}-{end} {groups}", first + 1))
            .collect();
        writeln!(out, "{:02} │{}", row + 1, runs.join(", ")).expect("text");
    }
    out
}

fn difference(golden: &str, seen: &str) -> String {
    similar::TextDiff::from_lines(golden, seen)
        .unified_diff()
        .context_radius(2)
        .to_string()
}
