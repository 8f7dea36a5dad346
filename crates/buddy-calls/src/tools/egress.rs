//! The connections of a command that nobody was asked about: each host is judged when the command wants to reach it.
//!
//! One question covers a package manager's registry, as its settings name it, or all hosts that wait for an answer.

mod connections;
mod downloads;
mod program_name;
mod question;
mod standing;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::{IpAddr, Ipv4Addr};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use buddy_policy::{
    Action, Decision, Intent, Registry, RegistryHost, Verdict, display_command, package_manager,
};
use buddy_protocol::{Answer, Fact, Notice, NoticeLevel, Question};
use buddy_web::{Connection, Nearness, Wanted, Warrant};
use futures::future::join_all;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::gate::{Ground, Judged};
use crate::targets::Attached;
use crate::tools::person::Person;
use crate::tools::pipeline_parts::PipelineParts;
use crate::tools::secret_watch::SecretWatch;
pub(crate) use connections::{CONNECTIONS, Connections, DIRECT_NETWORK, NETWORK, NOT_OBSERVED};
use program_name::name_program;
use question::{HostsQuestion, NearbyHost, NewHost};
pub(crate) use standing::LateAnswers;
use standing::StandingQuestion;

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

/// Lines of a command that a question about its hosts shows.
const MAX_LINES: usize = 50;

/// Judges the connections of one call.
pub(crate) struct CallEgress {
    pub(crate) parts: Arc<PipelineParts>,
    secrets: Arc<SecretWatch>,
    late_answers: Arc<LateAnswers>,
    pub(crate) target: Arc<Attached>,
    pub(crate) person: Person,
    /// The program that people know the command by.
    program: String,
    /// The simple commands that it is made of.
    commands: Vec<String>,
    /// Its lines as they were written, for people.
    lines: Vec<String>,
    /// Hosts with their ports that its words name and that need no further question.
    reached: Vec<String>,
    /// The same of those that a rule for the host would settle.
    addressed: Vec<String>,
    /// Whether servers of this machine are meant where its words name one, and not those of its own network.
    reaches_here: bool,
    /// Hosts that the question about the command named; its answer is about them, for this call.
    answered: Vec<String>,
    pub(crate) cancel: CancellationToken,
    /// Whether this call was allowed by somebody who knew that it or the session can read secrets.
    knew_secret: bool,
    /// Whether the decisions of this call were taken with that knowledge. Changed only while `decided` is held.
    knows_secret: AtomicBool,
    /// Hosts, and hosts with a port, that were allowed with it; held for a look or a change only.
    allowed_since: Mutex<BTreeSet<String>>,
    /// Decisions of this call, by host or by address. Held while a user is asked, so that there is one question at a time.
    decided: tokio::sync::Mutex<Decided>,
    /// Hosts that wait for a decision; held for a look or a change only.
    waiting: Mutex<BTreeSet<String>>,
    /// Why an index that the user allowed could not be read, so that an answer about it covers no further hosts.
    index_unread: Mutex<Option<String>>,
    /// How often a user was asked.
    asked: AtomicUsize,
    /// Whether the command runs on in the background, where nobody is asked about its hosts.
    is_left: AtomicBool,
    connections: Mutex<Connections>,
    /// The question that stands.
    standing: StandingQuestion,
    /// Hosts that the command was kept from; held for a look or a change only.
    refusals: Mutex<BTreeMap<String, HostRefusal>>,
}

/// The things of its session that the connections of a call are judged with.
pub(crate) struct EgressSession {
    pub(crate) parts: Arc<PipelineParts>,
    pub(crate) secrets: Arc<SecretWatch>,
    pub(crate) late_answers: Arc<LateAnswers>,
}

/// Decisions: hosts by their names, hosts with a port that are nearby as `host:port`, and those that were refused with their address.
type Decided = HashMap<String, Result<(), HostRefusal>>;

/// A yes to a question.
struct HostsYes {
    /// Whether no grant keeps it, so that it holds for this command alone.
    is_once: bool,
    /// Hosts for downloads that it covers, as the allowed index names them.
    downloads: Vec<String>,
}

/// Why a command does not reach a host, and what opens the host beforehand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HostRefusal {
    pub(crate) why: String,
    /// Options and settings, as the user writes them.
    pub(crate) ways: Vec<String>,
}

