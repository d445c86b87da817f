//! Whether a text is the agent's with some of its changes taken back.
//!
//! Who rejects hunks has not changed the file: what stands there is still the old text and the agent's,
//! line by line, and an undo of the step loses nothing. That is told from the texts alone, so it holds
//! after `u`, a redo and a restart too.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use similar::{Algorithm, DiffOp, capture_diff_slices_deadline};

use crate::protocol::change::ContentHash;
use crate::snapshot::manifest::{After, Before, Disk};
use crate::snapshot::store::SnapshotStore;

const DIFF_TIME: Duration = Duration::from_millis(200);

impl SnapshotStore {
    /// Whether `now` is what a step left of `before`, with some of its changes taken back. What cannot be
    /// read is taken for somebody else's work.
    pub(super) fn only_rejected(&self, before: &Before, left: &After, now: &Before) -> bool {
        let disk = self.disk_only_rejected(&before.disk, &left.disk, &now.disk);
        // A buffer that held unsaved changes leaves its file to the person.
        let files_own = before.buffer.as_ref().is_some_and(|buffer| buffer.modified);
        let Some(loaded) = now.buffer.as_ref().filter(|loaded| loaded.modified || files_own) else {
            return disk;
        };
        let found = before.buffer.as_ref().map(|buffer| &buffer.blob);
        let texts = [
            found.or(before.disk.blob()),
            left.buffer.as_ref().or(left.disk.blob()),
            Some(&loaded.blob),
        ];
        (disk || files_own) && self.texts_only_rejected(texts)
    }

    /// How many lines of `now` stand neither in what a step found nor in what it left.
    pub(super) fn typed_lines(&self, before: &Before, left: &After, now: &Before) -> usize {
        let found = before.buffer.as_ref().map(|buffer| &buffer.blob);
        let now_text = now.buffer.as_ref().map(|buffer| &buffer.blob);
        let texts = [
            found.or(before.disk.blob()),
            left.buffer.as_ref().or(left.disk.blob()),
            now_text.or(now.disk.blob()),
        ];
        let [before, after, now] =
            texts.map(|hash| hash.and_then(|hash| self.blob(hash).ok()).unwrap_or_default());
        typed_lines(&before, &after, &now)
    }

    fn disk_only_rejected(&self, before: &Disk, left: &Disk, now: &Disk) -> bool {
        let text = |disk: &Disk| matches!(disk, Disk::File { .. } | Disk::Absent { .. });
        left.same_content(now)
            || (text(before)
                && text(left)
                && matches!(now, Disk::File { .. })
                && self.texts_only_rejected([before.blob(), left.blob(), now.blob()]))
    }

    /// The same of `[before, after, now]`; a file that is not there is an empty text.
    fn texts_only_rejected(&self, texts: [Option<&ContentHash>; 3]) -> bool {
        let [before, after, now] = texts.map(|hash| match hash {
            Some(hash) => self.blob(hash).ok(),
            None => Some(Vec::new()),
        });
        matches!((before, after, now), (Some(before), Some(after), Some(now)) if only_rejected(&before, &after, &now))
    }
}

/// Whether each change from `before` to `after` is in `now` either made or not made, and nothing else is.
/// Added and deleted lines and lines that were replaced one by one are looked at singly, since a part
/// of a hunk can be rejected too.
fn only_rejected(before: &[u8], after: &[u8], now: &[u8]) -> bool {
    let [before, after, now] = [before, after, now].map(lines);
    let deadline = Instant::now() + DIFF_TIME;
    // Where in `now` we may be: a line that could be either kind keeps two ways open.
    let mut places = BTreeSet::from([0]);
    for op in capture_diff_slices_deadline(Algorithm::Myers, &before, &after, Some(deadline)) {
        let (old, new) = (&before[op.old_range()], &after[op.new_range()]);
        places = match op {
            DiffOp::Equal { .. } => past(&now, &places, new),
            DiffOp::Replace { old_len, new_len, .. } if old_len != new_len => {
                &past(&now, &places, old) | &past(&now, &places, new)
            }
            DiffOp::Replace { .. } => old.iter().zip(new).fold(places, |places, (old, new)| {
                &past(&now, &places, &[*old]) | &past(&now, &places, &[*new])
            }),
            DiffOp::Delete { .. } | DiffOp::Insert { .. } => {
                let optional = old.iter().chain(new);
                optional.fold(places, |places, line| &places | &past(&now, &places, &[*line]))
            }
        };
    }
    places.contains(&now.len())
}

fn typed_lines(before: &[u8], after: &[u8], now: &[u8]) -> usize {
    let now = lines(now);
    let deadline = Instant::now() + DIFF_TIME;
    let mut new = vec![true; now.len()];
    for old in [before, after].map(lines) {
        for op in capture_diff_slices_deadline(Algorithm::Myers, &old, &now, Some(deadline)) {
            if let DiffOp::Equal { new_index, len, .. } = op {
                new[new_index..new_index + len].fill(false);
            }
        }
    }
    new.into_iter().filter(|new| *new).count()
}

fn lines(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|&byte| byte == b'\n').collect()
}

/// The places behind `wanted`, from each of `places` where it stands.
fn past(now: &[&[u8]], places: &BTreeSet<usize>, wanted: &[&[u8]]) -> BTreeSet<usize> {
    let stands = |&place: &usize| now.get(place..).is_some_and(|rest| rest.starts_with(wanted));
    places
        .iter()
        .copied()
        .filter(stands)
        .map(|place| place + wanted.len())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{only_rejected, typed_lines};

    const BEFORE: &str = "one\ntwo\nthree\nfour\nfive\n";
    const AFTER: &str = "one\nTWO\nthree\nfour\nadded\nalso\n";

    #[test]
    fn each_change_may_be_there_or_not() {
        for now in [
            AFTER,
            BEFORE,
            "one\ntwo\nthree\nfour\nadded\nalso\n",
            "one\nTWO\nthree\nfour\nfive\n",
        ] {
            assert!(
                only_rejected(BEFORE.as_bytes(), AFTER.as_bytes(), now.as_bytes()),
                "{now}"
            );
        }
        let (before, after) = ("a\nb\n", "a\nx\ny\n1\n2\nb\n");
        for now in ["a\nx\n2\nb\n", "a\n1\n2\nb\n"] {
            assert!(
                only_rejected(before.as_bytes(), after.as_bytes(), now.as_bytes()),
                "{now}"
            );
        }
    }

    #[test]
    fn only_lines_of_the_person_are_counted() {
        let now = "one\ntwo\nmine\nthree\nfour\nadded\nalso mine\n";
        assert_eq!(
            typed_lines(BEFORE.as_bytes(), AFTER.as_bytes(), now.as_bytes()),
            2
        );
        assert_eq!(
            typed_lines(BEFORE.as_bytes(), AFTER.as_bytes(), BEFORE.as_bytes()),
            0
        );
    }

    #[test]
    fn what_somebody_typed_is_seen() {
        for now in [
            "one\nTWO\nthree\nfour\nadded\nalso\ntyped\n",
            "one\ntyped\nthree\nfour\nfive\n",
            "one\nTWO\nfour\nadded\nalso\n",
            "one\nTWO\nthree\nfour\nadded\nalso",
            "",
        ] {
            assert!(
                !only_rejected(BEFORE.as_bytes(), AFTER.as_bytes(), now.as_bytes()),
                "{now}"
            );
        }
    }
}
