//! The end of idle jailed sessions.
//!
//! A jail sweeps the workspace for as long as it lives (see `jail/sweeper.rs`). An idle shell gives no reason
//! to, so it ends with buddy. A jail that only hides files sweeps nothing, so its shell stays.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::host::Host;
use super::link::Link;
use super::names::SHARED;
use super::records;
use super::scripts::FORGET;
use super::sessions::{self, Absent, PaneLimits, PanePlace};
use super::shells::Shell;
use crate::{Stdin, TargetError};

/// Ends each session whose panes are all known, confined, waiting and without jobs, and that no client is
/// attached to.
pub(super) async fn end_idle(host: &Host, links: Vec<Arc<Link>>) -> Result<(), TargetError> {
    let mut sessions: BTreeMap<String, Vec<Arc<Link>>> = BTreeMap::new();
    for link in links {
        sessions.entry(link.session.clone()).or_default().push(link);
    }
    for (session, links) in sessions {
        if links.iter().all(|link| link.is_confined()) {
            let shells: Vec<String> = links.iter().map(|link| link.pid()).collect();
            let (socket, count) = (host.socket(), shells.len().to_string());
            let identity = records::load(&host.records, &session)?.identity();
            let mut arguments = vec![socket.as_str(), &session, &identity, &count];
            arguments.extend(shells.iter().map(String::as_str));
            host.run(&format!("{FORGET}{END_IDLE}"), &arguments, Stdin::Null).await?;
        }
    }
    Ok(())
}

/// Ends a session to which no command came, unless a client is attached.
pub(super) async fn end_waiting(host: &Host, session: &str, limits: PaneLimits) -> Result<(), TargetError> {
    let found = sessions::pane(host, session, SHARED, Absent::Never, &Shell::waiting(), limits).await;
    let Some(place) = found.ok().filter(PanePlace::is_waiting) else { return Ok(()) };
    let identity = records::load(&host.records, session)?.identity();
    let (socket, pid) = (host.socket(), place.pid.to_string());
    let arguments = [socket.as_str(), session, &identity, "1", &pid];
    host.run(&format!("{FORGET}{END_IDLE}"), &arguments, Stdin::Null).await.map(drop)
}

/// Arguments: socket, session, its identity, the number of its panes, then the processes of their shells.
const END_IDLE: &str = r#"
socket=$1 session=$2 identity=$3 count=$4; shift 4
t() { tmux -S "$socket" "$@"; }
[ "$(t display-message -p -t "=$session:" '#{pid}.#{start_time}.#{session_id}' 2>/dev/null)" = "$identity" ] || exit 0
[ -z "$(t list-clients -t "=$session" 2>/dev/null)" ] || exit 0
[ "$(t list-panes -s -t "=$session" 2>/dev/null | grep -c .)" = "$count" ] || exit 0
for pid in "$@"; do
  read -r stat 2>/dev/null < "/proc/$pid/stat" || continue
  rest=${stat##*) }; set -- $rest
  case $1 in Z|X) continue;; esac
  [ "$6" = "$pid" ] || exit 0
  children=$(cat "/proc/$pid/task/$pid/children" 2>/dev/null) || exit 0
  [ -z "$children" ] || exit 0
done
t kill-session -t "=$session" || exit 1
forget "$socket"
"#;
