//! The repository of the day: a Rust, Node and Python project in the home of an ordinary account, with a bare
//! remote.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use rustix::process::{Pid, Signal};

use super::registry::Registries;
use crate::measure::account::Account;
use crate::measure::toolbox::Toolbox;
use crate::run::{program, run};

/// The script that creates the project.
const SETUP: &str = include_str!("fixtures/project.sh");
/// The script that fills the registries.
const REGISTRY: &str = include_str!("fixtures/registry.sh");
/// The timeout for creating the project and for checking an effect.
const SECONDS: u32 = 120;
/// The timeout for the remote's server to start.
const PATIENCE: Duration = Duration::from_secs(10);
/// The timeout of the day.
const DAY_SECONDS: u32 = 900;

/// The repository and the home around it. Dropping it removes both.
pub(crate) struct Repository<'a> {
    account: &'a Account,
    toolbox: &'a Toolbox,
    home: PathBuf,
    rust: PathBuf,
    /// The port of the remote's server.
    port: u16,
    url: String,
}

impl<'a> Repository<'a> {
    pub(crate) fn new(account: &'a Account, toolbox: &'a Toolbox, registries: &Registries) -> Result<Self> {
        let home = account.base().join("day");
        // The port is free again at once, and nothing else on a machine that measures takes it in that time.
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let url = format!("git://127.0.0.1:{port}/remote.git");
        let repository = Self { account, toolbox, home, rust: toolchain(account.base())?, port, url };
        repository.clean()?;
        fs::create_dir_all(repository.project())?;
        account.give(&repository.home)?;
        account.give(registries.folder())?;
        let files = format!("FILES='{}'\n{}", registries.folder().display(), registries.assignments());
        ensure!(repository.shell(&format!("{files}{REGISTRY}"))?, "the registries could not be filled");
        ensure!(repository.shell(SETUP)?, "the project could not be made");
        Ok(repository)
    }

    pub(crate) fn home(&self) -> String {
        self.home.to_string_lossy().into_owned()
    }

    fn project(&self) -> PathBuf {
        self.home.join("project")
    }

    /// Checks an effect with a shell line outside of buddy. An empty line always succeeds.
    pub(crate) fn proves(&self, line: &str) -> Result<bool> {
        if line.is_empty() { Ok(true) } else { self.shell(line) }
    }

    fn clean(&self) -> Result<()> {
        if self.home.exists() {
            fs::remove_dir_all(&self.home)?;
        }
        Ok(())
    }

    /// buddy in the project.
    pub(crate) fn buddy(&self) -> Command {
        self.command(&self.toolbox.buddy(), DAY_SECONDS)
    }

    /// The program that is measured.
    pub(crate) fn program(&self) -> String {
        self.toolbox.buddy()
    }

    /// The output of a program in the project, which has to go well.
    pub(crate) fn output(&self, executable: &str, arguments: &[&str]) -> Result<String> {
        let output = self.command(executable, SECONDS).args(arguments).output()?;
        let errors = String::from_utf8_lossy(&output.stderr);
        ensure!(
            output.status.success(),
            "{}",
            errors.lines().last().unwrap_or("it failed and did not say why")
        );
        Ok(String::from_utf8(output.stdout)?)
    }

    fn shell(&self, line: &str) -> Result<bool> {
        let output =
            self.command("/bin/bash", SECONDS).args(["-ec", line]).env("REMOTE", &self.url).output()?;
        if !output.status.success() {
            eprintln!("{}", String::from_utf8_lossy(&output.stderr));
        }
        Ok(output.status.success())
    }

    fn command(&self, executable: &str, seconds: u32) -> Command {
        let mut command = self.account.command(executable, seconds, &self.home);
        let mut path = self.rust.join("bin").into_os_string();
        path.push(":");
        path.push(self.toolbox.path());
        command.current_dir(self.project()).env("PATH", path).env("SHELL", "/bin/bash");
        command
    }
}

impl Drop for Repository<'_> {
    fn drop(&mut self) {
        // The next day also begins by removing them.
        let _ = self.clean();
    }
}

/// The server of the remote. Dropping it stops it.
pub(crate) struct Remote(Child);

impl Remote {
    pub(crate) fn start(repository: &Repository<'_>) -> Result<Self> {
        let mut command = repository.command("git", DAY_SECONDS);
        command.args([
            "daemon",
            "--listen=127.0.0.1",
            "--export-all",
            "--enable=receive-pack",
            "--reuseaddr",
        ]);
        command.args([format!("--port={}", repository.port), format!("--base-path={}", repository.home())]);
        let remote = Self(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?);
        let started = Instant::now();
        while TcpStream::connect(("127.0.0.1", repository.port)).is_err() {
            ensure!(started.elapsed() < PATIENCE, "the remote does not start");
            sleep(Duration::from_millis(20));
        }
        Ok(remote)
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        // `timeout` passes the signal on; killed at once, it would leave the server behind.
        let _ = rustix::process::kill_process(Pid::from_child(&self.0), Signal::TERM);
        let _ = self.0.wait();
    }
}

/// A Rust toolchain that the account can reach: that of this account may be in a home that is closed to
/// others.
fn toolchain(base: &Path) -> Result<PathBuf> {
    let output = program("rustc").args(["--print", "sysroot"]).output().context("no rustc")?;
    let sysroot = PathBuf::from(String::from_utf8(output.stdout)?.trim());
    if !rustix::process::geteuid().is_root() {
        return Ok(sysroot);
    }
    let name = sysroot.file_name().context("a toolchain without a name")?;
    let copy = base.join(name);
    if !copy.join("bin/cargo").is_file() {
        // Hard links if possible: a toolchain has more than a gigabyte.
        let link = run(program("cp").arg("-al").arg(&sysroot).arg(&copy));
        link.or_else(|_| run(program("cp").arg("-a").arg(&sysroot).arg(&copy)))?;
    }
    Ok(copy)
}
