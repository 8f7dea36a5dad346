//! `time`: what the clock of the harness says, in the formats that people ask for.

use async_trait::async_trait;
use buddy_policy::{Intent, Tier};
use buddy_protocol::{ToolFailure, ToolKind};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::tools::call_place::CallPlace;

use crate::tools::tool_spec::ToolSpec;

use crate::tools::clip::TextClass;

use crate::tools::tool::{Tool, ToolContext};

pub(crate) struct Time;

/// `time` takes nothing.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TimeInput {}

#[async_trait]
impl Tool for Time {
    type Input = TimeInput;

    const SPEC: ToolSpec = ToolSpec {
        name: "time",
        aliases: &[],
        kind: ToolKind::Other,
        tier: Tier::Auto,
        description: include_str!("time.md"),
        text: TextClass::File,
    };

    fn title(_: &TimeInput) -> String {
        "check the time".to_owned()
    }

    fn intent(_: &TimeInput, _: &CallPlace) -> Intent {
        Intent::nothing()
    }

    async fn run(_: TimeInput, context: &ToolContext) -> Result<Value, ToolFailure> {
        let nanos = i128::try_from(context.clock.nanos()).unwrap_or(i128::MAX);
        let now = Timestamp::from_nanosecond(nanos)
            .map_err(|error| ToolFailure::new("clock", format!("the clock is out of range: {error}")))?;
        let utc = now.to_zoned(TimeZone::UTC);
        let rfc2822 = jiff::fmt::rfc2822::to_string(&utc)
            .map_err(|error| ToolFailure::new("clock", format!("the time cannot be written: {error}")))?;
        Ok(json!({
            "unix_seconds": now.as_second(),
            "unix_millis": now.as_millisecond(),
            "unix_nanos": now.as_nanosecond().to_string(),
            "iso_8601_utc": utc.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            "iso_8601_utc_millis": utc.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string(),
            "rfc_2822": rfc2822,
            "date_utc": utc.strftime("%Y-%m-%d").to_string(),
            "time_utc": utc.strftime("%H:%M:%S").to_string(),
            "weekday_utc": utc.strftime("%A").to_string(),
        }))
    }
}
