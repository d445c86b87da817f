//! The place in a text that is nearest to what was looked for.
//!
//! A window of as many lines as the wanted text slides over the file; windows are compared by line
//! edits. Equally distant ones are told apart by their characters. A count of common lines, kept while
//! the window slides, rules out nearly every window before the real comparison.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use crate::edit::levenshtein::distance_within;
use crate::edit::similarity::{Profile, similarity, upper_bound};

/// Windows that are looked at between two questions whether to stop.
const CANCEL_EVERY: usize = 512;
/// Bounds on the work for texts that repeat themselves: cells of the line comparison, lines compared
/// by their bound, windows compared in full.
const MAX_CELLS: usize = 4_000_000;
const MAX_BOUNDED: usize = 400_000;
const MAX_COMPARED: usize = 64;
/// The id of a line that the wanted text does not have.
const FOREIGN: usize = usize::MAX;

/// The nearest window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Closest {
    /// Its first line, from 0.
    pub start: usize,
    /// Its number of lines.
    pub len: usize,
    /// How many lines must be inserted, deleted or replaced to get there.
    pub distance: usize,
    /// Whether any line of the wanted text stands in it.
    pub has_equal_line: bool,
}

/// The window of `text` nearest to `wanted`, when it is within `limit` line edits. Of equally distant
/// windows the most similar one by characters, then the first. `None` too when `cancel` says stop.
pub fn closest(text: &[&str], wanted: &[&str], limit: usize, cancel: &dyn Fn() -> bool) -> Option<Closest> {
    let len = wanted.len().min(text.len());
    if len == 0 {
        return None;
    }
    let mut ids: HashMap<&str, usize> = HashMap::new();
    let wanted_ids: Vec<usize> = wanted
        .iter()
        .map(|line| {
            let next = ids.len();
            *ids.entry(line).or_insert(next)
        })
        .collect();
    // Most lines differ in length from all wanted ones, and need no hashing.
    let lengths: HashSet<usize> = wanted.iter().map(|line| line.len()).collect();
    let id = |line: &&str| {
        if lengths.contains(&line.len()) {
            ids.get(line).copied()
        } else {
            None
        }
    };
    let text_ids: Vec<usize> = text.iter().map(|line| id(line).unwrap_or(FOREIGN)).collect();

    let mut common = CommonLines::new(&wanted_ids, ids.len());
    let mut best = limit;
    let mut nearest: Vec<Closest> = Vec::new();
    let mut cells = 0;
    for (at, id) in text_ids.iter().enumerate() {
        if at % CANCEL_EVERY == 0 && cancel() {
            return None;
        }
        common.enter(*id);
        let Some(start) = (at + 1).checked_sub(len) else {
            continue;
        };
        if wanted.len() - common.count <= best && cells < MAX_CELLS {
            let window = text_ids.get(start..=at).unwrap_or_default();
            let distance = if common.count == 0 {
                Some(wanted.len())
            } else {
                cells += wanted.len() * (2 * best + 1);
                distance_within(&wanted_ids, window, best)
            };
            if let Some(distance) = distance {
                if distance < best {
                    nearest.clear();
                    best = distance;
                }
                nearest.push(Closest {
                    start,
                    len,
                    distance,
                    has_equal_line: common.count > 0,
                });
            }
        }
        common.leave(text_ids.get(start).copied().unwrap_or(FOREIGN));
    }
    most_similar(text, wanted, nearest, cancel)
}

/// How many lines a sliding window shares with the wanted text, order aside.
struct CommonLines {
    wanted: Vec<usize>,
    window: Vec<usize>,
    count: usize,
}

impl CommonLines {
    fn new(wanted_ids: &[usize], distinct: usize) -> Self {
        let mut wanted = vec![0; distinct];
        for id in wanted_ids {
            if let Some(count) = wanted.get_mut(*id) {
                *count += 1;
            }
        }
        Self {
            wanted,
            window: vec![0; distinct],
            count: 0,
        }
    }

    fn enter(&mut self, id: usize) {
        if let (Some(wanted), Some(window)) = (self.wanted.get(id), self.window.get_mut(id)) {
            self.count += usize::from(*window < *wanted);
            *window += 1;
        }
    }

    fn leave(&mut self, id: usize) {
        if let (Some(wanted), Some(window)) = (self.wanted.get(id), self.window.get_mut(id)) {
            *window -= 1;
            self.count -= usize::from(*window < *wanted);
        }
    }
}

