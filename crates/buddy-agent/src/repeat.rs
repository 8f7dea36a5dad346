//! Repetition: a call that failed twice in a row with the same arguments is not run a third time.

use buddy_protocol::{Content, Item, ItemStatus, ToolCall, ToolFailure};

/// How often the same call may fail in a row.
const MAX_FAILURES: u32 = 2;

/// The last call that failed, and how often it did so in a row.
#[derive(Debug, Default)]
pub(crate) struct Repeats {
    last: Option<(String, u32)>,
}

impl Repeats {
    /// Takes note of how a call ended.
    pub(crate) fn note(&mut self, item: &Item) {
        let Content::ToolCall(call) = &item.content else { return };
        let key = key(call);
        let before = self.last.take().filter(|(last, _)| *last == key).map_or(0, |(_, times)| times);
        if matches!(item.status, ItemStatus::Failed | ItemStatus::Denied) {
            self.last = Some((key, before + 1));
        }
    }

    /// Why the call must not run again.
    pub(crate) fn refusal(&self, call: &ToolCall) -> Option<ToolFailure> {
        let (last, times) = self.last.as_ref()?;
        (*times >= MAX_FAILURES && *last == key(call)).then(|| {
            ToolFailure::new(
                "repeated_failure",
                format!("this same call failed {times} times in a row; it was not run"),
            )
            .hint("do something else, or ask the user")
        })
    }
}

fn key(call: &ToolCall) -> String {
    format!("{}\n{}", call.name, call.input.text())
}
