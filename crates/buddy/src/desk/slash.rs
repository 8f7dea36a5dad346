//! Slash commands that are operations: each calls the port and shows the result as text.

use std::io::IsTerminal;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use buddy_protocol::operations::{
    ChangeScope, ControlFileChange, DistrustFolder, ExamineMachine, ExportSession, FindDiff, LogOut,
    RepositoryDiff, ReviewFolder, SessionChoice, SetConfiguration, StopProcess, TrustFolder, UndoChange,
    UndoChoice, UndoOutcome, UnsetConfiguration,
};
use buddy_protocol::{Clock, OperationError, Operations, Principal, SessionId, SessionTarget, TargetHost};
use buddy_tui::{DeskCommand, Exit, ListView, UNKNOWN_FILE, terminal_columns};

use crate::rendering::{
    CapturedText, Overwriting, UndoFace, configuration_text, export_format, has_live, print_distrusted,
    print_log_out, print_outcome, print_report, print_stopped, print_trusted, processes_table, write_export,
};
use crate::system::SystemClock;

/// How long a command may take.
const COMMAND_LIMIT: Duration = Duration::from_mins(1);
/// How long an undo may take.
const UNDO_LIMIT: Duration = Duration::from_mins(10);
/// How long an undo waits for calls that change files of its project.
const CLAIM_WAIT_MS: u64 = 10_000;

/// The commands of a conversation.
pub(super) struct SlashCommands<'a, O: Operations> {
    pub(super) operations: &'a O,
    /// The user that types them.
    pub(super) who: &'a Principal,
    /// The directory that paths are relative to.
    pub(super) cwd: &'a Path,
    /// Changes of the project's files that the user was shown last; held for a look only.
    pub(super) seen: &'a Mutex<Vec<ControlFileChange>>,
}

