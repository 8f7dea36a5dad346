//! The server with the model: a child process, and the few requests to it besides those of buddy.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::install::Installed;
use crate::place;
use crate::run::program;

/// The timeout for loading the model.
const LOADED_WITHIN: Duration = Duration::from_mins(2);
/// The timeout for a status request while the server works on a prompt.
const ANSWERED_WITHIN: Duration = Duration::from_secs(30);

/// The unit of CPU times in `/proc`, the same on every Linux that programs see.
const TICKS_A_SECOND: u32 = 100;

/// The way a server runs its model.
pub(crate) struct Serving<'a> {
    /// The name under which it lists the model.
    pub(crate) name: &'a str,
    /// The context size in tokens.
    pub(crate) context: usize,
    pub(crate) threads: usize,
    /// The tokens of a prompt that it takes at once. It feels a cancel only between two of these pieces.
    pub(crate) batch: usize,
}

/// A running server. Dropping it stops it; so does the end of this process, since its stdin ends then.
pub(crate) struct Peer {
    process: Child,
    /// Host and port.
    address: String,
}

impl Peer {
    /// Starts the server and waits until its model is loaded. Keeps its log in the folder.
    pub(crate) fn start(installed: &Installed, serving: &Serving<'_>, folder: &Path) -> Result<Self> {
        fs::create_dir_all(folder)?;
        let mut process = program(&installed.python.to_string_lossy())
            .arg(place::root().join("xtask/local-model/serve.py"))
            .arg(&installed.model)
            .arg(installed.template.as_deref().unwrap_or(Path::new("")))
            .arg(serving.name)
            .args([serving.context, serving.threads, serving.batch].map(|number| number.to_string()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(File::create(folder.join("server.log"))?)
            .spawn()
            .context("cannot start the server of the local model")?;
        let output = process.stdout.take();
        let mut peer = Self { process, address: String::new() };
        let mut url = String::new();
        BufReader::new(output.context("no output")?).read_line(&mut url)?;
        let address = url.trim().strip_prefix("http://").context("the local model's server did not start")?;
        address.clone_into(&mut peer.address);
        let is_loaded = || peer.get("/health").is_ok_and(|health| health["status"] == "ok");
        ensure!(is_soon(LOADED_WITHIN, is_loaded), "the local model was not loaded in time");
        Ok(peer)
    }

    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// Whether it works on a request. There is one slot, so a request that goes on would block the next.
    pub(crate) fn is_busy(&self) -> Result<bool> {
        let slots = self.get("/slots")?;
        slots[0]["is_processing"].as_bool().context("the server does not tell about its slots")
    }

    /// The CPU time that the server has used so far.
    pub(crate) fn cpu_time(&self) -> Result<Duration> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.process.id()))?;
        // The name of the program, in brackets, may have spaces.
        let (_, fields) = stat.rsplit_once(')').context("the kernel tells nothing of the server")?;
        let ticks = fields
            .split_whitespace()
            .skip(11)
            .take(2)
            .filter_map(|field| field.parse::<u64>().ok())
            .sum::<u64>();
        Ok(Duration::from_secs(ticks) / TICKS_A_SECOND)
    }

    /// A JSON document of the server.
    fn get(&self, path: &str) -> Result<Value> {
        let mut connection = TcpStream::connect(&self.address)?;
        connection.set_read_timeout(Some(ANSWERED_WITHIN))?;
        write!(connection, "GET {path} HTTP/1.0\r\nHost: {}\r\n\r\n", self.address)?;
        let mut answer = String::new();
        connection.read_to_string(&mut answer)?;
        let (_, body) = answer.split_once("\r\n\r\n").context("an answer without a body")?;
        Ok(serde_json::from_str(body)?)
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // It may have ended already; nothing depends on it.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Whether a condition becomes true before the timeout.
pub(crate) fn is_soon(patience: Duration, is_true: impl Fn() -> bool) -> bool {
    let started = Instant::now();
    loop {
        if is_true() {
            return true;
        }
        if started.elapsed() > patience {
            return false;
        }
        sleep(Duration::from_millis(50));
    }
}
