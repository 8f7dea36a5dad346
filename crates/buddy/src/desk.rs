//! The surroundings of a conversation in the terminal: history, files, models, the user's editor, and the operations.

mod custom;
mod history;
mod images;
mod keys;
mod look;
mod slash;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use buddy_calls::{Hosts, PolicyKey};
use buddy_exec::{Bounds, Exec, GlobQuery, OutputLimits, Panes, Stdin, Target, run_attended};
use buddy_protocol::operations::{ControlFileChange, CountChanges};
use buddy_protocol::{
    Attachment, Clock, ItemId, Operations, PrincipalId, SessionId, SessionTarget, TargetHost, UnixMillis,
    UserId,
};
use buddy_tui::{CustomCommand, Desk, DeskCommand, ModelOption, SessionSurroundings};

use crate::commands::setup::Setup;
use crate::config::{ConfigRequest, SettingOrigin, TrustStore, load, private_file, text_of, user_file};
use crate::environment::Environment;
use crate::hosts::RunHosts;
use crate::invocation::Invocation;
use crate::local_machine::local_target;
use crate::models::{CurrentModels, OfferedModel, find_models};
use crate::operations::{HomeOperations, OperationConversation, OperationPlace, view_configuration};
use crate::system::SystemClock;
use crate::wiring::Buddy;
use history::HistoryFile;
pub(crate) use images::local as local_image;
pub(crate) use keys::keys;
pub(crate) use look::{details, follows_ground, list_look, look};
use slash::SlashCommands;

/// The most paths that are offered.
const MAX_PATHS: usize = 20_000;
/// The most of a file that says which branch it is.
const MAX_HEAD_BYTES: u64 = 4096;
/// How long the command for the status line may take.
const STATUS_LIMIT: Duration = Duration::from_secs(3);
/// How much of what it says is read.
const STATUS_BYTES: usize = 4 * 1024;
/// The surroundings of a conversation.
pub(crate) struct HomeDesk {
    environment: Environment,
    operations: HomeOperations,
    hosts: Arc<RunHosts>,
    models: Arc<CurrentModels>,
    history: HistoryFile,
    /// The command that makes the status line.
    status_command: Option<String>,
    /// The configuration that this run was started with, and the model.
    request: ConfigRequest,
    wish: Option<String>,
    /// The arguments that name the configuration of this run, for the login that is started in the terminal.
    config_flags: Vec<String>,
    /// Changes of the project's files that the user was shown last; held for a look only.
    seen: Mutex<Vec<ControlFileChange>>,
}

/// The flags of a command line that say which configuration is read.
fn config_flags(request: &ConfigRequest) -> Vec<String> {
    let named = request.named.iter().flat_map(|path| ["--config".to_owned(), path.display().to_string()]);
    let ignored = request.is_user_ignored.then(|| "--ignore-user-config".to_owned());
    named.chain(ignored).collect()
}

impl HomeDesk {
    pub(crate) fn new(
        invocation: &Invocation<'_>,
        buddy: &Buddy,
        hosts: Arc<RunHosts>,
        setup: &Setup,
    ) -> Self {
        let environment = invocation.environment;
        let operations = HomeOperations::new(OperationPlace {
            owner: buddy.who.clone(),
            environment: environment.clone(),
            request: invocation.request.clone(),
            cwd: hosts.cwd.clone(),
            model: invocation.model.clone(),
            conversation: Some(OperationConversation {
                hosts: hosts.clone(),
                sessions: buddy.hub.clone(),
                who: buddy.who.clone(),
                configuration: view_configuration(&setup.loaded),
            }),
        });
        let history = HistoryFile::new(&environment.data);
        let status_command = setup.loaded.config.display.status_command.clone();
        Self {
            environment: environment.clone(),
            operations,
            hosts,
            models: setup.models.clone(),
            history,
            status_command,
            request: invocation.request.clone(),
            wish: invocation.model.clone(),
            config_flags: config_flags(&invocation.request),
            seen: Mutex::default(),
        }
    }

