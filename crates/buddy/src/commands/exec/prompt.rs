//! The prompt of a run: an argument, the standard input, or both.

use std::io::{IsTerminal, Read};

use anyhow::Context;

use crate::cli::ExecFlags;
use crate::start_error::UsageError;

/// How much a prompt may hold, in bytes, and so how much is read from the standard input.
const MAX_INPUT: u64 = 4 * 1024 * 1024;

/// The prompt; none when an input that does not end took all the time there was.
pub(super) async fn prompt_in_time(exec: &ExecFlags) -> anyhow::Result<Option<String>> {
    let argument = exec.prompt.clone();
    let reading = tokio::task::spawn_blocking(move || prompt(argument.as_deref()));
    let read = match exec.timeout {
        Some(timeout) => match tokio::time::timeout(timeout, reading).await {
            Ok(read) => read,
            Err(_) => return Ok(None),
        },
        None => reading.await,
    };
    read.context("reading the prompt failed")?.map(Some)
}

/// The prompt from the argument, from the standard input, or from both.
fn prompt(argument: Option<&str>) -> anyhow::Result<String> {
    let argument = argument.filter(|text| *text != "-");
    let input = match argument {
        // A terminal is no pipe: with a prompt at hand nothing is read from it.
        Some(_) if std::io::stdin().is_terminal() => String::new(),
        _ => read_input()?,
    };
    let prompt = match (argument, input.trim().is_empty()) {
        (Some(text), true) => text.to_owned(),
        (Some(text), false) => format!("{text}\n\n<stdin>\n{input}\n</stdin>"),
        (None, _) => input,
    };
    if prompt.trim().is_empty() {
        let message = "there is no prompt: give one as an argument or on stdin";
        return Err(UsageError::new(message).into());
    }
    fits(&prompt)?;
    Ok(prompt)
}

/// Whether a prompt is short enough, with everything that is sent with it.
pub(super) fn fits(prompt: &str) -> Result<(), UsageError> {
    if prompt.len() as u64 > MAX_INPUT {
        let message = format!("the prompt has {} bytes, {MAX_INPUT} are allowed", prompt.len());
        return Err(UsageError::new(message));
    }
    Ok(())
}

fn read_input() -> anyhow::Result<String> {
    let mut bytes = Vec::new();
    std::io::stdin().take(MAX_INPUT + 1).read_to_end(&mut bytes).context("cannot read stdin")?;
    if bytes.len() as u64 > MAX_INPUT {
        let message = format!("stdin has more than {MAX_INPUT} bytes");
        return Err(UsageError::new(message).into());
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
