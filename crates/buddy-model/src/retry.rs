//! Retry decisions. Pure: attempts, delays and a random number in, a decision out.

use std::time::{Duration, SystemTime};

use crate::error::Retry;
use crate::{ModelError, ModelErrorKind};

/// The first delay if the server names none; doubles each time.
const FIRST_DELAY: Duration = Duration::from_millis(200);

/// The maximum delay if the server names none. A server may ask for more, within the budget.
const MAX_DELAY: Duration = Duration::from_secs(30);

/// The number of retries for a server that is overloaded or rate limiting. With buddy's own delays that takes
/// five minutes; it also bounds a server that keeps naming short delays.
const OVERLOAD_RETRIES: u32 = 17;

/// The maximum jitter of a delay, so that many clients do not come back at once.
const JITTER: f64 = 0.1;

/// Seconds since 1970 (in 2001) below which a number in a header is a time span instead.
const EARLIEST_TIMESTAMP: f64 = 1e9;

/// The retries of one call so far.
#[derive(Debug)]
pub(crate) struct Retries {
    /// Retries made.
    made: u32,
    /// Retries allowed.
    allowed: u32,
    /// The remaining waiting time of this call.
    budget: Duration,
}

impl Retries {
    pub(crate) fn new(allowed: u32, budget: Duration) -> Self {
        Self { made: 0, allowed, budget }
    }

    /// Counts a retry and returns the delay before it, or `None` if the error is final. `random` is in
    /// `0..1`.
    pub(crate) fn next(&mut self, error: &ModelError, random: f64) -> Option<Duration> {
        let delay = match error.retry {
            Retry::Never => return None,
            Retry::Soon => backoff(self.made, random),
            Retry::After(delay) => delay,
        };
        // Overloads pass within minutes; an unreachable server is more likely not running.
        let is_patient = matches!(error.kind, ModelErrorKind::Overloaded | ModelErrorKind::RateLimit);
        let allowed =
            if is_patient && self.allowed > 0 { OVERLOAD_RETRIES.max(self.allowed) } else { self.allowed };
        if self.made >= allowed {
            return None;
        }
        self.budget = self.budget.checked_sub(delay)?;
        self.made += 1;
        Some(delay)
    }

    /// Retries made.
    pub(crate) fn made(&self) -> u32 {
        self.made
    }
}

fn backoff(made: u32, random: f64) -> Duration {
    let delay = FIRST_DELAY.saturating_mul(1_u32.checked_shl(made).unwrap_or(u32::MAX)).min(MAX_DELAY);
    delay.mul_f64(1.0 + JITTER * random.clamp(0.0, 1.0))
}

/// The delay that a response asks for: `retry-after-ms`, else `retry-after` in seconds or as a date. A date
/// is compared with the response's own `date`, so that a wrong clock on either side does not matter; without
/// `date` it is ignored.
pub(crate) fn delay_in_headers<'a>(header: impl Fn(&str) -> Option<&'a str>) -> Option<Duration> {
    if let Some(milliseconds) = header("retry-after-ms").and_then(|text| text.trim().parse::<f64>().ok()) {
        return Duration::try_from_secs_f64(milliseconds / 1000.0).ok();
    }
    let text = header("retry-after")?.trim();
    if let Ok(seconds) = text.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let until = httpdate::parse_http_date(text).ok()?;
    let now = httpdate::parse_http_date(header("date")?.trim()).ok()?;
    Some(until.duration_since(now).unwrap_or_default())
}

/// The delay until a rate limit resets, by the `x-ratelimit-reset…` headers: a time span (`1.2s`, `6m0s`,
/// `20ms`, bare seconds) or a point in time, which is compared with the response's own `date`. Of several
/// limits the exhausted ones count; if none is reported exhausted, the first to reset.
pub(crate) fn reset_in_headers<'a>(header: impl Fn(&str) -> Option<&'a str>) -> Option<Duration> {
    let now = header("date").and_then(|date| httpdate::parse_http_date(date.trim()).ok());
    let limits: Vec<(Duration, bool)> = ["", "-requests", "-tokens"]
        .into_iter()
        .filter_map(|limit| {
            let reset = time_span(header(&format!("x-ratelimit-reset{limit}"))?.trim(), now)?;
            let left = header(&format!("x-ratelimit-remaining{limit}"));
            Some((reset, left.is_some_and(|left| left.trim() == "0")))
        })
        .collect();
    let used_up = limits.iter().filter(|(_, is_used_up)| *is_used_up).map(|(reset, _)| *reset).max();
    used_up.or_else(|| limits.iter().map(|(reset, _)| *reset).min())
}

