//! Keys for a pane.

use super::link::{Link, nonce};
use super::scripts::{self, quoted_for_tmux};
use crate::{Keys, PaneError, Stdin, TargetError};

/// The most keys of one call, and the longest text.
const MAX_KEYS: usize = 100;
const MAX_TEXT_BYTES: usize = 256 * 1024;
/// The longest name of a key.
const MAX_KEY_BYTES: usize = 40;

/// Types keys, after tmux has looked whether the pane is the right one.
pub(super) async fn send(link: &Link, keys: &Keys) -> Result<(), TargetError> {
    check(keys)?;
    let nonce = nonce()?;
    let (socket, pane) = (link.host.socket(), &link.id);
    let (mut commands, mut buffer, mut content) = (Vec::new(), String::new(), Vec::new());
    match &keys.literal_text {
        // A text of several lines is pasted, so that a program that knows pasting does not run each line by itself.
        Some(text) if text.contains(|letter: char| letter.is_control()) => {
            buffer = format!("buddy-{nonce}");
            content = text.clone().into_bytes();
            commands.push(format!("paste-buffer -p -d -b {buffer} -t {pane}"));
        }
        Some(text) if !text.is_empty() => {
            commands.push(format!("send-keys -t {pane} -l -- {}", quoted_for_tmux(text)));
        }
        _ => {}
    }
    for key in &keys.keys {
        commands.push(format!("send-keys -t {pane} -- {}", quoted_for_tmux(key)));
    }
    if keys.enter {
        commands.push(format!("send-keys -t {pane} Enter"));
    }
    let commands = commands.join(" ; ");
    let owner = link.owner();
    let arguments = [socket.as_str(), pane, &link.session, &commands, &buffer, &owner];
    let said = link.host.run(scripts::KEYS, &arguments, Stdin::Bytes(content)).await?;
    if said.text.is_empty() { Ok(()) } else { Err(PaneError::Synchronised.into()) }
}

fn check(keys: &Keys) -> Result<(), TargetError> {
    let size = keys.literal_text.as_ref().map_or(0, String::len);
    if size > MAX_TEXT_BYTES {
        let (size, limit) = (size as u64, MAX_TEXT_BYTES as u64);
        return Err(TargetError::TooLarge { what: "the text", size, limit });
    }
    if keys.keys.len() > MAX_KEYS {
        return Err(TargetError::TooMany { what: "keys", limit: MAX_KEYS });
    }
    let is_bad = |key: &&String| {
        key.is_empty() || key.len() > MAX_KEY_BYTES || key.contains(|letter: char| letter.is_control())
    };
    match keys.keys.iter().find(is_bad) {
        Some(key) => Err(PaneError::BadName { name: key.clone() }.into()),
        None => Ok(()),
    }
}
