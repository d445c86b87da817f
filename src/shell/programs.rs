//! The table of known programs: what each may do, and which of its options make it do more.
//!
//! A row is chosen by the longest of its names that begins the command; what is in no row is unknown. The
//! examples of a row are tested. Programs that run other programs are in `unwrap.rs`.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::command::Class;
use super::table::FILES;
use super::table_git::GIT;
use super::table_tools::TOOLS;

/// The whole table.
fn rows() -> impl Iterator<Item = &'static Row> {
    [FILES, GIT, TOOLS].into_iter().flatten()
}

/// One row.
pub(super) struct Row {
    /// Names, separated by commas: a program, or a program with its subcommand.
    pub names: &'static str,
    /// The class, if nothing below raises it.
    pub class: Class,
    /// Options and arguments that raise it. `--output` stands for its abbreviations and `--output=x`, `-o`
    /// also for `-xo`, `+*` for all that begins so; another word for itself.
    pub risks: &'static [Risk],
    /// How many operands leave the class as it is; one more makes it `Change`.
    pub operands: usize,
    /// Its long options have one dash (`find -exec`): none stands for several letters.
    pub single_dash: bool,
    /// Lines with their classes, for tests and readers.
    #[cfg_attr(not(test), allow(dead_code))]
    pub examples: &'static [(&'static str, Class)],
}

/// An option that raises the class, and what it does: the end of a sentence that begins with it.
pub(super) struct Risk(pub &'static str, pub Class, pub &'static str);

/// The row of a command, from the words that rules are matched with.
pub(super) fn row(normal: &[String]) -> Option<&'static Row> {
    static INDEX: LazyLock<HashMap<&str, &Row>> = LazyLock::new(|| {
        rows()
            .flat_map(|row| row.names.split(',').map(move |name| (name.trim(), row)))
            .collect()
    });
    (1..=normal.len().min(3))
        .rev()
        .find_map(|count| INDEX.get(normal.get(..count)?.join(" ").as_str()).copied())
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::shell::parse::analyze;

    #[test]
    fn every_example_has_its_class() {
        for (line, class) in rows().flat_map(|row| row.examples) {
            let analysis = analyze(line);
            assert_eq!((analysis.class(), analysis.unparsable), (*class, None), "{line}");
        }
    }

    #[test]
    fn a_name_stands_in_one_row() {
        let mut seen = HashSet::new();
        for name in rows().flat_map(|row| row.names.split(',')).map(str::trim) {
            assert!(!name.is_empty() && seen.insert(name), "{name}");
        }
    }
}
