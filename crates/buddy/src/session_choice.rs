//! The session that a user means: by its id, by the digits that it begins with, or the one that was used last.

use std::path::Path;

use anyhow::{Context, bail};
use buddy_protocol::{
    ForkKind, ForkPoint, OperationError, OperationErrorCode, Principal, SessionId, SessionQuery,
    SessionSummary, Sessions, SessionsError,
};

/// The least digits that stand for an id.
const MIN_DIGITS: usize = 4;

/// The one of these ids that a user means by the digits that it begins with, as lists on a terminal show them. None where
/// none begins so.
pub(crate) fn short_id<'a>(ids: &[&'a str], digits: &str) -> anyhow::Result<Option<&'a str>> {
    if let Some(same) = ids.iter().find(|id| **id == digits) {
        return Ok(Some(same));
    }
    let bare = |id: &'a str| id.split_once('_').map_or(id, |(_, digits)| digits);
    let is_meant = |id: &&&'a str| id.starts_with(digits) || bare(id).starts_with(digits);
    let mut meant = ids.iter().filter(is_meant).filter(|_| digits.len() >= MIN_DIGITS);
    match (meant.next(), meant.next()) {
        (Some(first), Some(second)) => {
            bail!("`{digits}` can be `{first}` or `{second}`; add more of its digits")
        }
        (found, _) => Ok(found.copied()),
    }
}

/// A session by its id, or by the digits that it begins with.
pub(crate) async fn find_session(
    sessions: &dyn Sessions,
    who: &Principal,
    id: &str,
) -> anyhow::Result<SessionSummary> {
    let id = match id.parse::<SessionId>() {
        Ok(id) => id,
        Err(error) => {
            let all = sessions.list(who, SessionQuery::default()).await?.sessions;
            let ids: Vec<&str> = all.iter().map(|session| session.id.as_str()).collect();
            match short_id(&ids, id)? {
                Some(found) => found.parse()?,
                None => return Err(not_found(&error)),
            }
        }
    };
    match sessions.find(who, &id).await {
        Err(error @ SessionsError::NotFound(_)) => Err(not_found(&error)),
        found => Ok(found?),
    }
}

fn not_found(error: &impl std::fmt::Display) -> anyhow::Error {
    let message = format!("{error}; `buddy sessions` lists them");
    OperationError::new(OperationErrorCode::NotFound, message).into()
}

/// The conversation that was used last, of a directory or of all. Tasks do not count, nor sessions in which nothing was
/// said yet.
pub(crate) async fn find_last_session(
    sessions: &dyn Sessions,
    who: &Principal,
    cwd: Option<&Path>,
) -> anyhow::Result<SessionSummary> {
    let cwd = cwd.map(|cwd| cwd.to_string_lossy().into_owned());
    let place = cwd.as_ref().map(|cwd| format!(" in `{cwd}`")).unwrap_or_default();
    let found = sessions.list(who, SessionQuery { cwd, ..SessionQuery::default() }).await?.sessions;
    let found = found.into_iter().find(SessionSummary::is_conversation);
    found.with_context(|| format!("there is no session to resume{place}"))
}

/// A copy of a session, to go on in.
pub(crate) async fn fork_session(
    sessions: &dyn Sessions,
    who: &Principal,
    session: &SessionId,
) -> anyhow::Result<SessionSummary> {
    let fork = sessions.fork(who, session, ForkPoint::Now, ForkKind::Beside).await?;
    Ok(sessions.find(who, &fork).await?)
}
