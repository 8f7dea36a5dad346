//! Facts as an agent reports them: calls that start, and end with about a kilobyte of output.

use std::sync::atomic::{AtomicU64, Ordering};

use buddy_protocol::{
    Clock, Content, Envelope, Fact, Ids, Item, ItemEnded, ItemId, ItemStarted, ItemStatus, ToolCall,
    ToolKind, UnixMillis,
};
use serde_json::json;

/// Ids that count, and a clock with a fixed time.
#[derive(Default)]
pub(crate) struct Counter(AtomicU64);

impl Ids for Counter {
    fn next(&self) -> u128 {
        u128::from(self.0.fetch_add(1, Ordering::Relaxed) + 1)
    }
}

impl Clock for Counter {
    fn now(&self) -> UnixMillis {
        UnixMillis(1_760_000_000_000)
    }
}

/// Fact number `number` of a session: alternately a call that starts and the same call that ended.
pub(crate) fn fact(number: u64) -> Fact {
    let ids = Counter(AtomicU64::new(number / 2));
    let id = ItemId::new(&ids);
    if number.is_multiple_of(2) {
        Fact::ItemStarted(ItemStarted { item: item(id, ItemStatus::Running) })
    } else {
        Fact::ItemEnded(ItemEnded { item: item(id, ItemStatus::Completed) })
    }
}

fn item(id: ItemId, status: ItemStatus) -> Item {
    let line = "a line of output that a command printed, \"quoted\" here and there\n";
    let result = || Envelope::new(UnixMillis(1), Ok(json!({"exit_code": 0, "stdout": line.repeat(12)})));
    let call = ToolCall {
        call_id: format!("call_{id}"),
        name: "run_shell".to_owned(),
        kind: ToolKind::Execute,
        title: "cargo test".to_owned(),
        input:
            json!({"command": "cargo test --workspace", "risk": "low", "mutation": true, "privesc": false})
                .into(),
        output: status.is_final().then(result),
        images: Vec::new(),
        target: Some("local".to_owned()),
        had_secrets: false,
        caller: None,
    };
    let content = Content::ToolCall(Box::new(call));
    Item { id, turn: None, step: Some(1), place: None, parent: None, status, content, private: None }
}
