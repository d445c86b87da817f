//! Dates as they are written for `since`.

use crate::fs::calendar::{DAY, civil, days};
use crate::vcs::error::VcsError;

const HELP: &str = "Write 2024-05-31, 2024-05-31T12:00, 2 weeks ago, yesterday, or @ and seconds since 1970";
const UNITS: [(&str, Unit); 7] = [
    ("second", Unit::Seconds(1)),
    ("minute", Unit::Seconds(60)),
    ("hour", Unit::Seconds(3_600)),
    ("day", Unit::Seconds(DAY)),
    ("week", Unit::Seconds(7 * DAY)),
    ("month", Unit::Months(1)),
    ("year", Unit::Months(12)),
];
const WEEKDAYS: [&str; 7] = [
    "thursday",
    "friday",
    "saturday",
    "sunday",
    "monday",
    "tuesday",
    "wednesday",
];
const NUMBERS: [&str; 11] = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
];

#[derive(Clone, Copy)]
enum Unit {
    Seconds(i64),
    Months(i64),
}

/// The time that `written` means, in seconds since 1970; `now` likewise. Without a zone it is UTC; a day alone
/// begins at midnight.
///
/// # Errors
/// [`VcsError::Argument`] that says what can be written.
pub fn parse(written: &str, now: i64) -> Result<i64, VcsError> {
    let text = written.trim().to_ascii_lowercase();
    let found = absolute(&text).or_else(|| relative(&text, now));
    found.ok_or_else(|| {
        let shown: String = written.chars().take(60).collect();
        VcsError::Argument(format!("`{}` is not a date. {HELP}.", shown.escape_debug()))
    })
}

fn absolute(text: &str) -> Option<i64> {
    if let Some(seconds) = text.strip_prefix('@') {
        return seconds.split_whitespace().next()?.parse().ok();
    }
    let (day, rest) = match text.find(['t', ' ']) {
        Some(at) => text.split_at(at),
        None => (text, ""),
    };
    let mut parts = day.split(['-', '/', '.']);
    let mut number = || parts.next()?.parse::<u32>().ok();
    let (year, month, of_month) = (number()?, number()?, number()?);
    let fits = (1_000..=9_999).contains(&year) && (1..=12).contains(&month) && (1..=31).contains(&of_month);
    if !fits || parts.next().is_some() {
        return None;
    }
    let start = days(i64::from(year), month, of_month) * DAY;
    let rest = rest.trim_start_matches(['t', ' ']);
    if rest.is_empty() {
        return Some(start);
    }
    let (clock, zone) = match rest.find(['z', '+', '-']) {
        Some(at) => rest.split_at(at),
        None => (rest, ""),
    };
    Some(start + clock_seconds(clock.trim())? - zone_seconds(zone)?)
}

fn clock_seconds(clock: &str) -> Option<i64> {
    let mut parts = clock.split(':');
    let hours: u32 = parts.next()?.parse().ok()?;
    let minutes: u32 = parts.next()?.parse().ok()?;
    let seconds = parts
        .next()
        .map_or(Some(0.0), |seconds| seconds.parse::<f64>().ok())?;
    let fits = hours < 24 && minutes < 60 && (0.0..61.0).contains(&seconds) && parts.next().is_none();
    #[allow(clippy::cast_possible_truncation, reason = "it is below 61")]
    fits.then_some(i64::from(hours) * 3_600 + i64::from(minutes) * 60 + seconds as i64)
}

fn zone_seconds(zone: &str) -> Option<i64> {
    let (sign, digits) = match zone.split_at_checked(1) {
        None => return Some(0),
        Some(("z", "")) => return Some(0),
        Some(("+", digits)) => (1, digits.replace(':', "")),
        Some(("-", digits)) => (-1, digits.replace(':', "")),
        Some(_) => return None,
    };
    let number: i64 = digits.parse().ok()?;
    match digits.len() {
        2 => Some(sign * number * 3_600),
        4 => Some(sign * (number / 100 * 3_600 + number % 100 * 60)),
        _ => None,
    }
}

