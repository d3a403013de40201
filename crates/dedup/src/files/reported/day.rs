//! Days of documents, from whatever a field writes.

use crate::keep::Key;

/// Milliseconds, and seconds, of a day.
const MILLISECONDS: f64 = 86_400_000.0;
const SECONDS: f64 = 86_400.0;
/// From here a number counts milliseconds since 1970 (this many are in March 1973), and below seconds (so many are in the year 5138).
const LEAST_MILLISECONDS: f64 = 1e11;

/// The day that a value says, counted from 1970-01-01: a date as `2026-11-24`, `2026/1/2`, `2026年1月2日` or `20261124`, whatever stands behind it;
/// seconds or milliseconds since 1970; a year, or a year and a month, of which the first day counts. Days are those of the date as it is
/// written: zones are not looked at.
pub(super) fn day_of(key: &Key) -> Option<i32> {
    match key {
        Key::Number(number) => day_of_number(*number),
        Key::Text(text) => day_of_text(text),
        Key::Missing | Key::Integer(_) => None,
    }
}

fn day_of_number(number: f64) -> Option<i32> {
    if !number.is_finite() || number < 1_000.0 {
        return None;
    }
    if number <= 9_999.0 {
        return day(number as i32, 1, 1);
    }
    if (10_000_101.0..=99_991_231.0).contains(&number) {
        let whole = number as i32;
        return day(whole / 10_000, whole / 100 % 100, whole % 100);
    }
    let days = if number >= LEAST_MILLISECONDS { number / MILLISECONDS } else { number / SECONDS };
    // The last day of the year 9999.
    Some(days).filter(|&days| days < 2_932_897.0).map(|days| days as i32)
}

fn day_of_text(text: &str) -> Option<i32> {
    let text = text.trim();
    let (year, rest) = digits(text)?;
    match year.len() {
        4 => {
            let part = |rest: &str| -> Option<(i32, String)> {
                let rest = rest.strip_prefix(['-', '/', '.', '年', '月'])?.trim_start();
                let (part, rest) = digits(rest).filter(|(part, _)| part.len() <= 2)?;
                Some((part.parse().ok()?, rest.to_owned()))
            };
            let year = year.parse().ok()?;
            let Some((month, rest)) = part(rest) else { return day(year, 1, 1) };
            day(year, month, part(&rest).map_or(1, |(day, _)| day))
        }
        _ => day_of_number(year.parse().ok()?),
    }
}

/// The digits that a text begins with, and the rest.
fn digits(text: &str) -> Option<(&str, &str)> {
    let end = text.bytes().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    (end > 0).then(|| text.split_at(end))
}

/// A date as a day; `None` where there is none, such as the 13th month, or the 31st of February.
fn day(year: i32, month: i32, day: i32) -> Option<i32> {
    if !(1_000..=9_999).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    // Years begin in March, so that the day of a leap year is the last: Hinnant, "chrono-compatible low-level date algorithms".
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let (era, of_era) = (year / 400, year % 400);
    let of_year = (153 * month + 2) / 5 + day - 1;
    let counted = era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468;
    // A day that its month does not have is one of the next.
    Some(counted).filter(|&counted| date_of(counted).2 == day)
}

/// Year, month and day.
pub(super) fn date_of(day: i32) -> (i32, i32, i32) {
    let days = day + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let (year, month) = if month < 10 { (year, month + 3) } else { (year + 1, month - 9) };
    (year + era * 400, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_to_write_a_day_is_that_day() {
        let day = |text: &str| day_of(&Key::Text(text.into())).map(date_of);
        for text in
            ["2026-11-24", "2026/11/24 08:00", "2026年11月24日", "20261124", "2026-11-24T23:59:59Z"]
        {
            assert_eq!(day(text), Some((2026, 11, 24)), "{text}");
        }
        assert_eq!(day("2026-2"), Some((2026, 2, 1)));
        assert_eq!(day("1999"), Some((1999, 1, 1)));
        for text in ["", "yesterday", "2026-13-01", "12-11-2026", "99999999999999999999"] {
            assert_eq!(day(text), None, "{text}");
        }
        for text in ["2026-02-31", "20260431", "2026年2月29日", "1900-02-29", "2026-01-00"] {
            assert_eq!(day(text), None, "{text}");
        }
        assert_eq!(day("2024-02-29"), Some((2024, 2, 29)));
        assert_eq!(day("2000-02-29"), Some((2000, 2, 29)));
        let number = |number: f64| day_of(&Key::Number(number)).map(date_of);
        assert_eq!(number(1_795_478_400.0), Some((2026, 11, 24)));
        assert_eq!(number(1_795_478_400_000.0), Some((2026, 11, 24)));
        assert_eq!(number(20_261_124.0), Some((2026, 11, 24)));
        assert_eq!(number(20_260_231.0), None);
        assert_eq!(number(f64::NAN), None);
        assert_eq!(number(-1.0), None);
    }

    #[test]
    fn days_and_dates_are_inverse() {
        for number in (-354_285..2_932_896).step_by(97) {
            let (year, month, of_month) = date_of(number);
            assert_eq!(day(year, month, of_month), Some(number));
        }
    }
}
