//! `git_status`: the branch, and what changed in the work tree and the index.

use async_trait::async_trait;
use buddy_policy::{Action, Intent, Tier};
use buddy_protocol::{ToolFailure, ToolKind};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::repository::Repository;
use crate::tools::call_place::CallPlace;
use crate::tools::clip::TextClass;
use crate::tools::path_text::show_path;
use crate::tools::tool::{Tool, ToolContext};
use crate::tools::tool_spec::ToolSpec;

pub(crate) struct GitStatus;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GitStatusInput {
    /// A directory of the repository, the working directory by default.
    #[serde(default)]
    path: Option<String>,
}

impl GitStatusInput {
    fn path(&self) -> &str {
        self.path.as_deref().unwrap_or(".")
    }
}

#[async_trait]
impl Tool for GitStatus {
    type Input = GitStatusInput;

    const SPEC: ToolSpec = ToolSpec {
        name: "git_status",
        aliases: &[],
        kind: ToolKind::Read,
        tier: Tier::Auto,
        description: include_str!("status.md"),
        text: TextClass::File,
    };

    fn title(input: &GitStatusInput) -> String {
        match input.path() {
            "." => "git status".to_owned(),
            path => format!("git status in {path}"),
        }
    }

    fn intent(input: &GitStatusInput, place: &CallPlace) -> Intent {
        Intent::of(Action::Read(place.judged(input.path())))
    }

    async fn run(input: GitStatusInput, context: &ToolContext) -> Result<Value, ToolFailure> {
        let repository = Repository::open(&context.place.resolve(input.path()), context).await?;
        let arguments = ["status", "--porcelain=v2", "-z", "--branch", "--ignore-submodules=all"];
        let said = repository.read(&arguments, context).await?.or_failure()?;
        let mut result = read(&said.records());
        result["top"] = json!(show_path(&repository.top));
        if !repository.is_plain() {
            result["git_dir"] = json!(show_path(&repository.git_dir));
        }
        result["truncated"] = json!(said.is_cut);
        Ok(result)
    }
}

/// The second format of porcelain status, as its documentation has it.
fn read(records: &[String]) -> Value {
    let mut branch = Map::new();
    let mut files = Vec::new();
    let mut records = records.iter();
    while let Some(record) = records.next() {
        let (kind, rest) = record.split_once(' ').unwrap_or((record, ""));
        match kind {
            "#" => {
                let (name, value) = rest.split_once(' ').unwrap_or((rest, ""));
                branch.insert(name.trim_start_matches("branch.").to_owned(), json!(value));
            }
            // Seven fields stand before the path of a change, eight before that of a rename, nine before a conflict's.
            "1" => files.extend(file(rest, 7, None)),
            "2" => files.extend(file(rest, 8, records.next())),
            "u" => files.extend(file(rest, 9, None)),
            "?" => files.push(json!({"path": rest, "state": "untracked"})),
            _ => {}
        }
    }
    json!({"branch": branch, "files": files})
}

fn file(rest: &str, fields: usize, from: Option<&String>) -> Option<Value> {
    let path = rest.splitn(fields + 1, ' ').nth(fields)?;
    let mut letters = rest.chars();
    let (index, work_tree) = (letters.next()?, letters.next()?);
    let mut file = json!({"path": path, "index": word(index), "work_tree": word(work_tree)});
    if let Some(from) = from {
        file["from"] = json!(from);
    }
    Some(file)
}

fn word(letter: char) -> &'static str {
    match letter {
        '.' => "unchanged",
        'M' => "modified",
        'T' => "type changed",
        'A' => "added",
        'D' => "deleted",
        'R' => "renamed",
        'C' => "copied",
        'U' => "unmerged",
        _ => "other",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_renames_conflicts_and_strangers_are_read() {
        let records = [
            "# branch.oid 1234",
            "# branch.head main",
            "# branch.ab +1 -2",
            "1 .M N... 100644 100644 100644 aaaa bbbb a file.txt",
            "2 R. N... 100644 100644 100644 aaaa bbbb R100 new name",
            "old name",
            "u UU N... 100644 100644 100644 100644 aaaa bbbb cccc both.txt",
            "? new\nline",
        ];
        let expected = json!({
            "branch": {"oid": "1234", "head": "main", "ab": "+1 -2"},
            "files": [
                {"path": "a file.txt", "index": "unchanged", "work_tree": "modified"},
                {"path": "new name", "index": "renamed", "work_tree": "unchanged", "from": "old name"},
                {"path": "both.txt", "index": "unmerged", "work_tree": "unmerged"},
                {"path": "new\nline", "state": "untracked"},
            ],
        });
        assert_eq!(read(&records.map(str::to_owned)), expected);
    }
}
