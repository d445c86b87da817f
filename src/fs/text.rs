//! From bytes to text and back, without losing a byte.
//!
//! A file is text when decoding and encoding it again gives the same bytes. What does not pass this
//! test is refused rather than changed: an edit must never turn a foreign character into U+FFFD.
//! The order of the guesses: byte order mark, UTF-8, then the most probable legacy encoding.

use encoding_rs::{EncoderResult, Encoding, GB18030, GBK, WINDOWS_1252};
use thiserror::Error;

use crate::fs::endings::LineEnding;

const UTF8_BOM: &[u8] = b"\xEF\xBB\xBF";
const UTF16_LE_BOM: &[u8] = b"\xFF\xFE";
const UTF16_BE_BOM: &[u8] = b"\xFE\xFF";
const UTF32_LE_BOM: &[u8] = b"\xFF\xFE\0\0";

/// Below this many foreign bytes a guess between single-byte encodings is a lottery: western it is, as
/// in Neovim.
const TOO_FEW_TO_GUESS: usize = 16;

/// How a text is laid down as bytes. New files have the default: UTF-8 without BOM.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TextFormat {
    /// The encoding.
    pub charset: Charset,
    /// Whether a byte order mark stands in front. It is not part of the decoded text.
    pub bom: bool,
}

/// An encoding that can be written as well as read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Charset {
    /// UTF-8.
    #[default]
    Utf8,
    /// UTF-16, low byte first. Only with a BOM.
    Utf16Le,
    /// UTF-16, high byte first. Only with a BOM.
    Utf16Be,
    /// A guess by content, for example windows-1252 or Shift_JIS. It gives the same bytes back, but
    /// the characters shown may be those of a neighbouring encoding.
    Legacy(&'static Encoding),
}

impl Charset {
    /// The usual name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Utf8 => "UTF-8",
            Self::Utf16Le => "UTF-16LE",
            Self::Utf16Be => "UTF-16BE",
            Self::Legacy(encoding) => encoding.name(),
        }
    }
}

impl TextFormat {
    /// How a text with this format lies on disk, for a reader; `None` for UTF-8 without BOM, which needs no
    /// words: `windows-1252, CRLF line endings`.
    pub fn words(self, text: &str) -> Option<String> {
        if self.charset == Charset::Utf8 {
            return self.bom.then(|| "UTF-8 with BOM".to_owned());
        }
        let endings = match LineEnding::throughout(text) {
            Some(LineEnding::CrLf) => ", CRLF line endings",
            None if text.contains('\n') => ", mixed line endings",
            Some(LineEnding::Lf) | None => "",
        };
        Some(format!("{}{endings}", self.charset.name()))
    }
}

/// Why bytes are not text.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DecodeError {
    /// A byte that text does not hold.
    #[error("it holds a {name} at offset {offset}")]
    Binary {
        /// The byte in words, for example `NUL byte`.
        name: &'static str,
        /// Where it stands, in bytes.
        offset: usize,
    },
    /// No encoding gives the same bytes back.
    #[error("its encoding is unknown")]
    Unknown,
}

/// A character that the encoding of the file does not have.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}: {charset} has no {shown} (U+{:04X}); use another character, or convert the file to UTF-8 first", *character as u32)]
pub struct EncodeError {
    /// The character.
    pub character: char,
    /// The character as it is shown; a control character as a space.
    shown: char,
    /// Its line, from 1.
    pub line: usize,
    /// The name of the encoding.
    pub charset: &'static str,
}

impl EncodeError {
    fn new(text: &str, at: usize, character: char, charset: Charset) -> Self {
        let before = text.as_bytes().get(..at).unwrap_or_default();
        let shown = if character.is_control() { ' ' } else { character };
        let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
        Self {
            character,
            shown,
            line,
            charset: charset.name(),
        }
    }
}

/// The text of a file and how it was laid down. The text has no BOM; its line endings are as they are.
pub fn decode(bytes: &[u8]) -> Result<(String, TextFormat), DecodeError> {
    if bytes.starts_with(UTF32_LE_BOM) {
        return Err(DecodeError::Unknown);
    }
    if let Some(rest) = bytes.strip_prefix(UTF16_LE_BOM) {
        return decode_utf16(rest, u16::from_le_bytes, Charset::Utf16Le);
    }
    if let Some(rest) = bytes.strip_prefix(UTF16_BE_BOM) {
        return decode_utf16(rest, u16::from_be_bytes, Charset::Utf16Be);
    }
    let (rest, bom) = bytes
        .strip_prefix(UTF8_BOM)
        .map_or((bytes, false), |rest| (rest, true));
    if let Some(offset) = rest.iter().position(|byte| *byte == 0) {
        let offset = offset + (bytes.len() - rest.len());
        return Err(DecodeError::Binary {
            name: "NUL byte",
            offset,
        });
    }
    match std::str::from_utf8(rest) {
        Ok(text) => Ok((
            text.to_owned(),
            TextFormat {
                charset: Charset::Utf8,
                bom,
            },
        )),
        Err(_) if bom => Err(DecodeError::Unknown),
        Err(_) => decode_legacy(bytes),
    }
}

