//! Policy's answer and the bounds say the same of every row of the table, on a real tree.

use std::fs;
use std::path::Path;
use std::time::Duration;

use buddy_exec::{
    Description, HostMeans, LocalSettings, LocalTarget, Recorder, SupervisorCommand, Target, TargetError,
};
use buddy_policy::{Action, Intent, Keeps, Now, PROTECTED, Verdict, decide};
use buddy_protocol::ApprovalPolicy;

use super::*;

/// A home with a workspace in it, and what reaches its files.
struct Yard {
    _folder: tempfile::TempDir,
    ground: Ground,
    policy: Policy,
    target: LocalTarget,
}

impl Yard {
    fn new(mode: Mode) -> Self {
        Self::opened(mode, "work")
    }

    /// The same with another directory of the home as the workspace.
    fn opened(mode: Mode, top: &str) -> Self {
        let folder = tempfile::tempdir();
        let folder = folder.unwrap();
        let home = folder.path().canonicalize().unwrap();
        let work = home.join(top);
        fs::create_dir_all(&work).unwrap();
        let own = vec![home.join(".buddy"), home.join(".config/buddy")];
        let own_readable = vec![home.join(".buddy/shared"), home.join(".buddy/logs")];
        let scratch = vec![home.join(".buddy/shared")];
        let variable = |name: &str, value: PathBuf| (name.to_owned(), value.display().to_string());
        let variables = [
            variable("HOME", home.clone()),
            variable("XDG_RUNTIME_DIR", home.join("runtime")),
            variable("SSH_AUTH_SOCK", home.join("runtime/agent")),
            variable("TMUX", home.join("server,1,0")),
            variable("DOCKER_HOST", home.join("engine")),
        ];
        let environment = Environment::of(variables.into()).unwrap();
        let sessions = Arc::new(OtherSessions::new(&environment));
        let (layers, caches) = (None, Vec::new());
        let ground = Ground {
            homes: vec![home.clone()],
            home: Some(home),
            own,
            own_readable,
            scratch,
            layers,
            caches,
            variables: Vec::new(),
            sessions,
            is_remote: false,
        };
        ground.make_own();
        let places = Places {
            workspace: vec![work.clone()],
            home: ground.home.clone(),
            own: ground.own.clone(),
            own_readable: ground.own_readable.clone(),
            scratch: ground.scratch.clone(),
            target: "local".to_owned(),
            ..Places::default()
        };
        let policy = Policy { mode, places, ..Policy::default() };
        let description = Description {
            name: "local".into(),
            user: "someone".into(),
            host: "here".into(),
            os: "linux".into(),
            shell: "/bin/sh".into(),
            cwd: work,
            means: HostMeans::default(),
        };
        let supervisor = SupervisorCommand { program: "/bin/false".into(), args: Vec::new() };
        let settings = LocalSettings { supervisor, description, grace: Duration::ZERO };
        Self { _folder: folder, ground, policy, target: LocalTarget::new(settings) }
    }

    fn work(&self, name: &str) -> PathBuf {
        self.policy.places.workspace[0].join(name)
    }

    /// The bounds of a call, with its verdict.
    fn judge(&self, action: Action, by: AllowedBy) -> (Verdict, Bounds) {
        let decision = decide(&Intent::of(action), &self.policy, &Now::with(ApprovalPolicy::Ask));
        let call = CallRights::of(&decision, by);
        (decision.verdict, bounds(&self.ground, &self.policy, &call, true))
    }

    async fn reads(&self, path: &Path, by: AllowedBy) -> (Verdict, bool) {
        let (verdict, bounds) = self.judge(Action::Read(path.to_owned()), by);
        (verdict, self.target.read(&bounds, path, 100).await.is_ok())
    }

    async fn writes(&self, path: &Path, by: AllowedBy) -> Result<(), TargetError> {
        let (_, bounds) = self.judge(Action::Write(path.to_owned()), by);
        self.target.write(&bounds, &Recorder::off(), path, b"x").await.map(drop)
    }
}

fn plant(path: &Path) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    if !path.exists() {
        fs::write(path, "value").unwrap();
    }
}

/// A file that the row is about.
fn example(name: &str) -> String {
    name.replace('*', "x")
}

