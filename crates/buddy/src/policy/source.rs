//! The policy of each session: rules of all tiers, guards and grants, as they stand at the moment.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use buddy_calls::{CallRights, PolicyKey, PolicySource};
use buddy_exec::undo::{Remover, UndoSettings, lost, lost_without_undo};
use buddy_exec::{
    Bounds, GitHome, adds_to_repository, git_credentials, git_order_names, git_orders, link_lookup,
    places_of_remotes, remote_lookup,
};
use buddy_policy::{
    Carried, ChangeableProgram, CommandMode, CommandPattern, ENGINE_VARIABLES, GIT_ORDERS, Grant, Landing,
    LinkedPlaces, Mode, NamedPaths, Places, Policy, ProgramUse, Registry, RuleSet, Rules, SettingsSource,
    guarded_names, registry_of,
};
use buddy_protocol::{GrantScope, LinkLookup, NameSet, RemoteLookup};

use super::bounds::{Ground, bounds};
use super::landings::landing;
use super::limits::LimitSettings;
use super::linked::LinkedTargets;
use super::links::{carries_links, links, links_within};
use super::registries::{list_names, read_settings};
use super::removals::protected_within;
use super::rules::FixedRules;
use super::tracked::TrackedSecrets;
use super::user_files::PolicyFiles;
use crate::config::{ConfigError, JailSettings, Loaded, Openings, WorkEnvironment};
use crate::environment::Environment;
use crate::host::{Host, Remote};
use crate::invocation::PolicyWish;

/// Policies of all directories that sessions work in on one host.
pub(crate) struct Policies {
    environment: Environment,
    files: PolicyFiles,
    settings: PolicySettings,
    /// Where things are on the host.
    ground: Ground,
    /// Whether nothing can keep buddy's own files from a command.
    is_exposed: bool,
    /// None for this machine.
    remote: Option<Remote>,
    tracked: TrackedSecrets,
    linked: LinkedTargets,
}

/// The configured part of policy, on every host.
#[derive(Clone)]
pub(crate) struct PolicySettings {
    mode: Mode,
    commands: CommandMode,
    denylist: Vec<CommandPattern>,
    fetch_confirm: bool,
    network: bool,
    /// Hosts that the configuration names.
    known_hosts: Vec<String>,
    /// The addresses of the pages where the tools search.
    searches: Vec<String>,
    /// The only files and hosts.
    limits: LimitSettings,
    /// The openings in the jail on this machine.
    jail: JailSettings,
    /// Rules of this run.
    rules: Rules,
    /// Further directories of this machine that the user opened to be worked on.
    added: Vec<PathBuf>,
}

impl PolicySettings {
    /// Those of a configuration and a command line.
    pub(crate) fn new(environment: &Environment, loaded: &Loaded, wish: &PolicyWish) -> anyhow::Result<Self> {
        let own = environment.own_directories();
        let jail = JailSettings::new(
            &loaded.config.jail,
            &loaded.config.projects,
            environment.home.as_deref(),
            &own,
        )
        .map_err(|error| ConfigError::new("buddy.toml", error))?;
        let tools = &loaded.config.tools;
        let mode = match loaded.config.agent.environment {
            WorkEnvironment::Development => Mode::Development,
            WorkEnvironment::Production => Mode::Production,
        };
        let commands = match &tools.shell_allowlist {
            Some(list) => CommandMode::Allowlist(patterns("tools.shell_allowlist", list)?),
            None => CommandMode::Shell,
        };
        Ok(Self {
            mode,
            commands,
            denylist: tools
                .shell_denylist
                .iter()
                .map(|text| {
                    CommandPattern::denying(text).with_context(|| format!("tools.shell_denylist: `{text}`"))
                })
                .collect::<anyhow::Result<_>>()?,
            fetch_confirm: tools.fetch_confirm,
            network: tools.network,
            known_hosts: loaded.config.web.hosts(),
            searches: loaded.config.web.searches()?,
            limits: LimitSettings::new(tools).map_err(|error| ConfigError::new("buddy.toml", error))?,
            jail,
            rules: Rules {
                allow: wish.rules.allow.clone(),
                deny: wish.rules.deny.clone(),
                ..Rules::default()
            },
            added: wish.added.clone(),
        })
    }

