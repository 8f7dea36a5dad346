//! Changing a configuration file: one key at a time, with everything else, comments included, left as it is.

use std::path::Path;

use serde_json::Value;
use toml_edit::{DocumentMut, Item, Table, TableLike};

use super::document::{self, ConfigError, DocumentContents, Unknown};
use super::keys::{KnownKey, know, written};
use super::layers::{Effective, LayerSetting, SettingOrigin, check};

/// The text of a file with a key set.
pub(crate) fn set(file: &Path, text: &str, key: &str, value: &str) -> Result<String, ConfigError> {
    let path = find_key(key)?;
    let (value, _) = read_value(&path, value)?;
    let mut document = parse(file, text)?;
    let (last, tables) = path.split_last().ok_or_else(|| refuse_key(key, "no key"))?;
    let table = tables.iter().try_fold(document.as_table_mut() as &mut dyn TableLike, |table, name| {
        let item = table.entry(name).or_insert_with(|| {
            let mut table = Table::new();
            table.set_implicit(true);
            Item::Table(table)
        });
        item.as_table_like_mut()
    });
    let table = table.ok_or_else(|| refuse_key(key, "something above it is not a table"))?;
    put(table, last, value);
    let text = document.to_string();
    check_text(file, text)
}

/// The text of a file without a key; none when it has no such key.
pub(crate) fn unset(file: &Path, text: &str, key: &str) -> Result<Option<String>, ConfigError> {
    let path = path(key).map_err(|message| refuse_key(key, &message))?;
    let mut document = parse(file, text)?;
    let (last, tables) = path.split_last().ok_or_else(|| refuse_key(key, "no key"))?;
    let table = tables.iter().try_fold(document.as_table_mut() as &mut dyn TableLike, |table, name| {
        table.get_mut(name).and_then(Item::as_table_like_mut)
    });
    let removed = table.and_then(|table| table.remove(last));
    Ok(removed.map(|_| document.to_string()))
}

/// A dotted key as a path.
pub(crate) fn path(key: &str) -> Result<Vec<String>, String> {
    let keys = toml_edit::Key::parse(key).map_err(|_| "not a key such as `agent.model`".to_owned())?;
    Ok(keys.iter().map(|key| key.get().to_owned()).collect())
}

/// The fault in the name of a single value.
pub(crate) fn lookup(path: &[String]) -> DocumentContents {
    let mut contents = DocumentContents::default();
    let unknown = |meant| Unknown { key: written(path), meant, number: 0 };
    match know(path) {
        KnownKey::Value => {}
        KnownKey::Table => contents.unknown.push(unknown(None)),
        KnownKey::Unknown { meant } => contents.unknown.push(unknown(meant)),
    }
    contents
}

/// A value of the command line.
pub(crate) fn setting(path: Vec<String>, value: &str) -> Result<LayerSetting, ConfigError> {
    let (_, value) = read_value(&path, value)?;
    Ok(LayerSetting { path, value, origin: SettingOrigin::CommandLine })
}

fn find_key(key: &str) -> Result<Vec<String>, ConfigError> {
    let path = path(key).map_err(|message| refuse_key(key, &message))?;
    match know(&path) {
        KnownKey::Value => Ok(path),
        KnownKey::Table => Err(refuse_key(key, "it is a table; name a key in it")),
        KnownKey::Unknown { meant } => {
            let meant = meant.map(|meant| format!("; did you mean `{meant}`?"));
            Err(refuse_key(key, &format!("there is no such key{}", meant.unwrap_or_default())))
        }
    }
}

/// A value as TOML where it is one and fits, else as text.
fn read_value(path: &[String], value: &str) -> Result<(toml_edit::Value, Value), ConfigError> {
    let text = toml_edit::Value::from(value);
    let read = value.parse::<toml_edit::Value>().unwrap_or_else(|_| text.clone());
    let fits = |value: &toml_edit::Value| {
        let json = document::json(&Item::Value(value.clone()));
        let setting =
            LayerSetting { path: path.to_vec(), value: json.clone(), origin: SettingOrigin::CommandLine };
        check(&setting).map(|()| json)
    };
    match fits(&read) {
        Ok(json) => Ok((read, json)),
        Err(error) => fits(&text).map(|json| (text, json)).map_err(|_| error),
    }
}