/// Every second row, from the first or the second on.
async fn check_reads(mode: Mode, first: usize) {
    let rows = PROTECTED.iter().skip(first).step_by(2);
    for row in rows.filter(|row| !row.name.starts_with('/')) {
        let is_secret = match row.keeps {
            Keeps::Secrets | Keeps::ToolSecrets | Keeps::SecretFiles => true,
            Keeps::NoSecrets => false,
            Keeps::Orders | Keeps::OrdersIn(_) | Keeps::OrderFiles => continue,
        };
        // A home of its own for each row, so that one row's file is not another row's directory.
        let yard = Yard::new(mode);
        let home = yard.ground.home.clone().unwrap();
        let inside = |top: &Path| vec![top.join(example(row.name))];
        let mut paths = inside(&yard.work("sub"));
        if matches!(row.keeps, Keeps::Secrets | Keeps::ToolSecrets) {
            paths.extend(inside(&home));
        }
        for path in paths {
            plant(&path);
            let is_own = path.starts_with(home.join(".config/buddy"));
            let (verdict, is_read) = yard.reads(&path, AllowedBy::Nobody).await;
            let is_closed = row.keeps == Keeps::Secrets && !path.starts_with(yard.work("sub"));
            let stopped = if is_closed || is_own { Verdict::Deny } else { Verdict::Ask };
            assert_eq!(verdict == stopped, is_secret, "policy, {mode:?}: {}", path.display());
            assert_eq!(is_read, !is_secret, "bounds, {mode:?}: {}", path.display());
            let (_, is_read) = yard.reads(&path, AllowedBy::Person).await;
            assert!(is_read || is_own || is_closed, "{mode:?}: an approved read of {}", path.display());
        }
    }
}

#[tokio::test]
async fn what_development_asks_for_before_it_is_read_is_closed_until_a_person_allows_it() {
    check_reads(Mode::Development, 0).await;
}

#[tokio::test]
async fn the_same_of_every_other_row_in_development() {
    check_reads(Mode::Development, 1).await;
}

#[tokio::test]
async fn what_production_asks_for_before_it_is_read_is_closed_until_a_person_allows_it() {
    check_reads(Mode::Production, 0).await;
}

#[tokio::test]
async fn the_same_of_every_other_row_in_production() {
    check_reads(Mode::Production, 1).await;
}

#[tokio::test]
async fn what_policy_asks_for_before_it_is_changed_is_closed_until_a_person_allows_it() {
    for row in PROTECTED.iter().filter(|row| !row.name.starts_with('/')) {
        let names = match row.keeps {
            Keeps::Orders | Keeps::OrderFiles => vec![example(row.name)],
            Keeps::OrdersIn(parts) => parts.iter().map(|part| format!("{}/{part}", row.name)).collect(),
            Keeps::Secrets | Keeps::ToolSecrets | Keeps::SecretFiles | Keeps::NoSecrets => continue,
        };
        let yard = Yard::new(Mode::Development);
        for path in names.iter().flat_map(|name| [yard.work(name), yard.work("sub").join(name)]) {
            let (verdict, bounds) = yard.judge(Action::Write(path.clone()), AllowedBy::Nobody);
            assert_eq!(verdict, Verdict::Ask, "policy: {}", path.display());
            assert!(bounds.guarded_names.covers(&path), "the jail: {}", path.display());
            let refused = yard.writes(&path, AllowedBy::Nobody).await;
            assert!(matches!(refused, Err(TargetError::Guarded { .. })), "{}: {refused:?}", path.display());
            assert!(!path.exists());
            yard.writes(&path, AllowedBy::Person).await.unwrap();
            assert!(path.exists(), "an approved write of {}", path.display());
        }
    }
}

/// Each way to open a directory in which a name of a row only ends, with the rest of the name.
fn split(name: &str) -> Vec<(String, String)> {
    let name = example(name);
    let parts: Vec<&str> = name.split('/').collect();
    let halves = (1..parts.len()).map(|at| parts.split_at(at));
    halves.map(|(above, below)| (format!("sub/{}", above.join("/")), below.join("/"))).collect()
}

#[tokio::test]
async fn a_row_holds_where_its_name_begins_above_the_workspace() {
    let mut count = 0;
    for row in PROTECTED.iter().filter(|row| !row.name.starts_with('/')) {
        let (names, is_secret) = match row.keeps {
            Keeps::Orders | Keeps::OrderFiles => (vec![row.name.to_owned()], false),
            Keeps::OrdersIn(parts) => {
                (parts.iter().map(|part| format!("{}/{part}", row.name)).collect(), false)
            }
            Keeps::Secrets | Keeps::ToolSecrets | Keeps::SecretFiles => (vec![row.name.to_owned()], true),
            Keeps::NoSecrets => continue,
        };
        for (top, rest) in names.iter().flat_map(|name| split(name)) {
            count += 1;
            let yard = Yard::opened(Mode::Development, &top);
            let path = yard.work(&rest);
            if is_secret {
                plant(&path);
                let (verdict, is_read) = yard.reads(&path, AllowedBy::Nobody).await;
                assert_eq!((verdict, is_read), (Verdict::Ask, false), "{}", path.display());
                let (_, bounds) = yard.judge(Action::Read(path.clone()), AllowedBy::Nobody);
                let sealed = yard.target.sealed(&bounds, &[yard.work("")]).await;
                let is_sealed = row.keeps != Keeps::Secrets || sealed.contains(&path);
                assert!(is_sealed, "the jail: {}: {sealed:?}", path.display());
                assert!(yard.reads(&path, AllowedBy::Person).await.1, "{}", path.display());
                continue;
            }
            let (verdict, _) = yard.judge(Action::Write(path.clone()), AllowedBy::Nobody);
            assert_eq!(verdict, Verdict::Ask, "policy: {}", path.display());
            let refused = yard.writes(&path, AllowedBy::Nobody).await;
            assert!(matches!(refused, Err(TargetError::Guarded { .. })), "{}: {refused:?}", path.display());
            assert!(!path.exists());
            yard.writes(&path, AllowedBy::Person).await.unwrap();
            assert!(path.exists(), "an approved write of {}", path.display());
        }
    }
    assert!(count > 80, "{count} rows have a name of several parts");
}

