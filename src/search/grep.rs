//! Searching text, line by line.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use grep_matcher::{LineTerminator, Matcher};
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkMatch};
use thiserror::Error;
use tokio_util::sync::CancellationToken;

use super::glob::Glob;
use super::lines::shown;
use super::walk::{self, LeftOut, Walk, Wanted};
use crate::fs::pinned;

/// The longest line that is searched, in bytes.
const LONGEST_LINE: usize = 64 << 20;

/// Matching lines between two looks at whether the turn was stopped; a look takes a lock that the threads share.
const LINES_UNLOOKED: u64 = 1_024;

/// What is looked for.
#[derive(Clone, Debug)]
pub struct Query {
    /// A regular expression, or plain text.
    pub pattern: String,
    /// `pattern` is plain text.
    pub literal: bool,
    /// Upper and lower case are one.
    pub case_insensitive: bool,
    /// Lines shown before and after each match.
    pub context: usize,
    /// Lines kept, context included; what comes after is only counted. 0 = none, and a file is left at its
    /// first match unless `count_all`.
    pub max_lines: usize,
    /// Every match is counted, also when no line is kept.
    pub count_all: bool,
}

/// Where it is looked for.
pub struct Place<'a> {
    /// A file, or a folder with all below it; links resolved. A file is searched whatever its name.
    pub walk: Walk,
    /// Files of a folder that are searched.
    pub glob: Option<Glob>,
    /// Texts that count instead of what is on disk: those of modified buffers, by real path.
    pub buffers: &'a HashMap<PathBuf, String>,
    /// Whether a file's content may be shown.
    pub may_show: &'a (dyn Fn(&Path) -> bool + Sync),
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// Files with matches, in the byte order of their paths.
    pub files: Vec<FileHits>,
    /// All matching lines, also those that were not kept.
    pub matching_lines: u64,
    /// Whether lines were left out because of `max_lines`.
    pub cut: bool,
    /// What the walk left out.
    pub left_out: LeftOut,
    /// Files that are not text.
    pub binary: u64,
    /// Files whose content may not be shown, in order; they were not searched.
    pub withheld: Vec<PathBuf>,
}

/// The matches of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileHits {
    /// The file.
    pub path: PathBuf,
    /// Its matching lines; 1 when it was left at the first.
    pub matches: u64,
    /// Those that were kept, with context.
    pub lines: Vec<Line>,
}

/// A line of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// From 1.
    pub number: u64,
    /// Without its end; control characters replaced; a very long one cut around the match, which it says.
    pub text: String,
    /// Whether it matches; else it is context.
    pub matched: bool,
}

/// Why nothing could be searched. The texts are for the model.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum GrepError {
    /// Nothing to look for.
    #[error("The pattern is empty. Give the text or the regular expression to look for.")]
    Empty,
    /// Not a regular expression.
    #[error(
        "The pattern is not a valid regular expression:\n{0}\nEscape special characters with `\\`, or set literal=true to look for the text as it is."
    )]
    Pattern(String),
    /// The expression wants more than one line.
    #[error(
        "Files are searched line by line, so the pattern cannot hold a newline. Look for one of the lines."
    )]
    Newline,
    /// Nothing is there.
    #[error("{} does not exist. List its folder with ls, or look for it with glob.", .0.display())]
    NotFound(PathBuf),
    /// A device, a pipe or the like.
    #[error("{} is neither a file nor a folder, so it cannot be searched.", .0.display())]
    NotAFile(PathBuf),
    /// The turn was stopped.
    #[error("the turn was stopped")]
    Cancelled,
}

