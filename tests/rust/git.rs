//! The git tools, beside the git program.

// Repositories made by the git program, and the tools over them.
mod repository;
// One repository, asked through the tools and through the git program.
mod comparison;
// Formats, refs, what is refused, unsaved buffers.
mod answers;
// Other formats, worktrees, submodules, clones with holes, conflicts.
mod hard;
// What stands in the place of a file.
mod places;
// Repositories of others, and what is asked before they are read.
mod owners;
// Work that is stopped half-way.
mod stopped;
// The git program in the place of libgit2, where the person allows it.
mod program;
// Refs, paths, ranges and dates that nobody would write.
mod fuzz;
// Generated histories and releases of packages, asked both ways.
mod differential;
// How fast; measured by hand.
mod bench;
