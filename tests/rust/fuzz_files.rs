//! Whatever a model writes and whatever a file holds: the patch parser, the edit matcher, globs and the text
//! layer neither fail nor hang, and change no byte that they were not told to. A fixed number of inputs, always
//! the same; `DCODE_FUZZ_CASES=1000000` tries more, other ones each time.

use std::path::Path;

use dcode::edit::hint;
use dcode::edit::patch::{FileAction, PatchLine};
use dcode::edit::patch_apply::apply;
use dcode::edit::patch_hint::explain;
use dcode::edit::patch_parse::parse;
use dcode::edit::replace::replace;
use dcode::fs::text::{decode, encode};
use dcode::search::glob::{Glob, fixed_folder};
use encoding_rs::Encoding;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use similar::{ChangeTag, TextDiff};

fn runner() -> TestRunner {
    let asked = std::env::var("DCODE_FUZZ_CASES").ok();
    let config = Config {
        cases: asked.as_deref().map_or(400, |cases| cases.parse().unwrap()),
        failure_persistence: None,
        ..Config::default()
    };
    if asked.is_some() {
        TestRunner::new(config)
    } else {
        TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha))
    }
}

/// Pieces of patches and of what stands around them, in any order.
fn patch_like() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("*** Begin Patch\n".to_owned()),
        Just("*** End Patch\n".to_owned()),
        Just("*** Update File: f\n".to_owned()),
        Just("*** Add File: n\n".to_owned()),
        Just("*** Delete File: d\n".to_owned()),
        Just("*** Move to: m\n".to_owned()),
        Just("*** End of File\n".to_owned()),
        Just("@@\n".to_owned()),
        "@@ [a-c ]{0,4}\n",
        Just("```diff\n".to_owned()),
        Just("cat <<'EOF'\n".to_owned()),
        Just("EOF\n".to_owned()),
        "[ +-]?[a-c \t]{0,4}\r?\n",
        "\\PC{0,12}",
        Just("\n".to_owned()),
    ];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

/// Lines over few letters, so that many are alike.
fn text_like() -> impl Strategy<Value = String> {
    let line = prop_oneof![4 => "[a-c \t]{0,4}", 1 => "\\PC{0,8}"];
    let end = prop_oneof![4 => Just("\n"), 1 => Just("\r\n"), 1 => Just("\r")];
    let lines = prop::collection::vec((line, end), 0..20);
    (lines, any::<bool>()).prop_map(|(lines, ends)| {
        let text: String = lines.iter().map(|(line, end)| format!("{line}{end}")).collect();
        if ends { text } else { text.trim_end().to_owned() }
    })
}

#[test]
fn no_patch_breaks_the_parser_and_no_line_changes_that_is_not_named() {
    let never = || false;
    runner()
        .run(&(patch_like(), text_like()), |(patch, text)| {
            let Ok(parsed) = parse(&patch) else {
                return Ok(());
            };
            for file in &parsed.files {
                let FileAction::Update { chunks, .. } = &file.action else {
                    continue;
                };
                match apply(&text, chunks) {
                    Ok(patched) => {
                        let count = |wanted: fn(&PatchLine) -> bool| {
                            let lines = chunks.iter().flat_map(|chunk| &chunk.lines);
                            lines.filter(|line| wanted(line)).count()
                        };
                        let removed = count(|line| matches!(line, PatchLine::Remove(_)));
                        let added = count(|line| matches!(line, PatchLine::Add(_)));
                        let diff = TextDiff::from_lines(&text, &patched.text);
                        let changed = |tag| diff.iter_all_changes().filter(|c| c.tag() == tag).count();
                        // A last line without line break is another line when one comes behind it.
                        prop_assert!(changed(ChangeTag::Delete) <= removed + 1, "{patched:?}");
                        prop_assert!(changed(ChangeTag::Insert) <= added + 1, "{patched:?}");
                    }
                    Err(error) => {
                        prop_assert!(!explain("f", &text, chunks, &error, &never).is_empty());
                    }
                }
            }
            Ok(())
        })
        .unwrap();
}

/// Where `old` stands first. Line breaks are one to an edit, unless they are all that it changes.
fn first_place(text: &str, old: &str, new: &str) -> Option<(usize, usize)> {
    let lf = |text: &str| text.replace("\r\n", "\n");
    if lf(old) == lf(new) {
        return text.find(old).map(|at| (at, at + old.len()));
    }
    let at = lf(text).find(&lf(old))?;
    let raw = |wanted: usize| {
        let mut passed = 0;
        let place = text.char_indices().find(|(at, char)| {
            let here = passed == wanted;
            let in_a_break = *char == '\r' && text[at + 1..].starts_with('\n');
            passed += if in_a_break { 0 } else { char.len_utf8() };
            here
        });
        place.map_or(text.len(), |(at, _)| at)
    };
    Some((raw(at), raw(at + lf(old).len())))
}

