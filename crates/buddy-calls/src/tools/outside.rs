//! The accesses that the jail stopped in a call, told in one line each, and the offer to run a command once more outside the jail.

use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use buddy_exec::{Bounds, Denial, DenialKind};
use buddy_policy::{Action, Policy, openable_directory};
use buddy_protocol::{
    Answer, Approval, Content, DENIED_HOSTS, Fact, Item, Notice, NoticeLevel, Question, Risk, RunLimits,
    RunNetwork, SinkClosed,
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::gate::Judged;
use crate::targets::Attached;
use crate::tools::egress::HostRefusal;
use crate::tools::opens::Seals;
use crate::tools::path_text::show_files;
use crate::tools::path_text::show_path;
use crate::tools::pins::Pins;
use crate::tools::pipeline::{Pipeline, Ready};
use crate::tools::withheld::CommandText;

/// Where results tell what the jail stopped.
pub(crate) const JAIL: &str = "jail";
/// The rules of a target that no answer changes, so that nothing is advised against them.
#[derive(Debug, Clone, Default)]
pub(crate) struct JailRules {
    /// Nothing reaches the network.
    is_offline: bool,
    /// The folder is untrusted, so commands write nothing.
    only_reads: bool,
    policy: Option<Arc<Policy>>,
}

impl JailRules {
    /// Those of a target; the usual ones where they cannot be read.
    pub(crate) fn of(attached: &Attached) -> Self {
        let policy = attached.policy();
        policy.map_or_else(
            |_| Self::default(),
            |policy| Self {
                is_offline: policy.is_offline,
                only_reads: policy.only_reads(&attached.place.cwd),
                policy: Some(policy),
            },
        )
    }
}

/// One line for the user and the model about something that the jail stopped in a project.
pub(crate) fn line(denial: &Denial, project: &Path, rules: &JailRules) -> String {
    let subject = denial.subject.as_deref().unwrap_or("something");
    match denial.kind {
        DenialKind::Write | DenialKind::Unknown if rules.only_reads => format!(
            "this folder is untrusted, so the jail lets commands write nothing, and not `{subject}`; the user can run /trust to allow changes"
        ),
        DenialKind::Network if rules.is_offline => {
            "the network is off for commands: `tools.network` is false".to_owned()
        }
        DenialKind::Write => {
            let path = denial.path.as_deref().unwrap_or(Path::new("/"));
            let stopped =
                format!("the jail lets commands write only in the workspace and `/tmp`, not `{subject}`; to allow it always, ");
            // A file that is missing cannot be opened, and the home, or a directory around the project, would be far too much.
            let directory = rules.policy.as_ref().and_then(|policy| openable_directory(path, policy));
            let shown = match directory.filter(|above| !project.starts_with(above)) {
                Some(directory) => show_path(directory),
                None => {
                    return format!(
                        "{stopped}let it write in a directory of its own, and put `write = [\"DIRECTORY\"]` under `[projects.{:?}]` in \
                         your buddy.toml",
                        show_path(project)
                    );
                }
            };
            format!(
                "{stopped}put `write = [{shown:?}]` under `[projects.{:?}]` in your buddy.toml",
                show_path(project)
            )
        }
        DenialKind::Store => {
            let store = show_path(denial.path.as_deref().unwrap_or(Path::new("/")));
            format!(
                "git keeps the data of this folder in `{store}`, outside the workspace; commands write there only if buddy was started in \
                 this folder and the repository names it as its work tree; to allow it always, put `write = [{store:?}]` under \
                 `[projects.{:?}]` in your buddy.toml",
                show_path(project)
            )
        }
        DenialKind::Cache => format!(
            "in the jail, commands change package caches in a layer that covers no directory of `PATH`, so `{subject}` is read-only; the \
             user can install programs there with `!`"
        ),
        DenialKind::Hidden => format!("the jail hides `{subject}` from commands"),
        DenialKind::Sealed => format!(
            "`{subject}` can hold secrets, so the jail did not let this command read or change it; if it is needed, name it in a call of \
             `read_file` or of a tool that edits files, which asks the user"
        ),
        DenialKind::Guarded => format!(
            "other programs run code from `{subject}`, so the jail keeps commands from changing it; change it with a tool for files, \
             which asks the user"
        ),
        DenialKind::Held => "the jail lets commands neither move nor remove a protected file, nor a directory that one is in".to_owned(),
        DenialKind::Remote => "the remote is a folder outside the workspace, where the jail does not let commands write; push with the tool `git_push`, or name the folder (`git push ../name.git`): both ask the user for it".to_owned(),
        DenialKind::Network => format!(
            "in the jail this command has no network but the proxy in `https_proxy`, which a program must use by itself; to allow a host \
             always, add it to `hosts` under `[projects.{:?}]` in your buddy.toml",
            show_path(project)
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
    let with_ways = |stopped: String, ways: &[&str]| match ways {
        [] => stopped,
        ways => format!("{stopped}\nThe user can allow it with {}", ways.join(", or ")),
    };
    let ways = refusal.ways.iter().map(String::as_str);
    if let Some((authority, address)) = host.split_once(" at ") {
        // An address of this machine or its network, which no list of hosts opens.
        let is_here = address.parse::<IpAddr>().is_ok_and(|address| address.to_canonical().is_loopback());
        let place = if is_here { "on this machine" } else { "in a private network" };
        let stopped = format!(
            "the jail did not let this command reach `{authority}`, a server {place}: {}",
            refusal.why
        );
        return with_ways(stopped, &ways.collect::<Vec<_>>());
    }
    let stopped = format!("the jail did not let this command reach `{host}`: {}", refusal.why);
    let always =
        format!("`hosts = [{host:?}]` under `[projects.{:?}]` in your buddy.toml", show_path(project));
    // A list of hosts opens no port of this machine.
    let always = Some(always.as_str()).filter(|_| !is_here(host));
    with_ways(stopped, &ways.chain(always).collect::<Vec<_>>())
}

/// Whether a host is this machine by its name or address.
fn is_here(host: &str) -> bool {
    let is_loopback = host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
    is_loopback || host == "localhost" || host.ends_with(".localhost")
}

/// Notes the hosts that a command was kept from, if it needed them as far as its words, its end and its output show. It needed those
/// that it names: `curl` takes the proxy's refusal for the page. One simple command that succeeded needed no other. Of several parts,
/// the exit code tells of the last. A command that failed says so in its output, unless that is empty: `npm test` asks for updates of
/// npm, and fails because of its tests.
pub(crate) fn with_denied_hosts(
    mut result: Value,
    refused: &[(String, HostRefusal)],
    text: Option<&CommandText>,
) -> Value {
    let is_fine = text.is_none_or(|text| text.parts <= 1) && result["exit_code"] == 0;
    let printed = ["stdout", "stderr", "output"].map(|name| result[name].as_str().unwrap_or_default());
    let printed = printed.join("\n").to_lowercase();
    let tells = printed.trim().is_empty() || TROUBLE.iter().any(|trouble| printed.contains(trouble));
    let is_needed = |host: &str| {
        text.is_some_and(|text| names_host(&text.command, host))
            || (!is_fine && (tells || names_host(&printed, host)))
    };
    let hosts: Vec<&str> =
        refused.iter().map(|(host, _)| host.as_str()).filter(|host| is_needed(host)).collect();
    if let Some(fields) = result.as_object_mut().filter(|_| !hosts.is_empty()) {
        fields.insert(DENIED_HOSTS.to_owned(), json!(hosts));
    }
    result
}

/// Parts of the messages by which programs tell that they did not reach a host, in small letters.
const TROUBLE: &[&str] = &[
    "403",
    "404",
    "502",
    "connect",
    "download",
    "eai_again",
    "econn",
    "enetunreach",
    "enotfound",
    "etimedout",
    "fetch",
    "forbidden",
    "getaddrinfo",
    "network",
    "offline",
    "proxy",
    "resolve",
    "timed out",
    "tunnel",
    "unreachable",
];

/// Whether a command's own words have this host, and not only as a part of a longer name. Refused addresses of this machine come
/// with a port and an address behind the host.
fn names_host(command: &str, refused: &str) -> bool {
    let host = refused.split([' ', ':']).next().unwrap_or_default();
    let is_name = |character: char| character.is_alphanumeric() || matches!(character, '-' | '.' | '_');
    let command = command.to_lowercase();
    !host.is_empty()
        && command.split(|character| !is_name(character)).any(|word| word.trim_matches('.') == host)
}

/// A result with these lines under a name, after those that it has there.
pub(crate) fn add_lines(mut result: Value, name: &str, lines: &[String]) -> Value {
    if let Some(fields) = result.as_object_mut().filter(|_| !lines.is_empty()) {
        let lines = lines.iter().cloned().map(Value::String);
        match fields.get_mut(name) {
            Some(Value::Array(earlier)) => earlier.extend(lines),
            _ => {
                fields.insert(name.to_owned(), lines.collect());
            }
        }
    }
    result
}

/// Without the claim that the jail keeps a command from the network, if a connection that was allowed failed for a reason of its own.
pub(crate) fn without_failed_connections(mut denials: Vec<Denial>, failures: &[String]) -> Vec<Denial> {
    denials.retain(|denial| failures.is_empty() || denial.kind != DenialKind::Network);
    denials
}

/// Whether running it outside is the way to it. Secrets have questions of their own.
fn helps(denial: &Denial) -> bool {
    !matches!(denial.kind, DenialKind::Unknown | DenialKind::Rights | DenialKind::Sealed)
}

/// The most files that a question about a run outside names.
const MAX_RUN_FILES: usize = 3;

/// The rights of a run outside.
fn rights(bounds: &Bounds) -> &'static str {
    if bounds.is_open() {
        "outside the jail it has all rights of your account and the network, and undo does not cover it"
    } else {
        "outside the jail it has your account's rights and the network, but no `sudo`, and sees neither buddy's own files nor your other \
         sessions; undo does not cover it"
    }
}

/// The files of commands that such a run can run: those that its words name, and files that these load, of which nobody knows all.
fn loads(pins: &[PathBuf], project: &Path) -> String {
    let named: Vec<String> =
        show_files(pins, project).into_iter().take(MAX_RUN_FILES).map(|file| format!("`{file}`")).collect();
    if named.is_empty() {
        return "it can load files of the workspace, which the agent may have written".to_owned();
    }
    let load = if named.len() == 1 { "it loads" } else { "they load" };
    format!("it runs {} and the files that {load}, which the agent may have written", named.join(", "))
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
        let rules = JailRules::of(&ready.target);
        let stopped =
            denials.iter().filter(|denial| helps(denial)).map(|denial| line(denial, project, &rules));
        let loads = loads(&outside.decision.pins, project);
        let approval = Approval {
            action: format!("run once outside the jail: {}", call.title),
            risk: Risk::High,
            reasons: [rights(&outside.bounds).to_owned(), loads].into_iter().chain(stopped).collect(),
            limits: Some(RunLimits { sandboxed: false, network: RunNetwork::On }),
            opens: show_files(&outside.opens, project),
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
        let mut policy = Policy::plain("/home/u/w".into());
        policy.places.home = Some("/home/u".into());
        let rules = JailRules { policy: Some(Arc::new(policy)), ..JailRules::default() };
        let alone = Denial {
            kind: DenialKind::Write,
            subject: Some("/home/u/made.txt".to_owned()),
            path: Some("/home/u/made.txt".into()),
        };
        let told = line(&alone, Path::new("/home/u/w"), &rules);
        assert!(told.contains("a directory of its own, and put `write = [\"DIRECTORY\"]`"), "{told}");
        assert!(!told.contains("[\"/home/u"), "neither the home nor a file that is missing: {told}");
        let denial = Denial {
            kind: DenialKind::Write,
            subject: Some("../cache/x".to_owned()),
            path: Some("/home/u/cache/x".into()),
        };
        let line = line(&denial, Path::new("/home/u/w"), &rules);
        assert!(line.contains(r#"`write = ["/home/u/cache"]` under `[projects."/home/u/w"]`"#), "{line}");
        let refusal = HostRefusal { why: "no".to_owned(), ways: vec!["`--allow x`".to_owned()] };
        let line = host_line("a.test", &refusal, Path::new("/w"));
        let here = host_line("127.0.0.1:80 at 127.0.0.1", &refusal, Path::new("/w"));
        assert!(
            here.ends_with(
                "reach `127.0.0.1:80`, a server on this machine: no\nThe user can allow it with `--allow x`"
            ),
            "{here}"
        );
        let way = r#"with `--allow x`, or `hosts = ["a.test"]` under `[projects."/w"]` in your buddy.toml"#;
        assert!(line.lines().nth(1).unwrap().ends_with(way), "{line}");
    }

    #[test]
    fn a_refused_host_counts_only_if_the_command_needed_it() {
        let refusal = HostRefusal { why: "no".to_owned(), ways: Vec::new() };
        let refused = [("npm.test".to_owned(), refusal)];
        let counts = |command: &str, parts: usize, exit_code: i32, stdout: &str| {
            let text = CommandText {
                command: command.to_owned(),
                parts,
                scripts: Vec::new(),
                bounds: Bounds::open(),
            };
            let result = json!({"exit_code": exit_code, "stdout": stdout, "stderr": ""});
            with_denied_hosts(result, &refused, Some(&text)).get(DENIED_HOSTS).is_some()
        };
        let failed = "not ok 1 - adds\n# fail 1\n# duration_ms 80\n";
        assert!(!counts("npm test", 1, 1, failed));
        assert!(!counts("cd web && npm test | tail -5", 3, 0, failed));
        assert!(!counts("npm ci", 1, 0, ""));
        for (command, parts, exit_code, stdout) in [
            ("curl -s https://npm.test/x", 1, 0, "refused"),
            ("npm ci", 1, 1, "npm error GET https://npm.test/left-pad"),
            ("npm ci || true", 2, 0, "npm error code ECONNREFUSED"),
            ("pip install x", 1, 1, "OSError: Tunnel connection failed: 403 Forbidden"),
            ("./build.sh", 1, 1, ""),
        ] {
            assert!(counts(command, parts, exit_code, stdout), "{command}");
        }
    }

    #[test]
    fn a_guess_says_that_it_is_one_and_offers_nothing() {
        let denial = Denial { kind: DenialKind::Unknown, subject: None, path: None };
        assert!(line(&denial, Path::new("/w"), &JailRules::default()).contains("may be") && !helps(&denial));
    }

    #[test]
    fn nothing_is_advised_that_the_rules_forbid() {
        let denial = |kind| Denial { kind, subject: Some("x".to_owned()), path: Some("/w/x".into()) };
        let rules = JailRules { is_offline: true, only_reads: true, policy: None };
        let network = line(&denial(DenialKind::Network), Path::new("/w"), &rules);
        assert!(network.contains("`tools.network` is false") && !network.contains("hosts"), "{network}");
        let write = line(&denial(DenialKind::Write), Path::new("/w"), &rules);
        assert!(write.contains("write nothing") && !write.contains("/tmp"), "{write}");
    }
}