fn relative(text: &str, now: i64) -> Option<i64> {
    let midnight = now.div_euclid(DAY) * DAY;
    let words: Vec<&str> = text
        .split([' ', '.', ',', '_', '-'])
        .filter(|word| !word.is_empty() && *word != "ago" && *word != "and")
        .collect();
    match words.as_slice() {
        ["now"] => Some(now),
        ["today" | "midnight"] => Some(midnight),
        ["yesterday"] => Some(now - DAY),
        ["last", unit] if unit_of(unit).is_some() => back(now, 1, unit_of(unit)?),
        [day] | ["last", day] => {
            let wanted = WEEKDAYS
                .iter()
                .position(|name| name == day || name.get(..3) == Some(day))?;
            let today = now.div_euclid(DAY).rem_euclid(7);
            let ago = (today - i64::try_from(wanted).ok()?).rem_euclid(7);
            let ago = if ago == 0 { 7 } else { ago };
            Some(now - ago * DAY)
        }
        pairs if pairs.len() % 2 == 0 && !pairs.is_empty() => {
            let mut time = now;
            for pair in pairs.chunks_exact(2) {
                let [count, unit] = pair else { return None };
                time = back(time, count_of(count)?, unit_of(unit)?)?;
            }
            Some(time)
        }
        _ => None,
    }
}

fn count_of(word: &str) -> Option<i64> {
    if let Ok(count) = word.parse::<u32>() {
        return Some(i64::from(count));
    }
    if matches!(word, "a" | "an") {
        return Some(1);
    }
    NUMBERS
        .iter()
        .position(|name| *name == word)
        .and_then(|at| i64::try_from(at).ok())
}

fn unit_of(word: &str) -> Option<Unit> {
    let word = word.strip_suffix('s').unwrap_or(word);
    let found = UNITS
        .iter()
        .find(|(name, _)| *name == word || *name == "minute" && word == "min");
    found.map(|(_, unit)| *unit)
}

fn back(time: i64, count: i64, unit: Unit) -> Option<i64> {
    match unit {
        Unit::Seconds(seconds) => time.checked_sub(count.checked_mul(seconds)?),
        Unit::Months(months) => {
            let (year, month, day) = civil(time.div_euclid(DAY));
            let all = year * 12 + i64::from(month) - 1 - count.checked_mul(months)?;
            let (year, month) = (all.div_euclid(12), u32::try_from(all.rem_euclid(12)).ok()? + 1);
            (year > -100_000).then(|| days(year, month, day) * DAY + time.rem_euclid(DAY))
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Friday, 2024-05-31 12:00 UTC.
    const NOW: i64 = 1_717_156_800;

    #[test]
    fn dates_of_many_kinds() {
        for (written, ago) in [
            ("now", 0),
            ("2024-05-31", 12 * 3_600),
            ("2024-05-31 12:00", 0),
            ("2024-05-31T14:00:00+02:00", 0),
            ("2024-05-31T12:00:00.5Z", 0),
            ("2024/05/30", 36 * 3_600),
            ("@1717156800", 0),
            ("2 weeks ago", 14 * DAY),
            ("2.weeks.ago", 14 * DAY),
            ("a day ago", DAY),
            ("1 day 2 hours ago", DAY + 7_200),
            ("yesterday", DAY),
            ("today", 12 * 3_600),
            ("last week", 7 * DAY),
            ("monday", 4 * DAY),
            ("last friday", 7 * DAY),
            ("1 year ago", 366 * DAY),
            ("3 months", 90 * DAY),
        ] {
            assert_eq!(
                parse(written, NOW).map(|time| NOW - time).unwrap(),
                ago,
                "{written}"
            );
        }
        for bad in [
            "",
            "soon",
            "2024-13-01",
            "2024-05-31 25:00",
            "3 apples ago",
            "--all",
        ] {
            let error = parse(bad, NOW).unwrap_err().to_string();
            assert!(error.contains("2 weeks ago"), "{error}");
        }
    }

    proptest! {
        #[test]
        fn no_text_breaks_it(text in "\\PC{0,40}", now in -1_000_000_000_000i64..1_000_000_000_000) {
            let _ = parse(&text, now);
        }

        #[test]
        fn numbers_and_units_do_not_overflow(count in any::<u64>(), unit in 0usize..7) {
            let _ = parse(&format!("{count} {}s ago", UNITS[unit].0), NOW);
        }
    }
}
