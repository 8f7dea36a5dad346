//! The connections of a command that nobody was asked about: each host is judged when the command wants to reach it.
//!
//! One question covers a package manager's registry, as its settings name it, or all hosts that wait for an answer.

mod connections;
mod question;

use std::collections::{BTreeSet, HashMap};
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use buddy_policy::{Action, Decision, Intent, Registry, RegistryHost, Verdict, package_manager};
use buddy_protocol::{Answer, Notice, NoticeLevel, Question};
use buddy_web::{Connection, Nearness, Wanted, Warrant};
use futures::future::join_all;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::gate::Ground;
use crate::targets::Attached;
use crate::tools::person::Person;
use crate::tools::run::Pipeline;
pub(crate) use connections::{ALLOWED, CONNECTIONS, Connections};
use question::{HostsQuestion, NearbyHost, NewHost};

/// Hosts that a command was kept from and that its result explains.
const MAX_TOLD: usize = 5;

/// Hosts that one call may want. A command that tries more is not asked for by mistake.
const MAX_DECIDED: usize = 500;

/// Questions about the hosts of one call. Beyond that a user would stop reading them.
const MAX_QUESTIONS: usize = 20;

/// Hosts in one question that no settings name. More would not be read.
const MAX_TOGETHER: usize = 8;

/// How long a question waits for further hosts of the same command. Package managers connect to several at once.
const COLLECT: Duration = Duration::from_millis(300);

/// Words at the beginning of a line that run nothing of interest.
const ASIDES: &[&str] = &["cd", "echo", "export", "printf", "set", "test", "true", ":"];

/// Judges the connections of one call.
pub(crate) struct CallEgress {
    pub(crate) pipeline: Arc<Pipeline>,
    pub(crate) target: Arc<Attached>,
    pub(crate) person: Person,
    /// The program that people know the command by.
    program: String,
    /// The simple commands that it is made of.
    commands: Vec<String>,
    pub(crate) cancel: CancellationToken,
    /// Decisions of this call, by host or by address. Held while a user is asked, so that there is one question at a time.
    decided: tokio::sync::Mutex<Decided>,
    /// Hosts that wait for a decision; held for a look or a change only.
    waiting: Mutex<BTreeSet<String>>,
    /// How often a user was asked.
    asked: AtomicUsize,
    /// Whether the command runs on in the background, where nobody is asked about its hosts.
    is_left: AtomicBool,
    connections: Mutex<Connections>,
}

/// Decisions: hosts by their names, hosts with a port that are nearby as `host:port`, and those that were refused with their address.
type Decided = HashMap<String, Result<(), String>>;

/// The program that people know a command by, of the simple commands that it is made of.
fn program(commands: &[String]) -> String {
    let programs = commands.iter().filter_map(|part| part.split_whitespace().next());
    let named = programs.clone().find(|program| !ASIDES.contains(program)).or(programs.clone().next());
    named.unwrap_or("the command").to_owned()
}

#[async_trait]
impl Warrant for CallEgress {
    async fn host(&self, wanted: &Wanted) -> Result<(), String> {
        self.waiting().insert(wanted.host.clone());
        let is_known = self.decided.try_lock().is_ok_and(|decided| decided.contains_key(&wanted.host));
        let is_asked = || self.judge(&wanted.host).is_ok_and(|decision| decision.verdict == Verdict::Ask);
        if !is_known && is_asked() {
            tokio::time::sleep(COLLECT).await;
        }
        let mut decided = self.decided.lock().await;
        let known = decided.get(&wanted.host).cloned();
        let decision = match known {
            Some(known) => known,
            None => self.decide_host(wanted, &mut decided).await,
        };
        self.waiting().remove(&wanted.host);
        decision
    }

    async fn nearby(&self, wanted: &Wanted, address: IpAddr) -> Result<(), String> {
        let mut decided = self.decided.lock().await;
        let refused = refused_key(&authority(wanted), address);
        if let Some(known) = decided.get(&authority(wanted)).or_else(|| decided.get(&refused)) {
            return known.clone();
        }
        let decision = self.decide_nearby(wanted, address, &mut decided).await;
        let key = if decision.is_ok() { authority(wanted) } else { refused };
        decided.insert(key, decision.clone());
        decision
    }

    fn ended(&self, connection: Connection) {
        self.connections().add(connection);
    }
}

/// Whether the settings of a registry name a host with this port.
fn names(registry: &Registry, wanted: &Wanted) -> bool {
    registry.hosts.iter().any(|host| host.host == wanted.host && host.port == wanted.port)
}

/// Why a user is not asked any more.
const TOO_MANY: &str = "this command has asked for too many hosts";

