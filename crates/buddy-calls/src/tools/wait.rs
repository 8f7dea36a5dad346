//! The `wait` argument: true, false, a number of seconds or a duration such as "10m".

use std::borrow::Cow;
use std::time::Duration;

use jiff::SignedDuration;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, de::Error};
use serde_json::Value;

/// How long a call waits for its command.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Wait {
    /// As long as is usual.
    #[default]
    Default,
    /// Not at all.
    No,
    /// So long, which is never zero.
    For(Duration),
}

impl Wait {
    fn of(duration: Duration) -> Self {
        if duration.is_zero() { Self::No } else { Self::For(duration) }
    }
}

impl<'de> Deserialize<'de> for Wait {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::Null | Value::Bool(true) => Ok(Self::Default),
            Value::Bool(false) => Ok(Self::No),
            Value::Number(seconds) => {
                let seconds = seconds.as_f64().unwrap_or(-1.0);
                Duration::try_from_secs_f64(seconds).map(Self::of).map_err(D::Error::custom)
            }
            Value::String(text) => parse(&text).map(Self::of).map_err(D::Error::custom),
            other => Err(D::Error::custom(format!("`wait` cannot be {other}"))),
        }
    }
}

fn parse(text: &str) -> Result<Duration, String> {
    let text = text.trim();
    if let Ok(seconds) = text.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string());
    }
    let duration: SignedDuration =
        text.parse().map_err(|_| format!("`{text}` is not a duration such as \"10m\""))?;
    Duration::try_from(duration).map_err(|_| format!("`{text}` is negative"))
}

impl JsonSchema for Wait {
    fn schema_name() -> Cow<'static, str> {
        "Wait".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": ["boolean", "number", "string"]})
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(input: &Value, expected: Option<Wait>) {
        assert_eq!(serde_json::from_value::<Wait>(input.clone()).ok(), expected, "{input}");
    }

    #[test]
    fn reads_every_form_and_refuses_the_rest() {
        check(&json!(true), Some(Wait::Default));
        check(&json!(false), Some(Wait::No));
        for zero in [json!(0), json!(0.0), json!("0"), json!("0s")] {
            check(&zero, Some(Wait::No));
        }
        check(&json!(90), Some(Wait::For(Duration::from_secs(90))));
        check(&json!("10m"), Some(Wait::For(Duration::from_mins(10))));
        check(&json!("1.5"), Some(Wait::For(Duration::from_millis(1500))));
        check(&json!("2h 30m"), Some(Wait::For(Duration::from_mins(150))));
        for bad in [json!(-1), json!("-5s"), json!("soon"), json!([]), json!(1e300)] {
            check(&bad, None);
        }
    }
}
