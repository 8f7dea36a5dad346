//! The host that a session works on: this machine, a container, or another machine over SSH.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use buddy_exec::{
    ContainerSettings, ContainerTransport, RemoteSettings, RemoteTarget, SshSettings, SshTransport, Target,
    Transport, Way,
};

use crate::environment::Environment;
use crate::wiring::{STOP_GRACE, local_target};

/// What the clients of transports get of the environment: what finds keys, agents, engines and their configuration.
const CLIENT_VARIABLES: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "LANG",
    "SSH_AUTH_SOCK",
    "XDG_CONFIG_HOME",
    "XDG_RUNTIME_DIR",
    "CONTAINERS_CONF",
    "CONTAINERS_STORAGE_CONF",
    "CONTAINER_HOST",
    "DOCKER_CONFIG",
    "DOCKER_CONTEXT",
    "DOCKER_HOST",
];

/// Another host, as the command line names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum HostWish {
    /// A container that runs here.
    Container(String),
    /// A host that `ssh` knows.
    Ssh(String),
}

/// Another host to work on, and where on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Elsewhere {
    pub(crate) wish: HostWish,
    /// The directory over there; none for the one that the host puts new sessions in.
    pub(crate) directory: Option<PathBuf>,
    /// Whether the person trusts that directory for this run.
    pub(crate) is_trusted: bool,
}

/// A host that was reached.
#[derive(Clone)]
pub(crate) struct Host {
    pub(crate) target: Arc<dyn Target>,
    /// The environment of commands there.
    pub(crate) env: Vec<(String, String)>,
    /// What `~` stands for there.
    pub(crate) home: Option<PathBuf>,
    /// How a person gets there by hand.
    pub(crate) way: Way,
    /// None for this machine.
    pub(crate) remote: Option<Remote>,
}

/// What is known of a host that is not this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Remote {
    /// The name of the target.
    pub(crate) name: String,
    /// Who and where, for the model and for people.
    pub(crate) place: String,
    /// Whether the person trusts the directory of the session.
    pub(crate) is_trusted: bool,
}

impl Host {
    /// This machine.
    pub(crate) fn local(environment: &Environment, cwd: PathBuf) -> anyhow::Result<Self> {
        Ok(Self {
            target: Arc::new(local_target(environment, cwd)?),
            env: environment.command_env.clone(),
            home: environment.home.clone(),
            way: Way::Here,
            remote: None,
        })
    }

    /// Another host. Fails with the reason when it cannot be reached or lacks something.
    pub(crate) async fn attach(environment: &Environment, elsewhere: &Elsewhere) -> anyhow::Result<Self> {
        let transport = transport(environment, &elsewhere.wish).await?;
        let directory = elsewhere.directory.as_deref().map(text).transpose()?;
        let settings = RemoteSettings { cwd: directory, grace: STOP_GRACE };
        let target = RemoteTarget::attach(transport, settings).await?;
        let described = target.describe();
        let place = format!("{}@{} ({})", described.user, described.host, described.name);
        let remote = Remote { name: described.name.clone(), place, is_trusted: elsewhere.is_trusted };
        Ok(Self {
            env: target.command_env().to_vec(),
            home: target.home().map(Path::to_owned),
            way: target.way(),
            remote: Some(remote),
            target: Arc::new(target),
        })
    }

    /// The directory that a session works in.
    pub(crate) fn cwd(&self) -> &Path {
        &self.target.describe().cwd
    }
}

async fn transport(environment: &Environment, wish: &HostWish) -> anyhow::Result<Arc<dyn Transport>> {
    let variable = |name: &&str| Some(((*name).to_owned(), environment.get(name)?.to_owned()));
    let env: Vec<(String, String)> = CLIENT_VARIABLES.iter().filter_map(variable).collect();
    Ok(match wish {
        HostWish::Container(name) => {
            let settings = ContainerSettings { name: name.clone(), env };
            Arc::new(ContainerTransport::attach(settings).await?)
        }
        HostWish::Ssh(destination) => {
            let settings = SshSettings::new(destination.clone(), env);
            Arc::new(SshTransport::attach(settings).await?)
        }
    })
}

fn text(path: &Path) -> anyhow::Result<String> {
    path.to_str().map(str::to_owned).context("the directory's name is not text")
}
