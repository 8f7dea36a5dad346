//! Running a client program to its end, for questions about a connection. Blocks; every wait has a bound.

use std::io::{self, Read};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::Client;

/// The most bytes that are kept of a client's output.
const SAID_BYTES: u64 = 64 * 1024;
/// The pause between two checks for a client's end.
const PAUSE: Duration = Duration::from_millis(2);

/// The exit of a client, with its output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) is_success: bool,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Client {
    /// The command of the standard library, in a process group of its own so that a key at the terminal does not reach it.
    #[expect(clippy::disallowed_methods, reason = "this is where clients of transports are started")]
    pub(crate) fn command(&self) -> Command {
        use std::os::unix::process::CommandExt as _;
        let mut command = Command::new(&self.program);
        command.args(&self.args).env_clear().envs(self.env.iter().map(|(name, value)| (name, value)));
        command.current_dir("/").process_group(0);
        command
    }

    /// Runs it without input until it ends, or ends it when the time is over.
    pub(crate) fn ask(&self, limit: Duration) -> io::Result<Answer> {
        let mut command = self.command();
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let stdout = child.stdout.take().map(reading);
        let stderr = child.stderr.take().map(reading);
        let until = Instant::now() + limit;
        let status = loop {
            if let Some(status) = child.try_wait()? {
                break Some(status);
            }
            if Instant::now() >= until {
                child.kill()?;
                child.wait()?;
                break None;
            }
            std::thread::sleep(PAUSE);
        };
        let said = |reader: Option<io::Result<std::sync::mpsc::Receiver<Vec<u8>>>>| -> String {
            // A process that the client left behind may hold the stream open; its output is of no interest.
            let bytes = reader.and_then(Result::ok).and_then(|heard| heard.recv_timeout(limit).ok());
            String::from_utf8_lossy(&bytes.unwrap_or_default()).into_owned()
        };
        match status {
            Some(status) => {
                Ok(Answer { is_success: status.success(), stdout: said(stdout), stderr: said(stderr) })
            }
            None => Err(io::Error::new(
                io::ErrorKind::TimedOut,
                format!("no answer within {} s", limit.as_secs()),
            )),
        }
    }
}

/// Reads a stream on a thread of its own, so that neither stream can hold up the other.
fn reading(stream: impl Read + Send + 'static) -> io::Result<std::sync::mpsc::Receiver<Vec<u8>>> {
    let (sender, receiver) = std::sync::mpsc::sync_channel(1);
    std::thread::Builder::new().name("client-said".into()).spawn(move || {
        let mut bytes = Vec::new();
        let _ = stream.take(SAID_BYTES).read_to_end(&mut bytes);
        let _ = sender.send(bytes);
    })?;
    Ok(receiver)
}

/// The output of a client, as one line for people; control characters are left out.
pub(crate) fn say(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").chars().filter(|letter| !letter.is_control()).take(500).collect()
}