impl<O: Operations> SlashCommands<'_, O> {
    /// Carries a command out within its time. The error is shown as one.
    pub(super) async fn run(
        &self,
        session: &SessionId,
        target: &SessionTarget,
        command: DeskCommand,
    ) -> Result<String, String> {
        let is_undo = matches!(command, DeskCommand::Undo(_) | DeskCommand::Redo(_));
        let limit = if is_undo { UNDO_LIMIT } else { COMMAND_LIMIT };
        let done = tokio::time::timeout(limit, self.carry_out(session, target, command)).await;
        done.unwrap_or_else(|_| Err(format!("stopped, as it took longer than {} min", limit.as_secs() / 60)))
    }

    async fn carry_out(
        &self,
        session: &SessionId,
        target: &SessionTarget,
        command: DeskCommand,
    ) -> Result<String, String> {
        match command {
            DeskCommand::Diff => self.show_diff(target).await,
            DeskCommand::Undo(line) => self.undo(session, &line.unwrap_or_default()).await,
            DeskCommand::Redo(line) => self.redo(session, &line.unwrap_or_default()).await,
            DeskCommand::Config(line) => self.configure(&line).await,
            DeskCommand::LogOut(profile) => self.log_out(profile).await,
            DeskCommand::Trust(wish) => self.trust(target, &wish).await,
            DeskCommand::Doctor => self.examine().await,
            DeskCommand::Processes(empty) => self.list_processes(empty).await,
            DeskCommand::Kill(id) => self.stop_process(id).await,
            DeskCommand::Export(line) => self.export(session, &line.unwrap_or_default()).await,
        }
    }

    /// Who says so wants it; what is restored is shown, and can be taken back.
    async fn undo(&self, session: &SessionId, line: &str) -> Result<String, String> {
        let (forced, named): (Vec<&str>, Vec<&str>) =
            line.split_whitespace().partition(|word| *word == "--force");
        let choice = match named.first() {
            Some(id) => UndoChoice::Change((*id).to_owned()),
            None => UndoChoice::Newest(ChangeScope::Conversation(session.clone())),
        };
        let nothing = "There is nothing to undo in this conversation.";
        self.take_back(session, choice, !forced.is_empty(), nothing).await
    }

    async fn redo(&self, session: &SessionId, line: &str) -> Result<String, String> {
        let flags: Vec<&str> = line.split_whitespace().collect();
        if let Some(unknown) = flags.iter().find(|flag| **flag != "--force") {
            return Err(format!("/redo takes no `{unknown}`; it knows --force"));
        }
        let choice = UndoChoice::NewestUndo(session.clone());
        self.take_back(session, choice, !flags.is_empty(), "there is no undo to take back").await
    }

    async fn take_back(
        &self,
        session: &SessionId,
        choice: UndoChoice,
        is_forced: bool,
        nothing: &str,
    ) -> Result<String, String> {
        let request = UndoChange {
            choice,
            conversation: Some(session.clone()),
            seen: None,
            is_forced,
            passes_over: true,
            wait_ms: CLAIM_WAIT_MS,
        };
        let outcome =
            self.operations.undo_change(self.who, request).await.map_err(|error| refusal(&error))?;
        if let UndoOutcome::Nothing { .. } = outcome {
            return Ok(nothing.to_owned());
        }
        let captured = CapturedText::default();
        let exit = print_outcome(&outcome, UndoFace::Conversation, &mut captured.printer());
        take_text(&captured, exit)
    }

    /// The changes in the repository.
    async fn show_diff(&self, target: &SessionTarget) -> Result<String, String> {
        let request = FindDiff { target: target.clone() };
        let found = self.operations.find_diff(self.who, request).await.map_err(|error| error.message)?;
        let RepositoryDiff { diff, unknown, .. } = found;
        let is_listed = |file: &&String| !shows_new_file(&diff, file);
        let listed = unknown.iter().filter(is_listed).map(|file| format!("{UNKNOWN_FILE}{file}\n"));
        let text = diff.clone() + &listed.collect::<Vec<_>>().concat();
        Ok(if text.trim().is_empty() { "nothing changed".to_owned() } else { text })
    }

    /// Shows the configuration, or changes the user's file.
    async fn configure(&self, line: &str) -> Result<String, String> {
        let (verb, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let is_set = match (verb, rest.trim().split_once(char::is_whitespace)) {
            ("", _) => {
                let view =
                    self.operations.show_configuration(self.who).await.map_err(|error| refusal(&error))?;
                return Ok(configuration_text(&view, true));
            }
            ("set", Some((key, value))) => {
                let (key, value) = (key.to_owned(), value.trim().to_owned());
                self.operations
                    .set_configuration(self.who, SetConfiguration { key, value })
                    .await
                    .map(|()| None)
            }
            ("unset", None) if !rest.trim().is_empty() => {
                let key = rest.trim().to_owned();
                let outcome = self.operations.unset_configuration(self.who, UnsetConfiguration { key }).await;
                outcome.map(|outcome| (!outcome.was_set).then_some(outcome.path))
            }
            _ => return Err("use /config, /config set KEY VALUE or /config unset KEY".to_owned()),
        };
        let unset_in = is_set.map_err(|error| refusal(&error))?;
        let note =
            unset_in.map(|path| format!("`{}` is not set in {path}\n", rest.trim())).unwrap_or_default();
        Ok(format!("{note}It takes effect when you next start buddy."))
    }

    async fn log_out(&self, profile: Option<String>) -> Result<String, String> {
        let request = profile.map_or(LogOut::Active, LogOut::Named);
        let report = self.operations.log_out(self.who, request).await.map_err(|error| refusal(&error))?;
        let captured = CapturedText::default();
        let exit = print_log_out(&report, &mut captured.printer());
        take_text(&captured, exit)
    }

    /// Trusts the directory of a session on this machine, or no longer. Where it is trusted already and its files changed, the
    /// changes are shown first, and `yes` accepts what was shown.
    async fn trust(&self, target: &SessionTarget, wish: &str) -> Result<String, String> {
        if target.host != TargetHost::Local {
            return Err("to trust a directory on another host, start buddy with --trust".to_owned());
        }
        let (folder, captured) = (target.cwd.clone(), CapturedText::default());
        let failed = |error: OperationError| refusal(&error);
        match wish {
            "" => {
                let review = ReviewFolder { folder: folder.clone() };
                let changes = self.operations.review_folder(self.who, review).await.map_err(failed)?;
                if !changes.is_empty() {
                    let diff: Vec<&str> =
                        changes.iter().flat_map(|change| &change.diff).map(String::as_str).collect();
                    let text = format!("{}\nLet the changes take effect with: /trust yes", diff.join("\n"));
                    *self.seen.lock().unwrap_or_else(PoisonError::into_inner) = changes;
                    return Ok(text);
                }
                let seen = Vec::new();
                let path = self
                    .operations
                    .trust_folder(self.who, TrustFolder { folder, seen })
                    .await
                    .map_err(failed)?;
                print_trusted(&path, &mut captured.printer());
            }
            "yes" => {
                let seen = std::mem::take(&mut *self.seen.lock().unwrap_or_else(PoisonError::into_inner));
                if seen.is_empty() {
                    return Err("no change was shown; run /trust first".to_owned());
                }
                let request = TrustFolder { folder, seen };
                self.operations.trust_folder(self.who, request).await.map_err(|error| error.message)?;
                return Ok("The rules take effect with the next call, buddy.toml when you next start buddy."
                    .to_owned());
            }
            "off" => {
                let request = DistrustFolder { folder: folder.clone() };
                let was_trusted = self.operations.distrust_folder(self.who, request).await.map_err(failed)?;
                print_distrusted(Path::new(&folder), was_trusted, &mut captured.printer());
                let text = captured.text();
                return Ok(format!(
                    "{text}Its buddy.toml and its commands stay in effect until you quit buddy."
                ));
            }
            _ => return Err("use /trust, /trust yes or /trust off".to_owned()),
        }
        let text = captured.text();
        Ok(format!("{text}Its buddy.toml and its commands take effect when you next start buddy."))
    }

    async fn examine(&self) -> Result<String, String> {
        let request = ExamineMachine { has_terminal: true };
        let report =
            self.operations.examine_machine(self.who, request).await.map_err(|error| refusal(&error))?;
        let captured = CapturedText::default();
        let exit = print_report(&report, false, &fitted_view(), &mut captured.printer());
        let exit = exit.map_err(|error| format!("{error:#}"))?;
        let from_top = |text: String| text.trim_start_matches('\n').to_owned();
        take_text(&captured, exit).map(from_top).map_err(from_top)
    }

    async fn list_processes(&self, empty: &str) -> Result<String, String> {
        let all = self.operations.list_processes(self.who).await.map_err(|error| error.message)?;
        if all.is_empty() {
            return Ok(empty.to_owned());
        }
        let view = fitted_view();
        let table = processes_table(&all, &view);
        let table = if has_live(&all) { table.hint("Stop one with `/kill ID`") } else { table };
        Ok(table.text(&view))
    }

    async fn stop_process(&self, id: String) -> Result<String, String> {
        let request = StopProcess { id, is_forced: false };
        let stopped =
            self.operations.stop_process(self.who, request).await.map_err(|error| refusal(&error))?;
        let captured = CapturedText::default();
        print_stopped(&stopped, &mut captured.printer());
        Ok(captured.text())
    }

    async fn export(&self, session: &SessionId, line: &str) -> Result<String, String> {
        let (file, overwriting) = match line.strip_suffix("--force") {
            Some(file) => (file.trim(), Overwriting::Wanted),
            None => (line, Overwriting::Refused),
        };
        let file = if file.is_empty() { format!("{session}.md") } else { file.to_owned() };
        let named = Path::new(&file);
        let format = export_format(Some(named));
        let request = ExportSession { session: SessionChoice::Session(session.to_string()), format };
        let exported =
            self.operations.export_session(self.who, request).await.map_err(|error| refusal(&error))?;
        let written = write_export(&self.cwd.join(named), named, &exported.text, overwriting);
        written.map_err(|error| format!("buddy: {error:#}\n"))?;
        match exported.damage {
            None => Ok(format!("{file} written\n")),
            Some(damage) => Err(format!("{file} written\n{}", refusal(&damage))),
        }
    }
}

/// Lists fit the window, and text in a conversation is indented.
fn fitted_view() -> ListView {
    if !std::io::stdout().is_terminal() {
        return ListView::plain();
    }
    ListView::fitted(terminal_columns().saturating_sub(2).max(1)).at(SystemClock.now())
}

/// An error as the command line prints it.
fn refusal(error: &OperationError) -> String {
    format!("buddy: {error}\n")
}

/// The printed text; an error if the command failed.
fn take_text(captured: &CapturedText, exit: Exit) -> Result<String, String> {
    if exit == Exit::Ok { Ok(captured.text()) } else { Err(captured.text()) }
}

/// Whether a diff has all lines of a file that git does not know.
fn shows_new_file(diff: &str, file: &str) -> bool {
    let head = format!("\n--- /dev/null\n+++ b/{file}\n");
    diff.contains(&head)
}
