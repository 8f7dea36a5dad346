//! Keys of profiles: where they come from, and to whom they may go.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use buddy_exec::{Bounds, Ended, Exec, OutputLimits, Stdin, Target};
use buddy_model::TokenSource;
use buddy_protocol::{Failure, FailureKind};
use secrecy::{ExposeSecret, SecretString};
use tokio::sync::OnceCell;

use crate::auth_store::Logins;
use crate::config::{AuthKind, Effective, KeySource, Loaded, Profile, SettingOrigin, is_open, text_of};
use crate::environment::Environment;

/// How long a command that prints a key may take: it may ask the user for a password.
const COMMAND_TIMEOUT: Duration = Duration::from_mins(1);
/// The most that such a command may print; keys have a few hundred bytes.
const MAX_KEY_BYTES: usize = 64 * 1024;

/// The words about a key that buddy keeps.
pub(crate) const KEPT_KEY: &str = "buddy login";

/// A key of a profile.
#[derive(Clone)]
pub(crate) enum ModelKey {
    /// None is sent.
    None,
    /// This one.
    Ready(SecretString),
    /// The one that a command prints.
    Command(Arc<KeyCommand>),
    /// The token of a login.
    Login(Arc<dyn TokenSource>),
}

/// The facts about a key without asking for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyState {
    /// It is there.
    Set,
    /// It is not.
    Missing,
    /// A command will tell.
    Command,
    /// None is needed.
    NotNeeded,
}

impl fmt::Display for KeyState {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Set => "set",
            Self::Missing => "missing",
            Self::Command => "command",
            Self::NotNeeded => "not needed",
        })
    }
}

/// Finds keys. Not `Debug`: it has them all.
#[derive(Clone)]
pub(crate) struct ModelKeys {
    environment: Environment,
    effective: Effective,
    /// The address that `BUDDY_API_KEY` belongs to.
    home: Option<String>,
    target: Arc<dyn Target>,
    logins: Logins,
}

impl ModelKeys {
    /// Keys for this configuration; commands run on this target.
    pub(crate) fn new(environment: &Environment, loaded: &Loaded, target: Arc<dyn Target>) -> Self {
        Self {
            environment: environment.clone(),
            effective: loaded.effective.clone(),
            home: loaded.key_home.clone(),
            target,
            logins: Logins::new(environment, &loaded.config.login),
        }
    }

    /// Logins and kept keys.
    pub(crate) fn logins(&self) -> &Logins {
        &self.logins
    }

    /// The key of a profile at an address (scheme, host and port).
    pub(crate) fn key(&self, name: &str, profile: &Profile, address: &str) -> Result<ModelKey, Failure> {
        match profile.auth {
            AuthKind::None => return Ok(ModelKey::None),
            AuthKind::Login => return self.logins.tokens(name, address).map(ModelKey::Login),
            AuthKind::ApiKey => {}
        }
        if let (Some((_, key)), Some(home)) = (self.environment.api_key(), &self.home)
            && home == address
        {
            return Ok(ModelKey::Ready(key));
        }
        if let Some(key) = self.find_kept(name, profile, address)? {
            return Ok(ModelKey::Ready(key));
        }
        match profile.key_source() {
            None => Ok(ModelKey::None),
            Some(KeySource::Inline(key)) => filled(name, key.0, "the file"),
            Some(KeySource::Variable(variable)) => {
                let value = self.environment.get(&variable).unwrap_or_default();
                filled(name, value.into(), &format!("the environment variable {variable}"))
            }
            Some(KeySource::File(file)) => {
                let path = self.key_file(name, &file);
                let text = text_of(&path).map_err(|error| failure(&error.to_string(), None))?;
                filled(name, text.trim().into(), &format!("the file {}", path.display()))
            }
            Some(KeySource::Command(command)) => Ok(ModelKey::Command(Arc::new(self.command(command)))),
        }
    }

    /// The key that `buddy login` keeps, where the configuration leads to none.
    fn find_kept(
        &self,
        name: &str,
        profile: &Profile,
        address: &str,
    ) -> Result<Option<SecretString>, Failure> {
        let leads_nowhere = match profile.key_source() {
            None => true,
            Some(KeySource::Variable(variable)) => self.environment.get(&variable).is_none(),
            Some(_) => false,
        };
        if leads_nowhere { self.logins.key(name, address) } else { Ok(None) }
    }

