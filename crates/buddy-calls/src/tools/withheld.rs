//! Variables of the user that a command did not get: told where it failed and names one of them.

use std::path::PathBuf;

use buddy_exec::{Bounds, Target};
use serde_json::Value;

use crate::hosts::WithheldVariable;
use crate::tools::pins::read_pins;

/// Variables that one line names.
const MAX_NAMED: usize = 5;

/// Bytes of each script that are looked through.
const SCRIPT_BYTES: u64 = 256 * 1024;

/// The command of a call, and what can be known of the files that it runs.
pub(crate) struct CommandText {
    pub(crate) command: String,
    /// How many simple commands it is made of.
    pub(crate) parts: usize,
    /// Scripts and makefiles that it runs.
    pub(crate) scripts: Vec<PathBuf>,
    /// The files that it may read.
    pub(crate) bounds: Bounds,
}

/// A line for the user and the model about variables that a failed command names and did not get.
pub(crate) async fn withheld_line(
    result: &Value,
    text: &CommandText,
    withheld: &[WithheldVariable],
    target: &dyn Target,
) -> Option<String> {
    let has_failed = result.get("exit_code").is_some_and(|code| *code != 0);
    if withheld.is_empty() || !has_failed {
        return None;
    }
    let printed = ["stdout", "stderr"].map(|name| result[name].as_str().unwrap_or_default().to_owned());
    let scripts = read_pins(&text.scripts, target, &text.bounds, SCRIPT_BYTES).await;
    let texts: Vec<&str> = [text.command.as_str()]
        .into_iter()
        .chain(printed.iter().chain(&scripts).map(String::as_str))
        .collect();
    let is_named = |variable: &&WithheldVariable| texts.iter().any(|text| names(text, &variable.name));
    let found: Vec<&WithheldVariable> = withheld.iter().filter(is_named).take(MAX_NAMED).collect();
    let told: Vec<String> =
        found.iter().map(|variable| format!("`{}` ({})", variable.name, variable.reason)).collect();
    let listed: Vec<String> = found.iter().map(|variable| format!("{:?}", variable.name)).collect();
    (!found.is_empty()).then(|| {
        format!(
            "this command did not get {}\nThe user can pass it on with `pass = [{}]` under `[environment]` in buddy.toml",
            told.join(", "),
            listed.join(", ")
        )
    })
}

/// Whether a text has a name as a whole word.
fn names(text: &str, name: &str) -> bool {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    text.match_indices(name).any(|(at, _)| {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        let after = text.get(at + name.len()..).and_then(|after| after.chars().next());
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_whole_word() {
        assert!(names("KeyError: 'DATABASE_URL'", "DATABASE_URL"));
        assert!(names("psql $DATABASE_URL", "DATABASE_URL"));
        assert!(!names("OLD_DATABASE_URL DATABASE_URLS", "DATABASE_URL"));
    }
}
