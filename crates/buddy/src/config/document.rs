//! A configuration file, read: its values with the lines they stand in, and what it has that buddy does not know.

use std::path::Path;

use serde_json::Value;
use toml_edit::{Document, Item, TableLike};

use super::keys::{KnownKey, know, written};

/// A configuration that cannot be used. Names the place and the key, never a value that may be a secret.
#[derive(Debug, thiserror::Error)]
#[error("{place}: {message}")]
pub(crate) struct ConfigError {
    /// `file:line`, or the name of a variable or option.
    pub(crate) place: String,
    /// The fault there.
    pub(crate) message: String,
}

impl ConfigError {
    pub(crate) fn new(place: impl Into<String>, message: impl Into<String>) -> Self {
        Self { place: place.into(), message: message.into() }
    }

    pub(crate) fn at(file: &Path, line: usize, message: impl Into<String>) -> Self {
        Self::new(format!("{}:{line}", file.display()), message)
    }
}

/// A value with its place.
pub(crate) struct DocumentLine {
    pub(crate) path: Vec<String>,
    pub(crate) value: Value,
    pub(crate) number: usize,
}

/// A key that buddy does not know.
#[derive(Debug)]
pub(crate) struct Unknown {
    pub(crate) key: String,
    pub(crate) meant: Option<String>,
    pub(crate) number: usize,
}

/// The content of a file.
#[derive(Default)]
pub(crate) struct DocumentContents {
    pub(crate) lines: Vec<DocumentLine>,
    pub(crate) unknown: Vec<Unknown>,
}

/// Reads the text of a file.
pub(crate) fn read(file: &Path, text: &str) -> Result<DocumentContents, ConfigError> {
    let document = Document::parse(text).map_err(|error| {
        let start = error.span().map_or(0, |span| span.start);
        let line = line_of(text, start);
        // The message alone: its other form quotes the line, which may hold a key.
        let twice = Some(line).filter(|_| error.message().contains("duplicate"));
        let message = twice.and_then(|line| duplicate(text, line));
        ConfigError::at(file, line, message.unwrap_or_else(|| error.message().to_owned()))
    })?;
    let mut reader = DocumentReader { file, text, contents: DocumentContents::default() };
    reader.table(&mut Vec::new(), document.as_table())?;
    Ok(reader.contents)
}

/// The message about a name that stands twice, if the line with the error repeats one: a table, or a key of the same table.
fn duplicate(text: &str, line: usize) -> Option<String> {
    let name = |text: &str| -> Option<String> {
        let text = text.trim();
        if text.starts_with('[') {
            return text.find(']').and_then(|end| text.get(..=end)).map(str::to_owned);
        }
        let (key, _) = text.split_once('=').filter(|_| !text.starts_with('#'))?;
        Some(key.trim().to_owned())
    };
    let before: Vec<&str> = text.lines().take(line).collect();
    let (last, before) = before.split_last()?;
    let repeated = name(last)?;
    let is_table = repeated.starts_with('[');
    let is_header = |text: &&str| text.trim_start().starts_with('[');
    let begin = before.iter().rposition(is_header).filter(|_| !is_table).unwrap_or(0);
    let same = before.iter().skip(begin).position(|text| name(text).as_ref() == Some(&repeated))?;
    let next = if is_table { "put its keys under the first one" } else { "keep one of them" };
    Some(format!("`{repeated}` is already in line {}; {next}", begin + same + 1))
}

struct DocumentReader<'a> {
    file: &'a Path,
    text: &'a str,
    contents: DocumentContents,
}

