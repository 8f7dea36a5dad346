//! Times, numbers and costs, as people say them.

use std::time::Duration;

use buddy_protocol::MicroUsd;

/// A time as people say it.
pub fn describe_elapsed(time: Duration) -> String {
    let seconds = time.as_secs();
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds}s"),
        (0, minutes, seconds) => format!("{minutes}m {seconds:02}s"),
        (hours, minutes, _) => format!("{hours}h {minutes:02}m"),
    }
}

/// So many seconds in the largest unit that has no rest.
pub(crate) fn describe_span(seconds: u64) -> String {
    match (seconds % 3600, seconds % 60) {
        (0, _) if seconds > 0 => format!("{} h", seconds / 3600),
        (_, 0) => format!("{} min", seconds / 60),
        _ => format!("{seconds} s"),
    }
}

/// A time such as `90s`, `10m`, `2h` or `3d`.
pub(crate) fn read_seconds(text: &str) -> Option<u64> {
    let text = text.trim();
    let (number, unit) = text.split_at(text.find(|character: char| !character.is_ascii_digit())?);
    let unit = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 60 * 60,
        "d" => 24 * 60 * 60,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(unit).filter(|seconds| *seconds > 0)
}

/// A number with few digits.
pub(crate) fn shorten_number(number: u64) -> String {
    match number {
        0..1_000 => number.to_string(),
        1_000..1_000_000 => format!("{}.{}k", number / 1_000, number % 1_000 / 100),
        _ => format!("{}.{}M", number / 1_000_000, number % 1_000_000 / 100_000),
    }
}

/// A cost in cents, as it is read at a glance. `/cost` has all digits.
pub(crate) fn describe_price(cost: MicroUsd) -> String {
    match cost.0 {
        0..10_000 => "<$0.01".to_owned(),
        _ => format!("${:.2}", cost.dollars()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_are_told_in_cents() {
        let shown: Vec<String> =
            [1, 9_999, 10_000, 424_000, 12_340_000].map(|cost| describe_price(MicroUsd(cost))).to_vec();
        assert_eq!(shown, ["<$0.01", "<$0.01", "$0.01", "$0.42", "$12.34"]);
    }

    #[test]
    fn numbers_are_short() {
        let shown: Vec<String> = [7, 999, 1_234, 45_678, 2_340_000].into_iter().map(shorten_number).collect();
        assert_eq!(shown, ["7", "999", "1.2k", "45.6k", "2.3M"]);
    }

    #[test]
    fn times_are_read() {
        assert_eq!(read_seconds("90s"), Some(90));
        assert_eq!(read_seconds("2h"), Some(7_200));
        for bad in ["", "10", "m", "0m", "5y", "99999999999999999999s"] {
            assert_eq!(read_seconds(bad), None, "{bad}");
        }
    }
}
