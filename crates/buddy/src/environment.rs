//! The parts of the environment and the home that buddy takes, read once.
//!
//! Built from a map, so that tests bring their own and no test changes that of the process. Files such as `.env` are
//! never read.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::bail;
use buddy_exec::ProgramPath;
use buddy_exec::env::with_defaults;
use buddy_policy::{VariableRules, Withheld, cache_places};
use secrecy::SecretString;

/// Everything that comes from outside the command line. Not `Debug`: the variables hold keys.
#[derive(Clone)]
pub(crate) struct Environment {
    /// Where the data is: `BUDDY_HOME`, or `.buddy` in the home.
    pub(crate) data: PathBuf,
    /// Where sessions leave what belongs to them alone: in the data, unless nothing of them is to stay.
    pub(crate) session_data: PathBuf,
    /// Where the output of their commands is.
    pub(crate) session_logs: PathBuf,
    /// The user's home.
    pub(crate) home: Option<PathBuf>,
    /// The home that the system's list has for the account, if `HOME` names another directory.
    pub(crate) account_home: Option<PathBuf>,
    /// Where configuration is: `XDG_CONFIG_HOME`, or `.config` in the home.
    pub(crate) config_home: Option<PathBuf>,
    /// The name of the account that buddy runs under.
    pub(crate) user: String,
    /// The name of this machine.
    pub(crate) host: String,
    /// The environment that commands of agents get, without secrets and orders.
    pub(crate) command_env: Vec<(String, String)>,
    /// Variables that those commands do not get because of a secret in them, and why.
    pub(crate) withheld_secrets: Vec<(String, Withheld)>,
    /// Whether the user said that this machine is thrown away afterwards, so that nothing in it needs to be kept from commands.
    pub(crate) is_throwaway: bool,
    /// The log filter, from `BUDDY_LOG`.
    pub(crate) log: Option<String>,
    /// Directories of this machine in which commands of agents can write, and from which buddy starts no program for itself.
    changeable: Vec<PathBuf>,
    variables: BTreeMap<String, String>,
}

/// Places for temporary files, which commands can write.
const SCRATCH: &[&str] = &["/tmp", "/dev/shm"];

impl Environment {
    /// Reads it.
    #[expect(clippy::disallowed_methods, reason = "the binary reads the environment, here and nowhere else")]
    pub(crate) fn read() -> anyhow::Result<Self> {
        // A variable that is not text cannot be passed on, and is none that buddy or a command needs.
        let variables = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
        let environment = Self::of(variables.collect())?;
        // Agents work in the directory that buddy is started in, unless they are told another.
        Ok(environment.with_changeable(std::env::current_dir()))
    }

