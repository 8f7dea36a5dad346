//! The surroundings of a conversation in the terminal: history, files, models, the user's editor, and buddy's own commands.

mod custom;
mod history;
mod images;
mod keys;
mod look;

use std::collections::HashMap;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use buddy_calls::{Hosts, RepositoryChanges};
use buddy_exec::undo::UndoEntry;
use buddy_exec::{Bounds, Exec, GlobQuery, OutputLimits, Panes, Stdin, Target, run_attended};
use buddy_protocol::{
    Attachment, Clock, Content, Event, Fact, ItemEnded, ItemId, SessionId, SessionStore, SessionTarget,
    TargetHost, UnixMillis,
};
use buddy_store::SqliteStore;
use buddy_tui::{
    CustomCommand, Desk, DeskCommand, ListView, ModelChoice, Surroundings, UNKNOWN_FILE, terminal_columns,
};

use crate::commands::processes;
use crate::commands::setup::{Invocation, Setup};
use crate::config::{
    FileChange, Origin, Request, TrustStore, as_text, load, private_file, text_of, user_file,
};
use crate::environment::Environment;
use crate::hosts::RunHosts;
use crate::models::{CurrentModels, OfferedModel, find_models};
use crate::system::SystemClock;
use crate::wiring::{local_target, undo_store};
use history::HistoryFile;
pub(crate) use images::local as local_image;
pub(crate) use keys::keys;
pub(crate) use look::{details, follows_ground, list_look, look};

/// The most copies of a conversation that are followed back.
const MAX_LINEAGE: usize = 50;

/// How many events of a log are read at a time.
const LOG_PAGE: usize = 1_000;
/// The end of the id of an entry of a call that ran once more outside the jail; the rest is the id of the call.
const OUTSIDE_ENTRY: &str = "-outside";

/// The most paths that are offered.
const MAX_PATHS: usize = 20_000;
/// The most of a file that says which branch it is.
const MAX_HEAD_BYTES: u64 = 4096;
/// How long one of buddy's own commands may take.
const COMMAND_LIMIT: Duration = Duration::from_mins(1);
/// How long an undo may take. One that is cut short leaves a part of the files restored.
const UNDO_LIMIT: Duration = Duration::from_mins(10);
/// How long the command for the status line may take.
const STATUS_LIMIT: Duration = Duration::from_secs(3);
/// How much of what it says is read.
const STATUS_BYTES: usize = 4 * 1024;
/// How much of what it says is shown.
const SAID_BYTES: usize = 256 * 1024;

/// Whether a user who types these digits means this entry: the whole id, or its first digits.
fn is_named(id: &str, typed: &str) -> bool {
    id == typed || id.split_once('_').is_some_and(|(_, digits)| digits.starts_with(typed))
}

/// The surroundings of a conversation.
pub(crate) struct HomeDesk {
    environment: Environment,
    store: Arc<SqliteStore>,
    hosts: Arc<RunHosts>,
    models: Arc<CurrentModels>,
    history: HistoryFile,
    /// The command that makes the status line.
    status_command: Option<String>,
    /// The configuration that holds in this run, for people.
    settings: String,
    /// The configuration that this run was started with, and the model.
    request: Request,
    wish: Option<String>,
    /// What says which configuration this run has, for buddy's own commands.
    config_flags: Vec<String>,
    /// Changes of the project's files that the user was shown last; held for a look only.
    seen: Mutex<Vec<FileChange>>,
}

/// The flags of a command line that say which configuration is read.
fn config_flags(request: &Request) -> Vec<String> {
    let named = request.named.iter().flat_map(|path| ["--config".to_owned(), path.display().to_string()]);
    let ignored = request.is_user_ignored.then(|| "--ignore-user-config".to_owned());
    named.chain(ignored).collect()
}

