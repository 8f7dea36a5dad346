//! A host that `ssh` knows, over one connection that all commands share.
//!
//! The `ssh` program does the work, so that keys, agents, jump hosts and aliases are those of the user's own
//! configuration. `ssh` never prompts at a terminal. The shared connection is a control master of this
//! process alone, with its socket in a private directory. A host that does not answer is noticed by the
//! keep-alive; the next command makes a new connection.

use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use tempfile::TempDir;
use tokio::sync::Mutex;
use tokio::task::spawn_blocking;

use super::{Client, Transport, Way, say};
use crate::TargetError;
use crate::remote::quote;

/// The number of tries before the host counts as out of reach, and the pause between.
const TRIES: u32 = 3;
const PAUSE: Duration = Duration::from_millis(300);
/// The time limit of one try, beyond the time that `ssh` itself gives to the connection.
const TRY_SLACK: Duration = Duration::from_secs(20);
/// The time limit for the master to end.
const EXIT_LIMIT: Duration = Duration::from_secs(2);
/// The time that an idle connection stays when this process was killed and could not end it, in seconds.
const PERSIST_SECS: u32 = 60;

/// The host, and the command line of `ssh`.
#[derive(Debug, Clone)]
pub struct SshSettings {
    /// `user@host`, or a name of the `ssh` configuration.
    pub destination: String,
    /// The program, usually just `ssh`.
    pub program: PathBuf,
    /// A configuration file in place of the user's own.
    pub config: Option<PathBuf>,
    /// The environment of `ssh`.
    pub env: Vec<(String, String)>,
    /// The time limit for the host to answer a new connection.
    pub connect_timeout: Duration,
    /// The silence of a host before it gets a keep-alive request. After three without an answer the
    /// connection is given up.
    pub alive_interval: Duration,
}

impl SshSettings {
    /// The default settings for a destination.
    pub fn new(destination: impl Into<String>, env: Vec<(String, String)>) -> Self {
        Self {
            destination: destination.into(),
            program: "ssh".into(),
            config: None,
            env,
            connect_timeout: Duration::from_secs(10),
            alive_interval: Duration::from_secs(5),
        }
    }
}

/// The way to one host.
#[derive(Debug)]
pub struct SshTransport {
    name: String,
    shared: Arc<SshConnection>,
    /// Locked while a connection is made, so that commands that start together make one.
    connecting: Mutex<()>,
    /// Whether the connection was ended for good.
    is_over: AtomicBool,
}

#[derive(Debug)]
struct SshConnection {
    settings: SshSettings,
    /// The private directory of the socket.
    directory: TempDir,
}

impl SshTransport {
    /// Connects to the host.
    pub async fn attach(settings: SshSettings) -> Result<Self, TargetError> {
        let name = format!("ssh:{}", settings.destination);
        let unreachable = |reason: String| TargetError::Unreachable { target: name.clone(), reason };
        check_destination(&settings.destination).map_err(unreachable)?;
        let private = std::fs::Permissions::from_mode(0o700);
        let directory = tempfile::Builder::new().prefix("buddy-ssh-").permissions(private).tempdir();
        let directory = directory.map_err(|error| unreachable(format!("no private directory: {error}")))?;
        let transport = Self {
            shared: Arc::new(SshConnection { settings, directory }),
            connecting: Mutex::new(()),
            is_over: AtomicBool::new(false),
            name: name.clone(),
        };
        transport.connect().await?;
        Ok(transport)
    }
}

#[async_trait]
impl Transport for SshTransport {
    fn name(&self) -> &str {
        &self.name
    }

    async fn connect(&self) -> Result<(), TargetError> {
        let _connecting = self.connecting.lock().await;
        if self.is_over.load(Ordering::SeqCst) {
            let reason = "the connection was ended".to_owned();
            return Err(TargetError::Unreachable { target: self.name.clone(), reason });
        }
        if self.shared.is_up() {
            return Ok(());
        }
        let mut reason = String::new();
        for attempt in 0..TRIES {
            if attempt > 0 {
                tokio::time::sleep(PAUSE).await;
            }
            let shared = self.shared.clone();
            match spawn_blocking(move || shared.start_master()).await {
                Ok(Ok(())) => return Ok(()),
                Ok(Err(why)) => reason = why,
                Err(error) => reason = error.to_string(),
            }
            // A retry does not make a key right.
            if reason.contains("Permission denied") || reason.contains("Host key verification failed") {
                break;
            }
        }
        Err(TargetError::Unreachable { target: self.name.clone(), reason })
    }

