//! `read_file`: the text of a file, whole or a range of lines, or the image in it.

use std::path::Path;

use async_trait::async_trait;
use buddy_exec::logs::read_log_lines;
use buddy_exec::{LineRange, Lines, TargetError, quote};
use buddy_policy::{Action, Intent, Tier};
use buddy_protocol::{MAX_IMAGE_BYTES, ToolFailure, ToolKind};
use futures::FutureExt;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::images::{fitted, kind};
use crate::tools::call_place::CallPlace;
use crate::tools::clip::TextClass;
use crate::tools::failure::target_failure;
use crate::tools::path_text::show_path;
use crate::tools::tool::{Preview, Sight, Tool, ToolContext};
use crate::tools::tool_spec::ToolSpec;

/// How much of a file must be read to tell what it is.
const HEAD_BYTES: u64 = 32;

/// The most bytes of a file that are read.
const MAX_BYTES: usize = 1024 * 1024;

/// The most lines of one call.
const MAX_LINES: u64 = 2_000;

/// The beginning of a path to the log of a command on another host: it is on this machine, under the name that the result said.
pub(crate) const LOG_SCHEME: &str = "log:";

pub(crate) struct ReadFile;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReadFileInput {
    /// The file, absolute or relative to the working directory.
    #[serde(alias = "file_path")]
    path: String,
    /// The first line to give, counted from 1.
    #[serde(default)]
    offset: Option<u64>,
    /// How many lines to give, up to 2,000.
    #[serde(default)]
    limit: Option<u64>,
}

#[async_trait]
impl Tool for ReadFile {
    type Input = ReadFileInput;

    const SPEC: ToolSpec = ToolSpec {
        name: "read_file",
        aliases: &["fs_read"],
        kind: ToolKind::Read,
        tier: Tier::Auto,
        description: include_str!("read_file.md"),
        text: TextClass::File,
    };

    fn title(input: &ReadFileInput) -> String {
        format!("read {}", input.path)
    }

    fn intent(input: &ReadFileInput, place: &CallPlace) -> Intent {
        if input.path.starts_with(LOG_SCHEME) {
            // The results of this agent's commands, which it has been given the most of.
            return Intent::nothing();
        }
        Intent::of(Action::Read(place.judged(&input.path)))
    }

    fn preview(input: &ReadFileInput, sight: Sight) -> Option<Preview> {
        if input.path.starts_with(LOG_SCHEME) {
            return None;
        }
        let path = sight.place.resolve(&input.path);
        let look = async move {
            let read = sight.target.read(&sight.bounds, &path, 0).await;
            read.map(|_| None).map_err(|error| read_failure(&error))
        };
        Some(look.boxed())
    }

    async fn run(input: ReadFileInput, context: &ToolContext) -> Result<Value, ToolFailure> {
        let path = context.place.resolve(&input.path);
        let range = LineRange {
            first: input.offset.unwrap_or(1).max(1),
            count: input.limit.unwrap_or(MAX_LINES).min(MAX_LINES),
            max_bytes: MAX_BYTES,
        };
        let read = match input.path.strip_prefix(LOG_SCHEME) {
            Some(name) if !(context.is_own_log)(name) => {
                let message = format!("`{name}` is no log of a command of this conversation");
                return Err(ToolFailure::new("not_found", message));
            }
            Some(name) => read_log(name.to_owned(), range, context).await,
            None => context.target.read_lines(&context.bounds, &path, range).await,
        };
        let found = read.map_err(|error| read_failure(&error))?;
        if found.is_binary
            && let Some(image) = image(&path, context).await?
        {
            return Ok(image);
        }
        if found.is_binary {
            let message = format!("`{}` is a binary file of {} bytes", show_path(&path), found.size);
            return Err(
                ToolFailure::new("binary", message).hint("look at it with a command such as `file` or `xxd`")
            );
        }
        let text = String::from_utf8_lossy(&found.bytes);
        let (content, lines) = whole_lines(&text, context.text_limit).unwrap_or((&text, found.lines));
        let long = LongLine::of(content, context.text_limit);
        let content = long.as_ref().map_or(content, |long| long.head);
        let next = range.first.saturating_add(lines);
        // Where the number of lines is not known, the file is longer than what was read of it.
        let left = found.total.map_or(u64::MAX, |total| (total + 1).saturating_sub(next));
        let is_cut = left > 0 && input.limit.is_none_or(|limit| lines < limit);
        let mut result = json!({
            "path": show_path(&path),
            "content": content,
            "first_line": range.first,
            "lines": lines,
            "total_lines": found.total,
            "size": found.size,
            "truncated": is_cut || found.truncated || long.is_some(),
        });
        if is_cut {
            result["next_offset"] = json!(next);
            let left = found.total.map_or_else(|| "more".to_owned(), |_| left.to_string());
            result["note"] = json!(format!("{left} lines are left; read on with `offset` {next}"));
        }
        if let Some(long) = long {
            let cut = long.note(range.first, found.truncated, &input.path);
            let rest = result["note"].as_str().map(|note| format!("; {note}")).unwrap_or_default();
            result["note"] = json!(format!("{cut}{rest}"));
        }
        Ok(result)
    }
}

