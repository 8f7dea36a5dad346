//! The connections of a command that nobody was asked about: each host is judged when the command wants to reach it.

use std::collections::{BTreeSet, HashMap};
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use buddy_policy::{Action, Decision, Intent, Offer, Verdict, nearby_offer};
use buddy_protocol::{Answer, Approval, Offer as OfferText, Question, Risk};
use buddy_web::{Connection, Outcome, Wanted, Warrant};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::gate::Ground;
use crate::targets::Attached;
use crate::tools::person::Person;
use crate::tools::run::Pipeline;

/// Hosts of one call that its result names. Connections to others are counted.
const MAX_ROWS: usize = 50;

/// Hosts that a command was kept from and that its result explains.
const MAX_TOLD: usize = 5;

/// Hosts that one call may want. A command that tries more is not asked for by mistake.
const MAX_DECIDED: usize = 500;

/// Questions about the hosts of one call. Beyond that a person would stop reading them.
const MAX_QUESTIONS: usize = 20;

/// Words at the beginning of a line that run nothing of interest.
const ASIDES: &[&str] = &["cd", "echo", "export", "printf", "set", "test", "true", ":"];

/// Judges the connections of one call.
pub(crate) struct CallEgress {
    pub(crate) pipeline: Arc<Pipeline>,
    pub(crate) target: Arc<Attached>,
    pub(crate) person: Person,
    /// The program that people know the command by.
    pub(crate) program: String,
    pub(crate) cancel: CancellationToken,
    /// Decisions of this call, by host or by address. Held while a person is asked, so that there is one question at a time.
    pub(crate) decided: tokio::sync::Mutex<HashMap<String, Result<(), String>>>,
    /// How often a person was asked.
    pub(crate) asked: AtomicUsize,
    /// Whether the command runs on in the background, where nobody is asked about its hosts.
    pub(crate) is_left: AtomicBool,
    pub(crate) connections: Mutex<Connections>,
}

/// Connections of one call, each host, port and outcome once.
#[derive(Default)]
pub(crate) struct Connections {
    rows: Vec<(Connection, u64)>,
    left_out: u64,
    /// Hosts that a person allowed.
    allowed: BTreeSet<String>,
}

impl Connections {
    fn add(&mut self, connection: Connection) {
        let is_same = |(row, _): &&mut (Connection, u64)| {
            row.wanted == connection.wanted && row.outcome == connection.outcome
        };
        if let Some((row, count)) = self.rows.iter_mut().find(is_same) {
            row.sent += connection.sent;
            row.received += connection.received;
            *count += 1;
        } else if self.rows.len() < MAX_ROWS {
            self.rows.push((connection, 1));
        } else {
            self.left_out += 1;
        }
    }
}

/// The program that people know a command by, of the simple commands that it is made of.
pub(crate) fn program(decision: &Decision) -> String {
    let programs = decision.parts.iter().filter_map(|part| part.split_whitespace().next());
    let named = programs.clone().find(|program| !ASIDES.contains(program)).or(programs.clone().next());
    named.unwrap_or("the command").to_owned()
}

#[async_trait]
impl Warrant for CallEgress {
    async fn host(&self, wanted: &Wanted) -> Result<(), String> {
        let intent = Intent::of(Action::Fetch(format!("https://{}/", wanted.host)));
        self.once(wanted.host.clone(), async |may_ask: bool| {
            let judged = self.pipeline.parts.gate.judge(&intent, self.ground())?;
            let decision = judged.decision;
            match decision.verdict {
                Verdict::Allow => Ok(()),
                Verdict::Deny => Err(denial(&decision)),
                Verdict::Ask if !may_ask => Err(TOO_MANY.to_owned()),
                Verdict::Ask => {
                    let action = format!("{} wants to reach {}", self.program, wanted.host);
                    self.ask(action, &decision.reasons, decision.risk, &decision.offers, &intent).await?;
                    self.pipeline.parts.gate.trace(|trail| trail.allow(&wanted.host));
                    self.connections().allowed.insert(wanted.host.clone());
                    Ok(())
                }
            }
        })
        .await
    }

    async fn nearby(&self, wanted: &Wanted, address: IpAddr) -> Result<(), String> {
        self.once(format!("{} at {address}", authority(wanted)), async |may_ask: bool| {
            if let Some(why) = self.pipeline.parts.gate.closed_host(&wanted.host, self.ground())? {
                return Err(why);
            }
            let is_configured = self.pipeline.parts.web.fetcher.allows(&wanted.host, wanted.port);
            if is_configured || self.pipeline.parts.gate.reaches_nearby(&authority(wanted), self.ground())? {
                return Ok(());
            }
            if !self.pipeline.parts.gate.is_attended() {
                return Err(format!(
                    "it is at {address}, on this machine or its network, and nobody is there to ask"
                ));
            }
            if !may_ask {
                return Err(TOO_MANY.to_owned());
            }
            let place = if address.is_loopback() { "this machine" } else { "a private network" };
            let action = format!("{} wants to reach {} on {place}", self.program, authority(wanted));
            let reason = format!("`{}` is at {address}, on {place}", wanted.host);
            let offers = [nearby_offer(&authority(wanted), &self.target.spec.name)];
            let intent = Intent::of(Action::Fetch(format!("https://{}/", wanted.host)));
            self.ask(action, &[reason], Risk::Medium, &offers, &intent).await
        })
        .await
    }

