//! What kind of media a file is, by its extension.

use std::path::Path;

/// The block type that carries a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MediaKind {
    /// A picture.
    Image,
    /// Moving pictures.
    Video,
    /// Sound.
    Audio,
    /// A document.
    Document,
}

impl MediaKind {
    /// The name of the block type.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Image => "image",
            Self::Video => "video",
            Self::Audio => "audio",
            Self::Document => "file",
        }
    }

    /// The largest file that is given to a model, in bytes.
    pub fn limit(self) -> u64 {
        match self {
            Self::Image | Self::Document => 10 * 1024 * 1024,
            Self::Audio | Self::Video => 20 * 1024 * 1024,
        }
    }
}

/// A kind and how it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MediaType {
    /// The kind.
    pub kind: MediaKind,
    /// For example `image/png`.
    pub mime: &'static str,
}

/// Extensions in lower case.
const TYPES: [(&str, MediaKind, &str); 25] = [
    ("png", MediaKind::Image, "image/png"),
    ("jpg", MediaKind::Image, "image/jpeg"),
    ("jpeg", MediaKind::Image, "image/jpeg"),
    ("gif", MediaKind::Image, "image/gif"),
    ("webp", MediaKind::Image, "image/webp"),
    ("heic", MediaKind::Image, "image/heic"),
    ("heif", MediaKind::Image, "image/heif"),
    ("mp4", MediaKind::Video, "video/mp4"),
    ("mpeg", MediaKind::Video, "video/mpeg"),
    ("mpg", MediaKind::Video, "video/mpeg"),
    ("mov", MediaKind::Video, "video/quicktime"),
    ("avi", MediaKind::Video, "video/x-msvideo"),
    ("flv", MediaKind::Video, "video/x-flv"),
    ("webm", MediaKind::Video, "video/webm"),
    ("wmv", MediaKind::Video, "video/x-ms-wmv"),
    ("3gpp", MediaKind::Video, "video/3gpp"),
    ("wav", MediaKind::Audio, "audio/wav"),
    ("mp3", MediaKind::Audio, "audio/mpeg"),
    ("aiff", MediaKind::Audio, "audio/aiff"),
    ("aac", MediaKind::Audio, "audio/aac"),
    ("ogg", MediaKind::Audio, "audio/ogg"),
    ("flac", MediaKind::Audio, "audio/flac"),
    ("pdf", MediaKind::Document, "application/pdf"),
    ("ppt", MediaKind::Document, "application/vnd.ms-powerpoint"),
    (
        "pptx",
        MediaKind::Document,
        "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    ),
];

/// The media type of a file; `None` for what is read as text.
pub fn media_type(path: &Path) -> Option<MediaType> {
    let extension = path.extension()?.to_str()?.to_ascii_lowercase();
    let (_, kind, mime) = TYPES.iter().find(|(known, ..)| *known == extension)?;
    Some(MediaType { kind: *kind, mime })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_extension_has_the_type_that_is_registered_for_it() {
        let groups = [
            ("image/", "png gif webp heic heif"),
            ("image/jpeg", "jpg jpeg"),
            ("video/", "mp4 mpeg webm 3gpp"),
            ("video/mpeg", "mpg"),
            ("video/quicktime", "mov"),
            ("video/x-", "flv"),
            ("video/x-msvideo", "avi"),
            ("video/x-ms-", "wmv"),
            ("audio/", "wav aiff aac ogg flac"),
            ("audio/mpeg", "mp3"),
            ("application/", "pdf"),
            ("application/vnd.ms-powerpoint", "ppt"),
            (
                "application/vnd.openxmlformats-officedocument.presentationml.presentation",
                "pptx",
            ),
        ];
        let mut count = 0;
        for (mime, extensions) in groups {
            for extension in extensions.split(' ') {
                // A type that ends openly is completed by the extension.
                let own = if mime.ends_with(['/', '-']) { extension } else { "" };
                let media = media_type(Path::new(&format!("a.{extension}"))).unwrap();
                assert_eq!(media.mime, format!("{mime}{own}"));
                count += 1;
            }
        }
        assert_eq!(count, TYPES.len());
    }

    #[test]
    fn the_extension_decides_whatever_its_case() {
        let kind = |name: &str| media_type(Path::new(name)).map(|media| (media.kind.as_str(), media.mime));
        assert_eq!(kind("a.png"), Some(("image", "image/png")));
        assert_eq!(kind("dir.d/A.PNG"), Some(("image", "image/png")));
        assert_eq!(kind("a.b.mp3"), Some(("audio", "audio/mpeg")));
        assert_eq!(kind("a.3gpp"), Some(("video", "video/3gpp")));
        assert_eq!(kind("a.pdf"), Some(("file", "application/pdf")));
        for text in ["a.svg", "a.ts", "png", ".png", "a.", "a.png.txt"] {
            assert_eq!(kind(text), None, "{text}");
        }
    }
}
