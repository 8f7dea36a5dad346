//! `apply_patch`: changes to several files, all or none.
//!
//! First everything is read and computed, and whatever does not fit ends the call with nothing touched. Then it is
//! written, and when that fails in the midst what was written is put back.

mod change;
mod envelope;
mod hunks;
mod perform;
mod unified;

use async_trait::async_trait;
use buddy_policy::{Action, Intent, Tier};
use buddy_protocol::{ToolFailure, ToolKind};
use futures::FutureExt;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use self::change::{Change, Edit, bad};
use crate::tools::call_place::CallPlace;
use crate::tools::clip::TextClass;
use crate::tools::foreseen::Foreseen;
use crate::tools::tool::{Preview, Sight, Tool, ToolContext};
use crate::tools::tool_spec::ToolSpec;

/// The largest patch that is taken, in bytes.
const MAX_PATCH: usize = 4 * 1024 * 1024;
/// Files that one patch may touch.
const MAX_FILES: usize = 200;

pub(crate) struct ApplyPatch;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ApplyPatchInput {
    /// The patch: a unified diff, or the form that begins with `*** Begin Patch`.
    patch: String,
}

#[async_trait]
impl Tool for ApplyPatch {
    type Input = ApplyPatchInput;

    const SPEC: ToolSpec = ToolSpec {
        name: "apply_patch",
        aliases: &["fs_apply_patch"],
        kind: ToolKind::Edit,
        tier: Tier::Batch,
        description: include_str!("apply_patch.md"),
        text: TextClass::File,
    };

    fn title(input: &ApplyPatchInput) -> String {
        match parse(&input.patch) {
            Ok(changes) => {
                let paths: Vec<&str> = changes.iter().map(|change| change.path.as_str()).collect();
                format!("patch {}", paths.join(", "))
            }
            Err(_) => "patch".to_owned(),
        }
    }

    fn intent(input: &ApplyPatchInput, place: &CallPlace) -> Intent {
        // A patch that is not understood touches nothing: running it fails the same way.
        let changes = parse(&input.patch).unwrap_or_default();
        let actions = changes.iter().flat_map(|change| {
            let path = place.judged(&change.path);
            match &change.edit {
                Edit::Add { .. } => vec![Action::Write(path)],
                Edit::Update { to: None, .. } => vec![Action::Read(path.clone()), Action::Write(path)],
                Edit::Delete => vec![Action::Read(path.clone()), Action::Delete(path)],
                Edit::Update { to: Some(to), .. } => {
                    let to = place.judged(to);
                    vec![Action::Read(path.clone()), Action::Delete(path), Action::Write(to)]
                }
            }
        });
        Intent { actions: actions.collect(), ..Intent::nothing() }.as_edit()
    }

    fn preview(input: &ApplyPatchInput, sight: Sight) -> Option<Preview> {
        let changes = parse(&input.patch);
        let diff = async move {
            let operations = perform::compute(&changes?, &sight).await?;
            Ok(Some(Foreseen::Diff(operations.iter().map(perform::Operation::diff).collect())))
        };
        Some(diff.boxed())
    }

    async fn run(input: ApplyPatchInput, context: &ToolContext) -> Result<Value, ToolFailure> {
        let changes = parse(&input.patch)?;
        let operations = perform::compute(&changes, &context.sight()).await?;
        perform::perform(&operations, context).await?;
        let files: Vec<Value> = operations.iter().map(perform::Operation::described).collect();
        let diffs: Vec<String> = operations.iter().map(perform::Operation::diff).collect();
        Ok(json!({"files": files, "diff": diffs.concat()}))
    }
}

fn parse(patch: &str) -> Result<Vec<Change>, ToolFailure> {
    if patch.len() > MAX_PATCH {
        let message = format!("the patch has {} bytes, {MAX_PATCH} are allowed", patch.len());
        return Err(ToolFailure::new("too_large", message).hint("apply it in parts"));
    }
    let text = patch.replace("\r\n", "\n");
    let changes = if text.trim_start().starts_with(envelope::BEGIN) {
        envelope::parse(text.trim())?
    } else {
        unified::parse(&text)?
    };
    if changes.is_empty() {
        return Err(bad("the patch names no file".to_owned()));
    }
    if changes.len() > MAX_FILES {
        return Err(bad(format!("the patch touches {} files, {MAX_FILES} are allowed", changes.len())));
    }
    Ok(changes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn actions(patch: &str) -> Vec<Action> {
        let endpoints = buddy_web::Endpoints::usual().unwrap();
        let place = CallPlace {
            cwd: "/w".into(),
            home: None,
            endpoints,
            links: buddy_exec::link_lookup(),
            has_panes: false,
        };
        ApplyPatch::intent(&ApplyPatchInput { patch: patch.to_owned() }, &place).actions
    }

    #[test]
    fn the_intent_names_every_path() {
        let patch = "*** Begin Patch\n*** Add File: new\n+x\n*** Delete File: ../old\n*** Update File: a\n\
                     *** Move to: b\n@@\n-x\n+y\n*** End Patch";
        let expected = [
            Action::Write("/w/new".into()),
            Action::Read("/old".into()),
            Action::Delete("/old".into()),
            Action::Read("/w/a".into()),
            Action::Delete("/w/a".into()),
            Action::Write("/w/b".into()),
        ];
        assert_eq!(actions(patch), expected);
        let diff = "--- a/one\n+++ b/one\n@@ -1 +1 @@\n-x\n+y\n--- /dev/null\n+++ b/two\n@@ -0,0 +1 @@\n+x\n\
                    --- a/three\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n";
        let expected = [
            Action::Read("/w/one".into()),
            Action::Write("/w/one".into()),
            Action::Write("/w/two".into()),
            Action::Read("/w/three".into()),
            Action::Delete("/w/three".into()),
        ];
        assert_eq!(actions(diff), expected);
    }

    #[test]
    fn what_is_no_patch_is_refused() {
        for patch in ["", "hello", "*** Begin Patch\n*** End Patch", "--- a\n+++ b\n"] {
            assert_eq!(parse(patch).unwrap_err().code, "bad_patch", "{patch}");
        }
        assert_eq!(parse(&"x".repeat(MAX_PATCH + 1)).unwrap_err().code, "too_large");
    }
}
