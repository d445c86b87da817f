//! Which of its candidates each chunk takes, so that all stand in the order of the patch.

use crate::edit::patch_pass::Pass;
use crate::edit::patch_seek::{Place, SeekError};

/// Where a chunk could stand.
#[derive(Clone, Debug)]
pub struct Candidates {
    /// Ascending; at least one.
    pub starts: Vec<usize>,
    /// Lines of the file that it stands for.
    pub len: usize,
    /// How they were found.
    pub pass: Pass,
    /// How many of its last lines do not count; see [`Place`].
    pub dropped: usize,
    /// It only adds, so it stands between lines and takes no part in the order.
    pub insertion: bool,
}

/// One start for each chunk, where there is no doubt.
pub fn arrange(wanted: &[Candidates]) -> Result<Vec<usize>, SeekError> {
    let (first, last) = (earliest(wanted), latest(wanted));
    let mut starts = Vec::with_capacity(wanted.len());
    for (at, candidates) in wanted.iter().enumerate() {
        let start = match candidates.starts.as_slice() {
            [only] => *only,
            several => match (
                first.as_ref().and_then(|f| f.get(at)),
                last.as_ref().and_then(|l| l.get(at)),
            ) {
                (Some(first), Some(last)) if first == last => *first,
                _ => {
                    return Err(SeekError::Ambiguous {
                        chunk: at,
                        places: several.to_vec(),
                    });
                }
            },
        };
        starts.push(start);
    }
    Ok(starts)
}

/// The arrangement in the order of the patch in which every chunk stands as early as it can.
fn earliest(wanted: &[Candidates]) -> Option<Vec<usize>> {
    let mut from = 0;
    let mut starts = Vec::with_capacity(wanted.len());
    for candidates in wanted {
        let next = candidates.starts.partition_point(|start| *start < from);
        let start = match candidates.starts.as_slice() {
            // Lines for the end of the file may come anywhere in the patch.
            [only] if candidates.insertion => *only,
            starts => *starts.get(next)?,
        };
        if !(candidates.insertion && candidates.starts.len() == 1) {
            from = start + candidates.len;
        }
        starts.push(start);
    }
    Some(starts)
}

/// The same, as late as it can.
fn latest(wanted: &[Candidates]) -> Option<Vec<usize>> {
    let mut to = usize::MAX;
    let mut starts = Vec::with_capacity(wanted.len());
    for candidates in wanted.iter().rev() {
        let fits = candidates
            .starts
            .partition_point(|start| start + candidates.len <= to);
        let start = match candidates.starts.as_slice() {
            [only] if candidates.insertion => *only,
            starts => *starts.get(fits.checked_sub(1)?)?,
        };
        if !(candidates.insertion && candidates.starts.len() == 1) {
            to = start;
        }
        starts.push(start);
    }
    starts.reverse();
    Some(starts)
}

/// Refuses places of which two stand for the same lines.
pub fn no_overlap(places: &[Place]) -> Result<(), SeekError> {
    let mut order: Vec<(usize, &Place)> = places.iter().enumerate().collect();
    order.sort_by_key(|(_, place)| (place.lines.start, place.lines.end));
    for pair in order.windows(2) {
        if let [(one, before), (other, after)] = pair
            && before.lines.end > after.lines.start
        {
            return Err(SeekError::Overlap {
                chunk: *one.max(other),
                line: after.lines.start,
            });
        }
    }
    Ok(())
}
