//! Keys for a pane, and their plain text for policy.

use std::fmt;

use super::link::Link;
use super::nonce::nonce;
use super::scripts::{self, quoted_for_tmux};
use crate::{Keys, PaneError, Stdin, TargetError};

/// The most keys of one call, and the longest text.
const MAX_KEYS: usize = 100;
const MAX_TEXT_BYTES: usize = 256 * 1024;
/// The longest text that is handed to tmux within a command, which may have 16 KiB in all.
const MAX_INLINE_BYTES: usize = 8 * 1024;

impl Keys {
    /// The text exactly as the program in the pane gets it, if the keys are nothing but characters and ends
    /// of lines. `None` if one of them does something that only that program knows: it edits the line,
    /// recalls another, or is a command of its own.
    pub fn plain_text(&self) -> Option<String> {
        let literal = self.literal_text.as_deref().unwrap_or_default();
        if literal.contains(|letter: char| letter.is_control() && letter != '\n') {
            return None;
        }
        let keys: String = self.keys.iter().map(|key| key.characters()).collect::<Option<_>>()?;
        let enter = if self.enter { "\n" } else { "" };
        Some(format!("{literal}{keys}{enter}"))
    }
}

/// The text in quotes and each key, in their order.
impl fmt::Display for Keys {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let literal =
            self.literal_text.iter().filter(|text| !text.is_empty()).map(|text| format!("{text:?}"));
        let keys = self.keys.iter().map(ToString::to_string);
        let enter = self.enter.then(|| "<Enter>".to_owned());
        formatter.write_str(&literal.chain(keys).chain(enter).collect::<Vec<_>>().join(" "))
    }
}

/// Types keys, after tmux has checked that the pane is the right one.
pub(super) async fn send(link: &Link, keys: &Keys) -> Result<(), TargetError> {
    check(keys)?;
    let nonce = nonce()?;
    let (socket, pane) = (link.host.socket(), &link.id);
    let (mut commands, mut buffer, mut content) = (Vec::new(), String::new(), Vec::new());
    let typed = |text: &str| format!("send-keys -t {pane} -l -- {}", quoted_for_tmux(text));
    match &keys.literal_text {
        // A text of several lines is pasted, so that a program that supports pasting does not run each line
        // by itself.
        Some(text) if text.len() > MAX_INLINE_BYTES || text.contains(char::is_control) => {
            buffer = format!("buddy-{nonce}");
            content = text.clone().into_bytes();
            commands.push(format!("paste-buffer -p -d -b {buffer} -t {pane}"));
        }
        Some(text) if !text.is_empty() => commands.push(typed(text)),
        _ => {}
    }
    for key in &keys.keys {
        commands.push(match key.name() {
            Some(name) => format!("send-keys -t {pane} -- {}", quoted_for_tmux(name)),
            None => typed(key.characters().unwrap_or_default()),
        });
    }
    if keys.enter {
        commands.push(format!("send-keys -t {pane} Enter"));
    }
    let commands = commands.join(" ; ");
    let owner = link.owner();
    let arguments = [socket.as_str(), pane, &link.seal, &commands, &buffer, &owner];
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
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(literal: &str, words: &[&str], enter: bool, expected: Option<&str>) {
        let keys = words.iter().map(|word| word.parse().unwrap()).collect();
        let keys = Keys { literal_text: Some(literal.to_owned()), keys, enter };
        assert_eq!(keys.plain_text().as_deref(), expected, "{keys}");
    }

    #[test]
    fn letters_by_themselves_add_up_to_the_command_that_they_type() {
        check("", &["r", "m", "Space", "-rf", "SPACE", "~", "enter"], false, Some("rm -rf ~\n"));
        check("rm", &[" -rf ~"], true, Some("rm -rf ~\n"));
        check("a\nb", &[], true, Some("a\nb\n"));
    }

    #[test]
    fn keys_that_change_the_line_add_up_to_nothing_that_is_known() {
        for key in ["Home", "up", "Left", "bspace", "C-u", "c-c", "Tab", "Escape", "M-."] {
            check("ls", &[key, "Enter"], false, None);
        }
        check("ls\u{15}rm", &[], true, None);
        check("ls\t", &[], true, None);
    }

    #[test]
    fn keys_are_shown_as_the_text_and_each_key_in_order() {
        let keys = ["home", "rm ", "Right"].iter().map(|word| word.parse().unwrap()).collect();
        let keys = Keys { literal_text: Some("-rf x".to_owned()), keys, enter: true };
        assert_eq!(keys.to_string(), "\"-rf x\" <Home> \"rm \" <Right> <Enter>");
    }
}
