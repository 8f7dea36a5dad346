//! A container that already runs, reached by its engine's `exec`.
//!
//! buddy never creates or starts a container, so it cannot make one that is privileged or that has a mount of
//! the host or the host's network. The only word that comes from outside is the name, and a name that could
//! be an option is refused.

use std::path::{Path, PathBuf};
use std::time::Duration;

use async_trait::async_trait;
use tokio::task::spawn_blocking;

use super::{Client, Transport, Way, client::Answer, say};
use crate::TargetError;

/// Engines in the order in which they are looked for.
const ENGINES: &[&str] = &["docker", "podman"];
/// The time limit for an engine to tell whether a container runs.
const ANSWER_LIMIT: Duration = Duration::from_secs(30);
/// The longest name of a container.
const MAX_NAME: usize = 255;

/// The container, and the environment of engines.
#[derive(Debug, Clone)]
pub struct ContainerSettings {
    /// The name or id of the container.
    pub name: String,
    /// The environment of the engine's client. Engines are looked for in its `PATH`.
    pub env: Vec<(String, String)>,
}

/// The way into one running container.
#[derive(Debug)]
pub struct ContainerTransport {
    name: String,
    container: String,
    engine: PathBuf,
    env: Vec<(String, String)>,
}

impl ContainerTransport {
    /// Finds the engine that runs the container.
    pub async fn attach(settings: ContainerSettings) -> Result<Self, TargetError> {
        let name = format!("container:{}", settings.name);
        let unreachable = |reason: String| TargetError::Unreachable { target: name.clone(), reason };
        check_name(&settings.name).map_err(unreachable)?;
        let engines = engines(&settings.env);
        if engines.is_empty() {
            return Err(unreachable("neither docker nor podman is installed here".to_owned()));
        }
        let mut reasons = Vec::new();
        for engine in engines {
            let transport = Self {
                name: name.clone(),
                container: settings.name.clone(),
                engine,
                env: settings.env.clone(),
            };
            match transport.connect().await {
                Ok(()) => return Ok(transport),
                Err(TargetError::Unreachable { reason, .. }) => reasons.push(reason),
                Err(error) => return Err(error),
            }
        }
        Err(unreachable(reasons.join("; ")))
    }

    fn inspect(&self) -> Client {
        let args = ["container", "inspect", "--format", "{{.State.Running}}", &self.container];
        self.engine_with(args.map(str::to_owned).to_vec())
    }

    fn engine_with(&self, args: Vec<String>) -> Client {
        Client { program: self.engine.clone(), args, env: self.env.clone() }
    }

    fn judge(&self, answer: Result<Answer, String>) -> Result<(), TargetError> {
        let engine = self.engine.file_name().unwrap_or_default().to_string_lossy();
        let reason = match answer {
            Ok(answer) if answer.is_success && answer.stdout.trim() == "true" => return Ok(()),
            Ok(answer) if answer.is_success => {
                format!("{engine}: the container does not run; start it, then try again")
            }
            Ok(answer) => format!("{engine}: {}", say(&answer.stderr)),
            Err(reason) => format!("{engine}: {reason}"),
        };
        Err(TargetError::Unreachable { target: self.name.clone(), reason })
    }
}

#[async_trait]
impl Transport for ContainerTransport {
    fn name(&self) -> &str {
        &self.name
    }

    /// There is no connection to keep, so this asks the engine. Commands do not ask before they start.
    async fn connect(&self) -> Result<(), TargetError> {
        let client = self.inspect();
        let answer = spawn_blocking(move || client.ask(ANSWER_LIMIT)).await;
        self.judge(match answer {
            Ok(answer) => answer.map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        })
    }

    fn client(&self, argv: &[&str]) -> Client {
        let words = ["exec", "--interactive", &self.container];
        self.engine_with(words.iter().chain(argv).map(ToString::to_string).collect())
    }

    fn way(&self) -> Way {
        let engine = self.engine.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Way::Container { engine, name: self.container.clone() }
    }
}

/// Accepts names as engines give them. A name that begins with a dash would be an option.
fn check_name(name: &str) -> Result<(), String> {
    let is_first = |letter: char| letter.is_ascii_alphanumeric();
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '.' | '-');
    if !name.starts_with(is_first) || !name.chars().all(is_letter) || name.len() > MAX_NAME {
        return Err("that is not the name of a container: letters, digits, `_`, `.` and `-`, \
                    and no options; buddy only runs commands in a container that runs already"
            .to_owned());
    }
    Ok(())
}

/// The engines that are installed. Only absolute folders count, so that nothing in the working directory is run.
fn engines(env: &[(String, String)]) -> Vec<PathBuf> {
    let path = env.iter().find(|(name, _)| name == "PATH").map_or("", |(_, value)| value.as_str());
    let folders: Vec<&Path> = path.split(':').map(Path::new).filter(|folder| folder.is_absolute()).collect();
    let find = |engine: &&str| folders.iter().map(|folder| folder.join(engine)).find(|path| path.is_file());
    ENGINES.iter().filter_map(find).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_not_names() {
        for name in
            ["--privileged", "-v", "-v /:/h", "x --privileged", "network=host", "a:b", "a/b", "", "x\ny"]
        {
            assert!(check_name(name).is_err(), "{name}");
        }
        for name in ["web", "web-1", "project_web.2", "3f4e5d6c7b8a"] {
            assert!(check_name(name).is_ok(), "{name}");
        }
    }

    #[tokio::test]
    async fn without_an_engine_attaching_says_so() {
        let settings =
            ContainerSettings { name: "web".to_owned(), env: vec![("PATH".into(), ".:bin".into())] };
        let error = ContainerTransport::attach(settings).await.unwrap_err();
        assert!(
            matches!(&error, TargetError::Unreachable { target, .. } if target == "container:web"),
            "{error:?}"
        );
        assert!(error.to_string().contains("neither docker nor podman"), "{error}");
    }
}