/// A time span as rate limit headers write it; a number too large for one is a time since 1970.
fn time_span(text: &str, now: Option<SystemTime>) -> Option<Duration> {
    if let Ok(number) = text.parse::<f64>() {
        if number < EARLIEST_TIMESTAMP {
            return Duration::try_from_secs_f64(number).ok();
        }
        let seconds = if number >= EARLIEST_TIMESTAMP * 1000.0 { number / 1000.0 } else { number };
        let until = SystemTime::UNIX_EPOCH + Duration::try_from_secs_f64(seconds).ok()?;
        return Some(until.duration_since(now?).unwrap_or_default());
    }
    let (mut sum, mut rest) = (Duration::ZERO, text);
    while !rest.is_empty() {
        let unit = rest.find(|letter: char| !(letter.is_ascii_digit() || letter == '.'))?;
        let (number, tail) = rest.split_at_checked(unit)?;
        let end = tail.find(|letter: char| letter.is_ascii_digit()).unwrap_or(tail.len());
        let (unit, tail) = tail.split_at_checked(end)?;
        let scale = match unit {
            "ms" => 0.001,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3600.0,
            "d" => 86_400.0,
            _ => return None,
        };
        let span = Duration::try_from_secs_f64(number.parse::<f64>().ok()? * scale).ok()?;
        sum = sum.checked_add(span)?;
        rest = tail;
    }
    (!text.is_empty()).then_some(sum)
}

