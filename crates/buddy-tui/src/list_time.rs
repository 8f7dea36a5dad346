//! Moments: as people say them in a list, and as the clock shows them.

use buddy_protocol::UnixMillis;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;
/// Up to so many days a date has its weekday.
const WEEK_DAYS: i64 = 7;

/// A moment relative to now: `4 min ago`, `2 h ago`, `yesterday`, `Fri 13 Nov`, `9 Nov`, `in 29 days`.
pub(crate) fn describe_moment(time: UnixMillis, now: UnixMillis) -> String {
    relative(time, now, &TimeZone::system())
}

fn relative(time: UnixMillis, now: UnixMillis, zone: &TimeZone) -> String {
    let seconds = now.0.abs_diff(time.0) / 1_000;
    if time.0 > now.0 {
        return ahead(seconds);
    }
    let (then, today) = (zoned(time, zone), zoned(now, zone));
    let days = then.date().until(today.date()).map_or(0, |span| i64::from(span.get_days()));
    match seconds {
        0..MINUTE => "just now".to_owned(),
        MINUTE..HOUR => format!("{} min ago", seconds / MINUTE),
        _ if days == 0 => format!("{} h ago", seconds / HOUR),
        _ if days == 1 => "yesterday".to_owned(),
        _ if days < WEEK_DAYS => then.strftime("%a %-d %b").to_string(),
        _ if then.year() == today.year() => then.strftime("%-d %b").to_string(),
        _ => then.strftime("%-d %b %Y").to_string(),
    }
}

fn ahead(seconds: u64) -> String {
    match seconds {
        0..MINUTE => "in a minute".to_owned(),
        MINUTE..HOUR => format!("in {} min", seconds / MINUTE),
        HOUR..DAY => format!("in {} h", seconds / HOUR),
        _ if seconds < 2 * DAY => "in 1 day".to_owned(),
        _ => format!("in {} days", seconds / DAY),
    }
}

/// The time from a moment to now: `40s`, `12m`, `1h 02m`, `3d 4h`.
pub(crate) fn describe_time_since(time: UnixMillis, now: UnixMillis) -> String {
    let seconds = now.0.saturating_sub(time.0) / 1_000;
    match seconds {
        0..MINUTE => format!("{seconds}s"),
        MINUTE..HOUR => format!("{}m", seconds / MINUTE),
        HOUR..DAY => format!("{}h {:02}m", seconds / HOUR, seconds % HOUR / MINUTE),
        _ => format!("{}d {}h", seconds / DAY, seconds % DAY / HOUR),
    }
}

/// A moment as the clock on the wall shows it.
pub(crate) fn describe_local_time(UnixMillis(millis): UnixMillis) -> String {
    let millis = i64::try_from(millis).unwrap_or(i64::MAX);
    let time = Timestamp::from_millisecond(millis).unwrap_or(Timestamp::UNIX_EPOCH);
    time.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string()
}

fn zoned(UnixMillis(millis): UnixMillis, zone: &TimeZone) -> Zoned {
    let millis = i64::try_from(millis).unwrap_or(i64::MAX);
    Timestamp::from_millisecond(millis).unwrap_or(Timestamp::UNIX_EPOCH).to_zoned(zone.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> UnixMillis {
        UnixMillis(u64::try_from(text.parse::<Timestamp>().unwrap().as_millisecond()).unwrap())
    }

    #[test]
    fn moments_are_told_from_now() {
        let now = at("2026-11-17T17:00:00Z");
        let check = |time: &str, told: &str| assert_eq!(relative(at(time), now, &TimeZone::UTC), told);
        check("2026-11-17T16:59:30Z", "just now");
        check("2026-11-17T16:56:00Z", "4 min ago");
        check("2026-11-17T14:30:00Z", "2 h ago");
        check("2026-11-16T23:00:00Z", "yesterday");
        check("2026-11-13T10:00:00Z", "Fri 13 Nov");
        check("2026-11-09T10:00:00Z", "9 Nov");
        check("2025-11-09T10:00:00Z", "9 Nov 2025");
        check("2026-11-17T17:30:00Z", "in 30 min");
        check("2026-12-16T18:00:00Z", "in 29 days");
    }

    #[test]
    fn spans_have_two_units_at_most() {
        let now = UnixMillis(1_000_000_000);
        let check = |seconds: u64, told: &str| {
            assert_eq!(describe_time_since(UnixMillis(now.0 - seconds * 1_000), now), told);
        };
        check(4, "4s");
        check(720, "12m");
        check(3_720, "1h 02m");
        check(100_000, "1d 3h");
    }
}
