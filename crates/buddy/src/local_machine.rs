//! This machine as a place of work: its commands, its managed processes, and the undo store.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use buddy_exec::managed::{KEEP, ManagedProcesses, ManagedSettings};
use buddy_exec::undo::{UndoSettings, UndoStore};
use buddy_exec::warden::WARD;
use buddy_exec::{
    DEFAULT_GRACE, Description, GitHome, HostMeans, Limits, LocalSettings, LocalTarget, OrderGuard,
    SupervisorCommand, TOLD_PROGRAMS, git_order_names,
};
use buddy_policy::guarded_names;

use crate::environment::Environment;
use crate::system::{SystemClock, SystemIds};

/// The hidden first argument under which buddy supervises one command of an agent.
pub(crate) const SUPERVISE: &str = "__supervise";

/// How long a command that is stopped may take to end by itself.
pub(crate) const STOP_GRACE: Duration = Duration::from_secs(1);

/// Where what calls change is kept.
pub(crate) fn undo_store(environment: &Environment) -> UndoStore {
    let mut names = guarded_names().clone();
    let home = GitHome { home: environment.home.as_deref(), config: environment.config_home.as_deref() };
    names.trees.extend(git_order_names(home).trees);
    let guard = OrderGuard {
        names,
        quarantine: quarantine(environment),
        home: environment.home.clone(),
        config_home: environment.config_home.clone(),
    };
    let folder = environment.data.join("undo");
    UndoStore::with_guard(folder, UndoSettings::default(), Arc::new(SystemClock), Some(guard))
}

/// This machine, to run commands on.
pub(crate) fn local_target(environment: &Environment, cwd: PathBuf) -> anyhow::Result<LocalTarget> {
    let program = std::env::current_exe().context("cannot find buddy's own program")?;
    let system = rustix::system::uname();
    // Rows are broken by how long these are, so tests of screens choose them.
    let chosen = environment.get("BUDDY_PLACE").filter(|_| fail::has_failpoints());
    let (user, host) =
        chosen.and_then(|place| place.split_once('@')).unwrap_or((&environment.user, &environment.host));
    let description = Description {
        name: "local".to_owned(),
        user: user.to_owned(),
        host: host.to_owned(),
        os: format!("{} {}", system.sysname().to_string_lossy(), system.release().to_string_lossy()),
        shell: shell(),
        cwd,
        means: local_means(environment),
    };
    let supervisor = SupervisorCommand { program, args: vec![SUPERVISE.to_owned()] };
    let target = LocalTarget::new(LocalSettings { supervisor, description, grace: STOP_GRACE });
    let target = target.with_quarantine(quarantine(environment));
    let target = if environment.is_throwaway { target.leaving_leftovers() } else { target };
    // A process that runs on needs a place to be found by.
    if environment.is_ephemeral() {
        return Ok(target);
    }
    Ok(target.with_managed(managed_processes(environment)?))
}

/// The means of this machine. Nothing is started to find them.
fn local_means(environment: &Environment) -> HostMeans {
    let kilobytes = std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| {
        let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
        line.trim().trim_end_matches("kB").trim().parse::<u64>().ok()
    });
    let now = jiff::Zoned::now();
    let zone = now.time_zone().iana_name().map_or_else(|| now.strftime("%Z").to_string(), str::to_owned);
    let path = environment.get("PATH").unwrap_or_default();
    let is_there = |name: &&&str| std::env::split_paths(path).any(|directory| directory.join(name).is_file());
    HostMeans {
        cores: std::thread::available_parallelism().ok().map(std::num::NonZeroUsize::get),
        memory: kilobytes.map(|count| count * 1024),
        zone: Some((zone, now.offset().seconds())),
        programs: Some(TOLD_PROGRAMS.iter().filter(is_there).map(|name| (*name).to_owned()).collect()),
    }
}

/// How the shell of a shared terminal is put into its jail.
pub(crate) fn warden() -> anyhow::Result<SupervisorCommand> {
    let program = std::env::current_exe().context("cannot find buddy's own program")?;
    Ok(SupervisorCommand { program, args: vec![WARD.to_owned()] })
}

/// The processes that run on when buddy ends.
pub(crate) fn managed_processes(environment: &Environment) -> anyhow::Result<ManagedProcesses> {
    let program = std::env::current_exe().context("cannot find buddy's own program")?;
    let managed = ManagedProcesses::new(ManagedSettings {
        directory: environment.data.join("processes"),
        keeper: SupervisorCommand { program, args: vec![KEEP.to_owned()] },
        grace: DEFAULT_GRACE,
        limits: Limits::usual(),
        clock: Arc::new(SystemClock),
        ids: Arc::new(SystemIds),
    });
    Ok(managed.with_quarantine(quarantine(environment)))
}

/// Where things are moved that commands leave where programs take orders from them.
pub(crate) fn quarantine(environment: &Environment) -> PathBuf {
    environment.data.join("quarantine")
}

/// The shell that runs commands. Models write for bash, so bash is taken where there is one.
fn shell() -> String {
    let bash = ["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash"];
    let found = bash.into_iter().find(|path| std::path::Path::new(path).exists());
    found.unwrap_or("/bin/sh").to_owned()
}
