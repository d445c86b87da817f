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

use crate::edit::patch::{Chunk, PatchLine};
use crate::edit::patch_order::{Candidates, arrange, no_overlap};
use crate::edit::patch_pass::{PASSES, Pass};

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
