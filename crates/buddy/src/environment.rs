//! What buddy takes from the environment and the home, read once.

use std::path::PathBuf;

use anyhow::{Context, bail};
use secrecy::SecretString;

/// Everything that comes from outside the command line.
pub(crate) struct Environment {
    /// Where the data is: `BUDDY_HOME`, or `.buddy` in the home.
    pub(crate) data: PathBuf,
    /// The person's home.
    pub(crate) home: Option<PathBuf>,
    /// The name of the account that buddy runs under.
    pub(crate) user: String,
    /// The name of this machine.
    pub(crate) host: String,
    /// The model's server, from `BUDDY_BASE_URL`.
    pub(crate) base_url: Option<String>,
    /// The model, from `BUDDY_MODEL`.
    pub(crate) model: Option<String>,
    /// The key for that server, from `BUDDY_API_KEY`.
    pub(crate) api_key: Option<SecretString>,
    /// How long a model may say nothing, in seconds, from `BUDDY_MODEL_IDLE_TIMEOUT`.
    pub(crate) idle_timeout: Option<u64>,
    /// The environment that commands of agents get: cleaned.
    pub(crate) command_env: Vec<(String, String)>,
    /// What to log, from `BUDDY_LOG`.
    pub(crate) log: Option<String>,
}

#[expect(clippy::disallowed_methods, reason = "the binary reads the environment, here and nowhere else")]
impl Environment {
    /// Reads it.
    pub(crate) fn read() -> anyhow::Result<Self> {
        let text = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let home = text("HOME").map(PathBuf::from);
        let data = match (text("BUDDY_HOME").map(PathBuf::from), &home) {
            (Some(data), _) => data,
            (None, Some(home)) => home.join(".buddy"),
            (None, None) => bail!("neither BUDDY_HOME nor HOME is set, so there is no place for the data"),
        };
        let uid = rustix::process::getuid().as_raw();
        let idle_timeout = text("BUDDY_MODEL_IDLE_TIMEOUT").map(|seconds| seconds.parse());
        Ok(Self {
            data: std::path::absolute(data)?,
            home,
            user: account(uid).unwrap_or_else(|| format!("uid-{uid}")),
            host: rustix::system::uname().nodename().to_string_lossy().into_owned(),
            base_url: text("BUDDY_BASE_URL"),
            model: text("BUDDY_MODEL"),
            api_key: text("BUDDY_API_KEY").map(SecretString::from),
            idle_timeout: idle_timeout
                .transpose()
                .context("BUDDY_MODEL_IDLE_TIMEOUT is not a number of seconds")?,
            command_env: buddy_exec::env::clean(std::env::vars_os().filter_map(|(name, value)| {
                // A variable that is not text cannot be passed on, and is none that a command needs.
                Some((name.into_string().ok()?, value.into_string().ok()?))
            })),
            log: text("BUDDY_LOG"),
        })
    }
}

/// The name of an account, as the system's list has it. Unlike `USER` it cannot be set by the caller.
fn account(uid: u32) -> Option<String> {
    let accounts = std::fs::read_to_string("/etc/passwd").ok()?;
    accounts.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)?.parse() == Ok(uid)).then(|| name.to_owned())
    })
}