/// A first line that is longer than what the model is given.
struct LongLine<'t> {
    head: &'t str,
    /// The characters of the line, as far as it was read.
    characters: usize,
    limit: usize,
}

impl<'t> LongLine<'t> {
    fn of(content: &'t str, limit: usize) -> Option<Self> {
        let (end, _) = content.char_indices().nth(limit)?;
        let line = content.strip_suffix('\n').unwrap_or(content);
        Some(Self { head: content.get(..end)?, characters: line.chars().count(), limit })
            .filter(|long| long.characters > limit)
    }

    /// The way to the rest. `cut` of most systems counts bytes.
    fn note(&self, line: u64, is_longer: bool, path: &str) -> String {
        let more = if is_longer { "more than " } else { "" };
        format!(
            "line {line} is cut after {} of {more}{} characters; read the rest with `sed -n {line}p {} | cut -b{}-`",
            self.limit,
            self.characters,
            quote(path),
            self.head.len() + 1
        )
    }
}

/// The failure to read a file. A directory has a tool of its own.
fn read_failure(error: &TargetError) -> ToolFailure {
    let failure = target_failure(error);
    match error {
        TargetError::NotAFile { .. } => failure.hint("list a directory with `list_directory`"),
        _ => failure,
    }
}

/// The whole lines at the beginning of a text that have at most so many characters, and their number; none if all of it has. A first
/// line that is longer stays.
fn whole_lines(text: &str, limit: usize) -> Option<(&str, u64)> {
    let (end, _) = text.char_indices().nth(limit)?;
    let head = text.get(..end).unwrap_or_default();
    let end = head.rfind('\n').or_else(|| text.find('\n')).map_or(text.len(), |place| place + 1);
    let kept = text.get(..end).unwrap_or(text);
    Some((kept, u64::try_from(kept.lines().count()).unwrap_or(u64::MAX)))
}

/// Lines of the log of a command.
async fn read_log(name: String, range: LineRange, context: &ToolContext) -> Result<Lines, TargetError> {
    let logs = context.log.parent().unwrap_or(Path::new("/")).to_owned();
    let lost = |source: tokio::task::JoinError| TargetError::Io {
        action: "read the log",
        path: context.log.clone(),
        source: source.into(),
    };
    tokio::task::spawn_blocking(move || read_log_lines(&logs, &name, range)).await.map_err(lost)?
}

/// The words about an image, which the model is shown; none where the file is none.
async fn image(path: &Path, context: &ToolContext) -> Result<Option<Value>, ToolFailure> {
    let read = async |limit| {
        let read = context.target.read(&context.bounds, path, limit).await;
        read.map_err(|error| target_failure(&error))
    };
    if kind(&read(HEAD_BYTES).await?.bytes).is_none() {
        return Ok(None);
    }
    let found = read(MAX_IMAGE_BYTES as u64 + 1).await?;
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
    // Decoding takes a while, which nobody else should have to wait for.
    let fitted = tokio::task::spawn_blocking(move || fitted(name, &found.bytes)).await;
    let image = fitted
        .map_err(|_| ToolFailure::new("internal", "the image could not be decoded"))?
        .map_err(|error| ToolFailure::new("bad_image", error.to_string()))?;
    let told = json!({
        "path": show_path(path),
        "image": image.media_type.name(),
        "width": image.width,
        "height": image.height,
    });
    context.show(image);
    Ok(Some(told))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_loses_its_tail_at_the_end_of_a_line() {
        assert_eq!(whole_lines("one\ntwo\nthree\n", 9), Some(("one\ntwo\n", 2)));
        assert_eq!(whole_lines("one\ntwo\n", 8), None);
        assert_eq!(whole_lines("é".repeat(20).as_str(), 5), Some(("é".repeat(20).as_str(), 1)));
        assert_eq!(whole_lines("long line\nmore\n", 4), Some(("long line\n", 1)));
    }
}
