//! A host that a session works on: this machine, a container, or another machine over SSH.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::bail;
use buddy_exec::{
    ContainerSettings, ContainerTransport, ProgramPath, RemoteSettings, RemoteTarget, SshSettings,
    SshTransport, Target, Transport, Way,
};
use buddy_protocol::TargetHost;

use crate::environment::Environment;
use crate::local_machine::{STOP_GRACE, local_target};

/// The variables for the clients of transports: those that find keys, agents, engines and their configuration.
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

/// A host that was reached.
#[derive(Clone)]
pub(crate) struct Host {
    pub(crate) target: Arc<dyn Target>,
    /// The environment of commands there.
    pub(crate) env: Vec<(String, String)>,
    /// The directories in which buddy looks for the programs that it starts there for itself.
    pub(crate) programs: ProgramPath,
    /// The directory that `~` stands for there.
    pub(crate) home: Option<PathBuf>,
    /// How a user gets there by hand.
    pub(crate) way: Way,
    /// None for this machine.
    pub(crate) remote: Option<Remote>,
    /// The directory that a session works in. Panes are shared by sessions in several, so their target does not know it.
    pub(crate) cwd: PathBuf,
}

/// The facts about a host that is not this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Remote {
    /// The name of the target.
    pub(crate) name: String,
    /// Whether the user trusts the directory of the session.
    pub(crate) is_trusted: bool,
}

impl Host {
    /// This machine.
    pub(crate) fn local(environment: &Environment, cwd: PathBuf) -> anyhow::Result<Self> {
        Ok(Self {
            target: Arc::new(local_target(environment, cwd.clone())?),
            env: environment.command_env.clone(),
            programs: environment.programs(Some(&cwd)),
            home: environment.home.clone(),
            way: Way::Here,
            remote: None,
            cwd,
        })
    }

    /// Another host, in a directory of it; without one in that which the host puts new sessions in. Fails with the reason
    /// when it cannot be reached or lacks something.
    pub(crate) async fn attach(
        environment: &Environment,
        host: &TargetHost,
        directory: Option<&str>,
    ) -> anyhow::Result<Self> {
        let target = reach(environment, host, directory).await?;
        let remote = Remote { name: target.describe().name.clone(), is_trusted: false };
        let env = target.command_env().to_vec();
        let path = env.iter().find(|(name, _)| name == "PATH").map_or("", |(_, path)| path);
        let changeable = [target.describe().cwd.clone(), PathBuf::from("/tmp")];
        Ok(Self {
            programs: ProgramPath::elsewhere(path, changeable),
            env,
            home: target.home().map(Path::to_owned),
            way: target.way(),
            remote: Some(remote),
            cwd: target.describe().cwd.clone(),
            target: Arc::new(target),
        })
    }
}

/// Connects to another host.
pub(crate) async fn reach(
    environment: &Environment,
    host: &TargetHost,
    directory: Option<&str>,
) -> anyhow::Result<RemoteTarget> {
    let transport = transport(environment, host).await?;
    let settings = RemoteSettings { cwd: directory.map(str::to_owned), grace: STOP_GRACE };
    Ok(RemoteTarget::attach(transport, settings).await?)
}

async fn transport(environment: &Environment, host: &TargetHost) -> anyhow::Result<Arc<dyn Transport>> {
    let variable = |name: &&str| Some(((*name).to_owned(), environment.get(name)?.to_owned()));
    let env: Vec<(String, String)> = CLIENT_VARIABLES.iter().filter_map(variable).collect();
    // The clients start further programs by name, such as a proxy.
    let programs = environment.programs(None);
    let env = programs.applied_to(&env);
    Ok(match host {
        TargetHost::Local => bail!("this machine is not reached by a transport"),
        TargetHost::Container { name } => {
            let settings = ContainerSettings { name: name.clone(), env };
            Arc::new(ContainerTransport::attach(settings).await?)
        }
        TargetHost::Ssh { destination } => {
            let program = programs.find("ssh")?.into();
            let settings = SshSettings { program, ..SshSettings::new(destination.clone(), env) };
            Arc::new(SshTransport::attach(settings).await?)
        }
    })
}
