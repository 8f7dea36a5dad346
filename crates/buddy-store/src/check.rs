//! A check of everything stored: `SQLite`'s own check, the order and checksums of the log, and the derived
//! data against the log.

use std::fmt;

use buddy_protocol::{Event, SessionId, SessionSummary, StoreError, UnixMillis};
use rusqlite::{Connection, Row};

use crate::anchors::{AnchorReading, Anchors, hold};
use crate::chain::{Hash, link_of, origin};
use crate::connection::problems;
use crate::error::from_sqlite;
use crate::record::{COLUMNS, Flaw, LINK, at, range, raw};
use crate::summaries;
use crate::verify;
use crate::words;

/// The maximum number of findings in a report; the rest are only counted.
const MAX_FINDINGS: usize = 1000;

/// Rows of the list whose log does not exist.
const DANGLING: &str =
    "SELECT 'a row of `' || \"table\" || '` refers to nothing' FROM pragma_foreign_key_check";

/// The result of a check.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CheckReport {
    /// The sessions that were read.
    pub sessions: u64,
    /// The events that were read.
    pub events: u64,
    /// The problems found, up to `MAX_FINDINGS`.
    pub findings: Vec<StoreFinding>,
    /// The number of findings beyond the bound.
    pub more: u64,
    /// When the anchors were made anew from the database, if they were: earlier losses at the end of a log are not found.
    pub anchored_anew: Option<UnixMillis>,
}

impl CheckReport {
    /// Whether the check found no problems.
    pub fn is_clean(&self) -> bool {
        self.findings.is_empty()
    }

    fn add(&mut self, finding: StoreFinding) {
        if self.findings.len() < MAX_FINDINGS {
            self.findings.push(finding);
        } else {
            self.more += 1;
        }
    }
}

/// One problem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoreFinding {
    /// `SQLite` reports that its file is damaged.
    Database(String),
    /// Events are missing from a log.
    Gap {
        /// The session.
        session: SessionId,
        /// The number of the event that should have come.
        expected: u64,
        /// The number of the event that came instead.
        found: u64,
    },
    /// An event differs from what buddy wrote, or is invalid.
    Event {
        /// The session.
        session: SessionId,
        /// The event.
        seq: u64,
        /// The flaw.
        reason: String,
    },
    /// The rest of a log cannot be read.
    Unreadable {
        /// The session.
        session: SessionId,
        /// The last event that could be read.
        after: u64,
        /// The error.
        reason: String,
    },
    /// A log does not end as its anchor says.
    End {
        /// The session.
        session: SessionId,
        /// The difference.
        reason: String,
    },
    /// A session is gone.
    Lost {
        /// The session.
        session: String,
        /// The missing part.
        reason: String,
    },
    /// Events belong to no session.
    Orphans {
        /// The number of events.
        events: u64,
    },
    /// The list disagrees with the log; a rebuild repairs it.
    Derived {
        /// The session.
        session: SessionId,
        /// The difference.
        reason: String,
    },
}

impl fmt::Display for StoreFinding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Database(reason) => write!(formatter, "database: {reason}"),
            Self::Gap { session, expected, found } => {
                write!(
                    formatter,
                    "session `{session}`: event {expected} is missing, event {found} comes instead"
                )
            }
            Self::Event { session, seq, reason } => {
                write!(formatter, "session `{session}`: event {seq}: {reason}")
            }
            Self::Unreadable { session, after, reason } => {
                write!(formatter, "session `{session}`: nothing after event {after} can be read: {reason}")
            }
            Self::End { session, reason } => write!(formatter, "session `{session}`: {reason}"),
            Self::Lost { session, reason } => write!(formatter, "session `{session}` is gone: {reason}"),
            Self::Orphans { events } => write!(formatter, "{events} events belong to no session"),
            Self::Derived { session, reason } => write!(formatter, "list: session `{session}`: {reason}"),
        }
    }
}

/// Checks everything, in one snapshot of the database.
pub(crate) fn check(connection: &mut Connection, anchors: &Anchors) -> Result<CheckReport, StoreError> {
    // Events that are settled before the snapshot must be in it.
    let before: Vec<AnchorReading> = (0..anchors.len()).map(|log| anchors.read(log)).collect();
    let moment = connection.transaction().map_err(|error| from_sqlite(&error))?;
    let mut report = CheckReport { anchored_anew: anchors.made_anew(), ..CheckReport::default() };
    for pragma in ["PRAGMA integrity_check", DANGLING] {
        match problems(&moment, pragma) {
            Ok(found) => found.into_iter().for_each(|problem| report.add(StoreFinding::Database(problem))),
            Err(error) => report.add(StoreFinding::Database(error.to_string())),
        }
    }
    match summaries::logs(&moment) {
        Ok(logs) => {
            for (log, session) in &logs {
                check_log(&moment, *log, session, &mut report);
                let known = usize::try_from(*log).ok().and_then(|log| before.get(log)).unwrap_or(&Ok(None));
                check_end(&moment, anchors, known, (*log, session), &mut report);
            }
        }
        Err(error) => report.add(StoreFinding::Database(error.to_string())),
    }
    let total = moment.query_row("SELECT count(*) FROM events", [], |row| row.get::<_, i64>(0));
    match total.map(|total| total.cast_unsigned().saturating_sub(report.events)) {
        Ok(0) => {}
        Ok(events) if report.is_clean() => report.add(StoreFinding::Orphans { events }),
        // An unreadable log was reported already.
        Ok(_) => {}
        Err(error) => report.add(StoreFinding::Database(error.to_string())),
    }
    if anchors.is_kept() {
        for (session, drift) in verify::lost(&moment, anchors)? {
            report.add(StoreFinding::Lost { session, reason: drift.describe() });
        }
    }
    Ok(report)
}

