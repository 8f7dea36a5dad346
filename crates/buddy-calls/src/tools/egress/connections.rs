//! The connections of one call as its result has them.

use buddy_web::{Connection, Outcome, Wanted};
use serde_json::{Value, json};

/// Hosts of one call that its result names. Connections to others are counted.
const MAX_ROWS: usize = 50;

/// Hosts of one call whose failure has a line of its own.
const MAX_FAILURES: usize = 5;

/// Connections of one call, each host, port and outcome once.
#[derive(Default)]
pub(crate) struct Connections {
    rows: Vec<(Connection, u64)>,
    left_out: u64,
}

impl Connections {
    pub(super) fn add(&mut self, connection: Connection) {
        let is_same = |(row, _): &&mut (Connection, u64)| {
            row.wanted == connection.wanted && row.outcome == connection.outcome
        };
        if let Some((row, count)) = self.rows.iter_mut().find(is_same) {
            row.sent += connection.sent;
            row.received += connection.received;
            *count += 1;
        } else if self.rows.len() < MAX_ROWS {
            self.rows.push((connection, 1));
        } else {
            self.left_out += 1;
        }
    }

    /// Whether the command gave up on a host, or a host with a port, and never reached it.
    pub(super) fn gave_up(&self, name: &str) -> bool {
        let is_meant = |row: &Connection| {
            let Wanted { host, port } = &row.wanted;
            host == name || format!("{host}:{port}") == name
        };
        let had = |outcome: Outcome| self.rows.iter().any(|(row, _)| row.outcome == outcome && is_meant(row));
        had(Outcome::GivenUp) && !had(Outcome::Made)
    }

    /// One line about each host that could not be reached although it is allowed, for the user and the model.
    pub(super) fn failures(&self) -> Vec<String> {
        let line = |(row, _): &(Connection, u64)| {
            let Wanted { host, port } = &row.wanted;
            Some(format!("no connection to `{host}:{port}`: {}", row.why.as_ref()?))
        };
        self.rows.iter().filter_map(line).take(MAX_FAILURES).collect()
    }

    /// The connections for a result; none where there were none. They are told once.
    pub(super) fn take_list(&mut self) -> Option<Value> {
        if self.rows.is_empty() {
            return None;
        }
        let list = self.list();
        (self.rows, self.left_out) = (Vec::new(), 0);
        Some(list)
    }

    /// The connections as lines; none where there were none. They are told once.
    pub(super) fn take_lines(&mut self) -> Option<Vec<String>> {
        let list = self.take_list()?;
        let line = |row: &Value| match row["left_out"].as_u64() {
            Some(count) => format!("{count} to further hosts"),
            None => format!(
                "{}:{} {} {}× ({} bytes sent, {} received){}",
                row["host"].as_str().unwrap_or_default(),
                row["port"],
                row["outcome"].as_str().unwrap_or_default(),
                row["count"],
                row["sent"],
                row["received"],
                row["why"].as_str().map(|why| format!(": {why}")).unwrap_or_default()
            ),
        };
        Some(list.as_array()?.iter().map(line).collect())
    }

    fn list(&self) -> Value {
        let mut list: Vec<Value> = self.rows.iter().map(|(row, count)| connection_row(row, *count)).collect();
        if self.left_out > 0 {
            list.push(json!({ "left_out": self.left_out }));
        }
        Value::Array(list)
    }
}

fn connection_row(row: &Connection, count: u64) -> Value {
    let mut fields = json!({
        "host": row.wanted.host,
        "port": row.wanted.port,
        "outcome": match row.outcome {
            Outcome::Made => "made",
            Outcome::Refused => "refused",
            Outcome::Failed => "failed",
            Outcome::GivenUp => "given_up",
        },
        "count": count,
        "sent": row.sent,
        "received": row.received,
    });
    if let Some(why) = &row.why {
        fields["why"] = json!(why);
    }
    fields
}

/// Where results have the connections of a command.
pub(crate) const CONNECTIONS: &str = "connections";
/// Where results tell which hosts could not be reached, and why.
pub(crate) const NETWORK: &str = "network";
/// Where results tell that a command used no proxy, in these words: its connections are in no list.
pub(crate) const DIRECT_NETWORK: &str = "direct_network";
pub(crate) const NOT_OBSERVED: &str = "not observed";

#[cfg(test)]
mod tests {
    use super::*;

    fn connection(host: &str, outcome: Outcome) -> Connection {
        let wanted = Wanted { host: host.to_owned(), port: 443 };
        Connection { wanted, outcome, why: None, sent: 1, received: 2 }
    }

    #[test]
    fn connections_are_counted_and_never_more_than_can_be_told() {
        let mut connections = Connections::default();
        for _ in 0..1000 {
            connections.add(connection("a.test", Outcome::Made));
        }
        connections.add(connection("a.test", Outcome::Refused));
        let [(made, 1000), (_, 1)] = &connections.rows[..] else { panic!("{:?}", connections.rows) };
        assert_eq!((made.sent, made.received), (1000, 2000));
        for number in 0..1000 {
            connections.add(connection(&format!("{number}.test"), Outcome::Refused));
        }
        assert_eq!((connections.rows.len(), connections.left_out), (MAX_ROWS, 1000 - 48));
    }
}