/// The bytes of a text. What the encoding does not have is an error, never a question mark.
pub fn encode(text: &str, format: &TextFormat) -> Result<Vec<u8>, EncodeError> {
    match format.charset {
        Charset::Utf8 => {
            let mut bytes = if format.bom { UTF8_BOM.to_vec() } else { Vec::new() };
            bytes.extend_from_slice(text.as_bytes());
            Ok(bytes)
        }
        Charset::Utf16Le => Ok(encode_utf16(text, UTF16_LE_BOM, u16::to_le_bytes)),
        Charset::Utf16Be => Ok(encode_utf16(text, UTF16_BE_BOM, u16::to_be_bytes)),
        Charset::Legacy(encoding) => encode_legacy(text, encoding),
    }
}

fn decode_utf16(
    bytes: &[u8],
    unit: fn([u8; 2]) -> u16,
    charset: Charset,
) -> Result<(String, TextFormat), DecodeError> {
    let (pairs, odd) = bytes.as_chunks::<2>();
    if !odd.is_empty() {
        return Err(DecodeError::Unknown);
    }
    let units = pairs.iter().map(|pair| unit(*pair));
    let text: String = char::decode_utf16(units)
        .collect::<Result<_, _>>()
        .map_err(|_| DecodeError::Unknown)?;
    if let Some(before) = text.find('\0').and_then(|at| text.get(..at)) {
        let offset = 2 + 2 * before.encode_utf16().count();
        return Err(DecodeError::Binary {
            name: "NUL character",
            offset,
        });
    }
    Ok((text, TextFormat { charset, bom: true }))
}

fn encode_utf16(text: &str, bom: &[u8], unit: fn(u16) -> [u8; 2]) -> Vec<u8> {
    let mut bytes = bom.to_vec();
    bytes.extend(text.encode_utf16().flat_map(unit));
    bytes
}

fn decode_legacy(bytes: &[u8]) -> Result<(String, TextFormat), DecodeError> {
    if let Some(offset) = bytes.iter().position(|byte| is_binary_control(*byte)) {
        return Err(DecodeError::Binary {
            name: "control byte",
            offset,
        });
    }
    let mut detector = chardetng::EncodingDetector::new();
    detector.feed(bytes, true);
    let guess = detector.guess(None, false);
    let foreign = bytes.iter().filter(|byte| !byte.is_ascii()).count();
    // GBK is the part of GB18030 without its four-byte characters; only the round trip tells.
    let candidates = if guess == GBK {
        [GBK, GB18030]
    } else if guess.is_single_byte() && foreign < TOO_FEW_TO_GUESS {
        [WINDOWS_1252, guess]
    } else {
        [guess, guess]
    };
    candidates
        .iter()
        .find_map(|encoding| {
            let text = encoding.decode_without_bom_handling_and_without_replacement(bytes)?;
            let same = encode_legacy(&text, encoding).is_ok_and(|again| again == bytes);
            // Undefined bytes of a single-byte encoding decode to C1 controls: not text.
            let printable = !text
                .chars()
                .any(|c| ('\u{80}'..='\u{9f}').contains(&c) && c != '\u{85}');
            let format = TextFormat {
                charset: Charset::Legacy(encoding),
                bom: false,
            };
            (same && printable).then(|| (text.into_owned(), format))
        })
        .ok_or(DecodeError::Unknown)
}

fn encode_legacy(text: &str, encoding: &'static Encoding) -> Result<Vec<u8>, EncodeError> {
    let mut encoder = encoding.new_encoder();
    let mut bytes = Vec::new();
    let mut rest = text;
    loop {
        let room = encoder.max_buffer_length_from_utf8_without_replacement(rest.len());
        bytes.reserve(room.unwrap_or(rest.len()).max(16));
        let (result, read) = encoder.encode_from_utf8_to_vec_without_replacement(rest, &mut bytes, true);
        rest = rest.get(read..).unwrap_or_default();
        match result {
            EncoderResult::InputEmpty => return Ok(bytes),
            EncoderResult::OutputFull => {}
            EncoderResult::Unmappable(character) => {
                let at = text.len() - rest.len() - character.len_utf8();
                return Err(EncodeError::new(text, at, character, Charset::Legacy(encoding)));
            }
        }
    }
}

