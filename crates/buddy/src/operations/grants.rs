//! Saved grants of the user.

use std::sync::Arc;
use std::time::Duration;

use buddy_policy::{Grant, connects_with_git};
use buddy_protocol::operations::{GrantUptime, RevokeGrants, SaveGrant, SavedGrant};
use buddy_protocol::{MAX_GRANT_SECONDS, OperationError, OperationErrorCode};

use super::place::OperationPlace;
use crate::environment::Environment;
use crate::policy::{GrantBook, KeptGrant};
use crate::system::SystemClock;

/// The target that grants of the command line are about.
const LOCAL: &str = "local";

/// Those that hold now.
pub(super) fn list(environment: &Environment) -> anyhow::Result<Vec<SavedGrant>> {
    book(environment).list()?.into_iter().map(saved_grant).collect()
}

/// Saves one for commands on this machine.
pub(super) fn save(place: &OperationPlace, request: &SaveGrant) -> anyhow::Result<()> {
    let pattern = &request.pattern;
    let refused = |code, message: String| OperationError::new(code, message);
    let grant = Grant::command(pattern, LOCAL)
        .map_err(|error| refused(OperationErrorCode::Invalid, error.to_string()))?;
    if connects_with_git(pattern) {
        let message = format!(
            "cannot save `{pattern}`: buddy allows git to connect only to the place that its question shows. Answer that question \
             with `a` or `p`, or put `{pattern}` under `allow` in your own rules.toml."
        );
        return Err(refused(OperationErrorCode::Unsupported, message).into());
    }
    let longest = Duration::from_secs(MAX_GRANT_SECONDS);
    let time = request.lasts_ms.map_or(longest, Duration::from_millis).min(longest);
    let project = (!request.is_everywhere).then_some(place.cwd.as_path());
    book(&place.environment).add(grant, project, time)
}

/// Takes some back, or all.
pub(super) fn revoke(environment: &Environment, request: &RevokeGrants) -> anyhow::Result<usize> {
    book(environment).revoke(match request {
        RevokeGrants::Places(places) => Some(places),
        RevokeGrants::All => None,
    })
}

fn book(environment: &Environment) -> GrantBook {
    GrantBook::new(&environment.data, Arc::new(SystemClock))
}

fn saved_grant(kept: KeptGrant) -> anyhow::Result<SavedGrant> {
    Ok(SavedGrant {
        allows: kept.grant.to_string(),
        target: kept.grant.target.clone(),
        grant: serde_json::to_value(&kept.grant)?,
        project: kept.project.as_ref().map(|project| project.to_string_lossy().into_owned()),
        granted: kept.granted,
        expires: kept.expires,
        uptime: kept.uptime.map(|uptime| GrantUptime { boot: uptime.boot, millis: uptime.millis }),
    })
}
