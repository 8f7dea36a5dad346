//! A run that is steered from outside: commands come in as JSON, one a line, and are those of the protocol.
//!
//! Nothing that comes in is lost in silence: each line is a command that was accepted, or is answered by a line that says
//! why not. What waits for a user waits for an answer as long as the input lasts, and is denied when it has ended.

use buddy_protocol::{Answer, AskId, Command, Principal, SessionsError};
use serde::Serialize;

use super::ExecRun;
use super::lines::{MAX_LINE, NumberedLine};

/// A line of the output that answers a line of the input which was not carried out.
#[derive(Debug, Serialize)]
struct LineRefusal<'a> {
    r#type: &'static str,
    /// Which line of the input, from 1.
    line: u64,
    message: &'a str,
}

impl ExecRun<'_> {
    /// Whether nothing runs and nothing more can come.
    pub(super) fn is_over(&self) -> bool {
        let steering = &self.steering;
        !steering.has_ended && !steering.is_open && steering.unseen == 0 && !self.report.is_running()
    }

    /// Carries out a line of the input.
    pub(super) async fn hear(&mut self, line: NumberedLine) -> Result<(), SessionsError> {
        let refusal = match read_command(&line) {
            Ok(None) => return Ok(()),
            Ok(Some(command)) => match self.obey_as(&program_of(&self.request.who), command).await {
                Err(
                    error @ (SessionsError::Conflict(_)
                    | SessionsError::Invalid(_)
                    | SessionsError::Forbidden { .. }
                    | SessionsError::Agent(_)),
                ) => error.to_string(),
                other => return other,
            },
            Err(message) => message,
        };
        let refusal = LineRefusal { r#type: "error", line: line.number, message: &refusal };
        self.outlet.line(serde_json::to_string(&refusal).unwrap_or_default());
        Ok(())
    }

    pub(super) async fn obey(&mut self, command: Command) -> Result<(), SessionsError> {
        let request = self.request;
        self.obey_as(&request.who, command).await
    }

    async fn obey_as(&mut self, who: &Principal, command: Command) -> Result<(), SessionsError> {
        // A prompt becomes a message, a command of the user's own ends as one, and a call ends as a call of its own.
        let is_said = matches!(command, Command::Prompt { .. } | Command::Run { .. } | Command::Call { .. });
        self.sessions.send(who, &self.session, command).await?;
        self.steering.unseen += usize::from(is_said);
        Ok(())
    }

    /// The input has ended: nobody is there any more who could answer.
    pub(super) async fn stop_hearing(&mut self) -> Result<(), SessionsError> {
        self.steering.is_open = false;
        for ask in std::mem::take(&mut self.steering.asks) {
            self.deny(ask).await?;
        }
        Ok(())
    }

    /// Stops what runs beside the turn. That it has ended meanwhile is as good.
    pub(super) async fn stop_beside(&mut self) -> Result<(), SessionsError> {
        for item in std::mem::take(&mut self.steering.beside) {
            match self.sessions.send(&self.request.who, &self.session, Command::Stop { item }).await {
                Ok(()) | Err(SessionsError::Agent(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Denies what waits. That it was answered meanwhile is as good.
    pub(super) async fn deny(&self, ask: AskId) -> Result<(), SessionsError> {
        let reason = "nobody is there to ask".to_owned();
        let answer = Command::Answer { ask, answer: Answer::Unanswered { reason } };
        match self.sessions.send(&self.request.who, &self.session, answer).await {
            Err(SessionsError::Conflict(_)) => Ok(()),
            sent => sent,
        }
    }
}

/// The author of commands that come in: it has the rights of the user that runs it, and the log does not take it for them.
fn program_of(who: &Principal) -> Principal {
    Principal { name: format!("a program of {}", who.name), ..who.clone() }
}

/// The command of a line; none of an empty one.
fn read_command(line: &NumberedLine) -> Result<Option<Command>, String> {
    let Some(bytes) = &line.bytes else { return Err(format!("the line has more than {MAX_LINE} bytes")) };
    if bytes.trim_ascii().is_empty() {
        return Ok(None);
    }
    serde_json::from_slice(bytes).map(Some).map_err(|error| format!("the line is not a command: {error}"))
}
