//! The tables, and the migrations that bring older databases up to date.
//!
//! Each migration is one transaction that ends with its row in `migrations` and the new `user_version`, so
//! that it is applied wholly or not at all. A database from a newer version is refused untouched.

use buddy_protocol::{Clock, StoreError};
use rusqlite::{Connection, Transaction, TransactionBehavior, params};

use crate::error::from_sqlite;
use crate::summaries;
use crate::verify;
use crate::words;

/// The schema that this version writes.
#[expect(clippy::cast_possible_truncation, reason = "a handful of migrations")]
pub const SCHEMA: u32 = MIGRATIONS.len() as u32;

struct Migration {
    name: &'static str,
    sql: &'static str,
    /// Migrates data after the tables changed.
    fill: fn(&Transaction<'_>) -> Result<(), StoreError>,
}

/// The migration that made the chain, and with it the anchors.
pub(crate) const CHAIN: &str = "0005_chain";

const MIGRATIONS: &[Migration] = &[
    Migration { name: "0001_log", sql: include_str!("migrations/0001_log.sql"), fill: |_| Ok(()) },
    Migration {
        name: "0002_sessions",
        sql: include_str!("migrations/0002_sessions.sql"),
        // The list is filled below, when its table has all its columns.
        fill: |_| Ok(()),
    },
    Migration {
        name: "0003_usage",
        sql: include_str!("migrations/0003_usage.sql"),
        // Since this version the list includes the cost of each session, so older rows do not count.
        fill: summaries::clear,
    },
    Migration { name: "0004_words", sql: words::TABLE, fill: words::fill_before_authors },
    Migration { name: CHAIN, sql: include_str!("migrations/0005_chain.sql"), fill: verify::fill },
    Migration {
        name: "0006_authors",
        sql: include_str!("migrations/0006_authors.sql"),
        fill: summaries::fill_owners,
    },
    Migration {
        name: "0007_command_keys",
        sql: include_str!("migrations/0007_command_keys.sql"),
        fill: |_| Ok(()),
    },
];

const MARKERS: &str = "CREATE TABLE IF NOT EXISTS migrations (
    name          TEXT PRIMARY KEY,
    applied       INTEGER NOT NULL,
    events_before INTEGER NOT NULL,
    events_after  INTEGER NOT NULL
) STRICT";

/// The schema version of a database. Fails if it is newer than this version supports.
pub(crate) fn version(connection: &Connection) -> Result<u32, StoreError> {
    let found: u32 = connection
        .pragma_query_value(None, "user_version", |row| row.get(0))
        .map_err(|error| from_sqlite(&error))?;
    if found > SCHEMA {
        return Err(StoreError::TooNew { found, known: SCHEMA });
    }
    Ok(found)
}

/// Applies the missing migrations and returns their names.
pub(crate) fn migrate(
    connection: &mut Connection,
    clock: &dyn Clock,
) -> Result<Vec<&'static str>, StoreError> {
    let mut applied = Vec::new();
    for (from, migration) in (0..SCHEMA).zip(MIGRATIONS) {
        if version(connection)? == from {
            apply(connection, from, migration, clock)?;
            applied.push(migration.name);
        }
    }
    Ok(applied)
}

fn apply(
    connection: &mut Connection,
    from: u32,
    migration: &Migration,
    clock: &dyn Clock,
) -> Result<(), StoreError> {
    let sql = |error: rusqlite::Error| from_sqlite(&error);
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(sql)?;
    if version(&transaction)? != from {
        return Ok(());
    }
    transaction.execute_batch(MARKERS).map_err(sql)?;
    let before = if from == 0 { 0 } else { count(&transaction)? };
    transaction.execute_batch(migration.sql).map_err(sql)?;
    (migration.fill)(&transaction)?;
    let after = count(&transaction)?;
    if before != after {
        let name = migration.name;
        return Err(StoreError::Corrupt(format!(
            "migration {name} found {before} events and left {after}; nothing was changed"
        )));
    }
    let applied = i64::try_from(clock.now().0).unwrap_or(i64::MAX);
    transaction
        .execute(
            "INSERT INTO migrations VALUES (?1, ?2, ?3, ?4)",
            params![migration.name, applied, before, after],
        )
        .and_then(|_| transaction.pragma_update(None, "user_version", from + 1))
        .and_then(|()| transaction.commit())
        .map_err(sql)
}

fn count(transaction: &Transaction<'_>) -> Result<i64, StoreError> {
    transaction
        .query_row("SELECT count(*) FROM events", [], |row| row.get(0))
        .map_err(|error| from_sqlite(&error))
}
