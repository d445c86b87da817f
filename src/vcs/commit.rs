//! A commit's words: who, when and what, as text whatever they were written in.

use encoding_rs::Encoding;
use git2::{Mailmap, ObjectType, Oid, Signature, Time};

use crate::fs::calendar::{DAY, civil, date};
use crate::vcs::error::VcsError;
use crate::vcs::store::Store;

/// Who did something, and when.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Who {
    /// The name.
    pub name: String,
    /// The address.
    pub email: String,
    /// Seconds since 1970.
    pub time: i64,
    /// Minutes that the clock was ahead of UTC.
    pub offset: i32,
}

impl Who {
    /// `YYYY-MM-DD` where it was done.
    pub fn day(&self) -> String {
        date(self.time, self.offset)
    }

    /// `YYYY-MM-DD` in UTC.
    pub fn utc_day(&self) -> String {
        date(self.time, 0)
    }

    /// As git prints a date: `Fri Feb 13 23:31:30 2009 +0000`.
    pub fn date(&self) -> String {
        const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
        const MONTHS: [&str; 12] = [
            "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
        ];
        let local = self.time.saturating_add(i64::from(self.offset) * 60);
        let (days, of_day) = (local.div_euclid(DAY), local.rem_euclid(DAY));
        let (year, month, day) = civil(days);
        let name = |names: &[&'static str], at: i64| {
            usize::try_from(at)
                .ok()
                .and_then(|at| names.get(at).copied())
                .unwrap_or("")
        };
        format!(
            "{} {} {day} {:02}:{:02}:{:02} {year} {}{:02}{:02}",
            name(&DAYS, days.rem_euclid(7)),
            name(&MONTHS, i64::from(month) - 1),
            of_day / 3600,
            of_day / 60 % 60,
            of_day % 60,
            if self.offset < 0 { '-' } else { '+' },
            self.offset.abs() / 60,
            self.offset.abs() % 60
        )
    }
}

/// A commit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Words {
    /// Who wrote it.
    pub author: Who,
    /// Who committed it.
    pub committer: Who,
    /// The whole message.
    pub message: String,
}

impl Words {
    /// The first paragraph of the message in one line.
    pub fn subject(&self) -> String {
        let lines = self.message.lines().map(str::trim);
        let first = lines
            .skip_while(|line| line.is_empty())
            .take_while(|line| !line.is_empty());
        first.collect::<Vec<_>>().join(" ")
    }
}

/// Reads commits' words, with the names of the repository's mailmap.
pub struct Reader<'a> {
    store: &'a Store,
    mailmap: Option<Mailmap>,
}

impl<'a> Reader<'a> {
    /// For this repository.
    pub fn new(store: &'a Store) -> Self {
        Self {
            mailmap: store.git().mailmap().ok(),
            store,
        }
    }

    /// The words of a commit.
    ///
    /// # Errors
    /// [`VcsError::Missing`], and [`VcsError::Kind`] for what is no commit.
    pub fn read(&self, id: Oid) -> Result<Words, VcsError> {
        let words = self
            .store
            .object(id, |kind, data| (kind == ObjectType::Commit).then(|| words(data)))?;
        let mut words = words.ok_or_else(|| VcsError::Kind(format!("The object {id} is not a commit.")))?;
        self.rename(&mut words.author);
        self.rename(&mut words.committer);
        Ok(words)
    }

    /// Gives a person the name that the mailmap has.
    fn rename(&self, who: &mut Who) {
        let Some(mailmap) = &self.mailmap else { return };
        let signature = Signature::new(&who.name, &who.email, &Time::new(0, 0));
        let Ok(mapped) = signature.and_then(|signature| mailmap.resolve_signature(&signature)) else {
            return;
        };
        who.name = String::from_utf8_lossy(mapped.name_bytes()).into_owned();
        who.email = String::from_utf8_lossy(mapped.email_bytes()).into_owned();
    }
}

fn words(data: &[u8]) -> Words {
    let end = data.windows(2).position(|pair| pair == b"\n\n");
    let (head, message) = match end {
        Some(at) => data.split_at(at),
        None => (data, &b""[..]),
    };
    let message = message.get(2..).unwrap_or_default();
    let field = |name: &[u8]| {
        head.split(|byte| *byte == b'\n')
            .find_map(|line| line.strip_prefix(name))
    };
    let encoding = field(b"encoding ").and_then(Encoding::for_label);
    let text = |bytes: &[u8]| match (std::str::from_utf8(bytes), encoding) {
        (Ok(text), None) => text.to_owned(),
        (_, Some(encoding)) => encoding.decode_without_bom_handling(bytes).0.into_owned(),
        (Err(_), None) => String::from_utf8_lossy(bytes).into_owned(),
    };
    Words {
        author: who(&text(field(b"author ").unwrap_or_default())),
        committer: who(&text(field(b"committer ").unwrap_or_default())),
        message: text(message),
    }
}

/// `Name <address> seconds zone`; what is missing is empty.
fn who(line: &str) -> Who {
    let (name, rest) = line.split_once('<').unwrap_or((line, ""));
    let (email, when) = rest.rsplit_once('>').unwrap_or((rest, ""));
    let mut when = when.split_whitespace();
    let time = when.next().and_then(|seconds| seconds.parse().ok()).unwrap_or(0);
    let zone: i32 = when.next().and_then(|zone| zone.parse().ok()).unwrap_or(0);
    let zone = if zone.abs() < 10_000 { zone } else { 0 };
    Who {
        name: name.trim().to_owned(),
        email: email.trim().to_owned(),
        time,
        offset: zone / 100 * 60 + zone % 100,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_in_another_encoding_and_without_a_time() {
        let data = b"tree 0\nauthor J\xf6rg <j@x> 1234567890 -0130\ncommitter\nencoding ISO-8859-1\n\n\ngr\xfc\xdfe\nzwei\n\nrest\n";
        let words = words(data);
        assert_eq!(words.author.name, "Jörg");
        assert_eq!((words.author.time, words.author.offset), (1_234_567_890, -90));
        assert_eq!(words.author.date(), "Fri Feb 13 22:01:30 2009 -0130");
        assert_eq!(words.committer, Who::default());
        assert_eq!(words.subject(), "grüße zwei");
    }
}
