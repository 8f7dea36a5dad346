//! Sessions and panes: found, made and ended. Only buddy's own are ever touched.

use super::host::Host;
use super::names::SHARED;
use super::records::{self, Record};
use super::scripts::{self, FORGET};
use super::shells::Shell;
use crate::{PaneError, Remaining, Stdin, TargetError, quote};

/// The most sessions and panes.
#[derive(Debug, Clone, Copy)]
pub(super) struct PaneLimits {
    pub(super) sessions: u32,
    pub(super) panes: u32,
}

/// Whether a missing session or pane is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Absent {
    Make,
    /// Only if it is the default one.
    Leave,
    /// Never, and a shell that has ended is not restarted either.
    Never,
}

/// A pane that was found or made.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct PanePlace {
    pub(super) id: String,
    pub(super) pid: i32,
    pub(super) is_dead: bool,
    pub(super) is_new: bool,
    /// The name of its shell's bounds.
    pub(super) bounds: String,
}

impl PanePlace {
    /// Whether no command came to it yet.
    pub(super) fn is_waiting(&self) -> bool {
        self.bounds == Shell::waiting().bounds
    }
}

/// The value that tmux is asked for before anything is done to a pane of a session: the session's name and
/// the server.
pub(super) fn seal(host: &Host, session: &str) -> Result<String, TargetError> {
    Ok(format!("{session}@{}", records::load(&host.records, session)?.server))
}

/// Fails where there is a session of this name that buddy did not make.
pub(super) async fn check_own(host: &Host, name: &str) -> Result<(), TargetError> {
    let identity = records::load(&host.records, name)?.identity();
    let said = host.run(IS_FOREIGN, &[&host.socket(), name, &identity], Stdin::Null).await?;
    if said.text.is_empty() { Ok(()) } else { Err(PaneError::Foreign { name: name.to_owned() }.into()) }
}

/// Finds a session or makes it, with its shared pane. True when it was made.
pub(super) async fn session(
    host: &Host,
    name: &str,
    shell: &Shell,
    limits: PaneLimits,
) -> Result<bool, TargetError> {
    // The files that a shell needs are written before it is started, and not under a running one.
    if shell.has_bounds() && host.run(IS_THERE, &[&host.socket(), name], Stdin::Null).await?.text.is_empty() {
        shell.prepare(host).await?;
    }
    let (directory, socket, most) =
        (host.directory.to_string_lossy(), host.socket(), limits.sessions.to_string());
    let identity = records::load(&host.records, name)?.identity();
    let mut arguments = vec![directory.as_ref(), &socket, name, &most, &shell.bounds, &identity];
    arguments.extend(shell.words.iter().map(String::as_str));
    let said = host.run_leaving(scripts::SESSION, &arguments).await?;
    match said.words().as_slice() {
        ["made", server, session, pane] => {
            let (server, session) = ((*server).to_owned(), (*session).to_owned());
            let panes = [(SHARED.to_owned(), (*pane).to_owned())].into();
            records::keep(&host.records, name, &Record { server, session, panes })?;
            Ok(true)
        }
        ["found"] => Ok(false),
        ["foreign"] => Err(PaneError::Foreign { name: name.to_owned() }.into()),
        ["many"] => Err(PaneError::TooMany { what: "sessions", limit: limits.sessions }.into()),
        ["private"] => Err(PaneError::NotPrivate { path: host.directory.clone() }.into()),
        _ => Err(PaneError::Unusable { reason: "its answer is not understood".to_owned() }.into()),
    }
}

/// Finds a pane of a session, or makes it.
pub(super) async fn pane(
    host: &Host,
    session: &str,
    name: &str,
    absent: Absent,
    shell: &Shell,
    limits: PaneLimits,
) -> Result<PanePlace, TargetError> {
    if absent == Absent::Make && shell.has_bounds() {
        match Box::pin(pane(host, session, name, Absent::Leave, shell, limits)).await {
            Err(TargetError::Pane(PaneError::Missing { .. })) => shell.prepare(host).await?,
            found => return found,
        }
    }
    let (socket, most) = (host.socket(), limits.panes.to_string());
    let wish = if absent == Absent::Make { "make" } else { "find" };
    let mut record = records::load(&host.records, session)?;
    let identity = record.identity();
    let mut arguments =
        vec![socket.as_str(), session, name, &most, wish, &shell.bounds, &identity, record.id(name)];
    arguments.extend(shell.words.iter().map(String::as_str));
    let said = host.run(scripts::PANE, &arguments, Stdin::Null).await?;
    match said.words().as_slice() {
        [how, id, pid, dead, bounds] => {
            let unclear = || PaneError::Unusable { reason: "its answer is not understood".to_owned() };
            let place = place(how, id, pid, dead, bounds).ok_or_else(unclear)?;
            if place.is_new {
                record.panes.insert(name.to_owned(), place.id.clone());
                records::keep(&host.records, session, &record)?;
            }
            Ok(place)
        }
        ["foreign"] => Err(PaneError::Foreign { name: session.to_owned() }.into()),
        ["many"] => Err(PaneError::TooMany { what: "panes", limit: limits.panes }.into()),
        _ => Err(PaneError::Missing { what: "pane", name: name.to_owned() }.into()),
    }
}

fn place(how: &str, id: &str, pid: &str, dead: &str, bounds: &str) -> Option<PanePlace> {
    let digits = id.strip_prefix('%')?;
    let is_id = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_id.then_some(())?;
    Some(PanePlace {
        id: id.to_owned(),
        pid: pid.parse().ok()?,
        // One that was being restarted when its buddy ended.
        is_dead: dead == "1" || bounds == "bnone",
        is_new: how == "made",
        bounds: bounds.strip_prefix('b')?.to_owned(),
    })
}

