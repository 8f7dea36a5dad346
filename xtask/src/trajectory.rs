//! `cargo xtask trajectory LOG…`: how the agent worked, from the logs of its sessions.
//!
//! A log is the array that `buddy export --format json` writes, or the lines that `buddy exec --json` prints.

mod edits;
mod figures;
mod table;

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use buddy_protocol::Event;
use clap::Args;
use serde_json::Value;

use figures::Figures;

/// Options of the chore.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Logs: files of `buddy export --format json`, or the output of `buddy exec --json`.
    #[arg(required = true, value_name = "LOG")]
    logs: Vec<PathBuf>,
}

/// Prints the figures of all logs together.
pub(crate) fn trajectory(options: &Options) -> Result<()> {
    let mut figures = Figures::default();
    for log in &options.logs {
        let text = std::fs::read_to_string(log).with_context(|| format!("cannot read {}", log.display()))?;
        let events = parse(&text).with_context(|| {
            format!("cannot read {}; write it with `buddy export --format json`", log.display())
        })?;
        figures.add_log(&events);
    }
    println!("{}", table::render(&figures));
    Ok(())
}

/// The events of a log in either form. The lines of `exec` that are no events (`result`, `error`) have no session.
fn parse(text: &str) -> Result<Vec<Event>> {
    if text.trim_start().starts_with('[') {
        return Ok(serde_json::from_str(text)?);
    }
    let mut events = Vec::new();
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let at = || format!("line {}", index + 1);
        let value: Value = serde_json::from_str(line).with_context(at)?;
        if value.get("session").is_some() {
            events.push(Event::from_json(line).with_context(at)?);
        } else if value.get("type").is_none() {
            bail!("{}: neither an event nor a result", at());
        }
    }
    Ok(events)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A recorded run: a failed edit, a command that fails, the edit at the second try, a check, the answer.
    const RECORDED: &str = include_str!("trajectory/fixtures/recorded.json");

    fn figures() -> Figures {
        let mut figures = Figures::default();
        figures.add_log(&parse(RECORDED).unwrap());
        figures
    }

    #[test]
    fn the_table_of_a_recorded_session() {
        let expected = include_str!("trajectory/fixtures/recorded.txt");
        assert_eq!(format!("{}\n", table::render(&figures())), expected);
    }

    #[test]
    fn lines_of_exec_give_the_same_figures() {
        let events = parse(RECORDED).unwrap();
        let lines = events.iter().map(|event| event.to_json().unwrap()).collect::<Vec<_>>().join("\n");
        let mut from_lines = Figures::default();
        from_lines.add_log(
            &parse(&format!("{lines}\n{{\"type\":\"result\",\"status\":\"completed\"}}\n")).unwrap(),
        );
        assert_eq!(from_lines, figures());
    }

    #[test]
    fn a_text_that_is_no_log_is_an_error() {
        for text in ["{\"a\":1}", "nothing", "[{}]"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
