//! A real SSH server on this machine, with its own keys and configuration.
//!
//! It listens on a free loopback port and admits the account that runs the test, by a key made for it. It
//! ends when it is dropped.

use std::fs;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use tempfile::TempDir;

use crate::home::apart_from_scratch;

/// The timeout for the server to listen.
const PATIENCE: Duration = Duration::from_secs(20);
/// The number of attempts with another port if another process took the first.
const TRIES: usize = 5;

/// A running server.
pub struct SshHost {
    server: Child,
    folder: TempDir,
    /// The directories that buddy takes programs from: not the place for temporary files, which agents may write.
    client: TempDir,
    port: u16,
}

impl SshHost {
    /// Starts a server and waits until it listens.
    ///
    /// # Errors
    /// When `sshd` is not installed, or does not start.
    pub fn start() -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let built = std::env::current_exe()?;
        let client = tempfile::tempdir_in(apart_from_scratch(built.parent().unwrap_or(Path::new("/"))))?;
        for name in ["host", "user"] {
            let key = folder.path().join(name);
            run(program("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(&key))?;
        }
        // Keeps the start-up files of the account that runs the tests out of them.
        fs::create_dir(folder.path().join("home"))?;
        // The directory of the server's unprivileged part; packages create it when the service starts.
        if rustix::process::geteuid().is_root() {
            fs::create_dir_all("/run/sshd").context("cannot make /run/sshd")?;
        }
        for _ in 0..TRIES {
            let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
            let mut server = serve(folder.path(), port)?;
            if listens(&mut server, port)? {
                let host = Self { server, folder, client, port };
                host.write_config("config", port)?;
                return Ok(host);
            }
        }
        bail!("sshd did not start; {}", log(folder.path()))
    }

    /// A client configuration in which the server is called `machine`.
    pub fn config(&self) -> PathBuf {
        self.folder.path().join("config")
    }

    /// The same with another port, for a proxy in front of the server.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn config_through(&self, port: u16) -> Result<PathBuf> {
        self.write_config("config-proxy", port)
    }

    /// The home directory of sessions on the server.
    pub fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// A folder with an `ssh` program that uses this configuration, to be put first in a `PATH`.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn client_folder(&self) -> Result<PathBuf> {
        let folder = self.client.path().to_owned();
        let path = folder.join("ssh");
        let config = self.config();
        fs::write(&path, format!("#!/bin/sh\nexec /usr/bin/ssh -F '{}' \"$@\"\n", config.display()))?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
        Ok(folder)
    }

    /// The address on which the server listens.
    pub fn address(&self) -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], self.port))
    }

    fn write_config(&self, name: &str, port: u16) -> Result<PathBuf> {
        let folder = self.folder.path();
        let key = fs::read_to_string(folder.join("host.pub"))?;
        let known = folder.join(format!("{name}-known"));
        fs::write(&known, format!("[127.0.0.1]:{port} {key}"))?;
        let path = folder.join(name);
        let user = whoami()?;
        let text = format!(
            "Host machine\n  HostName 127.0.0.1\n  Port {port}\n  User {user}\n  IdentityFile {}\n  \
             IdentitiesOnly yes\n  StrictHostKeyChecking yes\n  UserKnownHostsFile {}\n  GlobalKnownHostsFile none\n",
            folder.join("user").display(),
            known.display(),
        );
        fs::write(&path, text)?;
        Ok(path)
    }
}

impl Drop for SshHost {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

fn serve(folder: &Path, port: u16) -> Result<Child> {
    let text = format!(
        "ListenAddress 127.0.0.1\nPort {port}\nHostKey {}\nAuthorizedKeysFile {}\nPidFile none\nUsePAM no\n\
         StrictModes no\nPermitRootLogin yes\nPasswordAuthentication no\nKbdInteractiveAuthentication no\n\
         PrintMotd no\nMaxSessions 64\nMaxStartups 64\nSetEnv HOME={}\n",
        folder.join("host").display(),
        folder.join("user.pub").display(),
        folder.join("home").display(),
    );
    let config = folder.join("sshd_config");
    fs::write(&config, text)?;
    let log = fs::File::create(folder.join("sshd.log"))?;
    // The server re-executes itself for every connection and needs its whole path for that.
    let mut command = program("/usr/sbin/sshd");
    command.args(["-D", "-e", "-f"]).arg(&config);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
    command.spawn().context("cannot start sshd; is openssh-server installed?")
}

fn listens(server: &mut Child, port: u16) -> Result<bool> {
    let until = Instant::now() + PATIENCE;
    while Instant::now() < until {
        if server.try_wait()?.is_some() {
            return Ok(false);
        }
        if TcpStream::connect(("127.0.0.1", port)).is_ok() {
            return Ok(true);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let _ = server.kill();
    let _ = server.wait();
    Ok(false)
}

fn log(folder: &Path) -> String {
    fs::read_to_string(folder.join("sshd.log")).unwrap_or_default()
}

fn whoami() -> Result<String> {
    let output = program("id").arg("-un").output()?;
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}

fn run(command: &mut Command) -> Result<()> {
    let status =
        command.stdin(Stdio::null()).status().with_context(|| format!("cannot start {command:?}"))?;
    if !status.success() {
        bail!("{command:?} failed");
    }
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "the server stands in for another machine")]
fn program(name: &str) -> Command {
    Command::new(name)
}