#[test]
fn an_edit_changes_its_place_alone_and_a_miss_is_explained() {
    let never = || false;
    runner()
        .run(
            &(text_like(), text_like(), text_like(), any::<bool>()),
            |(text, old, new, all)| {
                match replace(&text, &old, &new, all) {
                    Ok(replaced) => {
                        let (begin, end) = first_place(&text, &old, &new).unwrap();
                        prop_assert!(replaced.text.starts_with(&text[..begin]), "{:?}", replaced.text);
                        if !all {
                            prop_assert!(replaced.text.ends_with(&text[end..]), "{:?}", replaced.text);
                        }
                    }
                    Err(_) => prop_assert!(!hint::miss("f", &text, &old, &never).is_empty()),
                }
                Ok(())
            },
        )
        .unwrap();
}

#[test]
fn no_glob_breaks_or_hangs() {
    let pattern = prop_oneof![
        "[a-c*?{},\\[\\]!^/\\\\.-]{0,24}",
        "\\PC{0,16}",
        "(\\{[a-c],){0,12}[a-c]\\}{0,12}",
        "(\\*\\*/){0,8}[a-c*]{0,8}"
    ];
    let path = "[a-c./]{0,40}";
    runner()
        .run(&(pattern, path), |(pattern, path)| {
            let _ = fixed_folder(&pattern);
            match Glob::new(&pattern) {
                Ok(glob) => {
                    let _ = (glob.picks(Path::new(&path)), glob.names_hidden());
                }
                Err(error) => prop_assert!(!error.to_string().is_empty()),
            }
            Ok(())
        })
        .unwrap();
}

/// A byte order mark in front, or none.
const UTF: [(&[u8], &str); 4] = [
    (b"", "utf-8"),
    (b"\xEF\xBB\xBF", "utf-8"),
    (b"\xFF\xFE", "utf-16le"),
    (b"\xFE\xFF", "utf-16be"),
];

/// Encodings in which files still come, each with letters of its own.
const LEGACY: [(&str, &str); 12] = [
    ("windows-1252", "àéîõüßÆ€"),
    ("iso-8859-2", "ąčęłńśžŐ"),
    ("windows-1251", "абвгдеёжЯ"),
    ("koi8-r", "приветмир"),
    ("iso-8859-7", "αβγδεωΩ"),
    ("windows-1255", "אבגדהו"),
    ("shift_jis", "これは日本語表ソ"),
    ("euc-jp", "これは日本語"),
    ("euc-kr", "한국어문장"),
    ("gbk", "这是中文文件"),
    ("gb18030", "这是罕见字𠀀"),
    ("big5", "這是中文檔案"),
];

fn encoded(label: &str, text: &str) -> Vec<u8> {
    match label {
        "utf-16le" => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
        "utf-16be" => text.encode_utf16().flat_map(u16::to_be_bytes).collect(),
        _ => Encoding::for_label(label.as_bytes())
            .unwrap()
            .encode(text)
            .0
            .into_owned(),
    }
}

/// The bytes of a text with a marker in it, and of the same text with another marker.
fn edited_alike(bom: &[u8], label: &str, words: &[String], dos: bool) -> Result<bool, TestCaseError> {
    let text = |marker: &str| {
        let text = format!("{}\n{marker}\n{}\n", words.join(" "), words.join("\n"));
        let text = if dos { text.replace('\n', "\r\n") } else { text };
        [bom, encoded(label, &text).as_slice()].concat()
    };
    let (before, after) = (text("let marker = 1;"), text("let m = 22;"));
    let Ok((decoded, format)) = decode(&before) else {
        return Ok(false);
    };
    prop_assert_eq!(
        &encode(&decoded, &format).unwrap(),
        &before,
        "{}: round trip",
        label
    );
    let replaced = replace(&decoded, "let marker = 1;", "let m = 22;", false).unwrap();
    prop_assert_eq!(
        &encode(&replaced.text, &format).unwrap(),
        &after,
        "{}: edit",
        label
    );
    Ok(true)
}

#[test]
fn an_ascii_edit_keeps_every_other_byte_in_every_encoding() {
    let words = prop::collection::vec((any::<prop::sample::Index>(), 1usize..9, "[a-z]{0,6}"), 1..12);
    let refused = std::cell::Cell::new(0);
    let count = std::cell::Cell::new(0);
    runner()
        .run(&(words, any::<bool>()), |(words, dos)| {
            for (label, letters) in LEGACY {
                let letters: Vec<char> = letters.chars().collect();
                let word = |(at, count, ascii): &(prop::sample::Index, usize, String)| {
                    let own = (0..*count).map(|nth| letters[(at.index(letters.len()) + nth) % letters.len()]);
                    own.chain(ascii.chars()).collect::<String>()
                };
                let words: Vec<String> = words.iter().map(word).collect();
                count.set(count.get() + 1);
                if !edited_alike(b"", label, &words, dos)? {
                    refused.set(refused.get() + 1);
                }
                for (bom, label) in UTF {
                    prop_assert!(edited_alike(bom, label, &words, dos)?, "{} is always text", label);
                }
            }
            Ok(())
        })
        .unwrap();
    // What cannot be told is refused, never changed; nearly all can be told.
    assert!(
        refused.get() * 20 < count.get(),
        "{} of {}",
        refused.get(),
        count.get()
    );
}