    /// Whether commands run with all rights of the account, where nothing but mounts keeps files from them.
    pub(crate) fn is_production(&self) -> bool {
        self.mode == Mode::Production
    }

    /// Directories beside that of a session in which its commands can write.
    pub(crate) fn changeable(&self, cwd: &Path) -> Vec<PathBuf> {
        self.added.iter().cloned().chain(self.jail.within(cwd).write).collect()
    }

    /// Further directories of this machine that the user opened to be worked on.
    pub(crate) fn added(&self) -> &[PathBuf] {
        &self.added
    }
}

impl Policies {
    /// The policies that hold on a host. Rules that cannot be read are an error now and not when a call is judged.
    pub(crate) fn new(
        environment: &Environment,
        settings: PolicySettings,
        host: &Host,
    ) -> anyhow::Result<Self> {
        let fixed = FixedRules { run: settings.rules.clone(), denylist: settings.denylist.clone() };
        let policies = Self {
            environment: environment.clone(),
            files: PolicyFiles::new(environment, fixed),
            settings,
            tracked: TrackedSecrets::default(),
            linked: LinkedTargets::default(),
            ground: Ground::of(environment, host),
            is_exposed: false,
            remote: host.remote.clone(),
        };
        policies.ground.make_own();
        policies.ground.make_ways();
        let target = policies.target();
        let key = PolicyKey { user: policies.files.account(), target, workspace: &host.cwd };
        policies.rules(key)?;
        // Before any command can take a secret out of the index.
        policies.tracked(std::slice::from_ref(&host.cwd));
        Ok(policies)
    }

    /// Refuses rules that cannot be read or understood for a directory of this machine, before a session begins there.
    pub(crate) fn check(
        environment: &Environment,
        settings: &PolicySettings,
        cwd: &Path,
    ) -> Result<(), ConfigError> {
        let host = Host::local(environment, cwd.to_owned());
        let made = host.and_then(|host| Self::new(environment, settings.clone(), &host));
        made.map(drop).map_err(|error| ConfigError::new("rules", format!("{error:#}")))
    }

    /// The same where nothing can keep buddy's own files from a command.
    pub(crate) fn exposed(self) -> Self {
        Self { is_exposed: true, ..self }
    }

    /// The rules that hold now, and whether the user trusts the directory. One of another host has no project files here, whatever is
    /// at the same path.
    fn rules(&self, key: PolicyKey<'_>) -> anyhow::Result<(Arc<RuleSet>, bool)> {
        let files = self.files.of(key);
        let is_covered = self.remote.is_none() && files.trust.covers(key.workspace);
        Ok((files.rules(is_covered)?, is_covered))
    }

    /// The name of the target.
    fn target(&self) -> &str {
        self.remote.as_ref().map_or("local", |remote| &remote.name)
    }

    /// A directory by its name without links, which only the files of this machine tell.
    fn real(&self, cwd: &Path) -> PathBuf {
        let real = if self.remote.is_none() { cwd.canonicalize().ok() } else { None };
        real.unwrap_or_else(|| cwd.to_owned())
    }

    /// Names that the user's settings of git give in every repository.
    fn git_names(&self, places: &Places) -> NameSet {
        if self.remote.is_some() {
            return NameSet::default();
        }
        let home = GitHome { home: places.home.as_deref(), config: self.environment.config_home.as_deref() };
        git_order_names(home)
    }

    /// The paths that settings of git name in what is worked on. Another host is not asked: that would take as long as a call.
    fn git_orders(&self, places: &Places) -> Vec<PathBuf> {
        if self.remote.is_some() {
            return Vec::new();
        }
        let home = GitHome { home: places.home.as_deref(), config: self.environment.config_home.as_deref() };
        // The judged path is beneath the name that the user gave, which may be a link.
        let opened = places.workspace.iter().chain(&places.scratch);
        let roots: Vec<(&PathBuf, PathBuf)> = opened.map(|root| (root, self.real(root))).collect();
        let below = |path: &Path| -> Vec<PathBuf> {
            let inside = roots.iter().filter_map(|(root, real)| {
                let rest = path.strip_prefix(real).or_else(|_| path.strip_prefix(root)).ok()?;
                (!rest.as_os_str().is_empty()).then(|| [root.join(rest), real.join(rest)])
            });
            inside.flatten().collect()
        };
        let found = git_orders(&places.workspace, guarded_names(), home);
        found.iter().flat_map(|path| below(path)).collect::<BTreeSet<_>>().into_iter().collect()
    }
}