/// Policy and the bounds leave a workspace alone that lies at or below a protected name. Every second row is tried, from the first or the
/// second on: each needs a home of its own.
async fn check_own_names(first: usize) {
    let rows = PROTECTED.iter().skip(first).step_by(2);
    for row in rows.filter(|row| !row.name.starts_with('/') && !row.name.contains('*')) {
        if !matches!(row.keeps, Keeps::Orders | Keeps::Secrets | Keeps::ToolSecrets) {
            continue;
        }
        let yard = Yard::opened(Mode::Development, &format!("sub/{}/proj", row.name));
        let path = yard.work("plain.txt");
        plant(&path);
        assert_eq!(yard.reads(&path, AllowedBy::Nobody).await, (Verdict::Allow, true), "{}", path.display());
        yard.writes(&path, AllowedBy::Nobody).await.unwrap();
    }
}

#[tokio::test]
async fn a_workspace_is_not_protected_by_its_own_name() {
    check_own_names(0).await;
}

#[tokio::test]
async fn a_workspace_is_not_protected_by_its_own_name_either() {
    check_own_names(1).await;
}

#[test]
fn places_of_the_system_with_secrets_are_hidden_where_they_are_there() {
    for mode in [Mode::Development, Mode::Production, Mode::Plan] {
        let yard = Yard::new(mode);
        let (_, bounds) = yard.judge(Action::Read("/etc/hosts".into()), AllowedBy::Nobody);
        for place in secret_places().filter(|place| place.exists()) {
            assert!(bounds.hidden.iter().any(|hidden| hidden == place), "{}", place.display());
        }
        assert!(yard.ground.own.iter().all(|own| bounds.hidden.contains(own)), "buddy's own");
    }
}

#[test]
fn a_command_reads_secrets_of_the_workspace_only_when_a_person_thought_about_it() {
    let run = |command: &str, yard: &Yard| Action::Run { command: command.to_owned(), cwd: yard.work("") };
    for mode in [Mode::Development, Mode::Production] {
        let yard = Yard::new(mode);
        let home = yard.ground.home.clone().unwrap();
        plant(&home.join(".aws/credentials"));
        for command in ["ls", "make test", "cat src/main.rs"] {
            let (_, bounds) = yard.judge(run(command, &yard), AllowedBy::Nobody);
            assert!(bounds.sealed_names.covers(Path::new(".env")) && bounds.opened.is_empty(), "{command}");
        }
        let (_, bounds) = yard.judge(run("make test", &yard), AllowedBy::Person);
        assert!(bounds.sealed_names.is_empty());
        assert!(yard.ground.own.iter().all(|own| bounds.hidden.contains(own)), "never buddy's own");
        let is_hidden = bounds.hidden.contains(&home.join(".aws"));
        assert_eq!(is_hidden, mode == Mode::Development, "{mode:?}");
        for by in [AllowedBy::Nobody, AllowedBy::Person] {
            plant(&home.join(".npmrc"));
            let (_, bounds) = yard.judge(run("make test", &yard), by);
            let is_closed = bounds.hidden.contains(&home.join(".npmrc"));
            assert_eq!(
                is_closed,
                by == AllowedBy::Nobody,
                "{mode:?}: tools need it once a user allowed them"
            );
        }
        let (_, bounds) = yard.judge(run("sudo make install", &yard), AllowedBy::Person);
        assert_eq!(bounds.is_open(), mode == Mode::Production, "{mode:?}");
        let (_, bounds) = yard.judge(run("sudo make install", &yard), AllowedBy::Nobody);
        assert!(!bounds.is_open());
    }
}

