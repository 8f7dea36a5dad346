//! The guards of the user.

use buddy_protocol::operations::{GuardsView, PendingGuards};
use similar::TextDiff;

use super::failure::failure_of;
use crate::environment::Environment;
use crate::policy::{Guards, Pending, check_guards};

/// The guards in force, and those that wait for approval.
pub(super) fn show(environment: &Environment) -> anyhow::Result<GuardsView> {
    let guards = Guards::new(&environment.data);
    let standing = guards.standing()?;
    let approved = standing.approved.as_deref().unwrap_or_default();
    let pending = standing.pending.map(|pending| {
        let text = text_of(pending);
        let wanted = text.as_deref().unwrap_or_default();
        let diff = TextDiff::from_lines(approved, wanted);
        let diff = diff.unified_diff().header("takes effect", "waits for your approval").to_string();
        let problem = if wanted.is_empty() { None } else { check_guards(wanted).err() };
        PendingGuards { problem: problem.as_ref().map(failure_of), diff, text }
    });
    let file = guards.file().to_string_lossy().into_owned();
    Ok(GuardsView { file, approved: standing.approved.clone(), pending })
}

/// Puts the text into effect that the user saw.
pub(super) fn approve(environment: &Environment, seen: Option<String>) -> anyhow::Result<()> {
    if let Some(text) = seen.as_deref().filter(|text| !text.is_empty()) {
        check_guards(text)?;
    }
    let pending = seen.map_or(Pending::Removal, Pending::Text);
    Guards::new(&environment.data).approve(&pending)
}

fn text_of(pending: Pending) -> Option<String> {
    match pending {
        Pending::Text(text) => Some(text),
        Pending::Removal => None,
    }
}