impl From<String> for HostRefusal {
    fn from(why: String) -> Self {
        Self { why, ways: Vec::new() }
    }
}

impl HostRefusal {
    fn of(decision: &Decision) -> Self {
        Self { why: decision.reasons.join("; "), ways: decision.ways.clone() }
    }

    /// The refusal as the command is told it.
    fn text(self) -> String {
        let ways = self.ways.iter().map(|way| format!("; the user can allow it with {way}"));
        std::iter::once(self.why).chain(ways).collect()
    }
}

#[async_trait]
impl Warrant for CallEgress {
    async fn host(&self, wanted: &Wanted) -> Result<(), String> {
        self.waiting().insert(wanted.host.clone());
        let is_known = self.decided.try_lock().is_ok_and(|mut decided| {
            self.forget_outdated(&mut decided);
            decided.contains_key(&wanted.host)
        });
        if !is_known && self.is_asked_about(&wanted.host) {
            tokio::time::sleep(COLLECT).await;
        }
        let mut decided = self.decided.lock().await;
        self.forget_outdated(&mut decided);
        let known = decided.get(&wanted.host).cloned();
        let decision = match known {
            Some(known) => known,
            None => self.decide_host(wanted, &mut decided).await,
        };
        self.waiting().remove(&wanted.host);
        drop(decided);
        self.standing.hold_if_ended().await;
        decision.map_err(HostRefusal::text)
    }

    async fn nearby(&self, wanted: &Wanted, address: IpAddr) -> Result<(), String> {
        let mut decided = self.decided.lock().await;
        self.forget_outdated(&mut decided);
        let refused = refused_key(&authority(wanted), address);
        if let Some(known) = decided.get(&authority(wanted)).or_else(|| decided.get(&refused)) {
            return known.clone().map_err(HostRefusal::text);
        }
        let decision = self.decide_nearby(wanted, address, &mut decided).await;
        let key = if decision.is_ok() { authority(wanted) } else { refused };
        self.settle_host(&mut decided, key, &decision);
        drop(decided);
        self.standing.hold_if_ended().await;
        decision.map_err(HostRefusal::text)
    }

    async fn revoked(&self, wanted: &Wanted) -> String {
        if self.knew_secret {
            return std::future::pending().await;
        }
        self.parts.gate.secret_read().await;
        let is_allowed_since = {
            let allowed = self.allowed_since.lock().unwrap_or_else(PoisonError::into_inner);
            allowed.contains(&wanted.host) || allowed.contains(&authority(wanted))
        };
        let is_kept = is_allowed_since
            || self.judge(&wanted.host).is_ok_and(|decision| decision.verdict == Verdict::Allow)
            || self.reaches_nearby(&wanted.host, wanted.port).unwrap_or(false);
        if is_kept { std::future::pending().await } else { SECRET_READ.to_owned() }
    }

    fn ended(&self, connection: Connection) {
        self.connections().add(connection);
    }
}

/// Why buddy ends an open connection.
const SECRET_READ: &str = "the session could have read a secret since the connection was made";

/// Whether the settings of a registry name a host with this port.
fn names(registry: &Registry, wanted: &Wanted) -> bool {
    registry.hosts.iter().any(|host| host.host == wanted.host && host.port == wanted.port)
}

/// Why a user is not asked any more.
const TOO_MANY: &str = "this command has asked for too many hosts";

impl CallEgress {
    pub(crate) fn new(
        session: EgressSession,
        target: Arc<Attached>,
        person: Person,
        call: (&Intent, &Judged),
        cancel: CancellationToken,
    ) -> Self {
        let EgressSession { parts, secrets, late_answers } = session;
        let (intent, judged) = call;
        let (decision, knew_secret) = (&judged.decision, judged.knew_secret || judged.has_secrets());
        Self {
            parts,
            secrets,
            late_answers,
            target,
            person,
            lines: written_lines(intent),
            program: name_program(&decision.parts),
            commands: decision.parts.clone(),
            reached: decision.reached.clone(),
            addressed: decision.addressed.clone(),
            reaches_here: decision.reaches_here,
            answered: if decision.verdict == Verdict::Ask { decision.strangers.clone() } else { Vec::new() },
            cancel,
            knew_secret,
            knows_secret: AtomicBool::new(knew_secret),
            allowed_since: Mutex::default(),
            decided: tokio::sync::Mutex::default(),
            waiting: Mutex::default(),
            index_unread: Mutex::default(),
            asked: AtomicUsize::new(0),
            is_left: AtomicBool::new(false),
            connections: Mutex::default(),
            standing: StandingQuestion::default(),
            refusals: Mutex::default(),
        }
    }

