//! Keys of the user's own: `keys.toml` beside the configuration, one `"key" = "action"` a line.

use std::path::Path;

use anyhow::Context;

/// The keys and what they do, in the order of the file. A file that is not there changes nothing.
pub(crate) fn keys(config: Option<&Path>) -> anyhow::Result<Vec<(String, String)>> {
    let Some(path) = config.map(|config| config.join("keys.toml")) else { return Ok(Vec::new()) };
    let text = match std::fs::read_to_string(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        read => read.with_context(|| format!("cannot read `{}`", path.display()))?,
    };
    let table: toml::Table = text.parse().with_context(|| format!("`{}` is not TOML", path.display()))?;
    table
        .into_iter()
        .map(|(key, action)| match action {
            toml::Value::String(action) => Ok((key, action)),
            _ => anyhow::bail!(
                "`{}`: the value of `{key}` must be a string, such as \"newline\"",
                path.display()
            ),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> anyhow::Result<Vec<(String, String)>> {
        let home = tempfile::tempdir().unwrap();
        std::fs::write(home.path().join("keys.toml"), text).unwrap();
        keys(Some(home.path()))
    }

    #[test]
    fn keys_are_read_and_mistakes_named() {
        let read_keys = read("ctrl-x = \"open-editor\"\n\"f5\" = \"redraw\"\n").unwrap();
        assert_eq!(read_keys.len(), 2);
        assert!(read_keys.contains(&("ctrl-x".to_owned(), "open-editor".to_owned())));
        assert!(format!("{:#}", read("f5 = 5").unwrap_err()).contains("the value of `f5` must be a string"));
        assert!(format!("{:#}", read("f5 =").unwrap_err()).contains("is not TOML"));
        assert!(keys(Some(Path::new("/nowhere"))).unwrap().is_empty());
    }
}