    /// The facts about the key of a profile, and where it would come from.
    pub(crate) fn state(&self, name: &str, profile: &Profile, address: &str) -> (KeyState, String) {
        let source = match profile.key_source() {
            _ if profile.auth == AuthKind::None => "-".to_owned(),
            _ if profile.auth == AuthKind::Login => "login".to_owned(),
            _ if self.home.as_deref() == Some(address) && self.environment.api_key().is_some() => {
                self.environment.api_key().map(|(name, _)| name).unwrap_or_default()
            }
            _ if matches!(self.find_kept(name, profile, address), Ok(Some(_))) => KEPT_KEY.to_owned(),
            None => "-".to_owned(),
            Some(KeySource::Inline(_)) => "api_key".to_owned(),
            Some(KeySource::Variable(variable)) => variable,
            Some(KeySource::File(file)) => file,
            Some(KeySource::Command(_)) => "api_key_command".to_owned(),
        };
        let state = match self.key(name, profile, address) {
            Ok(ModelKey::None) => KeyState::NotNeeded,
            Ok(ModelKey::Ready(_) | ModelKey::Login(_)) => KeyState::Set,
            Ok(ModelKey::Command(_)) => KeyState::Command,
            Err(_) => KeyState::Missing,
        };
        (state, source)
    }

    /// Warnings about a profile's key.
    pub(crate) fn warning(&self, name: &str, profile: &Profile) -> Option<String> {
        let path = self.key_file(name, profile.api_key_file.as_deref()?);
        let path_shown = path.display();
        is_open(&path).then(|| format!("others can read the key in {path_shown}: chmod 600 {path_shown}"))
    }

    /// `~` is the home, and a relative path starts where it was written.
    fn key_file(&self, name: &str, file: &str) -> PathBuf {
        if let (Some(rest), Some(home)) = (file.strip_prefix("~/"), &self.environment.home) {
            return home.join(rest);
        }
        match self.effective.origin(&["models", name, "api_key_file"]) {
            SettingOrigin::File { path, .. } => path.parent().unwrap_or(Path::new("/")).join(file),
            _ => PathBuf::from(file),
        }
    }

    fn command(&self, command: String) -> KeyCommand {
        KeyCommand {
            command,
            // Not the directory to work in: a program of a stranger's repository must not be found first.
            cwd: self.environment.home.clone().unwrap_or_else(|| PathBuf::from("/")),
            env: self.environment.for_named_programs(),
            target: self.target.clone(),
            key: OnceCell::new(),
        }
    }
}

fn filled(name: &str, key: SecretString, place: &str) -> Result<ModelKey, Failure> {
    if key.expose_secret().is_empty() {
        let hint =
            format!("run /login {name} (or `buddy login {name}`), set {place}, or choose another model");
        return Err(failure(&format!("there is no key for `{name}`"), Some(hint)));
    }
    Ok(ModelKey::Ready(key))
}

fn failure(message: &str, hint: Option<String>) -> Failure {
    Failure { http_status: None, kind: FailureKind::Auth, message: message.to_owned(), hint }
}

/// A command that prints a key. It runs once, when the key is first needed.
pub(crate) struct KeyCommand {
    command: String,
    cwd: PathBuf,
    env: Vec<(String, String)>,
    target: Arc<dyn Target>,
    /// Its output.
    key: OnceCell<SecretString>,
}

impl KeyCommand {
    /// The key. A failure is not kept, so that the next call tries again.
    pub(crate) async fn key(&self) -> Result<SecretString, String> {
        self.key.get_or_try_init(|| self.run()).await.cloned()
    }

    async fn run(&self) -> Result<SecretString, String> {
        let exec = Exec {
            argv: ["/bin/sh", "-c", &self.command].map(str::to_owned).to_vec(),
            cwd: self.cwd.clone(),
            env: self.env.clone(),
            stdin: Stdin::Null,
            pty: None,
            timeout: Some(COMMAND_TIMEOUT),
            output: OutputLimits { keep_head: MAX_KEY_BYTES, keep_tail: 0, log: None },
            bounds: Bounds::open(),
            way_out: None,
            end_mark: None,
        };
        let cannot = |error: &dyn fmt::Display| format!("the command for the key cannot be run: {error}");
        let mut running = self.target.start(exec).await.map_err(|error| cannot(&error))?;
        let exit = running.wait().await.map_err(|error| cannot(&error))?;
        // Its output stays out of messages: some of it may be the key.
        match exit.ended {
            Ended::Exited if exit.code == Some(0) => {}
            Ended::TimedOut => {
                return Err(format!("the command for the key took longer than {COMMAND_TIMEOUT:?}"));
            }
            _ => return Err("the command for the key failed".to_owned()),
        }
        let text = exit.stdout.text();
        let key = text.trim();
        if key.is_empty() || key.contains('\n') || exit.stdout.omitted() > 0 {
            return Err("the command for the key printed no key: it must print one line".to_owned());
        }
        Ok(key.into())
    }
}