fn most_similar(
    text: &[&str],
    wanted: &[&str],
    mut windows: Vec<Closest>,
    cancel: &dyn Fn() -> bool,
) -> Option<Closest> {
    let len = windows.first()?.len;
    windows.truncate((MAX_BOUNDED / len).max(1));
    if windows.len() == 1 {
        return windows.pop();
    }
    let wanted: Vec<Profile> = wanted.iter().map(|line| Profile::of(line)).collect();
    let from = windows.first().map_or(0, |window| window.start);
    let to = windows.last().map_or(0, |window| window.start + len);
    // Where windows lie close together each line is prepared once, else only those that are needed.
    let dense = to - from <= 2 * windows.len() * len;
    let all: Vec<Profile> = if dense {
        profiles(text, from..to)
    } else {
        Vec::new()
    };
    let mut bounded: Vec<(f64, Closest)> = Vec::with_capacity(windows.len());
    for (nth, window) in windows.into_iter().enumerate() {
        if nth % CANCEL_EVERY == 0 && cancel() {
            return None;
        }
        let bound = match all.get(window.start - from..window.start - from + len) {
            Some(lines) => upper_bound(&wanted, lines),
            None => upper_bound(&wanted, &profiles(text, window.start..window.start + len)),
        };
        bounded.push((bound, window));
    }
    let order = |a: &(f64, Closest), b: &(f64, Closest)| b.0.total_cmp(&a.0).then(a.1.start.cmp(&b.1.start));
    if bounded.len() > MAX_COMPARED {
        bounded.select_nth_unstable_by(MAX_COMPARED, order);
        bounded.truncate(MAX_COMPARED);
    }
    bounded.sort_unstable_by(order);
    let mut best: Option<(f64, Closest)> = None;
    for (bound, window) in bounded {
        if best.is_some_and(|(most, _)| bound < most) || cancel() {
            break;
        }
        let similar = similarity(&wanted, &profiles(text, window.start..window.start + len));
        let better = best
            .is_none_or(|(most, other)| similar > most || (similar >= most && window.start < other.start));
        if better {
            best = Some((similar, window));
        }
    }
    best.map(|(_, window)| window)
}

fn profiles<'a>(text: &[&'a str], range: Range<usize>) -> Vec<Profile<'a>> {
    text.get(range)
        .unwrap_or_default()
        .iter()
        .map(|line| Profile::of(line))
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn find(text: &str, wanted: &str, limit: usize) -> Option<(usize, usize)> {
        let text: Vec<&str> = text.split('\n').collect();
        let wanted: Vec<&str> = wanted.split('\n').collect();
        closest(&text, &wanted, limit, &|| false).map(|found| (found.start, found.distance))
    }

    #[test]
    fn finds_the_nearest_window() {
        assert_eq!(
            find("x\nalpha\nbeta\ngamma\ny", "alpha\nbeta\ndelta", 2),
            Some((1, 1))
        );
        assert_eq!(find("a\nb\nc", "zzz\nzzz", 1), None);
        assert_eq!(find("a\nb\nc\nd\ne", "q\nr\ns\nt", 3), None);
        assert_eq!(find("a", "a\nb\nc", 3), Some((0, 2)));
    }

    #[test]
    fn equally_distant_windows_are_told_apart_by_characters() {
        let text = "fn one() {}\nfn two() {}\nlet total = compute(items, tax);\nfn four() {}";
        assert_eq!(find(text, "let total = compute(items);", 3), Some((2, 1)));
        assert_eq!(find("same\nsame", "other", 3), Some((0, 1)));
    }

    #[test]
    fn stops_when_told() {
        let text = vec!["line"; 10];
        assert_eq!(closest(&text, &["x"], 3, &|| true), None);
    }

    proptest! {
        #[test]
        fn the_filter_loses_no_window(text in "[abc\n]{1,30}", wanted in "[abc\n]{1,12}") {
            let lines: Vec<&str> = text.split('\n').collect();
            let want: Vec<&str> = wanted.split('\n').collect();
            let len = want.len().min(lines.len());
            let plain = lines.windows(len).filter_map(|window| distance_within(&want, window, 3)).min();
            prop_assert_eq!(closest(&lines, &want, 3, &|| false).map(|found| found.distance), plain);
        }
    }
}