/// Searches. Blocks; looks at `cancel` at least every few milliseconds of work.
pub fn grep(query: &Query, place: &Place<'_>, cancel: &CancellationToken) -> Result<Findings, GrepError> {
    let matcher = compile(query)?;
    let (files, left_out) = files(place, cancel)?;
    let mut found = Findings {
        left_out,
        ..Findings::default()
    };
    let search = Search {
        query,
        matcher: &matcher,
        buffers: place.buffers,
        may_show: place.may_show,
        cancel,
        next: AtomicUsize::new(0),
        kept: AtomicUsize::new(0),
    };
    let mut kept = 0;
    for result in search.all(&files) {
        match result {
            Some(Searched::Hits(mut hits)) => {
                found.matching_lines += hits.matches;
                let room = query.max_lines.saturating_sub(kept);
                found.cut |= query.max_lines > 0 && hits.lines.len() > room;
                hits.lines.truncate(room);
                found.cut |= query.max_lines > 0
                    && hits.matches > hits.lines.iter().filter(|l| l.matched).count() as u64;
                kept += hits.lines.len();
                found.files.push(hits);
            }
            Some(Searched::Nothing) => {}
            Some(Searched::Binary) => found.binary += 1,
            Some(Searched::Withheld(path)) => found.withheld.push(path),
            None => found.left_out.unreadable += 1,
        }
    }
    if cancel.is_cancelled() {
        return Err(GrepError::Cancelled);
    }
    Ok(found)
}

fn compile(query: &Query) -> Result<RegexMatcher, GrepError> {
    if query.pattern.is_empty() {
        return Err(GrepError::Empty);
    }
    if query.pattern.contains('\n') {
        return Err(GrepError::Newline);
    }
    RegexMatcherBuilder::new()
        .fixed_strings(query.literal)
        .case_insensitive(query.case_insensitive)
        .multi_line(true)
        .line_terminator(Some(b'\n'))
        // `$` also matches before the end of a line of a DOS file.
        .crlf(true)
        .build(&query.pattern)
        .map_err(|error| match error.kind() {
            grep_regex::ErrorKind::NotAllowed(_) => GrepError::Newline,
            _ => GrepError::Pattern(error.to_string()),
        })
}

fn files(place: &Place<'_>, cancel: &CancellationToken) -> Result<(Vec<PathBuf>, LeftOut), GrepError> {
    let root = &place.walk.root;
    if place.buffers.contains_key(root) {
        return Ok((vec![root.clone()], LeftOut::default()));
    }
    let kind = std::fs::metadata(root).map_err(|_| GrepError::NotFound(root.clone()))?;
    if kind.is_file() {
        return Ok((vec![root.clone()], LeftOut::default()));
    }
    if !kind.is_dir() {
        return Err(GrepError::NotAFile(root.clone()));
    }
    let only = place.glob.as_ref();
    let listing =
        walk::list(&place.walk, Wanted { only, shown: None }, cancel).ok_or(GrepError::Cancelled)?;
    let mut files = listing.files;
    // New files that so far only a buffer has.
    let picked = |below: &Path| only.is_none_or(|glob| glob.picks(below));
    let new = |path: &&PathBuf| path.strip_prefix(root).is_ok_and(picked) && !path.exists();
    let listed = files.len();
    files.extend(place.buffers.keys().filter(new).cloned());
    if files.len() > listed {
        walk::sort(&mut files);
    }
    Ok((files, listing.left_out))
}

enum Searched {
    Nothing,
    Hits(FileHits),
    Binary,
    Withheld(PathBuf),
}

struct Search<'a> {
    query: &'a Query,
    matcher: &'a RegexMatcher,
    buffers: &'a HashMap<PathBuf, String>,
    may_show: &'a (dyn Fn(&Path) -> bool + Sync),
    cancel: &'a CancellationToken,
    /// The next file to take.
    next: AtomicUsize,
    /// Lines kept of the files that are done.
    kept: AtomicUsize,
}

