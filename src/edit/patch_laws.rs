//! Laws of patches that hold for all texts.

use proptest::prelude::*;
use similar::{ChangeTag, TextDiff};

use crate::edit::patch::{Chunk, FileAction, PatchLine};
use crate::edit::patch_apply::apply;
use crate::edit::patch_parse::parse;

/// A patch from one text to another, with `context` lines around each change.
fn patch(old: &str, new: &str, context: usize) -> String {
    let diff = TextDiff::from_lines(old, new);
    let mut text = "*** Begin Patch\n*** Update File: f\n".to_owned();
    for group in diff.grouped_ops(context) {
        text.push_str("@@\n");
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            text.push_str(match change.tag() {
                ChangeTag::Equal => " ",
                ChangeTag::Delete => "-",
                ChangeTag::Insert => "+",
            });
            text.push_str(change.value());
        }
    }
    text + "*** End Patch\n"
}

fn patched(text: &str, patch: &str) -> Option<String> {
    let parsed = parse(patch).ok()?;
    let Some(FileAction::Update { chunks, .. }) = parsed.files.first().map(|file| &file.action) else {
        return None;
    };
    apply(text, chunks).ok().map(|patched| patched.text)
}

/// Distinct lines, so that every place is certain.
fn numbered(lines: &[(u8, u8)]) -> String {
    let line = |(at, (_, value)): (usize, &(u8, u8))| format!("{at} {value}\n");
    lines.iter().enumerate().map(line).collect()
}

/// The same with some lines changed, left out or put in between.
fn changed(lines: &[(u8, u8)]) -> String {
    let line = |(at, (what, value)): (usize, &(u8, u8))| match what {
        0 => String::new(),
        1 => format!("{at} changed\n"),
        2 => format!("{at} {value}\n{at} more\n"),
        _ => format!("{at} {value}\n"),
    };
    lines.iter().enumerate().map(line).collect()
}

proptest! {
    #[test]
    fn the_parser_takes_any_text(text in any::<String>()) {
        let _ = parse(&text);
    }

    #[test]
    fn the_parser_takes_any_order_of_markers(parts in prop::collection::vec(
        prop::sample::select(vec![
            "*** Begin Patch", " *** Begin Patch", "*** End Patch", "  *** End Patch ", "*** Add File: a",
            "*** Update File: b", "*** Update File:", "*** Delete File: c", "*** Move to: d", "*** End of File",
            "@@", "@@ x", "@@ -1 +1 @@", "+a", "-b", " c", "", "odd", "```", "cat <<'EOF'", "EOF", "{", "\r",
        ]), 0..20)) {
        if let Ok(patch) = parse(&parts.join("\n")) {
            prop_assert!(!patch.files.is_empty());
            for file in &patch.files {
                prop_assert!(!file.path.is_empty() && file.line > 0);
                if let FileAction::Update { chunks, move_to } = &file.action {
                    prop_assert!(!chunks.is_empty() || move_to.is_some());
                    prop_assert!(chunks.iter().all(|chunk| !chunk.lines.is_empty()));
                    let _ = apply("a\nb\n\nc\n", chunks);
                }
            }
        }
    }

    #[test]
    fn a_patch_leads_there_and_back(lines in prop::collection::vec((0u8..12, any::<u8>()), 1..40), context in 1usize..4) {
        let (old, new) = (numbered(&lines), changed(&lines));
        prop_assume!(old != new && !new.is_empty());
        prop_assert_eq!(patched(&old, &patch(&old, &new, context)), Some(new.clone()));
        prop_assert_eq!(patched(&new, &patch(&new, &old, context)), Some(old));
    }

    /// Whatever is repeated in the text: either the right place, or a refusal.
    #[test]
    fn nothing_lands_in_a_wrong_place(old in "[ab\n]{0,16}", new in "[abc\n]{0,16}") {
        let (old, new) = (old + "\n", new + "\n");
        prop_assume!(old != new);
        if let Some(text) = patched(&old, &patch(&old, &new, 1000)) {
            prop_assert_eq!(text, new);
        }
    }

    #[test]
    fn lines_that_stay_keep_their_bytes(text in "([ab \t]{0,4}\r?\n){1,6}[ab]{0,2}", pad in "[ \t]{0,2}") {
        // Every line as context with other white space at its end, and a new one behind the first.
        let mut lines: Vec<PatchLine> = text.lines().map(|line| PatchLine::Keep(format!("{line}{pad}"))).collect();
        lines.insert(1, PatchLine::Add("NEW".to_owned()));
        let chunk = Chunk { line: 1, lines, ..Chunk::default() };
        let result = apply(&text, &[chunk]).unwrap().text;
        let without: String = result.split_inclusive('\n').filter(|line| line.trim_end() != "NEW").collect();
        prop_assert_eq!(without, text);
    }
}

#[test]
fn two_hundred_chunks_in_a_large_file_take_no_time() {
    let old: String = (0..100_000)
        .map(|n| format!("    let value_{n} = compute({n});\n"))
        .collect();
    let new: String = (0..100_000)
        .map(|n| match n % 500 {
            7 => format!("    let value_{n} = other({n});\n"),
            _ => format!("    let value_{n} = compute({n});\n"),
        })
        .collect();
    let patch = patch(&old, &new, 3);
    let start = std::time::Instant::now();
    let result = patched(&old, &patch);
    // Unoptimised and on a busy machine; optimised it takes a hundredth.
    assert!(start.elapsed().as_secs() < 5, "{:?}", start.elapsed());
    assert!(result == Some(new));
}
