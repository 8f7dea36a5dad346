//! Commands that begin with `/`, line by line. What they say is what the screen says.

use std::time::Duration;

use buddy_protocol::{Change, Command, SessionsError};
use tokio::time::Instant;

use super::{LineInput, Repl};
use crate::amounts::seconds;
use crate::branches::told;
use crate::changes::{approve, panes, plan};
use crate::console::{Surroundings, canonical, copy_order, is_for_idle, listed};
use crate::overview;
use crate::requests::{INIT, review};
use crate::table::ListView;
use crate::targets::{self, TargetLine, default_target};
use crate::text::to_copy;

/// Commands that need a screen.
const ON_A_SCREEN: [&str; 2] = ["theme", "keymap"];
/// The most lines that wait for the end of a turn.
const MAX_LATER: usize = 50;

impl Repl<'_> {
    /// A line that is for buddy and not for the agent.
    pub(super) async fn command(&mut self, line: &str) -> Result<(), SessionsError> {
        let (name, argument) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let (name, argument) = (name.trim_start_matches('/'), argument.trim());
        match canonical(name) {
            Some(name) if is_for_idle(name) && !self.is_idle() => self.keep_for_later(line),
            Some(name) if ON_A_SCREEN.contains(&name) => {
                self.tell(&format!("/{name} needs a full-screen conversation; this one is line by line."));
            }
            Some(name) => self.carry_out(name, argument).await?,
            None => {
                let own = self.custom.iter().find(|command| command.name == name);
                match own.map(|command| command.prompt(argument)) {
                    Some(prompt) => return self.say(Command::given(prompt, line)).await,
                    None => self.tell(&format!("There is no command `/{name}`. /help lists them.")),
                }
            }
        }
        Ok(())
    }

    /// Keeps a command for the end of the turn.
    fn keep_for_later(&mut self, line: &str) {
        if self.later.len() >= MAX_LATER {
            return self.tell(&format!("{MAX_LATER} lines are queued already, so this one was dropped."));
        }
        self.later.push_back(line.to_owned());
        self.tell("This runs when the turn has ended. Ctrl-C interrupts the turn.");
    }

    async fn carry_out(&mut self, name: &str, argument: &str) -> Result<(), SessionsError> {
        match (name, argument) {
            ("help", _) => self.help(),
            ("status", _) => {
                let surroundings = self.surroundings().await;
                let approvals = self.approvals.held(Instant::now().into_std());
                let text = overview::status(&self.session, &self.transcript, &surroundings, approvals);
                self.tell(&text);
            }
            ("context", _) => {
                let surroundings = self.surroundings().await;
                let text = overview::context(&self.transcript, &surroundings);
                self.tell(&text);
            }
            ("cost", _) => self.tell(&overview::cost(&self.transcript)),
            ("model", "") => self.list_models().await,
            ("model", wish) => match self.desk.find_model(wish, self.transcript.model()).await {
                Ok(model) => self.change(Change { model: Some(model), ..Change::default() }).await?,
                Err(text) => self.tell(&text),
            },
            ("rename", "") => self.tell("Give a title: /rename TITLE."),
            ("rename", title) => {
                self.change(Change { title: Some(title.to_owned()), ..Change::default() }).await?;
            }
            ("init", _) => self.say(Command::prompt(INIT)).await?,
            ("review", what) => self.say(Command::prompt(review(what))).await?,
            ("login", profile) => self.log_in(profile).await?,
            ("copy", _) => self.copy(),
            ("timeout", time) => self.time_out(time),
            _ => {
                if !self.go_elsewhere(name, argument).await? {
                    self.tell_session(name, argument).await?;
                }
            }
        }
        Ok(())
    }

    pub(super) fn help(&mut self) {
        let text = listed(&self.custom, |name| !ON_A_SCREEN.contains(&name));
        self.tell(&format!("{text}\n!COMMAND runs a command as you; any other line goes to the agent"));
    }

    /// Carries out what becomes a command to the session.
    async fn tell_session(&mut self, name: &str, argument: &str) -> Result<(), SessionsError> {
        let command = match (name, argument) {
            ("compact", "") => Ok(Command::Compact),
            ("approve", "") => {
                let now = overview::policy(self.approvals.held(Instant::now().into_std()));
                Err(format!(
                    "approvals: {now}; use /approve auto, ask, edits, all, none, or a time such as /approve 10m"
                ))
            }
            ("approve", policy) => approve(policy),
            ("plan", "" | "on") => Ok(plan(true)),
            ("plan", "off") => Ok(plan(false)),
            ("plan", _) => Err("Use /plan on or /plan off.".to_owned()),
            ("pane", "take") => Ok(panes(true)),
            ("pane", "give") => Ok(panes(false)),
            ("pane", _) => Err(match self.surroundings().await.attach {
                Some(command) => format!("Attach from another terminal with: {}", to_copy(&command)),
                None => "This session has no shared terminal.".to_owned(),
            }),
            ("target", line) => match targets::read(line) {
                TargetLine::List => {
                    Err(targets::list(&self.transcript, &ListView::plain()).text(&ListView::plain()))
                }
                TargetLine::Send(command) => Ok(command),
                TargetLine::Help(help) => Err(help),
            },
            _ => Err(format!("/{name} has other arguments; see /help")),
        };
        match command {
            Ok(command) => self.send_plainly(command).await,
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
                self.tell(&format!("buddy: {}", told(&error)));
                Ok(())
            }
            sent => self.forgive(sent),
        }
    }

    async fn surroundings(&self) -> Surroundings {
        let target = default_target(&self.transcript);
        self.desk.surroundings(&target, self.transcript.model()).await
    }

    async fn list_models(&mut self) {
        let surroundings = self.surroundings().await;
        let current = self.transcript.model().unwrap_or(&surroundings.model).to_owned();
        let mut lines: Vec<String> = Vec::new();
        for (number, model) in (1..).zip(self.desk.models(self.transcript.model()).await) {
            lines.push(format!("{number:>3}  {:<20} {}", model.name, model.note));
        }
        lines.push(format!("Using {current}. Switch with /model NAME or /model NUMBER."));
        self.tell(&lines.join("\n"));
    }

    /// Lets the user connect a model. The terminal is theirs meanwhile.
    async fn log_in(&mut self, profile: &str) -> Result<(), SessionsError> {
        if self.input == LineInput::Pipe {
            self.tell("/login needs a terminal. `buddy login NAME --api-key` reads a key from stdin.");
            return Ok(());
        }
        let profile = Some(profile).filter(|profile| !profile.is_empty());
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
        let text = match (overview::last_answer(&self.transcript), self.input) {
            (None, _) => "There is no answer yet.",
            (Some(_), LineInput::Pipe | LineInput::Terminal { has_clipboard: false, .. }) => {
                "this terminal has no clipboard; use /export to write a file"
            }
            (Some(answer), LineInput::Terminal { is_in_tmux, .. }) => match copy_order(answer, is_in_tmux) {
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
    fn time_out(&mut self, time: &str) {
        let text = match seconds(time) {
            _ if self.is_idle() => "nothing runs".to_owned(),
            Some(seconds) => {
                self.deadline = Instant::now().checked_add(Duration::from_secs(seconds));
                format!("The turn stops in {seconds} s.")
            }
            None => "Give a time, such as /timeout 10m.".to_owned(),
        };
        self.tell(&text);
    }
}