impl Search<'_> {
    /// Searches files on several threads; of those with something to tell the results are in the order of
    /// the files, `None` for one that could not be read.
    fn all(&self, files: &[PathBuf]) -> Vec<Option<Searched>> {
        let work = || {
            let mut searcher = self.searcher();
            let mut done = Vec::new();
            while !self.cancel.is_cancelled() {
                let at = self.next.fetch_add(1, Ordering::Relaxed);
                let Some(file) = files.get(at) else { break };
                // Files are taken in order, so all that are done stand before this one: what they kept is
                // kept in any case.
                let kept = self.kept.load(Ordering::Relaxed);
                let result = self.one(&mut searcher, file, self.query.max_lines.saturating_sub(kept));
                match result {
                    Ok(Searched::Nothing) => {}
                    result => done.push((at, result.ok())),
                }
            }
            done
        };
        let mut done = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..walk::threads().min(files.len()))
                .map(|_| scope.spawn(work))
                .collect();
            threads
                .into_iter()
                .flat_map(|thread| {
                    thread
                        .join()
                        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
                })
                .collect::<Vec<_>>()
        });
        done.sort_unstable_by_key(|(at, _)| *at);
        done.into_iter().map(|(_, result)| result).collect()
    }

    fn searcher(&self) -> Searcher {
        SearcherBuilder::new()
            .line_terminator(LineTerminator::crlf())
            .line_number(self.query.max_lines > 0)
            .before_context(self.query.context)
            .after_context(self.query.context)
            .binary_detection(BinaryDetection::quit(0))
            .heap_limit(Some(LONGEST_LINE))
            .build()
    }

    fn one(&self, searcher: &mut Searcher, path: &Path, room: usize) -> io::Result<Searched> {
        if !(self.may_show)(path) {
            return Ok(Searched::Withheld(path.to_owned()));
        }
        let mut hits = Hits {
            search: self,
            room,
            matches: 0,
            lines: Vec::new(),
            binary: false,
        };
        match self.buffers.get(path) {
            Some(text) => searcher.search_slice(self.matcher, text.as_bytes(), &mut hits)?,
            None => {
                let file = Cancellable {
                    file: pinned::open(path)?,
                    cancel: self.cancel,
                };
                searcher.search_reader(self.matcher, file, &mut hits)?;
            }
        }
        if hits.binary {
            return Ok(Searched::Binary);
        }
        if hits.matches == 0 {
            return Ok(Searched::Nothing);
        }
        self.kept.fetch_add(hits.lines.len(), Ordering::Relaxed);
        Ok(Searched::Hits(FileHits {
            path: path.to_owned(),
            matches: hits.matches,
            lines: hits.lines,
        }))
    }
}

/// A file whose reading ends with the turn.
struct Cancellable<'a> {
    file: File,
    cancel: &'a CancellationToken,
}

impl Read for Cancellable<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.cancel.is_cancelled() {
            return Err(io::Error::other("the turn was stopped"));
        }
        self.file.read(buffer)
    }
}

/// Takes the matches of one file.
struct Hits<'a> {
    search: &'a Search<'a>,
    /// Lines that may still be kept, and one more to know that there are more.
    room: usize,
    matches: u64,
    lines: Vec<Line>,
    binary: bool,
}

impl Hits<'_> {
    fn keep(&mut self, number: Option<u64>, bytes: &[u8], matched: bool) {
        if self.lines.len() > self.room || self.search.query.max_lines == 0 {
            return;
        }
        let at = || {
            self.search
                .matcher
                .find(bytes)
                .ok()
                .flatten()
                .map_or(0, |found| found.start())
        };
        let at = if matched { at() } else { 0 };
        self.lines.push(Line {
            number: number.unwrap_or_default(),
            text: shown(bytes, at),
            matched,
        });
    }

    fn goes_on(&self) -> bool {
        let query = self.search.query;
        let only_names = query.max_lines == 0 && !query.count_all;
        let looks = self.matches.is_multiple_of(LINES_UNLOOKED);
        !(only_names || looks && self.search.cancel.is_cancelled())
    }
}

impl Sink for Hits<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        self.matches += 1;
        self.keep(found.line_number(), found.bytes(), true);
        Ok(self.goes_on())
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        self.keep(context.line_number(), context.bytes(), false);
        Ok(self.goes_on())
    }

    fn binary_data(&mut self, _: &Searcher, _: u64) -> io::Result<bool> {
        self.binary = true;
        Ok(false)
    }
}
