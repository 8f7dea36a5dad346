//! `tmux_capture_pane`: what a pane shows.

use async_trait::async_trait;
use buddy_exec::{CaptureOptions, PaneSelector};
use buddy_policy::{Intent, Tier};
use buddy_protocol::{ToolFailure, ToolKind};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{panes, put_off, selector};
use crate::tools::call_place::CallPlace;
use crate::tools::clip::TextClass;
use crate::tools::failure::target_failure;
use crate::tools::tool::{Tool, ToolContext};
use crate::tools::tool_spec::ToolSpec;
use crate::tools::wait::Wait;

pub(crate) struct CapturePane;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CapturePaneInput {
    /// `pane`, or `session:pane`; the same as the two fields below in one.
    #[serde(default)]
    target: Option<String>,
    /// The session, the shared one by default.
    #[serde(default)]
    session: Option<String>,
    /// The pane, the shared one by default.
    #[serde(default)]
    pane: Option<String>,
    /// The first line: 0 is the top of the screen, -10 is ten lines above it, "-" the beginning of the history.
    #[serde(default)]
    start: Option<LineNumber>,
    /// The last line, the bottom of the screen by default.
    #[serde(default)]
    end: Option<LineNumber>,
    /// Join lines that were wrapped.
    #[serde(default)]
    join_wrapped_lines: bool,
    /// Keep spaces at the ends of lines.
    #[serde(default)]
    preserve_trailing_spaces: bool,
    /// Keep colours and the like, with the escape written as `\\e`.
    #[serde(default)]
    include_escape_sequences: bool,
    /// Show what cannot be printed as octal numbers.
    #[serde(default)]
    escape_non_printable: bool,
    /// The screen below a program that takes the whole screen, where there is one.
    #[serde(default)]
    include_alternate_screen: bool,
    /// How long to wait before looking, such as "2s".
    #[serde(default)]
    delay: Wait,
}

/// A line of a pane, as a number or as text.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
enum LineNumber {
    Number(i32),
    Text(String),
}

impl LineNumber {
    fn text(&self) -> String {
        match self {
            Self::Number(number) => number.to_string(),
            Self::Text(text) => text.clone(),
        }
    }
}

impl CapturePaneInput {
    fn selector(&self) -> PaneSelector {
        match self.target.as_deref().map(|target| target.split_once(':').unwrap_or(("", target))) {
            Some(("", pane)) => PaneSelector { session: self.session.clone(), pane: Some(pane.to_owned()) },
            Some((session, pane)) => {
                PaneSelector { session: Some(session.to_owned()), pane: Some(pane.to_owned()) }
            }
            None => selector(self.session.as_ref(), self.pane.as_ref()),
        }
    }

    fn options(&self) -> CaptureOptions {
        CaptureOptions {
            start: self.start.as_ref().map(LineNumber::text),
            end: self.end.as_ref().map(LineNumber::text),
            join_wrapped_lines: self.join_wrapped_lines,
            preserve_trailing_spaces: self.preserve_trailing_spaces,
            include_escape_sequences: self.include_escape_sequences,
            escape_non_printable: self.escape_non_printable,
            include_alternate_screen: self.include_alternate_screen,
        }
    }
}

#[async_trait]
impl Tool for CapturePane {
    type Input = CapturePaneInput;

    const SPEC: ToolSpec = ToolSpec {
        name: "tmux_capture_pane",
        aliases: &["capture-pane", "tmux-capture-pane"],
        kind: ToolKind::Read,
        tier: Tier::Auto,
        description: include_str!("capture_pane.md"),
        text: TextClass::File,
    };

    fn title(input: &CapturePaneInput) -> String {
        format!("check the pane {}", input.selector().pane.as_deref().unwrap_or("shared"))
    }

    fn intent(_: &CapturePaneInput, _: &CallPlace) -> Intent {
        Intent::nothing()
    }

    async fn run(input: CapturePaneInput, context: &ToolContext) -> Result<Value, ToolFailure> {
        let panes = panes(context)?;
        put_off(input.delay, context).await?;
        let (selector, options) = (input.selector(), input.options());
        let screen = context.until_cancelled(panes.capture(&selector, &options)).await?;
        let screen = screen.map_err(|error| target_failure(&error))?;
        let shown = json!({
            "program": screen.program,
            "cursor": {"column": screen.cursor.0, "line": screen.cursor.1},
        });
        let mut result = shown;
        if let Some(note) = screen.note {
            result["pane_notes"] = json!([note]);
        }
        if screen.is_unchanged {
            result["unchanged"] = json!(true);
            result["note"] = json!("the screen is the same as at the last capture");
            return Ok(result);
        }
        // Sequences that steer a terminal are shown and do not steer.
        let seen = screen.text.replace('\u{1b}', "\\e");
        let (text, left_out) = tail(&seen, context.text_limit);
        result["text"] = json!(text);
        if left_out > 0 {
            result["note"] = json!(format!("{left_out} characters above this are left out"));
        }
        Ok(result)
    }
}

/// The end of a text, from the beginning of a line, and how many characters come before it: what is new in a terminal is at the
/// bottom.
fn tail(text: &str, limit: usize) -> (&str, usize) {
    let count = text.chars().count();
    let skipped = count.saturating_sub(limit);
    let Some((at, _)) = text.char_indices().nth(skipped).filter(|_| skipped > 0) else { return (text, 0) };
    let kept = text.get(at..).unwrap_or_default();
    let kept = kept.split_once('\n').map_or(kept, |(_, rest)| rest);
    (kept, count - kept.chars().count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_long_screen_is_kept_by_whole_lines() {
        let text = (0..3_000).map(|number| format!("é{number}")).collect::<Vec<_>>().join("\n");
        for limit in [100, 8_000] {
            let (kept, left_out) = tail(&text, limit);
            assert!(kept.starts_with('é') && kept.ends_with("é2999") && kept.chars().count() <= limit);
            assert_eq!(kept.chars().count() + left_out, text.chars().count());
        }
        assert_eq!(tail("short", 100), ("short", 0));
    }

    #[test]
    fn a_target_is_a_pane_with_or_without_its_session() {
        let read = |input: Value| serde_json::from_value::<CapturePaneInput>(input).unwrap().selector();
        let named = |session: Option<&str>, pane: &str| PaneSelector {
            session: session.map(str::to_owned),
            pane: Some(pane.to_owned()),
        };
        assert_eq!(read(json!({"target": "build"})), named(None, "build"));
        assert_eq!(read(json!({"target": "other:build"})), named(Some("other"), "build"));
        assert_eq!(read(json!({"session": "s", "pane": "p"})), named(Some("s"), "p"));
        assert_eq!(read(json!({})), PaneSelector::default());
    }
}
