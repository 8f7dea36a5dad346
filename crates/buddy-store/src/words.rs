//! The search index over the words in the log, derived from it, and the search.

use buddy_protocol::{Content, Fact, Found, PrincipalId, SearchQuery, SessionId, StoreError};
use rusqlite::{Connection, OptionalExtension, Transaction, named_params, params};

use crate::error::from_sqlite;
use crate::excerpt::excerpt;
use crate::record::{COLUMNS, COLUMNS_BEFORE_AUTHORS, Flaw, at, decode, range};
use crate::summaries;

/// The table, as its migration creates it.
pub(crate) const TABLE: &str = include_str!("migrations/0004_words.sql");

/// The indexed part of one text. A prompt can be a whole file, and an append waits for its words.
const MAX_TEXT_BYTES: usize = 64 << 10;

/// The maximum number of words in one search.
const MAX_WORDS: usize = 32;

/// The searchable text of a fact: messages of users and agents, titles, and the names and titles of calls.
pub(crate) fn text(fact: &Fact) -> Option<String> {
    let text = match fact {
        Fact::SessionChanged(changed) => changed.title.clone()?,
        Fact::ItemEnded(ended) => match &ended.item.content {
            Content::UserMessage { text, .. } | Content::AgentMessage { text } => text.clone(),
            Content::ToolCall(call) => format!("{} {}", call.name, call.title),
            Content::SubSession { title, .. } => title.clone(),
            Content::Reasoning { .. }
            | Content::FileChange(_)
            | Content::Plan { .. }
            | Content::Canvas { .. }
            | Content::Reminder { .. }
            | Content::Environment { .. }
            | Content::ResultsCleared { .. }
            | Content::Compaction { .. }
            | Content::Unknown(_) => return None,
        },
        _ => return None,
    };
    Some(text).filter(|text| !text.trim().is_empty())
}

/// Indexes the words of one more event.
pub(crate) fn add(connection: &Connection, place: i64, fact: &Fact) -> rusqlite::Result<()> {
    let Some(text) = text(fact) else { return Ok(()) };
    let end = (0..=text.len().min(MAX_TEXT_BYTES)).rev().find(|end| text.is_char_boundary(*end));
    let indexed = end.and_then(|end| text.get(..end)).unwrap_or_default();
    connection
        .prepare_cached("INSERT INTO words (rowid, text) VALUES (?1, ?2)")?
        .execute(params![place, indexed])
        .map(drop)
}

/// Recreates the table and fills it from the log.
pub(crate) fn rebuild(transaction: &Transaction<'_>) -> Result<(), StoreError> {
    transaction.execute_batch("DROP TABLE IF EXISTS words").map_err(|error| from_sqlite(&error))?;
    transaction.execute_batch(TABLE).map_err(|error| from_sqlite(&error))?;
    fill(transaction, COLUMNS)
}

/// Fills the empty table from the log of an older database.
pub(crate) fn fill_before_authors(transaction: &Transaction<'_>) -> Result<(), StoreError> {
    fill(transaction, COLUMNS_BEFORE_AUTHORS)
}

fn fill(transaction: &Transaction<'_>, columns: &str) -> Result<(), StoreError> {
    let sql = |error: rusqlite::Error| from_sqlite(&error);
    for (log, session) in summaries::logs(transaction)? {
        let mut statement = transaction
            .prepare_cached(&format!(
                "SELECT {columns} FROM events WHERE place > ?1 AND place < ?2
                 AND kind IN ('session.changed', 'item.ended') ORDER BY place"
            ))
            .map_err(sql)?;
        let mut rows = statement.query(range(log, 0)).map_err(sql)?;
        while let Some(row) = rows.next().map_err(sql)? {
            let place: i64 = row.get(0).map_err(sql)?;
            // A flawed event spoils its own session, and the check reports it; the others must stay
            // searchable.
            match decode(&session, row) {
                Ok((event, _)) => add(transaction, place, &event.fact).map_err(sql)?,
                Err(Flaw::Unreadable(error)) => return Err(sql(error)),
                Err(
                    Flaw::Newer(_) | Flaw::Checksum | Flaw::Chain | Flaw::Missing(_) | Flaw::Payload { .. },
                ) => {}
            }
        }
    }
    Ok(())
}

