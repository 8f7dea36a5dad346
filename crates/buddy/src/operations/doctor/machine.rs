//! The store, the configuration, the model in use, and what this machine has.

use std::path::Path;
use std::sync::Arc;

use buddy_exec::cache_layers;
use buddy_model::diagnose::Check;
use buddy_policy::Withheld;
use buddy_protocol::operations::{DoctorFact, DoctorReport};
use buddy_store::{CheckReport, SqliteStore, StoreRole, StoreSettings};
use buddy_tui::{ListView, counted};
use serde_json::json;

use super::{doctor_check, jail, programs};
use crate::config::{Loaded, load_existing, user_file};
use crate::environment::Environment;
use crate::local_machine::local_target;
use crate::models::{ChoiceKind, Lessons, ModelKeys, Models, choose, local_servers};
use crate::operations::place::OperationPlace;
use crate::policy::Guards;
use crate::system::SystemClock;

/// A store up to this size is read through; a larger one takes too long for a look.
const MAX_CHECKED_BYTES: u64 = 64 * 1024 * 1024;
/// Less free space than this is worth a word.
const LOW_DISK_BYTES: u64 = 512 * 1024 * 1024;

/// Examines the machine. Nothing is made or changed.
pub(crate) async fn examine(place: &OperationPlace, has_terminal: bool) -> anyhow::Result<DoctorReport> {
    let environment = &place.environment;
    let target = Arc::new(local_target(environment, place.cwd.clone())?);
    let mut checks = vec![store(environment).await, disk(environment)];
    match load_existing(environment, &place.cwd, &place.request) {
        Err(error) => {
            checks.push(Check::fail("config", format!("{error:#}"), "fix the file where the message says"));
            checks.push(Check::skipped("model", "the configuration cannot be read"));
        }
        Ok(loaded) => {
            checks.push(config(environment, &loaded));
            checks.push(variables(environment, &loaded));
            let keys = ModelKeys::new(environment, &loaded, target.clone());
            checks.push(model(place, &loaded, keys).await);
        }
    }
    checks.push(layers(environment));
    checks.extend(guards(environment));
    checks.extend(programs::look(environment, &*target).await);
    checks.extend(jail::examine().await);
    checks.push(terminal(environment, has_terminal));
    let version = DoctorFact { name: "buddy".to_owned(), value: json!(env!("CARGO_PKG_VERSION")) };
    let checks = checks.into_iter().map(doctor_check).collect();
    Ok(DoctorReport { facts: vec![version], checks, ..DoctorReport::default() })
}

/// The guards file, where there is something to say about it.
fn guards(environment: &Environment) -> Option<Check> {
    match Guards::new(&environment.data).notice() {
        Ok(None) => None,
        Ok(Some(notice)) => Some(Check::warn("guards", notice, "buddy guards show")),
        Err(error) => {
            Some(Check::fail("guards", error.to_string(), "fix the file; no command runs until then"))
        }
    }
}

async fn store(environment: &Environment) -> Check {
    let path = environment.data.join("buddy.db");
    let Ok(metadata) = path.metadata() else {
        return Check::ok("store", format!("none yet; the first session creates {}", path.display()));
    };
    // The last writes may still be in the log ahead.
    let ahead = environment.data.join("buddy.db-wal").metadata().map_or(0, |ahead| ahead.len());
    let length = metadata.len().saturating_add(ahead);
    let size = bytes(length);
    let next = "copy the directory to a safe place, then run `buddy store check`";
    let settings = StoreSettings {
        directory: environment.data.clone(),
        role: StoreRole::Terminal,
        boot_id: None,
        clock: Arc::new(SystemClock),
    };
    let store = match SqliteStore::open_read_only(settings) {
        Ok(store) => store,
        Err(error) => return Check::fail("store", format!("cannot be opened: {error}"), next),
    };
    if length > MAX_CHECKED_BYTES {
        return Check::ok("store", format!("{size}, opens; check all of it with `buddy store check`"));
    }
    match store.check().await {
        Err(error) => Check::fail("store", format!("cannot be checked: {error}"), next),
        Ok(report) if !report.is_clean() => {
            let first = report.findings.first().map(ToString::to_string).unwrap_or_default();
            Check::fail("store", format!("{} problems, such as: {first}", report.findings.len()), next)
        }
        Ok(CheckReport { anchored_anew: Some(made), .. }) => Check::warn(
            "store",
            format!(
                "the anchors were made anew ({}), so events cut before are not noticed",
                ListView::plain().time(made)
            ),
            "nothing to do if you restored a backup then; otherwise compare with your own backups",
        ),
        Ok(report) => Check::ok(
            "store",
            format!(
                "{size}, {}, {}, no problems",
                counted(report.sessions, "session"),
                counted(report.events, "event")
            ),
        ),
    }
}

/// The space where the data is, or will be.
fn disk(environment: &Environment) -> Check {
    let place = environment.data.ancestors().find(|path| path.exists()).unwrap_or(Path::new("/"));
    match rustix::fs::statvfs(place) {
        Err(error) => Check::warn("disk", format!("cannot be measured: {error}"), "check it with `df`"),
        Ok(disk) => {
            let free = disk.f_bavail.saturating_mul(disk.f_frsize);
            let evidence = format!("{} free for {}", bytes(free), environment.data.display());
            match free {
                0..LOW_DISK_BYTES => {
                    Check::warn("disk", evidence, "free some space: buddy writes sessions while they run")
                }
                _ => Check::ok("disk", evidence),
            }
        }
    }
}