fn is_binary_control(byte: u8) -> bool {
    byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r' | 0x0c | 0x1b | 0x08)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn legacy(bytes: &[u8]) -> (String, &'static str) {
        let (text, format) = decode(bytes).unwrap();
        assert_eq!(encode(&text, &format).unwrap(), bytes);
        (text, format.charset.name())
    }

    #[test]
    fn utf8_comes_first_and_keeps_its_bom() {
        let (text, format) = decode(b"\xEF\xBB\xBFconst v = \"\xC3\xA9\";\r\n").unwrap();
        assert_eq!(text, "const v = \"é\";\r\n");
        assert_eq!(
            format,
            TextFormat {
                charset: Charset::Utf8,
                bom: true
            }
        );
        assert_eq!(encode("x", &format).unwrap(), b"\xEF\xBB\xBFx");
    }

    #[test]
    fn utf16_needs_a_bom() {
        let (text, format) = decode(b"\xFF\xFEa\0\n\0\x3d\xd8\x00\xde").unwrap();
        assert_eq!(text, "a\n😀");
        assert_eq!(
            encode(&text, &format).unwrap(),
            b"\xFF\xFEa\0\n\0\x3d\xd8\x00\xde"
        );
        assert_eq!(decode(b"\xFE\xFF\0a").unwrap().0, "a");
        assert_eq!(
            decode(b"a\0b\0"),
            Err(DecodeError::Binary {
                name: "NUL byte",
                offset: 1
            })
        );
        assert_eq!(decode(b"\xFF\xFEa"), Err(DecodeError::Unknown));
        assert_eq!(decode(b"\xFF\xFE\x00\xd8"), Err(DecodeError::Unknown));
    }

    #[test]
    fn legacy_encodings_are_guessed_and_give_their_bytes_back() {
        assert_eq!(
            legacy(b"let n = 4;\n# na\xEFve r\xF4le\n").0,
            "let n = 4;\n# naïve rôle\n"
        );
        let (japanese, _, _) = encoding_rs::SHIFT_JIS.encode("これは日本語の文章です。\n");
        assert_eq!(
            legacy(&japanese),
            ("これは日本語の文章です。\n".to_owned(), "Shift_JIS")
        );
        let (chinese, _, _) = GB18030.encode("这是一个中文文件，包含罕见字𠀀。\n");
        assert_eq!(legacy(&chinese).0, "这是一个中文文件，包含罕见字𠀀。\n");
    }

    #[test]
    fn what_is_not_plain_utf8_is_named() {
        let words = |bytes: &[u8]| {
            let (text, format) = decode(bytes).unwrap();
            format.words(&text)
        };
        assert_eq!(words(b"a\r\nb\r\n"), None);
        assert_eq!(words(b"\xEF\xBB\xBFa\n").as_deref(), Some("UTF-8 with BOM"));
        assert_eq!(
            words(b"\xFF\xFEa\0\r\0\n\0").as_deref(),
            Some("UTF-16LE, CRLF line endings")
        );
        assert_eq!(
            words(b"caf\xe9\r\nb\n").as_deref(),
            Some("windows-1252, mixed line endings")
        );
        assert_eq!(words(b"caf\xe9\n").as_deref(), Some("windows-1252"));
    }

    #[test]
    fn binary_is_seen_by_content() {
        assert_eq!(
            decode(b"text\0x"),
            Err(DecodeError::Binary {
                name: "NUL byte",
                offset: 4
            })
        );
        assert!(matches!(
            decode(b"\x1f\x8b\x08\x01\xff\xfe\x02"),
            Err(DecodeError::Binary { .. })
        ));
        assert!(decode(b"\xEF\xBB\xBF\xff").is_err());
        assert_eq!(decode(b"").unwrap(), (String::new(), TextFormat::default()));
    }

    #[test]
    fn a_character_that_the_encoding_lacks_is_named_with_its_line() {
        let format = TextFormat {
            charset: Charset::Legacy(encoding_rs::WINDOWS_1252),
            bom: false,
        };
        let error = encode("a\nb → c\n", &format).unwrap_err();
        assert_eq!((error.character, error.line), ('→', 2));
        assert!(
            error
                .to_string()
                .starts_with("line 2: windows-1252 has no → (U+2192)")
        );
    }

    proptest! {
        #[test]
        fn what_decodes_encodes_to_the_same_bytes(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            if let Ok((text, format)) = decode(&bytes) {
                prop_assert_eq!(encode(&text, &format).unwrap(), bytes);
            }
        }
    }
}