/// Whether the words of the event at a place are indexed.
pub(crate) fn is_kept(connection: &Connection, place: i64) -> rusqlite::Result<bool> {
    connection
        .prepare_cached("SELECT 1 FROM words_docsize WHERE id = ?1")?
        .query_row([place], |_| Ok(()))
        .optional()
        .map(|found| found.is_some())
}

/// The number of events of a log that are indexed.
pub(crate) fn count(connection: &Connection, log: i64) -> rusqlite::Result<u64> {
    connection
        .prepare_cached("SELECT count(*) FROM words_docsize WHERE id > ?1 AND id < ?2")?
        .query_row(range(log, 0), |row| row.get::<_, i64>(0))
        .map(i64::cast_unsigned)
}

/// Sessions with an event that has all the words, most recently used first, at most `limit`.
pub(crate) fn search(
    connection: &Connection,
    wish: &SearchQuery,
    limit: usize,
) -> Result<Vec<Found>, StoreError> {
    let words = split(&wish.words);
    if words.is_empty() {
        return Ok(Vec::new());
    }
    let places = (|| {
        let mut statement = connection.prepare_cached(
            "SELECT max(words.rowid) FROM words JOIN sessions ON sessions.number = words.rowid >> 32
             WHERE words MATCH :words AND (:owner IS NULL OR owner_id = :owner)
             AND (:cwd IS NULL OR cwd = :cwd)
             AND (:updated IS NULL OR updated < :updated OR (updated = :updated
                  AND sessions.number < (SELECT number FROM logs WHERE session = :session)))
             GROUP BY sessions.number ORDER BY updated DESC, sessions.number DESC LIMIT :limit",
        )?;
        let values = named_params! {
            ":words": query(&words), ":owner": wish.owner.as_ref().map(PrincipalId::as_str), ":cwd": wish.cwd,
            ":updated": wish.after.as_ref().map(|after| i64::try_from(after.updated.0).unwrap_or(i64::MAX)),
            ":session": wish.after.as_ref().map(|after| after.session.as_str()),
            ":limit": i64::try_from(limit).unwrap_or(i64::MAX),
        };
        statement.query_map(values, |row| row.get(0))?.collect::<rusqlite::Result<Vec<i64>>>()
    })();
    let places = places.map_err(|error| from_sqlite(&error))?;
    places.into_iter().filter_map(|place| found(connection, place, &words).transpose()).collect()
}

/// The words of a user's query. A part without a letter or a digit is not a word.
fn split(wish: &str) -> Vec<&str> {
    let words = wish.split(|letter: char| letter.is_whitespace() || letter.is_control());
    words.filter(|word| word.chars().any(char::is_alphanumeric)).take(MAX_WORDS).collect()
}

/// A query for texts that contain all the words, or words that start with them. Quotation marks disable the
/// syntax.
fn query(words: &[&str]) -> String {
    let quoted: Vec<String> =
        words.iter().map(|word| format!("\"{}\" *", word.replace('"', "\"\""))).collect();
    quoted.join(" ")
}

fn found(connection: &Connection, place: i64, words: &[&str]) -> Result<Option<Found>, StoreError> {
    let (log, seq) = at(place);
    let Some(summary) = summaries::load(connection, log)? else { return Ok(None) };
    let said = event_text(connection, place, &summary.id)?;
    let excerpt = said.map(|text| excerpt(&text, words)).unwrap_or_default();
    Ok(Some(Found { summary, excerpt, seq }))
}

fn event_text(
    connection: &Connection,
    place: i64,
    session: &SessionId,
) -> Result<Option<String>, StoreError> {
    let sql = |error: rusqlite::Error| from_sqlite(&error);
    let mut statement =
        connection.prepare_cached(&format!("SELECT {COLUMNS} FROM events WHERE place = ?1")).map_err(sql)?;
    let mut rows = statement.query([place]).map_err(sql)?;
    let Some(row) = rows.next().map_err(sql)? else { return Ok(None) };
    let (event, _) = decode(session, row).map_err(|flaw| flaw.into_error(session, at(place).1))?;
    Ok(text(&event.fact))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_the_words_is_syntax() {
        assert_eq!(query(&split("a\"b  NOT\tc* (x")), "\"a\"\"b\" * \"NOT\" * \"c*\" * \"(x\" *");
        assert_eq!(split(" -- \" () "), [] as [&str; 0]);
    }
}
