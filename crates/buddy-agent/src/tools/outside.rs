//! What the jail stopped in a call, told in one line each, and the offer to run a command once more outside the jail.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use buddy_exec::{Denial, DenialKind};
use buddy_policy::Action;
use buddy_protocol::{
    Answer, Approval, Content, DENIED_HOSTS, Fact, Item, Notice, NoticeLevel, Question, Risk, SinkClosed,
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::gate::Judged;
use crate::tools::egress::HostRefusal;
use crate::tools::opens::{Seals, named};
use crate::tools::pins::Pins;
use crate::tools::run::{Pipeline, Ready};
use crate::tools::tool::shown;

/// Where results tell what the jail stopped.
pub(crate) const JAIL: &str = "jail";
/// Commands of a session whose offer was turned down that are remembered.
const MAX_DECLINED: usize = 100;

/// Commands that the user did not want to run outside the jail. They are not offered again in the session.
#[derive(Default)]
pub(crate) struct Declined(Mutex<BTreeSet<String>>);

impl Declined {
    fn has(&self, command: &str) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains(command)
    }

    fn add(&self, command: String) {
        let mut declined = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if declined.len() < MAX_DECLINED {
            declined.insert(command);
        }
    }
}

/// One line for the user and the model about something that the jail stopped in a project.
pub(crate) fn line(denial: &Denial, project: &Path) -> String {
    let subject = denial.subject.as_deref().unwrap_or("something");
    match denial.kind {
        DenialKind::Write => {
            let path = denial.path.as_deref().unwrap_or(Path::new("/"));
            // The home would be far too much.
            let directory = path.parent().filter(|above| !project.starts_with(above)).unwrap_or(path);
            format!(
                "the jail lets commands write only in the workspace and `/tmp`, not `{subject}`; to allow it always, put `write = \
                 [{:?}]` under `[projects.{:?}]` in your buddy.toml",
                shown(directory),
                shown(project)
            )
        }
        DenialKind::Store => {
            let store = shown(denial.path.as_deref().unwrap_or(Path::new("/")));
            format!(
                "git keeps the data of this folder in `{store}`, outside the workspace; commands write there only if buddy was started in \
                 this folder and the repository names it as its work tree; to allow it always, put `write = [{store:?}]` under \
                 `[projects.{:?}]` in your buddy.toml",
                shown(project)
            )
        }
        DenialKind::Cache => format!(
            "in the jail, commands change package caches in a layer that covers no directory of `PATH`, so `{subject}` is read-only; the \
             user can install programs there with `!`"
        ),
        DenialKind::Hidden => format!("the jail hides `{subject}` from commands"),
        DenialKind::Sealed => format!(
            "`{subject}` can hold secrets, so the jail did not let this command read or change it; if it is needed, name it in a call of \
             `read_file` or `edit_file`, which asks the user"
        ),
        DenialKind::Guarded => format!(
            "other programs run code from `{subject}`, so the jail keeps commands from changing it; change it with a tool for files, \
             which asks the user"
        ),
        DenialKind::Held => "the jail lets commands neither move nor remove a protected file, nor a directory that one is in".to_owned(),
        DenialKind::Remote => "the remote is a folder outside the workspace, where the jail does not let commands write; push with the tool `git_push`, or name the folder (`git push ../name.git`): both ask the user for it".to_owned(),
        DenialKind::Network => format!(
            "in the jail this command has no network but the proxy in `https_proxy`, which a program must use by itself; to allow a host \
             always, put `hosts = [\"HOST\"]` under `[projects.{:?}]` in your buddy.toml",
            shown(project)
        ),
        DenialKind::Socket => match &denial.subject {
            Some(socket) => format!("the jail keeps commands from local sockets of other programs, such as `{socket}`"),
            None => "the jail keeps commands from local sockets of other programs, such as Docker, the session bus and displays".to_owned(),
        },
        DenialKind::Rights => {
            "in the jail no program gets the rights of another account, as `sudo` and setuid programs do".to_owned()
        }
        DenialKind::Unknown => {
            "this may be the jail (a guess): it lets commands write only in the workspace and `/tmp`, and reach no local sockets of other programs".to_owned()
        }
    }
}

/// A line about a host that a command was kept from, and one about what opens it, which nobody may cut.
pub(crate) fn host_line(host: &str, refusal: &HostRefusal, project: &Path) -> String {
    let stopped = format!("the jail did not let this command reach `{host}`: {}", refusal.why);
    if host.contains(' ') {
        // An address of this machine or its network, which no list of hosts opens.
        return stopped;
    }
    let always = format!("`hosts = [{host:?}]` under `[projects.{:?}]` in your buddy.toml", shown(project));
    let ways: Vec<&str> = refusal.ways.iter().map(String::as_str).chain([always.as_str()]).collect();
    format!("{stopped}\nThe user can allow it with {}", ways.join(", or "))
}

