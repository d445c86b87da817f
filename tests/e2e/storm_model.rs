//! What a buffer under review must hold, worked out without the plugin: lists of lines, and nothing of the
//! algebra that is tested.

use serde::Deserialize;

/// A hunk as `hunks()` gives it.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
pub struct Hunk {
    pub id: u64,
    pub start: usize,
    pub count: usize,
    pub removed: Vec<String>,
    pub added: Vec<String>,
    #[serde(default)]
    pub at_end: bool,
}

/// What Neovim says after a step.
#[derive(Clone, Debug, Deserialize)]
pub struct Seen {
    pub lines: Vec<String>,
    pub hunks: Vec<Hunk>,
    pub modified: bool,
}

/// The lines with some hunks taken back: what was there before them.
pub fn without<'a>(lines: &[String], hunks: impl DoubleEndedIterator<Item = &'a Hunk>) -> Vec<String> {
    let mut lines = lines.to_vec();
    for hunk in hunks.rev() {
        let start = if hunk.at_end { lines.len() } else { hunk.start - 1 };
        lines.splice(start..start + hunk.count, hunk.removed.iter().cloned());
    }
    lines
}

/// Text, file and what the person has agreed to, as they must be.
pub struct Model {
    pub text: Vec<String>,
    pub disk: Vec<String>,
    pub base: Vec<String>,
    pub hunks: Vec<Hunk>,
    pub modified: bool,
    past: Vec<Vec<String>>,
    at: usize,
}

impl Model {
    pub fn new(lines: Vec<String>) -> Self {
        Self {
            text: lines.clone(),
            disk: lines.clone(),
            base: lines.clone(),
            hunks: Vec::new(),
            modified: false,
            past: vec![lines],
            at: 0,
        }
    }

    /// One undo block has changed the text.
    pub fn change(&mut self, lines: Vec<String>) {
        self.past.truncate(self.at + 1);
        self.past.push(lines.clone());
        self.at += 1;
        self.text = lines;
    }

    /// The text was loaded again; what undo does across that is not looked at.
    pub fn reload(&mut self, lines: Vec<String>) {
        self.past = vec![lines.clone()];
        self.at = 0;
        self.text = lines;
    }

    /// One `u` (or `<C-r>`); false where there is none.
    pub fn travel(&mut self, back: bool) -> bool {
        let to = if back {
            self.at.checked_sub(1)
        } else {
            Some(self.at + 1)
        };
        let Some(lines) = to.and_then(|to| self.past.get(to)) else {
            return false;
        };
        self.text = lines.clone();
        self.at = to.unwrap_or_default();
        true
    }

    /// Whether line `at` (0-based) and its neighbours are outside all hunks, so that it is plain whose an edit
    /// there is.
    pub fn is_clear(&self, at: usize) -> bool {
        let at = at + 1;
        self.hunks
            .iter()
            .all(|hunk| at + 2 < hunk.start || hunk.start + hunk.count + 1 < at)
    }

    /// The hunks after the lines `at..at + old` (0-based, outside all of them) became `new` lines.
    pub fn shifted(&self, at: usize, old: usize, new: usize) -> Vec<Hunk> {
        let mut hunks = self.hunks.clone();
        for hunk in hunks.iter_mut().filter(|hunk| hunk.start > at) {
            hunk.start = hunk.start + new - old;
        }
        hunks
    }

    /// Compares; the first difference in words. `base` is what the person must have agreed to by now, where
    /// that is plain.
    pub fn check(&mut self, seen: &Seen, base: Option<&[String]>, disk: &[u8]) -> Result<(), String> {
        if seen.lines != self.text {
            return Err(difference("the text", &self.text, &seen.lines));
        }
        let mut at = 0;
        for hunk in &seen.hunks {
            let first = if hunk.count == 0 {
                hunk.start
            } else {
                hunk.start - 1
            };
            let shown = seen.lines.get(hunk.start - 1..hunk.start - 1 + hunk.count);
            if first < at || shown != Some(&hunk.added[..]) {
                return Err(format!("{hunk:?} is not what stands there"));
            }
            at = hunk.start - 1 + hunk.count;
        }
        let agreed = without(&seen.lines, seen.hunks.iter());
        if let Some(base) = base.filter(|base| *base != agreed) {
            return Err(difference("what was agreed to", base, &agreed));
        }
        if !seen.modified && disk != (self.text.join("\n") + "\n").as_bytes() {
            return Err("the buffer counts as saved, and the file holds something else".into());
        }
        if seen.modified && disk != (self.disk.join("\n") + "\n").as_bytes() {
            return Err("the file was written with unsaved changes of the person".into());
        }
        if !seen.modified {
            self.disk.clone_from(&self.text);
        }
        self.base = agreed;
        self.hunks.clone_from(&seen.hunks);
        self.modified = seen.modified;
        Ok(())
    }
}

fn difference(what: &str, expected: &[String], seen: &[String]) -> String {
    let (expected, seen) = (expected.join("\n") + "\n", seen.join("\n") + "\n");
    let diff = similar::TextDiff::from_lines(&expected, &seen);
    format!(
        "{what} (- expected, + seen):\n{}",
        diff.unified_diff().context_radius(2)
    )
}