    fn ended(&self, connection: Connection) {
        self.connections().add(connection);
    }
}

/// Why a person is not asked any more.
const TOO_MANY: &str = "this command has asked for too many hosts";

impl CallEgress {
    fn ground(&self) -> Ground<'_> {
        Ground { source: &*self.target.host.policy, cwd: &self.target.place.cwd }
    }

    fn connections(&self) -> MutexGuard<'_, Connections> {
        self.connections.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Decides something the first time that it comes up in this call. `decide` is told whether a person may still be asked.
    async fn once(
        &self,
        key: String,
        decide: impl AsyncFnOnce(bool) -> Result<(), String>,
    ) -> Result<(), String> {
        let mut decided = self.decided.lock().await;
        if let Some(known) = decided.get(&key) {
            return known.clone();
        }
        if decided.len() >= MAX_DECIDED {
            return Err(TOO_MANY.to_owned());
        }
        let asked = self.asked.load(Ordering::Relaxed);
        let decision = decide(asked < MAX_QUESTIONS).await;
        decided.insert(key, decision.clone());
        decision
    }

    async fn ask(
        &self,
        action: String,
        reasons: &[String],
        risk: Risk,
        offers: &[Offer],
        intent: &Intent,
    ) -> Result<(), String> {
        if self.is_left.load(Ordering::Relaxed) {
            return Err("the command runs in the background, where nobody is asked".to_owned());
        }
        self.asked.fetch_add(1, Ordering::Relaxed);
        let described = self.target.host.target.describe();
        let offered =
            |offer: &Offer| OfferText { grant: offer.grant.to_string(), covers: offer.covers.clone() };
        let approval = Approval {
            item: None,
            actor: "buddy".to_owned(),
            place: format!("{}@{}", described.user, described.host),
            target: None,
            cwd: self.target.place.cwd.to_string_lossy().into_owned(),
            action,
            why: None,
            risk,
            reasons: reasons.to_vec(),
            parts: Vec::new(),
            opens: Vec::new(),
            diff: None,
            is_editable: false,
            offers: offers.iter().map(offered).collect(),
            unfit: None,
            word: None,
        };
        let answer = tokio::select! {
            answer = self.person.ask(Question::Approval(approval)) => answer,
            () = self.cancel.cancelled() => None,
        };
        let grant = match answer {
            Some(Answer::Allow { grant, .. }) => grant,
            Some(Answer::Deny { reason: Some(reason) }) => {
                return Err(format!("the person said no: {reason}"));
            }
            Some(Answer::Deny { reason: None }) => return Err("the person said no".to_owned()),
            _ => return Err("nobody answered".to_owned()),
        };
        if let Some(wish) = grant {
            let wished = self.pipeline.parts.gate.wished(&wish, offers, intent, self.ground());
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

    /// The connections for a result; none where there were none.
    pub(crate) fn rows(&self) -> Option<Value> {
        let connections = self.connections();
        if connections.rows.is_empty() {
            return None;
        }
        let row = |(row, count): &(Connection, u64)| {
            let is_allowed = connections.allowed.contains(&row.wanted.host);
            connection_row(row, *count, is_allowed)
        };
        let mut list: Vec<Value> = connections.rows.iter().map(row).collect();
        if connections.left_out > 0 {
            list.push(json!({ "left_out": connections.left_out }));
        }
        Some(Value::Array(list))
    }
}

fn connection_row(row: &Connection, count: u64, is_allowed: bool) -> Value {
    let mut fields = json!({
        "host": row.wanted.host,
        "port": row.wanted.port,
        "outcome": match row.outcome {
            Outcome::Made => "made",
            Outcome::Refused => "refused",
            Outcome::Failed => "failed",
        },
        "count": count,
        "sent": row.sent,
        "received": row.received,
    });
    if is_allowed {
        fields[ALLOWED] = json!(true);
    }
    fields
}

/// Whether a person allowed the host of a connection, as results have it.
pub(crate) const ALLOWED: &str = "allowed_by_person";
/// Where results have the connections of a command.
pub(crate) const CONNECTIONS: &str = "connections";

fn authority(wanted: &Wanted) -> String {
    format!("{}:{}", wanted.host, wanted.port)
}

/// A denial as the command is told it, with how a person allows it beforehand.
fn denial(decision: &Decision) -> String {
    let mut text = decision.reasons.join("; ");
    for way in &decision.ways {
        text.push_str("; the person can allow it with ");
        text.push_str(way);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn connection(host: &str, outcome: Outcome) -> Connection {
        let wanted = Wanted { host: host.to_owned(), port: 443 };
        Connection { wanted, outcome, sent: 1, received: 2 }
    }

    #[test]
    fn connections_are_counted_and_never_more_than_can_be_told() {
        let mut connections = Connections::default();
        for _ in 0..1000 {
            connections.add(connection("a.test", Outcome::Made));
        }
        connections.add(connection("a.test", Outcome::Refused));
        let [(made, 1000), (_, 1)] = &connections.rows[..] else { panic!("{:?}", connections.rows) };
        assert_eq!((made.sent, made.received), (1000, 2000));
        for number in 0..1000 {
            connections.add(connection(&format!("{number}.test"), Outcome::Refused));
        }
        assert_eq!((connections.rows.len(), connections.left_out), (MAX_ROWS, 1000 - 48));
    }
}