#[test]
fn a_command_of_production_has_no_way_to_other_sessions() {
    let run = |yard: &Yard| Action::Run { command: "make test".to_owned(), cwd: yard.work("") };
    for (mode, by) in [
        (Mode::Production, AllowedBy::Nobody),
        (Mode::Production, AllowedBy::Person),
        (Mode::Development, AllowedBy::Person),
    ] {
        let yard = Yard::new(mode);
        let home = yard.ground.home.clone().unwrap();
        for name in ["runtime/agent", "runtime/bus", "server", "engine"] {
            plant(&home.join(name));
        }
        let (_, bounds) = yard.judge(run(&yard), by);
        let is_production = mode == Mode::Production;
        for name in ["runtime", "server"] {
            assert_eq!(bounds.ways.contains(&home.join(name)), is_production, "{mode:?} {by:?} {name}");
        }
        assert_eq!(bounds.shown.contains(&home.join("runtime/agent")), is_production, "{mode:?}: git push");
        let is_reached = is_production && by == AllowedBy::Person;
        assert_eq!(bounds.ways.contains(&home.join("engine")), !is_reached, "{mode:?} {by:?}");
        let (_, bounds) = yard.judge(Action::Read(yard.work("file")), by);
        assert!(!bounds.ways.contains(&home.join("runtime")), "tools open no sockets");
    }
}

#[test]
fn where_nothing_can_be_hidden_a_command_that_was_allowed_has_open_bounds() {
    let run = |command: &str, yard: &Yard| Action::Run { command: command.to_owned(), cwd: yard.work("") };
    for mode in [Mode::Production, Mode::Development, Mode::Plan] {
        let mut yard = Yard::new(mode);
        yard.policy.is_exposed = true;
        let (verdict, bounds) = yard.judge(run("make test", &yard), AllowedBy::Person);
        assert_eq!(bounds.is_open(), mode == Mode::Production, "{mode:?}");
        assert_ne!(verdict, Verdict::Allow, "{mode:?}: nobody runs it unasked");
        let (verdict, bounds) = yard.judge(run("ls", &yard), AllowedBy::Nobody);
        assert_eq!(
            (verdict, bounds.is_open()),
            (Verdict::Allow, mode == Mode::Production),
            "{mode:?}: it only reads"
        );
        let (_, bounds) = yard.judge(Action::Read(yard.work("file")), AllowedBy::Nobody);
        assert!(!bounds.is_open(), "{mode:?}: tools keep to their bounds");
    }
}

/// Programs spell these with capitals, and a file system of Linux tells them apart.
#[test]
fn places_of_the_home_are_hidden_in_the_spelling_of_their_programs() {
    let yard = Yard::new(Mode::Development);
    let home = yard.ground.home.clone().unwrap();
    for place in [
        ".config/BraveSoftware/Brave-Browser/Default/Cookies",
        ".config/Code/User/globalStorage/state.vscdb",
        ".config/Cursor/User/globalStorage/state.vscdb",
        ".config/Bitwarden CLI/data.json",
        ".config/Signal/config.json",
        ".config/Slack/Cookies",
        ".local/share/TelegramDesktop/tdata/key_datas",
        ".local/share/DBeaverData/workspace6/x",
        ".nuget/NuGet/NuGet.Config",
        ".local/share/mkcert/rootCA-key.pem",
    ] {
        let file = home.join(place);
        plant(&file);
        let hidden = yard.ground.secrets(home_secrets().chain(tool_secrets()));
        assert!(hidden.iter().any(|hidden| file.starts_with(hidden)), "{place} can be read");
    }
}

#[test]
fn another_home_in_the_environment_opens_neither_keys_of_the_account_nor_buddys_directories() {
    let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let account_home = folder.path().canonicalize().unwrap();
    let (key, login) = (account_home.join(".ssh/id_ed25519"), account_home.join(".aws/credentials"));
    let auth = account_home.join(".config/buddy/auth.json");
    for file in [&key, &login, &auth] {
        plant(file);
    }
    let variable = |name: &str, value: PathBuf| (name.to_owned(), value.display().to_string());
    let home = other.path().canonicalize().unwrap();
    let work = home.join("work");
    fs::create_dir(&work).unwrap();
    let mut environment = Environment::of([variable("HOME", home)].into()).unwrap();
    environment.account_home = Some(account_home);
    let host = Host::local(&environment, work).unwrap();
    let ground = Ground::of(&environment, &host);
    let hidden = ground.secrets(home_secrets().chain(tool_secrets()));
    let is_hidden = |file: &Path| ground.own.iter().chain(&hidden).any(|place| file.starts_with(place));
    for file in [&key, &login, &auth] {
        assert!(is_hidden(file), "{} can be read", file.display());
    }
}