/// Restarts the shell of a pane, with the program in it ended, and returns the new process.
pub(super) async fn respawn(host: &Host, session: &str, id: &str, shell: &Shell) -> Result<i32, TargetError> {
    if shell.words.is_empty() {
        // tmux would take the words that it knows, and so a shell with other bounds.
        return Err(PaneError::NoHooks.into());
    }
    shell.prepare(host).await?;
    let (socket, seal) = (host.socket(), seal(host, session)?);
    let mut arguments = vec![socket.as_str(), id, &seal, &shell.bounds];
    arguments.extend(shell.words.iter().map(String::as_str));
    let said = host.run(scripts::RESPAWN, &arguments, Stdin::Null).await?;
    let pid = said.words().first().and_then(|pid| pid.parse().ok());
    pid.ok_or_else(|| PaneError::Foreign { name: format!("{session} {id}") }.into())
}

/// Ends a session that is buddy's and not the default one.
pub(super) async fn kill_session(host: &Host, name: &str, default: &str) -> Result<(), TargetError> {
    if name == default {
        return Err(PaneError::Protected { what: "session", name: name.to_owned() }.into());
    }
    let identity = records::load(&host.records, name)?.identity();
    let arguments = [&host.socket(), name, &identity];
    let said = host.run(&format!("{FORGET}{KILL_SESSION}"), &arguments, Stdin::Null).await?;
    match said.words().first() {
        None => Ok(()),
        Some(&"missing") => Err(PaneError::Missing { what: "session", name: name.to_owned() }.into()),
        Some(_) => Err(PaneError::Foreign { name: name.to_owned() }.into()),
    }
}

/// Ends a pane that is buddy's and not a shared one.
pub(super) async fn kill_pane(host: &Host, session: &str, name: &str, id: &str) -> Result<(), TargetError> {
    if name == SHARED {
        return Err(PaneError::Protected { what: "pane", name: name.to_owned() }.into());
    }
    let arguments = [&host.socket(), &seal(host, session)?, name, id];
    let said = host.run(&format!("{FORGET}{KILL_PANE}"), &arguments, Stdin::Null).await?;
    if said.text.is_empty() { Ok(()) } else { Err(PaneError::Foreign { name: name.to_owned() }.into()) }
}

/// The existing sessions of buddy's.
pub(super) async fn remaining(host: &Host) -> Result<Vec<Remaining>, TargetError> {
    let said = host.run(LIST, &[&host.socket()], Stdin::Null).await?;
    let mut found: Vec<Remaining> = Vec::new();
    for line in said.text.lines() {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let [session, identity] = words.as_slice() else { continue };
        if records::load(&host.records, session)?.identity() != *identity {
            continue;
        }
        match found.iter_mut().find(|remaining| remaining.session == *session) {
            Some(remaining) => remaining.panes += 1,
            None => found.push(Remaining {
                session: (*session).to_owned(),
                panes: 1,
                attach: attach(host, session),
            }),
        }
    }
    Ok(found)
}

/// The command that a user types to attach.
pub(super) fn attach(host: &Host, session: &str) -> String {
    let socket = host.socket();
    let socket = if socket.contains(' ') { quote(&socket) } else { socket };
    host.way.typed(&format!("tmux -S {socket} attach -t {session}"))
}

const IS_THERE: &str = r#"tmux -S "$1" has-session -t "=$2" 2>/dev/null && echo there; exit 0"#;

const IS_FOREIGN: &str = r#"
tmux -S "$1" has-session -t "=$2" 2>/dev/null || exit 0
[ "$(tmux -S "$1" display-message -p -t "=$2:" '#{pid}.#{start_time}.#{session_id}' 2>/dev/null)" = "$3" ] || echo foreign
"#;

const KILL_SESSION: &str = r#"
tmux -S "$1" has-session -t "=$2" 2>/dev/null || { echo missing; exit 0; }
[ "$(tmux -S "$1" display-message -p -t "=$2:" '#{pid}.#{start_time}.#{session_id}')" = "$3" ] || { echo foreign; exit 0; }
tmux -S "$1" kill-session -t "=$2" || exit 1
# Who follows a pane reads its end first.
sleep 0.2 2>/dev/null || sleep 1
forget "$1"
"#;

const KILL_PANE: &str = r##"
tmux -S "$1" if-shell -F -t "$4" \
  "#{&&:#{==:#{pane_id},$4},#{&&:#{==:#{@buddy_owner}@#{pid}.#{start_time},$2},#{==:#{@buddy_pane},$3}}}" \
  "kill-pane -t $4" "display-message -p refused" || exit 1
sleep 0.2 2>/dev/null || sleep 1
forget "$1"
"##;

const LIST: &str = r#"tmux -S "$1" list-panes -a -F '#{session_name} #{pid}.#{start_time}.#{session_id}' 2>/dev/null; exit 0"#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_tmux_can_have_said_is_a_pane() {
        let found = place("made", "%12", "345", "0", "bopen").unwrap();
        let bounds = "open".to_owned();
        assert_eq!(found, PanePlace { id: "%12".into(), pid: 345, is_dead: false, is_new: true, bounds });
        for id in ["12", "%", "%1;x", "%-1", "% 1"] {
            assert_eq!(place("found", id, "1", "0", "b"), None, "{id}");
        }
        assert_eq!(place("found", "%1", "x", "0", "b"), None);
    }
}
