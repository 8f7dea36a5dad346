//! Programs that chores start. Their stdin is empty.

use std::env;
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::place;

/// A program, started at the project's root.
pub(crate) fn program(name: &str) -> Command {
    let mut command = Command::new(name);
    command.current_dir(place::root()).stdin(Stdio::null());
    command
}

/// Cargo, building into the target folder, with the tools that a chore installed on its `PATH`.
pub(crate) fn cargo(words: &[&str]) -> Result<Command> {
    let mut command = program("cargo");
    command.args(words).env("CARGO_TARGET_DIR", place::target()?).env("PATH", search_path()?);
    Ok(command)
}

/// `PATH` with the tools of the cache at its end, so that those of the machine come first.
pub(crate) fn search_path() -> Result<OsString> {
    let known = env::var_os("PATH").unwrap_or_default();
    let folders = env::split_paths(&known).chain([place::cache()?.join("tools/bin")]);
    Ok(env::join_paths(folders)?)
}

/// Runs a program to its end.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let name = words(command);
    let status = command.status().with_context(|| format!("cannot run `{name}`"))?;
    if status.success() { Ok(()) } else { bail!("`{name}` failed with {status}") }
}

/// The result of a program, whether it succeeded or failed.
pub(crate) struct Heard {
    /// Every line of both streams, each stream in its order.
    pub(crate) lines: Vec<String>,
    /// Whether it succeeded.
    pub(crate) success: bool,
}

/// Runs a program to its end, shows its output and keeps it.
pub(crate) fn hear(command: &mut Command) -> Result<Heard> {
    let name = words(command);
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot run `{name}`"))?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let (mut lines, errors) = std::thread::scope(|scope| {
        let output = scope.spawn(|| stdout.map(|stream| tee(stream, std::io::stdout())));
        let errors = stderr.map(|stream| tee(stream, std::io::stderr()));
        (output.join().ok().flatten().unwrap_or_default(), errors.unwrap_or_default())
    });
    lines.extend(errors);
    Ok(Heard { lines, success: child.wait()?.success() })
}

fn tee(stream: impl std::io::Read, mut shown: impl Write) -> Vec<String> {
    let mut lines = Vec::new();
    for line in BufReader::new(stream).split(b'\n').map_while(Result::ok) {
        let line = String::from_utf8_lossy(&line).into_owned();
        // The reader may be gone; the result still counts.
        let _ = writeln!(shown, "{line}");
        lines.push(line);
    }
    lines
}

fn words(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}
