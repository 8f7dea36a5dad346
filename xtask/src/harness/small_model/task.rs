//! The tasks: data, read from one file.

use std::collections::BTreeMap;
use std::path::{Component, Path};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

const TASKS: &str = include_str!("../fixtures/small-model.json");

/// The kind of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum TaskKind {
    Read,
    Write,
    Fix,
    Run,
}

impl TaskKind {
    /// All kinds, in the order of the table.
    pub(super) const ALL: [Self; 4] = [Self::Read, Self::Write, Self::Fix, Self::Run];

    /// Its name in the file of tasks.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Fix => "fix",
            Self::Run => "run",
        }
    }

    /// The work, as the table names it.
    pub(super) fn work(self) -> &'static str {
        match self {
            Self::Read => "read a file and answer",
            Self::Write => "make a file",
            Self::Fix => "fix a typo in a file",
            Self::Run => "run a command and report",
        }
    }
}

/// A task.
#[derive(Debug)]
pub(super) struct SmallTask {
    pub(super) id: String,
    pub(super) kind: TaskKind,
    pub(super) prompt: String,
    /// The files of the workspace at the start.
    pub(super) files: BTreeMap<String, String>,
    pub(super) effect: Effect,
}

/// The effect that shows that a task is done.
#[derive(Debug)]
pub(super) enum Effect {
    /// The answer has this word.
    Answer(String),
    /// The file at this path has this content. White space around it does not count.
    File { path: String, content: String },
}

/// Reads the tasks.
pub(super) fn load() -> Result<Vec<SmallTask>> {
    parse(TASKS)
}

fn parse(text: &str) -> Result<Vec<SmallTask>> {
    let values: Vec<Value> = serde_json::from_str(text)?;
    values.iter().map(|value| read(value).with_context(|| format!("task {}", value["id"]))).collect()
}

fn read(value: &Value) -> Result<SmallTask> {
    let text = |name: &str| value[name].as_str().map(ToOwned::to_owned);
    let need = |name: &str| text(name).with_context(|| format!("no `{name}`"));
    let kind = need("kind")?;
    let kind = TaskKind::ALL.into_iter().find(|known| known.name() == kind).context("an unknown kind")?;
    let files = value["files"].as_object().context("no `files`")?;
    let files = files
        .iter()
        .map(|(path, text)| Ok((inside(path)?, text.as_str().context("a file without text")?.to_owned())));
    let effect = match (text("answer"), text("file"), text("content")) {
        (Some(word), None, None) => Effect::Answer(word),
        (None, Some(path), Some(content)) => Effect::File { path: inside(&path)?, content },
        _ => bail!("neither an `answer` nor a `file` with its `content`"),
    };
    Ok(SmallTask {
        id: need("id")?,
        kind,
        prompt: need("prompt")?,
        files: files.collect::<Result<_>>()?,
        effect,
    })
}

/// A path that stays in the workspace.
fn inside(path: &str) -> Result<String> {
    let is_inside = Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
    ensure!(is_inside && !path.is_empty(), "`{path}` is not in the workspace");
    Ok(path.to_owned())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::judge::{has_content, has_word};
    use super::*;

    #[test]
    fn there_are_five_tasks_of_each_kind_with_names_of_their_own() {
        let tasks = load().unwrap();
        for kind in TaskKind::ALL {
            assert_eq!(tasks.iter().filter(|task| task.kind == kind).count(), 5, "{kind:?}");
        }
        assert_eq!(tasks.iter().map(|task| &task.id).collect::<BTreeSet<_>>().len(), 20);
    }

    #[test]
    fn no_task_is_done_at_the_start_or_answered_by_its_prompt() {
        for task in load().unwrap() {
            let is_done = match &task.effect {
                Effect::Answer(word) => has_word(&task.prompt, word),
                Effect::File { path, content } => {
                    has_content(task.files.get(path).map(|text| &**text), content)
                }
            };
            assert!(!is_done, "{}", task.id);
        }
    }

    fn fails(change: &str, with: &str) {
        let text = r#"[{"id": "a", "kind": "read", "prompt": "p", "files": {"f": "x"}, "answer": "x"}]"#;
        parse(text).unwrap();
        let changed = text.replace(change, with);
        assert_ne!(changed, text);
        assert!(parse(&changed).is_err(), "{changed}");
    }

    #[test]
    fn a_task_without_kind_effect_or_place_is_an_error() {
        fails("\"read\"", "\"dance\"");
        fails(", \"answer\": \"x\"", "");
        fails("\"answer\"", "\"file\"");
        fails("\"f\"", "\"../f\"");
        fails("\"f\"", "\"/f\"");
    }
}
