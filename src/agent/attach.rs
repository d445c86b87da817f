//! Images that a prompt names as `@path`: read and sent with it.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::fs::cause;
use crate::media::encode::{self, size_words};
use crate::media::kind::{MediaKind, MediaType, media_type};
use crate::protocol::message::Block;

/// How many images go with one prompt.
const MOST: usize = 10;

/// The images of a prompt, and what the person should hear of those that do not go with it.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Attached {
    /// One block an image.
    pub blocks: Vec<Block>,
    /// A sentence each.
    pub notices: Vec<String>,
}

/// Reads the images that `text` names. Anything else behind an `@` is left to the model's tools.
pub fn attached(text: &str, cwd: &Path, home: &Path) -> Attached {
    let mut out = Attached::default();
    for written in mentions(text) {
        let path = resolve(written, cwd, home);
        let Some(media) = media_type(&path).filter(|media| media.kind == MediaKind::Image) else {
            continue;
        };
        if out.blocks.len() == MOST {
            out.notices
                .push(format!("Only the first {MOST} images go with a prompt."));
            break;
        }
        match read(&path, media) {
            Ok(bytes) => out.blocks.push(encode::block(media, &bytes)),
            Err(why) => out
                .notices
                .push(format!("{written} does not go with the prompt: {why}.")),
        }
    }
    out
}

/// What stands behind each `@` that begins a word, quotes taken off.
fn mentions(text: &str) -> Vec<&str> {
    let begins = |at: usize| {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        before.is_none_or(|before| before.is_whitespace() || matches!(before, '(' | '[' | '"' | '\''))
    };
    let mut found = Vec::new();
    for (at, _) in text.match_indices('@').filter(|(at, _)| begins(*at)) {
        let rest = text.get(at + 1..).unwrap_or_default();
        let written = match rest.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').map(|(inside, _)| inside),
            None => rest.split(char::is_whitespace).next(),
        };
        // Not the point that ends a sentence, nor the bracket around the mention.
        let written = written
            .unwrap_or_default()
            .trim_end_matches(['.', ',', ';', ':', ')', ']', '?', '!']);
        if !written.is_empty() && !found.contains(&written) {
            found.push(written);
        }
    }
    found
}

fn resolve(written: &str, cwd: &Path, home: &Path) -> PathBuf {
    match written.strip_prefix("~/") {
        Some(below) => home.join(below),
        None => cwd.join(written),
    }
}

fn read(path: &Path, media: MediaType) -> Result<Vec<u8>, String> {
    let limit = media.kind.limit();
    // A link of a project may lead anywhere.
    let real = path.canonicalize().map_err(|error| cause::cause(&error))?;
    if media_type(&real).is_none_or(|real| real.kind != media.kind) {
        return Err("it is a link to what is no image".into());
    }
    let file = open(&real).map_err(|error| cause::cause(&error))?;
    let meta = file.metadata().map_err(|error| cause::cause(&error))?;
    if !meta.is_file() {
        return Err("it is no ordinary file".into());
    }
    if meta.len() > limit {
        let (size, limit) = (size_words(meta.len()), size_words(limit));
        return Err(format!("it has {size}, and {limit} are the most"));
    }
    let mut bytes = Vec::new();
    let read = file.take(limit).read_to_end(&mut bytes);
    read.map_err(|error| cause::cause(&error))?;
    if bytes.is_empty() {
        return Err("it is empty".into());
    }
    Ok(bytes)
}

/// Not blocking: opening a pipe would wait for its other end.
fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .read(true)
        .custom_flags(nix::libc::O_NONBLOCK | nix::libc::O_CLOEXEC)
        .open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mention_begins_a_word_and_may_be_quoted() {
        let text = "@a.png, (@b.png) me@host.png @\"my shot.png\" @a.png\n@~/c.jpg. @ @@x";
        assert_eq!(mentions(text), ["a.png", "b.png", "my shot.png", "~/c.jpg", "@x"]);
    }

    #[test]
    fn images_are_read_and_what_is_not_one_is_said_or_left() {
        let dir = tempfile::tempdir().unwrap();
        let (cwd, home) = (dir.path().join("p"), dir.path().join("h"));
        for folder in [&cwd, &home] {
            std::fs::create_dir(folder).unwrap();
        }
        let write = |path: PathBuf| crate::fs::atomic::write(&path, b"\x89PNG", None).unwrap();
        write(cwd.join("a.png"));
        write(home.join("b c.jpg"));
        crate::fs::atomic::write(&cwd.join("empty.png"), b"", None).unwrap();
        let found = attached(
            "see @a.png @\"~/b c.jpg\" @src/main.rs @no.png @empty.png",
            &cwd,
            &home,
        );
        let mimes: Vec<_> = found
            .blocks
            .iter()
            .map(|block| match block {
                Block::Media {
                    mime_type, base64, ..
                } => (mime_type.as_str(), base64.as_str()),
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(mimes, [("image/png", "iVBORw=="), ("image/jpeg", "iVBORw==")]);
        crate::fs::atomic::write(&home.join("id"), b"key", None).unwrap();
        for (link, target) in [("key.png", home.join("id")), ("other.png", cwd.join("a.png"))] {
            std::os::unix::fs::symlink(target, cwd.join(link)).unwrap();
        }
        let linked = attached("@key.png @other.png", &cwd, &home);
        assert_eq!(linked.blocks.len(), 1);
        assert!(
            linked.notices[0].contains("a link to what is no image"),
            "{linked:?}"
        );
        assert_eq!(found.notices.len(), 2, "{:?}", found.notices);
        assert!(found.notices[1].ends_with("it is empty."), "{:?}", found.notices);
    }
}