/// Notes the hosts that a command was kept from, if it needed them as far as its end shows. One simple command that succeeded
/// needed none; of several parts, the exit code tells of the last.
pub(crate) fn with_denied_hosts(mut result: Value, refused: &[(String, HostRefusal)], parts: usize) -> Value {
    let is_fine = parts <= 1 && result["exit_code"] == 0;
    if let Some(fields) = result.as_object_mut().filter(|_| !refused.is_empty() && !is_fine) {
        let hosts: Vec<&str> = refused.iter().map(|(host, _)| host.as_str()).collect();
        fields.insert(DENIED_HOSTS.to_owned(), json!(hosts));
    }
    result
}

/// A result with these lines under a name.
pub(crate) fn told(mut result: Value, name: &str, lines: &[String]) -> Value {
    if let Some(fields) = result.as_object_mut().filter(|_| !lines.is_empty()) {
        fields.insert(name.to_owned(), json!(lines));
    }
    result
}

/// Whether running it outside is the way to it. Secrets have questions of their own.
fn helps(denial: &Denial) -> bool {
    !matches!(denial.kind, DenialKind::Unknown | DenialKind::Rights | DenialKind::Sealed)
}

impl Pipeline {
    /// Asks whether a command that the jail stopped runs once more outside of it. None where that is not offered, or not wanted.
    pub(crate) async fn offer_outside(
        &self,
        item: &Item,
        ready: &Ready,
        judged: &Judged,
        denials: &[Denial],
        cancel: &CancellationToken,
    ) -> Option<Judged> {
        let Content::ToolCall(call) = &item.content else { return None };
        let is_offered = ready.command.is_some() && denials.iter().any(helps) && !cancel.is_cancelled();
        if !is_offered || self.declined.has(&call.title) {
            return None;
        }
        let mut outside = self.parts.gate.outside(&ready.intent, judged, ready.ground())?;
        let seals = Seals {
            target: ready.target.host.target.clone(),
            roots: judged.workspace.clone(),
            unasked: judged.bounds.clone(),
            allowed: outside.bounds.clone(),
        };
        outside.opens = seals.opened().await;
        let target = &*ready.target.host.target;
        outside.pins = Some(Arc::new(Pins::take(&outside.decision.pins, target).await));
        let project = &ready.target.place.cwd;
        let stopped = denials.iter().filter(|denial| helps(denial)).map(|denial| line(denial, project));
        let risks = "outside the jail it has all rights of your account and the network, and what it changes is not kept for undo";
        let approval = Approval {
            action: format!("run once outside the jail: {}", call.title),
            risk: Risk::High,
            reasons: [risks.to_owned()].into_iter().chain(stopped).collect(),
            opens: named(&outside.opens, project),
            is_editable: false,
            offers: Vec::new(),
            ..self.approval(ready, judged)
        };
        let person = self.person(Some(item));
        let answer = tokio::select! {
            answer = person.ask(Question::Approval(approval)) => answer?,
            () = cancel.cancelled() => return None,
        };
        if matches!(answer, Answer::Allow { .. }) {
            return Some(outside);
        }
        self.declined.add(call.title.clone());
        None
    }

    /// Tells the user that a command did not run outside the jail although they allowed it.
    pub(crate) async fn note_changed(&self, ready: &Ready) -> Result<(), SinkClosed> {
        let command = ready.intent.actions.iter().find_map(|action| match action {
            Action::Run { command, .. } => Some(command.as_str()),
            _ => None,
        });
        let text = format!(
            "did not run `{}` outside the jail: a file that it runs changed after your answer, or a command in the background could change it",
            command.unwrap_or("the command")
        );
        let notice = Notice { level: NoticeLevel::Warning, code: "script_changed".to_owned(), text };
        self.parts.sink.push(vec![Fact::Notice(notice)]).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_makes_it_permanent_is_named() {
        let denial = Denial {
            kind: DenialKind::Write,
            subject: Some("../cache/x".to_owned()),
            path: Some("/home/u/cache/x".into()),
        };
        let line = line(&denial, Path::new("/home/u/w"));
        assert!(line.contains(r#"`write = ["/home/u/cache"]` under `[projects."/home/u/w"]`"#), "{line}");
        let refusal = HostRefusal { why: "no".to_owned(), ways: vec!["`--allow x`".to_owned()] };
        let line = host_line("a.test", &refusal, Path::new("/w"));
        let way = r#"with `--allow x`, or `hosts = ["a.test"]` under `[projects."/w"]` in your buddy.toml"#;
        assert!(line.lines().nth(1).unwrap().ends_with(way), "{line}");
    }

    #[test]
    fn a_guess_says_that_it_is_one_and_offers_nothing() {
        let denial = Denial { kind: DenialKind::Unknown, subject: None, path: None };
        assert!(line(&denial, Path::new("/w")).contains("may be") && !helps(&denial));
    }
}
