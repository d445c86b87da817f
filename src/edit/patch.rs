//! A patch as data. `patch_parse.rs` makes it from the text of a model, `patch_apply.rs` makes it happen.

/// A whole patch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patch {
    /// One entry a section, in order; at least one. A path may come several times.
    pub files: Vec<FilePatch>,
    /// `*** End Patch` was missing; everything before it was complete.
    pub unended: bool,
}

/// What happens to one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePatch {
    /// The line of its header in the patch, from 1.
    pub line: usize,
    /// As written, without blanks around it.
    pub path: String,
    /// What happens.
    pub action: FileAction,
}

/// What a section does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileAction {
    /// Makes a file with these lines; each gets a line break.
    Add(Vec<String>),
    /// Removes a file.
    Delete,
    /// Changes a file, moves it, or both: one of the two is there.
    Update {
        /// The new path, as written.
        move_to: Option<String>,
        /// The changes, usually in the order of the file.
        chunks: Vec<Chunk>,
    },
}

/// A place and what changes there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chunk {
    /// Where it begins in the patch, from 1.
    pub line: usize,
    /// The texts after `@@`, outermost first; lines above the place, in whole or in part.
    pub headers: Vec<String>,
    /// Its lines; at least one.
    pub lines: Vec<PatchLine>,
    /// How many of the last lines were empty in the patch, without even a blank in front: they may be
    /// lines of the file, or only stand between this chunk and what follows.
    pub loose_tail: usize,
    /// The place is the end of the file.
    pub end_of_file: bool,
}

/// A line of a chunk, without its sign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PatchLine {
    /// Stands in the file and stays.
    Keep(String),
    /// Stands in the file and goes.
    Remove(String),
    /// Comes.
    Add(String),
}
