//! A check of the state of a pane.

use std::time::Duration;

use tokio::time::sleep;

use super::link::Link;
use super::scripts;
use crate::{Stdin, TargetError};

/// The state of a pane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Alive,
    /// Its shell has ended.
    Dead {
        code: Option<i32>,
        signal: Option<i32>,
    },
    /// Another program took the place of its shell.
    Replaced,
    /// It is gone.
    Closed,
    /// There is no server.
    ServerGone,
    /// The check did not tell.
    Unknown,
}

/// The result of a check.
pub(super) struct PaneCheck {
    pub(super) state: State,
    /// Clients that typed within the last seconds.
    pub(super) typing: u32,
}

/// The number of checks of a dead shell whose end tmux has not collected yet, and the pause between.
const STATUS_LOOKS: usize = 20;
const STATUS_PAUSE: Duration = Duration::from_millis(25);

/// Checks a pane, and whether a client typed within the last `seconds`.
pub(super) async fn probe(link: &Link, seconds: u64) -> Result<PaneCheck, TargetError> {
    let (socket, pid, seconds) = (link.host.socket(), link.pid(), seconds.to_string());
    let setup = link.setup();
    let arguments = [&socket, &link.id, &link.session, &pid, &seconds, &setup];
    let arguments: Vec<&str> = arguments.iter().map(|argument| argument.as_str()).collect();
    for _ in 0..STATUS_LOOKS {
        let found = parse(&link.host.run(scripts::PROBE, &arguments, Stdin::Null).await?.text);
        if found.state != (State::Dead { code: None, signal: None }) {
            return Ok(found);
        }
        if let Some((code, signal)) = link.end().await? {
            return Ok(PaneCheck { state: State::Dead { code, signal }, typing: 0 });
        }
        sleep(STATUS_PAUSE).await;
    }
    Ok(PaneCheck { state: State::Dead { code: None, signal: None }, typing: 0 })
}

fn parse(said: &str) -> PaneCheck {
    let mut lines = said.lines();
    let words: Vec<&str> = lines.next().unwrap_or_default().split_ascii_whitespace().collect();
    let number = |word: Option<&&str>| word.and_then(|word| word.get(1..)?.parse().ok());
    let state = match words.first() {
        Some(&"alive") => State::Alive,
        Some(&"dead") => State::Dead { code: number(words.get(1)), signal: number(words.get(2)) },
        Some(&"replaced") => State::Replaced,
        Some(&"closed") => State::Closed,
        Some(&"gone") => State::ServerGone,
        _ => State::Unknown,
    };
    let typing = lines.next().and_then(|count| count.trim().parse().ok()).unwrap_or(0);
    PaneCheck { state, typing }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_answer_is_read() {
        let check = |said: &str, state: State, typing: u32| {
            let found = parse(said);
            assert_eq!((found.state, found.typing), (state, typing), "{said}");
        };
        check("alive\n0\n", State::Alive, 0);
        check("alive\n2\n", State::Alive, 2);
        check("replaced\n1\n", State::Replaced, 1);
        check("dead s3 g\n", State::Dead { code: Some(3), signal: None }, 0);
        check("dead s g9\n", State::Dead { code: None, signal: Some(9) }, 0);
        check("closed\n", State::Closed, 0);
        check("gone\n", State::ServerGone, 0);
        check("", State::Unknown, 0);
    }
}
