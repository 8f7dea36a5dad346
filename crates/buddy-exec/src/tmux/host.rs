//! The target below, as far as panes need it: small scripts that run beside tmux.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::spool::{FOLLOW, Position};
use crate::{Bounds, Ended, Exec, Exit, OutputLimits, PaneError, Running, Stdin, Target, TargetError, Way};

/// The time limit of a script. None of them waits.
const SCRIPT_LIMIT: Duration = Duration::from_secs(15);

/// The number of seconds between a follower's checks whether it is still needed.
const LOOK_SECONDS: &str = "20";

/// The most bytes that are kept of a script's output: the longest history of a pane, 20,000 lines, has about
/// 4 MB at worst.
const MAX_SAID_BYTES: usize = 4 * 1024 * 1024;

/// Characters in a path that mean something to tmux or a shell inside quotes.
const UNFIT: &[char] = &['\'', '"', '\\', '$', '`', '#', '\n', '!'];

/// The host that runs scripts.
pub(super) struct Host {
    pub(super) target: Arc<dyn Target>,
    pub(super) env: Vec<(String, String)>,
    /// Private to the account: the socket, and the files of single panes.
    pub(super) directory: PathBuf,
    /// The directory of the records of panes, on this machine.
    pub(super) records: PathBuf,
    /// The time limit for restoring a lost connection.
    pub(super) reconnect_within: Duration,
    /// The way for a user to get to the target.
    pub(super) way: Way,
}

/// The output of a script.
pub(super) struct Said {
    pub(super) text: String,
}

impl Said {
    /// The words of the first line.
    pub(super) fn words(&self) -> Vec<&str> {
        self.text.lines().next().unwrap_or_default().split_ascii_whitespace().collect()
    }
}

impl Host {
    pub(super) fn check(&self) -> Result<(), PaneError> {
        match self.directory.to_str() {
            Some(path) if path.starts_with('/') && !path.contains(UNFIT) => Ok(()),
            _ => Err(PaneError::Unusable {
                reason: format!("`{}` cannot hold a socket", self.directory.display()),
            }),
        }
    }

    pub(super) fn socket(&self) -> String {
        self.path("socket")
    }

    /// A file of its own in the directory.
    pub(super) fn path(&self, name: &str) -> String {
        self.directory.join(name).to_string_lossy().into_owned()
    }

    /// Runs a script. A script that fails is an error with its message.
    pub(super) async fn run(
        &self,
        script: &str,
        arguments: &[&str],
        stdin: Stdin,
    ) -> Result<Said, TargetError> {
        let exit = self.target.start(self.exec(script, arguments, stdin)).await?.wait().await?;
        read_output(&exit)
    }

    /// Runs a script that is kept to these bounds.
    pub(super) async fn run_in(&self, bounds: Bounds, script: &str) -> Result<(), TargetError> {
        let exec = Exec { bounds, ..self.exec(script, &[], Stdin::Null) };
        read_output(&self.target.start(exec).await?.wait().await?).map(drop)
    }

    /// Runs a script that may start the tmux server, which stays.
    pub(super) async fn run_leaving(&self, script: &str, arguments: &[&str]) -> Result<Said, TargetError> {
        read_output(&self.target.run_leaving(self.exec(script, arguments, Stdin::Null)).await?)
    }

    /// Follows a spool from a position for as long as the run is held. The output has this mark in it.
    pub(super) async fn follow(
        &self,
        spool: &str,
        position: Position,
        mark: &str,
    ) -> Result<Running, TargetError> {
        let (file, offset) = (position.file.to_string(), position.offset.to_string());
        let exec = self.exec(FOLLOW, &[spool, &file, &offset, mark, LOOK_SECONDS], Stdin::Null);
        let exec = Exec { timeout: None, output: OutputLimits::default(), ..exec };
        self.target.start_followed(exec).await
    }

    fn exec(&self, script: &str, arguments: &[&str], stdin: Stdin) -> Exec {
        let fixed = ["/bin/sh", "-c", script, "buddy"];
        Exec {
            argv: fixed.iter().chain(arguments).map(|&word| word.to_owned()).collect(),
            cwd: PathBuf::from("/"),
            env: self.env.clone(),
            stdin,
            pty: None,
            timeout: Some(SCRIPT_LIMIT),
            output: OutputLimits { keep_head: 0, keep_tail: MAX_SAID_BYTES, log: None },
            bounds: Bounds::open(),
            way_out: None,
            end_mark: None,
        }
    }
}

fn read_output(exit: &Exit) -> Result<Said, TargetError> {
    if exit.code == Some(0) {
        return Ok(Said { text: String::from_utf8_lossy(&exit.stdout.tail).into_owned() });
    }
    if exit.ended == Ended::TimedOut {
        return Err(PaneError::Silent.into());
    }
    let complaint = exit.stderr.text();
    let reason = match complaint.trim() {
        "" => "it failed without a word",
        complaint => complaint,
    };
    Err(PaneError::Unusable { reason: reason.to_owned() }.into())
}
