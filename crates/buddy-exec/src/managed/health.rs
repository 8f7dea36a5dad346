//! Health: checks that a managed process does its work, beyond that it runs.

use std::collections::BTreeSet;
use std::fs;

use serde::{Deserialize, Serialize};

use crate::processes;

/// The state of a listening socket in `/proc/net/tcp`.
const LISTENING: &str = "0A";

/// A check that a managed process does its work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Health {
    /// One of its processes listens on this TCP port.
    Port(u16),
    /// It has printed a line that contains this text since its last start.
    Line(String),
}

impl Health {
    /// Whether the check succeeds now, for the processes of this keeper.
    ///
    /// A port is looked up in the kernel's table and not connected to: that disturbs no program, works
    /// through the network namespace of a jail, and does not take another program's port for this one's.
    pub(super) fn holds(&self, keeper: i32, has_printed_line: bool) -> bool {
        match self {
            Self::Line(_) => has_printed_line,
            Self::Port(port) => listens(keeper, *port),
        }
    }
}

/// Whether a descendant of the keeper listens on the port.
fn listens(keeper: i32, port: u16) -> bool {
    let tree = processes::descendants(&processes::all(), keeper);
    tree.iter().any(|process| {
        let sockets = sockets(process.pid);
        !sockets.is_empty()
            && ["tcp", "tcp6"].iter().any(|table| {
                let table = fs::read_to_string(format!("/proc/{}/net/{table}", process.pid));
                table.is_ok_and(|table| listeners(&table, port).any(|inode| sockets.contains(&inode)))
            })
    })
}

/// The inodes of the sockets that listen on a port, from the text of a `/proc/<pid>/net/tcp`.
fn listeners(table: &str, port: u16) -> impl Iterator<Item = u64> {
    table.lines().skip(1).filter_map(move |line| {
        let mut fields = line.split_ascii_whitespace().skip(1);
        let (local, _, state) = (fields.next()?, fields.next()?, fields.next()?);
        let (_, local) = local.rsplit_once(':')?;
        let is_it = state == LISTENING && u16::from_str_radix(local, 16) == Ok(port);
        // After the state come queues, timer, retransmits, user and timeout.
        is_it.then(|| fields.nth(5)?.parse().ok()).flatten()
    })
}

/// The inodes of the sockets that a process has open.
fn sockets(pid: i32) -> BTreeSet<u64> {
    let Ok(entries) = fs::read_dir(format!("/proc/{pid}/fd")) else { return BTreeSet::new() };
    let links = entries.filter_map(|entry| fs::read_link(entry.ok()?.path()).ok());
    links
        .filter_map(|link| link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn a_listening_socket_is_found_by_its_port() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let me = i32::try_from(std::process::id()).unwrap();
        let table = || fs::read_to_string("/proc/self/net/tcp").unwrap();
        assert!(listeners(&table(), port).any(|inode| sockets(me).contains(&inode)));
        drop(listener);
        assert_eq!(listeners(&table(), port).count(), 0);
    }
}
