//! Days and dates of the Gregorian calendar, in UTC.

/// Seconds of a day.
pub const DAY: i64 = 86_400;

/// Year, month and day of a number of days since 1970-01-01. Counts in years that begin in March, so
/// that the leap day is the last of its year.
pub fn civil(days: i64) -> (i64, u32, u32) {
    let since_march_0000 = days.saturating_add(719_468);
    let era = since_march_0000.div_euclid(146_097);
    let day_of_era = since_march_0000.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 {
        march_month + 3
    } else {
        march_month - 9
    };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (
        year,
        u32::try_from(month).unwrap_or(1),
        u32::try_from(day).unwrap_or(1),
    )
}

/// The number of days since 1970-01-01 of a date; a day beyond the end of its month runs into the next.
pub fn days(year: i64, month: u32, day: u32) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let march_month = (i64::from(month) + 9) % 12;
    let day_of_year = (153 * march_month + 2) / 5 + i64::from(day) - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

/// `YYYY-MM-DD` of a time in seconds since 1970, at `offset` minutes from UTC.
pub fn date(seconds: i64, offset: i32) -> String {
    let local = seconds.saturating_add(i64::from(offset) * 60);
    let (year, month, day) = civil(local.div_euclid(DAY));
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_days_are_one_another() {
        for day in (-800_000..800_000).step_by(17) {
            let (year, month, of_month) = civil(day);
            assert_eq!(days(year, month, of_month), day);
        }
        assert_eq!(civil(0), (1970, 1, 1));
        assert_eq!(civil(11_016), (2000, 2, 29));
        assert_eq!(date(1_709_251_199, 0), "2024-02-29");
        assert_eq!(date(1_709_251_199, 60), "2024-03-01");
        assert_eq!(date(-1, 0), "1969-12-31");
    }
}
