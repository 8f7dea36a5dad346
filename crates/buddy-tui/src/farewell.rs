//! The summary of a conversation that is left: title, time, changes and cost.

use std::time::Duration;

use buddy_protocol::{Event, Fact, Transcript, UnixMillis};

use crate::amounts::{describe_elapsed, describe_price, shorten_number};
use crate::file_changes::FileChanges;
use crate::overview::find_title;

/// The time that turns took, as their events tell.
#[derive(Debug, Default)]
pub(crate) struct WorkTime {
    since: Option<UnixMillis>,
    worked_ms: u64,
}

impl WorkTime {
    pub(crate) fn note(&mut self, event: &Event) {
        match &event.fact {
            Fact::TurnStarted(_) => self.since = Some(event.time),
            Fact::TurnEnded(_) => {
                let since = self.since.take().unwrap_or(event.time);
                self.worked_ms += event.time.0.saturating_sub(since.0);
            }
            _ => {}
        }
    }

    fn worked(&self) -> Duration {
        Duration::from_millis(self.worked_ms)
    }
}

/// A label and its fact, in the order in which they are shown. The title has no label.
pub(crate) type FarewellRow = (&'static str, String);

/// The summary of a conversation in which somebody sat for so long; empty where nothing was said. Who read along is not told
/// what another process spent.
pub(crate) fn summarise_conversation(
    transcript: &Transcript,
    sat: Duration,
    work: &WorkTime,
    is_in_use: bool,
) -> Vec<FarewellRow> {
    if transcript.items().is_empty() {
        return Vec::new();
    }
    let title = find_title(transcript).map(|title| ("", title));
    let worked = work.worked();
    let of_it = match worked.as_secs() {
        0 => String::new(),
        _ => format!(", buddy worked for {}", describe_elapsed(worked.min(sat))),
    };
    let time = Some(("time", format!("{}{of_it}", describe_elapsed(sat))));
    let changes = FileChanges::of(transcript.items()).told_with_commits().map(|text| ("changes", text));
    let cost = cost(transcript).filter(|_| !is_in_use);
    title.into_iter().chain(time).chain(changes).chain(cost).collect()
}

fn cost(transcript: &Transcript) -> Option<FarewellRow> {
    let bill = transcript.bill();
    if bill.tokens() == 0 {
        return None;
    }
    let usage = bill.usage;
    let cached = match usage.cached_input.saturating_mul(100).checked_div(usage.input) {
        Some(percent) if percent > 0 => format!(" ({percent}% cached)"),
        _ => String::new(),
    };
    let tokens =
        format!("{} tokens in{cached}, {} out", shorten_number(usage.input), shorten_number(usage.output));
    let cost = bill.total().filter(|cost| cost.0 > 0);
    Some(match cost {
        Some(cost) => ("cost", format!("{}  {tokens}", describe_price(cost))),
        None => ("tokens", tokens.replacen(" tokens in", " in", 1)),
    })
}

/// Such a row as text.
pub(crate) fn render_farewell_line((label, text): &FarewellRow) -> String {
    if label.is_empty() { format!("  {text}") } else { format!("  {label:<10}{text}") }
}
