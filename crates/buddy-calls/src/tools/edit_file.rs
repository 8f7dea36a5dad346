//! `edit_file`: one piece of text in a file replaced by another.

use async_trait::async_trait;
use buddy_policy::{Action, Intent, Tier};
use buddy_protocol::{ToolFailure, ToolKind};
use futures::FutureExt;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::tools::call_place::CallPlace;
use crate::tools::clip::TextClass;
use crate::tools::closest::{hint_for_missing, squeezed};
use crate::tools::failure::target_failure;
use crate::tools::foreseen::Foreseen;
use crate::tools::path_text::show_path;
use crate::tools::text_file::TextFile;
use crate::tools::tool::{Preview, Sight, Tool, ToolContext};
use crate::tools::tool_spec::ToolSpec;
use crate::tools::unified::unified;

/// Letters that a text needs to be found by anything but itself.
const MIN_LENIENT: usize = 8;

/// Places named when there is more than one.
const MAX_PLACES: usize = 20;

pub(crate) struct EditFile;

#[derive(Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EditFileInput {
    /// The file, absolute or relative to the working directory.
    #[serde(alias = "file_path")]
    path: String,
    /// The text to replace, copied from the file. One place that differs in white space only is taken too.
    #[serde(alias = "old_string")]
    old: String,
    /// The text to put in its place.
    #[serde(alias = "new_string")]
    new: String,
    /// Whether to replace every place where `old` is found; otherwise there must be one.
    #[serde(default, alias = "replace_all")]
    all: bool,
}

#[async_trait]
impl Tool for EditFile {
    type Input = EditFileInput;

    const SPEC: ToolSpec = ToolSpec {
        name: "edit_file",
        aliases: &[],
        kind: ToolKind::Edit,
        tier: Tier::Batch,
        description: include_str!("edit_file.md"),
        text: TextClass::File,
    };

    fn title(input: &EditFileInput) -> String {
        format!("edit {}", input.path)
    }

    fn intent(input: &EditFileInput, place: &CallPlace) -> Intent {
        let path = place.judged(&input.path);
        let actions = vec![Action::Read(path.clone()), Action::Write(path)];
        Intent { actions, ..Intent::nothing() }.as_edit()
    }

    fn preview(input: &EditFileInput, sight: Sight) -> Option<Preview> {
        let input = input.clone();
        let diff = async move {
            let path = sight.place.resolve(&input.path);
            check_old(&input)?;
            let file = TextFile::read(&sight, &path).await?;
            let Replaced { text, .. } = replace(&file, &input)?;
            Ok(Some(Foreseen::Diff(unified(&show_path(&path), &file.text, &text))))
        };
        Some(diff.boxed())
    }

    async fn run(input: EditFileInput, context: &ToolContext) -> Result<Value, ToolFailure> {
        let path = context.place.resolve(&input.path);
        check_old(&input)?;
        let file = TextFile::read(&context.sight(), &path).await?;
        let Replaced { text, count, note } = replace(&file, &input)?;
        let content = file.content(&text);
        let written =
            context.target.write(&context.bounds, &context.recorder, &path, content.as_bytes()).await;
        let written = written.map_err(|error| target_failure(&error))?;
        let diff = unified(&show_path(&path), &file.text, &text);
        let mut result =
            json!({"path": show_path(&path), "replaced": count, "bytes": written.bytes, "diff": diff});
        if let Some(note) = note {
            result["note"] = json!(note);
        }
        Ok(result)
    }
}

/// A text with its places replaced.
#[derive(Debug)]
struct Replaced {
    text: String,
    count: usize,
    /// A remark for the model, if the place was not exactly the one that it gave.
    note: Option<&'static str>,
}

/// The note on a match that differs in white space.
const LENIENT: &str = "`old` differed from the file in white space only, at one place; that place was replaced, and `new` was indented like it";

/// Refuses an edit that says nothing of what it replaces, also of a file that is not there yet.
fn check_old(input: &EditFileInput) -> Result<(), ToolFailure> {
    if input.old.is_empty() {
        return Err(ToolFailure::new("invalid_input", "`old` is empty")
            .hint("give the text to replace; make a new file, or write a whole one, with `write_file`"));
    }
    Ok(())
}

fn replace(file: &TextFile, input: &EditFileInput) -> Result<Replaced, ToolFailure> {
    check_old(input)?;
    // The file's own line ends come back when it is written.
    let plain = |text: &str| if file.has_crlf() { text.replace("\r\n", "\n") } else { text.to_owned() };
    let (old, new) = (plain(&input.old), plain(&input.new));
    if old == new {
        return Err(ToolFailure::new("invalid_input", "`old` and `new` are the same"));
    }
    let places: Vec<usize> = file.text.match_indices(&*old).map(|(at, _)| line_of(&file.text, at)).collect();
    match places.len() {
        0 => match replace_leniently(&file.text, &old, &new) {
            Some(text) => Ok(Replaced { text, count: 1, note: Some(LENIENT) }),
            None => Err(ToolFailure::new("old_not_found", "`old` is not in the file")
                .hint(hint_for_missing(&file.text, &old))),
        },
        1 => Ok(Replaced { text: file.text.replacen(&*old, &new, 1), count: 1, note: None }),
        count if input.all => Ok(Replaced { text: file.text.replace(&*old, &new), count, note: None }),
        count => {
            let lines: Vec<String> = places.iter().take(MAX_PLACES).map(ToString::to_string).collect();
            let message = format!("`old` is in the file {count} times, at lines {}", lines.join(", "));
            Err(ToolFailure::new("old_ambiguous", message)
                .hint("give more lines around the one that is meant, or set `all`"))
        }
    }
}

