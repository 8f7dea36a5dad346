//! The question about hosts that stands, and the command that it is about. A program gives up after its own timeout, mostly long
//! before a user has answered: the question outlives it, and the answer counts when the command runs again.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use super::connections::Connections;

/// Answers that came too late and are kept for the next run of their command. Beyond that the oldest asks again.
const MAX_LATE: usize = 100;

/// The question of one call that stands, and what came of earlier ones.
#[derive(Default)]
pub(super) struct StandingQuestion {
    /// The hosts that it is about. They stay here when the question is dropped before its answer.
    hosts: watch::Sender<Option<String>>,
    /// Whether the command has ended. Nothing new is asked for it then.
    has_ended: AtomicBool,
    /// Hosts, and hosts with a port, that the user allowed in this call, and whether the command had ended by then.
    allowed: Mutex<BTreeMap<String, bool>>,
}

impl StandingQuestion {
    pub(super) fn begin(&self, hosts: String) {
        self.hosts.send_replace(Some(hosts));
    }

    pub(super) fn end(&self) {
        self.hosts.send_replace(None);
    }

    /// The hosts of the question that stands.
    pub(super) fn hosts(&self) -> Option<String> {
        self.hosts.borrow().clone()
    }

    /// Waits until no question stands.
    pub(super) async fn answered(&self) {
        // The sender lives as long as this.
        let _ = self.hosts.subscribe().wait_for(Option::is_none).await;
    }

    pub(super) fn command_ended(&self) {
        self.has_ended.store(true, Ordering::Relaxed);
    }

    pub(super) fn has_ended(&self) -> bool {
        self.has_ended.load(Ordering::Relaxed)
    }

    /// Goes on only while the command runs: nobody is there to use a connection then, which ends with the way out.
    pub(super) async fn hold_if_ended(&self) {
        if self.has_ended() {
            std::future::pending::<()>().await;
        }
    }

    fn allowed(&self) -> MutexGuard<'_, BTreeMap<String, bool>> {
        self.allowed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The user allowed a host, or a host with a port.
    pub(super) fn allow(&self, name: &str) {
        self.allowed().insert(name.to_owned(), self.has_ended());
    }

    /// Hosts that the user allowed when the command no longer waited for them.
    pub(super) fn allowed_late(&self, connections: &Connections) -> Vec<String> {
        let allowed = self.allowed();
        let is_late = |(name, had_ended): &(&String, &bool)| **had_ended || connections.gave_up(name);
        allowed.iter().filter(is_late).map(|(name, _)| name.clone()).collect()
    }
}

/// One-time answers of a session that came after their command had given up. The next run of the same command uses them up.
#[derive(Default)]
pub(crate) struct LateAnswers(Mutex<Vec<LateAnswer>>);

struct LateAnswer {
    /// The simple commands that the command is made of.
    commands: Vec<String>,
    /// The host, or the host with its port.
    name: String,
    /// Whether the session had read a secret when the user answered.
    knew_secret: bool,
}

impl LateAnswers {
    fn answers(&self) -> MutexGuard<'_, Vec<LateAnswer>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn keep(&self, commands: &[String], name: &str, knew_secret: bool) {
        let mut answers = self.answers();
        if answers.len() >= MAX_LATE {
            answers.remove(0);
        }
        let (commands, name) = (commands.to_vec(), name.to_owned());
        answers.push(LateAnswer { commands, name, knew_secret });
    }

    /// Takes the answer for a command and a host. One from before a secret was read does not count after it.
    pub(super) fn take(&self, commands: &[String], name: &str, knows_secret: bool) -> bool {
        let mut answers = self.answers();
        let is_meant = |answer: &LateAnswer| answer.commands == commands && answer.name == name;
        let Some(at) = answers.iter().position(is_meant) else { return false };
        let answer = answers.remove(at);
        answer.knew_secret || !knows_secret
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_late_answer_counts_once_for_its_command_and_not_after_a_secret() {
        let late = LateAnswers::default();
        let (pip, npm) = (["pip install a".to_owned()], ["npm install".to_owned()]);
        late.keep(&pip, "127.0.0.1:80", false);
        assert!(!late.take(&npm, "127.0.0.1:80", false) && !late.take(&pip, "127.0.0.1:81", false));
        assert!(late.take(&pip, "127.0.0.1:80", false) && !late.take(&pip, "127.0.0.1:80", false));
        late.keep(&pip, "127.0.0.1:80", false);
        assert!(!late.take(&pip, "127.0.0.1:80", true));
        late.keep(&pip, "127.0.0.1:80", true);
        assert!(late.take(&pip, "127.0.0.1:80", true));
    }
}