    /// Commands of the user's own, and of the project where it is trusted.
    pub(crate) fn custom_commands(&self) -> Vec<CustomCommand> {
        let user = user_file(&self.environment).and_then(|file| Some(file.parent()?.join("commands")));
        let cwd = &self.hosts.cwd;
        let is_here = self.hosts.wanted.is_empty();
        let is_trusted = is_here && TrustStore::new(&self.environment.data).covers(cwd);
        let project = if is_trusted { custom::project_folder(cwd) } else { None };
        // A project does not take the name of a command of the user's own.
        let directories: Vec<&Path> = project.iter().chain(&user).map(PathBuf::as_path).collect();
        custom::custom_commands(&directories)
    }

    /// Whether nothing is changed in the directory, as the user does not trust it.
    async fn is_untrusted(&self, target: &SessionTarget) -> bool {
        let Ok(host) = self.hosts.attach(&target.wish()).await else { return false };
        let cwd = Path::new(&target.cwd);
        let user = PrincipalId::User(UserId::of_account(&self.environment.user));
        let key = PolicyKey { user: &user, target: &target.name, workspace: cwd };
        host.policy.policy(key, false).is_ok_and(|policy| policy.only_reads(cwd))
    }

    /// The branch that is checked out in the directory or above it.
    async fn branch(&self, target: &SessionTarget) -> Option<String> {
        let host = self.hosts.attach(&target.wish()).await.ok()?;
        for directory in Path::new(&target.cwd).ancestors() {
            let read = async |path: PathBuf| {
                let found = host.target.read(&Bounds::open(), &path, MAX_HEAD_BYTES).await.ok()?;
                Some(String::from_utf8_lossy(&found.bytes).trim().to_owned())
            };
            let text = match read(directory.join(".git/HEAD")).await {
                Some(text) => text,
                // In a worktree or a submodule a file says where it is.
                None => match read(directory.join(".git")).await {
                    Some(link) => {
                        read(directory.join(link.strip_prefix("gitdir:")?.trim()).join("HEAD")).await?
                    }
                    None => continue,
                },
            };
            return Some(match text.strip_prefix("ref: refs/heads/") {
                Some(branch) => branch.to_owned(),
                None => text.chars().take(8).collect(),
            });
        }
        None
    }

    /// Reads configuration and keys anew and uses what they say from now on. Returns the model that the configuration names.
    async fn reload(&self) -> anyhow::Result<Option<String>> {
        let cwd = &self.hosts.cwd;
        let loaded = load(&self.environment, cwd, &self.request)?;
        let is_set = loaded.effective.origin(&["agent", "model"]) != SettingOrigin::Default;
        // The latest choice is in the file; a variable that names another model is for the next start.
        let in_file = self.model_in_file().filter(|name| loaded.config.models.contains_key(name));
        let chosen = in_file.or_else(|| is_set.then(|| loaded.config.agent.model.clone()));
        let wish = self.wish.as_deref();
        self.models.replace(find_models(&self.environment, cwd, &loaded, wish).await?).await;
        Ok(chosen)
    }

    /// The model that the configuration file names.
    fn model_in_file(&self) -> Option<String> {
        let named = self.request.named.clone().or_else(|| self.environment.named_config());
        let file =
            named.map_or_else(|| user_file(&self.environment), |path| Some(self.hosts.cwd.join(path)))?;
        let table: toml::Table = text_of(&file).ok()?.parse().ok()?;
        Some(table.get("agent")?.get("model")?.as_str()?.to_owned())
    }
}

#[async_trait]
impl Desk for HomeDesk {
    fn history(&self) -> Vec<String> {
        self.history.read()
    }

    fn now(&self) -> UnixMillis {
        SystemClock.now()
    }

    fn remember(&self, text: &str) {
        self.history.add(text);
    }