/// Whether a variable of commands leads clients of containers to an engine on another host.
fn has_remote_engine(variables: &[(String, String)]) -> bool {
    let is_local = |value: &str| {
        value.is_empty() || value == "default" || value.starts_with("unix:") || value.starts_with('/')
    };
    variables.iter().any(|(name, value)| ENGINE_VARIABLES.contains(&name.as_str()) && !is_local(value))
}

fn patterns(key: &str, list: &[String]) -> anyhow::Result<Vec<CommandPattern>> {
    let parse = |text: &String| CommandPattern::parse(text).with_context(|| format!("{key}: `{text}`"));
    list.iter().map(parse).collect()
}

impl PolicySource for Policies {
    fn policy(&self, key: PolicyKey<'_>, is_plan_only: bool) -> Result<Arc<Policy>, String> {
        let cwd = key.workspace;
        let (rules, is_covered) = self.rules(key).map_err(|error| format!("{error:#}"))?;
        let is_trusted = match &self.remote {
            None => self.is_throwaway() || is_covered,
            Some(remote) => remote.is_trusted,
        };
        // They were named as directories of this machine; at the same path another host has something else.
        let added = if self.remote.is_none() { self.settings.added() } else { &[] };
        let open = if self.remote.is_none() { self.settings.jail.within(cwd) } else { Openings::default() };
        let mut places = Places {
            workspace: is_trusted.then(|| cwd.to_owned()).into_iter().chain(added.iter().cloned()).collect(),
            // There is no jail on other hosts.
            untrusted: (self.remote.is_none() && !is_trusted).then(|| cwd.to_owned()),
            home: self.ground.home.clone(),
            own: self.ground.own.clone(),
            own_readable: self.ground.own_readable.clone(),
            scratch: self.ground.scratch.iter().cloned().chain(open.write).collect(),
            target: self.target().to_owned(),
            remote: self.remote.is_some(),
            git_orders: Vec::new(),
            git_names: NameSet::default(),
            linked: LinkedPlaces::default(),
            links: if self.remote.is_none() { link_lookup() } else { LinkLookup::default() },
            remotes: if self.remote.is_none() { remote_lookup() } else { RemoteLookup::default() },
        };
        places.git_orders = self.git_orders(&places);
        places.git_names = self.git_names(&places);
        if self.remote.is_none() {
            places.linked = self.linked.of(&places);
        }
        Ok(Arc::new(Policy {
            mode: if is_plan_only { Mode::Plan } else { self.settings.mode },
            is_exposed: self.is_exposed,
            is_throwaway: self.is_throwaway(),
            has_remote_engine: has_remote_engine(&self.ground.variables),
            has_broker: self.remote.is_none() && buddy_exec::jail::has_namespaces(),
            places,
            rules: (*rules).clone(),
            commands: self.settings.commands.clone(),
            fetch_confirm: self.settings.fetch_confirm,
            is_offline: !self.settings.network,
            is_without_undo: self.environment.is_ephemeral(),
            known_hosts: self.settings.known_hosts.iter().cloned().chain(open.hosts).collect(),
            searches: self.settings.searches.clone(),
            limits: self.settings.limits.within(cwd, &self.real(cwd), self.ground.home.as_deref()),
        }))
    }

    fn is_throwaway(&self) -> bool {
        self.environment.is_throwaway && self.remote.is_none()
    }

    fn bounds(&self, policy: &Policy, call: &CallRights<'_>) -> Bounds {
        if self.is_throwaway() && policy.mode == Mode::Production {
            return Bounds::open();
        }
        bounds(&self.ground, policy, call, self.settings.network)
    }

    fn links(&self, policy: &Policy, paths: &[PathBuf]) -> Vec<(PathBuf, PathBuf)> {
        // Another host is not asked: that would take as long as the command.
        if self.remote.is_some() {
            return Vec::new();
        }
        let mut found = links(&policy.places, paths);
        // Elsewhere a jail holds what goes through them.
        if policy.mode == Mode::Production {
            found.extend(links_within(&policy.places, paths));
        }
        found
    }

