//! The configuration as it holds, for people and for programs. Secrets are not in it.

use buddy_tui::{Table, TableCell, TableColumn};
use serde_json::{Map, Value, json};

use super::gates::{FamilyGate, family_gates};
use super::keys::{shown, written};
use super::load::{Ignored, Loaded};

/// One `key = value` a line; with origins, who set it. Keys that are not set are left out, except gates, which say what holds and why.
pub(crate) fn as_text(loaded: &Loaded, with_origins: bool) -> String {
    let mut text = String::new();
    for (path, value) in values(loaded) {
        if value.is_null() || value.as_object().is_some_and(Map::is_empty) {
            continue;
        }
        let line = format!("{} = {value}", written(&path));
        let origin = with_origins.then(|| format!("  # {}", origin(loaded, &path)));
        text.extend([line, origin.unwrap_or_default(), "\n".to_owned()]);
    }
    for FamilyGate { key, is_on, family, why } in family_gates(loaded) {
        text.push_str("# ");
        text.extend([key, " is ", is_on.text(), ": model family `", &family, "`, ", &why, "\n"]);
    }
    for Ignored { key, origin, reason } in loaded.ignored.iter().filter(|_| with_origins) {
        text.extend(["# ignored: ".to_owned(), format!("{key} of {origin}: {reason}"), "\n".to_owned()]);
    }
    text
}

/// The same as a list for a terminal.
pub(crate) fn as_table(loaded: &Loaded, with_origins: bool) -> Table {
    let mut columns = vec![TableColumn::wrapped("KEY"), TableColumn::wrapped("VALUE")];
    columns.extend(with_origins.then(|| TableColumn::wrapped("SET BY")));
    let more = if with_origins { "" } else { ", see who set each with `--origins`" };
    let hint = format!("Change one with `buddy config set KEY VALUE`{more}");
    let mut table = Table::new(&columns, "").hint(hint);
    for (path, value) in values(loaded) {
        if value.is_null() || value.as_object().is_some_and(Map::is_empty) {
            continue;
        }
        let words = value.as_str().filter(|words| !words.is_empty());
        let text = words.map_or_else(|| spaced(&value), str::to_owned);
        table.add([written(&path), text, origin(loaded, &path)].map(TableCell::from));
    }
    for FamilyGate { key, is_on, family, why } in family_gates(loaded) {
        table.add(
            [key.to_owned(), is_on.text().replace('`', ""), format!("model family {family}: {why}")]
                .map(TableCell::from),
        );
    }
    for Ignored { key, origin, reason } in loaded.ignored.iter().filter(|_| with_origins) {
        let reason = TableCell::waiting(format!("ignored: {reason}"));
        table.add([key.clone().into(), reason, origin.to_string().into()]);
    }
    table
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

/// A list of keys with value and origin, and with what a project set in vain.
pub(crate) fn as_json(loaded: &Loaded) -> Value {
    let entries = values(loaded).into_iter();
    let gates = family_gates(loaded);
    let held = entries.map(|(path, value)| {
        let key = written(&path);
        let mut entry = json!({"key": key, "value": value, "origin": origin(loaded, &path)});
        if let Some(FamilyGate { is_on, family, why, .. }) = gates.iter().find(|gate| gate.key == key) {
            entry["holds"] = json!(is_on.text());
            entry["why"] = json!(format!("model family `{family}`, {why}"));
        }
        entry
    });
    let ignored = loaded.ignored.iter().map(|ignored| {
        json!({"key": ignored.key, "origin": ignored.origin.to_string(), "ignored": ignored.reason})
    });
    held.chain(ignored).collect()
}

fn origin(loaded: &Loaded, path: &[String]) -> String {
    let path: Vec<&str> = path.iter().map(String::as_str).collect();
    loaded.effective.origin(&path).to_string()
}

/// Whether the value is a table of keys, and not itself a setting.
fn has_keys(section: &str, key: &str) -> bool {
    matches!((section, key), ("models" | "login" | "checks", _) | ("agent", "gates"))
}

/// Every key, as it may be shown.
fn values(loaded: &Loaded) -> Vec<(Vec<String>, Value)> {
    let Ok(Value::Object(sections)) = serde_json::to_value(&loaded.config) else { return Vec::new() };
    let mut values = Vec::new();
    for (section, keys) in sections {
        let Value::Object(keys) = keys else { continue };
        for (key, value) in keys {
            match value {
                Value::Object(fields) if has_keys(&section, &key) => {
                    let below = fields
                        .into_iter()
                        .map(|(field, value)| (vec![section.clone(), key.clone(), field], value));
                    values.extend(below);
                }
                value => values.push((vec![section.clone(), key], value)),
            }
        }
    }
    values.into_iter().map(|(path, value)| (path.clone(), shown(&path, &value))).collect()
}