/// The text with whole lines replaced that differ from `old` in white space only, if there is exactly one such place. The new lines
/// get the indentation of the file's.
fn replace_leniently(text: &str, old: &str, new: &str) -> Option<String> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let wanted: Vec<String> = old.lines().map(squeezed).collect();
    // A few letters are found everywhere.
    if wanted.iter().map(String::len).sum::<usize>() < MIN_LENIENT || wanted.len() > lines.len() {
        return None;
    }
    let formed: Vec<String> = lines.iter().map(|line| squeezed(line)).collect();
    let mut places =
        formed.windows(wanted.len()).enumerate().filter(|(_, window)| *window == wanted).map(|(at, _)| at);
    let at = places.next().filter(|_| places.next().is_none())?;
    let found = lines.get(at..at + wanted.len())?;
    let indented = reindent(new, old.lines().next()?, found.first()?);
    let ends_line = found.last().is_some_and(|line| line.ends_with('\n'));
    let end = if ends_line && !indented.ends_with('\n') && !indented.is_empty() { "\n" } else { "" };
    let before: String = lines.get(..at)?.concat();
    let after: String = lines.get(at + wanted.len()..)?.concat();
    Some(format!("{before}{indented}{end}{after}"))
}

/// The lines of `new` moved by the difference between the indentation that the model gave and the file's.
fn reindent(new: &str, given: &str, found: &str) -> String {
    let (given, found) = (indentation(given), indentation(found));
    let moved = |line: &str| match line.strip_prefix(given) {
        Some(rest) if !line.trim().is_empty() => format!("{found}{rest}"),
        _ => line.to_owned(),
    };
    new.split_inclusive('\n').map(moved).collect()
}

fn indentation(line: &str) -> &str {
    line.get(..line.len() - line.trim_start().len()).unwrap_or_default()
}

/// The number of the line that a byte is in, counted from 1.
fn line_of(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|&byte| byte == b'\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(content: &str, old: &str, new: &str, all: bool) -> Result<(String, usize), ToolFailure> {
        let file = TextFile::new(content);
        let input = EditFileInput { path: String::new(), old: old.into(), new: new.into(), all };
        replace(&file, &input).map(|Replaced { text, count, .. }| (file.content(&text), count))
    }

    #[test]
    fn replaces_one_place_or_all() {
        assert_eq!(check("a b c", "b", "x", false).unwrap(), ("a x c".to_owned(), 1));
        assert_eq!(check("a a a", "a", "x", true).unwrap(), ("x x x".to_owned(), 3));
        assert_eq!(check("a\r\nb\r\nc\r\n", "a\nb", "x\ny", false).unwrap().0, "x\r\ny\r\nc\r\n");
        assert_eq!(check("\u{feff}a\r\nb\r\n", "b", "x", false).unwrap().0, "\u{feff}a\r\nx\r\n");
    }

    #[test]
    fn one_place_that_differs_in_white_space_is_replaced_and_told() {
        let text = "fn main() {\n\tlet count = compute(3);\n\tprint(count);\n}\n";
        let (replaced, count) =
            check(text, "    let count = compute(3);", "    let count = compute(4);\n    log();", false)
                .unwrap();
        assert_eq!(
            (replaced.as_str(), count),
            ("fn main() {\n\tlet count = compute(4);\n\tlog();\n\tprint(count);\n}\n", 1)
        );
        let file = TextFile::new(text);
        let input = EditFileInput {
            path: String::new(),
            old: "let  count = compute( 3 );".into(),
            new: "x".into(),
            all: false,
        };
        assert_eq!(replace(&file, &input).unwrap().note, Some(LENIENT));
        let twice = "\ta = compute(3);\n  a = compute(3);\n";
        assert_eq!(check(twice, "a  = compute(3);", "b", false).unwrap_err().code, "old_not_found");
        assert_eq!(
            check("a b\n", "a  b", "c", false).unwrap_err().code,
            "old_not_found",
            "too short to be sure"
        );
    }

    #[test]
    fn names_that_models_were_trained_on_are_taken() {
        let input = json!({"file_path": "a", "old_string": "b", "new_string": "c", "replace_all": true});
        let input: EditFileInput = serde_json::from_value(input).unwrap();
        assert_eq!((&*input.path, &*input.old, &*input.new, input.all), ("a", "b", "c", true));
    }

    #[test]
    fn tells_where_the_places_are() {
        let failure = check("x\ny\nx\n", "x", "z", false).unwrap_err();
        assert_eq!(failure.code, "old_ambiguous");
        assert!(failure.message.contains("lines 1, 3"), "{}", failure.message);
    }

    #[test]
    fn refuses_what_changes_nothing() {
        assert_eq!(check("x", "", "z", false).unwrap_err().code, "invalid_input");
        assert_eq!(check("x", "x", "x", false).unwrap_err().code, "invalid_input");
        assert_eq!(check("x", "y", "x", false).unwrap_err().code, "old_not_found");
    }
}