    fn ground(&self) -> Ground<'_> {
        self.target.ground()
    }

    fn connections(&self) -> MutexGuard<'_, Connections> {
        self.connections.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn index_unread(&self) -> MutexGuard<'_, Option<String>> {
        self.index_unread.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn waiting(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The gate's verdict on a host, as for any fetch from it.
    fn judge(&self, host: &str) -> Result<Decision, String> {
        self.secrets.note_replaced();
        Ok(self.parts.gate.judge_connection(&fetch(host), self.ground())?.decision)
    }

    /// Whether a secret was read, or could have been, since this call was allowed. Answers from before do not count any more.
    fn is_outdated(&self) -> bool {
        self.secrets.note_replaced();
        !self.knew_secret && self.parts.gate.has_read_secret()
    }

    /// Drops the decisions that allowed a host before a secret was read.
    fn forget_outdated(&self, decided: &mut Decided) {
        if self.is_outdated() && !self.knows_secret.swap(true, Ordering::Relaxed) {
            decided.retain(|_, decision| decision.is_err());
        }
    }

    /// Whether the question about the command named a host, and its answer still counts.
    fn is_answered(&self, host: &str) -> bool {
        self.answered.iter().any(|answered| answered == host) && !self.is_outdated()
    }

    /// Whether the words of the command name a host with its port, and that still counts.
    fn is_reached(&self, wanted: &Wanted) -> bool {
        self.reached.contains(&authority(wanted)) && !self.is_outdated()
    }

    /// Whether a host needs a question that nobody answered for this call.
    fn is_asked_about(&self, host: &str) -> bool {
        !self.is_answered(host) && self.judge(host).is_ok_and(|decision| decision.verdict == Verdict::Ask)
    }

    /// The registry whose settings name a host.
    fn registry(&self, host: &str) -> Option<Registry> {
        self.target.host.policy.registry(&self.target.place.cwd, &self.commands, host)
    }

    /// Whether a user may be asked once more; the error says why not.
    fn may_ask(&self, decided: &Decided) -> Result<(), HostRefusal> {
        let is_within = decided.len() < MAX_DECIDED && self.asked.load(Ordering::Relaxed) < MAX_QUESTIONS;
        if is_within { Ok(()) } else { Err(TOO_MANY.to_owned().into()) }
    }

    /// Decides about a host that this call wants for the first time, and about those that the same question is about.
    async fn decide_host(&self, wanted: &Wanted, decided: &mut Decided) -> Result<(), HostRefusal> {
        let decision = self.judge(&wanted.host)?;
        let is_reached = self.is_reached(wanted);
        let answer = match decision.verdict {
            Verdict::Allow => Ok(()),
            // The answer is about one port.
            Verdict::Ask if is_reached => return Ok(()),
            Verdict::Ask if self.is_answered(&wanted.host) || self.takes_late(&wanted.host) => Ok(()),
            // This machine is judged and asked about once, with the port.
            Verdict::Ask if wanted.host == "localhost" => return self.may_ask(decided),
            Verdict::Deny if wanted.host == "localhost" && decision.is_unasked => return Ok(()),
            Verdict::Deny => Err(HostRefusal::of(&decision)),
            Verdict::Ask => {
                self.may_ask(decided)?;
                let question = match self.registry(&wanted.host) {
                    Some(registry) => self.about_registry(registry).await,
                    None => self.about_waiting(wanted, decided),
                };
                return self.put(&question, decided).await;
            }
        };
        if decided.len() < MAX_DECIDED {
            self.settle_host(decided, wanted.host.clone(), &answer);
        }
        answer
    }

    async fn decide_nearby(
        &self,
        wanted: &Wanted,
        address: IpAddr,
        decided: &mut Decided,
    ) -> Result<(), HostRefusal> {
        if let Some(why) = self.parts.gate.closed_host(&wanted.host, self.ground())? {
            return Err(why.into());
        }
        // A name could lead here that was meant for a host of the internet.
        let is_spelled = spelled_nearness(&wanted.host).is_literal;
        let is_reached = is_spelled && self.is_reached(wanted);
        if is_reached || self.reaches_nearby(&wanted.host, wanted.port)? {
            return Ok(());
        }
        if self.takes_late(&authority(wanted)) {
            return Ok(());
        }
        if !self.parts.gate.is_attended() {
            let why =
                format!("it is at {address}, on this machine or its network, and nobody is there to ask");
            let decision = self.judge(&wanted.host)?;
            // A rule for the host counts for the addresses in the command's words alone.
            let is_ruled = is_spelled && decision.is_unasked && self.addressed.contains(&authority(wanted));
            let ways = if is_ruled { decision.ways } else { Vec::new() };
            return Err(HostRefusal { why, ways });
        }
        self.may_ask(decided)?;
        // Settings that name another port name another service.
        let is_meant = |registry: &Registry| is_spelled && names(registry, wanted);
        let registry = self.registry(&wanted.host).filter(is_meant);
        let mut question = match registry {
            Some(registry) => self.about_registry(registry).await,
            None => {
                HostsQuestion::nearby(&self.program, NearbyHost { authority: authority(wanted), address })
            }
        };
        question.knows_secret = self.parts.gate.has_read_secret();
        self.put(&question, decided).await
    }

    /// Takes the answer that came after an earlier run of this command had given up.
    fn takes_late(&self, name: &str) -> bool {
        let knows_secret = self.parts.gate.has_read_secret();
        self.late_answers.take(&self.commands, name, knows_secret)
    }

    /// Keeps an answer for this command alone that came after the command had given up.
    fn keep_late(&self, name: &str) {
        if self.standing.has_ended() {
            let knew_secret = self.parts.gate.has_read_secret();
            self.late_answers.keep(&self.commands, name, knew_secret);
        }
    }

    fn reaches_nearby(&self, host: &str, port: u16) -> Result<bool, String> {
        let is_configured = self.parts.settings.web.fetcher.allows(host, port);
        let authority = format!("{host}:{port}");
        Ok(is_configured || self.parts.gate.reaches_nearby(&authority, self.ground())?)
    }

    /// The question about a registry: all its hosts that nobody allowed yet. Those that the user's own settings name are looked up
    /// before, so that the question can say which are nearby: no command can write a name there, so nothing rides on the look-up.
    async fn about_registry(&self, registry: Registry) -> HostsQuestion {
        let program = if registry.is_of_command { registry.of } else { &self.program };
        let mut question = HostsQuestion::registry(program, &registry);
        let find = async |host: RegistryHost| {
            let spelled = spelled_nearness(&host.host);
            let is_looked_up = !spelled.is_literal && !host.is_by_project;
            let found = if is_looked_up { Nearness::of(&host.host).await } else { spelled };
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
            let judged = self.judge(&host.host).ok().filter(|_| self.is_asked_about(&host.host));
            if let Some(decision) = judged {
                let port = Some(host.port);
                question.add(NewHost { host: host.host, port, decision }, Some(&host.named_in));
            }
        }
        question
    }

    /// The question about a host that no settings name, with all others that wait.
    fn about_waiting(&self, wanted: &Wanted, decided: &Decided) -> HostsQuestion {
        let host = &wanted.host;
        let mut question = HostsQuestion::unnamed(&self.program, package_manager(&self.commands));
        question.index_unread.clone_from(&self.index_unread());
        let others: Vec<String> = self.waiting().iter().filter(|other| *other != host).cloned().collect();
        let mut count = 0;
        for host in std::iter::once(host.clone()).chain(others) {
            let is_new = !decided.contains_key(&host) && (count == 0 || self.registry(&host).is_none());
            let judged = self.judge(&host).ok().filter(|_| self.is_asked_about(&host));
            if let Some(decision) = judged.filter(|_| is_new && count < MAX_TOGETHER) {
                let port = (host == wanted.host).then_some(wanted.port);
                question.add(NewHost { host, port, decision }, None);
                count += 1;
            }
        }
        question
    }

    /// Puts a question, and keeps the answer for every host that it is about.
    async fn put(&self, question: &HostsQuestion, decided: &mut Decided) -> Result<(), HostRefusal> {
        let answer = self.ask(question).await;
        let is_once = answer.as_ref().is_ok_and(|yes| yes.is_once);
        let downloads = answer.as_ref().map(|yes| yes.downloads.clone()).unwrap_or_default();
        let answer = answer.map(drop).map_err(HostRefusal::from);
        for host in downloads {
            if is_once {
                self.keep_late(&host);
            }
            self.settle_host(decided, host, &answer);
        }
        for new in &question.hosts {
            if answer.is_ok() {
                self.standing.allow(&new.host);
            }
            if is_once {
                self.keep_late(&new.host);
            }
            self.settle_host(decided, new.host.clone(), &answer);
        }
        for NearbyHost { authority, address } in &question.nearby {
            if answer.is_ok() {
                self.standing.allow(authority);
            }
            if is_once {
                self.keep_late(authority);
            }
            let key = if answer.is_ok() { authority.clone() } else { refused_key(authority, *address) };
            self.settle_host(decided, key, &answer);
        }
        self.standing.end();
        answer
    }

    /// Keeps a decision for the rest of the call.
    fn settle_host(&self, decided: &mut Decided, key: String, answer: &Result<(), HostRefusal>) {
        if let Err(refusal) = answer {
            self.refusals().insert(key.clone(), refusal.clone());
        } else if self.knows_secret.load(Ordering::Relaxed) {
            self.allowed_since.lock().unwrap_or_else(PoisonError::into_inner).insert(key.clone());
        }
        decided.insert(key, answer.clone());
    }

    fn refusals(&self) -> MutexGuard<'_, BTreeMap<String, HostRefusal>> {
        self.refusals.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn ask(&self, question: &HostsQuestion) -> Result<HostsYes, String> {
        if self.is_left.load(Ordering::Relaxed) {
            return Err("the command runs in the background, where nobody is asked".to_owned());
        }
        if self.standing.has_ended() {
            return Err("the command ended before you were asked".to_owned());
        }
        self.asked.fetch_add(1, Ordering::Relaxed);
        let offers = question.offers(&self.target.spec.name);
        let approval = question.approval(&self.target, &offers, &self.lines);
        self.standing.begin(question.names());
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
            _ => {
                self.note_withdrawn(&question.names()).await;
                return Err("nobody answered".to_owned());
            }
        };
        let downloads = self.find_downloads(question).await;
        let Some(wish) = grant else { return Ok(HostsYes { is_once: true, downloads }) };
        let intent = fetch(question.first());
        let wished = match self.parts.gate.wished(&wish, &offers, &intent, self.ground()) {
            Ok(_) if wish.words.is_none() && !downloads.is_empty() => {
                Ok(question.grant_with(&downloads, &self.target.spec.name))
            }
            wished => wished,
        };
        let is_once = wished.is_err();
        // A closed sink means that the session is going down, and the command with it.
        let _ = match wished {
            Ok(grant) => self.parts.keep_grant(self.ground(), Some((grant, wish))).await,
            Err(why) => self.parts.tell_lost_grant(&why).await,
        };
        Ok(HostsYes { is_once, downloads })
    }

    /// Tells the user that a question is gone, and why, where nothing else does: the command has ended, or is being stopped.
    async fn note_withdrawn(&self, hosts: &str) {
        let why = if self.cancel.is_cancelled() {
            "the call was stopped"
        } else if self.standing.has_ended() {
            "nobody answered, and the command has ended"
        } else {
            return;
        };
        let text = format!("withdrew the question whether {} may reach {hosts}: {why}", self.program);
        self.tell("question_withdrawn", text).await;
    }

    async fn tell(&self, code: &str, text: String) {
        let notice = Notice { level: NoticeLevel::Warning, code: code.to_owned(), text };
        // A closed sink means that the session is going down.
        let _ = self.parts.sink.push(vec![Fact::Notice(notice)]).await;
    }

    /// Whether a question about a host stands.
    pub(crate) fn is_asking(&self) -> bool {
        self.standing.hosts().is_some()
    }

    /// Waits until no question about a host stands.
    pub(crate) async fn answered(&self) {
        self.standing.answered().await;
    }

    /// The command has ended: waits until the question that stands is answered, which counts when the command runs again.
    pub(crate) async fn settle(&self) {
        self.standing.command_ended();
        if let Some(hosts) = self.standing.hosts() {
            let text = format!(
                "{} gave up waiting for {hosts}. You can still answer: the answer counts when it runs again",
                self.program
            );
            self.tell("question_stands", text).await;
        }
        self.answered().await;
    }

    /// A line about a server of this machine that the command's words name and that it did not reach, as it has a localhost of its own.
    pub(crate) fn own_localhost_line(&self) -> Option<String> {
        let mut named = self.reached.iter().chain(&self.addressed);
        let is_here = |authority: &&String| {
            let host = authority.rsplit_once(':').map_or(authority.as_str(), |(host, _)| host);
            let address = host.trim_matches(['[', ']']).parse::<IpAddr>();
            host == "localhost" || address.is_ok_and(|address| address.is_loopback())
        };
        let authority = named.find(is_here).filter(|_| !self.reaches_here)?;
        Some(format!(
            "in the jail this command has a localhost of its own, so `{authority}` was not that of this machine; to reach a server of this \
             machine, run the part that connects to it as a command of its own"
        ))
    }

    /// A line for the user and the model about hosts that the user allowed when the command no longer waited for them.
    pub(crate) fn late_line(&self) -> Option<String> {
        let hosts = self.standing.allowed_late(&self.connections());
        let named: Vec<String> = hosts.iter().map(|host| format!("`{host}`")).collect();
        let (hosts, are) = match named.as_slice() {
            [] => return None,
            [one] => (one.clone(), "is"),
            several => (several.join(", "), "are"),
        };
        Some(format!(
            "{hosts} {are} allowed now: the user answered after the command had given up. Run the same command again"
        ))
    }

    /// The command runs on in the background.
    pub(crate) fn leave(&self) {
        self.is_left.store(true, Ordering::Relaxed);
    }

    /// Hosts that the command was kept from, with why.
    pub(crate) fn refused(&self) -> Vec<(String, HostRefusal)> {
        let refusals = self.refusals();
        refusals.iter().take(MAX_TOLD).map(|(host, why)| (host.clone(), why.clone())).collect()
    }

    /// A notice about the question that ended with its command in the background; none where no question stood.
    pub(crate) fn withdrawn(&self) -> Option<Notice> {
        let hosts = self.standing.hosts()?;
        let text = format!(
            "withdrew the question whether {} may reach {hosts}: the command has ended",
            self.program
        );
        Some(Notice { level: NoticeLevel::Warning, code: "question_withdrawn".to_owned(), text })
    }

    /// One line about each allowed host that could not be reached since connections were last told.
    pub(crate) fn failures(&self) -> Vec<String> {
        self.connections().failures()
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

/// The lines of the command of a call as they were written, the first of many.
fn written_lines(intent: &Intent) -> Vec<String> {
    let command = intent.actions.iter().find_map(|action| match action {
        Action::Run { command, .. } => Some(command.as_str()),
        _ => None,
    });
    let lines = command.unwrap_or_default().lines().filter(|line| !line.trim().is_empty());
    lines.take(MAX_LINES).map(display_command).collect()
}

/// A fetch of nothing in particular from a host, as a connection to it is judged.
fn fetch(host: &str) -> Intent {
    Intent::of(Action::Fetch(format!("https://{host}/")))
}

/// Whether the spelling of a host says that it is nearby. `localhost` says so as an address of this machine does.
fn spelled_nearness(host: &str) -> Nearness {
    if host == "localhost" {
        return Nearness { address: Some(Ipv4Addr::LOCALHOST.into()), is_literal: true };
    }
    Nearness::of_literal(host)
}

fn authority(wanted: &Wanted) -> String {
    format!("{}:{}", wanted.host, wanted.port)
}

fn refused_key(authority: &str, address: IpAddr) -> String {
    format!("{authority} at {address}")
}