/// Sets a value and keeps the comment behind the one that was there.
fn put(table: &mut dyn TableLike, key: &str, mut value: toml_edit::Value) {
    if let Some(Item::Value(old)) = table.get_mut(key) {
        *value.decor_mut() = old.decor().clone();
        *old = value;
    } else {
        value.decor_mut().clear();
        table.insert(key, Item::Value(value));
    }
}

fn parse(file: &Path, text: &str) -> Result<DocumentMut, ConfigError> {
    document::read(file, text)?;
    text.parse()
        .map_err(|error: toml_edit::TomlError| ConfigError::new(file.display().to_string(), error.message()))
}

/// Refuses a change that would leave a file which cannot be read.
fn check_text(file: &Path, text: String) -> Result<String, ConfigError> {
    let lines = document::read(file, &text)?.lines.into_iter();
    let origin = |line| SettingOrigin::File { path: file.to_owned(), line };
    let layer =
        lines.map(|line| LayerSetting { path: line.path, value: line.value, origin: origin(line.number) });
    Effective::default().add(layer.collect())?;
    Ok(text)
}

fn refuse_key(key: &str, message: &str) -> ConfigError {
    ConfigError::new(format!("`{key}`"), message)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "# mine\n[agent] # who\nname = \"a\" # short\n# last words\n\n[tools]\ntime = true\n";

    fn check(key: &str, value: &str) -> Result<String, String> {
        set(Path::new("f"), FILE, key, value).map_err(|error| error.to_string())
    }

    #[test]
    fn comments_and_order_survive() {
        assert_eq!(check("agent.name", "b").unwrap(), FILE.replace("\"a\"", "\"b\""));
        let added = "name = \"a\" # short\nmax_iterations = 7\n";
        assert_eq!(
            check("agent.max_iterations", "7").unwrap(),
            FILE.replace("name = \"a\" # short\n", added)
        );
    }

    #[test]
    fn tables_are_made_where_they_are_missing() {
        let text = check("models.\"my.model\".api", "ollama").unwrap();
        assert_eq!(text, format!("{FILE}\n[models.\"my.model\"]\napi = \"ollama\"\n"));
        let text = check("models.a.extra", "{ top_k = 3 }").unwrap();
        assert!(text.ends_with("[models.a]\nextra = { top_k = 3 }\n"), "{text}");
    }

    #[test]
    fn text_that_looks_like_a_number_is_text_where_text_is_wanted() {
        assert!(check("agent.name", "42").unwrap().contains("name = \"42\""));
        assert!(check("agent.system_prompt", "be = brief").unwrap().contains("\"be = brief\""));
    }

    #[test]
    fn wrong_values_and_names_are_refused() {
        assert!(check("agent.max_iterations", "many").unwrap_err().contains("invalid type"));
        assert!(check("agent.nam", "x").unwrap_err().contains("did you mean `agent.name`?"));
        assert!(check("agent", "x").unwrap_err().contains("table"));
        let one = check("models.m.api_key_env", "A").unwrap();
        let error = set(Path::new("f"), &one, "models.m.api_key", "k").unwrap_err();
        assert!(error.to_string().contains("both say where to find the key"), "{error}");
    }

    #[test]
    fn a_key_is_taken_out_alone() {
        let file = Path::new("f");
        assert_eq!(unset(file, FILE, "tools.time").unwrap().unwrap(), FILE.replace("time = true\n", ""));
        assert_eq!(unset(file, FILE, "tools.send_keys").unwrap(), None);
        assert_eq!(unset(file, FILE, "budget.max_turns").unwrap(), None);
    }
}