impl HomeDesk {
    pub(crate) fn new(
        invocation: &Invocation<'_>,
        store: Arc<SqliteStore>,
        hosts: Arc<RunHosts>,
        setup: &Setup,
    ) -> Self {
        let environment = invocation.environment;
        let history = HistoryFile::new(&environment.data);
        let status_command = setup.loaded.config.display.status_command.clone();
        Self {
            environment: environment.clone(),
            store,
            hosts,
            models: setup.models.clone(),
            history,
            status_command,
            settings: as_text(&setup.loaded, true),
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
        host.policy.policy(cwd, false).is_ok_and(|policy| policy.only_reads(cwd))
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
        let is_set = loaded.effective.origin(&["agent", "model"]) != Origin::Default;
        // What was just chosen is in the file; a variable that names another model is for the next start.
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

    /// What one of buddy's own commands says.
    async fn own(&self, arguments: Vec<String>) -> Result<String, String> {
        self.own_within(arguments, COMMAND_LIMIT).await
    }

    /// The same, with a limit of its own.
    async fn own_within(&self, arguments: Vec<String>, limit: Duration) -> Result<String, String> {
        let cwd = self.hosts.cwd.clone();
        let target = local_target(&self.environment, cwd.clone()).map_err(|error| format!("{error:#}"))?;
        let program = std::env::current_exe().map_err(|error| error.to_string())?;
        let program = program.to_string_lossy().into_owned();
        let argv = std::iter::once(program).chain(self.config_flags.clone()).chain(arguments).collect();
        let env = self.environment.all();
        let output = OutputLimits { keep_head: SAID_BYTES, keep_tail: SAID_BYTES, log: None };
        let exec = Exec {
            argv,
            cwd,
            env,
            stdin: Stdin::Null,
            pty: None,
            timeout: Some(limit),
            output,
            bounds: Bounds::open(),
            way_out: None,
        };
        said(&target, exec).await
    }

    /// Undoes an entry.
    async fn undo(&self, session: &SessionId, id: &str, flags: &[&str]) -> Result<String, String> {
        let words = ["undo", "--yes", "--in-conversation", session.as_str()];
        let words = words.into_iter().chain(flags.iter().copied()).chain([id]);
        self.own_within(words.map(str::to_owned).collect(), UNDO_LIMIT).await
    }

    /// The session and those that it was copied from, each with the time of the copy.
    async fn lineage(&self, session: &SessionId) -> Result<Vec<(SessionId, UnixMillis)>, String> {
        let mut lineage = vec![(session.clone(), UnixMillis(u64::MAX))];
        while let Some((last, _)) = lineage.last().filter(|_| lineage.len() < MAX_LINEAGE) {
            let first = self.store.read(last, 0, 1).await.map_err(|error| error.to_string())?;
            let Some(Event { time, fact: Fact::SessionStarted(started), .. }) = first.into_iter().next()
            else {
                break;
            };
            let Some(origin) = started.forked_from else { break };
            lineage.push((origin.session, time));
        }
        Ok(lineage)
    }

    /// The changes of the calls of a conversation, the newest first.
    async fn changes_of(&self, session: &SessionId) -> Result<Vec<UndoEntry>, String> {
        let lineage = self.lineage(session).await?;
        let store = undo_store(&self.environment);
        let listed = tokio::task::spawn_blocking(move || store.list()).await;
        let mut listed = listed.map_err(|error| error.to_string())?.map_err(|error| error.to_string())?;
        let is_of = |entry: &UndoEntry, (session, until): &(SessionId, UnixMillis)| {
            entry.header.session == session.as_str() && UnixMillis(entry.header.unix_ms) <= *until
        };
        listed.retain(|entry| lineage.iter().any(|one| is_of(entry, one)));
        Ok(listed)
    }

    /// The newest change that was not taken back, by its name.
    async fn last_change(&self, session: &SessionId) -> Result<Option<String>, String> {
        let listed = self.changes_of(session).await?;
        let store = undo_store(&self.environment);
        let newest = tokio::task::spawn_blocking(move || {
            store.newest(&listed).map(|newest| newest.map(|entry| entry.header.id.clone()))
        });
        newest.await.map_err(|error| error.to_string())?.map_err(|error| error.to_string())
    }

    /// How many changes of the prompt that made this call are left.
    async fn left_of_prompt(&self, session: &SessionId, call: &str) -> Result<usize, String> {
        let (mut calls, mut after) = (HashMap::new(), 0);
        loop {
            let page = self.store.read(session, after, LOG_PAGE).await.map_err(|error| error.to_string())?;
            let Some(last) = page.last().and_then(|event| event.seq) else { break };
            after = last;
            for event in page {
                if let Fact::ItemEnded(ItemEnded { item }) = event.fact
                    && matches!(item.content, Content::ToolCall(_))
                    && let Some(turn) = item.turn
                {
                    calls.insert(item.id.to_string(), turn);
                }
            }
        }
        let listed = self.changes_of(session).await?;
        let turn_of = |id: &str| calls.get(id.strip_suffix(OUTSIDE_ENTRY).unwrap_or(id));
        let Some(turn) = listed
            .iter()
            .find(|entry| is_named(&entry.header.id, call))
            .and_then(|entry| turn_of(&entry.header.id))
        else {
            return Ok(0);
        };
        let is_standing =
            |entry: &UndoEntry| !entry.is_undone && entry.changes > 0 && entry.header.undoes.is_none();
        let is_left = |entry: &&UndoEntry| is_standing(entry) && turn_of(&entry.header.id) == Some(turn);
        Ok(listed.iter().filter(is_left).count())
    }

    /// Undoes a change of this conversation, and says how many of the same prompt are left.
    async fn undo_change(&self, session: &SessionId, id: &str, flags: &[&str]) -> Result<String, String> {
        let said = self.undo(session, id, flags).await?;
        Ok(match self.left_of_prompt(session, id).await? {
            0 => said,
            1 => format!("{}. 1 more change of this prompt is left", said.trim_end()),
            left => format!("{}. {left} more changes of this prompt are left", said.trim_end()),
        })
    }

    /// The newest undo that this conversation or its past made and did not take back, by its name.
    async fn last_undo(&self, session: &SessionId) -> Result<Option<String>, String> {
        let listed = self.changes_of(session).await?;
        let is_undo =
            |id: &str| listed.iter().any(|entry| entry.header.id == id && entry.header.undoes.is_some());
        let is_wanted = |entry: &&UndoEntry| {
            !entry.is_undone
                && entry.changes > 0
                && entry.header.undoes.as_deref().is_some_and(|undone| !is_undo(undone))
        };
        Ok(listed.iter().find(is_wanted).map(|entry| entry.header.id.clone()))
    }

    /// Trusts the directory of a session on this machine, or no longer. Where it is trusted already and its files changed, the
    /// changes are shown first, and `yes` accepts what was shown.
    async fn trust(&self, target: &SessionTarget, wish: &str) -> Result<String, String> {
        if target.host != TargetHost::Local {
            return Err("to trust a directory on another host, start buddy with --trust".to_owned());
        }
        let store = TrustStore::new(&self.environment.data);
        let cwd = Path::new(&target.cwd);
        let mut words = vec!["trust".to_owned(), target.cwd.clone()];
        match wish {
            "" => {
                let changes = store.reviewable(cwd);
                if !changes.is_empty() {
                    let diff: Vec<String> = changes.iter().flat_map(FileChange::diff).collect();
                    *self.seen.lock().unwrap_or_else(PoisonError::into_inner) = changes;
                    return Ok(format!("{}\nLet the changes take effect with: /trust yes", diff.join("\n")));
                }
            }
            "yes" => {
                let changes = std::mem::take(&mut *self.seen.lock().unwrap_or_else(PoisonError::into_inner));
                if changes.is_empty() {
                    return Err("no change was shown; run /trust first".to_owned());
                }
                store.accept(cwd, &changes).map_err(|error| format!("{error:#}"))?;
                return Ok("The rules take effect with the next call, buddy.toml when you next start buddy."
                    .to_owned());
            }
            "off" => words.push("--remove".to_owned()),
            _ => return Err("use /trust, /trust yes or /trust off".to_owned()),
        }
        let said = self.own(words).await?;
        Ok(format!("{said}Its buddy.toml and its commands take effect when you next start buddy."))
    }

    /// Shows the configuration, or changes the user's file.
    async fn configure(&self, line: &str) -> Result<String, String> {
        let (verb, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let words = match (verb, rest.trim().split_once(char::is_whitespace)) {
            ("", _) => return Ok(self.settings.clone()),
            ("set", Some((key, value))) => vec!["config", "set", key, value.trim()],
            ("unset", None) if !rest.trim().is_empty() => vec!["config", "unset", rest.trim()],
            _ => return Err("use /config, /config set KEY VALUE or /config unset KEY".to_owned()),
        };
        let said = self.own(words.into_iter().map(str::to_owned).collect()).await?;
        Ok(format!("{said}It takes effect when you next start buddy."))
    }

    /// What changed in the repository.
    async fn diff(&self, target: &SessionTarget) -> Result<String, String> {
        let host = self.hosts.attach(&target.wish()).await?;
        let RepositoryChanges { diff, unknown } =
            RepositoryChanges::find(&host, Path::new(&target.cwd)).await?;
        let unknown = unknown.iter().map(|file| format!("{UNKNOWN_FILE}{file}\n"));
        let text: String = std::iter::once(diff).chain(unknown).collect();
        Ok(if text.trim().is_empty() { "nothing changed".to_owned() } else { text })
    }
}

/// Runs a command and returns what it said, on both streams.
async fn said(target: &dyn Target, exec: Exec) -> Result<String, String> {
    let mut running = target.start(exec).await.map_err(|error| error.to_string())?;
    let exit = running.wait().await.map_err(|error| error.to_string())?;
    let text = format!("{}{}", exit.stdout.text(), exit.stderr.text());
    if exit.code == Some(0) { Ok(text) } else { Err(text) }
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

    async fn surroundings(&self, target: &SessionTarget, model: Option<&str>) -> Surroundings {
        fail::fail_point!("desk.surroundings");
        let rows = self.models.now().rows();
        let active = rows.iter().find(|row| row.active);
        let used = model.map_or(active, |name| rows.iter().find(|row| row.name == name || row.model == name));
        let hint = self.models.now().is_demo(model).then(|| "say tour,".to_owned());
        Surroundings {
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
        // Whoever drags a file onto the terminal has it here.
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

    async fn models(&self, current: Option<&str>) -> Vec<ModelChoice> {
        let offered = self.models.now().offered(current).await.into_iter();
        offered.map(|OfferedModel { name, model, note }| ModelChoice { name, model, note }).collect()
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
        let store = undo_store(&self.environment);
        let listed = tokio::task::spawn_blocking(move || store.list()).await.ok()?.ok()?;
        let is_one = |entry: &&UndoEntry| {
            !entry.is_undone && entry.changes > 0 && calls.iter().any(|call| call.as_str() == entry.header.id)
        };
        Some(listed.iter().filter(is_one).count())
    }

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
        let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
        match command {
            DeskCommand::Diff => self.diff(target).await,
            DeskCommand::Undo(line) => {
                // Who says so wants it; what is restored is told, and can be taken back.
                let line = line.unwrap_or_default();
                let (forced, named): (Vec<&str>, Vec<&str>) =
                    line.split_whitespace().partition(|word| *word == "--force");
                let id = match named.first() {
                    Some(id) => Some((*id).to_owned()),
                    None => self.last_change(session).await?,
                };
                match id {
                    Some(id) => self.undo_change(session, &id, &forced).await,
                    None => Ok("There is nothing to undo in this conversation.".to_owned()),
                }
            }
            DeskCommand::Redo(line) => {
                let line = line.unwrap_or_default();
                let flags: Vec<&str> = line.split_whitespace().collect();
                if let Some(unknown) = flags.iter().find(|flag| **flag != "--force") {
                    return Err(format!("/redo takes no `{unknown}`; it knows --force"));
                }
                match self.last_undo(session).await? {
                    Some(id) => self.undo(session, &id, &flags).await,
                    None => Ok("there is no undo to take back".to_owned()),
                }
            }
            DeskCommand::Config(line) => self.configure(&line).await,
            DeskCommand::LogOut(profile) => {
                let mut line = words(&["logout"]);
                line.extend(profile);
                let said = self.own(line).await?;
                // A connection may hold what was forgotten.
                let reloaded = self.reload().await;
                reloaded.map(|_| said).map_err(|error| format!("{error:#}"))
            }
            DeskCommand::Trust(wish) => self.trust(target, &wish).await,
            DeskCommand::Doctor => {
                let mut line = words(&["doctor", "--in-conversation"]);
                // Text in a conversation is indented.
                let columns = || terminal_columns().saturating_sub(2).max(1);
                line.extend(std::io::stdout().is_terminal().then(|| columns().to_string()));
                let from_top = |report: String| report.trim_start_matches('\n').to_owned();
                self.own(line).await.map(from_top).map_err(from_top)
            }
            DeskCommand::Processes(empty) => {
                // Text in a conversation is indented.
                let columns = terminal_columns().saturating_sub(2).max(1);
                let view = std::io::stdout().is_terminal().then(|| ListView::fitted(columns));
                let view = view.map_or_else(ListView::plain, |view| view.at(SystemClock.now()));
                let environment = self.environment.clone();
                let listed = tokio::task::spawn_blocking(move || processes::text(&environment, &view)).await;
                let listed = listed.map_err(|error| error.to_string())?;
                let text = listed.map_err(|error| format!("{error:#}"))?;
                Ok(text.unwrap_or_else(|| empty.to_owned()))
            }
            DeskCommand::Kill(name) => self.own(words(&["kill", &name])).await,
            DeskCommand::Export(file) => {
                let file = file.unwrap_or_default();
                let (file, is_forced) = match file.strip_suffix("--force") {
                    Some(file) => (file.trim().to_owned(), true),
                    None => (file, false),
                };
                let file = if file.is_empty() { format!("{session}.md") } else { file };
                let mut line = words(&["export", session.as_str(), "--output", &file]);
                line.extend(is_forced.then(|| "--force".to_owned()));
                self.own(line).await
            }
        }
    }
}