    async fn surroundings(&self, target: &SessionTarget, model: Option<&str>) -> SessionSurroundings {
        fail::fail_point!("desk.surroundings");
        let rows = self.models.now().rows();
        let active = rows.iter().find(|row| row.active);
        let used = model.map_or(active, |name| rows.iter().find(|row| row.name == name || row.model == name));
        let hint = self.models.now().is_demo(model).then(|| "say tour,".to_owned());
        SessionSurroundings {
            hint,
            model: match (used, model) {
                (Some(row), _) => row.model.clone(),
                (None, Some(named)) => named.to_owned(),
                (None, None) => "demo".to_owned(),
            },
            endpoint: used.map(|row| row.host.clone()),
            window: used.and_then(|row| row.context_window),
            branch: self.branch(target).await,
            attach: self.hosts.panes().await.first().map(|panes| panes.attach_command()),
            host: (target.host != TargetHost::Local).then(|| target.name.replacen(':', " ", 1)),
            is_production: self.hosts.is_production(),
            is_untrusted: self.is_untrusted(target).await,
        }
    }

    async fn paths(&self, target: &SessionTarget) -> Vec<String> {
        let Ok(host) = self.hosts.attach(&target.wish()).await else { return Vec::new() };
        let query = GlobQuery { pattern: "**".to_owned(), limit: MAX_PATHS, with_ignored: false };
        let found = host.target.glob(&Bounds::open(), Path::new(&target.cwd), query).await;
        let found = found.map(|found| found.paths).unwrap_or_default();
        found.iter().map(|path| path.to_string_lossy().into_owned()).collect()
    }

    async fn image(&self, target: &SessionTarget, path: &str) -> Result<Option<Attachment>, String> {
        let host = self.hosts.attach(&target.wish()).await?;
        let home = if target.host == TargetHost::Local { self.environment.get("HOME") } else { None };
        let named = match (path.strip_prefix("~/"), home) {
            (Some(rest), Some(home)) => Path::new(home).join(rest),
            _ => Path::new(&target.cwd).join(path),
        };
        let found = images::remote(&*host.target, &named).await?;
        if found.is_some() || target.host == TargetHost::Local {
            return Ok(found);
        }
        // A user who drags a file onto the terminal has it here.
        let home = self.environment.get("HOME").map(Path::new);
        let here = match path.strip_prefix("~/") {
            Some(rest) => home.map(|home| home.join(rest)),
            None => Some(PathBuf::from(path)).filter(|path| path.is_absolute()),
        };
        let Some(here) = here.filter(|here| here.exists()) else { return Ok(None) };
        let read = tokio::task::spawn_blocking(move || images::local(&here)).await;
        read.map_err(|error| error.to_string())?.map(Some)
    }

    async fn pasted_image(&self) -> Result<String, String> {
        let here = local_target(&self.environment, self.hosts.cwd.clone());
        let here = here.map_err(|error| format!("{error:#}"))?;
        let file = images::pasted(&self.environment, &here).await?;
        Ok(file.to_string_lossy().into_owned())
    }

    async fn models(&self, current: Option<&str>) -> Vec<ModelOption> {
        let offered = self.models.now().offered(current).await.into_iter();
        offered.map(|OfferedModel { name, model, note }| ModelOption { name, model, note }).collect()
    }

    async fn find_model(&self, wish: &str, current: Option<&str>) -> Result<String, String> {
        self.models.now().find(wish, current).await.map_err(|failure| match failure.hint {
            Some(hint) => format!("{}; {hint}", failure.message),
            None => failure.message,
        })
    }

    async fn edit(&self, text: &str) -> Result<String, String> {
        let named = ["VISUAL", "EDITOR"].into_iter().find_map(|name| self.environment.get(name));
        let editor = named.unwrap_or("vi").to_owned();
        let program = editor.split_whitespace().next().unwrap_or_default();
        self.environment.named_programs().find(program).map_err(|error| error.to_string())?;
        let directory = self.environment.data.join("run");
        let file = directory.join(format!("draft-{}.md", uuid::Uuid::now_v7().simple()));
        let failed = |error: std::io::Error| format!("cannot edit with `{editor}`: {error}");
        private_file::make_directory(&directory).map_err(failed)?;
        private_file::create(&file, text).map_err(failed)?;
        // People write arguments into the variable; the path is a word of its own, whatever is in it.
        let line = format!("{editor} \"$1\"");
        let argv = ["/bin/sh", "-c", &line, "sh"].map(str::to_owned).into_iter();
        let argv: Vec<String> = argv.chain([file.to_string_lossy().into_owned()]).collect();
        let (env, cwd) = (self.environment.for_named_programs(), self.environment.data.clone());
        let ran = tokio::task::spawn_blocking(move || run_attended(&argv, &cwd, &env)).await;
        let edited = std::fs::read_to_string(&file);
        let _ = std::fs::remove_file(&file);
        match ran {
            Ok(Ok(status)) if status.success() => edited.map_err(failed),
            Ok(Ok(status)) => Err(format!("`{editor}` exited with {status}; your draft is unchanged")),
            Ok(Err(error)) => Err(failed(error)),
            Err(error) => Err(error.to_string()),
        }
    }