impl CallEgress {
    pub(crate) fn new(
        pipeline: Arc<Pipeline>,
        target: Arc<Attached>,
        person: Person,
        decision: &Decision,
        cancel: CancellationToken,
    ) -> Self {
        Self {
            pipeline,
            target,
            person,
            program: program(&decision.parts),
            commands: decision.parts.clone(),
            cancel,
            decided: tokio::sync::Mutex::default(),
            waiting: Mutex::default(),
            asked: AtomicUsize::new(0),
            is_left: AtomicBool::new(false),
            connections: Mutex::default(),
        }
    }

    fn ground(&self) -> Ground<'_> {
        Ground { source: &*self.target.host.policy, cwd: &self.target.place.cwd }
    }

    fn connections(&self) -> MutexGuard<'_, Connections> {
        self.connections.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn waiting(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the gate says about a host, as for any fetch from it.
    fn judge(&self, host: &str) -> Result<Decision, String> {
        Ok(self.pipeline.parts.gate.judge(&fetch(host), self.ground())?.decision)
    }

    /// The registry whose settings name a host.
    fn registry(&self, host: &str) -> Option<Registry> {
        self.target.host.policy.registry(&self.target.place.cwd, &self.commands, host)
    }

    /// Whether a user may be asked once more; the error says why not.
    fn may_ask(&self, decided: &Decided) -> Result<(), String> {
        let is_within = decided.len() < MAX_DECIDED && self.asked.load(Ordering::Relaxed) < MAX_QUESTIONS;
        if is_within { Ok(()) } else { Err(TOO_MANY.to_owned()) }
    }

    /// Decides about a host that this call wants for the first time, and about those that the same question is about.
    async fn decide_host(&self, wanted: &Wanted, decided: &mut Decided) -> Result<(), String> {
        let decision = self.judge(&wanted.host)?;
        let answer = match decision.verdict {
            Verdict::Allow => Ok(()),
            Verdict::Deny => Err(denial(&decision)),
            Verdict::Ask => {
                self.may_ask(decided)?;
                let is_here = wanted.host == "localhost";
                // Settings that name another port of this machine name another service.
                let is_meant = |registry: &Registry| !is_here || names(registry, wanted);
                let question = match self.registry(&wanted.host).filter(is_meant) {
                    Some(registry) => self.about_registry(registry).await,
                    // This machine is asked about once, with the port.
                    None if is_here => return Ok(()),
                    None => self.about_waiting(&wanted.host, decided),
                };
                return self.put(&question, decided).await;
            }
        };
        if decided.len() < MAX_DECIDED {
            decided.insert(wanted.host.clone(), answer.clone());
        }
        answer
    }

    async fn decide_nearby(
        &self,
        wanted: &Wanted,
        address: IpAddr,
        decided: &mut Decided,
    ) -> Result<(), String> {
        if let Some(why) = self.pipeline.parts.gate.closed_host(&wanted.host, self.ground())? {
            return Err(why);
        }
        if self.reaches_nearby(&wanted.host, wanted.port)? {
            return Ok(());
        }
        if !self.pipeline.parts.gate.is_attended() {
            return Err(format!(
                "it is at {address}, on this machine or its network, and nobody is there to ask"
            ));
        }
        self.may_ask(decided)?;
        let is_literal = Nearness::of_literal(&wanted.host).is_literal;
        // Settings that name another port name another service.
        let is_meant = |registry: &Registry| is_literal && names(registry, wanted);
        let registry = self.registry(&wanted.host).filter(is_meant);
        let question = match registry {
            Some(registry) => self.about_registry(registry).await,
            None => {
                HostsQuestion::nearby(&self.program, NearbyHost { authority: authority(wanted), address })
            }
        };
        self.put(&question, decided).await
    }

    fn reaches_nearby(&self, host: &str, port: u16) -> Result<bool, String> {
        let is_configured = self.pipeline.parts.web.fetcher.allows(host, port);
        let authority = format!("{host}:{port}");
        Ok(is_configured || self.pipeline.parts.gate.reaches_nearby(&authority, self.ground())?)
    }

    /// The question about a registry: all its hosts that nobody allowed yet. Those that the user's own settings name are looked up
    /// before, so that the question can say which are nearby: no command can write a name there, so nothing rides on the look-up.
    async fn about_registry(&self, registry: Registry) -> HostsQuestion {
        let program = if registry.is_of_command { registry.of } else { &self.program };
        let mut question = HostsQuestion::registry(program, &registry);
        let find = async |host: RegistryHost| {
            let found = if host.is_by_project {
                Nearness::of_literal(&host.host)
            } else {
                Nearness::of(&host.host).await
            };
            (host, found)
        };
        for (host, found) in join_all(registry.hosts.into_iter().map(find)).await {
            let is_open = self.reaches_nearby(&host.host, host.port).unwrap_or(false);
            if let Some(address) = found.address.filter(|_| !is_open) {
                let authority = format!("{}:{}", host.host, host.port);
                question.add_nearby(NearbyHost { authority, address }, &host.named_in);
            }
            if found.is_literal {
                continue;
            }
            let judged = self.judge(&host.host).ok().filter(|decision| decision.verdict == Verdict::Ask);
            if let Some(decision) = judged {
                question.add(NewHost { host: host.host, decision }, Some(&host.named_in));
            }
        }
        question
    }

    /// The question about a host that no settings name, with all others that wait.
    fn about_waiting(&self, host: &str, decided: &Decided) -> HostsQuestion {
        let mut question = HostsQuestion::unnamed(&self.program, package_manager(&self.commands));
        let others: Vec<String> = self.waiting().iter().filter(|other| *other != host).cloned().collect();
        let mut count = 0;
        for host in std::iter::once(host.to_owned()).chain(others) {
            let is_new = !decided.contains_key(&host) && (count == 0 || self.registry(&host).is_none());
            let judged = self.judge(&host).ok().filter(|decision| decision.verdict == Verdict::Ask);
            if let Some(decision) = judged.filter(|_| is_new && count < MAX_TOGETHER) {
                question.add(NewHost { host, decision }, None);
                count += 1;
            }
        }
        question
    }

    /// Puts a question, and keeps the answer for every host that it is about.
    async fn put(&self, question: &HostsQuestion, decided: &mut Decided) -> Result<(), String> {
        let answer = self.ask(question).await;
        for new in &question.hosts {
            if answer.is_ok() {
                self.pipeline.parts.gate.trace(|trail| trail.allow(&new.host));
                self.connections().allowed.insert(new.host.clone());
            }
            decided.insert(new.host.clone(), answer.clone());
        }
        for NearbyHost { authority, address } in &question.nearby {
            let key = if answer.is_ok() { authority.clone() } else { refused_key(authority, *address) };
            decided.insert(key, answer.clone());
        }
        answer
    }

    async fn ask(&self, question: &HostsQuestion) -> Result<(), String> {
        if self.is_left.load(Ordering::Relaxed) {
            return Err("the command runs in the background, where nobody is asked".to_owned());
        }
        self.asked.fetch_add(1, Ordering::Relaxed);
        let offers = question.offers(&self.target.spec.name);
        let approval = question.approval(&self.target, &offers);
        let answer = tokio::select! {
            answer = self.person.ask(Question::Approval(approval)) => answer,
            () = self.cancel.cancelled() => None,
        };
        let grant = match answer {
            Some(Answer::Allow { grant, .. }) => grant,
            Some(Answer::Deny { reason: Some(reason) }) => {
                return Err(format!("the user said no: {reason}"));
            }
            Some(Answer::Deny { reason: None }) => return Err("the user said no".to_owned()),
            _ => return Err("nobody answered".to_owned()),
        };
        if let Some(wish) = grant {
            let intent = fetch(question.first());
            let wished = self.pipeline.parts.gate.wished(&wish, &offers, &intent, self.ground());
            // A closed sink means that the session is going down, and the command with it.
            let _ = match wished {
                Ok(grant) => self.pipeline.note_grant(self.ground(), Some((grant, wish))).await,
                Err(why) => self.pipeline.note_lost_grant(&why).await,
            };
        }
        Ok(())
    }

    /// The command runs on in the background.
    pub(crate) fn leave(&self) {
        self.is_left.store(true, Ordering::Relaxed);
    }

    /// Hosts that the command was kept from, with why.
    pub(crate) fn refused(&self) -> Vec<(String, String)> {
        // Held only while somebody is asked, and then the command has not ended by itself.
        let Ok(decided) = self.decided.try_lock() else { return Vec::new() };
        let refused = decided.iter().filter_map(|(host, decision)| Some((host, decision.as_ref().err()?)));
        let mut refused: Vec<(String, String)> =
            refused.map(|(host, why)| (host.clone(), why.clone())).collect();
        refused.sort();
        refused.truncate(MAX_TOLD);
        refused
    }

    /// The connections that ended since they were last told, for a result; none where there were none.
    pub(crate) fn rows(&self) -> Option<Value> {
        self.connections().take_list()
    }

    /// The same as a notice, for a command that has no result any more.
    pub(crate) fn notice(&self) -> Option<Notice> {
        let rows = self.connections().take_lines()?;
        let text = format!("connections of `{}`: {}", self.program, rows.join(", "));
        Some(Notice { level: NoticeLevel::Info, code: CONNECTIONS.to_owned(), text })
    }
}

/// A fetch of nothing in particular from a host, as a connection to it is judged.
fn fetch(host: &str) -> Intent {
    Intent::of(Action::Fetch(format!("https://{host}/")))
}

fn authority(wanted: &Wanted) -> String {
    format!("{}:{}", wanted.host, wanted.port)
}

fn refused_key(authority: &str, address: IpAddr) -> String {
    format!("{authority} at {address}")
}

/// A denial as the command is told it, with how a user allows it beforehand.
fn denial(decision: &Decision) -> String {
    let mut text = decision.reasons.join("; ");
    for way in &decision.ways {
        text.push_str("; the user can allow it with ");
        text.push_str(way);
    }
    text
}
