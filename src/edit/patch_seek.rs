//! Where the chunks of a patch belong in a file.
//!
//! Lines are compared in four passes, the strictest first: exactly; without white space at the end;
//! without white space at both ends; with every run of blanks taken as one. Of each chunk the matches of
//! the strictest pass that has any are its candidates. A place is taken only when it is certain: the
//! chunk's only candidate, or the only one that lets all chunks stand in the order of the patch. Headers
//! (`@@ …`) leave the first match below each place where they stand; `*** End of File` leaves the end.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use crate::edit::patch_parse::{Chunk, PatchLine};

/// How lines are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Pass {
    /// As they are.
    Exact,
    /// Without blanks and tabs at the end.
    NoTrailing,
    /// Without white space at both ends.
    Trimmed,
    /// Runs of blanks and tabs taken as one blank, both ends trimmed.
    Collapsed,
}

const PASSES: [Pass; 4] = [Pass::Exact, Pass::NoTrailing, Pass::Trimmed, Pass::Collapsed];

impl Pass {
    fn of(self, line: &str) -> Cow<'_, str> {
        match self {
            Self::Exact => Cow::Borrowed(line),
            Self::NoTrailing => Cow::Borrowed(line.trim_end_matches([' ', '\t'])),
            Self::Trimmed => Cow::Borrowed(line.trim()),
            Self::Collapsed => {
                let line = line.trim();
                if line.contains("  ") || line.contains('\t') {
                    let words = line.split([' ', '\t']).filter(|word| !word.is_empty());
                    Cow::Owned(words.collect::<Vec<_>>().join(" "))
                } else {
                    Cow::Borrowed(line)
                }
            }
        }
    }
}

/// Where a chunk belongs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The lines of the file that its kept and removed lines stand for, from 0. Empty for a chunk that
    /// only adds: its lines come before `lines.start`.
    pub lines: Range<usize>,
    /// How its lines were found.
    pub pass: Pass,
    /// How many of its last lines do not count: they only stood between it and what follows.
    pub dropped: usize,
}

/// Why a chunk has no certain place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SeekError {
    /// Its lines are nowhere in the file, or not at the end where that was asked.
    NotFound {
        /// Which chunk, from 0.
        chunk: usize,
        /// Where they stand all the same, though the header or the end of the file says otherwise; lines
        /// from 0.
        elsewhere: Option<usize>,
    },
    /// A header is not in the file.
    NoHeader {
        /// Which chunk, from 0.
        chunk: usize,
        /// Which of its headers, from 0.
        header: usize,
    },
    /// It fits several places.
    Ambiguous {
        /// Which chunk, from 0.
        chunk: usize,
        /// Lines from 0, ascending; at least two.
        places: Vec<usize>,
    },
    /// Two chunks stand for the same lines.
    Overlap {
        /// The later one of the patch, from 0.
        chunk: usize,
        /// The line of the file that both want, from 0.
        line: usize,
    },
}

/// The places of all chunks, in the order of the patch.
pub fn seek(lines: &[&str], chunks: &[Chunk]) -> Result<Vec<Place>, SeekError> {
    let mut file = File::new(lines, chunks);
    let mut wanted = Vec::with_capacity(chunks.len());
    for (at, chunk) in chunks.iter().enumerate() {
        wanted.push(file.candidates(at, chunk)?);
    }
    let starts = arrange(&wanted)?;
    let places: Vec<Place> = wanted
        .into_iter()
        .zip(starts)
        .map(|(wanted, start)| Place {
            lines: start..start + wanted.len,
            pass: wanted.pass,
            dropped: wanted.dropped,
        })
        .collect();
    no_overlap(&places)?;
    Ok(places)
}

/// The lines of a chunk that stand in the file, `dropped` loose ones at the end left out.
pub fn old_side(chunk: &Chunk, dropped: usize) -> Vec<&str> {
    let kept = chunk.lines.len() - dropped.min(chunk.lines.len());
    let old = chunk.lines.iter().take(kept).filter_map(|line| match line {
        PatchLine::Keep(text) | PatchLine::Remove(text) => Some(text.as_str()),
        PatchLine::Add(_) => None,
    });
    old.collect()
}

