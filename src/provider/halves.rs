//! Letters cut in half.
//!
//! A server whose strings are UTF-16 may cut a reply inside a letter such as 😀 and write the halves as two
//! escapes, `\ud83d` here and `\ude00` in the next piece. Neither is JSON. Each half is carried through the
//! parser as a letter of the last private plane and joined with its neighbour behind it.

/// Where halves are put while they wait: U+D800 becomes U+10D800.
const PLANE: u32 = 0x10_0000;

/// JSON whose halves are whole letters; None when there is none in it.
pub(super) fn mended(json: &str) -> Option<String> {
    let mut out = String::new();
    let (mut done, mut at) = (0, 0);
    while let Some(found) = json.get(at..)?.find('\\') {
        let start = at + found;
        let Some(unit) = escape(json, start) else {
            // An escape of two letters, perhaps `\\`.
            at = start + 2;
            continue;
        };
        let pair = is_high(unit) && escape(json, start + 6).is_some_and(is_low);
        at = start + if pair { 12 } else { 6 };
        if !pair && (is_high(unit) || is_low(unit)) {
            out.push_str(json.get(done..start)?);
            out.push(char::from_u32(PLANE + unit)?);
            done = at;
        }
    }
    if done == 0 {
        return None;
    }
    out.push_str(json.get(done..)?);
    Some(out)
}

/// The code unit of `\uXXXX` at this place.
fn escape(json: &str, at: usize) -> Option<u32> {
    let digits = json.get(at..at + 6)?.strip_prefix("\\u")?;
    u32::from_str_radix(digits, 16).ok()
}

fn is_high(unit: u32) -> bool {
    (0xD800..0xDC00).contains(&unit)
}

fn is_low(unit: u32) -> bool {
    (0xDC00..0xE000).contains(&unit)
}

/// The half that a letter stands for.
fn half(letter: char) -> Option<u32> {
    let unit = u32::from(letter).checked_sub(PLANE)?;
    (is_high(unit) || is_low(unit)).then_some(unit)
}

/// Joins halves within a text, and over the pieces of one.
#[derive(Default)]
pub(super) struct Joiner {
    waiting: Option<u32>,
}

impl Joiner {
    /// The next piece with whole letters; a first half at its end is kept for the next one.
    pub(super) fn join(&mut self, piece: String) -> String {
        if self.waiting.is_none() && !piece.chars().any(|letter| half(letter).is_some()) {
            return piece;
        }
        let mut out = String::with_capacity(piece.len());
        for letter in piece.chars() {
            let unit = half(letter);
            match (self.waiting.take(), unit) {
                (Some(high), Some(low)) if is_low(low) => {
                    let joined = 0x1_0000 + ((high - 0xD800) << 10) + (low - 0xDC00);
                    out.push(char::from_u32(joined).unwrap_or(char::REPLACEMENT_CHARACTER));
                    continue;
                }
                (Some(_), _) => out.push(char::REPLACEMENT_CHARACTER),
                (None, _) => {}
            }
            match unit {
                Some(unit) if is_high(unit) => self.waiting = Some(unit),
                Some(_) => out.push(char::REPLACEMENT_CHARACTER),
                None => out.push(letter),
            }
        }
        out
    }

    /// A text that no other piece follows.
    pub(super) fn whole(text: String) -> String {
        let mut joiner = Self::default();
        let mut text = joiner.join(text);
        if joiner.waiting.is_some() {
            text.push(char::REPLACEMENT_CHARACTER);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Option<String> {
        serde_json::from_str(&mended(json)?).ok()
    }

    #[test]
    fn only_halves_are_mended() {
        for whole in [
            r#""a""#,
            r#""\ud83d\ude00""#,
            r#""\\ud83d""#,
            r#""\n\\""#,
            r#""é\u00e9""#,
            "\\",
        ] {
            assert_eq!(mended(whole), None, "{whole}");
        }
        assert_eq!(read(r#""a\ud83d""#).unwrap(), "a\u{10d83d}");
        assert_eq!(read(r#""\ud83d\ud83d\ude00b""#).unwrap(), "\u{10d83d}\u{1f600}b");
    }

    #[test]
    fn halves_find_each_other() {
        let mut joiner = Joiner::default();
        let pieces = ["a\u{10d83d}", "\u{10de00}b", "\u{10de00}", "\u{10d83d}", "c"];
        let joined: Vec<String> = pieces.iter().map(|piece| joiner.join((*piece).into())).collect();
        assert_eq!(joined, ["a", "\u{1f600}b", "\u{fffd}", "", "\u{fffd}c"]);
        assert_eq!(
            Joiner::whole("\u{10d83d}\u{10de00}\u{10d83d}".into()),
            "\u{1f600}\u{fffd}"
        );
    }
}