/// The delay that a message states in words: "try again in 1.5s", "in 200 ms", "retry after 3 seconds".
pub(crate) fn delay_in_text(message: &str) -> Option<Duration> {
    let lower = message.to_lowercase();
    let (_, rest) = lower.split_once("try again in ").or_else(|| lower.split_once("retry after "))?;
    let number: String =
        rest.chars().take_while(|letter| letter.is_ascii_digit() || *letter == '.').collect();
    let unit = rest.trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == '.').trim_start();
    let number: f64 = number.trim_end_matches('.').parse().ok()?;
    let scale = if unit.starts_with("ms") || unit.starts_with("milli") {
        0.001
    } else if unit.starts_with('m') {
        60.0
    } else if unit.starts_with('h') {
        3600.0
    } else {
        1.0
    };
    Duration::try_from_secs_f64(number * scale).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ModelErrorKind;

    fn error(retry: Retry) -> ModelError {
        ModelError::new(ModelErrorKind::Overloaded, "busy").with_retry(retry)
    }

    #[test]
    fn our_own_pace_doubles_and_is_capped() {
        let delays: Vec<u128> = (0..10).map(|made| backoff(made, 0.0).as_millis()).collect();
        assert_eq!(delays, [200, 400, 800, 1600, 3200, 6400, 12800, 25600, 30000, 30000]);
        assert_eq!(backoff(0, 1.0).as_millis(), 220);
        assert_eq!(backoff(1000, 0.0), MAX_DELAY);
    }

    #[test]
    fn retries_are_counted_and_budgeted() {
        let mut retries = Retries::new(2, Duration::from_secs(10));
        let broken = || ModelError::new(ModelErrorKind::Transport, "gone").with_retry(Retry::Soon);
        assert_eq!(retries.next(&error(Retry::Never), 0.0), None);
        assert_eq!(retries.next(&error(Retry::After(Duration::from_secs(11))), 0.0), None);
        assert_eq!(retries.next(&broken(), 0.0), Some(Duration::from_millis(200)));
        assert_eq!(retries.next(&error(Retry::After(Duration::ZERO)), 0.0), Some(Duration::ZERO));
        assert_eq!(retries.next(&broken(), 0.0), None);
        assert_eq!(retries.made(), 2);
    }

    #[test]
    fn an_overload_is_waited_out_for_minutes_and_not_for_ever() {
        let waits = |mut retries: Retries, retry: Retry| -> Vec<Duration> {
            std::iter::from_fn(|| retries.next(&error(retry), 0.0)).collect()
        };
        let settings = crate::Settings::default();
        let usual = || Retries::new(settings.retries, settings.retry_budget);
        let total: Duration = waits(usual(), Retry::Soon).iter().sum();
        assert!((Duration::from_mins(4)..=settings.retry_budget).contains(&total), "{total:?}");
        assert_eq!(waits(usual(), Retry::After(Duration::ZERO)).len(), OVERLOAD_RETRIES as usize);
        assert!(waits(Retries::new(0, settings.retry_budget), Retry::Soon).is_empty(), "none allowed");
    }

    fn in_headers(headers: &[(&str, &'static str)]) -> Option<u128> {
        let find = |name: &str| headers.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
        delay_in_headers(find).map(|delay| delay.as_millis())
    }

    #[test]
    fn delays_in_headers() {
        assert_eq!(in_headers(&[("retry-after", "3")]), Some(3000));
        assert_eq!(in_headers(&[("retry-after", "9"), ("retry-after-ms", "40")]), Some(40));
        let date = ("date", "Wed, 21 Oct 2026 07:28:00 GMT");
        assert_eq!(in_headers(&[("retry-after", "Wed, 21 Oct 2026 07:28:05 GMT"), date]), Some(5000));
        assert_eq!(in_headers(&[("retry-after", "Wed, 21 Oct 2026 07:27:05 GMT"), date]), Some(0));
        assert_eq!(in_headers(&[("retry-after", "Wed, 21 Oct 2026 07:28:05 GMT")]), None);
        assert_eq!(in_headers(&[("retry-after", "-3")]), None);
        assert_eq!(in_headers(&[("retry-after", "soon")]), None);
        assert_eq!(in_headers(&[]), None);
    }

    #[test]
    fn resets_of_rate_limits() {
        let check = |headers: &[(&str, &'static str)]| {
            let find = |name: &str| headers.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
            reset_in_headers(find).map(|delay| delay.as_millis())
        };
        assert_eq!(check(&[("x-ratelimit-reset", "2")]), Some(2000));
        assert_eq!(check(&[("x-ratelimit-reset-tokens", "6m0.5s")]), Some(360_500));
        assert_eq!(check(&[("x-ratelimit-reset-requests", "20ms")]), Some(20));
        let both = [("x-ratelimit-reset-requests", "1s"), ("x-ratelimit-reset-tokens", "1m")];
        assert_eq!(check(&both), Some(1000));
        assert_eq!(check(&[both[0], both[1], ("x-ratelimit-remaining-tokens", "0")]), Some(60_000));
        let date = ("date", "Sun, 09 Sep 2001 01:46:40 GMT");
        assert_eq!(check(&[("x-ratelimit-reset", "1000000003"), date]), Some(3000));
        assert_eq!(check(&[("x-ratelimit-reset", "1000000003000"), date]), Some(3000));
        assert_eq!(check(&[("x-ratelimit-reset", "1000000003")]), None);
        for nonsense in ["", "soon", "1", "3 x", "5s5", "-1s", "1e400"] {
            let expected = if nonsense == "1" { Some(1000) } else { None };
            assert_eq!(check(&[("x-ratelimit-reset", nonsense)]), expected, "{nonsense}");
        }
    }

    #[test]
    fn delays_in_words() {
        let check = |text: &str| delay_in_text(text).map(|delay| delay.as_millis());
        assert_eq!(check("Rate limit reached. Please try again in 1.5s."), Some(1500));
        assert_eq!(check("Please try again in 200ms."), Some(200));
        assert_eq!(check("try again in 2 minutes"), Some(120_000));
        assert_eq!(check("Retry after 3 seconds"), Some(3000));
        assert_eq!(check("try again in a moment"), None);
        assert_eq!(check("try again later"), None);
    }
}