    async fn status(&self, facts: String) -> Result<String, String> {
        let command = self.status_command.clone().ok_or("there is no such command")?;
        let cwd = self.hosts.cwd.clone();
        let target = local_target(&self.environment, cwd.clone()).map_err(|error| format!("{error:#}"))?;
        let exec = Exec {
            argv: vec!["/bin/sh".to_owned(), "-c".to_owned(), command],
            cwd,
            env: self.environment.for_named_programs(),
            stdin: Stdin::Bytes(facts.into_bytes()),
            pty: None,
            timeout: Some(STATUS_LIMIT),
            output: OutputLimits { keep_head: STATUS_BYTES, keep_tail: 0, log: None },
            bounds: Bounds::open(),
            way_out: None,
            end_mark: None,
        };
        let mut running = target.start(exec).await.map_err(|error| error.to_string())?;
        let exit = running.wait().await.map_err(|error| error.to_string())?;
        match exit.code {
            Some(0) => Ok(String::from_utf8_lossy(&exit.stdout.head).into_owned()),
            Some(code) => Err(format!("it exited with code {code}: {}", exit.stderr.text().trim())),
            None => Err(format!("it did not finish within {} s", STATUS_LIMIT.as_secs())),
        }
    }

    async fn changes(&self, calls: &[ItemId]) -> Option<usize> {
        self.operations
            .count_changes(self.operations.owner(), CountChanges { calls: calls.to_vec() })
            .await
            .ok()
    }

    /// A login needs the terminal as a whole: it reads keys without an echo, shows codes and waits for a browser, and it can be
    /// interrupted. So it is a program of its own that has the terminal meanwhile, like the editor.
    async fn log_in(&self, profile: Option<&str>) -> Result<Option<String>, String> {
        let failed = |error: String| format!("cannot log in: {error}");
        let program = std::env::current_exe().map_err(|error| failed(error.to_string()))?;
        let words = ["login".to_owned()].into_iter().chain(profile.map(str::to_owned));
        let program = program.to_string_lossy().into_owned();
        let argv: Vec<String> =
            std::iter::once(program).chain(self.config_flags.clone()).chain(words).collect();
        let (env, cwd) = (self.environment.all(), self.hosts.cwd.clone());
        let ran = tokio::task::spawn_blocking(move || run_attended(&argv, &cwd, &env)).await;
        match ran {
            Ok(Ok(status)) if status.success() => {}
            Ok(Ok(_)) => return Err("No model was connected.".to_owned()),
            Ok(Err(error)) => return Err(failed(error.to_string())),
            Err(error) => return Err(failed(error.to_string())),
        }
        // The profile may be new, and a key that was wrong may be remembered with its connection.
        let chosen =
            self.reload().await.map_err(|error| format!("cannot use it before the next start: {error:#}"))?;
        Ok(match profile {
            Some(profile) => self.models.now().canonical(profile).ok(),
            None => chosen,
        })
    }

    async fn run(
        &self,
        session: &SessionId,
        target: &SessionTarget,
        command: DeskCommand,
    ) -> Result<String, String> {
        let slash = SlashCommands {
            operations: &self.operations,
            who: self.operations.owner(),
            cwd: &self.hosts.cwd,
            seen: &self.seen,
        };
        let is_log_out = matches!(command, DeskCommand::LogOut(_));
        let text = slash.run(session, target, command).await?;
        if is_log_out {
            // A connection may hold what was forgotten.
            self.reload().await.map_err(|error| format!("{error:#}"))?;
        }
        Ok(text)
    }
}
