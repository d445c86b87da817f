//! Which line endings a piece of text gets where it replaces another.

use std::ops::Range;

use crate::fs::endings::{LineEnding, to_lf};

/// `new` with the endings of the lines of `text[place]` that it replaces.
///
/// Lines that stand first or last in both keep theirs one by one. Of those between, the number must
/// agree, or their ending be the same throughout; else there is no right answer: `None`.
pub fn with_endings(text: &str, place: &Range<usize>, new: &str) -> Option<String> {
    let new_lf = to_lf(new);
    if !new_lf.contains('\n') {
        return Some(new_lf.into_owned());
    }
    let old_lines: Vec<&str> = text.get(place.clone())?.split_inclusive('\n').collect();
    let new_lines: Vec<&str> = new_lf.split_inclusive('\n').collect();
    let same = |pair: &(&&str, &&str)| to_lf(pair.0) == *pair.1;
    let head = old_lines.iter().zip(&new_lines).take_while(same).count();
    let (old_rest, new_rest) = (old_lines.get(head..)?, new_lines.get(head..)?);
    let tail = old_rest
        .iter()
        .rev()
        .zip(new_rest.iter().rev())
        .take_while(same)
        .count();
    let old_middle = endings(old_rest.get(..old_rest.len() - tail)?);
    let breaks = new_rest
        .get(..new_rest.len() - tail)?
        .iter()
        .filter(|line| line.ends_with('\n'))
        .count();

    let of_head = endings(old_lines.get(..head)?);
    let of_middle = match old_middle.first() {
        _ if breaks == old_middle.len() => old_middle,
        Some(first) if old_middle.iter().all(|ending| ending == first) => vec![*first; breaks],
        Some(_) => return None,
        // Lines that are put in end like the one before them, else like the one they are put into.
        None => {
            let around = of_head.last().copied().or_else(|| ending_around(text, place));
            vec![
                around
                    .or_else(|| LineEnding::throughout(new))
                    .unwrap_or(LineEnding::Lf);
                breaks
            ]
        }
    };
    let of_tail = endings(old_rest.get(old_rest.len() - tail..)?);
    let mut each = of_head.into_iter().chain(of_middle).chain(of_tail);
    let lines = new_lines.iter().map(|line| match line.strip_suffix('\n') {
        Some(bare) => format!("{bare}{}", each.next().unwrap_or(LineEnding::Lf).as_str()),
        None => (*line).to_owned(),
    });
    Some(lines.collect())
}

fn endings(lines: &[&str]) -> Vec<LineEnding> {
    lines
        .iter()
        .filter_map(|line| LineEnding::of_line(line))
        .collect()
}

/// The ending of the line in which a piece without line break lies, else of the line before.
fn ending_around(text: &str, place: &Range<usize>) -> Option<LineEnding> {
    let after = text.get(place.end..)?.split_inclusive('\n').next();
    after.and_then(LineEnding::of_line).or_else(|| {
        let before = text.get(..place.start)?;
        LineEnding::of_line(before.get(..=before.rfind('\n')?)?)
    })
}
