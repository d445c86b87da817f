//! Bytes as a block of a message.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::media::kind::MediaType;
use crate::protocol::message::Block;

/// The block that carries a whole file.
pub fn block(media: MediaType, bytes: &[u8]) -> Block {
    Block::Media {
        kind: media.kind.as_str().to_owned(),
        mime_type: media.mime.to_owned(),
        base64: STANDARD.encode(bytes),
    }
}

/// A number of bytes in words, rounded up: `12 KiB`, `3 MiB`.
pub fn size_words(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} bytes"),
        1024..1_048_576 => format!("{} KiB", bytes.div_ceil(1024)),
        _ => format!("{} MiB", bytes.div_ceil(1_048_576)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_in_standard_base64_with_padding() {
        let media = crate::media::kind::media_type(std::path::Path::new("a.gif")).unwrap();
        let Block::Media {
            kind,
            mime_type,
            base64,
        } = block(media, b"\xff\xfe\0?>")
        else {
            panic!("no media");
        };
        assert_eq!(
            (kind.as_str(), mime_type.as_str(), base64.as_str()),
            ("image", "image/gif", "//4APz4=")
        );
    }

    #[test]
    fn sizes_are_rounded_up() {
        let say = [0, 1023, 1024, 1025, 1_048_576, 10 * 1_048_576 + 1].map(size_words);
        assert_eq!(
            say,
            ["0 bytes", "1023 bytes", "1 KiB", "2 KiB", "1 MiB", "11 MiB"]
        );
    }
}
