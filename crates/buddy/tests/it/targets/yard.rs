//! The hosts of a test: a directory on each.

use std::path::PathBuf;

use buddy_testkit::container_host::ContainerHost;
use buddy_testkit::program::Program;
use buddy_testkit::ssh_host::SshHost;
use serde_json::Value;

use crate::stage::shell;

/// A machine over SSH, with a directory to work in.
pub(crate) struct Machine {
    host: SshHost,
    folder: tempfile::TempDir,
}

impl Machine {
    pub(crate) fn new() -> Self {
        let folder = tempfile::Builder::new().prefix("buddy-it-").tempdir().unwrap();
        std::fs::create_dir(folder.path().join("yard")).unwrap();
        Self { host: SshHost::start().unwrap(), folder }
    }

    /// The words that the flag and `/target add ssh` take.
    pub(crate) fn flag(&self) -> String {
        format!("machine:{}", self.path("").display())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("yard").join(name)
    }

    /// Ends the shared terminals that live on there.
    #[expect(clippy::disallowed_methods, reason = "a user ends them past buddy")]
    pub(super) fn end_panes(&self) {
        let made = std::fs::read_dir(self.host.home().join(".buddy/run")).unwrap();
        for directory in made {
            let socket = directory.unwrap().path().join("socket");
            let ended = std::process::Command::new("tmux").arg("-S").arg(socket).arg("kill-server").status();
            assert!(ended.unwrap().success());
        }
    }

    /// The program, with a client that knows the machine, in the mode in which commands run over there.
    pub(crate) fn known_to(&self, program: Program) -> Program {
        self.variables().into_iter().fold(program, |program, (name, value)| program.env(name, value))
    }

    /// The variables for that.
    pub(crate) fn variables(&self) -> [(&'static str, String); 2] {
        let client = self.host.client_folder().unwrap();
        let path = format!("{}:/usr/local/bin:/usr/bin:/bin", client.display());
        [("PATH", path), ("BUDDY_ENV", "production".to_owned())]
    }
}

/// A container, with the means to reach it.
pub(super) fn container() -> ContainerHost {
    ContainerHost::start(&cache()).unwrap()
}

/// The program, with an engine that knows the container.
pub(super) fn with_engine(host: &ContainerHost, program: Program) -> Program {
    let settings = host.env().into_iter().filter(|(name, _)| name.starts_with("CONTAINERS_"));
    settings.fold(program, |program, (name, value)| program.env(&name, value))
}

/// Where images are kept from one run of the tests to the next.
#[expect(
    clippy::disallowed_methods,
    reason = "what is kept between runs of the tests is in the user's own cache"
)]
fn cache() -> PathBuf {
    std::env::var_os("HOME").map(PathBuf::from).unwrap().join(".cache/buddy")
}

/// The arguments of a `run_shell` call on a target.
pub(super) fn shell_on(target: &str, command: &str) -> Value {
    let mut input = shell(command);
    input["target"] = target.into();
    input
}
