//! A temporary home, a configuration with a profile for each wire, and buddy between them and the server.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use super::peer::Peer;
use crate::place;
use crate::run::{program, search_path};

/// The wires of the server, by their names in the configuration.
pub(crate) const WIRES: [&str; 3] = ["completions", "responses", "messages"];
/// The timeout of a run, far above the time that one takes on a small, busy machine.
const PATIENCE: Duration = Duration::from_mins(4);

/// A stage.
pub(crate) struct Stage {
    pub(crate) peer: Peer,
    folder: PathBuf,
}

impl Stage {
    /// A stage with a new home.
    pub(crate) fn new(peer: Peer, folder: PathBuf) -> Result<Self> {
        for name in ["home", "project"] {
            let path = folder.join(name);
            if path.exists() {
                fs::remove_dir_all(&path)?;
            }
            fs::create_dir_all(path)?;
        }
        fs::write(folder.join("buddy.toml"), configuration(peer.address()))?;
        Ok(Self { peer, folder })
    }

    /// Starts `buddy exec --json` with a profile.
    pub(crate) fn start(&self, profile: &str, words: &[&str]) -> Result<Running> {
        let mut command = self.buddy(profile)?;
        command.args(["exec", "--json", "--include-deltas"]).args(words);
        Running::new(command)
    }

    /// The profile as `buddy models` lists it while it is the active one.
    pub(crate) fn listed(&self, profile: &str) -> Result<Value> {
        let output = self.buddy(profile)?.args(["models", "--json"]).output()?;
        let rows: Vec<Value> = serde_json::from_slice(&output.stdout)?;
        rows.into_iter().find(|row| row["name"] == profile).context("the profile is not listed")
    }

    fn buddy(&self, profile: &str) -> Result<Command> {
        let mut command = program(&place::target()?.join("debug/buddy").to_string_lossy());
        command
            .arg("--config")
            .arg(self.folder.join("buddy.toml"))
            .args(["--model", profile])
            .current_dir(self.folder.join("project"))
            .env_clear()
            .env("PATH", search_path()?)
            .env("HOME", self.folder.join("home"));
        Ok(command)
    }

    /// Runs `buddy exec --json` with a profile to its end.
    pub(crate) fn exec(&self, profile: &str, words: &[&str]) -> Result<Finished> {
        self.start(profile, words)?.finish()
    }
}

/// Only tools that are safe to call blindly.
const COMMON: &str = "
[agent]
temperature = 0.0
max_iterations = 3

[network]
retries = 0

[tools]
run_shell = false
read_file = false
write_file = false
";

/// A profile with short answers only, including a summary, which has its own limit.
pub(crate) const BRIEF: &str = "brief";

/// Two profiles per wire: one for short answers, and one whose answers end only when the context is full.
fn configuration(address: &str) -> String {
    let profile = |name: &str, wire: &str, settings: &str| {
        let peer = format!("api_base_url = 'http://{address}/v1'\nauth = 'none'\nmodel = 'local'");
        format!("\n[models.{name}]\n{peer}\napi = '{wire}'\n{settings}\n")
    };
    let endless = "max_output_tokens = 4000\nextra = { ignore_eos = true }";
    let brief = "max_tokens_field = 'max_tokens'\nextra = { max_tokens = 32 }";
    let mut text = COMMON.to_owned() + &profile(BRIEF, "completions", brief);
    for wire in WIRES {
        text += &profile(wire, wire, "max_output_tokens = 32");
        text += &profile(&format!("{wire}-endless"), wire, endless);
    }
    text
}

/// A run in progress. Dropping it kills it.
pub(crate) struct Running {
    process: Child,
    lines: mpsc::Receiver<String>,
    complaints: Option<JoinHandle<String>>,
    seen: Vec<Value>,
}

impl Running {
    fn new(mut command: Command) -> Result<Self> {
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let output = BufReader::new(process.stdout.take().context("no output")?);
        let mut errors = process.stderr.take().context("no errors")?;
        let (sender, lines) = mpsc::channel();
        std::thread::spawn(move || {
            output.lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
        });
        let complaints = std::thread::spawn(move || {
            let mut text = Vec::new();
            let _ = errors.read_to_end(&mut text);
            String::from_utf8_lossy(&text).into_owned()
        });
        Ok(Self { process, lines, complaints: Some(complaints), seen: Vec::new() })
    }

    /// Waits until the answer begins to stream.
    pub(crate) fn wait_for_delta(&mut self) -> Result<()> {
        while !self.seen.last().is_some_and(is_delta) {
            let line = self.lines.recv_timeout(PATIENCE).context("no part of an answer came")?;
            self.seen.push(serde_json::from_str(&line)?);
        }
        Ok(())
    }

    /// Interrupts it, as Ctrl-C does.
    pub(crate) fn interrupt(&self) -> Result<()> {
        let process = rustix::process::Pid::from_child(&self.process);
        Ok(rustix::process::kill_process(process, rustix::process::Signal::INT)?)
    }

    /// Waits for its end, which must come in time and with a result as the last line.
    pub(crate) fn finish(mut self) -> Result<Finished> {
        loop {
            match self.lines.recv_timeout(PATIENCE) {
                Ok(line) => self.seen.push(serde_json::from_str(&line)?),
                Err(mpsc::RecvTimeoutError::Disconnected) => break,
                Err(mpsc::RecvTimeoutError::Timeout) => bail!("buddy said nothing for {PATIENCE:?}"),
            }
        }
        let code = self.process.wait()?.code().context("buddy was killed")?;
        let complaints = self.complaints.take().and_then(|reader| reader.join().ok()).unwrap_or_default();
        let result = self.seen.pop().unwrap_or_default();
        ensure!(result["type"] == "result", "exit {code} without a result: {complaints}");
        Ok(Finished { code, deltas: self.seen.iter().filter(|event| is_delta(event)).count(), result })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended already; nothing depends on it.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The result of a run.
pub(crate) struct Finished {
    pub(crate) code: i32,
    pub(crate) deltas: usize,
    pub(crate) result: Value,
}

impl Finished {
    /// Fails unless the exit code is one of these.
    pub(crate) fn expect(self, codes: &[i32]) -> Result<Self> {
        ensure!(codes.contains(&self.code), "exit {}, not one of {codes:?}: {}", self.code, self.result);
        Ok(self)
    }

    pub(crate) fn session(&self) -> Result<&str> {
        self.result["session_id"].as_str().context("a result without a session")
    }
}

fn is_delta(event: &Value) -> bool {
    event["type"] == "item.delta"
}
