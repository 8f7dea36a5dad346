//! Commands that begin with `/`, line by line. What they say is what the screen says.

use std::time::Duration;

use buddy_protocol::{Change, Command, SessionsError};
use tokio::time::Instant;

use super::{LineInput, Repl};
use crate::branches::describe_refusal;
use crate::console::{DeskCommand, MAX_QUEUED, SessionSurroundings, encode_copy};
use crate::overview;
use crate::slash_commands::{SlashCommand, SlashLine, list_slash_commands, read_slash_line};
use crate::table::ListView;
use crate::targets::{self, find_default_target};
use crate::text::to_copy;

/// Commands that need a screen.
const ON_A_SCREEN: [&str; 2] = ["theme", "keymap"];
/// The text about managed processes if there are none.
const NO_PROCESSES: &str = "No managed processes.";

impl Repl<'_> {
    /// Takes a line that is for buddy and not for the agent.
    pub(super) async fn command(&mut self, line: &str) -> Result<(), SessionsError> {
        match read_slash_line(line, &self.custom) {
            SlashLine::Own(entry, _) if entry.is_for_idle && !self.is_idle() => self.keep_for_later(line),
            SlashLine::Own(entry, _) if ON_A_SCREEN.contains(&entry.name) => {
                let name = entry.name;
                self.tell(&format!("/{name} needs a full-screen conversation; this one is line by line."));
            }
            SlashLine::Own(entry, arguments) => match entry.read(arguments) {
                Ok(command) => self.carry_out(command).await?,
                Err(help) => self.tell(&help),
            },
            SlashLine::Custom(prompt) => self.say(Command::given(prompt, line)).await?,
            SlashLine::Unknown(name) => {
                self.tell(&format!("There is no command `/{name}`. /help lists them."));
            }
        }
        Ok(())
    }

    /// Keeps a command for the end of the turn.
    fn keep_for_later(&mut self, line: &str) {
        if self.task.queue.len() >= MAX_QUEUED {
            return self.tell(&format!("{MAX_QUEUED} lines are queued already, so this one was dropped."));
        }
        self.task.queue.push_back(line.to_owned());
        self.tell("This runs when the turn has ended. Ctrl-C interrupts the turn.");
    }

    async fn carry_out(&mut self, command: SlashCommand) -> Result<(), SessionsError> {
        match command {
            SlashCommand::Send(command) => self.send_plainly(command).await?,
            SlashCommand::Desk(command) => self.ask_desk(command).await,
            SlashCommand::Prompt(prompt) => self.say(Command::prompt(prompt)).await?,
            SlashCommand::ShowHelp => self.help(),
            SlashCommand::ShowStatus => self.show_status().await,
            SlashCommand::ShowContext => {
                let surroundings = self.surroundings().await;
                self.tell(&overview::describe_context(self.transcript(), &surroundings));
            }
            SlashCommand::ShowCost => self.tell(&overview::describe_cost(self.transcript())),
            SlashCommand::ListModels => self.list_models().await,
            SlashCommand::FindModel(wish) => self.use_model(&wish).await?,
            SlashCommand::ListApprovals => {
                let now = overview::describe_policy(self.approvals.held(Instant::now().into_std()));
                self.tell(&format!(
                    "approvals: {now}; use /approve auto, ask, edits, all, none, or a time such as /approve 10m"
                ));
            }
            SlashCommand::ShowPane => self.show_pane().await,
            SlashCommand::ListTargets => {
                let list =
                    targets::list_targets(self.transcript(), &ListView::plain()).text(&ListView::plain());
                self.tell(&list);
            }
            SlashCommand::ListTasks => self.ask_desk(DeskCommand::Processes(NO_PROCESSES)).await,
            SlashCommand::Kill(id) => self.ask_desk(DeskCommand::Kill(id)).await,
            // One turn runs at a time.
            SlashCommand::TimeOut { seconds, .. } => self.time_out(seconds),
            SlashCommand::Fork => self.fork().await,
            SlashCommand::Rewind(number) => self.rewind(&number).await,
            SlashCommand::New => self.begin_anew().await?,
            SlashCommand::Resume(session) => self.resume(session).await,
            SlashCommand::ResumeLast => self.resume_last().await?,
            SlashCommand::ListSessions => self.list().await?,
            SlashCommand::SearchSessions(words) => self.search(&words).await,
            SlashCommand::LogIn(profile) => self.log_in(profile.as_deref()).await?,
            SlashCommand::Copy => self.copy(),
            SlashCommand::Quit => self.is_leaving = true,
            SlashCommand::ShowKeymap | SlashCommand::ChooseTheme(_) => {}
        }
        Ok(())
    }

    pub(super) fn help(&mut self) {
        let text = list_slash_commands(&self.custom, |name| !ON_A_SCREEN.contains(&name));
        self.tell(&format!("{text}\n!COMMAND runs a command as you; any other line goes to the agent"));
    }

    async fn show_status(&mut self) {
        let surroundings = self.surroundings().await;
        let approvals = self.approvals.held(Instant::now().into_std());
        self.tell(&overview::describe_status(
            &self.task.session,
            self.transcript(),
            &surroundings,
            approvals,
        ));
    }

    async fn show_pane(&mut self) {
        let text = match self.surroundings().await.attach {
            Some(command) => format!("Attach from another terminal with: {}", to_copy(&command)),
            None => "This session has no shared terminal.".to_owned(),
        };
        self.tell(&text);
    }

    async fn use_model(&mut self, wish: &str) -> Result<(), SessionsError> {
        match self.desk.find_model(wish, self.transcript().model()).await {
            Ok(model) => self.change(Change { model: Some(model), ..Change::default() }).await,
            Err(text) => {
                self.tell(&text);
                Ok(())
            }
        }
    }

    pub(super) async fn change(&mut self, change: Change) -> Result<(), SessionsError> {
        self.send_plainly(Command::Change(change)).await
    }

    /// Sends a command. What the agent refuses leaves the conversation as it was.
    async fn send_plainly(&mut self, command: Command) -> Result<(), SessionsError> {
        match self.send(command).await {
            Err(error @ SessionsError::Agent(_)) => {
                self.tell(&format!("buddy: {}", describe_refusal(&error)));
                Ok(())
            }
            sent => self.forgive(sent),
        }
    }

    async fn surroundings(&self) -> SessionSurroundings {
        let target = find_default_target(self.transcript());
        self.desk.surroundings(&target, self.transcript().model()).await
    }

    async fn list_models(&mut self) {
        let surroundings = self.surroundings().await;
        let current = self.transcript().model().unwrap_or(&surroundings.model).to_owned();
        let mut lines: Vec<String> = Vec::new();
        for (number, model) in (1..).zip(self.desk.models(self.transcript().model()).await) {
            lines.push(format!("{number:>3}  {:<20} {}", model.name, model.note));
        }
        lines.push(format!("Using {current}. Switch with /model NAME or /model NUMBER."));
        self.tell(&lines.join("\n"));
    }

    /// Lets the user connect a model. The terminal is theirs meanwhile.
    async fn log_in(&mut self, profile: Option<&str>) -> Result<(), SessionsError> {
        if self.input == LineInput::Pipe {
            self.tell("/login needs a terminal. `buddy login NAME --api-key` reads a key from stdin.");
            return Ok(());
        }
        match self.desk.log_in(profile).await {
            Ok(Some(model)) => self.change(Change { model: Some(model), ..Change::default() }).await,
            Ok(None) => Ok(()),
            Err(text) => {
                self.tell(&text);
                Ok(())
            }
        }
    }

    fn copy(&mut self) {
        let text = match (overview::find_last_answer(self.task.reader.transcript()), self.input) {
            (None, _) => "There is no answer yet.",
            (Some(_), LineInput::Pipe | LineInput::Terminal { has_clipboard: false, .. }) => {
                "this terminal has no clipboard; use /export to write a file"
            }
            (Some(answer), LineInput::Terminal { is_in_tmux, .. }) => match encode_copy(answer, is_in_tmux) {
                Some(order) => {
                    self.printer.order(&order);
                    "Copied to the terminal's clipboard, if it has one."
                }
                None => "That is too long for the terminal's clipboard. Use /export to write a file.",
            },
        };
        self.tell(text);
    }

    /// Ends the turn that runs after a time.
    fn time_out(&mut self, seconds: u64) {
        if self.is_idle() {
            return self.tell("nothing runs");
        }
        self.task.deadline = Instant::now().into_std().checked_add(Duration::from_secs(seconds));
        self.tell(&format!("The turn stops in {seconds} s."));
    }
}