    fn hang_up(&self) {
        self.is_over.store(true, Ordering::SeqCst);
        self.shared.hang_up();
    }

    fn client(&self, argv: &[&str]) -> Client {
        // The login shell on the host, of any kind, is given one word after another in quotes that all shells
        // share.
        let line = argv.iter().map(|word| quote(word)).collect::<Vec<_>>().join(" ");
        self.shared.ssh(&["-o", "ControlMaster=no", "-T"], &[&format!("exec {line}")])
    }

    fn way(&self) -> Way {
        Way::Ssh { destination: self.shared.settings.destination.clone() }
    }
}

impl SshConnection {
    fn socket(&self) -> PathBuf {
        self.directory.path().join("c")
    }

    /// Whether the master listens. Its keep-alive finds out whether the host still answers.
    fn is_up(&self) -> bool {
        UnixStream::connect(self.socket()).is_ok()
    }

    /// Starts the master and returns when it is connected.
    fn start_master(&self) -> Result<(), String> {
        let _ = std::fs::remove_file(self.socket());
        let persist = format!("ControlPersist={PERSIST_SECS}");
        let client = self.ssh(&["-M", "-N", "-f", "-o", &persist], &[]);
        let answer = client.ask(self.settings.connect_timeout + TRY_SLACK);
        let answer = answer.map_err(|error| format!("ssh: {error}"))?;
        if answer.is_success && self.is_up() { Ok(()) } else { Err(say(&answer.stderr)) }
    }

    fn ssh(&self, options: &[&str], command: &[&str]) -> Client {
        let settings = &self.settings;
        let mut args: Vec<String> = Vec::new();
        if let Some(config) = &settings.config {
            args.extend(["-F".to_owned(), config.to_string_lossy().into_owned()]);
        }
        args.extend(["-S".to_owned(), self.socket().to_string_lossy().into_owned()]);
        let seconds = |time: Duration| time.as_secs().max(1);
        for option in [
            "BatchMode=yes".to_owned(),
            // The user's configuration may ask for settings that make sense at a terminal only.
            "RequestTTY=no".to_owned(),
            "RemoteCommand=none".to_owned(),
            "PermitLocalCommand=no".to_owned(),
            "ClearAllForwardings=yes".to_owned(),
            "ForwardAgent=no".to_owned(),
            "ForwardX11=no".to_owned(),
            "LogLevel=ERROR".to_owned(),
            format!("ConnectTimeout={}", seconds(settings.connect_timeout)),
            format!("ServerAliveInterval={}", seconds(settings.alive_interval)),
            "ServerAliveCountMax=3".to_owned(),
        ] {
            args.extend(["-o".to_owned(), option]);
        }
        args.extend(options.iter().map(ToString::to_string));
        args.extend(["--".to_owned(), settings.destination.clone()]);
        args.extend(command.iter().map(ToString::to_string));
        Client { program: settings.program.clone(), args, env: settings.env.clone() }
    }
}

impl SshConnection {
    fn hang_up(&self) {
        if self.is_up() {
            let _ = self.ssh(&["-O", "exit"], &[]).ask(EXIT_LIMIT);
        }
    }
}

impl Drop for SshConnection {
    fn drop(&mut self) {
        self.hang_up();
    }
}

/// A name that begins with a dash would be an option, and one with spaces or control characters is no host.
fn check_destination(destination: &str) -> Result<(), String> {
    let is_strange = |letter: char| letter.is_whitespace() || letter.is_control();
    if destination.is_empty() || destination.starts_with('-') || destination.contains(is_strange) {
        return Err(
            "that is not the name of a host: give `user@host` or a name of your ssh configuration".to_owned()
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_not_hosts() {
        for destination in ["-oProxyCommand=x", "", "a b", "a\nb"] {
            assert!(check_destination(destination).is_err(), "{destination}");
        }
        for destination in ["atlas", "ann@atlas", "ssh://ann@atlas:2222", "fe80::1%eth0"] {
            assert!(check_destination(destination).is_ok(), "{destination}");
        }
    }
}