/// Where a chunk could stand.
#[derive(Clone, Debug)]
struct Candidates {
    /// Ascending; at least one.
    starts: Vec<usize>,
    len: usize,
    pass: Pass,
    dropped: usize,
    /// It only adds, so it stands between lines and takes no part in the order.
    insertion: bool,
}

/// A file, prepared for looking up the lines of the chunks.
struct File<'a> {
    lines: &'a [&'a str],
    wanted: Vec<&'a str>,
    /// By pass: where each wanted line stands.
    found: [Option<HashMap<Cow<'a, str>, Vec<usize>>>; 4],
}

impl<'a> File<'a> {
    fn new(lines: &'a [&'a str], chunks: &'a [Chunk]) -> Self {
        let headers = chunks
            .iter()
            .flat_map(|chunk| chunk.headers.iter().map(String::as_str));
        let old = chunks.iter().flat_map(|chunk| old_side(chunk, 0));
        let wanted = old.chain(headers).collect();
        Self {
            lines,
            wanted,
            found: [const { None }; 4],
        }
    }

    fn candidates(&mut self, at: usize, chunk: &Chunk) -> Result<Candidates, SeekError> {
        let below = self.below_headers(at, chunk);
        // Empty lines at the end count as lines of the file first, and then as what only separates.
        let most = if old_side(chunk, chunk.loose_tail).is_empty() {
            chunk.loose_tail
        } else {
            0
        };
        for dropped in most..=chunk.loose_tail {
            let old = old_side(chunk, dropped);
            if old.is_empty() {
                return self.insertion(chunk, below, dropped);
            }
            for pass in PASSES {
                let all = self.matches(&old, pass);
                let starts = self.allowed(chunk, &all, old.len(), below.as_ref().ok());
                // A header that is nowhere does not matter where the lines leave no doubt.
                let lost_header = below.is_err() && !(pass == Pass::Exact && starts.len() == 1);
                if !starts.is_empty() && !lost_header {
                    return Ok(Candidates {
                        starts,
                        len: old.len(),
                        pass,
                        dropped,
                        insertion: false,
                    });
                }
            }
        }
        below?;
        let old = old_side(chunk, chunk.loose_tail);
        let elsewhere = PASSES
            .iter()
            .find_map(|pass| self.matches(&old, *pass).first().copied());
        Err(SeekError::NotFound { chunk: at, elsewhere })
    }

    fn insertion(
        &self,
        chunk: &Chunk,
        below: Result<Vec<usize>, SeekError>,
        dropped: usize,
    ) -> Result<Candidates, SeekError> {
        let starts = if chunk.end_of_file || chunk.headers.is_empty() {
            vec![self.lines.len()]
        } else {
            below?.into_iter().map(|header| header + 1).collect()
        };
        Ok(Candidates {
            starts,
            len: 0,
            pass: Pass::Exact,
            dropped,
            insertion: true,
        })
    }

    /// The places of the innermost header, each below the outer ones; of a chunk without headers the
    /// beginning.
    fn below_headers(&mut self, at: usize, chunk: &Chunk) -> Result<Vec<usize>, SeekError> {
        let mut from = vec![0];
        for (nth, header) in chunk.headers.iter().enumerate() {
            let found = self.header_lines(header);
            let next = |from: &usize| {
                let first = found.partition_point(|line| line < from);
                found.get(first..).unwrap_or_default()
            };
            let mut below: Vec<usize> = if nth == 0 {
                found.clone()
            } else {
                // The line of the outer header is not the inner one's.
                from.iter()
                    .filter_map(|outer| next(&(outer + 1)).first().copied())
                    .collect()
            };
            below.dedup();
            if below.is_empty() {
                return Err(SeekError::NoHeader {
                    chunk: at,
                    header: nth,
                });
            }
            from = below;
        }
        Ok(from)
    }

    /// Lines that a header names: equal to it but for white space, else beginning with it, else holding it.
    fn header_lines(&mut self, header: &str) -> Vec<usize> {
        for pass in [Pass::Trimmed, Pass::Collapsed] {
            let equal = self.matches(&[header], pass);
            if !equal.is_empty() {
                return equal;
            }
        }
        let having = |test: &dyn Fn(&str) -> bool| -> Vec<usize> {
            let all = self.lines.iter().enumerate();
            all.filter(|(_, line)| test(line)).map(|(at, _)| at).collect()
        };
        let beginning = having(&|line| line.trim_start().starts_with(header));
        if beginning.is_empty() {
            having(&|line| line.contains(header))
        } else {
            beginning
        }
    }

    /// Of `all` matches those that header and end of file allow.
    fn allowed(&self, chunk: &Chunk, all: &[usize], len: usize, below: Option<&Vec<usize>>) -> Vec<usize> {
        let mut allowed: Vec<usize> = match below {
            Some(below) if !chunk.headers.is_empty() => {
                // A header may be given once more as the first line of its chunk.
                let first = |header: &usize| all.get(all.partition_point(|start| start < header)).copied();
                below.iter().filter_map(first).collect()
            }
            _ => all.to_vec(),
        };
        allowed.dedup();
        if chunk.end_of_file {
            // Empty lines at the end of a file are easily overlooked.
            let blank = |start: &usize| {
                let rest = self.lines.get(start + len..).unwrap_or_default();
                rest.iter().all(|line| line.trim().is_empty())
            };
            allowed.retain(blank);
            allowed.drain(..allowed.len().saturating_sub(1));
        }
        allowed
    }

    /// All places where `old` stands.
    fn matches(&mut self, old: &[&str], pass: Pass) -> Vec<usize> {
        let (lines, wanted) = (self.lines, &self.wanted);
        let Some(slot) = self.found.get_mut(pass as usize) else {
            return Vec::new();
        };
        let index = slot.get_or_insert_with(|| index(lines, wanted, pass));
        let old: Vec<Cow<'_, str>> = old.iter().map(|line| pass.of(line)).collect();
        // The rarest line decides quickly where to look.
        let rarest = old
            .iter()
            .enumerate()
            .map(|(at, line)| (at, index.get(line.as_ref()).map_or(&[][..], Vec::as_slice)))
            .min_by_key(|(_, found)| found.len());
        let Some((offset, found)) = rarest else {
            return Vec::new();
        };
        let stands = |start: &usize| {
            lines.get(*start..start + old.len()).is_some_and(|window| {
                let mut pairs = window.iter().zip(&old);
                pairs.all(|(line, old)| pass.of(line) == *old)
            })
        };
        found
            .iter()
            .filter_map(|line| line.checked_sub(offset))
            .filter(stands)
            .collect()
    }
}

/// Where each of the wanted lines stands.
fn index<'a>(lines: &[&'a str], wanted: &[&'a str], pass: Pass) -> HashMap<Cow<'a, str>, Vec<usize>> {
    let mut found: HashMap<Cow<'a, str>, Vec<usize>> =
        wanted.iter().map(|line| (pass.of(line), Vec::new())).collect();
    // Most lines differ in length from all wanted ones, and need no hashing.
    let lengths: std::collections::HashSet<usize> = found.keys().map(|line| line.len()).collect();
    for (at, line) in lines.iter().enumerate() {
        let line = pass.of(line);
        if lengths.contains(&line.len())
            && let Some(places) = found.get_mut(line.as_ref())
        {
            places.push(at);
        }
    }
    found
}

/// One start for each chunk, where there is no doubt.
fn arrange(wanted: &[Candidates]) -> Result<Vec<usize>, SeekError> {
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

fn no_overlap(places: &[Place]) -> Result<(), SeekError> {
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
