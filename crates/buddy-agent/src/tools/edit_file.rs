//! `edit_file`: one piece of text in a file replaced by another.

use async_trait::async_trait;
use buddy_policy::{Action, Intent, Tier};
use buddy_protocol::{ToolFailure, ToolKind};
use futures::FutureExt;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::tools::closest::hint_for_missing;
use crate::tools::failure::target_failure;
use crate::tools::preview::Foreseen;
use crate::tools::text_file::TextFile;
use crate::tools::tool::{Place, Preview, Sight, Spec, TextClass, Tool, ToolContext, shown};
use crate::tools::unified::unified;

/// Places named when there is more than one.
const MAX_PLACES: usize = 20;

pub(crate) struct EditFile;

#[derive(Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EditFileInput {
    /// The file, absolute or relative to the working directory.
    path: String,
    /// The text to replace, exactly as it is in the file.
    old: String,
    /// The text to put in its place.
    new: String,
    /// Whether to replace every place where `old` is found; otherwise there must be one.
    #[serde(default)]
    all: bool,
}

#[async_trait]
impl Tool for EditFile {
    type Input = EditFileInput;

    const SPEC: Spec = Spec {
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

    fn intent(input: &EditFileInput, place: &Place) -> Intent {
        let path = place.judged(&input.path);
        let actions = vec![Action::Read(path.clone()), Action::Write(path)];
        Intent { actions, ..Intent::nothing() }.as_edit()
    }

    fn preview(input: &EditFileInput, sight: Sight) -> Option<Preview> {
        let input = input.clone();
        let diff = async move {
            let path = sight.place.resolve(&input.path);
            let file = TextFile::read(&sight, &path).await?;
            let (text, _) = replace(&file, &input)?;
            Ok(Some(Foreseen::Diff(unified(&shown(&path), &file.text, &text))))
        };
        Some(diff.boxed())
    }

    async fn run(input: EditFileInput, context: &ToolContext) -> Result<Value, ToolFailure> {
        let path = context.place.resolve(&input.path);
        let file = TextFile::read(&context.sight(), &path).await?;
        let (text, replaced) = replace(&file, &input)?;
        let content = file.content(&text);
        let written =
            context.target.write(&context.bounds, &context.recorder, &path, content.as_bytes()).await;
        let written = written.map_err(|error| target_failure(&error))?;
        let diff = unified(&shown(&path), &file.text, &text);
        Ok(json!({"path": shown(&path), "replaced": replaced, "bytes": written.bytes, "diff": diff}))
    }
}

/// The new text, and how many places were replaced.
fn replace(file: &TextFile, input: &EditFileInput) -> Result<(String, usize), ToolFailure> {
    if input.old.is_empty() {
        return Err(ToolFailure::new("invalid_input", "`old` is empty")
            .hint("give the text to replace, or write the whole file with `write_file`"));
    }
    // The file's own line ends come back when it is written.
    let plain = |text: &str| if file.has_crlf() { text.replace("\r\n", "\n") } else { text.to_owned() };
    let (old, new) = (plain(&input.old), plain(&input.new));
    if old == new {
        return Err(ToolFailure::new("invalid_input", "`old` and `new` are the same"));
    }
    let places: Vec<usize> = file.text.match_indices(&*old).map(|(at, _)| line_of(&file.text, at)).collect();
    match places.len() {
        0 => Err(ToolFailure::new("old_not_found", "`old` is not in the file")
            .hint(hint_for_missing(&file.text, &old))),
        1 => Ok((file.text.replacen(&*old, &new, 1), 1)),
        count if input.all => Ok((file.text.replace(&*old, &new), count)),
        count => {
            let lines: Vec<String> = places.iter().take(MAX_PLACES).map(ToString::to_string).collect();
            let message = format!("`old` is in the file {count} times, at lines {}", lines.join(", "));
            Err(ToolFailure::new("old_ambiguous", message)
                .hint("give more lines around the one that is meant, or set `all`"))
        }
    }
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
        replace(&file, &input).map(|(text, count)| (file.content(&text), count))
    }

    #[test]
    fn replaces_one_place_or_all() {
        assert_eq!(check("a b c", "b", "x", false).unwrap(), ("a x c".to_owned(), 1));
        assert_eq!(check("a a a", "a", "x", true).unwrap(), ("x x x".to_owned(), 3));
        assert_eq!(check("a\r\nb\r\nc\r\n", "a\nb", "x\ny", false).unwrap().0, "x\r\ny\r\nc\r\n");
        assert_eq!(check("\u{feff}a\r\nb\r\n", "b", "x", false).unwrap().0, "\u{feff}a\r\nx\r\n");
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
