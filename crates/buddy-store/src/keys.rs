//! Keys of commands and the outcomes of these commands. They are no part of a log, and are kept for a bounded time.

use std::time::Duration;

use buddy_protocol::{KeyClaim, KeyedCommand, UnixMillis};
use rusqlite::{OptionalExtension, Transaction, params};

/// The time for which a key is kept at least: a client that was away for a day may still repeat a command.
const KEPT: Duration = Duration::from_hours(48);

/// The maximum number of keys of one session. Beyond it the oldest are forgotten.
const MAX_KEYS: u32 = 10_000;

/// A change to the memory of keys.
#[derive(Debug)]
pub(crate) enum KeyJob {
    Claim { keyed: KeyedCommand, now: UnixMillis },
    Settle { keyed: KeyedCommand, outcome: Option<String> },
}

impl KeyJob {
    pub(crate) fn perform(&self, transaction: &Transaction<'_>) -> rusqlite::Result<KeyClaim> {
        match self {
            Self::Claim { keyed, now } => claim(transaction, keyed, *now),
            Self::Settle { keyed, outcome } => settle(transaction, keyed, outcome.as_deref()),
        }
    }
}

fn claim(
    transaction: &Transaction<'_>,
    keyed: &KeyedCommand,
    UnixMillis(now): UnixMillis,
) -> rusqlite::Result<KeyClaim> {
    let now = i64::try_from(now).unwrap_or(i64::MAX);
    let kept = i64::try_from(KEPT.as_millis()).unwrap_or(i64::MAX);
    let KeyedCommand { who, session, key, digest } = keyed;
    transaction
        .prepare_cached("DELETE FROM command_keys WHERE time < ?1")?
        .execute([now.saturating_sub(kept)])?;
    let known = transaction
        .prepare_cached(
            "SELECT digest, outcome FROM command_keys WHERE who = ?1 AND session = ?2 AND key = ?3",
        )?
        .query_row([who.as_str(), session.as_str(), key.as_str()], |row| {
            Ok((row.get::<_, String>(0)?, row.get::<_, Option<String>>(1)?))
        })
        .optional()?;
    match known {
        Some((known, _)) if known != *digest => return Ok(KeyClaim::Taken),
        Some((_, Some(outcome))) => return Ok(KeyClaim::Settled(outcome)),
        Some((_, None)) => return Ok(KeyClaim::Unsettled),
        None => {}
    }
    transaction
        .prepare_cached(
            "INSERT INTO command_keys (who, session, key, digest, time) VALUES (?1, ?2, ?3, ?4, ?5)",
        )?
        .execute(params![who.as_str(), session.as_str(), key.as_str(), digest, now])?;
    transaction
        .prepare_cached(
            "DELETE FROM command_keys WHERE rowid IN
             (SELECT rowid FROM command_keys WHERE session = ?1 ORDER BY time DESC, rowid DESC LIMIT -1 OFFSET ?2)",
        )?
        .execute(params![session.as_str(), MAX_KEYS])?;
    Ok(KeyClaim::Fresh)
}

fn settle(
    transaction: &Transaction<'_>,
    keyed: &KeyedCommand,
    outcome: Option<&str>,
) -> rusqlite::Result<KeyClaim> {
    let KeyedCommand { who, session, key, digest } = keyed;
    let place = params![who.as_str(), session.as_str(), key.as_str(), digest, outcome];
    let sql = "UPDATE command_keys SET outcome = ?5
               WHERE who = ?1 AND session = ?2 AND key = ?3 AND digest = ?4 AND outcome IS NULL";
    transaction.prepare_cached(sql)?.execute(place)?;
    if outcome.is_none() {
        let place = params![who.as_str(), session.as_str(), key.as_str(), digest];
        let sql = "DELETE FROM command_keys
                   WHERE who = ?1 AND session = ?2 AND key = ?3 AND digest = ?4 AND outcome IS NULL";
        transaction.prepare_cached(sql)?.execute(place)?;
    }
    Ok(KeyClaim::Fresh)
}
