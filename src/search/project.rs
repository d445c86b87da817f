//! The files that are the project's own, for who compares a tree with what it was.

use std::path::Path;

use ignore::WalkBuilder;

use super::walk::{GENERATED, VERSION_CONTROL, threads};

/// A walk over everything that neither an ignore file nor the list of generated folders leaves out, hidden
/// names included. Links are entries of their own and followed by nobody.
pub fn own_files(root: &Path) -> WalkBuilder {
    let mut builder = WalkBuilder::new(root);
    builder
        .standard_filters(false)
        .parents(true)
        .ignore(true)
        .git_ignore(true)
        .git_global(true)
        .git_exclude(true)
        .require_git(false)
        .threads(threads())
        .filter_entry(|entry| {
            let name = entry.file_name().to_str().unwrap_or_default();
            entry.depth() == 0 || !(VERSION_CONTROL.contains(&name) || GENERATED.contains(&name))
        });
    builder
}
