//! The existing name that somebody probably meant.

use std::path::{Path, PathBuf};

/// Names compared; a folder with more is searched only so far.
const MAX_NAMES: usize = 10_000;
/// How like a name must be, from 0 to 1.
const ENOUGH: f64 = 0.6;

/// What to say after "… does not exist.": the nearest name in the same folder, or which folder is
/// missing. Empty, or a sentence with a space in front.
pub fn hint(path: &Path) -> String {
    let missing_folder = path
        .ancestors()
        .skip(1)
        .take_while(|folder| !folder.is_dir())
        .last();
    if let Some(folder) = missing_folder {
        let near = nearest(folder).map(|near| format!(" Did you mean {}?", near.display()));
        return format!(
            " There is no directory {}.{}",
            folder.display(),
            near.unwrap_or_default()
        );
    }
    nearest(path)
        .map(|near| format!(" Did you mean {}?", near.display()))
        .unwrap_or_default()
}

/// The most similar name beside `path`.
fn nearest(path: &Path) -> Option<PathBuf> {
    let wanted = path.file_name()?.to_string_lossy().to_lowercase();
    let names = std::fs::read_dir(path.parent()?)
        .ok()?
        .filter_map(Result::ok)
        .take(MAX_NAMES);
    names
        .map(|entry| {
            let name = entry.file_name().to_string_lossy().to_lowercase();
            (
                strsim::normalized_damerau_levenshtein(&wanted, &name),
                entry.path(),
            )
        })
        .filter(|(likeness, _)| *likeness >= ENOUGH)
        .max_by(|a, b| a.0.total_cmp(&b.0).then_with(|| b.1.cmp(&a.1)))
        .map(|(_, path)| path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_the_nearest_file_or_the_missing_folder() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        std::fs::create_dir(root.join("source")).unwrap();
        for name in ["main.rs", "README.md"] {
            std::fs::File::create(root.join("source").join(name)).unwrap();
        }
        let say = |name: &str| hint(&root.join(name)).replace(&root.display().to_string(), "");
        assert_eq!(say("source/mian.rs"), " Did you mean /source/main.rs?");
        assert_eq!(say("source/readme.md"), " Did you mean /source/README.md?");
        assert_eq!(say("source/zzz"), "");
        assert_eq!(
            say("sources/deep/main.rs"),
            " There is no directory /sources. Did you mean /source?"
        );
    }
}