    /// The environment of these variables.
    pub(crate) fn of(variables: BTreeMap<String, String>) -> anyhow::Result<Self> {
        let path = |name: &str| variables.get(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let home = path("HOME");
        let data = match (path("BUDDY_HOME"), &home) {
            (Some(data), _) => data,
            (None, Some(home)) => home.join(".buddy"),
            (None, None) => bail!("neither BUDDY_HOME nor HOME is set, so buddy has nowhere to store data"),
        };
        // The XDG rules ignore a path that is not absolute.
        let config_home = path("XDG_CONFIG_HOME").filter(|path| path.is_absolute());
        let uid = rustix::process::getuid().as_raw();
        let account = Account::find(uid);
        let user = account.as_ref().map_or_else(|| format!("uid-{uid}"), |account| account.name.clone());
        let account_home = account.and_then(|account| account.home).filter(|at| home.as_ref() != Some(at));
        let data = std::path::absolute(data)?;
        Ok(Self {
            session_data: data.clone(),
            session_logs: data.join("logs"),
            data,
            config_home: config_home.or_else(|| home.as_ref().map(|home| home.join(".config"))),
            home,
            account_home,
            user,
            host: rustix::system::uname().nodename().to_string_lossy().into_owned(),
            command_env: command_env(&variables, &VariableRules::default()),
            withheld_secrets: withheld_secrets(&variables, &VariableRules::default()),
            is_throwaway: false,
            changeable: Vec::new(),
            log: variables.get("BUDDY_LOG").filter(|wish| !wish.is_empty()).cloned(),
            variables,
        })
    }

    /// buddy's own directories, data first. With `BUDDY_HOME` or `XDG_CONFIG_HOME` elsewhere, those at the usual places count too if
    /// they exist: they hold the sessions, settings and keys of runs without these variables.
    pub(crate) fn own_directories(&self) -> Vec<PathBuf> {
        let config = self.config_home.as_ref().map(|config| config.join("buddy"));
        let mut own: Vec<PathBuf> = [self.data.clone()].into_iter().chain(config).collect();
        let homes = self.home.iter().chain(&self.account_home);
        let usual = homes.flat_map(|home| [".buddy", ".config/buddy"].map(|name| home.join(name)));
        for directory in usual.filter(|directory| directory.is_dir()) {
            // One that holds a directory in use would hide what is opened in that.
            if !own.iter().any(|used| used.starts_with(&directory) || directory.starts_with(used)) {
                own.push(directory);
            }
        }
        own
    }

    /// The same with what a user says about variables of commands.
    pub(crate) fn with_rules(self, rules: &VariableRules) -> Self {
        Self {
            command_env: command_env(&self.variables, rules),
            withheld_secrets: withheld_secrets(&self.variables, rules),
            ..self
        }
    }

    /// The same, with more directories in which commands of agents can write.
    pub(crate) fn with_changeable(mut self, directories: impl IntoIterator<Item = PathBuf>) -> Self {
        self.changeable.extend(directories);
        self
    }

    /// The directories in which buddy looks for the programs that it starts for itself, in a session that works in this directory. Caches are the user's own
    /// outside the jail, but jailed commands write layers over them.
    pub(crate) fn programs(&self, cwd: Option<&Path>) -> ProgramPath {
        let caches =
            self.home.as_deref().map(|home| cache_places(home, |name| self.get(name).map(str::to_owned)));
        let caches = caches.into_iter().flatten().map(|cache| cache.at);
        self.program_path(cwd.map(Path::to_owned).into_iter().chain(caches).chain(self.layers()))
    }

    /// The same for programs that the user has named, such as their editor: it runs outside the jail, where caches are their own.
    pub(crate) fn named_programs(&self) -> ProgramPath {
        self.program_path(self.layers())
    }

    fn program_path(&self, more: impl IntoIterator<Item = PathBuf>) -> ProgramPath {
        let scratch = SCRATCH.iter().map(PathBuf::from).chain([self.data.join("shared")]);
        let changeable = self.changeable.iter().cloned().chain(scratch).chain(more);
        ProgramPath::here(self.get("PATH").unwrap_or_default(), changeable)
    }

    /// The variables that commands do not get by these rules, and why.
    pub(crate) fn withheld(&self, rules: &VariableRules) -> Vec<(&str, Withheld)> {
        let all = self.variables.iter();
        all.filter_map(|(name, value)| Some((name.as_str(), rules.withheld(name, value)?))).collect()
    }

    /// Where commands of the jail leave their changes of package managers' caches.
    pub(crate) fn layers(&self) -> Option<PathBuf> {
        let cache = self.get("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
        let cache = cache.or_else(|| self.home.as_ref().map(|home| home.join(".cache")));
        cache.map(|cache| cache.join("buddy/layers"))
    }

    /// Whether nothing of a session stays.
    pub(crate) fn is_ephemeral(&self) -> bool {
        self.session_data != self.data
    }

    /// A variable; an empty one counts as none.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// `BUDDY_<name>`, or its older name `AGENT_<name>`: the variable and its value.
    pub(crate) fn setting(&self, name: &str) -> Option<(String, String)> {
        let names = [format!("BUDDY_{name}"), format!("AGENT_{name}")];
        names.into_iter().find_map(|name| {
            let value = self.get(&name)?.to_owned();
            Some((name, value))
        })
    }

    /// `BUDDY_API_KEY`, with the name it was found under.
    pub(crate) fn api_key(&self) -> Option<(String, SecretString)> {
        self.setting("API_KEY").map(|(name, key)| (name, key.into()))
    }

    /// The configuration file that `BUDDY_CONFIG` names.
    pub(crate) fn named_config(&self) -> Option<PathBuf> {
        self.setting("CONFIG").map(|(_, path)| path.into())
    }

    /// The same for programs that the user configured and that act for the user. Other programs that those start by name come from
    /// no directory that commands write.
    pub(crate) fn for_named_programs(&self) -> Vec<(String, String)> {
        self.named_programs().applied_to(&self.all())
    }

    /// All variables, for buddy itself.
    pub(crate) fn all(&self) -> Vec<(String, String)> {
        self.variables.clone().into_iter().collect()
    }
}

fn command_env(variables: &BTreeMap<String, String>, rules: &VariableRules) -> Vec<(String, String)> {
    let kept = variables.iter().filter(|(name, value)| rules.withheld(name, value).is_none());
    with_defaults(kept.map(|(name, value)| (name.clone(), value.clone())))
}

fn withheld_secrets(variables: &BTreeMap<String, String>, rules: &VariableRules) -> Vec<(String, Withheld)> {
    let withheld = variables.iter().filter_map(|(name, value)| Some((name, rules.withheld(name, value)?)));
    let secret = withheld.filter(|(_, why)| matches!(why, Withheld::SecretName | Withheld::SecretValue));
    secret.map(|(name, why)| (name.clone(), why)).collect()
}

/// An account, as the system's list has it. Unlike `USER` and `HOME` it cannot be set by the caller.
struct Account {
    name: String,
    home: Option<PathBuf>,
}

impl Account {
    fn find(uid: u32) -> Option<Self> {
        let accounts = std::fs::read_to_string("/etc/passwd").ok()?;
        accounts.lines().find_map(|line| {
            let fields: Vec<&str> = line.split(':').collect();
            let [name, _, number, _, _, home, ..] = fields.as_slice() else { return None };
            let home = Some(PathBuf::from(home)).filter(|home| home.is_absolute() && home.parent().is_some());
            (number.parse() == Ok(uid)).then(|| Self { name: (*name).to_owned(), home })
        })
    }
}