/// Compares the end of a log with its anchor.
fn check_end(
    connection: &Connection,
    anchors: &Anchors,
    before: &AnchorReading,
    (log, session): (i64, &SessionId),
    report: &mut CheckReport,
) {
    // An unreadable end was reported already.
    let Ok(end) = verify::end_of(connection, session, log) else { return };
    if anchors.is_kept()
        && let Err(drift) = hold(before, end, &anchors.read(log))
    {
        report.add(StoreFinding::End { session: session.clone(), reason: drift.describe() });
    }
}

/// The state of reading one log.
struct LogReading {
    /// The last event that was read.
    after: u64,
    /// Whether no problem was found so far.
    whole: bool,
    summary: Option<SessionSummary>,
    /// The number of events that have words.
    spoken: u64,
    /// The number of those that a search would miss.
    missed: u64,
}

impl LogReading {
    /// Counts an event that has words, and checks whether the index has them.
    fn hear(&mut self, connection: &Connection, place: i64, event: &Event) -> rusqlite::Result<()> {
        if words::text(&event.fact).is_some() {
            self.spoken += 1;
            self.missed += u64::from(!words::is_kept(connection, place)?);
        }
        Ok(())
    }
}

fn check_log(connection: &Connection, log: i64, session: &SessionId, report: &mut CheckReport) {
    report.sessions += 1;
    let mut reading = LogReading { after: 0, whole: true, summary: None, spoken: 0, missed: 0 };
    match read_log(connection, log, session, &mut reading, report) {
        Ok(()) if reading.whole => {
            check_row(connection, log, session, reading.summary.as_ref(), report);
            check_words(connection, log, session, &reading, report);
        }
        // Without all of its events there is nothing to compare the row with.
        Ok(()) => {}
        Err(error) => {
            let reason = error.to_string();
            report.add(StoreFinding::Unreadable { session: session.clone(), after: reading.after, reason });
        }
    }
}

fn read_log(
    connection: &Connection,
    log: i64,
    session: &SessionId,
    reading: &mut LogReading,
    report: &mut CheckReport,
) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {COLUMNS}, link FROM events WHERE place > ?1 AND place < ?2 ORDER BY place"
    ))?;
    let mut rows = statement.query(range(log, 0))?;
    // The link of the previous event; `None` if that event is missing.
    let mut before = Some(origin(session));
    while let Some(row) = rows.next()? {
        let (_, seq) = at(row.get(0)?);
        report.events += 1;
        if seq != reading.after + 1 {
            reading.whole = false;
            before = None;
            report.add(StoreFinding::Gap {
                session: session.clone(),
                expected: reading.after + 1,
                found: seq,
            });
        }
        let stored = link_of(row, LINK)?;
        match linked_event(session, row, before, stored) {
            Ok(event) => {
                reading.hear(connection, row.get(0)?, &event)?;
                summaries::fold(&mut reading.summary, &event);
            }
            Err(Flaw::Unreadable(error)) => return Err(error),
            Err(flaw) => {
                reading.whole = false;
                let reason = flaw.into_error(session, seq).to_string();
                report.add(StoreFinding::Event { session: session.clone(), seq, reason });
            }
        }
        reading.after = seq;
        // Each event is compared with the stored link before it, so that one flaw is reported once.
        before = stored;
    }
    Ok(())
}

fn linked_event(
    session: &SessionId,
    row: &Row<'_>,
    before: Option<Hash>,
    stored: Option<Hash>,
) -> Result<Event, Flaw> {
    let raw = raw(row)?;
    match (before, stored) {
        (Some(before), stored) => _ = raw.follow(&before, stored)?,
        (None, Some(_)) => {}
        (None, None) => return Err(Flaw::Chain),
    }
    raw.event(session)
}

fn check_words(
    connection: &Connection,
    log: i64,
    session: &SessionId,
    reading: &LogReading,
    report: &mut CheckReport,
) {
    let reason = match words::count(connection, log) {
        Ok(kept) if kept == reading.spoken && reading.missed == 0 => return,
        Ok(kept) => format!(
            "the words of {kept} events can be searched, of which {} should be there and {} are missing",
            reading.spoken, reading.missed
        ),
        Err(error) => error.to_string(),
    };
    report.add(StoreFinding::Derived { session: session.clone(), reason });
}

fn check_row(
    connection: &Connection,
    log: i64,
    session: &SessionId,
    derived: Option<&SessionSummary>,
    report: &mut CheckReport,
) {
    let reason = match (summaries::load_row(connection, log), derived) {
        (Ok(None), None) => return,
        (Ok(None), Some(_)) => "its row is missing".to_owned(),
        (Ok(Some(_)), None) => "it has a row though it never started".to_owned(),
        (Ok(Some(row)), Some(derived)) => match row.differences(derived).as_slice() {
            [] => return,
            names => format!(
                "its row stands at event {} and differs from the log, which ends at {}, in {}",
                row.summary.head,
                derived.head,
                names.join(", ")
            ),
        },
        (Err(error), _) => error.to_string(),
    };
    report.add(StoreFinding::Derived { session: session.clone(), reason });
}