impl DocumentReader<'_> {
    fn table(&mut self, path: &mut Vec<String>, table: &dyn TableLike) -> Result<(), ConfigError> {
        for (name, item) in table.iter() {
            let span = table.key(name).and_then(toml_edit::Key::span).or_else(|| item.span());
            let number = line_of(self.text, span.map_or(0, |span| span.start));
            path.push(name.to_owned());
            self.item(path, item, number)?;
            path.pop();
        }
        Ok(())
    }

    fn item(&mut self, path: &mut Vec<String>, item: &Item, number: usize) -> Result<(), ConfigError> {
        match know(path) {
            KnownKey::Unknown { meant } => {
                self.contents.unknown.push(Unknown { key: written(path), meant, number });
            }
            KnownKey::Table => {
                let table = item.as_table_like().ok_or_else(|| {
                    ConfigError::at(self.file, number, format!("`{}` must be a table", written(path)))
                })?;
                self.table(path, table)?;
            }
            KnownKey::Value => {
                self.contents.lines.push(DocumentLine { path: path.clone(), value: json(item), number });
            }
        }
        Ok(())
    }
}

pub(super) fn line_of(text: &str, offset: usize) -> usize {
    text.bytes().take(offset).filter(|byte| *byte == b'\n').count() + 1
}

/// A TOML value as JSON. Dates become text; no key takes one.
pub(crate) fn json(item: &Item) -> Value {
    if let Some(table) = item.as_table_like() {
        return table.iter().map(|(name, item)| (name.to_owned(), json(item))).collect();
    }
    if let Some(tables) = item.as_array_of_tables() {
        return tables.iter().map(|table| json(&Item::Table(table.clone()))).collect();
    }
    match item.as_value() {
        Some(toml_edit::Value::String(text)) => text.value().as_str().into(),
        Some(toml_edit::Value::Integer(number)) => (*number.value()).into(),
        Some(toml_edit::Value::Float(number)) => (*number.value()).into(),
        Some(toml_edit::Value::Boolean(is)) => (*is.value()).into(),
        Some(toml_edit::Value::Datetime(date)) => date.value().to_string().into(),
        Some(toml_edit::Value::Array(values)) => {
            values.iter().map(|value| json(&Item::Value(value.clone()))).collect()
        }
        _ => Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) -> Result<DocumentContents, String> {
        read(Path::new("b.toml"), text).map_err(|error| error.to_string())
    }

    #[test]
    fn values_come_with_their_lines() {
        let contents =
            check("# c\n[agent]\nname = \"x\"\n\n[models.a]\nextra = { k = [1, 2] }\napi = \"ollama\"\n");
        let lines: Vec<_> =
            contents.unwrap().lines.into_iter().map(|l| (written(&l.path), l.number)).collect();
        let expected = [("agent.name", 3), ("models.a.extra", 6), ("models.a.api", 7)];
        assert_eq!(lines, expected.map(|(key, number)| (key.to_owned(), number)));
    }

    #[test]
    fn a_name_that_stands_twice_is_named_with_both_lines() {
        let told = |text: &str| check(text).err().unwrap_or_default();
        assert_eq!(
            told("[jail]\nwrite = []\n\n[agent]\n[jail] # again\nhosts = []\n"),
            "b.toml:5: `[jail]` is already in line 1; put its keys under the first one"
        );
        assert_eq!(
            told("[agent]\nname = \"a\"\n[models.x]\nmodel = \"m\"\nmodel = \"secret\"\n"),
            "b.toml:5: `model` is already in line 4; keep one of them"
        );
        // A value is never quoted.
        assert!(!told("[models.x]\napi_key = \"s3cr3t\" x\n").contains("s3cr3t"));
    }

    #[test]
    fn unknown_keys_are_named_with_their_line() {
        let contents = check("agent.modle = 1\n[models.\"a.b\"]\nurl = 1\n[nonsense]\nx = 1\n").unwrap();
        let unknown: Vec<_> = contents.unknown.iter().map(|u| (u.key.as_str(), u.number)).collect();
        assert_eq!(unknown, [("agent.modle", 1), ("models.\"a.b\".url", 3), ("nonsense", 4)]);
    }

    #[test]
    fn broken_files_are_explained_without_quoting_them() {
        let error = check("a = 1\napi_key = \"sk-secret\n").err().unwrap();
        assert!(error.starts_with("b.toml:2: ") && !error.contains("sk-secret"), "{error}");
        assert_eq!(check("\nagent = 3").err().unwrap(), "b.toml:2: `agent` must be a table");
    }
}