fn config(environment: &Environment, loaded: &Loaded) -> Check {
    let file = user_file(environment);
    let evidence = match &file {
        Some(path) if path.exists() => format!("{}, no warnings", path.display()),
        Some(path) => format!("defaults, as there is no {}", path.display()),
        None => "defaults".to_owned(),
    };
    match loaded.warnings.as_slice() {
        [] => Check::ok("config", evidence),
        [only] => Check::warn(
            "config",
            only,
            "fix it; `buddy config show --origins` shows where each value comes from",
        ),
        [first, rest @ ..] => {
            let evidence = format!("{first}; and {} more warnings", rest.len());
            Check::warn("config", evidence, "any other command prints all of them")
        }
    }
}

/// Variables that commands do not get and could, which is where a user wonders why one is missing.
fn variables(environment: &Environment, loaded: &Loaded) -> Check {
    let withheld = environment.withheld(&loaded.config.variable_rules());
    let is_open =
        |why: Withheld| matches!(why, Withheld::SecretName | Withheld::SecretValue | Withheld::Hidden);
    let listed: Vec<String> = withheld
        .iter()
        .filter(|(_, why)| is_open(*why))
        .map(|(name, why)| format!("{name} ({})", why.reason()))
        .collect();
    let evidence = match listed.as_slice() {
        [] => "commands get all your variables".to_owned(),
        _ => format!(
            "commands do not get {}; list names in `environment.pass` to pass them on",
            listed.join(", ")
        ),
    };
    Check::ok("environment", evidence)
}

/// The layers over package managers' caches, which grow with what projects download.
fn layers(environment: &Environment) -> Check {
    let Some(directory) = environment.layers() else {
        return Check::skipped("caches", "HOME is not set");
    };
    match cache_layers::measure(&directory) {
        Err(error) => {
            Check::warn("caches", format!("cannot be measured: {error}"), "check that you can read it")
        }
        Ok((size, workspaces)) => {
            let of = counted(workspaces as u64, "workspace");
            let cap = bytes(cache_layers::LAYERS_CAP_BYTES);
            let evidence = format!("{} of {cap} used for {of}, in {}", bytes(size), directory.display());
            Check::ok("caches", evidence)
        }
    }
}

async fn model(place: &OperationPlace, loaded: &Loaded, keys: ModelKeys) -> Check {
    let environment = &place.environment;
    let is_wanted = loaded.config.network.local_servers;
    let probe = async || if is_wanted { local_servers(environment).await } else { Vec::new() };
    let next = "choose one with `buddy config set agent.model NAME`; `buddy models` lists them";
    let choice = match choose(environment, loaded, &keys, place.model.as_deref(), probe).await {
        Ok(choice) => choice,
        Err(failure) => {
            return Check::fail("model", failure.message, failure.hint.unwrap_or(next.to_owned()));
        }
    };
    if choice.kind == ChoiceKind::Demo {
        let evidence = "no API key or local model found; the built-in demo answers";
        return Check::warn("model", evidence, "connect a model with `buddy login`");
    }
    let chosen = choice.active.as_ref().map(crate::models::Reference::name);
    let models = Models::new(loaded, keys, choice, Lessons::read(&environment.data));
    if let Err(failure) = models.check() {
        let hint = failure.hint.unwrap_or(next.to_owned());
        return Check::fail("model", failure.message, hint);
    }
    match (models.describe_choice(), models.warnings().first(), chosen) {
        (_, Some(warning), _) => Check::warn("model", warning, "fix it; `buddy models` lists the models"),
        (Some(found), None, None) => Check::warn("model", found.trim_start_matches("model: "), next),
        (Some(found), None, Some(_)) => Check::ok("model", found.trim_start_matches("model: ")),
        (None, None, Some(chosen)) => Check::ok("model", format!("{chosen} (chosen by you)")),
        (None, None, None) => Check::warn("model", "none", next),
    }
}

fn terminal(environment: &Environment, has_terminal: bool) -> Check {
    let kind = environment.get("TERM").unwrap_or("unknown");
    let colours = environment.get("COLORTERM").unwrap_or("unknown");
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(|name| environment.get(name));
    let locale = locale.unwrap_or("unknown");
    let shared = if environment.get("TMUX").is_some() { ", in tmux" } else { "" };
    let evidence = format!("{kind}, colours {colours}, locale {locale}{shared}");
    if !has_terminal {
        return Check::ok("terminal", format!("input or output is not a terminal; {evidence}"));
    }
    match locale.to_lowercase().replace('-', "") {
        locale if locale.contains("utf8") => Check::ok("terminal", evidence),
        _ => Check::warn("terminal", evidence, "set LANG to a UTF-8 locale, such as C.UTF-8"),
    }
}

/// A size that people can read.
fn bytes(count: u64) -> String {
    const UNITS: [(&str, u64); 3] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    let unit = UNITS.into_iter().find(|(_, size)| count >= *size);
    unit.map_or_else(|| format!("{count} B"), |(name, size)| format!("{} {name}", count / size))
}