    fn named_links(&self, policy: &Policy, named: &NamedPaths) -> Vec<(PathBuf, PathBuf)> {
        if self.remote.is_some() {
            return Vec::new();
        }
        let mut found = links(&policy.places, &named.paths);
        found.extend(links_within(&policy.places, &named.patterns));
        found
    }

    fn carried(&self, policy: &Policy, files: &[Carried]) -> Vec<Carried> {
        // As with links, another host is not asked.
        let files = files.iter().filter(|_| self.remote.is_none());
        files.filter(|file| carries_links(&policy.places, file)).cloned().collect()
    }

    fn tracked(&self, directories: &[PathBuf]) -> Vec<PathBuf> {
        // As with links, another host is not asked.
        if self.remote.is_some() { Vec::new() } else { self.tracked.of(directories) }
    }

    fn lost(&self, policy: &Policy, paths: &[PathBuf], remover: Remover) -> Vec<PathBuf> {
        // As with links, another host is not asked.
        let roots = policy.places.workspace.iter().filter(|_| self.remote.is_none());
        let lost = if policy.is_without_undo { lost_without_undo } else { lost };
        roots.flat_map(|root| lost(root, paths, remover, UndoSettings::default())).collect()
    }

    fn landings(&self, _: &Policy, paths: &[PathBuf]) -> Vec<Landing> {
        // As with links, another host is not asked.
        if self.remote.is_some() { Vec::new() } else { paths.iter().map(|path| landing(path)).collect() }
    }

    fn git_credentials(&self, directories: &[PathBuf]) -> BTreeSet<String> {
        if self.remote.is_some() {
            return BTreeSet::new();
        }
        let home =
            GitHome { home: self.ground.home.as_deref(), config: self.environment.config_home.as_deref() };
        git_credentials(directories, home)
    }

    fn git_parts(&self, paths: &[PathBuf]) -> Vec<PathBuf> {
        // As with links, another host is not asked.
        if self.remote.is_some() {
            return Vec::new();
        }
        let remotes = places_of_remotes(paths);
        let is_part = |path: &&PathBuf| adds_to_repository(path, GIT_ORDERS) || remotes.contains(*path);
        paths.iter().filter(is_part).cloned().collect()
    }

    fn protected_within(&self, policy: &Policy, paths: &[PathBuf]) -> Vec<PathBuf> {
        // As with links, another host is not asked.
        let paths = paths.iter().filter(|_| self.remote.is_none());
        paths.flat_map(|path| protected_within(path, &policy.places)).collect()
    }

    fn changeable_programs(&self, policy: &Policy, uses: &[ProgramUse]) -> Vec<ChangeableProgram> {
        // As with links, another host is not asked. In production commands can write wherever the user can.
        if self.remote.is_some() || policy.mode == Mode::Production {
            return Vec::new();
        }
        let programs = self.ground.command_programs(&policy.places);
        let changeable = |used: &ProgramUse| {
            // In a terminal the directory is not known.
            let nowhere = used.cwds.is_empty().then(|| PathBuf::from("/"));
            let mut cwds = used.cwds.iter().chain(&nowhere);
            let file = cwds.find_map(|cwd| programs.changeable(&used.name, cwd))?;
            let digest = programs.digest(&file);
            Some(ChangeableProgram { name: used.name.clone(), file, digest })
        };
        uses.iter().filter_map(changeable).collect()
    }

    fn registry(&self, cwd: &Path, commands: &[String], host: &str) -> Option<Registry> {
        // Commands on another host have no broker.
        if self.remote.is_some() {
            return None;
        }
        let source = SettingsSource {
            home: self.ground.home.as_deref(),
            config: self.environment.config_home.as_deref(),
            project: cwd,
            variables: &self.ground.variables,
            read: &read_settings,
            list: &list_names,
        };
        registry_of(host, commands, &source)
    }

    fn grants(&self, key: PolicyKey<'_>) -> Vec<Grant> {
        self.files.of(key).grants_in(&self.real(key.workspace))
    }

    fn keep(
        &self,
        key: PolicyKey<'_>,
        grant: &Grant,
        scope: GrantScope,
        time: Duration,
    ) -> Result<(), String> {
        let project = (scope == GrantScope::Project).then(|| self.real(key.workspace));
        let kept = self.files.of(key).keep(grant.clone(), project.as_deref(), time);
        kept.map_err(|error| format!("{error:#}"))
    }
}
