//! The configuration as text, as a table and as JSON.

use buddy_protocol::operations::{ConfigurationEntry, ConfigurationGate, ConfigurationView, IgnoredSetting};
use buddy_tui::{Table, TableCell, TableColumn};
use serde_json::{Map, Value, json};

/// One `key = value` a line; with origins, who set it. Keys that are not set are left out, except gates, which say what holds and why.
pub(crate) fn configuration_text(view: &ConfigurationView, with_origins: bool) -> String {
    let mut text = String::new();
    for ConfigurationEntry { key, value, origin } in set_entries(view) {
        let origin = with_origins.then(|| format!("  # {origin}"));
        text.extend([format!("{key} = {value}"), origin.unwrap_or_default(), "\n".to_owned()]);
    }
    for ConfigurationGate { key, holds, family, why } in &view.gates {
        text.extend(["# ", key, " is ", holds, ": model family `", family, "`, ", why, "\n"]);
    }
    for IgnoredSetting { key, origin, reason } in view.ignored.iter().filter(|_| with_origins) {
        text.extend(["# ignored: ", key, " of ", origin, ": ", reason, "\n"]);
    }
    text
}

/// The same as a list for a terminal.
pub(crate) fn configuration_table(view: &ConfigurationView, with_origins: bool) -> Table {
    let mut columns = vec![TableColumn::wrapped("KEY"), TableColumn::wrapped("VALUE")];
    columns.extend(with_origins.then(|| TableColumn::wrapped("SET BY")));
    let more = if with_origins { "" } else { ", see who set each with `--origins`" };
    let hint = format!("Change one with `buddy config set KEY VALUE`{more}");
    let mut table = Table::new(&columns, "").hint(hint);
    for ConfigurationEntry { key, value, origin } in set_entries(view) {
        let words = value.as_str().filter(|words| !words.is_empty());
        let text = words.map_or_else(|| spaced(value), str::to_owned);
        table.add([key.clone(), text, origin.clone()].map(TableCell::from));
    }
    for ConfigurationGate { key, holds, family, why } in &view.gates {
        table.add(
            [key.clone(), holds.replace('`', ""), format!("model family {family}: {why}")]
                .map(TableCell::from),
        );
    }
    for IgnoredSetting { key, origin, reason } in view.ignored.iter().filter(|_| with_origins) {
        let reason = TableCell::waiting(format!("ignored: {reason}"));
        table.add([key.clone().into(), reason, origin.clone().into()]);
    }
    table
}

/// A list of keys with value and origin, and with what a project set in vain.
pub(crate) fn configuration_json(view: &ConfigurationView) -> Value {
    let held = view.entries.iter().map(|ConfigurationEntry { key, value, origin }| {
        let mut entry = json!({"key": key, "value": value, "origin": origin});
        if let Some(gate) = view.gates.iter().find(|gate| gate.key == *key) {
            entry["holds"] = json!(gate.holds);
            entry["why"] = json!(format!("model family `{}`, {}", gate.family, gate.why));
        }
        entry
    });
    let ignored = view.ignored.iter().map(
        |IgnoredSetting { key, origin, reason }| json!({"key": key, "origin": origin, "ignored": reason}),
    );
    held.chain(ignored).collect()
}

/// The keys that are set.
fn set_entries(view: &ConfigurationView) -> impl Iterator<Item = &ConfigurationEntry> {
    let is_set = |entry: &&ConfigurationEntry| {
        !entry.value.is_null() && !entry.value.as_object().is_some_and(Map::is_empty)
    };
    view.entries.iter().filter(is_set)
}

/// A value in JSON, with spaces between the entries of a list, where a row can end.
fn spaced(value: &Value) -> String {
    match value {
        Value::Array(entries) => {
            let entries: Vec<String> = entries.iter().map(Value::to_string).collect();
            format!("[{}]", entries.join(", "))
        }
        other => other.to_string(),
    }
}
