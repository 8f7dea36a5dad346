//! A duration as people write it: `90s`, `10m`, `2d`, or a plain number of seconds.

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A duration in the configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WaitTime(pub(crate) Duration);

impl WaitTime {
    pub(crate) const fn seconds(seconds: u64) -> Self {
        Self(Duration::from_secs(seconds))
    }

    /// Reads one.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        if let Ok(seconds) = text.parse::<f64>() {
            return Duration::try_from_secs_f64(seconds).map(Self).map_err(|error| error.to_string());
        }
        // A day has 24 hours here, whatever the clocks do.
        let in_days =
            || text.parse::<jiff::Span>().ok()?.to_duration(jiff::SpanRelativeTo::days_are_24_hours()).ok();
        let duration = text.parse::<jiff::SignedDuration>().ok().or_else(in_days);
        let duration = duration.ok_or("not a duration such as `90s`, `10m` or `2d`")?;
        Duration::try_from(duration).map(Self).map_err(|_| "a duration cannot be negative".to_owned())
    }
}

impl Serialize for WaitTime {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let seconds = self.0.as_secs_f64();
        serializer.serialize_str(&format!("{seconds}s"))
    }
}

impl<'de> Deserialize<'de> for WaitTime {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(WaitVisitor)
    }
}

struct WaitVisitor;

impl Visitor<'_> for WaitVisitor {
    type Value = WaitTime;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a duration such as `90s`, or a number of seconds")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<WaitTime, E> {
        WaitTime::parse(text).map_err(E::custom)
    }

    fn visit_u64<E: Error>(self, seconds: u64) -> Result<WaitTime, E> {
        Ok(WaitTime::seconds(seconds))
    }

    fn visit_f64<E: Error>(self, seconds: f64) -> Result<WaitTime, E> {
        Duration::try_from_secs_f64(seconds).map(WaitTime).map_err(E::custom)
    }
}

impl JsonSchema for WaitTime {
    fn schema_name() -> Cow<'static, str> {
        "Wait".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["string", "number"] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_units_and_nothing_else() {
        let day = 24 * 3_600_000;
        for (text, millis) in [
            ("90", 90_000),
            ("1.5", 1500),
            ("90s", 90_000),
            ("10m", 600_000),
            ("1h 5s", 3_605_000),
            ("2m 14s", 134_000),
            ("3 s", 3000),
            ("1d", day),
            ("30d", 30 * day),
            ("30 days", 30 * day),
            ("1d 2h", day + 2 * 3_600_000),
        ] {
            assert_eq!(WaitTime::parse(text).map(|wait| wait.0.as_millis()), Ok(millis), "{text}");
        }
        for text in ["", "soon", "-5s", "-1", "-1d", "1 month", "inf"] {
            assert!(WaitTime::parse(text).is_err(), "{text}");
        }
    }
}
